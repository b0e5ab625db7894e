# SPDX-License-Identifier: Apache-2.0
"""What the tracer folds, shares and drops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_kernels.straight.expressions import Expression, Graph, needed, statements


@pytest.fixture
def graph():
    return Graph()


def symbols(graph):
    return [graph.node('input', name) for name in 'abc']


def test_zeros_ones_and_signs_vanish(graph):
    a, b, _ = symbols(graph)
    assert a * 0.0 == 0.0 and 0.0 * a == 0.0 and not isinstance(np.float64(0.0) * a, Expression)
    assert a * 1.0 is a and 1.0 * a is a and a / 1.0 is a
    assert a + 0.0 is a and 0.0 + a is a and a - 0.0 is a
    assert a - a == 0.0 and a + -a == 0.0 and -a + a == 0.0 and a / a == 1.0
    assert 0.0 / a == 0.0
    minus = -a
    assert -minus is a and a * -1.0 is -a and 0.0 - a is -a
    assert a - (-b) is a + b and (-a) * (-b) is a * b and -a + b is b - a
    assert -a - b is -(a + b) and -(a - b) is b - a and (-a) * b is -(a * b)


def test_constants_fold_and_equal_operations_are_one(graph):
    a, b, _ = symbols(graph)
    assert 2.0 * (3.0 * a) is 6.0 * a
    assert (0.5 * a) * 2.0 is a
    assert a * -2.0 is -(2.0 * a)
    assert a / 4.0 is 0.25 * a
    assert a + b is b + a and a * b is b * a
    assert (a + b) * (b + a) is (a + b) * (a + b)
    assert a / b is not b / a
    assert a - b is not b - a
    assert np.float64(2.0) * a is 2.0 * a and np.float64(2.0) - a is 2.0 - a


def test_what_no_result_needs_is_not_written(graph):
    a, b, c = symbols(graph)
    dead = a * b * c
    live = a + b
    assert dead not in needed([live])
    assert statements({'y': live}) == ['y = (a + b)']


def test_shared_values_get_a_name_once(graph):
    a, b, _ = symbols(graph)
    s = a + b
    lines = statements({'y': s * s, 'z': -s, 'w': 2.5})
    assert len(lines) == 4
    names = {'a': 2.0, 'b': 3.0}
    for line in lines:
        target, _, text = line.partition(' = ')
        names[target] = evaluated(text, names)
    assert (names['y'], names['z'], names['w']) == (25.0, -5.0, 2.5)


def evaluated(text, names):
    """Return the value of a written expression."""
    return eval(text, {}, names)


LEAVES = st.sampled_from([0, 1, 2, 0.0, 1.0, -1.0, 2.5])
TERMS = st.recursive(LEAVES, lambda t: st.tuples(st.sampled_from('+-*/n'), t, t), max_leaves=25)


def built(term, leaves):
    """Return a term made of symbols, or of numbers; integers stand for the leaves."""
    if isinstance(term, int):
        return leaves[term]
    if isinstance(term, float):
        return term
    kind, left, right = term
    a = built(left, leaves)
    if kind == 'n':
        return -a
    b = built(right, leaves)
    if kind == '/':
        # a divisor that is not zero
        b = b * b + 1.0
    return {'+': lambda: a + b, '-': lambda: a - b, '*': lambda: a * b, '/': lambda: a / b}[kind]()


@given(TERMS)
def test_a_traced_term_has_the_value_of_the_term(term):
    graph, values = Graph(), [0.75, -1.25, 3.5]
    traced = built(term, symbols(graph))
    names = dict(zip('abc', values, strict=True))
    for line in statements({'result': traced}):
        target, _, text = line.partition(' = ')
        names[target] = evaluated(text, names)
    expected = built(term, values)
    # constants are multiplied in another order
    assert names['result'] == pytest.approx(expected, rel=1e-12, abs=1e-9 * (1 + abs(expected)))
