# SPDX-License-Identifier: Apache-2.0
"""Planar motion against matrices, scipy's matrix exponential and the group axioms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import vectors
from scipy.linalg import expm, logm

from c3p_kinematics import se2

poses = vectors(3, 3.0)


def matrix(pose):
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array([[c, -s, pose[0]], [s, c, pose[1]], [0, 0, 1]])


def algebra(step):
    return np.array([[0, -step[2], step[0]], [step[2], 0, step[1]], [0, 0, 0]])


@given(st.floats(-1e6, 1e6))
def test_wrapped_angle_is_the_same_direction_in_the_half_open_interval(angle):
    wrapped = float(se2.wrap(angle))
    assert -np.pi < wrapped <= np.pi
    # 2π itself is rounded by 2.4e-16, which 1e6/2π turns multiply
    assert abs(np.exp(1j * wrapped) - np.exp(1j * angle)) < 1e-9


@given(st.floats(-np.pi, np.pi, exclude_min=True))
def test_angle_within_the_interval_is_unchanged(angle):
    assert float(se2.wrap(angle)) == angle


def test_wrap_at_the_ends_and_for_what_is_no_angle():
    near = np.nextafter(np.pi, 4.0)
    np.testing.assert_array_equal(se2.wrap([np.pi, -np.pi]), [np.pi, np.pi])
    assert -np.pi < se2.wrap(near) <= np.pi
    assert -np.pi < se2.wrap(-near) <= np.pi
    assert np.all(np.isnan(se2.wrap([np.nan, np.inf, -np.inf])))


@given(poses)
def test_exponential_equals_the_matrix_exponential(step):
    np.testing.assert_allclose(matrix(se2.exp(step)), expm(algebra(step)), atol=1e-12)


@given(vectors(3, 3.0).filter(lambda step: abs(step[2]) < 3.0))
def test_logarithm_equals_the_matrix_logarithm(step):
    pose = se2.exp(step)
    # scipy's logm loses a few digits near half a turn
    np.testing.assert_allclose(algebra(se2.log(pose)), np.real(logm(matrix(pose))), atol=1e-9)


@given(poses)
def test_logarithm_undoes_exponential(step):
    np.testing.assert_allclose(se2.log(se2.exp(step)), step, atol=1e-12)


@pytest.mark.parametrize('scale', [0.999, 1.0, 1.001])
def test_series_meets_the_closed_form_at_the_small_angle_limit(scale):
    step = np.array([1.0, -2.0, 1e-2 * scale])
    np.testing.assert_allclose(matrix(se2.exp(step)), expm(algebra(step)), atol=1e-15)
    np.testing.assert_allclose(se2.log(se2.exp(step)), step, rtol=1e-14)


@given(poses, poses, poses)
def test_composition_is_a_group(a, b, c):
    product = se2.compose(a, b)
    np.testing.assert_allclose(matrix(product), matrix(a) @ matrix(b), atol=1e-12)
    left, right = se2.compose(product, c), se2.compose(a, se2.compose(b, c))
    np.testing.assert_allclose(matrix(left), matrix(right), atol=1e-12)
    np.testing.assert_allclose(matrix(se2.compose(a, se2.inverse(a))), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(matrix(se2.compose(se2.inverse(a), a)), np.eye(3), atol=1e-12)


@given(poses, poses)
def test_integrate_is_the_product_with_the_exponential(pose, step):
    np.testing.assert_array_equal(se2.integrate(pose, step), se2.compose(pose, se2.exp(step)))


@given(poses, vectors(3, 1.0))
def test_adjoint_carries_a_step_to_the_floor_origin(pose, step):
    left = se2.exp(se2.adjoint(pose) @ step)
    right = se2.compose(se2.compose(pose, se2.exp(step)), se2.inverse(pose))
    np.testing.assert_allclose(matrix(left), matrix(right), atol=1e-12)


@given(st.floats(-7, 7), poses)
def test_twist_turned_to_the_floor_comes_back(yaw, twist):
    floor = se2.to_floor(yaw, twist)
    np.testing.assert_allclose(floor[:2], matrix([0, 0, yaw])[:2, :2] @ twist[:2], atol=1e-12)
    np.testing.assert_allclose(se2.to_body(yaw, floor), twist, atol=1e-12)


def test_circle_of_a_hundred_thousand_steps_closes():
    pose, steps = np.zeros(3), 100_000
    step = np.array([2 * np.pi / steps, 0.0, 2 * np.pi / steps])
    for _ in range(steps):
        pose = se2.integrate(pose, step)
    np.testing.assert_allclose(pose, 0.0, atol=1e-9)


def test_leading_dimensions_equal_a_loop():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 1, 3)), rng.normal(size=(5, 3))
    many = se2.compose(a, b)
    assert many.shape == (4, 5, 3)
    assert se2.adjoint(many).shape == (4, 5, 3, 3)
    for i in range(4):
        for j in range(5):
            np.testing.assert_array_equal(many[i, j], se2.compose(a[i, 0], b[j]))
            np.testing.assert_array_equal(se2.adjoint(many)[i, j], se2.adjoint(many[i, j]))


def test_wrong_shape_is_named():
    with pytest.raises(ValueError, match='step has shape'):
        se2.integrate([0, 0, 0], [0, 0])
