# SPDX-License-Identifier: Apache-2.0
"""Angles of casters without sensors, against a rigid motion that SciPy integrates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import caster_robots
from scipy.integrate import solve_ivp

from c3p_kinematics.derived_casters import DerivedCasters, part_of

CYCLE = 0.005


def rates(robot, steering, twist):
    """Return the rates of rigid casters by the velocities of their hips, from the papers' text."""
    x, y = robot.hip_position.T
    vx, vy = twist[0] - twist[2] * y, twist[1] + twist[2] * x
    c, s = np.cos(steering), np.sin(steering)
    # along the wheel (−s, c) and along the axle (c, s)
    return (-(c * vx + s * vy) / robot.caster_offset - twist[2],
            (c * vy - s * vx) / robot.wheel_radius)


def motion(robot, seed, seconds=1.5):
    """Return (2, n) angles at each cycle of a smooth random motion."""
    rng = np.random.default_rng(seed)
    size = np.abs(robot.hip_position).max()
    scale = np.array([size, size, 1.0]) * rng.uniform(0.2, 1.0, 3)
    phase, n = rng.uniform(0, 2 * np.pi, 3), robot.count

    def slope(t, state):
        twist = scale * np.sin(2 * np.pi * (0.3 * t) + phase)
        return np.concatenate(rates(robot, state[:n], twist))

    times = np.arange(0.0, seconds, CYCLE)
    start = np.concatenate([rng.uniform(-np.pi, np.pi, n), np.zeros(n)])
    found = solve_ivp(slope, (0, times[-1]), start, t_eval=times, rtol=1e-9, atol=1e-10)
    return found.y.T.reshape(-1, 2, n)


@given(robot=caster_robots(min_casters=3), seed=st.integers(0, 10**6), data=st.data())
@settings(deadline=None, max_examples=30)
def test_derived_angles_are_those_of_the_rigid_motion(robot, seed, data):
    both = data.draw(st.integers(2, robot.count - 1))
    steering = np.arange(robot.count) < data.draw(st.integers(both, robot.count))
    wheel = np.arange(robot.count) < both
    casters, truth = DerivedCasters(robot, steering, wheel), motion(robot, seed)
    angle = truth[0].copy()
    for true in truth[1:]:
        # what is not measured is replaced
        after = np.where([steering, wheel], true, np.nan)
        casters.complete(angle, after)
        angle = after
    # leading casters double an error every few centimetres: at most 1.5 s of it here
    np.testing.assert_allclose(angle[0], truth[-1][0], atol=2e-2)
    np.testing.assert_allclose(angle[1], truth[-1][1], atol=2e-2)


def test_a_wrong_first_angle_shrinks_by_e_for_each_caster_offset_of_path():
    from c3p_description.model import CasterRobot

    robot = CasterRobot.regular(0.3, np.radians([0, 120, 240]), 0.05, 0.05, 15.0, 1.0)
    casters = DerivedCasters(robot, [True, True, False], [True, True, False])
    before, step = np.zeros((2, 3)), 0.1
    before[0, 2] = 0.5
    for _ in range(50):  # straight on by 5 caster offsets
        after = np.array([[0.0, 0.0, np.nan], [*before[1, :2] + step] + [np.nan]])
        casters.complete(before, after)
        before = after
    # the tractrix: tan(θ/2) falls by e per offset
    assert np.tan(before[0, 2] / 2) == pytest.approx(np.tan(0.25) * np.exp(-5.0), rel=1e-2)


def test_one_caster_with_both_sensors_is_refused():
    from c3p_description import load

    with pytest.raises(ValueError, match='1 casters have both sensors: must be 2 or more'):
        DerivedCasters(load('c3p'), [True, True, False], [True, False, False])


@given(robot=caster_robots(min_casters=3))
def test_a_part_of_a_robot_has_its_casters(robot):
    part = part_of(robot, [0, 2])
    np.testing.assert_array_equal(part.geometry, robot.geometry[[0, 2]])
    assert part_of(robot, range(robot.count)) is robot
