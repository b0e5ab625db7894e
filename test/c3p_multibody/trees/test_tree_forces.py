# SPDX-License-Identifier: Apache-2.0
"""Joint wrenches, momentum and energy against Newton's and Euler's laws, body by body."""

import numpy as np
from hypothesis import given
from random_trees import SEEDS, STEP, observed_complex, random_state, random_tree

from c3p_multibody.trees import (
    aba_into,
    aba_workspace,
    body_velocity,
    forward_kinematics,
    joint_wrenches,
    kinetic_energy,
    momentum,
    point_bias_acceleration,
    point_jacobian,
    potential_energy,
    rnea,
)


def motion_of_masses(tree, q, qd, qdd, k):
    """Return rotation, centre of mass, its acceleration, ω and α of body k, by its Jacobian."""
    body = tree.bodies[k]
    accel = (point_jacobian(tree, q, k, body.com) @ qdd
             + point_bias_acceleration(tree, q, qd, k, body.com))
    poses = forward_kinematics(tree, q)
    turn = poses.rotation[k]
    return (turn, poses.translation[k] + turn @ body.com, accel[:3],
            body_velocity(tree, q, qd)[k, 3:], accel[3:])


@given(SEEDS)
def test_joint_wrenches_balance_each_body(seed):
    tree = random_tree(seed, 1 + seed % 7)
    q, qd, qdd = random_state(tree, seed)
    external = np.random.default_rng(seed).uniform(-5, 5, (tree.count, 6))
    wrench = joint_wrenches(tree, q, qd, qdd, external)
    origins = forward_kinematics(tree, q).translation
    for k, body in enumerate(tree.bodies):
        turn, centre, accel, omega, alpha = motion_of_masses(tree, q, qd, qdd, k)
        force = wrench[k, :3] + external[k, :3] + body.mass * tree.gravity
        # moments about the centre of mass
        moment = (wrench[k, 3:] + external[k, 3:]
                  + np.cross(origins[k] - centre, wrench[k, :3] + external[k, :3]))
        for above in np.flatnonzero(tree.lower == k):
            force -= wrench[above, :3]
            moment -= wrench[above, 3:] + np.cross(origins[above] - centre, wrench[above, :3])
        inertia = turn @ body.inertia @ turn.T
        scale = 1e-12 * (1 + np.abs(wrench).max())
        np.testing.assert_allclose(force, body.mass * accel, rtol=0, atol=scale)
        np.testing.assert_allclose(
            moment, inertia @ alpha + np.cross(omega, inertia @ omega), rtol=0, atol=scale)


@given(SEEDS)
def test_component_of_the_wrench_along_the_joint_is_the_torque(seed):
    tree = random_tree(seed)
    q, qd, qdd = random_state(tree, seed)
    wrench, tau = joint_wrenches(tree, q, qd, qdd), rnea(tree, q, qd, qdd)
    turns = forward_kinematics(tree, q).rotation
    for k, joint in enumerate(tree.joints):
        axis = turns[k] @ joint.axis
        part = wrench[k, 3:] if joint.kind == 'revolute' else wrench[k, :3]
        np.testing.assert_allclose(axis @ part, tau[k], rtol=0,
                                   atol=1e-12 * (1 + np.abs(wrench).max()))


@given(SEEDS)
def test_momentum_changes_by_weight_external_wrenches_and_the_worlds_joints(seed):
    tree = random_tree(seed, 1 + seed % 5)
    q, qd, qdd = random_state(tree, seed)
    external = np.random.default_rng(seed).uniform(-5, 5, (tree.count, 6))
    # d/dt along (q̇, q̈)
    _, _, totals = observed_complex(tree, q + 1j * STEP * qd, qd + 1j * STEP * qdd)
    rate = totals[2:].imag / STEP
    poses = forward_kinematics(tree, q)
    wrench = joint_wrenches(tree, q, qd, qdd, external)
    wrench[tree.lower >= 0] = 0.0
    expected = np.zeros(6)
    for k, body in enumerate(tree.bodies):
        centre = poses.translation[k] + poses.rotation[k] @ body.com
        both, weight = wrench[k] + external[k], body.mass * tree.gravity
        expected[:3] += both[:3] + weight
        expected[3:] += (both[3:] + np.cross(poses.translation[k], both[:3])
                         + np.cross(centre, weight))
    np.testing.assert_allclose(rate, expected, rtol=0, atol=1e-12 * (1 + np.abs(wrench).max()))
    np.testing.assert_allclose(totals[2:].real, momentum(tree, q, qd), rtol=1e-12, atol=1e-12)


@given(SEEDS)
def test_energy_changes_by_the_power_of_the_joints(seed):
    tree = random_tree(seed, 1 + seed % 5)
    q, qd, qdd = random_state(tree, seed)
    _, _, totals = observed_complex(tree, q + 1j * STEP * qd, qd + 1j * STEP * qdd)
    tau = rnea(tree, q, qd, qdd)
    np.testing.assert_allclose(totals[:2].imag.sum() / STEP, tau @ qd, rtol=0,
                               atol=1e-12 * (1 + np.abs(tau).max()))


def test_momentum_is_the_sum_over_the_bodies():
    tree = random_tree(3, 8)
    q, qd, _ = random_state(tree, 3)
    poses, speeds = forward_kinematics(tree, q), body_velocity(tree, q, qd)
    total, heights = np.zeros(6), 0.0
    for k, body in enumerate(tree.bodies):
        turn = poses.rotation[k]
        arm = turn @ body.com
        linear = body.mass * (speeds[k, :3] + np.cross(speeds[k, 3:], arm))
        total[:3] += linear
        total[3:] += (np.cross(poses.translation[k] + arm, linear)
                      + turn @ body.inertia @ turn.T @ speeds[k, 3:])
        heights -= body.mass * tree.gravity @ (poses.translation[k] + arm)
    np.testing.assert_allclose(momentum(tree, q, qd), total, rtol=0, atol=1e-12)
    np.testing.assert_allclose(potential_energy(tree, q), heights, rtol=0, atol=1e-12)


def energy_errors(tree, step, count):
    """Return the largest relative error of the energy of a free motion by RK4."""
    q, qd = 0.3 * random_state(tree, 1, 2)[:, None]
    work, none, still = aba_workspace(tree), np.zeros((1, 0, 6)), np.zeros((1, tree.count))
    start = kinetic_energy(tree, q, qd) + potential_energy(tree, q)

    def rate(q, qd):
        qdd = np.empty_like(q)
        assert aba_into(tree, work, q, qd, still, none, qdd) == (-1, -1)
        return qd, qdd

    worst, scale = 0.0, 0.0
    for _ in range(count):
        a = rate(q, qd)
        b = rate(q + 0.5 * step * a[0], qd + 0.5 * step * a[1])
        c = rate(q + 0.5 * step * b[0], qd + 0.5 * step * b[1])
        d = rate(q + step * c[0], qd + step * c[1])
        q, qd = (x + step / 6 * (k + 2 * l + 2 * m + n)
                 for x, k, l, m, n in zip((q, qd), a, b, c, d, strict=True))
        kinetic = kinetic_energy(tree, q, qd)
        scale = max(scale, abs(kinetic[0]))
        worst = max(worst, abs(kinetic + potential_energy(tree, q) - start)[0])
    return worst / scale


def test_free_motion_keeps_its_energy_to_the_order_of_the_integrator():
    tree = random_tree(11, 5, kinds=('revolute',))
    coarse, fine = energy_errors(tree, 2e-3, 200), energy_errors(tree, 1e-3, 400)
    # fourth order: a step half as long leaves at most a tenth (in the limit 1/16 to 1/32)
    assert fine < 1e-7
    assert fine < 0.1 * coarse
