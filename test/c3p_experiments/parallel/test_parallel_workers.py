# SPDX-License-Identifier: Apache-2.0
"""Workers that are killed in the midst: another one computes their tasks, and none is lost."""

import os
import signal
import time

import pytest
from parallel_tasks import blocked, failing, killed, odd

from c3p_experiments.parallel.pool import Pool, PoolError
from c3p_experiments.parallel.workers import ATTEMPTS, Task, Workers, WorkersError, computing


def compute(workers, function, arguments, lost=None):
    """Return all results."""
    with computing(workers) as each:
        return list(each(function, arguments, lost))


@pytest.mark.parametrize('block', [1, 4])
def test_a_killed_worker_costs_no_result(block, tmp_path):
    found = compute(Workers(jobs=2, block=block), killed,
                    [(tmp_path, index, ATTEMPTS - 1) for index in range(10)])
    assert sorted(found)[:10] == sorted({(i, i**2, pid) for i, _, pid in found})
    assert sorted(i for i, *_ in found) == list(range(10))
    assert len(list(tmp_path.iterdir())) == ATTEMPTS - 1


def test_ctrl_c_reaches_the_parent_and_not_its_workers():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert all(compute(Workers(jobs=2), blocked, [(index,) for index in range(4)]))
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_what_ends_each_worker_is_reported_with_its_reason(tmp_path):
    told = []

    def lost(given, reason):
        told.append(reason)
        return given[1], None, None

    found = compute(Workers(jobs=2, block=3), killed,
                    [(tmp_path, index, 99) for index in range(8)], lost)
    assert sorted((i, square) for i, square, _ in found if i != 3) == [
        (i, i**2) for i in range(8) if i != 3] and len(found) == 8
    assert told == ['worker ended by SIGKILL (killed, or out of memory), 3 times']
    # its block once, and then alone
    assert len(list(tmp_path.iterdir())) == ATTEMPTS + 1
    with pytest.raises(WorkersError, match='killed: worker ended by SIGKILL'):
        compute(Workers(jobs=2), killed, [(tmp_path, 3, 99)])


def test_errors_of_tasks_are_raised_as_they_are_with_their_trace():
    with pytest.raises(LookupError, match='index = 2: not this one') as caught:
        compute(Workers(jobs=2), failing, [(index,) for index in range(4)])
    assert 'in failing' in str(caught.value.__cause__)
    with pytest.raises(RuntimeError, match='1 and 1'):
        compute(Workers(jobs=2), odd, [(1,)])


def test_workers_that_cannot_start_are_one_error(monkeypatch):
    # without what they import, wherever the suite is installed
    monkeypatch.setattr('c3p_experiments.parallel.pool.START', 'import none_of_this_name  # {}')
    with pytest.raises(PoolError, match='cannot start'):
        compute(Workers(jobs=2), failing, [(0,), (1,)])


def test_workers_end_with_the_process_that_started_them():
    pool = Pool(2)
    tasks = [Task(signal.pause, [()]), Task(abs, [(0,)])]
    with pytest.raises(StopIteration):
        for _ in pool.compute(lambda: tasks.pop() if tasks else None):
            raise StopIteration
    pids = [process.pid for process in pool.processes]
    begin = time.monotonic()
    # one computes for ever, the other waits
    pool.close()
    assert len(pids) == 2 and time.monotonic() - begin < 10.0
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_memory_of_the_caller_holds_no_more_tasks_than_workers():
    taken = []

    def endless():
        for index in range(50):
            taken.append(index)
            yield (index,)

    with computing(Workers(jobs=2)) as each:
        for done, _ in enumerate(each(abs, endless()), 1):
            assert len(taken) <= done + 2
    assert done == 50


def test_a_cluster_gives_the_tasks_of_a_killed_worker_to_another(tmp_path):
    pytest.importorskip('distributed', reason='needs Dask: pip install .[campaign]')
    # Dask itself repeats a task up to three times before it is lost; the block is then divided
    found = compute(Workers(jobs=1, backend='dask', block=3), killed,
                    [(tmp_path, index, 2) for index in range(5)])
    assert sorted((i, square) for i, square, _ in found) == [(i, i**2) for i in range(5)]
