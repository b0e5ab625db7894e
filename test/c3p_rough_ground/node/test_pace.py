# SPDX-License-Identifier: Apache-2.0
"""The clockwork, on a clock of the test's own."""

import types

import pytest

from c3p_rough_ground.node import pace as pace_module
from c3p_rough_ground.node.pace import LONGEST_DELAY, MOST_PERIODS, TerrainPace


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves when the pace waits, or when `work` says that something took long."""
    clock = types.SimpleNamespace(now=100.0, work=[])
    monkeypatch.setattr(pace_module, 'time', types.SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def beats(clock, period, count, work=()):
    """Return [(time, steps, let go)] of `count` calls; call k takes work[k] seconds."""
    calls, work = [], dict(work)

    def advance(steps, let_go):
        calls.append((clock.now, steps, let_go))
        clock.now += work.get(len(calls) - 1, 0.0)

    pace = TerrainPace(period, advance, lambda: len(calls) < count)

    def wait(seconds):
        clock.now += seconds

    pace.stopping = types.SimpleNamespace(is_set=lambda: False, wait=wait, set=lambda: None)
    pace.run()
    return calls, pace


def test_periods_begin_on_a_grid(clock):
    calls, pace = beats(clock, 0.25, 4, {1: 0.125})
    assert calls == [(100.0, 1, 0), (100.25, 1, 0), (100.5, 1, 0), (100.75, 1, 0)]
    assert pace.overruns == 0


def test_a_delay_is_made_up_for_in_one_call(clock):
    calls, pace = beats(clock, 0.25, 4, {0: 0.8})
    # the periods due at 100.25, 100.5 and 100.75 in one
    assert calls == [(100.0, 1, 0), (100.8, 3, 0), (101.0, 1, 0), (101.25, 1, 0)]
    assert pace.overruns == 2


def test_a_long_delay_is_let_go(clock):
    calls, pace = beats(clock, 0.25, 3, {0: 100.125})
    made_up = int(LONGEST_DELAY / 0.25)
    assert calls[1] == (200.125, 1 + made_up, 399 - made_up) and pace.overruns == 399
    # steps and those let go are all that was due
    assert sum(calls[1][1:]) == 400 and calls[2][:2] == (200.25, 1)


def test_what_cannot_keep_up_gets_no_slower_with_every_call(clock):
    period = 1 / 1024
    calls, _ = beats(clock, period, 6, {k: 0.5 for k in range(6)})
    assert [steps for _, steps, _ in calls[1:]] == [1 + MOST_PERIODS] * 5
    # and nothing is forgotten: 512 periods have passed in each 0.5 s
    assert sum(calls[2][1:]) == 512


def test_a_failure_is_raised_where_it_is_asked_for():
    def advance(steps, let_go):
        raise RuntimeError('no ground')

    pace = TerrainPace(0.01, advance)
    pace.run()
    with pytest.raises(RuntimeError, match='no ground'):
        pace.check()


def test_stopping_joins_the_thread():
    pace = TerrainPace(1e-3, lambda steps, let_go: None)
    pace.start()
    pace.stop()
    assert not pace.alive
    pace.check()
