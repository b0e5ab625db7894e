# SPDX-License-Identifier: Apache-2.0
"""Poses, Jacobians and J̇q̇ against derivatives along the imaginary axis, and simple machines."""

import numpy as np
import pytest
from hypothesis import given
from random_trees import SEEDS, STEP, complex_jacobian, observed_complex, random_state, random_tree

from c3p_multibody.trees import (
    Body,
    Joint,
    Tree,
    body_velocity,
    forward_kinematics,
    observed,
    point_bias_acceleration,
    point_jacobian,
)
from c3p_multibody.trees.kinematics import inner_point


@given(SEEDS)
def test_jacobian_is_the_derivative_of_the_point(seed):
    tree = random_tree(seed, 1 + seed % 6)
    q, qd, _ = random_state(tree, seed)
    k, point = seed % tree.count, np.array([0.3, -0.2, 0.7])
    number, inner = inner_point(tree, k, point)
    frames, _, _ = observed_complex(tree, q + 1j * STEP * qd, qd.astype(complex))
    turn = frames[number, :9].reshape(3, 3)
    moved = ((turn @ inner + frames[number, 9:]) / STEP).imag
    spin = (turn.imag / STEP) @ turn.real.T
    moving = point_jacobian(tree, q, k, point) @ qd
    np.testing.assert_allclose(moving[:3], moved, rtol=0, atol=1e-12)
    np.testing.assert_allclose(moving[3:], [spin[2, 1], spin[0, 2], spin[1, 0]], rtol=0,
                               atol=1e-12)


@given(SEEDS)
def test_bias_acceleration_is_the_derivative_of_the_jacobian(seed):
    tree = random_tree(seed, 1 + seed % 6)
    q, qd, _ = random_state(tree, seed)
    k, point = seed % tree.count, np.array([0.3, -0.2, 0.7])
    number, inner = inner_point(tree, k, point)
    rate = complex_jacobian(tree, q + 1j * STEP * qd, number, inner).imag / STEP
    drift = point_bias_acceleration(tree, q, qd, k, point)
    np.testing.assert_allclose(drift, rate @ qd, rtol=0, atol=1e-12 * (1 + np.abs(drift).max()))


def test_velocity_of_a_body_is_its_jacobian_times_the_rates():
    tree = random_tree(2, 10)
    q, qd, _ = random_state(tree, 2)
    for k in range(10):
        np.testing.assert_allclose(point_jacobian(tree, q, f'b{k}') @ qd,
                                   body_velocity(tree, q, qd)[k], rtol=0, atol=1e-12)


def test_observed_frames_are_the_poses_in_inner_axes():
    tree = random_tree(4, 6)
    q, _, _ = random_state(tree, 4)
    frames = observed(tree, q[None]).frames[0]
    poses = forward_kinematics(tree, q)
    for i, k in enumerate(tree.order):
        # the third inner axis is the joint's
        np.testing.assert_allclose(frames[i, [2, 5, 8]], poses.rotation[k] @ tree.joints[k].axis,
                                   rtol=0, atol=1e-14)
        np.testing.assert_array_equal(frames[i, 9:], poses.translation[k])


def test_floating_body_has_roll_pitch_and_yaw_as_in_a_urdf():
    tree = Tree.from_connection([-1], [Joint('free', 'floating')],
                                [Body('box', 1.0, inertia=np.eye(3))])
    assert tree.names == ('free.x', 'free.y', 'free.z', 'free.yaw', 'free.pitch', 'free.roll')
    poses = forward_kinematics(tree, [1.0, 2.0, 3.0, 0.3, 0.2, 0.1])
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(a), np.sin(a)) for a in (0.1, 0.2, 0.3))
    expected = (np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
                @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
                @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]]))
    np.testing.assert_allclose(poses.rotation[5], expected, atol=1e-15)
    np.testing.assert_allclose(poses.translation[5], [1, 2, 3])


def test_points_of_bodies_on_fixed_joints_and_of_the_world():
    quarter = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    tree = Tree.from_connection(
        [-1, 0, 1, -1], [Joint('hinge'), Joint('weld', 'fixed', rotation=quarter,
                                               translation=(1, 0, 0)),
                         Joint('second', 'fixed', translation=(1, 0, 0)),
                         Joint('ground', 'fixed', translation=(5, 0, 0))],
        [Body('arm', 1.0, (0.5, 0, 0)), Body('bracket', 0.5), Body('tool', 0.5), Body('post')])
    assert tree.count == 1
    # the tool is at (1, 1): one along x, and one more along the turned x
    jacobian = point_jacobian(tree, [0.0], 'tool', (0.0, -2.0, 0.0))
    np.testing.assert_allclose(jacobian[:, 0], [-1, 3, 0, 0, 0, 1], atol=1e-15)
    np.testing.assert_array_equal(point_jacobian(tree, [0.3], 'post'), np.zeros((6, 1)))
    np.testing.assert_array_equal(point_bias_acceleration(tree, [0.3], [1.0], 'world'),
                                  np.zeros(6))
    np.testing.assert_allclose(
        point_bias_acceleration(tree, [0.0], [2.0], 'tool'), [-4, -4, 0, 0, 0, 0], atol=1e-14)


@pytest.mark.parametrize('axis', [*np.eye(3), *-np.eye(3), (1, 2, -2)])
@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_axes_in_any_direction(kind, axis):
    tree = Tree.from_connection([-1], [Joint('one', kind, axis, translation=(1, 2, 3))],
                                [Body('b', 1.0, (1, 1, 0), np.eye(3))])
    poses = forward_kinematics(tree, [0.7])
    unit = np.asarray(axis, float) / np.linalg.norm(axis)
    if kind == 'prismatic':
        np.testing.assert_allclose(poses.rotation[0], np.eye(3), atol=1e-15)
        np.testing.assert_allclose(poses.translation[0], [1, 2, 3] + 0.7 * unit, atol=1e-15)
    else:
        x, y, z = unit
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        rodrigues = np.eye(3) + np.sin(0.7) * skew + (1 - np.cos(0.7)) * skew @ skew
        np.testing.assert_allclose(poses.rotation[0], rodrigues, atol=1e-15)
        np.testing.assert_allclose(poses.translation[0], [1, 2, 3], atol=1e-15)
