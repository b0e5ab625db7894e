# SPDX-License-Identifier: Apache-2.0
"""
The equations of motion against Pinocchio's tree algorithms, projected on the rolling constraints.

The tree knows nothing of the ground: a planar base, a steering and a wheel joint for each caster.
With q̇ = Jν from the velocities of the contact points, taken from Pinocchio too,
``M = JᵀM_qJ`` and ``G = Jᵀ(M_q J̇ν + nle)``.
"""

from dataclasses import replace

import numpy as np
import pytest
from unequal_casters import random_robot, random_state

from c3p_description.model import Friction
from c3p_dynamics.caster_dynamics import bias, forward_dynamics, inverse_dynamics, mass_matrix
from c3p_kinematics.casters import steering_jacobian, wheel_jacobian

pin = pytest.importorskip('pinocchio')

Z = np.array([0.0, 0.0, 1.0])

# relative to the largest entry: rounding of two ways through a few dozen operations each
TOLERANCE = 1e-11


def body(mass, yaw_inertia, com):
    """Return a body that only turns about Z; its other inertias cannot matter."""
    return pin.Inertia(mass, np.array([*com, 0.0]), np.diag([1.0, 1.0, yaw_inertia]))


def tree_of(robot):
    """Return the model: base (vx, vy, ω), then for each caster steering and wheel, depth first."""
    model = pin.Model()
    model.gravity.linear = np.zeros(3)
    base = model.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), 'base')
    model.appendBodyToJoint(base, body(robot.platform_mass, robot.platform_inertia,
                                       robot.platform_com), pin.SE3.Identity())
    for i, hip in enumerate(robot.hip_position):
        at = pin.SE3(np.eye(3), np.array([*hip, 0.0]))
        steer = model.addJoint(base, pin.JointModelRZ(), at, f'steering_{i}')
        model.appendBodyToJoint(steer, body(robot.link_mass[i], robot.link_inertia[i],
                                            (0, -robot.link_com[i])), pin.SE3.Identity())
        # the wheel is round: equal inertias about both of its diameters
        at = pin.SE3(np.eye(3), np.array([0.0, -robot.caster_offset[i], 0.0]))
        wheel = model.addJoint(steer, pin.JointModelRX(), at, f'wheel_{i}')
        yaw = robot.wheel_yaw_inertia[i]
        model.appendBodyToJoint(wheel, pin.Inertia(
            robot.wheel_mass[i], np.zeros(3), np.diag([robot.wheel_spin_inertia[i], yaw, yaw])),
            pin.SE3.Identity())
    return model


def configuration(model, steering):
    q = pin.neutral(model)
    q[4::2] = steering
    return q


def constraint_rows(robot, model, data, q):
    """Return A(q) of ``A q̇ = 0``: velocities of the wheels' lowest points, along and across."""
    pin.computeJointJacobians(model, data, q)
    rows = []
    for i in range(robot.count):
        wheel = model.getJointId(f'wheel_{i}')
        jacobian = pin.getJointJacobian(model, data, wheel, pin.LOCAL_WORLD_ALIGNED)
        down = -robot.wheel_radius[i] * Z
        point = jacobian[:3] - pin.skew(down) @ jacobian[3:]
        rows += [point[0], point[1]]
    return np.array(rows)


def velocity_map(robot, model, data, q):
    """Return J(q) of ``q̇ = J ν``; the base's own rates are ν."""
    rows = constraint_rows(robot, model, data, q)
    return np.vstack([np.eye(3), np.linalg.solve(rows[:, 3:], -rows[:, :3])])


def drift_of(robot, model, data, q, rates):
    """Return Ȧ q̇ of ``A q̇ = 0``: accelerations of the contact points at q̈ = 0."""
    pin.forwardKinematics(model, data, q, rates, np.zeros(model.nv))
    drift = []
    for i in range(robot.count):
        wheel = model.getJointId(f'wheel_{i}')
        centre = pin.getClassicalAcceleration(model, data, wheel, pin.LOCAL_WORLD_ALIGNED)
        down = -robot.wheel_radius[i] * Z
        drift += list((centre.linear + np.cross(centre.angular, down))[:2])
    return np.array(drift)


def friction_of(robot, model, data, q, rates):
    """Return the tree's joint torques of pivot, rolling and scrub friction."""
    pivot_viscous, pivot_dry, roll_viscous, roll_dry, scrub_dry, smoothing = robot.losses.T
    steer, wheel = rates[3::2], rates[4::2]
    torque = np.zeros(model.nv)
    torque[3::2] = -pivot_viscous * steer - pivot_dry * np.tanh(steer / smoothing)
    torque[4::2] = -roll_viscous * wheel - roll_dry * np.tanh(wheel / smoothing)
    # scrub is a moment of the ground on the wheel, about Z
    pin.computeJointJacobians(model, data, q)
    for i in range(robot.count):
        jacobian = pin.getJointJacobian(model, data, model.getJointId(f'wheel_{i}'),
                                        pin.LOCAL_WORLD_ALIGNED)
        yaw = jacobian[5]
        torque += yaw * -scrub_dry[i] * np.tanh(yaw @ rates / smoothing[i])
    return torque


@pytest.mark.parametrize('seed', range(20))
def test_mass_and_bias_equal_the_projected_tree(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, count=2 + seed % 5)
    steering, nu, _ = random_state(rng, robot)
    model = tree_of(robot)
    data = model.createData()
    q = configuration(model, steering)
    jacobian = velocity_map(robot, model, data, q)
    mass = pin.crba(model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    expected = jacobian.T @ mass @ jacobian
    np.testing.assert_allclose(mass_matrix(robot, steering), expected, rtol=0,
                               atol=TOLERANCE * np.abs(expected).max())

    # J̇ν without differences: differentiate A q̇ = 0 along the motion, A q̈ + Ȧ q̇ = 0, at ν̇ = 0;
    # Ȧ q̇ is the classical acceleration of the contact points of the wheels at q̈ = 0, but with the
    # point staying below the axle rather than turning with the wheel
    rates = jacobian @ nu
    drift = drift_of(robot, model, data, q, rates)
    rows = constraint_rows(robot, model, data, q)
    drift = np.concatenate([np.zeros(3), np.linalg.solve(rows[:, 3:], -drift)])
    nle = pin.nonLinearEffects(model, data, q, rates)
    expected = jacobian.T @ (mass @ drift + nle)
    np.testing.assert_allclose(bias(robot, steering, nu), expected, rtol=0,
                               atol=TOLERANCE * np.abs(expected).max())


def test_rolling_constraints_of_the_tree_are_the_jacobians_of_the_kinematics():
    rng = np.random.default_rng(99)
    robot = random_robot(rng, count=4)
    steering, _, _ = random_state(rng, robot)
    model = tree_of(robot)
    jacobian = velocity_map(robot, model, model.createData(), configuration(model, steering))
    # a wheel rolls forward, along +Y, when it turns about −X
    np.testing.assert_allclose(-jacobian[4::2], wheel_jacobian(robot, steering), atol=1e-12)
    np.testing.assert_allclose(jacobian[3::2], steering_jacobian(robot, steering), atol=1e-12)


@pytest.mark.parametrize('seed', range(15))
def test_forward_dynamics_with_friction_equal_the_tree_held_by_contact_forces(seed):
    rng = np.random.default_rng(100 + seed)
    robot = random_robot(rng, count=2 + seed % 5)
    # every third robot has steering motors, too
    robot = replace(robot, friction=Friction(*rng.uniform(0, 0.1, (5, robot.count)),
                                             smoothing=0.1), steered=seed % 3 == 0)
    steering, nu, _ = random_state(rng, robot)
    torque = rng.uniform(-2, 2, robot.efforts)
    model = tree_of(robot)
    data = model.createData()
    q = configuration(model, steering)
    rates = velocity_map(robot, model, data, q) @ nu
    rows, drift = (constraint_rows(robot, model, data, q),
                   drift_of(robot, model, data, q, rates))
    mass = pin.crba(model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    applied = friction_of(robot, model, data, q, rates)
    # a wheel rolls forward when it turns about −X
    applied[4::2] -= torque[:robot.count]
    if robot.efforts > robot.count:
        applied[3::2] += torque[robot.count:]
    nle = pin.nonLinearEffects(model, data, q, rates)
    system = np.block([[mass, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    solved = np.linalg.solve(system, np.concatenate([applied - nle, -drift]))
    expected, got = solved[:3], forward_dynamics(robot, steering, nu, torque)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize('seed', range(10))
def test_inverse_dynamics_are_the_trees_newton_euler_torques_projected(seed):
    rng = np.random.default_rng(200 + seed)
    robot = random_robot(rng, count=3 + seed % 4)
    steering, nu, accel = random_state(rng, robot)
    model = tree_of(robot)
    data = model.createData()
    q = configuration(model, steering)
    jacobian = velocity_map(robot, model, data, q)
    rates = jacobian @ nu
    rows, drift = (constraint_rows(robot, model, data, q),
                   drift_of(robot, model, data, q, rates))
    accels = jacobian @ accel
    accels[3:] -= np.linalg.solve(rows[:, 3:], drift)
    force = jacobian.T @ pin.rnea(model, data, q, rates, accels)
    torque = inverse_dynamics(robot, steering, nu, accel, 0.0)
    got = wheel_jacobian(robot, steering).T @ torque
    np.testing.assert_allclose(got, force, rtol=0, atol=1e-9 * np.abs(force).max())
