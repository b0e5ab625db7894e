# SPDX-License-Identifier: Apache-2.0
"""An order to stop has an effect in time, or it is late, or the speed grows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_kinematics.ordered_stop import HOLDS, Effect, OrderedStop

PERIOD, REST = 0.005, 0.01


def effects(speed, seconds=3.0, deceleration=1.0, margin=0.3):
    """Return the effects of `speed`, a function of time, and the time of the first failure."""
    stop, found, failed = OrderedStop(deceleration, margin, REST), [], None
    stop.begin(0.0, speed(0.0))
    for k in range(1, round(seconds / PERIOD)):
        found.append(stop.step(PERIOD * k, speed(PERIOD * k)))
        if found[-1] in (Effect.LATE, Effect.GROWS) and failed is None:
            failed = PERIOD * k
    return found, failed


@given(st.floats(0.05, 3.0), st.floats(1.0, 5.0), st.floats(0.0, 0.28))
def test_a_stop_with_the_deceleration_after_the_margin_comes_to_rest(speed, times, delay):
    """Any stop that decelerates by `times` the least one, after a delay below the margin."""
    found, failed = effects(lambda t: max(0.0, speed - times * max(0.0, t - delay)), 5.0)
    assert failed is None and found[-1] is Effect.RESTS


@given(st.floats(0.1, 3.0))
def test_a_constant_speed_is_late_right_after_the_margin(speed):
    found, failed = effects(lambda t: speed)
    assert found[-1] is Effect.LATE
    # the tolerance of 0.03 m/s takes 0.03 s of 1 m/s²
    assert 0.3 < failed < 0.3 + 0.03 + HOLDS + 3 * PERIOD


@given(st.floats(0.0, 1.0), st.floats(3.0, 10.0))
def test_a_speed_that_grows_is_seen_before_the_margin_ends(speed, accel):
    found, failed = effects(lambda t: speed + accel * t, margin=1.0)
    assert found[-1] is Effect.GROWS
    # a quarter of the speed, and 0.15 m/s
    assert failed == pytest.approx((0.25 * speed + 0.15) / accel + HOLDS, abs=3 * PERIOD)


def test_one_sample_is_no_failure_and_no_rest():
    spikes = {round(0.1 / PERIOD): 2.0, round(0.2 / PERIOD): 0.0}
    stop = OrderedStop(1.0, 0.3, REST)
    stop.begin(0.0, 0.5)
    for k in range(1, round(0.8 / PERIOD)):
        speed = spikes.get(k, max(0.05, 0.5 - PERIOD * k))
        assert stop.step(PERIOD * k, speed) is Effect.FALLS


def test_what_moves_a_robot_after_its_standstill_is_no_failure():
    """A slope, or somebody who pushes it by hand."""
    found, failed = effects(lambda t: max(0.0, 0.4 - 2.0 * t) if t < 1.0 else t - 1.0)
    assert failed is None and found[-1] is Effect.RESTS


def test_an_order_is_begun_once_and_ended():
    stop = OrderedStop(1.0, 0.3, REST)
    assert stop.step(0.0, 5.0) is Effect.NONE and stop.expected(0.0) == np.inf
    stop.begin(0.0, 0.2)
    stop.begin(1.0, 5.0)
    assert (stop.begun, stop.speed) == (0.0, 0.2)
    stop.end()
    assert stop.step(9.0, 5.0) is Effect.NONE


@pytest.mark.parametrize('place', [0, 1, 2])
@pytest.mark.parametrize('value', [0.0, -1.0, np.inf, np.nan])
def test_a_stop_without_an_effect_or_an_end_is_refused(place, value):
    values = [1.0, 0.3, 0.01]
    values[place] = value
    with pytest.raises(ValueError, match='must be a positive number'):
        OrderedStop(*values)
