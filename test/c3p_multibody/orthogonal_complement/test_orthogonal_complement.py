# SPDX-License-Identifier: Apache-2.0
"""The natural orthogonal complement: one way to the caster robot, the AGV and others."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from assemblies import caster_robot_assembly, differential_drive_assembly
from hypothesis import given, settings
from hypothesis import strategies as st
from unequal_casters import random_robot, random_state

from c3p_description import load
from c3p_dynamics import caster_dynamics
from c3p_kinematics.casters import inverse
from c3p_multibody.agv import dynamics as closed
from c3p_multibody.agv.bodies import (
    FORK,
    GROUND,
    PLATFORM,
    agv_assembly,
    constraint_matrix,
    joint_maps,
    wheel_loads,
)
from c3p_multibody.agv.kinematics import caster_rates, rates_to_twist
from c3p_multibody.constraints import svd_basis
from c3p_multibody.orthogonal_complement import (
    bodies,
    constraint_forces,
    constraint_rank,
    constraint_wrench,
    generalized_angular_velocity,
    generalized_mass,
    reduce,
    revolute_rows,
    rolling_rows,
    twist_map,
)

sys.path.insert(0, str(Path(__file__).parents[1] / 'agv'))
from random_agv import CASTERS, RATES, agvs  # noqa: E402

AGV = load('agv')
SEEDS = st.integers(0, 2**32 - 1)
# the bar for agreement with closed forms, relative to the largest term
TOLERANCE = 1e-12


def assert_reduced(found, speeds, mass, force):
    """I and C·speeds equal what is given, relative to the largest terms of each sum."""
    np.testing.assert_allclose(found.inertia, mass, rtol=0, atol=TOLERANCE * np.abs(mass).max())
    terms = (np.abs(found.convective) @ np.abs(speeds)).max()
    np.testing.assert_allclose(found.convective @ speeds, force, rtol=0,
                               atol=TOLERANCE * max(terms, np.abs(force).max()))


@given(seed=SEEDS, count=st.integers(2, 5))
def test_caster_robot_from_its_bodies_equals_the_closed_form(seed, count):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, count)
    steering, twist, _ = random_state(rng, robot)
    found = caster_robot_assembly(robot, steering, twist).reduced()
    assert_reduced(found, twist, caster_dynamics.mass_matrix(robot, steering),
                   caster_dynamics.bias(robot, steering, twist))


@given(agv=agvs(), psi=CASTERS, rates=RATES)
def test_agv_from_its_five_bodies_equals_the_closed_form(agv, psi, rates):
    found = agv_assembly(agv, psi, rates).reduced()
    assert_reduced(found, np.array(rates), closed.mass_matrix(agv, psi),
                   closed.bias(agv, psi, rates))


@given(seed=SEEDS)
def test_differential_drive_from_its_bodies_equals_the_closed_form(seed):
    rng = np.random.default_rng(seed)
    track, radius, (x, y), (mass, yaw), (wheel, spin, across) = (
        rng.uniform(0.2, 1), rng.uniform(0.03, 0.2), rng.uniform(-0.3, 0.3, 2),
        rng.uniform(0.5, 20, 2), np.array([3.0, 0.02, 0.012]) * rng.uniform(0.5, 1.0, 3))
    rates = rng.normal(size=2) * 10
    found = differential_drive_assembly(track, radius, (x, y), (mass, yaw), (wheel, spin, across),
                                        rates).reduced()
    # in (v, ω) of the middle of the axle, from Newton and Euler by hand
    heavy = wheel + spin / radius**2
    inertia = np.array([[mass + 2 * heavy, -mass * y],
                        [-mass * y, yaw + mass * (x**2 + y**2) + heavy * track**2 / 2
                         + 2 * across]])
    to_rates = np.array([[radius / 2, radius / 2], [-radius / track, radius / track]])
    v, w = to_rates @ rates
    force = mass * w * x * np.array([-w, v])
    assert_reduced(found, rates, to_rates.T @ inertia @ to_rates, to_rates.T @ force)


def turned(angle, matrix):
    """Every 3-vector of a (6p, n) matrix turned about the vertical."""
    c, s = math.cos(angle), math.sin(angle)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return (turn @ matrix.reshape(-1, 3, matrix.shape[-1])).reshape(matrix.shape)


@settings(max_examples=25)
@given(agv=agvs(), psi=CASTERS, rates=RATES)
def test_rate_of_the_agvs_twists_is_their_difference_in_fixed_axes(agv, psi, rates):
    turn, yaw = caster_rates(agv, psi, rates)[1], rates_to_twist(agv, rates)[2]
    h = 1e-5 / (1 + abs(turn) + abs(yaw))
    ahead, back = (turned(sign * h * yaw, agv_assembly(agv, psi + sign * h * turn, rates).twist)
                   for sign in (1, -1))
    found = agv_assembly(agv, psi, rates).twist_rate
    # h² of the turning, ε/h of entries up to 1e2
    np.testing.assert_allclose((ahead - back) / (2 * h), found, rtol=0,
                               atol=1e-8 * (1 + np.abs(found).max()))


@settings(max_examples=25)
@given(seed=SEEDS)
def test_rate_of_the_caster_robots_twists_is_their_difference_in_fixed_axes(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    steering, twist, _ = random_state(rng, robot)
    turn, h = inverse(robot, steering, twist)[1], 1e-6
    ahead, back = (turned(sign * h * twist[2], caster_robot_assembly(
        robot, steering + sign * h * turn, twist).twist) for sign in (1, -1))
    found = caster_robot_assembly(robot, steering, twist).twist_rate
    np.testing.assert_allclose((ahead - back) / (2 * h), found, rtol=0,
                               atol=1e-8 * (1 + np.abs(found).max()))


@settings(max_examples=25)
@given(agv=agvs(), psi=CASTERS, rates=RATES)
def test_sums_over_bodies_equal_the_printed_matrices(agv, psi, rates):
    state = agv_assembly(agv, psi, rates)
    mass = generalized_mass(state.bodies)
    turning = generalized_angular_velocity(state.twist @ rates)
    found = state.reduced()
    inertia = state.twist.T @ mass @ state.twist
    convective = state.twist.T @ (mass @ state.twist_rate + turning @ mass @ state.twist)
    for one, other in ((found.inertia, inertia), (found.convective, convective)):
        np.testing.assert_allclose(one, other, rtol=0,
                                   atol=1e-11 * (np.abs(other).max() + np.abs(rates).max()))


@settings(max_examples=25)
@given(agv=agvs(), psi=CASTERS, rates=RATES)
def test_convective_forces_do_no_work_beyond_the_change_of_inertia(agv, psi, rates):
    turn, h = caster_rates(agv, psi, rates)[1], 1e-6
    change = (closed.mass_matrix(agv, psi + h) - closed.mass_matrix(agv, psi - h)) / (2 * h) * turn
    power = np.array(rates) @ (change - 2 * agv_assembly(agv, psi, rates).reduced().convective
                               ) @ rates
    mass = np.abs(closed.mass_matrix(agv, psi)).max()
    # h² of the change, and rounding of I over h
    size = 1e-7 * np.abs(change).max() + 1e-9 * mass * (1 + abs(turn))
    assert abs(power) <= size * np.dot(rates, rates)


@settings(max_examples=25)
@given(agv=agvs(), psi=CASTERS, rates=RATES)
def test_twists_of_the_agv_are_the_complement_of_its_33_constraints(agv, psi, rates):
    matrix, twist = constraint_matrix(agv, psi), agv_assembly(agv, psi, rates).twist
    assert matrix.shape == (33, 30)
    np.testing.assert_allclose(matrix @ twist, 0, atol=1e-12)
    found = constraint_rank(matrix)
    # 30 − 2 freedoms; far from the tolerance of 1e-8
    assert found.rank == 28 and found.gap > 1e-4
    np.testing.assert_allclose(found.redundant @ matrix, 0, atol=1e-12)
    # all of the null space: T is within it and has rank two
    basis = svd_basis(matrix).basis
    assert basis.shape == (30, 2)
    np.testing.assert_allclose(basis @ (basis.T @ twist), twist, atol=1e-10)


def test_of_the_sideways_forces_of_wheels_1_and_2_only_the_sum_is_determined():
    found = constraint_rank(constraint_matrix(AGV, 0.3))
    rows = np.zeros((4, 33))
    rows[0, [GROUND, GROUND + 3]] = 1, 1
    rows[1, GROUND] = rows[2, GROUND + 3] = 1
    rows[3, [GROUND, GROUND + 3]] = 1, -1
    hidden = np.linalg.norm(found.redundant @ rows.T, axis=0)
    assert hidden[0] < 1e-12 and (hidden[1:] > 0.1).all()
    # everything else that touches the ground is determined
    loads = wheel_loads(AGV, 0.3, [-4.0, -9.0], [0.1, -0.2])
    assert loads.constraints.determined[GROUND:].tolist() == [False, True, True, False, True, True,
                                                              True, True, True]
    # the least-norm answer shares equally up to what it takes from the joints
    assert loads.constraints.residual < 1e-9


def test_without_one_of_the_rear_wheels_nothing_is_undetermined_on_the_ground():
    # rolling of wheel 2 along the axle left out: 32 rows, the same rank
    matrix = np.delete(constraint_matrix(AGV, 0.3), GROUND + 3, axis=0)
    assert constraint_rank(matrix).rank == 28
    state = agv_assembly(AGV, 0.3, [-4.0, -9.0])
    wrench = constraint_wrench(*state, [1.0, 2.0], np.zeros(30))
    # the part that Tᵀ sees is the motors', which no constraint gives
    wrench -= state.twist @ np.linalg.solve(state.twist.T @ state.twist, state.twist.T @ wrench)
    forces = constraint_forces(matrix, wrench)
    assert forces.residual < 1e-9 and forces.determined[GROUND:].all()


@settings(max_examples=25)
@given(agv=agvs(), psi=CASTERS, rates=RATES, torque=RATES)
def test_constraint_wrenches_lie_in_the_range_of_the_constraints(agv, psi, rates, torque):
    forces = wheel_loads(agv, psi, rates, torque).constraints
    assert forces.residual < 1e-9 * (1 + np.abs(forces.multipliers).max())


def test_parts_by_joints_hold_each_body_in_its_joint():
    # only the wheel that turns by it feels a passive rate
    maps = joint_maps(AGV, 0.4, [1.0, 2.0])
    passive = maps.passive.reshape(5, 6, 2)
    assert not passive[[0, 1, PLATFORM]].any() and not passive[FORK, :, 0].any()
    np.testing.assert_allclose(passive[FORK, :3, 1], [0, 0, 1])


def test_components_in_turning_axes_need_the_rate_in_both_blocks():
    # platform of the AGV: T′ is constant in its own axes, so with W as printed, zero in the
    # second block, its centripetal force m a ω² would be lost
    state = agv_assembly(AGV, 0.0, [-4.0, -9.0])
    own = slice(6 * PLATFORM, 6 * PLATFORM + 6)
    twist, speeds = state.twist[own], state.speeds
    body = bodies(state.bodies.mass[[PLATFORM]], state.bodies.inertia[[PLATFORM]])
    right = reduce(body, twist, state.twist_rate[own], speeds).convective @ speeds
    literal = reduce(body, twist, np.zeros((6, 2)), speeds).convective @ speeds
    # force −m a ω² along j, moment m a v ω
    (_, v, w), mass, a = rates_to_twist(AGV, speeds), AGV.platform_mass, AGV.axle_distance
    by_hand = np.array([-AGV.wheel_radius / 2 * -w**2, -AGV.wheel_radius / 2 * -w**2]) * mass * a
    by_hand += AGV.wheel_radius / AGV.track * mass * a * v * w * np.array([1, -1])
    np.testing.assert_allclose(right, by_hand, atol=1e-12)
    np.testing.assert_allclose(literal, 0, atol=1e-12)
    turning = generalized_angular_velocity(twist @ speeds)
    turning[3:, 3:] = turning[:3, :3]
    repaired = twist.T @ turning @ generalized_mass(body) @ twist @ speeds
    np.testing.assert_allclose(repaired, by_hand, atol=1e-12)


def test_spatial_arm_from_its_bodies_equals_pinocchio():
    pin = pytest.importorskip('pinocchio')
    model = pin.buildSampleModelManipulator()
    frames = [model.addFrame(pin.Frame(f'com_{k}', k, pin.SE3(np.eye(3), model.inertias[k].lever),
                                       pin.FrameType.OP_FRAME)) for k in range(1, model.njoints)]
    model.gravity.linear = np.zeros(3)
    data = model.createData()
    rng = np.random.default_rng(3)
    for _ in range(10):
        q, v = pin.randomConfiguration(model), rng.normal(size=model.nv)
        pin.computeJointJacobians(model, data, q)
        pin.computeJointJacobiansTimeVariation(model, data, q, v)
        pin.updateFramePlacements(model, data)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        jacobians = np.array([pin.getFrameJacobian(model, data, f, world) for f in frames])
        rates = np.array([pin.getFrameJacobianTimeVariation(model, data, f, world)
                          for f in frames])
        turns = [data.oMi[k].rotation for k in range(1, model.njoints)]
        parts = bodies([inertia.mass for inertia in list(model.inertias)[1:]],
                       [R @ inertia.inertia @ R.T for R, inertia in
                        zip(turns, list(model.inertias)[1:], strict=True)])
        # Pinocchio's order is linear first
        found = reduce(parts, twist_map(jacobians[:, 3:], jacobians[:, :3]),
                       twist_map(rates[:, 3:], rates[:, :3]), v)
        mass = pin.crba(model, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        assert_reduced(found, v, mass, pin.nonLinearEffects(model, data, q, v))


def test_rows_of_joints_and_wheels_forbid_what_they_say():
    hinge = revolute_rows(2, 0, 1, [0.5, 0, 0], [-0.5, 0, 0], [0, 0, 1])
    # the second body turns about the hinge at x = 0.5 while the first stands
    about = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0.5, 0])
    np.testing.assert_allclose(hinge @ about, 0, atol=1e-15)
    assert np.linalg.norm(hinge @ np.roll(about, -2)) > 0.5
    rolling = rolling_rows(1, 0, [0, 0, -0.1])
    np.testing.assert_allclose(rolling @ [0, 1, 0, 0.1, 0, 0], 0, atol=1e-15)
    assert np.linalg.norm(rolling @ [0, -1, 0, 0.1, 0, 0]) > 0.1


@pytest.mark.parametrize(('mass', 'inertia', 'text'), [
    ([1.0, -1.0], np.tile(np.eye(3), (2, 1, 1)), r'mass\[1\] = -1'),
    ([1.0], np.diag([1.0, 1.0, -1.0])[None], r'inertia\[0\].*positive'),
    ([1.0], np.array([[[1.0, 0.5, 0], [0, 1, 0], [0, 0, 1]]]), r'inertia\[0\].*symmetric'),
    ([1.0, 2.0], np.eye(3)[None], r'mass has shape \(2,\)')])
def test_bodies_that_cannot_be_are_named(mass, inertia, text):
    with pytest.raises(ValueError, match=text):
        bodies(mass, inertia)


def test_matrices_of_the_wrong_size_are_named():
    one = bodies([1.0], np.eye(3)[None])
    with pytest.raises(ValueError, match=r'twist has shape \(5, 2\).*6'):
        reduce(one, np.zeros((5, 2)), np.zeros((6, 2)), [0, 0])
    with pytest.raises(ValueError, match=r'speeds has shape \(3,\)'):
        reduce(one, np.zeros((6, 2)), np.zeros((6, 2)), [0, 0, 0])


def test_batches_equal_single_states():
    states = [agv_assembly(AGV, psi, [1.0, -2.0 * psi]) for psi in (0.0, 0.5, 1.0)]
    inertia = np.array([state.bodies.inertia for state in states])
    whole = reduce(bodies(states[0].bodies.mass, inertia),
                   np.array([state.twist for state in states]),
                   np.array([state.twist_rate for state in states]),
                   np.array([state.speeds for state in states]))
    for k, state in enumerate(states):
        one = state.reduced()
        np.testing.assert_allclose(whole.inertia[k], one.inertia, atol=1e-14)
        np.testing.assert_allclose(whole.convective[k], one.convective, atol=1e-14)
