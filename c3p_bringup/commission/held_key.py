# SPDX-License-Identifier: Apache-2.0
"""A key of the terminal that must be held while a robot moves."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# a terminal repeats a held key every 0.02 to 0.1 s, after a first delay of up to 0.6 s, s
FIRST = 0.7
AGAIN = 0.25

# keys that are read at once
MOST = 1024


@contextmanager
def held_key(wanted: bool) -> Iterator[Callable[[], bool]]:
    """
    Yield whether the space bar is held; always true where no key is `wanted`.

    ValueError: standard input is not a terminal.
    """
    if not wanted:
        yield lambda: True
        return
    if not sys.stdin.isatty():
        raise ValueError('--key: standard input is not a terminal; leave it out, --time limits '
                         'the motions')
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(sys.stdin)
    until = [-1.0]

    def held() -> bool:
        now = time.monotonic()
        # of the terminal, not of the stream, whose buffer `select` does not see
        while select.select([terminal], [], [], 0.0)[0]:
            keys = os.read(terminal, MOST)
            if not keys:
                break
            if b' ' in keys:
                until[0] = now + (AGAIN if now < until[0] else FIRST)
        return now < until[0]

    print('hold the space bar', file=sys.stderr)
    # characters at once, and Ctrl-C still ends the command
    tty.setcbreak(sys.stdin)
    try:
        yield held
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
