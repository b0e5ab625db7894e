# SPDX-License-Identifier: Apache-2.0
"""Drives of the AGV on its circle: torques, integrator, and the errors of both."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from c3p_description import load
from c3p_description.agv_model import Agv
from c3p_experiments.saha_angeles.simulation import (
    circle_torque,
    exact_torque,
    frozen_state_rate,
    simulate,
    smoothed_table_torque,
    start_state,
    table_torque,
)
from c3p_experiments.saha_angeles.verner import FIFTH, NODES, SIXTH, STAGES, integrate, step
from c3p_multibody.agv.circle import Circle, joint_path
from c3p_multibody.agv.dynamics import inverse_dynamics, state_rate

AGV = load('agv')


def test_torque_on_the_circle_is_the_inverse_dynamics_of_the_path():
    agv = Agv('damped', 0.4, 0.05, 0.1, 0.2, 0.03, link_mass=1.0, link_com=0.02,
              wheel_spin_inertia=0.0025, wheel_yaw_inertia=0.00125, viscous=[0.1, 0.2, 0.3, 0.4])
    for circle in (Circle(), Circle(-1.0, 20.0, 3.0, 0.4)):
        time = np.linspace(-1.0, circle.duration + 1.0, 50)
        path = joint_path(agv, circle, time)
        wanted = inverse_dynamics(agv, path.caster, path.rates, path.accelerations)
        np.testing.assert_allclose(circle_torque(agv, circle, time), wanted, rtol=0,
                                   atol=1e-12 * np.abs(wanted).max())
        np.testing.assert_array_equal(exact_torque(agv, circle)(7.5),
                                      circle_torque(agv, circle, 7.5))


def test_direct_dynamics_of_a_minute_comes_back_to_the_path():
    circle = Circle()
    run = simulate(AGV, circle, exact_torque(AGV, circle), [0.0, 30.0, 60.0], 1e-12)
    # the bar is 1e-9 of 150 rad; 1e-12 for each of some thousand steps is less
    assert np.abs(run.error).max() < 1e-9
    np.testing.assert_allclose(run.angles[-1], [-32 * math.pi, -48 * math.pi], atol=1e-9)
    assert run.caster[-1] == pytest.approx(0.270278715846468, abs=1e-9)


def test_scipys_integrator_arrives_at_the_same_place():
    circle = Circle(caster_start=0.0)
    torque = exact_torque(AGV, circle)
    run = simulate(AGV, circle, torque, [0.0, 60.0], 1e-11)
    other = solve_ivp(lambda t, y: state_rate(AGV, y, torque(t)), (0, 60),
                      start_state(AGV, circle), 'DOP853', rtol=1e-11, atol=1e-11).y[:, -1]
    np.testing.assert_allclose(run.integrated.states[-1], other, rtol=0, atol=1e-9)


def test_error_falls_with_the_tolerance_when_the_torque_is_exact():
    circle, ends = Circle(), [0.0, 60.0]
    errors = [np.abs(simulate(AGV, circle, exact_torque(AGV, circle), ends, tol).error).max()
              for tol in (1e-1, 1e-3, 1e-5)]
    assert errors[0] > 1.0 and 1e-4 < errors[1] < 1e-3 and 1e-6 < errors[2] < 4e-6


def test_error_stops_at_a_floor_when_the_torque_is_read_from_a_table():
    circle, calls = Circle(), np.linspace(0, 60, 61)
    errors = [np.abs(simulate(AGV, circle, table_torque(AGV, circle, 1.0), calls, tol).error).max()
              for tol in (1e-3, 1e-5, 1e-7)]
    np.testing.assert_allclose(errors, errors[-1], rtol=1e-3)
    # the floor is what τ + Δ²τ̈/12 leads to, and falls with Δ²
    smooth = [np.abs(simulate(AGV, circle, smoothed_table_torque(AGV, circle, gap), calls,
                              1e-7).error).max() for gap in (1.0, 0.5)]
    assert errors[-1] == pytest.approx(smooth[0], rel=1e-3)
    assert smooth[0] == pytest.approx(4 * smooth[1], rel=1e-2)


def test_without_the_casters_angle_as_a_state_the_joints_are_lost():
    circle = Circle(caster_start=0.0)
    run = simulate(AGV, circle, exact_torque(AGV, circle), [0.0, 60.0], 1e-7, frozen_state_rate)
    assert 300 < np.abs(run.error).max() < 330


def test_driving_forward_forgives_what_driving_backward_does_not():
    # the mass is before the axle: errors of the yaw rate die out, or grow
    forward, backward = (np.abs(simulate(AGV, circle, exact_torque(AGV, circle), [0.0, 60.0],
                                         1e-8).error).max()
                         for circle in (Circle(1.0), Circle(-1.0)))
    assert backward > 1e3 * forward


def test_tables_and_times_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match='spacing = 61'):
        table_torque(AGV, Circle(), 61.0)
    with pytest.raises(ValueError, match='must increase'):
        integrate(lambda t, y: y, [0.0, 0.0], [1.0], 1e-3)
    with pytest.raises(ValueError, match='tolerance = 0'):
        integrate(lambda t, y: y, [0.0, 1.0], [1.0], 0.0)
    with pytest.raises(ValueError, match='shorter than rounding'), np.errstate(all='ignore'):
        integrate(lambda t, y: y**2, [0.0, 2.0], [1.0], 1e-6)


def test_table_reads_its_rows_and_straight_lines_between():
    table, exact = table_torque(AGV, Circle(), 10.0), exact_torque(AGV, Circle())
    for time in (0.0, 10.0, 50.0, 60.0):
        np.testing.assert_allclose(table(time), exact(time), atol=1e-16)
    np.testing.assert_allclose(table(13.0), 0.7 * exact(10.0) + 0.3 * exact(20.0), atol=1e-16)


def test_verners_pair_has_orders_five_and_six():
    np.testing.assert_allclose(STAGES.sum(axis=1), NODES, atol=1e-14)
    for weights, order in ((SIXTH, 6), (FIFTH, 5)):
        np.testing.assert_allclose([weights @ NODES**k for k in range(order)],
                                   1 / np.arange(1, order + 1), atol=1e-14)

    def right(t, y):
        return np.array([y[1], -np.sin(y[0]) + 0.3 * np.cos(t)])

    wanted = solve_ivp(right, (0, 2), [1, 0.3], 'DOP853', rtol=1e-13, atol=1e-13).y[:, -1]
    found = []
    for count in (10, 20):
        six = five = np.array([1.0, 0.3])
        for k in range(count):
            size, time = 2 / count, 2 * k / count
            six, _ = step(right, time, six, size, right(time, six))
            sixth, error = step(right, time, five, size, right(time, five))
            five = sixth - error
        found.append([np.abs(six - wanted).max(), np.abs(five - wanted).max()])
    gained = np.log2(np.divide(*found))
    # coarse steps: the orders show within half of one
    assert gained[0] > 5.5 and 4.5 < gained[1] < 5.7
