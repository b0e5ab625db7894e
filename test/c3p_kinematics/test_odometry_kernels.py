# SPDX-License-Identifier: Apache-2.0
"""The odometry's covariances, written out for speed, against products of matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import robots_in_motion, vectors

from c3p_kernels.compiled import borrowed, kernel
from c3p_kinematics import _odometry_kernels as kernels
from c3p_kinematics import se2
from c3p_kinematics._planar_kernels import solve
from c3p_kinematics.casters import inverse, sensed_forward
from c3p_kinematics.odometry_states import RigidFit

cut_fit = RigidFit.cut


@kernel
def solved(block, geometry):
    """Do as `solve`; `block` is one of RigidFit."""
    return solve(borrowed(geometry), cut_fit(block, len(geometry)))


def definite(numbers):
    """Return a symmetric, positive definite matrix (3, 3)."""
    root = np.reshape(numbers, (3, 3))
    return root @ root.T + 1e-3 * np.eye(3)


matrices = vectors(9, 2.0).map(definite)


@given(matrices, matrices, st.floats(-4, 4), st.floats(0, 10))
def test_slip_in_body_axes_is_turned_to_the_floor(covariance, unit, yaw, amount):
    turn = se2.adjoint([0.0, 0.0, yaw])
    expected = covariance + amount * turn @ unit @ turn.T
    got = covariance.copy()
    kernels.add_slip(got, yaw, unit, amount)
    np.testing.assert_allclose(got, expected, atol=1e-12 * (1 + np.abs(expected).max()))
    np.testing.assert_array_equal(got, got.T)


@given(matrices, vectors(3, 3.0), vectors(3, 3.0), vectors(4, 0.1).map(np.abs))
def test_covariance_is_carried_along_the_way_and_grows_with_its_length(covariance, start, step,
                                                                       growth):
    anchor, pose = start.copy(), start + step
    expected = np.eye(3)
    expected[:2, 2] = -step[1], step[0]
    expected = expected @ covariance @ expected.T
    length, angle = np.hypot(*step[:2]), abs(step[2])
    place = growth[0] * length + growth[1] * angle
    expected += np.diag([place, place, growth[2] * length + growth[3] * angle])
    got = covariance.copy()
    went = kernels.grow(got, anchor, pose, growth, 0.3, 0.0)
    assert went == pytest.approx(length, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(got, expected, atol=1e-12 * (1 + np.abs(expected).max()))
    np.testing.assert_array_equal(anchor, pose)


@given(matrices, vectors(3, 1e-4), vectors(3, 3.0))
def test_nearer_than_the_least_way_nothing_changes(covariance, step, start):
    got, anchor = covariance.copy(), start.copy()
    assert kernels.grow(got, anchor, start + step, np.ones(4), 0.3, 1e-3) == -1.0
    np.testing.assert_array_equal(got, covariance)
    np.testing.assert_array_equal(anchor, start)


@given(robots_in_motion(), st.integers(0, 2**32 - 1))
def test_fit_gives_the_inverse_of_its_information_and_the_scatter_of_its_residuals(case, seed):
    robot, steering, twist, _ = case
    n, rng = robot.count, np.random.default_rng(seed)
    wheel, steer, _ = inverse(robot, steering, twist)
    wheel, steer = wheel + rng.normal(size=n), steer + rng.normal(size=n)
    weight = rng.uniform(0.1, 1.0, (n, 2))
    expected = sensed_forward(robot, steering, wheel, steer, weight)
    found = RigidFit.new(n)
    found.steering[:], found.wheel_rate[:], found.steering_rate[:] = steering, wheel, steer
    found.weight[:] = weight
    variance, power = solved(found.block, robot.geometry)
    np.testing.assert_allclose(found.twist, expected.twist, atol=1e-9)
    np.testing.assert_allclose(found.residual, expected.residual, atol=1e-9)
    # rounding of the inverse, at the condition of the normal equations
    slack = 1e-14 * np.linalg.cond(expected.information)
    np.testing.assert_allclose(found.unit @ expected.information, np.eye(3), atol=1e-9 + slack)
    assert variance == pytest.approx(
        np.sum(weight * expected.residual**2) / (2 * n - 3), rel=1e-6, abs=1e-12)
    speed = (robot.wheel_radius * wheel)**2 + (robot.caster_offset * steer)**2
    assert power == pytest.approx(speed.mean(), rel=1e-12)


@given(vectors(3, 1e3), vectors(3, 1e3), vectors(3, 3.0), vectors(3, 3.0), st.floats(1e-3, 1.0))
def test_increments_are_the_shorter_way_round_and_renew_the_latch(steering, wheel, turned, rolled,
                                                                  dt):
    latch = np.stack([steering, wheel, np.zeros(3)])
    middle, wheel_rate, steering_rate = np.empty(3), np.empty(3), np.empty(3)
    # encoders that wrap: a whole turn more or less is the same angle
    now = steering + turned + 2 * np.pi, wheel + rolled - 4 * np.pi
    kernels.increments(latch, *now, dt, middle, wheel_rate, steering_rate)
    # some digits are lost in angles of 1e3 rad
    np.testing.assert_allclose(steering_rate * dt, turned, atol=1e-11)
    np.testing.assert_allclose(wheel_rate * dt, rolled, atol=1e-11)
    np.testing.assert_allclose(middle, steering + 0.5 * turned, atol=1e-11)
    np.testing.assert_array_equal(latch, [*now, np.ones(3)])
