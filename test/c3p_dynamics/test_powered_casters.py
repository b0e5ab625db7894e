# SPDX-License-Identifier: Apache-2.0
"""Steering motors: power, inverse dynamics, compensation of friction, and singularities."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import caster_robots, powered_robots, vectors

from c3p_description import load
from c3p_description.model import Friction, ModelError
from c3p_dynamics.caster_dynamics import (
    VIRTUAL_STEERING_WEIGHT,
    forward_dynamics,
    inverse_dynamics,
    mass_matrix,
    unreached_acceleration,
)
from c3p_dynamics.friction import friction_compensation
from c3p_dynamics.prepared import InverseDynamics
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.casters import steering_jacobian, wheel_jacobian
from c3p_kinematics.singularity import always_actuated, scaled_wheel_jacobian, singularity
from c3p_simulation.plants.plant import AnalyticPlant

POWERED = load('powered_caster')


def joint_jacobian(robot, steering):
    """Return the rates of the joints with motors per twist (…, efforts, 3)."""
    return np.concatenate([wheel_jacobian(robot, steering), steering_jacobian(robot, steering)],
                          axis=-2)


@given(powered_robots(), vectors(3, 2.0), st.integers(0, 2**32 - 1))
def test_torques_work_on_the_rates_of_their_joints(robot, twist, seed):
    # without friction the power of the motors is the rate of the kinetic energy: its part M ν̇·ν
    # that depends on the torques is τ·q̇
    rng = np.random.default_rng(seed)
    steering = rng.uniform(-7, 7, robot.count)
    torque = rng.uniform(-2, 2, robot.efforts)
    gained = (forward_dynamics(robot, steering, twist, torque)
              - forward_dynamics(robot, steering, twist, np.zeros(robot.efforts)))
    power = torque @ (joint_jacobian(robot, steering) @ twist)
    mass = mass_matrix(robot, steering)
    assert twist @ mass @ gained == pytest.approx(power, rel=1e-9, abs=1e-9 * np.abs(mass).max())


@given(powered_robots(), st.integers(0, 2**32 - 1))
def test_energy_grows_by_the_work_minus_the_losses(robot, seed):
    rng = np.random.default_rng(seed)
    n = robot.count
    robot = replace(robot, friction=Friction(*rng.uniform(0, 0.02, (5, n)), smoothing=0.3))
    plant = AnalyticPlant(robot)
    plant.reset(steering=rng.uniform(-3, 3, n), twist=rng.uniform(-0.2, 0.2, 3))
    before = plant.kinetic_energy
    arms = np.concatenate([robot.wheel_radius, robot.caster_offset])
    for _ in range(20):
        plant.step(rng.uniform(-0.3, 0.3, robot.efforts) * robot.total_mass * arms, 0.01)
    # fourth order in steps of 1 ms; brisk robots of 20 cm turn their casters at 50 rad/s
    assert plant.kinetic_energy - before == pytest.approx(
        plant.work - plant.dissipated, rel=1e-4, abs=1e-5 * (1 + plant.kinetic_energy))


@given(caster_robots(), vectors(3, 3.0), vectors(3, 5.0), st.integers(0, 2**32 - 1))
def test_with_two_powered_casters_the_inverse_is_exact_everywhere(robot, twist, accel, seed):
    rng = np.random.default_rng(seed)
    n = robot.count
    driven, steered = rng.uniform(size=(2, n)) < 0.5
    driven[:2] = steered[:2] = True
    robot = replace(robot, driven=driven, steered=steered)
    assert always_actuated(robot)
    # singular for wheels alone, too: all casters parallel
    for steering in (rng.uniform(-7, 7, n), np.full(n, rng.uniform(-3, 3))):
        torque = inverse_dynamics(robot, steering, twist, accel)
        assert np.all(torque[~robot.actuated] == 0)
        reached = forward_dynamics(robot, steering, twist, torque)
        np.testing.assert_allclose(reached, accel, atol=1e-8 * (1 + np.abs(accel).max()
                                                                + np.abs(twist).max()**2))


@given(powered_robots(), vectors(3, 2.0), vectors(3, 2.0), st.integers(0, 2**32 - 1))
def test_regular_poses_of_any_motors_are_solved_as_the_weight_goes_to_zero(robot, twist, accel,
                                                                           seed):
    steering = np.random.default_rng(seed).uniform(-7, 7, robot.count)
    assume(singularity(robot, steering).sigma_min > 0.1)
    torque = inverse_dynamics(robot, steering, twist, accel, 0.0)
    np.testing.assert_allclose(forward_dynamics(robot, steering, twist, torque), accel,
                               atol=1e-7 * (1 + np.abs(twist).max()**2))
    np.testing.assert_array_equal(InverseDynamics(robot, 0.0)(
        np.concatenate([steering, twist, accel])), torque)


@given(powered_robots(), vectors(3, 2.0), st.integers(0, 2**32 - 1))
def test_torques_of_least_weighted_norm_share_by_their_bounds(robot, twist, seed):
    # the optimum has τ = W J z for some z, with W the squares of the bounds
    rng = np.random.default_rng(seed)
    n = robot.count
    robot = replace(robot, driven=True, steered=True)
    steering, accel = rng.uniform(-7, 7, n), rng.uniform(-2, 2, 3)
    torque = inverse_dynamics(robot, steering, twist, accel)
    jacobian = joint_jacobian(robot, steering)
    bound = torque_bounds(robot)
    assume(bound.min() > 0.1 * bound.max())
    # each wheel motor first drives its own rolling mass, at the acceleration of its wheel
    step = 1e-6
    later = steering + step * (steering_jacobian(robot, steering) @ twist)
    turn = (wheel_jacobian(robot, later) - wheel_jacobian(robot, steering)) @ twist / step
    own = torque.copy()
    own[:n] -= (robot.wheel_radius**2 * robot.caster_inertia[:, 0]
                * (wheel_jacobian(robot, steering) @ accel + turn))
    weight = np.concatenate([np.full(n, bound[:n].mean()**2), bound[n:]**2])
    shares, *_ = np.linalg.lstsq(weight[:, None] * jacobian, own, rcond=None)
    np.testing.assert_allclose(weight[:, None] * jacobian @ shares, own,
                               atol=1e-4 * (1 + np.abs(torque).max()))


@given(powered_robots(), vectors(3, 1.0), st.integers(0, 2**32 - 1))
def test_friction_is_cancelled_where_the_motors_span_the_platform(robot, twist, seed):
    rng = np.random.default_rng(seed)
    n = robot.count
    robot = replace(robot, steered=True, driven=True,
                    friction=Friction(*rng.uniform(0, 0.1, (5, n)), smoothing=0.2))
    steering = rng.uniform(-7, 7, n)
    torque = friction_compensation(robot, steering, twist, smoothing=0.2)
    free = replace(robot, friction=Friction())
    np.testing.assert_allclose(
        forward_dynamics(robot, steering, twist, torque),
        forward_dynamics(free, steering, twist, np.zeros(robot.efforts)), atol=1e-9)


@given(powered_robots(), st.integers(0, 2**32 - 1))
def test_rank_is_that_of_the_joint_jacobian_of_the_motors(robot, seed):
    rng = np.random.default_rng(seed)
    steering = rng.choice([0.0, np.pi / 2, rng.uniform(-3, 3)], robot.count)
    rows = joint_jacobian(robot, steering)[robot.actuated]
    scale = np.concatenate([robot.wheel_radius, robot.caster_offset])[robot.actuated]
    pose = singularity(robot, steering)
    assert pose.rank == np.linalg.matrix_rank(scale[:, None] * rows, tol=1e-7)
    lost = pose.unactuated_direction
    if pose.rank < 3:
        assert np.abs(scale[:, None] * rows @ lost).max() < 1e-6 * (1 + np.abs(lost).max())


@given(vectors(4, 7.0))
def test_a_base_on_powered_casters_is_never_singular(steering):
    pose = singularity(POWERED, steering)
    assert pose.rank == 3 and pose.sigma_min > 0.5
    assert len(scaled_wheel_jacobian(POWERED, steering)) == 8


@pytest.mark.parametrize('weight', [0.0, VIRTUAL_STEERING_WEIGHT])
def test_a_powered_base_reaches_any_acceleration_at_parallel_casters(weight):
    state = np.zeros(4), np.zeros(3), [0.5, 0.2, 0.4]
    torque = inverse_dynamics(POWERED, *state, weight)
    smooth = replace(POWERED, friction=Friction())
    assert np.abs(unreached_acceleration(smooth, *state, torque)).max() < 1e-5
    assert np.all(np.abs(torque[POWERED.actuated]) < POWERED.effort_limit[POWERED.actuated])


def test_passive_casters_have_efforts_of_the_wheels_alone():
    robot = load('c3p')
    assert robot.efforts == 3 and robot.actuated.tolist() == [True] * 3
    assert robot.effort_joints == robot.wheel_joints
    mixed = replace(robot, steered=[False, True, False], steering_torque_limit=2.0)
    assert mixed.actuated.tolist() == [True, True, True, False, True, False]
    assert mixed.effort_joints == robot.wheel_joints + robot.steering_joints
    assert torque_bounds(mixed)[3:].tolist() == [0, pytest.approx(1.504, abs=1e-3), 0]


def test_a_steered_caster_without_offset_is_refused_with_the_reason():
    # modules are described, and the equations of motion of casters refuse them
    robot = replace(POWERED, caster_offset=0.0)
    n = robot.count
    with pytest.raises(ModelError, match=re.escape(
            f'robot {robot.name}: the dynamics not possible, because all wheels are without '
            'offset (d = 0): casters behind their pivots with all encoders are needed; the '
            'controller modules drives the robot')):
        forward_dynamics(robot, np.zeros(n), np.zeros(3), np.zeros(robot.efforts))
