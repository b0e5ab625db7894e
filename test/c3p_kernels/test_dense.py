# SPDX-License-Identifier: Apache-2.0
"""Dense kernels beside NumPy: the factor from the leaves inwards, rows side by side."""

import numpy as np
import pytest

from c3p_kernels.dense import backward_rows, factor_inwards, orthogonalize

# of ten operations a number on matrices with a condition below 100
TOLERANCE = 1e-12


def inertia(rng, low):
    """Return a positive definite matrix with the zeros of a tree; `low` are the carriers."""
    n = len(low)
    carried = np.eye(n)
    for k in range(n):
        if low[k] >= 0:
            carried[k] += carried[low[k]]
    rows = carried * rng.uniform(-1, 1, (n, n)) + 3.0 * np.eye(n)
    return rows.T @ rows, carried


@pytest.mark.parametrize('low', [(-1, 0, 1, 2, 3, 4), (-1, 0, 0, 1, 1, 2, 2, -1), (-1,)])
def test_the_factor_is_that_of_the_matrix_and_has_the_zeros_of_the_tree(low):
    a, carried = inertia(np.random.default_rng(0), low)
    n = len(low)
    lower = np.zeros((n, n))
    assert factor_inwards(a, lower, n) == -1
    np.testing.assert_allclose(lower.T @ lower, a, rtol=0, atol=TOLERANCE)
    assert (lower[carried == 0.0] == 0.0).all()


def test_a_joint_without_inertia_is_named():
    a = np.diag([1.0, 0.0, 2.0])
    assert factor_inwards(a, np.zeros((3, 3)), 3) == 1


@pytest.mark.parametrize('m', [1, 3, 4, 6, 9])
def test_rows_side_by_side_are_solved_as_one_by_one(m):
    rng = np.random.default_rng(m)
    n = 7
    lower = np.tril(rng.uniform(-1, 1, (n, n))) + 3.0 * np.eye(n)
    rows = rng.uniform(-1, 1, (m, n))
    solved = rows.copy()
    backward_rows(lower, solved, np.empty((n, 4)), m, n)
    np.testing.assert_allclose(solved @ lower, rows, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize('apart', [1.0, 1e-3, 1e-7])
def test_rows_are_orthogonal_though_they_are_nearly_dependent(apart):
    """`apart` is the angle between the rows: without a second pass 1e-7 leaves errors of 1e-9."""
    rng = np.random.default_rng(3)
    m, n = 4, 9
    given = rng.uniform(-1, 1, n) + apart * rng.uniform(-1, 1, (m, n))
    x = given.copy()
    r = np.zeros((m, m))
    order = np.zeros(m, np.int64)
    assert orthogonalize(x, r, order, 1e-12, m, n) == m
    np.testing.assert_allclose(x @ x.T, np.eye(m), rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.triu(r).T @ x, given[order], rtol=0, atol=1e-14)
