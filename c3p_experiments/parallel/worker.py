# SPDX-License-Identifier: Apache-2.0
"""Process that computes for another one: tasks and results pass through a pipe."""

from __future__ import annotations

import pickle
import signal
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

# first message of a process that can compute
READY = 'ready'


class Failure(NamedTuple):
    """
    Answer to a task that raised an exception.

    Attributes
    ----------
    error : Exception
        RuntimeError in the place of one that cannot be pickled.
    trace : str
        Traceback in the process that raised it.
    """

    error: Exception
    trace: str


def several(function: Callable[..., Any], block: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return the results of `function` for each tuple of arguments of a `block`."""
    return [function(*arguments) for arguments in block]


def serve(descriptor: int) -> None:
    """
    Compute tasks until the pipe `descriptor` is closed, also by the end of the other process.

    A task is a function and a block; its answer is a list of results, or a `Failure`.
    """
    # Ctrl-C is for the process that commands
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe = Connection(descriptor)
    # a process that was started for nothing may find a closed pipe at once
    try:
        pipe.send(READY)
        while True:
            function, block = pipe.recv()
            pipe.send(_answer(function, block))
    except (EOFError, OSError):
        return


def _answer(function: Callable[..., Any], block: Sequence[tuple[Any, ...]]) -> Any:
    try:
        return several(function, block)
    except Exception as error:  # an error of the task ends it, not the process
        trace = traceback.format_exc()
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # pickling calls code of the exception's class
            return Failure(RuntimeError(str(error)), trace)
        return Failure(error, trace)
