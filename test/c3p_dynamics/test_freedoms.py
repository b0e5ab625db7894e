# SPDX-License-Identifier: Apache-2.0
"""Freedoms that motors control, against null spaces, oscillations and differences."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import caster_robots
from scipy.integrate import solve_ivp
from scipy.linalg import null_space

from c3p_description import load
from c3p_description.model import CasterRobot
from c3p_dynamics.caster_dynamics import forward_dynamics, mass_matrix
from c3p_dynamics.freedoms import (
    departure,
    driven_freedoms,
    motors,
    reachable_accelerations,
    symmetric_products,
)
from c3p_dynamics.motion_freedoms import linear_motion, motion_freedoms, trailing
from c3p_dynamics.robot_freedoms import balancing_headings, robot_freedoms
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.casters import steering_jacobian, wheel_jacobian

DUO = CasterRobot('duo', [(0, 0.25), (0, -0.25)], 0.05, 0.06, 20.0, 0.8, (0.0, 0.0), 0.5, 0.025,
                  1e-3, 1.0, 1.8e-3, 1e-3, torque_limit=2.5)


@st.composite
def few_motors(draw):
    """Draw (robot with one or two driven wheels, steering)."""
    robot = draw(caster_robots(min_casters=3))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    driven = np.zeros(robot.count, bool)
    driven[random.choice(robot.count, draw(st.integers(1, 2)), replace=False)] = True
    robot = replace(robot, driven=driven, torque_limit=random.uniform(0.5, 5.0, robot.count))
    return robot, random.uniform(-np.pi, np.pi, robot.count)


@settings(deadline=None)
@given(few_motors())
def test_lost_twists_are_the_null_space_of_the_pushing_rows(drawn):
    robot, steering = drawn
    rows = wheel_jacobian(robot, steering)[motors(robot)]
    if not len(rows):
        return
    reachable = reachable_accelerations(robot, steering)
    lost = null_space(rows)
    assert reachable.rank == 3 - lost.shape[1] == len(reachable.directions)
    # the same span: each lost twist is a combination of the columns
    rest = reachable.lost.T - lost @ np.linalg.lstsq(lost, reachable.lost.T, rcond=None)[0]
    assert abs(rest).max() < 1e-9 * max(abs(reachable.lost).max(), 1.0)
    # what the motors do is within the directions, in the metric of M
    mass = mass_matrix(robot, steering)
    push = np.linalg.solve(mass, rows.T)
    assert abs(reachable.lost @ mass @ push).max() < 1e-8 * max(abs(push).max(), 1.0)


@settings(deadline=None)
@given(few_motors())
def test_few_motors_accelerate_at_most_their_number_of_freedoms(drawn):
    robot, _ = drawn
    assert driven_freedoms(robot) == min(len(motors(robot)), 3)


def test_symmetric_products_are_what_returning_torques_leave():
    # a torque u = cos(w t) per motor returns; its second-order effect on the velocity is, per
    # second, -<u_a u_b integrals> times the product: -1/(2 w²) Σ_ab products_ab
    robot = replace(load('c3p'), driven=[True, True, False], friction=type(
        load('c3p').friction)())
    steering = np.array([0.4, -0.9, 1.7])
    bound = torque_bounds(robot)[motors(robot)]
    products, _ = symmetric_products(robot, steering)
    for amplitudes in ([1.0, 0.0], [0.0, 1.0], [1.0, -1.0]):
        amplitudes = np.array(amplitudes)
        rate, periods = 200.0, 4

        def slope(t, x, amplitudes=amplitudes, rate=rate):
            torque = np.zeros(3)
            torque[:2] = amplitudes * bound * np.cos(rate * t)
            accel = forward_dynamics(robot, x[3:], x[:3], torque)
            return np.concatenate([accel, steering_jacobian(robot, x[3:]) @ x[:3]])

        # steering about which the oscillation is centred: cos begins at an extreme of the angle
        gain = np.linalg.solve(mass_matrix(robot, steering),
                               wheel_jacobian(robot, steering)[:2].T @ (amplitudes * bound))
        begin = steering - steering_jacobian(robot, steering) @ gain / rate**2
        end = 2.0 * np.pi * periods / rate
        found = solve_ivp(slope, (0.0, end), np.concatenate([np.zeros(3), begin]), rtol=1e-10,
                          atol=1e-14)
        left = found.y[:3, -1] / end
        expected = -np.einsum('a,b,abk->k', amplitudes, amplitudes, products) / (2.0 * rate**2)
        # terms of higher order fall with 1/w²
        assert left == pytest.approx(expected, rel=0.05, abs=0.02 * abs(expected).max())


@settings(deadline=None, max_examples=30)
@given(few_motors())
def test_one_motor_opens_no_direction_in_both_senses(drawn):
    robot, steering = drawn
    robot = replace(robot, driven=np.arange(robot.count) == 0)
    assert not departure(robot, steering).controllable


def test_two_wheels_of_three_leave_most_postures_in_both_senses():
    robot = replace(load('c3p'), driven=[True, True, False])
    random = np.random.default_rng(3)
    found = [departure(robot, random.uniform(-np.pi, np.pi, 3)) for _ in range(60)]
    assert {each.reachable.rank for each in found} == {2}
    assert sum(each.controllable for each in found) > 30
    # none is closed: each opens in one sense at least
    assert not any(len(each.closed) for each in found)


def test_wheels_on_one_line_open_nothing():
    found = departure(DUO, np.zeros(2))
    assert found.reachable.rank == 1 and found.closed.shape == (2, 3)


@settings(deadline=None, max_examples=15)
@given(few_motors(), st.integers(0, 2**32 - 1))
def test_linear_motion_is_the_derivative_of_the_dynamics(drawn, seed):
    robot, _ = drawn
    random = np.random.default_rng(seed)
    twist = random.uniform(-0.5, 0.5, 3)
    steering = trailing(robot, twist)
    a, b, free = linear_motion(robot, twist, steering)
    n, step = robot.count, 1e-6
    assert free == pytest.approx(forward_dynamics(robot, steering, twist, np.zeros(n)), abs=1e-9)
    # columns of the torques by differences: the dynamics are linear in them
    for wheel in motors(robot):
        torque = np.eye(n)[wheel]
        there = forward_dynamics(robot, steering, twist, torque)
        assert b[3 + n:, wheel] == pytest.approx(there - free, abs=1e-9)
    # of steering rates by the twist
    for k in range(3):
        there = steering_jacobian(robot, steering) @ (twist + step * np.eye(3)[k])
        here = steering_jacobian(robot, steering) @ twist
        assert a[3:3 + n, 3 + n + k] == pytest.approx((there - here) / step, abs=1e-6)


def controlled_by_runs(robot, twist, horizon=2.0):
    """Return singular values of pose and twist that small torques of nonlinear runs leave."""
    steering, n, pieces = trailing(robot, twist), robot.count, 12
    wheels, scale = motors(robot), np.array([1.0, 1.0, 1.0])

    def run(torques):
        def slope(t, x):
            torque = np.zeros(n)
            torque[wheels] = torques[min(int(t / horizon * pieces), pieces - 1)]
            c, s = np.cos(x[2]), np.sin(x[2])
            vx, vy, w = x[3 + n:]
            return np.concatenate([
                [c * vx - s * vy, s * vx + c * vy, w],
                steering_jacobian(robot, x[3:3 + n]) @ x[3 + n:],
                forward_dynamics(robot, x[3:3 + n], x[3 + n:], torque)])
        state, edges = np.concatenate([np.zeros(3), steering, twist]), np.linspace(
            0.0, horizon, pieces + 1)
        for begin, end in zip(edges[:-1], edges[1:], strict=True):
            middle = 0.5 * (begin + end)
            state = solve_ivp(lambda t, x, at=middle: slope(at, x), (begin, end), state,
                              rtol=1e-9, atol=1e-12).y[:, -1]
        return np.concatenate([state[:3] * scale, state[3 + n:]])

    small, columns = 1e-5, []
    for piece in range(pieces):
        for wheel in range(len(wheels)):
            torques = np.zeros((pieces, len(wheels)))
            torques[piece, wheel] = small
            there = run(torques)
            columns.append((there - run(-torques)) / (2.0 * small))
    return np.linalg.svd(np.array(columns).T, compute_uv=False)


def test_a_circle_controls_what_a_line_does_not_in_nonlinear_runs():
    # casters without mass, no friction: rank is exact but for the differences
    robot = replace(DUO, hip_position=[(0.2, 0.25), (-0.2, -0.25)], link_mass=0.0,
                    link_inertia=0.0, wheel_mass=1e-9, wheel_spin_inertia=0.0,
                    wheel_yaw_inertia=0.0)
    line, circle = np.array([0.4, 0.0, 0.0]), np.array([0.4, 0.0, 0.6])
    of_line, of_circle = (controlled_by_runs(robot, twist) for twist in (line, circle))
    assert int(np.sum(of_line > 1e-4 * of_line[0])) == 4
    assert int(np.sum(of_circle > 1e-4 * of_circle[0])) == 6
    assert motion_freedoms(robot, line).controlled == 4
    assert motion_freedoms(robot, circle).controlled == 6


def test_at_a_balanced_heading_torques_keep_the_circle():
    robot = replace(load('c3p'), driven=[True, True, False])
    headings = balancing_headings(robot, 0.3, 1.0)
    assert len(headings)
    for heading in headings:
        twist = 0.3 * np.array([np.cos(heading), np.sin(heading), 1.0])
        found = motion_freedoms(robot, twist)
        assert found.balanced
        # and away from it they do not
        twist = 0.3 * np.array([np.cos(heading + 0.5), np.sin(heading + 0.5), 1.0])
        assert not motion_freedoms(robot, twist).balanced


def test_the_summary_names_what_is_given_up():
    two = robot_freedoms(replace(load('c3p'), driven=[True, True, False]))
    assert two.heading_free and two.motors == 2
    assert 'heading of the robot' in two.text()
    assert not robot_freedoms(load('c3p')).heading_free


def test_errors_name_the_number():
    with pytest.raises(ValueError, match='horizon = 0'):
        motion_freedoms(DUO, [0.1, 0.0, 0.0], horizon=0.0)
    with pytest.raises(ValueError, match='three finite numbers'):
        motion_freedoms(DUO, [np.nan, 0.0, 0.0])
