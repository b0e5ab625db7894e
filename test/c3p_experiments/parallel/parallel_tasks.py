# SPDX-License-Identifier: Apache-2.0
"""Tasks for workers, in a module that imports nothing slow."""

import os
import signal
from pathlib import Path


def killed(marks, index, times):
    """Kill this process `times` times at index 3; else return the square."""
    attempt = Path(marks) / f'{index}'
    if index == 3:
        tried = len(list(Path(marks).glob('3.*')))
        if tried < times:
            attempt.with_suffix(f'.{tried}').touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return index, index**2, os.getpid()


def failing(index):
    """Raise an error at index 2."""
    if index == 2:
        raise LookupError(f'index = {index}: not this one')
    return index


def blocked(_index):
    """Return whether this process cannot be interrupted."""
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


class Odd(Exception):
    """An exception that cannot be made again from its text."""

    def __init__(self, one, two):
        """Take two values."""
        super().__init__(f'{one} and {two}')


def odd(index):
    """Raise an exception that cannot be pickled."""
    raise Odd(index, index)
