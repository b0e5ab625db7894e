# SPDX-License-Identifier: Apache-2.0
"""Rows of the redundant rolling equations against SymPy and differences; rank and gauge."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from motion_observability import observability, rows
from robots import C3P, caster_robots

from c3p_description.model import CasterRobot
from c3p_kinematics.calibration import _window_kernels as kernels
from c3p_kinematics.calibration.parameters import (
    Prior,
    calibrated,
    gauge,
    parameters_of,
    without_gauge,
)
from c3p_kinematics.casters import inverse


def regular(count):
    angles = 2 * np.pi * np.arange(count) / count
    return CasterRobot.regular(0.343, angles, 0.04, 0.04, 30.0, 3.51)


def rolling(robot, velocity, duration=12.0, step=0.01, first=0.0):
    """Return steering (k, n) and twist (k, 3) of casters along a motion, the first at `first`."""
    steering, rows = first + 0.3 * np.arange(robot.count), []
    for time in np.arange(0.0, duration, step):
        twist = np.array(velocity(time), float)
        rows.append((steering, twist))
        steering = steering + step * inverse(robot, steering, twist)[1]
    return tuple(map(np.array, zip(*rows, strict=True)))


def rich(time):
    return 0.3 * np.sin(2 * time), 0.3 * np.cos(3.1 * time), np.sin(1.7 * time)


def one_caster():
    """Return residual and variables of one caster by SymPy, from positions alone."""
    t = sp.Symbol('t')
    r, d, x, y, beta, vx, vy, w, th, rate, wheel = sp.symbols('r d x y b vx vy w th q p')
    # the contact in the frame in which the platform is now at rest at the origin
    yaw, psi = w * t, w * t + th + rate * t + beta
    pivot = sp.Matrix([vx * t + x * sp.cos(yaw) - y * sp.sin(yaw),
                       vy * t + x * sp.sin(yaw) + y * sp.cos(yaw)])
    along = sp.Matrix([-sp.sin(psi), sp.cos(psi)])
    slip = (wheel * r * along - sp.diff(pivot - d * along, t)).subs(t, 0)
    e, a = along.subs(t, 0), sp.Matrix([sp.cos(th + beta), sp.sin(th + beta)])
    return [e.dot(slip), a.dot(slip)], (r, d, x, y, beta), (vx, vy, w, th, rate, wheel)


def test_rows_of_a_step_are_derivatives_of_the_slip_of_a_contact_by_sympy():
    residual, unknowns, state = one_caster()
    jacobian = sp.lambdify((*unknowns, *state), sp.Matrix(residual).jacobian(unknowns))
    value = sp.lambdify((*unknowns, *state), residual)
    rng = np.random.default_rng(0)
    robot = regular(3)
    parameters = parameters_of(robot) + 0.01 * rng.normal(size=(3, 5))
    steering, wheel, steer = rng.normal(size=(3, 3))
    twist, got, own, of = np.empty(3), np.empty((3, 2)), np.empty((3, 2, 5)), np.empty((3, 2, 3))
    # no wheel beside its pivot
    factors = np.array([[1.0, 1.0, 0.0]] * 3)
    assert kernels.rate_rows(parameters, steering, (wheel, steer), factors, twist, got, own, of)
    for i in range(3):
        at = (*parameters[i], *twist, steering[i], steer[i], wheel[i])
        np.testing.assert_allclose(got[i], value(*at), atol=1e-14)
        # the rows are tied to the direction of the wheel: its turn moves the residual itself,
        # [along, across], which a rolling robot does not have
        expected = np.array(jacobian(*at), float)
        np.testing.assert_allclose(own[i][:, :4], expected[:, :4], atol=1e-14)
        np.testing.assert_allclose(own[i][:, 4] - expected[:, 4],
                                   0.0 * got[i], atol=1e-14)


@settings(max_examples=30, deadline=None)
@given(robot=caster_robots(), seed=st.integers(0, 2**32 - 1))
def test_no_motion_observes_the_gauge(robot, seed):
    rng = np.random.default_rng(seed)
    got = rows(robot, rng.uniform(-3, 3, (20, robot.count)), rng.normal(size=(20, 3)))
    flat = got.reshape(-1, 5 * robot.count)
    # rounding, relative to rows and directions
    assert np.abs(flat @ gauge(parameters_of(robot))).max() < 1e-12 * np.abs(flat).max() * (
        1.0 + np.abs(robot.hip_position).max())


@settings(max_examples=30, deadline=None)
@given(robot=caster_robots(), seed=st.integers(0, 2**32 - 1))
def test_a_rich_motion_observes_all_but_the_gauge(robot, seed):
    rng = np.random.default_rng(seed)
    n = robot.count
    got = observability(robot, rng.uniform(-3, 3, (60, n)), rng.normal(size=(60, 3)))
    assert got.rank == 5 * n - 4


# (straight or turning evenly, straight from unaligned casters, a curve with changing radius)
@pytest.mark.parametrize(('count', 'steady', 'turning', 'all_but'), [
    (2, 1, 3, 6), (3, 3, 6, 11), (4, 5, 9, 16), (5, 7, 12, 21)])
def test_rank_of_each_motion_is_that_of_the_table_in_the_documentation(count, steady, turning,
                                                                       all_but):
    robot = regular(count)
    straight = observability(robot, np.zeros((1, count)), [[0, 0.3, 0]])
    assert straight.rank == steady
    for velocity in ((0, 0, 0.8), (0.3, 0, 0.5)):
        steering, twist = rolling(robot, lambda t, v=velocity: v)
        assert observability(robot, steering[-100:], twist[-100:]).rank == steady
    assert observability(robot, *rolling(robot, lambda t: (0, 0.3, 0))).rank == turning
    # above the first caster is aligned from the start, here none is
    assert observability(robot, *rolling(robot, lambda t: (0, 0.3, 0), first=0.5)
                         ).rank == turning + 1
    curve = rolling(robot, lambda t: (0, 0.3, 0.5 * np.sin(2 * t)))
    assert observability(robot, *curve).rank == all_but
    assert observability(robot, *rolling(robot, rich)).rank == all_but


def test_a_straight_drive_teaches_nothing_about_offsets():
    got = observability(C3P, [[0, 0, 0]], [[0, 0.3, 0]])
    assert got.known()[:, 1].max() < 1e-9
    assert 'offset of caster 1' in got.text()
    assert got.text().startswith('3 of 15 directions')


def test_what_a_motion_does_not_teach_leaves_its_residuals_unchanged():
    steering, twist = rolling(C3P, lambda t: (0, 0.3, 0))
    got = observability(C3P, steering, twist)
    units = Prior().deviations(C3P)
    matrix = rows(C3P, steering, twist).reshape(-1, 15)
    assert np.abs(matrix @ (got.unseen() * units).T).max() < 1e-12
    assert got.unseen().shape == (9, 15)


def test_gauge_is_removed_from_differences_and_the_rest_stays():
    parameters = parameters_of(C3P)
    units = Prior().deviations(C3P)
    moved = gauge(parameters) @ [0.01, -0.02, 0.003, 0.004]
    assert np.abs(without_gauge(parameters, moved, units)).max() < 1e-15
    one = np.zeros(15)
    one[0] = 1e-4
    rest = without_gauge(parameters, one, units)
    again = without_gauge(parameters, rest + moved, units)
    np.testing.assert_allclose(again, rest, atol=1e-15)


def test_coinciding_contact_points_are_refused():
    robot = CasterRobot.regular(0.1, [0.0, np.pi], 0.1, 0.05, 10.0, 1.0)
    with pytest.raises(ValueError, match='coincide'):
        rows(robot, [[-np.pi / 2, np.pi / 2]], [[0.1, 0.0, 0.0]])



def test_a_calibrated_robot_measures_its_steering_with_the_corrected_zero():
    found = parameters_of(C3P)
    found[:, 4] = [0.01, 0.0, -0.02]
    np.testing.assert_allclose(calibrated(C3P, found).steering_zero, [0.01, 0.0, -0.02])
