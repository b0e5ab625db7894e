# SPDX-License-Identifier: Apache-2.0
"""The methods that Kelly compares, against Pinocchio and each other, and their operations."""

import sys
from pathlib import Path

import numpy as np
import pytest

from c3p_multibody.comparison import METHODS, accelerations, operations, torques
from c3p_multibody.comparison.counting import Counted, Counter
from c3p_multibody.trees import Body, Joint, Tree, TreeError, crba, rnea

sys.path.insert(0, str(Path(__file__).parents[1] / 'trees'))
from random_trees import random_state, random_tree  # noqa: E402

INVERSE = [name for name, one in METHODS.items() if one.kind == 'inverse']
FORWARD = [name for name, one in METHODS.items() if one.kind == 'forward']


def chain(seed, count=None):
    """Return a chain of turning joints in general directions, numbered at random."""
    return random_tree(seed, count or 1 + seed, 1, kinds=('revolute',))


def right_angled(count):
    """Return an arm with axes at right angles, as most robots have."""
    return Tree.from_connection(
        range(-1, count - 1), [Joint(f'j{k}', axis=np.eye(3)[(2, 1)[k % 2]],
                                     translation=(0, 0, 0.3 * (k > 0))) for k in range(count)],
        [Body(f'b{k}', 1.0, (0.1, 0.2, 0.3), np.diag([0.3, 0.2, 0.4])) for k in range(count)])


@pytest.mark.parametrize('seed', range(8))
def test_all_methods_agree_with_pinocchio(seed):
    pin = pytest.importorskip('pinocchio')
    from random_trees import pinocchio_model

    tree = chain(seed)
    q, qd, x = random_state(tree, seed)
    model, inner = pinocchio_model(tree), tree.order
    expected = np.empty((2, tree.count))
    expected[0, inner] = pin.rnea(model, model.createData(), q[inner], qd[inner], x[inner])
    expected[1, inner] = pin.aba(model, model.createData(), q[inner], qd[inner], x[inner])
    scale = np.maximum(1.0, np.abs(expected).max(axis=1))
    # rounding, for accelerations times the condition of A
    bounds = 1e-13 * scale * [1.0, np.linalg.cond(crba(tree, q))]
    for name in INVERSE:
        np.testing.assert_allclose(torques(tree, q, qd, x, name), expected[0], rtol=0,
                                   atol=10 * bounds[0], err_msg=name)
    for name in FORWARD:
        np.testing.assert_allclose(accelerations(tree, q, qd, x, name), expected[1], rtol=0,
                                   atol=bounds[1], err_msg=name)


@pytest.mark.parametrize('name', FORWARD)
def test_torques_of_the_accelerations_are_the_torques(name):
    tree = chain(5)
    q, qd, tau = np.random.default_rng(1).uniform(-2, 2, (3, 4, 2, tree.count))
    np.testing.assert_allclose(rnea(tree, q, qd, accelerations(tree, q, qd, tau, name)), tau,
                               rtol=0, atol=1e-10)


@pytest.mark.parametrize('name', METHODS)
def test_operations_grow_as_the_report_says(name):
    # third differences of the counts of chains of 3 to 9 joints
    totals = [operations(right_angled(n), name).total for n in range(3, 12)]
    even = np.array(totals[1::2], float)
    order = {'walker_orin_1': 3, 'walker_orin_2': 3, 'walker_orin_3': 3}.get(name, 1)
    assert not np.diff(even, order + 1).any()
    assert np.diff(even, order).all()


def test_operations_of_a_pendulum_are_those_counted_by_hand():
    # I + m l² about the joint, gravity along x, body in the plane: c, s given
    tree = Tree.from_connection([-1], [Joint('hinge')], [Body('bob', 2.0, (0.5, 0, 0))],
                                (-9.81, 0, 0))
    # a = Rᵀ g (2 multiplications); one element of the moment I α + h × a (2, and 1 sum); all other
    # elements are computed by the general recursion, too: at least these
    assert operations(tree, 'newton_euler').multiplications >= 4
    # two methods differ by what they do beside A: 1 and 2 by the bodies at rest alone
    one, two = (operations(right_angled(6), f'walker_orin_{k}') for k in (1, 2))
    assert two.total < one.total
    assert operations(right_angled(1), 'walker_orin_1') == operations(right_angled(1),
                                                                      'walker_orin_2')


def test_counted_numbers_count_what_a_program_would_do():
    counter = Counter()
    x, y = Counted(3.0, counter), Counted(4.0, counter)
    assert ((x + y) * 1.0 - 0.0).value == 7.0 and counter.operations == (0, 1)
    assert (-x / y).value == -0.75 and counter.operations == (1, 1)
    assert (0.0 * x, 0.0 / x) == (0.0, 0.0) and (2.0 - x + 1.0).value == 0.0
    assert counter.operations == (1, 3) and (1.0 / y).value == 0.25 and x > 2.0
    assert (0.0 - x).value == -3.0 and (x - y).value == -1.0
    assert counter.operations.total == 6


def test_other_trees_and_methods_are_refused():
    with pytest.raises(TreeError, match='chains of turning joints'):
        torques(random_tree(3, 5), *np.zeros((3, 5)))
    with pytest.raises(TreeError, match='must be one of newton_euler, hollerbach'):
        torques(chain(2), *np.zeros((3, 3)), method='armstrong')
