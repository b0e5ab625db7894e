# SPDX-License-Identifier: Apache-2.0
"""
Processes of this computer that compute tasks; a process that is lost costs no result.

Each process holds one task. If it ends, by a signal or because memory runs out, its task is known
and goes to a new process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import wait
from typing import Any, NamedTuple, cast

from c3p_experiments.parallel.worker import READY, Failure
from c3p_ros.child_process import ChildProcess

# one thread of linear algebra for each process
THREADS = dict.fromkeys(('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS',
                         'BLIS_NUM_THREADS', 'NUMBA_NUM_THREADS', 'VECLIB_MAXIMUM_THREADS'), '1')

# what a process runs
START = 'from c3p_experiments.parallel.worker import serve; serve({})'

# time after which a process is killed that does not end, s
PATIENCE = 2.0


# returns the next task, None at the end
Take = Callable[[], Any]


class PoolError(ValueError):
    """Tasks cannot be computed; the text has the reason."""


class Lost(NamedTuple):
    """
    Answer to a task whose process ended.

    Attributes
    ----------
    reason : str
        How the process ended.
    """

    reason: str


@contextmanager
def uninterrupted() -> Iterator[None]:
    """
    Start processes that Ctrl-C does not reach: their parent ends them.

    A terminal interrupts all processes, and one that is importing would write where it was. The
    mask of signals is inherited; a Ctrl-C meanwhile reaches this process at the end.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class TaskProcess(ChildProcess):
    """A process and the task that it computes; `task` is None while it waits for one."""

    def __init__(self) -> None:
        """Start the process."""
        self.pipe, theirs = Pipe()
        # names of modules mean the same there
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        with theirs, uninterrupted():
            super().__init__(
                [sys.executable, '-c', START.format(theirs.fileno())], session=False,
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=2,
                env={**os.environ, **THREADS, 'PYTHONPATH': path})
        self.ready, self.task = False, cast(Any, None)

    def send(self) -> None:
        """Send the task."""
        try:
            self.pipe.send((self.task.function, self.task.block))
        except OSError:
            # it has ended, which the next look at its pipe finds
            pass

    def receive(self) -> Any:
        """Return a message, or None if the process has ended."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            return None

    def close(self) -> str:
        """End the process and return how it ended."""
        self.pipe.close()
        return reason_of(self.end(patience=0.0 if self.task is not None else PATIENCE))


def reason_of(code: int) -> str:
    """
    Return how a process ended by its exit code.

    Examples
    --------
    >>> reason_of(-9)
    'ended by SIGKILL (killed, or out of memory)'
    >>> reason_of(3)
    'ended with exit code 3'
    """
    if code >= 0:
        return f'ended with exit code {code}'
    name = signal.Signals(-code).name
    return f'ended by {name}{" (killed, or out of memory)" if name == "SIGKILL" else ""}'


class Pool:
    """
    Processes that compute blocks of tasks, started when there are tasks for them.

    Parameters
    ----------
    count : int
        Number of processes.
    """

    def __init__(self, count: int) -> None:
        """Store the number of processes."""
        self.count = count
        self.processes: list[TaskProcess] = []

    def compute(self, take: Take) -> Iterator[tuple[Any, Any]]:
        """
        Yield each task with its answer, in any order: a list of results, or `Lost`.

        Parameters
        ----------
        take : callable
            Returns a task with the attributes ``function`` and ``block``, or None while there is
            no further one; called when a process is free, so that a lost task may be given again.

        Raises
        ------
        PoolError
            A process cannot start.
        Exception
            As the function of a task.
        """
        while True:
            self._occupy(take)
            busy = [process for process in self.processes if process.task is not None]
            if not busy:
                return
            ready = wait([process.pipe for process in busy])
            for process in [process for process in busy if process.pipe in ready]:
                yield from self._answer(process)

    def _occupy(self, take: Take) -> None:
        """Give tasks to processes without one; start processes while there are too few."""
        while True:
            free = next((process for process in self.processes if process.task is None), None)
            if free is None and len(self.processes) == self.count:
                return
            task = take()
            if task is None:
                return
            if free is None:
                free = TaskProcess()
                self.processes.append(free)
            free.task = task
            if free.ready:
                free.send()

    def _answer(self, process: TaskProcess) -> Iterator[tuple[Any, Any]]:
        """Receive from a process; yield its task if that is done or lost."""
        task = process.task
        answer = process.receive()
        if answer == READY and not process.ready:
            process.ready = True
            process.send()
            return
        process.task = None
        if isinstance(answer, Failure):
            raise answer.error from RuntimeError(f'in a worker process:\n{answer.trace}')
        if answer is not None:
            yield task, answer
            return
        self.processes.remove(process)
        reason = process.close()
        if not process.ready and reason == reason_of(1):
            raise PoolError('a worker process cannot start: its error is in the output above')
        yield task, Lost(reason)

    def close(self) -> None:
        """End all processes; tasks in progress are abandoned."""
        for process in self.processes:
            process.pipe.close()
        for process in self.processes:
            process.close()
        self.processes.clear()
