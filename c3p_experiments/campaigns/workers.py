# SPDX-License-Identifier: Apache-2.0
"""Independent computations on many cores or computers: joblib with processes or Dask."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any

BACKENDS = ('loky', 'dask')

INSTALL = 'install it with `pip install c3p[campaign]`'

# address of a local cluster
LOOPBACK = '127.0.0.1'


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
        ``loky``, processes of this computer; ``dask``, a Dask cluster.
    scheduler : str
        Address of the scheduler, ``tcp://host:8786``; empty starts a temporary local cluster.
    """

    jobs: int = -1
    backend: str = 'loky'
    scheduler: str = ''

    def __post_init__(self) -> None:
        """Validate the settings."""
        if self.backend not in BACKENDS:
            raise WorkersError(f'backend = {self.backend}: must be one of {", ".join(BACKENDS)}')
        if self.jobs == 0:
            raise WorkersError('jobs = 0: must be a number of processes, or -1 for all cores')
        if self.scheduler and self.backend != 'dask':
            raise WorkersError(f'scheduler = {self.scheduler}: only a Dask cluster has one; take '
                               'the backend dask')


Compute = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]


@contextmanager
def computing(workers: Workers) -> Iterator[Compute]:
    """
    Yield a parallel map of a function over tuples of arguments, results in any order.

    Function and arguments must be picklable. Linear algebra uses one thread per worker.

    Raises
    ------
    WorkersError
        joblib or distributed is missing, or the scheduler does not answer.
    """
    try:
        import joblib
    except ImportError as error:
        raise WorkersError(f'campaigns need joblib ({error}); {INSTALL}') from None
    if workers.backend == 'dask':
        with _dask(workers), joblib.parallel_config('dask'):
            yield _unordered
        return
    # a single process needs no workers and no pickling
    options = {'inner_max_num_threads': 1} if workers.jobs != 1 else {}
    with joblib.parallel_config('loky', n_jobs=workers.jobs, **options):
        yield _unordered


def _unordered(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
               ) -> Iterator[Any]:
    from joblib import Parallel, delayed

    with _uninterrupted():
        return Parallel(return_as='generator_unordered', batch_size=1)(
            delayed(function)(*given) for given in arguments)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """
    Start processes that Ctrl-C does not reach: their parent ends them.

    A terminal interrupts all processes, and one that is importing would write where it was. The
    mask of signals is inherited; a Ctrl-C meanwhile reaches this process at the end.
    """
    # its start, which would follow, unblocks the signal
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _dask(workers: Workers) -> Iterator[Any]:
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        # the text of the original error is half a page
        raise WorkersError(f'the backend dask needs dask.distributed; {INSTALL}') from None
    if workers.scheduler:
        try:
            client = Client(workers.scheduler)
        except (OSError, ValueError) as error:
            raise WorkersError(f'scheduler = {workers.scheduler}: {error}; is it running, with '
                               'the same version of dask?') from error
        with client:
            yield client
        return
    import joblib

    # scheduler and workers execute received code: loopback only, no dashboard
    with (LocalCluster(n_workers=joblib.effective_n_jobs(workers.jobs), threads_per_worker=1,
                       processes=True, host=LOOPBACK, dashboard_address=None) as cluster,
          Client(cluster) as client):
        yield client
