# SPDX-License-Identifier: Apache-2.0
"""When cycles of a simulated robot begin, with a clock that the test moves."""

from types import SimpleNamespace

import numpy as np
import pytest

from c3p_simulation.pacing import (
    CYCLE_PATIENCE,
    LONGEST,
    PATIENCE,
    SIMULATED_START,
    Pacing,
    Stamps,
    pace_of_parameters,
)

PERIOD, HOUR = 0.005, 3_600_000_000_000
NS = round(1e9 * PERIOD)


def run(pace, answers, duration, begin=0.0):
    """
    Run a thread that keeps this pace for `duration`; return when each cycle began, and its stamp.

    `answers` gives for a stamp, counted from 0, and its time how long the answer takes; None is
    no answer at all.
    """
    now, began, due = begin, [], {}
    pace.start(now)
    while now < begin + duration:
        stamp = len(began)
        periods = pace.periods(now)
        pace.sent(stamp, periods, now)
        began.append((now, periods))
        took = answers(stamp, now)
        if took is not None:
            due[stamp] = now + took
        while (left := pace.left(now)) > 0.0:
            first = min(due, key=due.get) if due else None
            if first is not None and due[first] <= now + left:
                now = max(now, due.pop(first))
                pace.answer(first, now)
            else:
                now += left
    return np.array(began)


@pytest.mark.parametrize('waits', [True, False])
@pytest.mark.parametrize('factor', [0.5, 1.0, 4.0])
def test_a_computer_that_keeps_up_keeps_the_clock(waits, factor):
    pace = Pacing(PERIOD, factor, waits, 0.0)
    began = run(pace, lambda *_: 0.0005, 2.0)
    assert np.diff(began[:, 0]) == pytest.approx(PERIOD / factor, abs=1e-9)
    assert pace.overruns == 0 and not pace.lag(2.0)
    assert pace.achieved == pytest.approx(factor, rel=0.01)
    assert pace.latency.largest == pytest.approx(0.0005, rel=0.03)


def test_a_waiting_robot_never_runs_ahead_of_its_controllers_and_says_how_slow_it_was():
    rng = np.random.default_rng(3)
    took = rng.exponential(0.02, 3000)
    pace = Pacing(PERIOD, 1.0, True, 0.0)
    began = run(pace, lambda stamp, _: min(took[stamp], 0.2), 10.0)
    # each cycle moves on by one period, after the answer to the one before
    assert (began[:, 1] == 1).all() and pace.answered >= len(began) - 1
    assert pace.achieved == pytest.approx(len(began) * PERIOD / 10.0, rel=0.02)
    assert 0.1 < pace.achieved < 0.4
    assert pace.lag(10.0).startswith('7.') or pace.lag(10.0).startswith('8.')


def test_what_was_lost_is_caught_up_with_by_a_quarter_of_the_pace_and_no_faster():
    pace = Pacing(PERIOD, 1.0, True, 0.0)
    began = run(pace, lambda stamp, _: 0.2 if stamp == 100 else 0.001, 3.0)[:, 0]
    steps = np.diff(began)
    assert steps.max() == pytest.approx(0.2, abs=1e-6)
    assert steps.min() == pytest.approx(0.8 * PERIOD)
    # 195 ms at 1 ms a cycle
    assert np.sum(steps < 0.9 * PERIOD) == pytest.approx(195, abs=2)
    assert pace.achieved == pytest.approx(1.0, abs=0.01) and not pace.lag(3.0)


def test_statistics_that_begin_anew_count_no_catching_up():
    pace = Pacing(PERIOD, 1.0, True, 0.0)
    run(pace, lambda stamp, _: 0.2, 1.0)
    pace.count_afresh(1.0)
    assert not pace.cycles and not pace.answered and not pace.lag(1.0)
    for stamp in range(1000, 1200):
        now = max(pace.deadline, 1.0)
        pace.sent(stamp, pace.periods(now), now)
        pace.answer(stamp, now + 0.001)
    assert pace.achieved == pytest.approx(1.0, abs=0.02)


def test_a_lost_answer_costs_one_wait_and_lost_controllers_a_bounded_one():
    pace = Pacing(PERIOD, 1.0, True, 0.0)
    began = run(pace, lambda stamp, _: None if stamp == 50 else 0.001, 1.0)[:, 0]
    assert np.diff(began).max() == pytest.approx(CYCLE_PATIENCE)
    # nobody answers from 1 s to 6 s: some cycles of waiting, then the clock's pace
    pace = Pacing(PERIOD, 1.0, True, 0.0)
    began = run(pace, lambda _, now: None if 1.0 < now < 6.0 else 0.001, 10.0)[:, 0]
    ahead = np.sum((began > 1.0) & (began < 1.0 + PATIENCE))
    # far less robot time than any watchdog of the suite waits, 0.2 s
    assert ahead * PERIOD <= 0.05
    after = np.diff(began[(began > 1.0 + PATIENCE + CYCLE_PATIENCE) & (began < 6.0)])
    assert after.max() <= PERIOD + 1e-9
    # whoever comes back is waited for again
    assert np.diff(began)[began[:-1] > 6.1].max() < 2 * PERIOD


def test_without_controllers_from_the_start_nothing_waits():
    pace = Pacing(PERIOD, 1.0, True, 0.0)
    began = run(pace, lambda *_: None, 1.0)[:, 0]
    assert np.diff(began).max() == pytest.approx(PERIOD)


def test_a_sample_that_was_lost_is_not_waited_for():
    pace = Pacing(PERIOD, 1.0, True, 0.0)
    pace.periods(0.0)
    pace.sent(1, 1, 0.0)
    pace.answer(1, 0.001)
    pace.periods(0.005)
    pace.sent(2, 1, 0.005, answerable=False)
    assert pace.left(0.02) == 0.0


@pytest.mark.parametrize('late, periods', [(0.3, 61), (1.0, 201), (100.0, 1 + LONGEST / PERIOD)])
def test_a_strict_robot_makes_up_for_a_delay_in_one_go_but_not_for_hours(late, periods):
    pace = Pacing(PERIOD, 1.0, False, 0.0)
    pace.periods(0.0)
    assert pace.periods(PERIOD + late + 1e-6) == periods
    assert pace.overruns == round(late / PERIOD)
    # and goes on with the clock
    assert 0.0 < pace.left(PERIOD + late + 1e-6) <= PERIOD


def test_an_old_answer_counts_as_latency_but_ends_no_wait():
    pace = Pacing(PERIOD, 1.0, True, 0.0)
    for stamp, now in ((1, 0.0), (2, 0.005)):
        pace.periods(now)
        pace.sent(stamp, 1, now)
    assert not pace.answer(1, 0.02) and pace.latency.largest == pytest.approx(0.02)
    assert pace.answer(2, 0.03) and pace.answered == 2
    # an answer to nothing, as a controller sends that has lost its chain
    assert not pace.answer(99, 0.03) and pace.answered == 2


@pytest.mark.parametrize('step', [HOUR, -HOUR, HOUR // 3600, -HOUR // 3600, HOUR // 36000])
def test_stamps_follow_a_system_clock_that_is_set(step):
    start = 10**18
    stamps, clock = Stamps(NS, start, follows=True), start
    for k in range(400):
        clock += NS + (step if k == 200 else 0)
        before, stamp = stamps.now, stamps.advance(1, clock)
        assert stamp - before == (NS if k != 200 else NS + step)
        assert abs(stamp - clock) < 2 * NS
    assert stamps.resets == 1


def test_stamps_follow_a_clock_that_is_slewed_and_ignore_jitter():
    """The greatest rate of adjtime, 500 ppm, for an hour; and cycles that come 40 ms late."""
    stamps, clock = Stamps(NS, 0, follows=True), 0
    for _ in range(200 * 3600 // 20):
        clock += round(20 * NS * 1.0005)
        stamps.advance(20, clock)
        assert abs(stamps.now - clock) < 80_000_000
    assert 15 < stamps.resets < 40
    jitter, clock = Stamps(NS, 0, follows=True), 0
    for k in range(1000):
        clock += NS
        assert jitter.advance(1, clock + 40_000_000 * (k % 7 == 0)) == (k + 1) * NS


def test_a_clock_of_its_own_follows_no_other():
    stamps = Stamps(NS, SIMULATED_START, follows=False)
    assert stamps.advance(3, HOUR) == SIMULATED_START + 3 * NS and not stamps.resets


def values(**given):
    return SimpleNamespace(**{'rate': 200.0, 'realtime': 'strict', 'realtime_factor': 1.0,
                              'lockstep': False, 'publish_clock': True, **given})


@pytest.mark.parametrize('given, waits, start', [
    ({'publish_clock': False}, False, 77), ({}, False, SIMULATED_START),
    ({'realtime': 'wait'}, True, 77), ({'lockstep': True}, False, SIMULATED_START),
    ({'realtime': 'wait', 'realtime_factor': 2.0}, True, SIMULATED_START),
    ({'realtime': 'wait', 'lockstep': True}, False, SIMULATED_START)])
def test_clock_and_pace_are_those_of_the_parameters(given, waits, start):
    pace, stamps = pace_of_parameters(values(**given), 1.0, 77)
    assert (pace.waits, stamps.now) == (waits, start)


@pytest.mark.parametrize('given', [{'realtime': 'wait'}, {'lockstep': True},
                                   {'realtime_factor': 3.0}])
def test_a_clock_of_its_own_has_to_be_published(given):
    with pytest.raises(ValueError, match='publish_clock'):
        pace_of_parameters(values(publish_clock=False, **given), 1.0, 77)
