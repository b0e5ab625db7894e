# SPDX-License-Identifier: Apache-2.0
"""Planar kernels against linear algebra, high precision and the properties that define them."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import robots_in_motion, vectors

from c3p_kinematics import _planar_kernels as kernels
from c3p_kinematics._grip_kernels import follow
from c3p_kinematics.casters import inverse
from c3p_kinematics.compiled import inlined

# distance of 1 from the next number
ULP = np.finfo(float).eps


@given(vectors(9, 2.0), vectors(3, 5.0))
def test_small_systems_are_solved_as_by_numpy(numbers, right):
    root = numbers.reshape(3, 3)
    matrix = root @ root.T + 0.1 * np.eye(3)
    found = np.empty(3)
    pivot = kernels.solve3(matrix, right, found)
    np.testing.assert_allclose(matrix @ found, right, atol=1e-9)
    # the last pivot of Cholesky is the ratio of the leading minors
    ratio = np.linalg.det(matrix) / np.linalg.det(matrix[:2, :2])
    assert pivot**2 == pytest.approx(ratio, rel=1e-8)


@pytest.mark.parametrize('matrix', [
    np.zeros((3, 3)), np.diag([1.0, 0.0, 1.0]), np.diag([1.0, 1.0, 0.0]), np.ones((3, 3)),
    np.diag([-1.0, 1.0, 1.0]), np.diag([np.nan, 1.0, 1.0])])
def test_systems_without_full_rank_give_nan_and_a_pivot_of_zero(matrix):
    found = np.empty(3)
    assert kernels.solve3(matrix, np.ones(3), found) == 0.0
    assert np.isnan(found).all()


@given(st.floats(-3.1, 3.1) | st.floats(-0.02, 0.02))
def test_arc_and_half_cotangent_are_right_to_the_last_roundings(angle):
    with mpmath.workdps(40):
        phi = mpmath.mpf(angle)
        exact = [mpmath.sin(phi) / phi, (1 - mpmath.cos(phi)) / phi,
                 phi / 2 * mpmath.cot(phi / 2)] if angle else [1, 0, 1]
        exact = [float(value) for value in exact]
    got = [*kernels.arc(angle), kernels.half_cotangent(angle)]
    np.testing.assert_allclose(got, exact, rtol=1e-13, atol=1e-16)


@given(robots_in_motion(), st.integers(0, 2**32 - 1))
def test_the_fit_is_stationary_and_no_other_twist_has_less_cost(case, seed):
    robot, steering, twist, _ = case
    n, rng = robot.count, np.random.default_rng(seed)
    wheel, steer, _ = inverse(robot, steering, twist)
    contact, weight = np.empty((n, 2)), rng.uniform(0.1, 2.0, (n, 2))
    kernels.measured(robot.geometry, wheel + rng.normal(size=n), steer + rng.normal(size=n),
                     contact)
    found, residual, information = np.empty(3), np.empty((n, 2)), np.empty((3, 3))
    kernels.fit(robot.geometry, steering, contact, weight, found, residual, information)
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


# `inlined` keeps no machine code, which would outlive a change of the tables
@inlined
def circles(angle, cosine, sine):
    for i in range(len(angle)):
        cosine[i], sine[i] = kernels.circle(angle[i])


def circle_of(angle):
    cosine, sine = np.empty_like(angle), np.empty_like(angle)
    circles(angle, cosine, sine)
    return cosine, sine


@pytest.mark.parametrize('reach', [1e-9, 0.01, 1.0, 10.0, 1e3, 1e5])
def test_sine_and_cosine_are_those_of_the_library_to_the_last_place(reach):
    angle = np.random.default_rng(1).uniform(-reach, reach, 50_000)
    cosine, sine = circle_of(angle)
    assert np.abs(cosine - np.cos(angle)).max() <= 2 * ULP
    assert np.abs(sine - np.sin(angle)).max() <= 2 * ULP


@given(st.floats(-1e9, 1e9))
def test_far_angles_are_as_exact_as_their_own_last_place(angle):
    cosine, sine = circle_of(np.array([angle]))
    slack = 2 * ULP + math.ulp(angle)
    assert abs(cosine[0] - math.cos(angle)) <= slack
    assert abs(sine[0] - math.sin(angle)) <= slack
