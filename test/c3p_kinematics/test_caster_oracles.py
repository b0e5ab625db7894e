# SPDX-License-Identifier: Apache-2.0
"""Caster kinematics against derivations that share nothing with it."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import C3P, caster_robots, robots_in_motion
from tractrix import Path, drive

from c3p_kinematics.casters import (
    contact_jacobian,
    inverse,
    sensed_forward,
    steering_jacobian,
    wheel_jacobian,
)


@settings(max_examples=10)
@given(caster_robots(), st.integers(0, 1000))
def test_rates_equal_differences_of_a_towed_contact_point(robot, seed):
    rng = np.random.default_rng(seed)
    path, h = Path(seed), 1e-3
    centre = 0.7
    times = np.array([0.0, *(centre + h * np.arange(-2, 3))])
    steering, wheel, _, _ = drive(robot, path, times, rng.uniform(-3, 3, robot.count))
    # five-point differences: truncation h⁴/30 × fifth derivative, rounding 1e-11/h
    weights = np.array([1, -8, 0, 8, -1]) / (12 * h)
    expected = inverse(robot, steering[3], path.body_twist(centre))
    steering_rate = weights @ np.unwrap(steering[1:], axis=0)
    assert np.abs(expected[0] - weights @ wheel[1:]).max() < 1e-5
    assert np.abs(expected[1] - steering_rate).max() < 1e-5
    assert np.abs(expected[2] - steering_rate - path.rate(centre)[2]).max() < 1e-5


def test_towed_contact_point_does_not_slip():
    # the oracle itself: length of the rod held, contact moves along the rod only
    times = np.linspace(0, 3, 3001)
    steering, wheel, poses, contact = drive(C3P, Path(3), times, [0.3, 2.0, -1.0])
    heading = steering + poses[:, 2:]
    along = np.stack([-np.sin(heading), np.cos(heading)], axis=-1)
    arm = np.einsum('tij,nj->tni', np.stack([
        np.stack([np.cos(poses[:, 2]), -np.sin(poses[:, 2])], -1),
        np.stack([np.sin(poses[:, 2]), np.cos(poses[:, 2])], -1)], 1), C3P.hip_position)
    rod = poses[:, None, :2] + arm - contact
    assert np.abs(np.linalg.norm(rod, axis=-1) - 0.04).max() < 1e-9
    velocity = (contact[2:] - contact[:-2]) / (times[2] - times[0])
    rolled = 0.04 * (wheel[2:] - wheel[:-2]) / (times[2] - times[0])
    # differences over 2 ms of motion with rates up to about 10 rad/s
    assert np.abs(velocity - rolled[..., None] * along[1:-1]).max() < 2e-4


def symbolic_jacobians():
    """Derive θ̇_x, θ̇_s, θ̇_c from the positions of pivot and contact point."""
    t = sp.symbols('t')
    mx, my, d, r, vx, vy, w, angle = sp.symbols('mx my d r vx vy w angle', real=True)
    x, y, yaw, theta = (sp.Function(name)(t) for name in ('x', 'y', 'yaw', 'theta'))
    turn = sp.Matrix([[sp.cos(yaw), -sp.sin(yaw)], [sp.sin(yaw), sp.cos(yaw)]])
    towards = turn * sp.Matrix([-sp.sin(theta), sp.cos(theta)])
    axle = turn * sp.Matrix([sp.cos(theta), sp.sin(theta)])
    contact = sp.Matrix([x, y]) + turn * sp.Matrix([mx, my]) - d * towards
    velocity = contact.diff(t)
    steer = sp.symbols('steer')
    at = [(x.diff(t), vx), (y.diff(t), vy), (yaw.diff(t), w), (theta.diff(t), steer), (yaw, 0),
          (theta, angle)]
    across, along = (velocity.dot(axle)).subs(at), (velocity.dot(towards)).subs(at)
    steer_rate = sp.solve(across, steer)[0]
    wheel_rate = along.subs(steer, steer_rate) / r
    rates = sp.Matrix([wheel_rate, steer_rate, steer_rate + w])
    return sp.lambdify((mx, my, d, r, angle), rates.jacobian([vx, vy, w]))


def test_jacobians_equal_symbolic_derivatives_of_positions():
    reference = symbolic_jacobians()
    rng = np.random.default_rng(1)
    for steering in rng.uniform(-4, 4, (20, 3)):
        got = np.stack([wheel_jacobian(C3P, steering), steering_jacobian(C3P, steering),
                        contact_jacobian(C3P, steering)], axis=1)
        expected = [reference(*hip, 0.04, 0.04, angle)
                    for hip, angle in zip(C3P.hip_position, steering, strict=True)]
        np.testing.assert_allclose(got, expected, atol=1e-12)


def muir_neuman(robot, steering, wheel_rate, steering_rate):
    """
    Return the sensed forward solution of Muir and Neuman, ``[Σ Δ(J_u)]⁻¹ Σ Δ(J_u) J_s q̇_s``.

    Each caster moves the platform by rolling, by turning about its contact (not sensed) and by
    turning back about its pivot; Δ(U) = U(UᵀU)⁻¹Uᵀ − 1 removes what is not sensed.
    """
    left, right = np.zeros((3, 3)), np.zeros(3)
    for i, angle in enumerate(steering):
        e = np.array([-np.sin(angle), np.cos(angle)])
        m, r = robot.hip_position[i], robot.wheel_radius[i]
        p = m - robot.caster_offset[i] * e
        sensed = (np.append(r * e, 0.0) * wheel_rate[i]
                  - np.array([m[1], -m[0], 1.0]) * steering_rate[i])
        unsensed = np.array([[p[1]], [-p[0]], [1.0]])
        delta = unsensed @ unsensed.T / (unsensed.T @ unsensed) - np.eye(3)
        left, right = left + delta, right + delta @ sensed
    return np.linalg.solve(left, right)


@given(robots_in_motion())
def test_sensed_forward_equals_muir_and_neuman_without_slip(case):
    robot, steering, twist, _ = case
    wheel, steer, _ = inverse(robot, steering, twist)
    np.testing.assert_allclose(muir_neuman(robot, steering, wheel, steer), twist, atol=1e-8)
    np.testing.assert_allclose(sensed_forward(robot, steering, wheel, steer).twist, twist,
                               atol=1e-8)


def test_with_slip_muir_and_neuman_weigh_otherwise():
    steering = np.array([0.3, 1.1, -2.0])
    wheel, steer, _ = inverse(C3P, steering, [0.3, 0.1, 0.2])
    wheel[0] += 2.0
    difference = muir_neuman(C3P, steering, wheel, steer) - sensed_forward(
        C3P, steering, wheel, steer).twist
    assert np.abs(difference).max() > 1e-3


def printed_contact_jacobian(h, alpha, d, steering):
    """Return paper I, eq. (4), as printed."""
    return -np.column_stack([-np.sin(steering), np.cos(steering),
                             -h * np.cos(alpha - steering)]) / d


@pytest.mark.parametrize('steering', [[0.0, 0.0, 0.0], [0.3, -1.0, 2.0]])
def test_printed_equation_4_breaks_the_sum_of_yaw_rates_and_ours_keeps_it(steering):
    steering, alpha = np.array(steering), np.radians([30.0, 150.0, 270.0])
    twist = np.array([0.3, -0.2, 0.5])
    expected = twist[2] + steering_jacobian(C3P, steering) @ twist
    printed = printed_contact_jacobian(0.343, alpha, 0.04, steering) @ twist
    np.testing.assert_allclose(contact_jacobian(C3P, steering) @ twist, expected, atol=1e-12)
    assert np.abs(printed - expected).max() > 1.0


def test_printed_equations_2_and_3_hold():
    steering, alpha = np.array([0.3, -1.0, 2.0]), np.radians([30.0, 150.0, 270.0])
    h, d, r, c, s = 0.343, 0.04, 0.04, np.cos(steering), np.sin(steering)
    np.testing.assert_allclose(
        wheel_jacobian(C3P, steering),
        np.column_stack([-s, c, h * np.cos(alpha - steering)]) / r, atol=1e-12)
    np.testing.assert_allclose(
        steering_jacobian(C3P, steering),
        -np.column_stack([c, s, -h * np.sin(alpha - steering) + d]) / d, atol=1e-12)
