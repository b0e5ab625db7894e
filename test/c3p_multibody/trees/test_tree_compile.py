# SPDX-License-Identifier: Apache-2.0
"""Straight-line code against the recursions it was traced from."""

import numpy as np
import pytest
from random_trees import random_state, random_tree

from c3p_kernels.straight.batches import PASS_SIZE
from c3p_multibody.trees import Body, Joint, Tree, aba, compile_tree, crba, rnea
from c3p_multibody.trees import compile as compile_module
from c3p_multibody.trees.compile import Straight

# constants are multiplied in another order than in the recursion
TOLERANCE = 1e-13


def planar_arm(count):
    """Return an arm in the vertical plane x z, with turning axes along y."""
    return Tree.from_connection(
        range(-1, count - 1), [Joint(f'j{k}', axis=(0, 1, 0), translation=(0, 0, float(k > 0)))
                               for k in range(count)],
        [Body(f'b{k}', 1.0, (0, 0, 0.5), 0.1 * np.eye(3)) for k in range(count)])


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=0,
                               atol=TOLERANCE * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize('seed', range(12))
def test_straight_line_code_is_the_recursion(seed):
    tree = random_tree(seed)
    q, qd, x = random_state(tree, seed)[:, None]
    close(Straight(tree, 'rnea')(q, qd, x, plain=True), rnea(tree, q, qd, x))
    close(Straight(tree, 'aba')(q, qd, x, plain=True), aba(tree, q, qd, x))
    none = np.empty((1, 0))
    close(Straight(tree, 'crba')(q, none, none, plain=True), crba(tree, q).reshape(1, -1))


def test_compiled_code_in_batches_that_do_not_fill_the_last_pass():
    tree = planar_arm(2)
    fast = compile_tree(tree)
    q, qd, x = np.random.default_rng(0).uniform(-2, 2, (3, 2 * PASS_SIZE + 5, 2))
    # one of the three: compilation is what takes the time here
    close(fast.aba(q, qd, x), aba(tree, q, qd, x))
    # single states, and leading dimensions
    assert fast.aba(q[0], qd[0], x[0]).shape == (2,)
    still = np.zeros(2)
    close(fast.aba(q[:6].reshape(2, 3, 2), still, x[0])[1, 2], aba(tree, q[5], still, x[0]))
    part = fast.part('aba')
    np.testing.assert_array_equal(part(q, qd, x, plain=True), part(q, qd, x))


def test_zeros_and_ones_of_the_tree_leave_no_trace():
    # a pendulum: I q̈ + m g l sin q
    one = Straight(planar_arm(1), 'rnea')
    assert one.operations == 3
    assert Straight(planar_arm(1), 'crba').operations == 0
    # in the plane everything that points out of it is gone
    general = random_tree(0, 4, reach=1, kinds=('revolute',))
    assert (Straight(planar_arm(4), 'rnea').operations
            < 0.3 * Straight(general, 'rnea').operations)


def test_code_of_the_same_tree_is_made_once():
    assert compile_tree(planar_arm(3)) is compile_tree(planar_arm(3))
    assert compile_tree(planar_arm(3)) is not compile_tree(planar_arm(4))
    first, again = (Straight(planar_arm(3), 'aba').source for _ in range(2))
    assert first == again


def test_large_trees_fall_back_on_the_recursion(monkeypatch):
    monkeypatch.setattr(compile_module, 'MOST_OPERATIONS', 10)
    tree = random_tree(5, 6)
    fast = compile_module.CompiledTree(tree)
    q, qd, x = random_state(tree, 5)
    assert fast.part('rnea') is None
    np.testing.assert_array_equal(fast.rnea(q, qd, x), rnea(tree, q, qd, x))
    np.testing.assert_array_equal(fast.aba(q, qd, x), aba(tree, q, qd, x))
    np.testing.assert_array_equal(fast.crba(q), crba(tree, q))
