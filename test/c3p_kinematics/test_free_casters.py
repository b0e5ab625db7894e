# SPDX-License-Identifier: Apache-2.0
"""The belief about casters without encoders, against many casters that turn with the motion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_description import load
from c3p_kinematics.free_casters import FreeCasters, ReversalTurn
from c3p_kinematics.rolling import rolling_rates

AMR = load('amr')
FREE = slice(2, 6)


def turned(angles, twist, duration, steps=200):
    """Return angles (k, n) of casters after a motion, by the kinematics and Runge-Kutta."""
    dt = duration / steps

    def rate(at):
        return rolling_rates(AMR, at, np.broadcast_to(twist, (len(at), 3))).steering_rate

    for _ in range(steps):
        a = rate(angles)
        b = rate(angles + dt / 2 * a)
        c = rate(angles + dt / 2 * b)
        angles = angles + dt / 6 * (a + 2 * b + 2 * c + rate(angles + dt * c))
    return angles


def mean(angles):
    """Return the mean of exp(i θ) over sets of angles."""
    return np.exp(1j * angles).mean(axis=0)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 1000))
def test_the_belief_is_the_distribution_of_casters_that_began_anywhere(seed):
    rng = np.random.default_rng(seed)
    casters = FreeCasters(AMR, drift=0.0)
    every = np.repeat(2 * np.pi * np.arange(2000)[:, None] / 2000, 6, axis=1)
    for _ in range(3):
        twist = rng.normal(size=3) * [0.15, 0.05, 0.5]
        casters.step(twist, 0.1)
        every = turned(every, twist, 0.1, 40)
        expected = mean(every)[FREE]
        found = np.exp(1j * casters.steering - casters.spread)[FREE]
        np.testing.assert_allclose(found, expected, atol=1e-5)
        # and so are the angles that are possible
        np.testing.assert_allclose(mean(casters.possible(256))[FREE], expected, atol=1e-4)


def test_a_known_caster_turns_as_the_motion_turns_it_also_around():
    casters = FreeCasters(AMR, drift=0.0)
    start = np.array([-np.pi / 2, -np.pi / 2, -1.5, -1.7, -1.56, 0.3])
    casters.know(start)
    # backward in an arc: the casters turn around
    twist = np.array([-0.3, 0.0, 0.1])
    for _ in range(100):
        casters.step(twist, 0.01)
    expected = turned(start[None], twist, 1.0, 2000)[0]
    np.testing.assert_allclose(np.exp(1j * casters.steering[FREE]), np.exp(1j * expected[FREE]),
                               atol=1e-8)
    assert np.all(np.abs(expected[FREE] - start[FREE]) > 1.0)
    np.testing.assert_allclose(casters.spread, 0.0, atol=1e-9)


def test_nothing_is_known_at_first_and_a_few_offsets_of_path_align_the_casters():
    casters = FreeCasters(AMR)
    assert np.all(np.isinf(casters.spread[FREE])) and np.all(casters.spread[:2] == 0.0)
    spreads = []
    for _ in range(6):
        casters.step([0.038, 0.0, 0.0], 1.0)
        spreads.append(casters.spread[2])
    # by e for each offset of path
    assert spreads[5] < 2.5 * np.exp(-5)
    np.testing.assert_allclose(np.diff(np.log(spreads))[2:], -1.0, atol=0.1)
    np.testing.assert_allclose(casters.steering, -np.pi / 2, atol=1e-9)


def test_driven_straight_back_an_aligned_caster_becomes_unknown_and_then_known():
    casters = FreeCasters(AMR)
    casters.know(np.full(6, -np.pi / 2))
    spreads = []
    for _ in range(30):
        casters.step([-0.038, 0.0, 0.0], 1.0)
        spreads.append(casters.spread[2])
    assert max(spreads) > 0.5
    assert spreads[-1] < 0.01 and abs(casters.steering[2]) == pytest.approx(np.pi / 2)


def test_the_turn_at_a_reversal_determines_the_sides_and_is_turned_back():
    casters = FreeCasters(AMR)
    turning = ReversalTurn(casters)
    for _ in range(100):
        casters.step([0.4, 0.0, 0.0], 0.01)
    heading = 0.0
    spreads = []
    for k in range(300):
        speed = max(0.4 - 0.01 * k, -0.4)
        rate, _ = turning.step([speed, 0.0, 0.0], [-1.0 if speed > -0.4 else 0.0, 0.0, 0.0], 0.01)
        casters.step([speed, 0.0, rate], 0.01)
        heading += 0.01 * rate
        spreads.append(casters.spread[FREE].max())
    assert abs(heading) < 1e-5
    # without the turn it is above one radian
    assert max(spreads) < 0.2
    assert spreads[-1] < 1e-3


def test_no_turn_where_casters_go_on_forward():
    casters = FreeCasters(AMR)
    turning = ReversalTurn(casters)
    for k in range(200):
        speed = 0.4 - 0.002 * k
        casters.step([speed, 0.0, 0.0], 0.01)
        assert turning.step([speed, 0.0, 0.0], [-0.2 if k < 140 else 0.0, 0.0, 0.0],
                            0.01) == (0.0, 0.0)


def test_the_belief_after_a_delay_leaves_the_present_one():
    casters = FreeCasters(AMR)
    casters.step([0.1, 0.0, 0.0], 0.2)
    before = casters.spread
    later = casters.ahead([0.4, 0.0, 0.0], 0.1)
    np.testing.assert_array_equal(casters.spread, before)
    casters.step([0.4, 0.0, 0.0], 0.1)
    np.testing.assert_array_equal(casters.spread, later.spread)


@pytest.mark.parametrize('twist, dt, text', [
    ([np.nan, 0.0, 0.0], 0.01, 'three finite numbers'), ([0.1, 0.0], 0.01, 'three finite'),
    ([0.1, 0.0, 0.0], -0.1, 'dt = -0.1'), ([0.1, 0.0, 0.0], np.inf, 'dt = inf')])
def test_a_motion_that_is_no_motion_is_refused(twist, dt, text):
    with pytest.raises(ValueError, match=text):
        FreeCasters(AMR).step(twist, dt)


def test_a_long_fast_step_stays_finite():
    casters = FreeCasters(AMR)
    casters.step([50.0, 1.0, 3.0], 100.0)
    assert np.all(np.isfinite(casters.steering)) and np.all(np.isfinite(casters.spread))
