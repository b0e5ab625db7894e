# SPDX-License-Identifier: Apache-2.0
"""Bases of null spaces: what they promise, and how small a singular value may be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_multibody.constraints import ConstraintError, qr_basis, svd_basis, zero_eigenvalue_basis

BASES = (qr_basis, svd_basis, zero_eigenvalue_basis)


def matrix(seed, rows, columns, sizes):
    """Return a matrix with these singular values."""
    rng = np.random.default_rng(seed)
    u, v = (np.linalg.qr(rng.normal(size=(k, k)))[0] for k in (rows, columns))
    middle = np.zeros((rows, columns))
    middle[range(len(sizes)), range(len(sizes))] = sizes
    return u @ middle @ v


@pytest.mark.parametrize('basis', BASES)
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 8), columns=st.integers(1, 10),
       data=st.data())
def test_bases_are_orthonormal_complete_and_the_inverse_is_moore_and_penroses(
        basis, seed, rows, columns, data):
    rank = data.draw(st.integers(0, min(rows, columns)))
    b = matrix(seed, rows, columns, np.geomspace(1, 0.01, rank))
    found = basis(b)
    assert found.rank == rank
    both = np.hstack([found.range_basis, found.basis])
    np.testing.assert_allclose(both.T @ both, np.eye(columns), atol=1e-13)
    # eigenvectors of BᵀB: the root of rounding
    near = 1e-7 if basis is zero_eigenvalue_basis else 1e-13
    assert np.max(np.abs(b @ found.basis), initial=0.0) < near
    np.testing.assert_allclose(found.inverse, np.linalg.pinv(b, rcond=1e-6), atol=1e-8)


@pytest.mark.parametrize('basis', [qr_basis, svd_basis])
@pytest.mark.parametrize('least', [1e-3, 1e-6, 1e-7, 1e-8])
def test_rank_is_right_down_to_a_relative_singular_value_of_1e_8(basis, least):
    for seed in range(15):
        sizes = np.geomspace(1, least, 2 + seed % 5) * 10.0 ** (seed % 7 - 3)
        assert basis(matrix(seed, 8, 12, sizes)).rank == len(sizes)
        # with rounding alone below
        assert basis(matrix(seed, 8, 12, sizes[:-1])).rank == len(sizes) - 1


def test_the_zero_eigenvalue_theorem_loses_what_is_below_1e_7():
    found = zero_eigenvalue_basis(matrix(0, 4, 6, [1.0, 0.5, 1e-8]))
    assert found.rank == 2
    assert zero_eigenvalue_basis(matrix(0, 4, 6, [1.0, 0.5, 1e-6])).rank == 3


@pytest.mark.parametrize('basis', BASES)
@pytest.mark.parametrize(('share', 'doubtful'), [(5.0, True), (0.2, True), (1e4, False),
                                                 (0.0, False)])
def test_close_decisions_are_told(basis, share, doubtful):
    tolerance = 1e-4
    found = basis(matrix(1, 3, 5, [2.0, 1.0, share * tolerance]), tolerance)
    assert found.doubtful is doubtful


@pytest.mark.parametrize('basis', BASES)
def test_no_rows_leave_everything_free(basis):
    found = basis(np.zeros((0, 3)))
    assert found.rank == 0 and found.basis.shape == (3, 3) and found.condition == 1.0
    assert basis(np.zeros((2, 3))).rank == 0


def test_what_is_not_a_matrix_is_refused_with_its_row():
    with pytest.raises(ConstraintError, match='two dimensions'):
        svd_basis(np.zeros(3))
    with pytest.raises(ConstraintError, match='row 1'):
        qr_basis([[1.0, 2.0], [np.nan, 1.0]])


@pytest.mark.parametrize('basis', BASES)
def test_the_free_motions_are_no_generalized_inverse_of_the_rows(basis):
    b = matrix(2, 3, 6, [2.0, 1.0, 0.5])
    found = basis(b)
    # a generalized inverse gives B back, β gives zero
    np.testing.assert_allclose(b @ found.inverse @ b, b, atol=1e-7)
    np.testing.assert_allclose(b @ found.basis @ b, np.zeros_like(b), atol=1e-7)
