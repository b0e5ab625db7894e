# SPDX-License-Identifier: Apache-2.0
"""
Independent computations on many cores or computers: local processes, or a Dask cluster.

A task whose worker is lost goes to another one. A block that loses its worker is divided, so that
the task that ends it is found; a single task is repeated up to ATTEMPTS times.
"""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from c3p_description.reading.how_to_install import how_to_install
from c3p_experiments.parallel.pool import Lost, Pool
from c3p_experiments.parallel.worker import several

BACKENDS = ('local', 'dask')

# address of a local cluster
LOOPBACK = '127.0.0.1'

# times that a task may lose its worker
ATTEMPTS = 3

# tasks at the scheduler for each thread of a cluster: one is computed, the others wait
AHEAD = 3


class WorkersError(ValueError):
    """Workers are not available; the text names the missing part."""


@dataclass(frozen=True)
class Workers:
    """
    Workers of a computation.

    Attributes
    ----------
    jobs : int
        Number of processes; −1 is one per core, −2 all cores but one. Ignored with `scheduler`.
    backend : str
        ``local``, processes of this computer; ``dask``, a Dask cluster.
    scheduler : str
        Address of the scheduler, ``tcp://host:8786``; empty starts a temporary local cluster.
    block : int
        Tasks that a worker receives at once. A scheduler takes about a millisecond for each
        message, which is what limits a large cluster.
    """

    jobs: int = -1
    backend: str = 'local'
    scheduler: str = ''
    block: int = 1

    def __post_init__(self) -> None:
        """Validate the settings."""
        if self.backend not in BACKENDS:
            raise WorkersError(f'backend = {self.backend}: must be one of {", ".join(BACKENDS)}')
        if self.jobs == 0:
            raise WorkersError('jobs = 0: must be a number of processes, or -1 for all cores')
        if self.scheduler and self.backend != 'dask':
            raise WorkersError(f'scheduler = {self.scheduler}: only a Dask cluster has one; take '
                               'the backend dask')
        if self.block < 1:
            raise WorkersError(f'block = {self.block}: must be 1 or more')

    @property
    def count(self) -> int:
        """Number of processes on this computer."""
        cores = (len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity')
                 else os.cpu_count() or 1)
        return self.jobs if self.jobs > 0 else max(1, cores + 1 + self.jobs)


@dataclass(eq=False)
class Task:
    """
    Function, tuples of its arguments, and how often a worker was lost with it.

    Attributes
    ----------
    function : callable
    block : list of tuple
    lost : int
    """

    function: Callable[..., Any]
    block: list[tuple[Any, ...]]
    lost: int = 0


# takes the arguments of a task and the reason; returns its result
Give = Callable[[tuple[Any, ...], str], Any]
# returns the next task, None at the end
Take = Callable[[], Task | None]
Answers = Callable[[Take], Iterator[tuple[Task, Any]]]


class Compute:
    """Parallel map of a function over tuples of arguments, results in any order."""

    def __init__(self, answers: Answers, block: int) -> None:
        """Take what computes tasks, and the size of the blocks."""
        self._answers = answers
        self._block = block

    def __call__(self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]],
                 lost: Give | None = None) -> Iterator[Any]:
        """
        Yield ``function(*given)`` for each tuple of the arguments.

        Parameters
        ----------
        function : callable
        arguments : iterable of tuple
        lost : callable, optional
            Returns the result of a task that lost ATTEMPTS workers, by its arguments and a reason.

        Raises
        ------
        WorkersError
            A task lost ATTEMPTS workers, and `lost` is not given.
        """
        again: deque[Task] = deque()
        source = iter(arguments)

        def take() -> Task | None:
            # those that are to be repeated come first
            if again:
                return again.popleft()
            given = list(itertools.islice(source, self._block))
            return Task(function, given) if given else None

        for task, answer in self._answers(take):
            if not isinstance(answer, Lost):
                yield from answer
                continue
            if len(task.block) > 1:
                again.extend(Task(function, [given]) for given in task.block)
                continue
            task.lost += 1
            if task.lost < ATTEMPTS:
                again.append(task)
                continue
            reason = f'worker {answer.reason}, {task.lost} times'
            if lost is None:
                raise WorkersError(f'{function.__name__}: {reason}')
            yield lost(task.block[0], reason)


@contextmanager
def computing(workers: Workers) -> Iterator[Compute]:
    """
    Yield a parallel map; its workers live until the end of the context.

    Functions and arguments must be picklable. Linear algebra uses one thread per worker.

    Raises
    ------
    WorkersError
        distributed is missing, or the scheduler does not answer.
    """
    if workers.backend == 'dask':
        with _dask(workers) as client:
            yield Compute(lambda take: _on_cluster(client, take), workers.block)
    elif workers.count == 1:
        # a single process needs no workers and no pickling
        yield Compute(_here, 1)
    else:
        pool = Pool(workers.count)
        try:
            yield Compute(pool.compute, workers.block)
        finally:
            pool.close()


def _here(take: Take) -> Iterator[tuple[Task, Any]]:
    while (task := take()) is not None:
        yield task, several(task.function, task.block)


def _on_cluster(client: Any, take: Take) -> Iterator[tuple[Task, Any]]:
    """Yield tasks with their answers; few more are at the scheduler than there are threads."""
    from dask.distributed import KilledWorker, as_completed

    done = as_completed(loop=client.loop)
    flying = dict[Any, Task]()
    while True:
        # workers come and go
        room = AHEAD * max(1, sum(client.nthreads().values()))
        while len(flying) < room and (task := take()) is not None:
            # pure results would be shared between equal tasks
            future = client.submit(several, task.function, task.block, pure=False)
            flying[future] = task
            done.add(future)
        if not flying:
            return
        future = next(done)
        task = flying.pop(future)
        if future.status == 'error' and isinstance(future.exception(), KilledWorker):
            yield task, Lost('of the cluster ended')
        else:
            yield task, future.result()


@contextmanager
def _dask(workers: Workers) -> Iterator[Any]:
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        # the text of the original error is half a page
        raise WorkersError(f'the backend dask needs dask.distributed; install it '
                           f'with {how_to_install("campaign")}') from None
    if workers.scheduler:
        try:
            client = Client(workers.scheduler)
        except (OSError, ValueError) as error:
            raise WorkersError(f'scheduler = {workers.scheduler}: {error}; is it running, with '
                               'the same version of dask?') from error
        with client:
            yield client
        return
    # scheduler and workers execute received code: loopback only, no dashboard
    with (LocalCluster(n_workers=workers.count, threads_per_worker=1, processes=True,
                       host=LOOPBACK, dashboard_address=None) as cluster,
          Client(cluster) as client):
        yield client
