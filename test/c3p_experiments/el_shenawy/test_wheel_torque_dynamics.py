# SPDX-License-Identifier: Apache-2.0
"""The papers' joint coordinates against the reduced form, and readings of (13) and (14)."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as suite_settings
from hypothesis import strategies as st
from robots import C3P, robots_in_motion
from unequal_casters import FRICTION, papers_robot, random_robot, random_state

from c3p_description.model import Friction
from c3p_dynamics.caster_dynamics import bias, forward_dynamics, inverse_dynamics, mass_matrix
from c3p_experiments.el_shenawy.joint_space import joint_space, sensed_jacobian
from c3p_experiments.el_shenawy.wheel_torque_dynamics import (
    WheelTorqueSimulation,
    joint_forward,
    joint_inverse,
)
from c3p_kinematics.casters import inverse, inverse_acceleration, sensed_forward
from c3p_kinematics.singularity import singularity
from c3p_simulation.plants.plant import AnalyticPlant

ONE_STATE = (np.array([0.4, 1.9, -2.2]), np.array([0.3, -0.2, 0.8]))


def space_of(robot, steering, twist, weight=1.0):
    wheel_rate, steering_rate, _ = inverse(robot, steering, twist)
    return joint_space(robot, steering, wheel_rate, steering_rate, weight)


# --- the constrained form ---------------------------------------------------------------------

@given(robots_in_motion(), st.floats(0.01, 2.0))
@suite_settings(max_examples=40)
def test_joint_space_projected_is_the_reduced_form_whatever_the_left_inverse(drawn, weight):
    robot, steering, twist, _ = drawn
    space = space_of(robot, steering, twist, weight)
    jacobian = space.jacobian
    np.testing.assert_allclose(space.sensed @ jacobian, np.eye(3), rtol=0, atol=1e-9)
    np.testing.assert_allclose(space.twist, twist, rtol=0, atol=1e-9)
    mass, force = mass_matrix(robot, steering), bias(robot, steering, twist)
    # the left inverse costs the square of the condition of the six rates
    slack = 1e-13 * np.linalg.cond(jacobian) ** 2
    np.testing.assert_allclose(jacobian.T @ space.mass @ jacobian, mass, rtol=0,
                               atol=slack * np.abs(mass).max())
    got = jacobian.T @ (space.mass @ space.drift + space.bias)
    np.testing.assert_allclose(got, force, rtol=0, atol=slack * (1 + np.abs(force).max()))


@given(robots_in_motion())
@suite_settings(max_examples=40)
def test_closure_is_all_that_the_platform_cannot_do(drawn):
    robot, steering, twist, _ = drawn
    space = space_of(robot, steering, twist)
    rows = 2 * robot.count - 3
    assert space.closure.shape == (rows, 2 * robot.count)
    np.testing.assert_allclose(space.closure @ space.closure.T, np.eye(rows), atol=1e-12)
    np.testing.assert_allclose(space.closure @ space.jacobian, 0,
                               atol=1e-12 * np.abs(space.jacobian).max())


def test_closure_of_three_casters_keeps_the_distances_of_their_contact_points():
    steering, twist = ONE_STATE
    robot = random_robot(np.random.default_rng(4))
    closure = space_of(robot, steering, twist).closure
    c, s = np.cos(steering), np.sin(steering)
    d, r = robot.caster_offset, robot.wheel_radius
    ahead, axle = np.stack([-s, c], axis=1), np.stack([c, s], axis=1)
    contact = robot.hip_position - d[:, None] * ahead
    distances = []
    for i, j in ((0, 1), (1, 2), (2, 0)):
        between, row = contact[i] - contact[j], np.zeros(6)
        # the point of the platform over contact i moves with r θ̇_x e − d θ̇_s a
        for k, sign in ((i, 1.0), (j, -1.0)):
            row[k] = sign * r[k] * ahead[k] @ between
            row[3 + k] = -sign * d[k] * axle[k] @ between
        distances.append(row)
    # three rows in a space of three: the same constraint
    outside = np.array(distances) @ (np.eye(6) - closure.T @ closure)
    np.testing.assert_allclose(outside, 0, atol=1e-14)
    assert np.linalg.matrix_rank(distances) == 3


@given(robots_in_motion(), st.integers(0, 2**32 - 1))
@suite_settings(max_examples=40)
def test_constrained_form_is_the_forward_dynamics_with_friction(drawn, seed):
    robot, steering, twist, _ = drawn
    robot = replace(robot, friction=FRICTION)
    torque = np.random.default_rng(seed).uniform(-2, 2, robot.count)
    wheel_rate, steering_rate, _ = inverse(robot, steering, twist)
    expected = forward_dynamics(robot, steering, twist, torque)
    wheel, steer = inverse_acceleration(robot, steering, twist, expected)
    got = joint_forward(robot, steering, wheel_rate, steering_rate, torque)
    size = 1 + np.abs(wheel).max() + np.abs(steer).max()
    np.testing.assert_allclose(got.twist, expected, rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(got.wheel, wheel, rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(got.steering, steer, rtol=0, atol=1e-9 * size)
    assert got.closure_error <= 1e-9 * size


def test_what_closes_the_chains_does_no_work_and_needs_no_particular_left_inverse():
    robot = random_robot(np.random.default_rng(2), 4)
    steering, twist, _ = random_state(np.random.default_rng(3), robot)
    rates = inverse(robot, steering, twist)[:2]
    torque = [0.5, -1.0, 0.2, 0.8]
    one, other = (joint_forward(robot, steering, *rates, torque, steering_weight=w)
                  for w in (1.0, 0.05))
    np.testing.assert_allclose(one.twist, other.twist, rtol=1e-9)
    assert np.abs(one.closing_torque - other.closing_torque).max() > 1e-3
    assert one.closing_torque @ np.concatenate(rates) == pytest.approx(
        0, abs=1e-12 * np.abs(one.closing_torque).max() * np.abs(rates).max())


@given(robots_in_motion(), st.floats(0.01, 2.0))
@suite_settings(max_examples=40)
def test_constrained_inverse_is_the_inverse_dynamics(drawn, weight):
    robot, steering, twist, accel = drawn
    got = joint_inverse(robot, steering, twist, 'constrained', weight)
    expected = inverse_dynamics(robot, steering, twist, accel, weight)
    slack = 1e-13 * np.linalg.cond(space_of(robot, steering, twist).jacobian) ** 2 / weight
    np.testing.assert_allclose(got.mass @ accel + got.bias, expected, rtol=0,
                               atol=slack * (1 + np.abs(expected).max()))


def test_left_inverse_of_the_papers_robot_is_the_sensed_forward_solution():
    rng = np.random.default_rng(6)
    steering, rates = rng.uniform(-3, 3, 3), rng.normal(size=(2, 3))
    np.testing.assert_allclose(sensed_jacobian(C3P, steering) @ rates.ravel(),
                               sensed_forward(C3P, steering, *rates).twist, rtol=1e-12)


def test_chain_by_itself_moves_as_sympy_says():
    sp = pytest.importorskip('sympy')
    robot = random_robot(np.random.default_rng(8), 2)
    # speeds p = θ̇_x, s = σ of one chain; heading ψ of its link over ground
    psi, p, s, pd, sd = sp.symbols('psi p s pd sd')
    d, r, ml, cl, il, mw, ix, iz = (sp.Float(getattr(robot, name)[0], 30) for name in (
        'caster_offset', 'wheel_radius', 'link_mass', 'link_com', 'link_inertia', 'wheel_mass',
        'wheel_spin_inertia', 'wheel_yaw_inertia'))
    ahead, axle = sp.Matrix([-sp.sin(psi), sp.cos(psi)]), sp.Matrix([sp.cos(psi), sp.sin(psi)])
    # the contact rolls along the wheel, link and wheel turn about it
    link, wheel = r * p * ahead - (d - cl) * s * axle, r * p * ahead
    forces = sp.zeros(2, 1)
    for mass, velocity in ((ml, link), (mw, wheel)):
        accel = velocity.diff(psi) * s + velocity.diff(p) * pd + velocity.diff(s) * sd
        forces += mass * velocity.jacobian([p, s]).T * accel
    forces += sp.Matrix([ix * pd, (il + iz) * sd])
    at = {psi: 0.7, p: 1.3, s: -0.9, pd: 2.1, sd: 0.4}
    rolling, across, kappa = robot.caster_inertia[0]
    offset, radius = robot.caster_offset[0], robot.wheel_radius[0]
    expected = [radius**2 * rolling * 2.1 - kappa * offset**2 * radius * 0.9**2,
                offset**2 * across * 0.4 + kappa * offset**2 * radius * 1.3 * -0.9]
    np.testing.assert_allclose([float(f.subs(at)) for f in forces], expected, rtol=1e-12)


# --- the readings of (13) and (14) ------------------------------------------------------------

def test_lagrange_bias_is_the_derivative_of_the_kinetic_energy():
    robot = random_robot(np.random.default_rng(5), 3)
    steering, twist = ONE_STATE
    wheel_rate, rate, _ = inverse(robot, steering, twist)
    speeds, h = np.concatenate([wheel_rate, rate]), 1e-5
    slopes = [(joint_space(robot, steering + h * e, wheel_rate, rate).mass
               - joint_space(robot, steering - h * e, wheel_rate, rate).mass) / (2 * h)
              for e in np.eye(3)]
    expected = sum(rate[k] * slopes[k] for k in range(3)) @ speeds
    expected[3:] -= [0.5 * speeds @ slope @ speeds for slope in slopes]
    # central differences: h² ≈ 1e-10 of the third derivative
    got = joint_space(robot, steering, wheel_rate, rate).lagrange_bias
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_lagranges_equations_of_the_joint_angles_are_wrong_even_when_projected():
    steering, twist = ONE_STATE
    space, true = space_of(C3P, steering, twist), bias(C3P, steering, twist)
    projected = space.jacobian.T @ (space.mass @ space.drift + space.lagrange_bias)
    assert np.linalg.norm(projected - true) > 0.5 * np.linalg.norm(true)


@given(st.integers(0, 10**6))
@suite_settings(max_examples=60)
def test_read_by_wheels_13_and_14_are_the_true_accelerations_at_regular_poses(seed):
    rng = np.random.default_rng(seed)
    robot = papers_robot() if seed % 2 else random_robot(rng, 3)
    steering, twist, torque = random_state(rng, robot)
    assume(singularity(robot, steering).sigma_min > 0.05)
    rates = inverse(robot, steering, twist)[:2]
    true = forward_dynamics(robot, steering, twist, torque)
    wheel, steer = inverse_acceleration(robot, steering, twist, true)
    # the steering rates follow from those of the wheels: any may be given
    got = joint_forward(robot, steering, rates[0], rng.normal(size=3), torque, 'wheels')
    # J_x⁻¹ twice: rounding grows with the square of its condition, at most 20² here
    scale = 1e-11 * (1 + np.abs(wheel).max() + np.abs(steer).max())
    np.testing.assert_allclose(got.wheel, wheel, rtol=0, atol=scale)
    np.testing.assert_allclose(got.steering, steer, rtol=0, atol=scale)
    np.testing.assert_allclose(got.twist, true, rtol=0, atol=scale)
    assert got.closure_error < scale


def test_read_by_wheels_the_models_are_the_inverse_of_each_other():
    accel, (steering, twist) = np.array([0.3, 0.2, 0.5]), ONE_STATE
    matrix = joint_inverse(C3P, steering, twist, 'wheels')
    robot = replace(C3P, friction=Friction())
    rates = inverse(robot, steering, twist)[:2]
    back = joint_forward(robot, steering, *rates, matrix.mass @ accel + matrix.bias, 'wheels')
    np.testing.assert_allclose(back.twist, accel, rtol=0, atol=1e-12)


def test_blocks_at_rest_give_about_half_the_acceleration_and_tear_the_chains():
    robot = papers_robot()
    got = joint_forward(robot, ONE_STATE[0], np.zeros(3), np.zeros(3), [0.4, -0.2, 0.1],
                        'blocks')
    true = forward_dynamics(robot, ONE_STATE[0], np.zeros(3), [0.4, -0.2, 0.1])
    assert 0.3 < np.linalg.norm(got.twist[:2]) / np.linalg.norm(true[:2]) < 0.9
    assert got.closure_error > 10.0
    assert not got.multiplier.any() and not got.closing_torque.any()


def test_blocks_are_right_along_y_with_all_steering_angles_zero():
    # what the papers show: "in case of having Y as a desired direction …"
    torque, still = np.full(3, 0.2), np.zeros(3)
    got = joint_forward(C3P, still, still, still, torque, 'blocks')
    np.testing.assert_allclose(got.twist, forward_dynamics(C3P, still, still, torque), atol=1e-14)
    matrix = joint_inverse(C3P, still, still, 'blocks')
    expected = inverse_dynamics(C3P, still, still, [0, 0.3, 0], 1.0)
    np.testing.assert_allclose(matrix.mass @ [0, 0.3, 0], expected, atol=1e-14)


def test_blocks_are_not_the_inverse_of_each_other():
    accel = np.array([0.3, 0.2, 0.5])
    matrix = joint_inverse(C3P, ONE_STATE[0], np.zeros(3), 'blocks')
    back = joint_forward(C3P, ONE_STATE[0], np.zeros(3), np.zeros(3), matrix.mass @ accel,
                         'blocks')
    assert np.linalg.norm(back.twist - accel) > 0.3 * np.linalg.norm(accel)


def test_casters_without_mass_have_a_constrained_form_and_four_of_them_no_blocks():
    robot = replace(random_robot(np.random.default_rng(9), 4), **dict.fromkeys(
        ('link_mass', 'link_inertia', 'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia'),
        0.0))
    steering, twist, _ = random_state(np.random.default_rng(3), robot)
    rates, torque = inverse(robot, steering, twist)[:2], [0.5, -1.0, 0.2, 0.8]
    got = joint_forward(robot, steering, *rates, torque)
    np.testing.assert_allclose(got.twist, forward_dynamics(robot, steering, twist, torque),
                               rtol=1e-9)
    with pytest.raises(ValueError, match='masses or inertias'):
        joint_forward(robot, steering, *rates, torque, 'blocks')


# --- integrated as coordinates of their own ---------------------------------------------------

def simulated(form, delay, dt, end=0.5):
    plant = WheelTorqueSimulation(C3P, form, delay)
    plant.reset(*ONE_STATE)
    for _ in range(round(end / dt)):
        plant.step([0.1, -0.05, 0.1], dt)
    return plant


def test_six_integrated_coordinates_move_as_the_three_of_the_plant():
    plant = AnalyticPlant(C3P)
    plant.reset(steering=ONE_STATE[0], twist=ONE_STATE[1])
    sample = plant.step([0.1, -0.05, 0.1], 0.5)
    joints = simulated('constrained', False, 0.01)
    # fourth order in steps of 10 ms against 1 ms
    np.testing.assert_allclose(joints.twist, plant.truth().twist, atol=1e-5)
    np.testing.assert_allclose(joints.steering, sample.steering, atol=1e-5)
    np.testing.assert_allclose(joints.wheel_angle, sample.wheel_angle, atol=1e-5)
    assert joints.closure_error < 1e-5


def test_unit_delay_is_an_error_of_first_order():
    exact = simulated('constrained', False, 0.01).steering
    errors = [np.linalg.norm(simulated('constrained', True, dt).steering - exact)
              for dt in (4e-3, 2e-3)]
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.3)


def test_blocks_lose_their_closure_at_any_step():
    for dt in (4e-3, 2e-3):
        assert simulated('blocks', True, dt, end=0.2).closure_error > 0.1


@pytest.mark.parametrize(('call', 'name'), [
    (lambda: joint_forward(C3P, [0] * 3, [0] * 3, [0] * 3, [0] * 2), 'wheel_torque'),
    (lambda: joint_forward(C3P, [0] * 3, [0] * 2, [0] * 3, [0] * 3), 'wheel_rate'),
    (lambda: joint_forward(C3P, [0] * 3, [0] * 3, [0] * 3, [0] * 3, 'printed'), 'form'),
    (lambda: joint_inverse(C3P, [0] * 3, [0] * 3, 'printed'), 'form'),
    (lambda: joint_forward(C3P, [0] * 3, [0] * 3, [0] * 3, [0] * 3, 'wheels'), 'singular pose'),
    (lambda: joint_inverse(random_robot(np.random.default_rng(1), 4), [0] * 4, [0] * 3, 'wheels'),
     'three casters'),
    (lambda: sensed_jacobian(C3P, [0] * 3, 0.0), 'steering_weight'),
    (lambda: joint_space(C3P, [0] * 3, [0] * 3, [0] * 3, np.inf), 'steering_weight'),
    (lambda: joint_space(C3P, [[0] * 3] * 2, [0] * 3, [0] * 3), 'leading dimensions'),
    (lambda: joint_inverse(C3P, [0] * 3, [[0] * 3] * 2), 'leading dimensions'),
    (lambda: joint_inverse(replace(C3P, driven=[True, True, False]), [0] * 3, [0] * 3), 'driven'),
    (lambda: joint_forward(C3P, [0] * 3, [0] * 3, [0] * 3, [0, np.nan, 0]), 'wheel_torque = '),
    (lambda: WheelTorqueSimulation(C3P, steering_weight=-1.0), 'steering_weight'),
    (lambda: WheelTorqueSimulation(C3P).reset([np.nan] * 3), 'steering = '),
    (lambda: WheelTorqueSimulation(C3P, 'printed'), 'form'),
    (lambda: WheelTorqueSimulation(C3P).step([0] * 3, 0.0), 'dt'),
    (lambda: WheelTorqueSimulation(C3P).step([0] * 3, np.inf), 'dt'),
])
def test_wrong_input_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=name):
        call()
