# SPDX-License-Identifier: Apache-2.0
"""Inverse and sensed forward kinematics of every kind of wheel, against positions in SymPy."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import robots_in_motion
from wheel_mixes import contact, mixed_robot

from c3p_description import load
from c3p_kinematics.casters import inverse, sensed_forward
from c3p_kinematics.rolling import rolling_rates


def contact_velocity():
    """
    Derive the velocity [along, across] of the contact of a wheel from its position over ground.

    The wheel stands d behind and b beside its pivot; pose and steering angle are functions of
    time, and their derivatives become the twist in the platform's frame and the steering rate.
    """
    t = sp.symbols('t')
    mx, my, d, b, vx, vy, w, angle, rate = sp.symbols('mx my d b vx vy w angle rate', real=True)
    x, y, yaw, theta = (sp.Function(name)(t) for name in ('x', 'y', 'yaw', 'theta'))
    turn = sp.Matrix([[sp.cos(yaw), -sp.sin(yaw)], [sp.sin(yaw), sp.cos(yaw)]])
    forward = sp.Matrix([-sp.sin(theta), sp.cos(theta)])
    axle = sp.Matrix([sp.cos(theta), sp.sin(theta)])
    place = sp.Matrix([x, y]) + turn * (sp.Matrix([mx, my]) - d * forward + b * axle)
    speed = place.diff(t)
    local = sp.Matrix([speed.dot(turn * forward), speed.dot(turn * axle)])
    body = turn * sp.Matrix([vx, vy])
    local = local.subs({x.diff(t): body[0], y.diff(t): body[1], yaw.diff(t): w,
                        theta.diff(t): rate}).subs({theta: angle})
    return sp.lambdify((mx, my, d, b, vx, vy, w, angle, rate),
                       sp.simplify(local.subs(yaw, 0)), 'numpy')


VELOCITY = contact_velocity()


def symbolic(robot, i, angle, twist, rate):
    """Return the contact velocity (2,) of wheel `i` of a robot by the derivation."""
    return np.asarray(VELOCITY(*robot.hip_position[i], robot.caster_offset[i],
                               robot.lateral_offset[i], *twist, angle, rate)).ravel()


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_no_wheel_slips_along_and_side_slip_is_that_of_the_contact(seed):
    robot, rng = mixed_robot(seed), np.random.default_rng(seed)
    n = robot.count
    angles = np.where(robot.fixed, robot.steering_zero, rng.uniform(-3.0, 3.0, n))
    twist = rng.normal(size=3)
    found = rolling_rates(robot, angles, twist, rng.normal(size=n))
    for i in range(n):
        speed = symbolic(robot, i, angles[i], twist, found.steering_rate[i])
        rolled = robot.wheel_radius[i] * found.wheel_rate[i]
        np.testing.assert_allclose([rolled, found.side_slip[i]], speed, atol=1e-12)
        # the complex numbers of the other tests are the same derivation
        np.testing.assert_allclose(speed, contact(robot, i, angles[i], twist,
                                                  found.steering_rate[i]), atol=1e-12)
    # only casters are turned by the motion
    trails = ~robot.fixed & (robot.caster_offset > 0.0)
    np.testing.assert_array_equal(found.side_slip[trails], 0.0)
    np.testing.assert_array_equal(found.steering_rate[robot.fixed], 0.0)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_sensed_forward_of_the_rates_has_the_side_slip_as_residual(seed):
    """At the fitted twist the residual of a row is its measured value less the derived one."""
    robot, rng = mixed_robot(seed), np.random.default_rng(seed)
    n = robot.count
    angles = np.where(robot.fixed, robot.steering_zero, rng.uniform(-3.0, 3.0, n))
    wheel, turning = rng.normal(size=(2, n))
    turning = np.where(robot.fixed, 0.0, turning)
    found = sensed_forward(robot, angles, wheel, turning)
    if np.linalg.cond(found.information) > 1e6:
        return
    for i in range(n):
        moved = symbolic(robot, i, angles[i], found.twist, turning[i])
        expected = np.array([robot.wheel_radius[i] * wheel[i], 0.0]) - moved
        expected[robot.rows[i] == 0.0] = 0.0
        np.testing.assert_allclose(found.residual[i], expected, atol=1e-9)
    # least squares: the weighted residuals are orthogonal to every motion
    for unit in np.eye(3):
        pull = 0.0
        for i in range(n):
            still = symbolic(robot, i, angles[i], np.zeros(3), turning[i])
            row = symbolic(robot, i, angles[i], unit, turning[i]) - still
            pull += np.sum(robot.rows[i]**2 * found.residual[i] * row)
        assert abs(pull) < 1e-9


@settings(max_examples=50, deadline=None)
@given(robots_in_motion())
def test_rates_of_casters_are_those_of_the_caster_kinematics(case):
    robot, steering, twist = case[:3]
    found = rolling_rates(robot, steering, twist)
    wheel, steer, _ = inverse(robot, steering, twist)
    np.testing.assert_allclose(found.wheel_rate, wheel, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.steering_rate, steer, rtol=1e-12, atol=1e-12)


def swerve_beside(offset, lateral=0.0):
    return replace(load('swerve'), caster_offset=offset, lateral_offset=lateral)


@pytest.mark.parametrize('lateral', [0.0, 0.045])
def test_kinematics_converge_linearly_to_the_wheel_below_its_pivot(lateral):
    """d = 1e-3, 1e-4, …, with the steering rates of the modules given: the error is d times."""
    rng = np.random.default_rng(5)
    below = swerve_beside(0.0, lateral)
    steering, turning = rng.normal(size=(2, 4))
    wheel = rng.normal(size=4)
    exact = sensed_forward(below, steering, wheel, turning).twist
    errors = []
    for offset in (1e-3, 1e-4, 1e-5, 1e-6):
        near = swerve_beside(offset, lateral)
        # the row across of a caster is a measurement: as heavy as the belief in the tyre
        found = sensed_forward(near, steering, wheel, turning, below.rows**2 / near.rows**2)
        errors.append(np.abs(found.twist - exact).max())
    # linear: the error over d has a limit, which differences of it approach linearly too
    slopes = np.array(errors) / [1e-3, 1e-4, 1e-5, 1e-6]
    np.testing.assert_allclose(slopes, slopes[2], rtol=2e-2)
    # extrapolated to d = 0 from d = 1e-5 and 1e-6, what remains is quadratic
    assert abs(errors[3] - errors[2] / 10) < 1e-9


@pytest.mark.parametrize('lateral', [0.0, 0.045])
def test_rates_of_a_module_are_the_limit_of_casters_that_stand_along_their_paths(lateral):
    twist = np.array([0.4, -0.2, 0.7])
    below = swerve_beside(0.0, lateral)
    pivots = complex(*twist[:2]) + 1j * twist[2] * (below.hip_position @ [1.0, 1.0j])
    along = np.angle(pivots) - 0.5 * np.pi
    exact = rolling_rates(below, along, twist)
    np.testing.assert_allclose(exact.side_slip, 0.0, atol=1e-15)
    # a steady arc turns no module: casters stand where they trail, off by about d
    errors = []
    for offset in (1e-3, 1e-4, 1e-5):
        near = swerve_beside(offset, lateral)
        lag = np.arcsin(offset * twist[2] / np.abs(pivots))
        found = rolling_rates(near, along - lag, twist)
        np.testing.assert_allclose(found.steering_rate, 0.0, atol=1e-9)
        errors.append(np.abs(found.wheel_rate - exact.wheel_rate).max())
    # s = |v| cos(lag): quadratic in d
    np.testing.assert_allclose(np.array(errors) / [1e-6, 1e-8, 1e-10], errors[0] / 1e-6, rtol=1e-3)
