# SPDX-License-Identifier: Apache-2.0
"""Planar kernels against the properties that define them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import robots_in_motion, vectors

from c3p_kernels.compiled import borrowed, kernel
from c3p_kinematics import _planar_kernels as kernels
from c3p_kinematics._grip_kernels import follow
from c3p_kinematics.casters import inverse
from c3p_kinematics.odometry_states import RigidFit

cut_fit = RigidFit.cut


@kernel
def fitted(block, geometry):
    """Do as `fit`; `block` is one of RigidFit."""
    kernels.fit(borrowed(geometry), cut_fit(block, len(geometry)))


@given(robots_in_motion(), st.integers(0, 2**32 - 1))
def test_the_fit_is_stationary_and_no_other_twist_has_less_cost(case, seed):
    robot, steering, twist, _ = case
    n, rng = robot.count, np.random.default_rng(seed)
    wheel, steer, _ = inverse(robot, steering, twist)
    fit = RigidFit.new(n)
    contact = fit.contact
    weight = fit.weight
    residual = fit.residual
    information = fit.information
    fit.steering[:], weight[:] = steering, rng.uniform(0.1, 2.0, (n, 2))
    kernels.measured(robot.geometry, wheel + rng.normal(size=n), steer + rng.normal(size=n),
                     contact)
    fitted(fit.block, robot.geometry)
    found = fit.twist
    rolling, axle = np.empty((n, 3)), np.empty((n, 3))
    kernels.contact_rows(robot.geometry, steering, rolling, axle)
    # the gradient Jᵀ W r vanishes
    gradient = (weight * residual)[:, 0] @ rolling + (weight * residual)[:, 1] @ axle
    np.testing.assert_allclose(gradient, 0.0, atol=1e-9)
    cost = np.sum(weight * residual**2)
    for step in rng.normal(size=(5, 3)):
        other = np.column_stack([contact[:, 0] - rolling @ (found + step),
                                 contact[:, 1] - axle @ (found + step)])
        # the cost is quadratic: its increase is the quadratic form of the information
        increase = np.sum(weight * other**2) - cost
        assert increase == pytest.approx(step @ information @ step, rel=1e-6, abs=1e-9)


@given(robots_in_motion(), vectors(3, 2.0), st.floats(0.01, 3.0))
def test_a_reference_moves_towards_its_target_within_the_reach_of_every_contact(case, start,
                                                                               reach):
    robot, steering, target, _ = case
    n = robot.count
    rolling, axle = np.empty((n, 3)), np.empty((n, 3))
    kernels.contact_rows(robot.geometry, steering, rolling, axle)
    moved = start.copy()
    follow(rolling, axle, reach, target, moved)
    step, whole = moved - start, target - start
    speeds = np.hypot(rolling @ step, axle @ step)
    assert speeds.max() <= reach * (1 + 1e-9)
    # on the straight line to the target, and all the way if that is near
    np.testing.assert_allclose(np.cross(step, whole), 0.0, atol=1e-9)
    if np.hypot(rolling @ whole, axle @ whole).max() <= reach:
        np.testing.assert_allclose(moved, target, atol=1e-12)
    else:
        assert speeds.max() == pytest.approx(reach, rel=1e-9)


def test_the_first_row_that_is_not_finite_is_found():
    rows = np.zeros((4, 2))
    assert kernels.first_not_finite(rows) == -1
    for value in (np.nan, np.inf, -np.inf):
        rows[2, 1] = value
        assert kernels.first_not_finite(rows) == 2
