# SPDX-License-Identifier: Apache-2.0
"""Sensed forward solution of any mix of wheels, against an own derivation of its rows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wheel_mixes import contact, mixed_robot

from c3p_description import load
from c3p_description.model import ModelError
from c3p_description.wheels import ROLLING_SLIP, pivots
from c3p_kinematics._planar_kernels import contact_rows, measured
from c3p_kinematics.casters import inverse, inverse_acceleration, sensed_forward, wheel_jacobian


def rolling(robot, rng, seed=0):
    """Return steering, twist, wheel and steering rates of a motion without slip that it can."""
    n = robot.count
    angles = np.where(robot.fixed, robot.steering_zero, rng.uniform(-3.0, 3.0, n))
    # twists with which no fixed wheel slides; two or more have a common direction, or none
    across = np.array([[contact(robot, i, angles[i], unit, 0.0)[1] for unit in np.eye(3)]
                       for i in np.flatnonzero(robot.fixed)]).reshape(-1, 3)
    free = np.linalg.svd(np.concatenate([across, np.zeros((3, 3))]))[2][
        np.linalg.matrix_rank(across) if len(across) else 0:]
    twist = free.T @ rng.normal(size=len(free))
    wheel = np.zeros(n)
    turning = np.zeros(n)
    for i, first in enumerate(pivots(robot.hip_position)):
        pivot = complex(*twist[:2]) + 1j * twist[2] * complex(*robot.hip_position[i])
        angles[i] = angles[first]
        if robot.caster_offset[i] == 0.0 and not robot.fixed[i]:
            # a steered wheel stands in the direction in which its pivot moves, and turns
            angles[i] = np.angle(pivot) - 0.5 * np.pi
            turning[i] = np.sin(first + seed)
        elif not robot.fixed[i]:
            side = contact(robot, i, angles[i], twist, 0.0)[1]
            turning[i] = -side / robot.caster_offset[i]
        wheel[i] = contact(robot, i, angles[i], twist, turning[i])[0] / robot.wheel_radius[i]
    return angles, twist, wheel, turning


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_any_mix_of_wheels_gives_the_twist_of_a_motion_without_slip(seed):
    robot, rng = mixed_robot(seed), np.random.default_rng(seed)
    angles, twist, wheel, turning = rolling(robot, rng, seed)
    # what is not measured does not matter
    angles = np.where(robot.fixed | robot.steering_encoder, angles, np.nan)
    wheel = np.where(robot.wheel_encoder, wheel, np.nan)
    found = sensed_forward(robot, angles, wheel, np.where(robot.fixed, np.nan, turning))
    if np.linalg.cond(found.information) < 1e8:
        np.testing.assert_allclose(found.twist, twist, atol=1e-6)
        np.testing.assert_allclose(found.residual, 0.0, atol=1e-6)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_rows_of_any_mix_are_velocities_of_the_contact(seed):
    robot, rng = mixed_robot(seed), np.random.default_rng(seed)
    n = robot.count
    angles, wheel, turning = rng.normal(size=(3, n))
    twist = rng.normal(size=3)
    along, across = np.empty((2, n, 3))
    value = np.empty((n, 2))
    contact_rows(robot.geometry, angles, along, across)
    measured(robot.geometry, wheel, turning, value)
    for i in range(n):
        moved = contact(robot, i, angles[i], twist, turning[i])
        # slip of the contact: its velocity less that of a rolling wheel
        slip = moved - [robot.wheel_radius[i] * wheel[i], 0.0]
        np.testing.assert_allclose(
            [along[i] @ twist - value[i, 0], across[i] @ twist - value[i, 1]],
            slip * robot.rows[i], atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_solution_is_the_weighted_least_squares_of_numpy(seed):
    robot, rng = mixed_robot(seed), np.random.default_rng(seed)
    n = robot.count
    angles = np.where(robot.fixed, robot.steering_zero, rng.normal(size=n))
    wheel, turning = rng.normal(size=(2, n))
    turning[robot.fixed] = 0.0
    weight = rng.uniform(0.1, 2.0, (n, 2))
    found = sensed_forward(robot, angles, wheel, turning, weight)
    rows = []
    right = []
    for i in range(n):
        # a wheel with a known angle, and the direction of the tyre against the path along it
        sees = [robot.rows[i, 0] > 0.0, robot.rows[i, 1] > 0.0]
        belief = robot.fixed[i] or robot.caster_offset[i] == 0.0
        sigma = [1.0, robot.slip_angle[i] / ROLLING_SLIP if belief else 1.0]
        # two wheels on a pivot have one row across
        sigma[1] *= np.sqrt(1 if robot.fixed[i] else np.sum(np.all(
            robot.hip_position == robot.hip_position[i], axis=1)))
        still = contact(robot, i, angles[i], np.zeros(3), turning[i])
        for k in range(2):
            if sees[k]:
                scale = np.sqrt(weight[i, k]) / sigma[k]
                rows.append([scale * (contact(robot, i, angles[i], unit, turning[i])[k]
                                      - still[k]) for unit in np.eye(3)])
                rolled = robot.wheel_radius[i] * wheel[i] if k == 0 else 0.0
                right.append(scale * (rolled - still[k]))
    expected, _, rank, singular = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)
    if rank == 3 and singular[-1] > 1e-4 * singular[0]:
        np.testing.assert_allclose(found.twist, expected, atol=1e-6 * (
            1.0 + np.abs(expected).max()))


def test_the_limit_of_small_offsets_is_the_wheel_below_its_pivot():
    swerve = load('swerve')
    rng = np.random.default_rng(3)
    steering, wheel, turning = rng.normal(size=(3, 4))
    weight = np.ones((4, 2))
    exact = sensed_forward(swerve, steering, wheel, turning, weight).twist
    error = []
    for offset in (1e-3, 1e-4, 1e-5):
        caster = replace(swerve, caster_offset=offset)
        # a caster's row across is a measurement: the same weight as the belief in the tyre
        near = sensed_forward(caster, steering, wheel, turning,
                              weight * swerve.rows**2).twist
        error.append(np.abs(near - exact).max())
    assert error[1] == pytest.approx(error[0] / 10, rel=0.05)
    assert error[2] == pytest.approx(error[1] / 10, rel=0.05)


def test_what_needs_casters_is_refused_by_name():
    swerve = load('swerve')
    for call in (lambda: inverse(swerve, np.zeros(4), np.zeros(3)),
                 lambda: inverse_acceleration(swerve, np.zeros(4), np.zeros(3), np.zeros(3))):
        with pytest.raises(ModelError, match='robot swerve: .* modules drives the robot'):
            call()
    # rolling needs no offset
    assert np.all(np.isfinite(wheel_jacobian(swerve, np.zeros(4))))
