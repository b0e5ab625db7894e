# SPDX-License-Identifier: Apache-2.0
"""The prepared inverse dynamics and the integration against the plain functions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as suite_settings
from hypothesis import strategies as st
from robots import C3P, robots_in_motion
from unequal_casters import FRICTION, random_robot, random_state

from c3p_dynamics._caster_equations import caster_model
from c3p_dynamics._caster_motion_kernels import runge_kutta
from c3p_dynamics.caster_dynamics import (
    bias,
    forward_dynamics,
    inverse_dynamics,
    mass_matrix,
)
from c3p_dynamics.prepared import InverseDynamics
from c3p_kinematics.casters import inverse, steering_jacobian, wheel_jacobian


def packed(steering, twist, accel):
    return np.concatenate([steering, twist, accel]).astype(float)


@given(robots_in_motion(), st.sampled_from([0.0, 0.023, 1.0]), st.integers(0, 5))
def test_a_prepared_call_gives_the_same_bits(drawn, weight, idle):
    robot, steering, twist, accel = drawn
    robot = replace(robot, driven=np.arange(robot.count) != idle)
    prepared = InverseDynamics(robot, weight)
    got = prepared(packed(steering, twist, accel))
    np.testing.assert_array_equal(
        got, inverse_dynamics(robot, steering, twist, accel, weight))
    assert got is prepared.torque


def test_a_state_of_another_type_or_layout_is_converted():
    prepared, state = InverseDynamics(C3P), packed([1, 2, 3], [1, 0, 1], [0, 1, 2])
    expected = prepared(state).copy()
    strided, swapped = np.repeat(state, 2)[::2], state.astype('>f8')
    for other in (state.astype(int), state.astype(np.float32), strided, swapped, state.tolist()):
        np.testing.assert_array_equal(prepared(other), expected)
    # a known array with new values
    state[0] = 0.5
    assert np.any(prepared(state) != expected)
    np.testing.assert_array_equal(prepared(state), prepared(state.copy()))


@pytest.mark.parametrize('wrong', [np.zeros(8), np.zeros(10), np.zeros((3, 3))])
def test_a_state_of_another_size_is_refused(wrong):
    with pytest.raises(ValueError, match='broadcast'):
        InverseDynamics(C3P)(wrong)


@pytest.mark.parametrize('steering', [(0, 0, 0), np.radians([-60, 60, 180])])
@pytest.mark.parametrize('weight', [0.0, 1e-12, 0.023])
def test_singular_poses_are_prepared_too(steering, weight):
    state = packed(steering, [0, 0, 0], [0.5, 0.2, 1.0])
    got = InverseDynamics(C3P, weight)(state)
    np.testing.assert_array_equal(
        got, inverse_dynamics(C3P, steering, [0, 0, 0], [0.5, 0.2, 1.0], weight))
    assert np.abs(got).max() < 1.0


@given(robots_in_motion(), st.floats(1e-3, 2))
@suite_settings(max_examples=40)
def test_packed_arithmetic_is_the_formula_written_with_matrices(drawn, weight):
    robot, steering, twist, accel = drawn
    wheels, pivots = wheel_jacobian(robot, steering), steering_jacobian(robot, steering)
    _, rate, contact = inverse(robot, steering, twist)
    across = -contact * robot.caster_offset
    own = (robot.wheel_radius * robot.caster_inertia[:, 0]
           * (robot.wheel_radius * (wheels @ accel) - rate * across))
    force = mass_matrix(robot, steering) @ accel + bias(robot, steering, twist) - wheels.T @ own
    shared = wheels.T @ wheels + weight * pivots.T @ pivots
    expected = own + wheels @ np.linalg.solve(shared, force)
    got = inverse_dynamics(robot, steering, twist, accel, weight)
    slack = 1e-14 * np.linalg.cond(shared) * (1 + np.abs(expected).max())
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-11 * np.abs(own).max() + slack)


@pytest.mark.parametrize('weight', [-1.0, np.nan, np.inf])
def test_a_weight_that_cannot_be_is_refused(weight):
    with pytest.raises(ValueError, match='virtual_steering_weight'):
        InverseDynamics(C3P, weight)


@pytest.mark.parametrize('weight', [0.0, 0.023])
@pytest.mark.parametrize('place', range(9))
@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_a_state_that_is_no_number_gives_nan_and_raises_nothing(weight, place, value):
    state = packed([0.1, 1.0, 2.0], [0.1, 0.2, 0.3], [0.5, 0.2, 1.0])
    prepared = InverseDynamics(C3P, weight)
    expected = prepared(state).copy()
    wrong = state.copy()
    wrong[place] = value
    assert np.isnan(prepared(wrong)).all()
    # and nothing of it is left behind
    np.testing.assert_array_equal(prepared(state), expected)


def rates_of(robot, state, torque, wrench):
    """Return d/dt of the plant's state by the functions of the package, in numpy."""
    n = robot.count
    phi, twist, steering = state[2], state[3:6], state[6:6 + n]
    wheel, steer, contact = inverse(robot, steering, twist)
    pushed = np.linalg.solve(mass_matrix(robot, steering), wrench)
    accel = forward_dynamics(robot, steering, twist, torque) + pushed
    c, s = np.cos(phi), np.sin(phi)
    pv, pc, rv, rc, sc, smooth = robot.losses.T
    lost = ((rv * wheel + rc * np.tanh(wheel / smooth)) * wheel
            + (pv * steer + pc * np.tanh(steer / smooth)) * steer
            + sc * np.tanh(contact / smooth) * contact)
    power = torque @ wheel + wrench @ twist
    return np.concatenate([[c * twist[0] - s * twist[1], s * twist[0] + c * twist[1], twist[2]],
                           accel, steer, wheel, [power, lost.sum()]])


@pytest.mark.parametrize('count', [2, 3, 4, 5, 6])
@pytest.mark.parametrize('rough', [False, True])
def test_integration_is_the_classical_method_on_the_plain_functions(count, rough):
    rng = np.random.default_rng(count)
    robot = random_robot(rng, count)
    robot = replace(robot, friction=FRICTION) if rough else robot
    steering, twist, _ = random_state(rng, robot)
    torque, wrench = rng.uniform(-1, 1, count), rng.uniform(-5, 5, 3)
    state = np.concatenate([[0.3, -0.2, 2.0], twist, steering, np.zeros(count + 2)])
    expected, h = state.copy(), 2e-3
    runge_kutta(caster_model(robot), state, torque, wrench, h, 25)
    for _ in range(25):
        k1 = rates_of(robot, expected, torque, wrench)
        k2 = rates_of(robot, expected + 0.5 * h * k1, torque, wrench)
        k3 = rates_of(robot, expected + 0.5 * h * k2, torque, wrench)
        k4 = rates_of(robot, expected + h * k3, torque, wrench)
        expected += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    # rounding of 25 steps, of quantities of some ten
    np.testing.assert_allclose(state, expected, rtol=1e-12, atol=1e-12)
