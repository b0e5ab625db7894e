# SPDX-License-Identifier: Apache-2.0
"""Distance from the singular set: against determinants, finite differences and linear programs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from robots import C3P, robots_in_motion
from scipy.optimize import linprog

from c3p_controller.closed_form.actuation import Triple
from c3p_controller.closed_form.model import ScalarModel
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.casters import inverse, wheel_jacobian

STILL = (0.0, 0.0, 0.0)


def determinant(robot, indices, steering):
    """Return D by numpy."""
    return np.linalg.det(rolling_rows(robot, steering)[list(indices)])


def rolling_rows(robot, steering):
    """Return Rx (n, 3): velocities of the pivots along the rolling lines."""
    return wheel_jacobian(robot, steering) * robot.wheel_radius[:, None]


def actuation_of(robot, steering, twist):
    triple = Triple(robot)
    motion = ScalarModel(robot, 0.5).motion(list(steering), tuple(twist), STILL)
    return triple, motion, triple.actuation(motion)


@given(robots_in_motion(min_casters=3))
def test_the_determinant_and_how_it_changes(moving):
    robot, steering, twist, accel = moving
    assume(np.count_nonzero(torque_bounds(robot)) >= 3)
    triple, _, found = actuation_of(robot, steering, twist)

    def at(time):
        # the steering under a constant acceleration, to the third order in time
        nu, h = np.array(twist), time / 2.0
        rate = inverse(robot, steering, nu)[1]
        middle = inverse(robot, steering + h * rate, nu + h * accel)[1]
        return determinant(robot, triple.indices, steering + time * middle)

    # central differences; angles turn by some 1e-4 rad, what is left is of second order in that
    fastest = 1.0 + np.abs(inverse(robot, steering, np.abs(twist) + np.abs(accel))[1]).max()
    step = 1e-4 / fastest
    size = 1.0 + np.abs(robot.hip_position).max()
    assert found.value == pytest.approx(at(0.0), abs=1e-12 * size)
    slope = (at(step) - at(-step)) / (2.0 * step)
    assert found.rate == pytest.approx(slope, abs=1e-5 * size * fastest)
    curve = (at(step) - 2.0 * at(0.0) + at(-step)) / step**2
    assert np.dot(found.row, accel) + found.rest == pytest.approx(
        curve, abs=1e-3 * size * fastest**2)


@pytest.mark.parametrize('steering', [[0.3] * 3, [0.3, 0.3 + np.pi, 0.3],
                                      np.radians([-60.0, 60.0, 180.0])])
def test_it_is_zero_where_rolling_lines_are_parallel_or_meet(steering):
    _, _, found = actuation_of(C3P, steering, STILL)
    assert found.value == pytest.approx(0.0, abs=1e-12)


def test_parallel_casters_need_a_yaw_and_nothing_else_helps():
    _, _, found = actuation_of(C3P, [0.4] * 3, STILL)
    assert found.row[:2] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert abs(found.row[2]) > 1.0


def least_load(robot, indices, motion, accel, free_yaw):
    """Return the least largest torque, as a part of its limit, by a linear program."""
    columns = rolling_rows(robot, motion_steering(motion))[list(indices)].T
    columns = columns / robot.wheel_radius[list(indices)]
    xx, xy, xw, yy, yw, ww = motion.mass
    mass = np.array([[xx, xy, xw], [xy, yy, yw], [xw, yw, ww]])
    force = mass @ accel - np.array(motion.force)
    limit = torque_bounds(robot)[list(indices)]
    # unknowns: torques, how much more yaw, the load
    equal = np.column_stack([columns, -mass[:, 2], np.zeros(3)])
    above = np.column_stack([np.eye(3), np.zeros(3), -limit])
    below = np.column_stack([-np.eye(3), np.zeros(3), -limit])
    found = linprog([0, 0, 0, 0, 1], A_ub=np.vstack([above, below]), b_ub=np.zeros(6),
                    A_eq=equal, b_eq=force,
                    bounds=[(None, None)] * 3 + [(-free_yaw, free_yaw), (0, None)])
    return found.fun


def motion_steering(motion):
    return np.arctan2([a[1] for a in motion.axle], [a[0] for a in motion.axle])


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 2.0]))
def test_what_is_needed_is_where_the_torques_meet_their_limits(seed, free_yaw):
    rng = np.random.default_rng(seed)
    robot = replace(C3P, torque_limit=rng.uniform(0.5, 2.0, 3))
    steering, accel = rng.uniform(-np.pi, np.pi, 3), rng.normal(size=3)
    triple, motion, found = actuation_of(robot, steering, rng.normal(0.0, 0.3, 3))
    if abs(found.value) < 0.05:
        return
    needed = triple.needed(found, motion, tuple(accel), free_yaw)
    load = needed / abs(found.value)
    least = least_load(robot, triple.indices, motion, accel, free_yaw)
    if free_yaw == 0.0:
        assert load == pytest.approx(least, rel=1e-6)
    else:
        # least squares instead of the least maximum: never below it, at most √3 above
        assert least * (1.0 - 1e-6) <= load <= np.sqrt(3.0) * least * (1.0 + 1e-6)


def test_the_triple_is_driven_and_wide():
    hips = [[1.0, 0.0], [0.9, 0.1], [-0.5, 0.8], [-0.5, -0.8]]
    robot = replace(C3P, hip_position=hips, caster_offset=0.04, wheel_radius=0.04, link_mass=1.0,
                    link_com=0.0, link_inertia=1e-3, wheel_mass=0.3, wheel_spin_inertia=1e-4,
                    wheel_yaw_inertia=1e-4, torque_limit=1.0, steering_joints=(), wheel_joints=(),
                    steering_sign=1.0, steering_zero=0.0, wheel_sign=1.0, driven=True)
    assert Triple(robot).indices == (0, 2, 3)
    assert Triple(replace(robot, driven=[False, True, True, True])).indices == (1, 2, 3)
    with pytest.raises(ValueError, match='2 driven casters'):
        Triple(replace(robot, driven=[True, True, False, False]))
