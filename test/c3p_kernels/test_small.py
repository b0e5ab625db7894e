# SPDX-License-Identifier: Apache-2.0
"""Small systems of equations against linear algebra."""

import numpy as np
import pytest
from hypothesis import given
from robots import vectors

from c3p_kernels.small import solve3


@given(vectors(9, 2.0), vectors(3, 5.0))
def test_small_systems_are_solved_as_by_numpy(numbers, right):
    root = numbers.reshape(3, 3)
    matrix = root @ root.T + 0.1 * np.eye(3)
    found = np.empty(3)
    pivot = solve3(matrix, right, found)
    np.testing.assert_allclose(matrix @ found, right, atol=1e-9)
    # the last pivot of Cholesky is the ratio of the leading minors
    ratio = np.linalg.det(matrix) / np.linalg.det(matrix[:2, :2])
    assert pivot**2 == pytest.approx(ratio, rel=1e-8)


@pytest.mark.parametrize('matrix', [
    np.zeros((3, 3)), np.diag([1.0, 0.0, 1.0]), np.diag([1.0, 1.0, 0.0]), np.ones((3, 3)),
    np.diag([-1.0, 1.0, 1.0]), np.diag([np.nan, 1.0, 1.0])])
def test_systems_without_full_rank_give_nan_and_a_pivot_of_zero(matrix):
    found = np.empty(3)
    assert solve3(matrix, np.ones(3), found) == 0.0
    assert np.isnan(found).all()
