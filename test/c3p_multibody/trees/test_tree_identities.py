# SPDX-License-Identifier: Apache-2.0
"""What must hold between the algorithms, over random trees, numberings and states."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_trees import SEEDS, random_state, random_tree

from c3p_kernels.specialise import as_python, specialise
from c3p_multibody.trees import (
    Tree,
    aba,
    bias,
    crba,
    factor,
    forward_composite,
    forward_kinematics,
    joint_wrenches,
    kinetic_energy,
    momentum,
    point_bias_acceleration,
    point_jacobian,
    rnea,
    solve,
)
from c3p_multibody.trees._articulated_kernels import ARTICULATED_WIDTH, articulated
from c3p_multibody.trees._force_kernels import newton_euler
from c3p_multibody.trees._inertia_kernels import (
    COMPOSITE_WIDTH,
    composite,
    factorize,
    solve_factored,
)
from c3p_multibody.trees._motion_kernels import WIDTH

# relative to the largest number that takes part
TOLERANCE = 1e-12


def close(got, expected, scale=None):
    scale = np.abs(expected).max() if scale is None else scale
    np.testing.assert_allclose(got, expected, rtol=0, atol=TOLERANCE * max(1.0, scale))


@given(SEEDS)
def test_forward_dynamics_undo_inverse_dynamics(seed):
    tree = random_tree(seed)
    q, qd, qdd = random_state(tree, seed)
    tau = rnea(tree, q, qd, qdd)
    # the error of q̈ grows with the condition of A
    scale = np.linalg.cond(crba(tree, q)) * np.abs(qdd).max()
    close(aba(tree, q, qd, tau), qdd, scale)
    close(forward_composite(tree, q, qd, tau), qdd, scale)


@given(SEEDS)
def test_kanes_generalized_forces_add_up_to_zero(seed):
    """Kelly (16), f + f* = 0, by partial velocities: without Newton-Euler or composite bodies."""
    tree = random_tree(seed)
    q, qd, qdd = random_state(tree, seed)
    poses = forward_kinematics(tree, q)
    active = rnea(tree, q, qd, qdd)
    inertial = np.zeros(tree.count)
    for k, body in enumerate(tree.bodies):
        # columns are the partial velocities of the centre of mass and of the body
        partial = point_jacobian(tree, q, body.name, body.com)
        accel = partial @ qdd + point_bias_acceleration(tree, q, qd, body.name, body.com)
        turn = partial[3:] @ qd
        inertia = poses.rotation[k] @ np.asarray(body.inertia) @ poses.rotation[k].T
        active += body.mass * partial[:3].T @ tree.gravity
        inertial -= body.mass * partial[:3].T @ accel[:3]
        inertial -= partial[3:].T @ (inertia @ accel[3:] + np.cross(turn, inertia @ turn))
    close(active + inertial, np.zeros(tree.count), np.abs(active).max() * 10)


@given(SEEDS)
def test_torque_is_linear_in_the_acceleration(seed):
    tree = random_tree(seed)
    q, qd, qdd = random_state(tree, seed)
    a = crba(tree, q)
    tau = rnea(tree, q, qd, qdd)
    close(a @ qdd + bias(tree, q, qd), tau, np.abs(a).max() * 10 + np.abs(tau).max())


@given(SEEDS)
def test_inertia_matrix_is_symmetric_positive_and_the_kinetic_energy(seed):
    tree = random_tree(seed)
    q, qd, _ = random_state(tree, seed)
    a = crba(tree, q)
    assert (a == a.T).all()
    assert np.linalg.eigvalsh(a)[0] > 0
    close(kinetic_energy(tree, q, qd), 0.5 * qd @ a @ qd)


@given(SEEDS)
def test_factor_has_the_entries_of_the_tree_and_no_others(seed):
    tree = random_tree(seed)
    q, b, c = random_state(tree, seed)
    a = crba(tree, q)
    l = factor(tree, a)
    close(l.T @ l, a)
    for k in range(tree.count):
        carriers, j = {k}, int(tree.lower[k])
        while j >= 0:
            carriers.add(j)
            j = int(tree.lower[j])
        assert set(np.flatnonzero(l[k])) <= carriers
    right = np.column_stack([b, c])
    x = solve(tree, l, right)
    close(a @ x, right, np.abs(a).max() * np.abs(x).max())
    np.testing.assert_array_equal(solve(tree, l, b), x[:, 0])


@given(SEEDS, st.randoms(use_true_random=False))
def test_numbering_does_not_matter(seed, random):
    tree = random_tree(seed)
    q, qd, qdd = random_state(tree, seed)
    new = list(range(tree.count))
    random.shuffle(new)
    # body new[k] of the second tree is body k of the first
    old = np.argsort(new)
    lower = [-1 if tree.lower[k] < 0 else new[tree.lower[k]] for k in old]
    other = Tree.from_connection(lower, [tree.joints[k] for k in old],
                                 [tree.bodies[k] for k in old], tree.gravity)
    close(rnea(other, q[old], qd[old], qdd[old])[new], rnea(tree, q, qd, qdd))
    close(crba(other, q[old])[np.ix_(new, new)], crba(tree, q))


@given(SEEDS)
def test_external_wrenches_act_through_the_jacobians(seed):
    tree = random_tree(seed, 6)
    q, qd, qdd = random_state(tree, seed)
    external = np.random.default_rng(seed).uniform(-5, 5, (tree.count, 6))
    through = sum(point_jacobian(tree, q, k).T @ external[k] for k in range(tree.count))
    tau = rnea(tree, q, qd, qdd)
    close(rnea(tree, q, qd, qdd, external), tau - through, np.abs(tau).max() + 100)


def test_batches_are_rows():
    tree = random_tree(7, 9)
    states = np.stack([random_state(tree, k) for k in range(6)], 1).reshape(3, 2, 3, 9)
    q, qd, x = states
    external = np.random.default_rng(0).uniform(-1, 1, (2, 3, 9, 6))
    for what in (lambda *s: rnea(tree, *s), lambda *s: aba(tree, *s),
                 lambda *s: forward_composite(tree, *s), lambda *s: joint_wrenches(tree, *s)):
        whole = what(q, qd, x, external)
        for at in np.ndindex(2, 3):
            np.testing.assert_array_equal(whole[at], what(q[at], qd[at], x[at], external[at]))
    for what in (lambda q, qd: crba(tree, q), lambda q, qd: point_jacobian(tree, q, 3, (1, 2, 3)),
                 lambda q, qd: forward_kinematics(tree, q).rotation,
                 lambda q, qd: momentum(tree, q, qd), lambda q, qd: kinetic_energy(tree, q, qd)):
        whole = what(q, qd)
        for at in np.ndindex(2, 3):
            np.testing.assert_allclose(whole[at], what(q[at], qd[at]), rtol=0, atol=1e-14)
    # one vector for all states
    np.testing.assert_array_equal(rnea(tree, q, qd, 0.0 * x), bias(tree, q, qd))


def as_source(kernel):
    return specialise(kernel, {}, as_python)


@pytest.mark.parametrize('seed', range(8))
def test_kernels_give_the_same_numbers_without_the_compiler(seed):
    tree = random_tree(seed)
    n = tree.count
    q, qd, x = random_state(tree, seed)[:, None]
    none = np.zeros((1, 0, 6))
    out = np.empty((1, n))
    as_source(newton_euler)(tree.arrays, q, qd, x, none, np.empty((n, WIDTH)), none, out)
    np.testing.assert_array_equal(out[0], rnea(tree, q[0], qd[0], x[0]))
    as_source(articulated)(tree.arrays, q, qd, x, none, np.empty((n, ARTICULATED_WIDTH)), out)
    np.testing.assert_array_equal(out[0], aba(tree, q[0], qd[0], x[0]))
    a, l = np.empty((2, 1, n, n))
    as_source(composite)(*tree.arrays[:2], q, np.empty((n, COMPOSITE_WIDTH)), a)
    np.testing.assert_array_equal(a[0], crba(tree, q[0]))
    assert as_source(factorize)(tree.arrays.links, a, l) == (-1, -1)
    np.testing.assert_array_equal(l[0], factor(tree, a[0]))
    as_source(solve_factored)(tree.arrays.links, l, x[:, None])
    np.testing.assert_array_equal(x[0], solve(tree, l[0], random_state(tree, seed)[2]))
