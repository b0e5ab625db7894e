# SPDX-License-Identifier: Apache-2.0
"""Analytic derivatives of the forward dynamics against complex steps of equations written anew."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from robots import powered_robots, robots_in_motion, vectors
from unequal_casters import papers_robot

from c3p_description.model import Friction
from c3p_dynamics._caster_equations import caster_model, forward_derivatives

# relative to the largest entry; a complex step has no truncation, so this is rounding of two ways
TOLERANCE = 1e-9


def acceleration(robot, steering, twist, torque, wrench):
    """Return ν̇ of complex arguments, by matrices and in numpy; τ_s does work on J_s ν."""
    turning = torque[robot.count:] if robot.efforts > robot.count else np.zeros(robot.count)
    torque = torque[:robot.count]
    (x, y), d, r = robot.hip_position.T, robot.caster_offset, robot.wheel_radius
    c, s = np.cos(steering), np.sin(steering)
    rolling = np.stack([-s, c, s * y + c * x], axis=1)
    axle = np.stack([c, s, s * x - c * y], axis=1)
    pivot_row = -axle / d[:, None] - [0, 0, 1]
    along, across, rate = rolling @ twist, axle @ twist, pivot_row @ twist
    m, (cx, cy) = robot.platform_mass, robot.platform_com
    mass = np.array([[m, 0, -m * cy], [0, m, m * cx],
                     [-m * cy, m * cx, robot.platform_inertia + m * (cx**2 + cy**2)]])
    me, ma, kappa = robot.caster_inertia.T
    mass = mass + rolling.T @ (me[:, None] * rolling) + axle.T @ (ma[:, None] * axle)
    vx, vy, w = twist
    force = wrench - m * w * np.array([-vy - w * cx, vx - w * cy, cx * vx + cy * vy])
    force = force + rolling.T @ (me * rate * across + kappa * across**2)
    force = force - axle.T @ (ma * rate * along + kappa * along * across)
    pv, pc, rv, rc, sc, smooth = robot.losses.T
    wheel, contact = along / r, -across / d
    force = force + rolling.T @ ((torque - rv * wheel - rc * np.tanh(wheel / smooth)) / r)
    force = force + pivot_row.T @ (turning - pv * rate - pc * np.tanh(rate / smooth))
    force = force + axle.T @ (sc * np.tanh(contact / smooth) / d)
    return np.linalg.solve(mass, force)


def complex_steps(function, at):
    """Return the Jacobian of `function` at `at`."""
    step = 1e-40
    return np.stack([function(at + 1j * step * row).imag / step for row in np.eye(len(at))],
                    axis=1)


def analytic(robot, steering, twist, torque, wrench):
    n = robot.count
    out = np.empty(3), np.empty((3, n)), np.empty((3, 3)), np.empty((3, robot.efforts))
    model = caster_model(robot)
    forward_derivatives(model, steering, twist, torque, wrench, out)
    return out


def check(robot, steering, twist, torque, wrench):
    accel, d_steering, d_twist, d_torque = analytic(robot, steering, twist, torque, wrench)
    for got, expected in (
            (accel, acceleration(robot, steering, twist, torque, wrench)),
            (d_steering, complex_steps(lambda v: acceleration(robot, v, twist, torque, wrench),
                                       steering)),
            (d_twist, complex_steps(lambda v: acceleration(robot, steering, v, torque, wrench),
                                    twist)),
            (d_torque, complex_steps(lambda v: acceleration(robot, steering, twist, v, wrench),
                                     torque))):
        scale = np.abs(expected).max()
        np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE * (1e-3 + scale))


@given(robots_in_motion(), vectors(3, 20.0), st.integers(0, 2**32 - 1))
def test_derivatives_with_every_kind_of_friction_equal_complex_steps(drawn, wrench, seed):
    smooth, steering, twist, _ = drawn
    n, rng = smooth.count, np.random.default_rng(seed)
    robot = replace(smooth, friction=Friction(*rng.uniform(0, 0.1, (5, n)),
                                              smoothing=rng.uniform(0.02, 0.3)))
    check(robot, steering, twist, rng.uniform(-2, 2, n), wrench)


@given(powered_robots(), vectors(3, 3.0), vectors(3, 20.0), st.integers(0, 2**32 - 1))
def test_derivatives_with_steering_motors_equal_complex_steps(smooth, twist, wrench, seed):
    n, rng = smooth.count, np.random.default_rng(seed)
    robot = replace(smooth, friction=Friction(*rng.uniform(0, 0.1, (5, n)),
                                              smoothing=rng.uniform(0.02, 0.3)))
    check(robot, rng.uniform(-7, 7, n), twist, rng.uniform(-2, 2, robot.efforts), wrench)


@given(robots_in_motion())
def test_derivatives_without_friction_equal_complex_steps(drawn):
    robot, steering, twist, _ = drawn
    check(robot, steering, twist, np.linspace(-1, 1, robot.count), np.zeros(3))


def test_at_parallel_casters_turning_one_wheel_is_what_opens_the_lost_direction():
    # τ_i/r along a line that turns by θ: ∂(force)/∂θ = −a τ_i/r, and nothing but that is sideways
    robot = papers_robot()
    _, d_steering, _, d_torque = analytic(robot, np.zeros(3), np.zeros(3), np.ones(3), np.zeros(3))
    assert np.abs(d_torque[0]).max() < 1e-15
    assert np.all(d_steering[0] < -0.5)
