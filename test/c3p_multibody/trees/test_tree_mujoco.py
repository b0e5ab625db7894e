# SPDX-License-Identifier: Apache-2.0
"""A branched tree against MuJoCo, which shares no code with Pinocchio."""

import numpy as np
import pytest
from random_trees import random_state, random_tree

from c3p_multibody.trees import aba, bias, crba

mujoco = pytest.importorskip('mujoco')


def quaternion(rotation):
    out = np.empty(4)
    mujoco.mju_mat2Quat(out, np.ascontiguousarray(rotation).ravel())
    return out


def mujoco_model(tree):
    """Return the tree in MuJoCo; its joints stand in the depth-first order."""
    spec = mujoco.MjSpec()
    spec.option.gravity = tree.gravity
    spec.compiler.autolimits = False
    spec.compiler.inertiafromgeom = False
    made = {-1: spec.worldbody}
    for k in tree.order:
        joint, body = tree.joints[k], tree.bodies[k]
        kind = (mujoco.mjtJoint.mjJNT_HINGE if joint.kind == 'revolute'
                else mujoco.mjtJoint.mjJNT_SLIDE)
        xx, yy, zz, xy, xz, yz = body.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        made[k] = made[int(tree.lower[k])].add_body(
            name=body.name, pos=joint.translation, quat=quaternion(joint.rotation),
            mass=body.mass, ipos=body.com, fullinertia=[xx, yy, zz, xy, xz, yz],
            explicitinertial=True)
        made[k].add_joint(name=joint.name, type=kind, axis=joint.axis)
    return spec.compile()


@pytest.mark.parametrize('seed', [1, 2, 3])
def test_inertia_bias_and_acceleration_equal_mujocos(seed):
    tree = random_tree(seed, 10)
    q, qd, tau = random_state(tree, seed)
    model = mujoco_model(tree)
    data = mujoco.MjData(model)
    at = [model.joint(name).dofadr[0] for name in tree.names]
    data.qpos[at], data.qvel[at], data.qfrc_applied[at] = q, qd, tau
    mujoco.mj_forward(model, data)
    whole = np.empty((model.nv, model.nv))
    mujoco.mj_fullM(model, data, whole)
    # MuJoCo turns the inertia to its main axes, which costs some digits
    expected = whole[np.ix_(at, at)]
    np.testing.assert_allclose(crba(tree, q), expected, rtol=0, atol=1e-9 * expected.max())
    expected = data.qfrc_bias[at]
    np.testing.assert_allclose(bias(tree, q, qd), expected, rtol=0,
                               atol=1e-9 * np.abs(expected).max())
    expected = data.qacc[at]
    np.testing.assert_allclose(aba(tree, q, qd, tau), expected, rtol=0,
                               atol=1e-8 * np.abs(expected).max())
