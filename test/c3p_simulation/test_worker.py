# SPDX-License-Identifier: Apache-2.0
"""Worker threads: start, end, and failures in the executor's thread."""

import pytest

from c3p_simulation.worker import Worker


def test_a_worker_runs_until_it_is_stopped():
    worker = Worker('test', lambda stopping: stopping.wait(10.0))
    assert not worker.started
    worker.start()
    assert worker.started and worker.alive
    worker.stop()
    assert worker.started and not worker.alive
    worker.check()


def test_a_worker_that_never_started_can_be_stopped():
    worker = Worker('test', lambda stopping: None)
    worker.stop()
    assert worker.stopping.is_set() and not worker.started


def test_a_failure_ends_the_worker_and_is_raised_by_check():
    def fail(stopping):
        raise ArithmeticError('no solution')

    worker = Worker('test', fail)
    worker.start()
    worker.stop()
    for _ in range(2):
        with pytest.raises(ArithmeticError, match='no solution'):
            worker.check()
