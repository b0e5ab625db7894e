# SPDX-License-Identifier: Apache-2.0
"""Random trees in any numbering, and the same trees in Pinocchio, shared by the tests."""

import cmath
from functools import cache

import numpy as np
from hypothesis import strategies as st

from c3p_kernels.elementary import circle
from c3p_kernels.specialise import as_python, specialise
from c3p_multibody.trees import Body, Joint, Tree
from c3p_multibody.trees._motion_kernels import FRAME, MOTION, TOTALS, WIDTH, jacobian, observe

AXES = np.vstack([np.eye(3), -np.eye(3)])


def rotation(rng):
    """Return a random rotation, sometimes one that only exchanges axes."""
    if rng.random() < 0.3:
        r = np.eye(3)[rng.permutation(3)]
        return r * np.array([1, 1, np.linalg.det(r)])[:, None]
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.array([1, 1, np.linalg.det(q)])


def body(rng, name):
    """Return a body with an inertia that some mass distribution has."""
    moments = rng.uniform(0.01, 0.3, 3)
    # ∫x², ∫y², ∫z² of the mass: the triangle rule holds
    turn = rotation(rng)
    inertia = turn @ np.diag(moments.sum() - moments) @ turn.T
    return Body(name, rng.uniform(0.2, 3), rng.uniform(-0.4, 0.4, 3), inertia)


def joint(rng, name, kinds=('revolute', 'revolute', 'prismatic')):
    """Return a joint at a random place; every second axis is one of the coordinate axes."""
    axis = AXES[rng.integers(6)] if rng.random() < 0.5 else rng.normal(size=3)
    return Joint(name, str(rng.choice(kinds)), axis, rotation(rng), rng.uniform(-0.5, 0.5, 3))


def connection(rng, count, reach=None):
    """Return L(k) in a random numbering; `reach` 1 makes a chain, None a random tree."""
    low = [-1] + [int(rng.integers(max(-1, k - (reach or k + 1)), k)) for k in range(1, count)]
    if reach == 1:
        low = list(range(-1, count - 1))
    number = rng.permutation(count)
    shuffled = np.empty(count, int)
    for k in range(count):
        shuffled[number[k]] = number[low[k]] if low[k] >= 0 else -1
    return shuffled


# trees are kept: tests that draw their seed from SEEDS share them, and none needs more than all
SEEDS = st.integers(0, 39)


@cache
def random_tree(seed, count=None, reach=None, **more):
    """Return a tree with `count` bodies (or 1 to 12), numbered at random."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 13)) if count is None else count
    return Tree.from_connection(
        connection(rng, count, reach), [joint(rng, f'j{k}', **more) for k in range(count)],
        [body(rng, f'b{k}') for k in range(count)], rng.uniform(-10, 10, 3))


def random_state(tree, seed, vectors=3):
    """Return q, q̇, q̈ (or τ), …"""
    return np.random.default_rng(10_000 + seed).uniform(-2, 2, (vectors, tree.count))


def complex_circle(angle):
    return cmath.cos(angle), cmath.sin(angle)


def observed_complex(tree, q, qd):
    """Return frames, motion and totals of a complex state, by the kernel's own source."""
    n = tree.count
    out = [np.zeros(shape, complex) for shape in ((1, n, FRAME), (1, n, MOTION), (1, TOTALS))]
    specialise(observe, {circle: complex_circle}, as_python)(
        tree.arrays, q[None], qd[None], np.zeros((n, WIDTH), complex), *out)
    return [part[0] for part in out]


def complex_jacobian(tree, q, number, point):
    """Return the Jacobian (6, n) of a point in inner axes at a complex q."""
    frames, _, _ = observed_complex(tree, q, np.zeros(tree.count, complex))
    out = np.zeros((6, tree.count), complex)
    specialise(jacobian, {}, as_python)(tree.arrays.links, frames, number, point, out)
    return out


# a derivative along the imaginary axis has no difference of near numbers in it: exact to rounding
STEP = 1e-30


def pinocchio_model(tree):
    """Return the same tree in Pinocchio, joints added depth first, so in ``tree.order``."""
    import pinocchio as pin

    model, made = pin.Model(), {-1: 0}
    model.gravity.linear = tree.gravity
    for k in tree.order:
        j, b = tree.joints[k], tree.bodies[k]
        kind = (pin.JointModelRevoluteUnaligned if j.kind == 'revolute'
                else pin.JointModelPrismaticUnaligned)
        made[k] = model.addJoint(made[int(tree.lower[k])], kind(np.asarray(j.axis)),
                                 pin.SE3(j.rotation, j.translation), j.name)
        model.appendBodyToJoint(made[k], pin.Inertia(b.mass, b.com, b.inertia),
                                pin.SE3.Identity())
    return model
