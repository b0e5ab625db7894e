# SPDX-License-Identifier: Apache-2.0
"""
A hundred random trees in random numberings against Pinocchio.

`pin.crba` fills a wrong matrix, and says nothing, unless joints were added depth first: the oracle
is built in ``tree.order``, and its results are put back into the user's.
"""

import numpy as np
import pytest
from random_trees import pinocchio_model, random_state, random_tree

from c3p_multibody.trees import (
    aba,
    body_velocity,
    crba,
    forward_composite,
    forward_kinematics,
    kinetic_energy,
    momentum,
    point_bias_acceleration,
    point_jacobian,
    potential_energy,
    rnea,
)

pin = pytest.importorskip('pinocchio')

# relative to the largest entry (to 1 where all are smaller); the largest seen is 3e-15
TOLERANCE = 1e-13
SEEDS = range(100)


def close(got, expected):
    expected = np.asarray(expected)
    np.testing.assert_allclose(got, expected, rtol=0,
                               atol=TOLERANCE * max(1.0, np.abs(expected).max()))


class Oracle:
    """A tree, a state of it, and Pinocchio's model with the state in its order."""

    def __init__(self, seed):
        self.tree = random_tree(seed)
        self.state = random_state(self.tree, seed)
        self.model = pinocchio_model(self.tree)
        self.data = self.model.createData()
        self.inner = self.state[:, self.tree.order]
        self.back = np.argsort(self.tree.order)


@pytest.fixture(scope='module')
def oracles():
    return [Oracle(seed) for seed in SEEDS]


def test_inverse_dynamics(oracles):
    for o in oracles:
        close(rnea(o.tree, *o.state), pin.rnea(o.model, o.data, *o.inner)[o.back])


def test_inertia_matrix(oracles):
    for o in oracles:
        upper = np.triu(pin.crba(o.model, o.data, o.inner[0]))
        whole = upper + np.triu(upper, 1).T
        close(crba(o.tree, o.state[0]), whole[np.ix_(o.back, o.back)])


@pytest.mark.parametrize('method', [aba, forward_composite])
def test_forward_dynamics(oracles, method):
    for o in oracles:
        # what is compared is as exact as the inertia matrix is well conditioned
        close(method(o.tree, *o.state), pin.aba(o.model, o.data, *o.inner)[o.back])


def test_external_wrenches(oracles):
    rng = np.random.default_rng(5)
    for o in oracles[:30]:
        external = rng.uniform(-5, 5, (o.tree.count, 6))
        pin.forwardKinematics(o.model, o.data, o.inner[0])
        forces = pin.StdVec_Force()
        forces.append(pin.Force.Zero())
        for i, k in enumerate(o.tree.order):
            turn = o.data.oMi[i + 1].rotation.T
            forces.append(pin.Force(turn @ external[k, :3], turn @ external[k, 3:]))
        close(rnea(o.tree, *o.state, external),
              pin.rnea(o.model, o.data, *o.inner, forces)[o.back])
        expected = pin.aba(o.model, o.data, *o.inner, forces)[o.back]
        close(aba(o.tree, *o.state, external), expected)
        close(forward_composite(o.tree, *o.state, external), expected)


def test_poses_velocities_and_bias_accelerations(oracles):
    for o in oracles:
        pin.forwardKinematics(o.model, o.data, *o.inner[:2], np.zeros(o.tree.count))
        poses, moving = forward_kinematics(o.tree, o.state[0]), body_velocity(o.tree, *o.state[:2])
        for i, k in enumerate(o.tree.order, 1):
            close(poses.rotation[k], o.data.oMi[i].rotation)
            close(poses.translation[k], o.data.oMi[i].translation)
            twist = pin.getVelocity(o.model, o.data, i, pin.LOCAL_WORLD_ALIGNED)
            close(moving[k], np.concatenate([twist.linear, twist.angular]))
            accel = pin.getClassicalAcceleration(o.model, o.data, i, pin.LOCAL_WORLD_ALIGNED)
            close(point_bias_acceleration(o.tree, *o.state[:2], int(k)),
                  np.concatenate([accel.linear, accel.angular]))


def test_jacobians(oracles):
    for o in oracles:
        pin.computeJointJacobians(o.model, o.data, o.inner[0])
        for i, k in enumerate(o.tree.order[-3:], o.tree.count + 1 - len(o.tree.order[-3:])):
            expected = pin.getJointJacobian(o.model, o.data, i, pin.LOCAL_WORLD_ALIGNED)
            # (6,) for a tree of one body
            close(point_jacobian(o.tree, o.state[0], int(k)), expected.reshape(6, -1)[:, o.back])


def test_energies_and_momentum(oracles):
    for o in oracles:
        q, qd = o.inner[:2]
        close(kinetic_energy(o.tree, *o.state[:2]), pin.computeKineticEnergy(o.model, o.data, q,
                                                                            qd))
        # a difference of heights: its parts are larger than the whole
        np.testing.assert_allclose(potential_energy(o.tree, o.state[0]),
                                   pin.computePotentialEnergy(o.model, o.data, q), atol=1e-11)
        about_com = pin.computeCentroidalMomentum(o.model, o.data, q, qd)
        total = momentum(o.tree, *o.state[:2])
        arm = np.cross(o.data.com[0], about_com.linear)
        close(total, np.concatenate([about_com.linear, about_com.angular + arm]))
