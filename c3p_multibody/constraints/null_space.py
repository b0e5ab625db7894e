# SPDX-License-Identifier: Apache-2.0
"""
Bases of the null space and of the row space of a constraint matrix.

``q̇ = Z z + Y y`` with ``B Z = 0`` (Kelly, eqs (9)-(15); β is Z). Three ways to them: singular
values, QR with pivoting, and the zero-eigenvalue theorem (Kamman and Huston), which works on BᵀB
and therefore squares the condition of B.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_kernels.dense import pivoted
from c3p_multibody.constraints.packing import Array, ConstraintError

# rows with less than this fraction of the largest singular value are dependent. Rounding leaves
# 1e-15 and QR may be off by a small factor: a fraction of 1e-8 is still distinct from 0
RANK_TOLERANCE = 1e-9
# BᵀB rounds to 1e-16, and σ is the square root of its eigenvalues
EIGENVALUE_TOLERANCE = 1e-7
# a size within this factor of the tolerance, on either side, makes the rank doubtful
BAND = 100.0


class NullSpace(NamedTuple):
    """
    Null space of a constraint matrix B (m, n) of rank r.

    Attributes
    ----------
    basis : (n, n − r) array
        Z or β: orthonormal, ``B Z = 0``.
    range_basis : (n, r) array
        Y: orthonormal, ``Yᵀ Z = 0``.
    inverse : (n, m) array
        B⁺ of Moore and Penrose.
    rank : int
    sizes : (min(m, n),) array
        Singular values (SVD, zero eigenvalue) or the diagonal of R (QR), largest first.
    condition : float
        Largest over smallest of those that count; 1 without any.
    doubtful : bool
        One of the `sizes` is within a factor of 100 of the tolerance.
    """

    basis: Array
    range_basis: Array
    inverse: Array
    rank: int
    sizes: Array
    condition: float
    doubtful: bool


def svd_basis(jacobian: ArrayLike, tolerance: float = RANK_TOLERANCE) -> NullSpace:
    """
    Return the null space by singular values, ``B = U Σ Vᵀ``: the most reliable rank.

    Singular values of `jacobian` B (m, n) below `tolerance` times the largest do not count.
    ConstraintError unless B is a matrix of finite numbers.
    """
    b = checked_matrix('jacobian', jacobian)
    u, sizes, vt = np.linalg.svd(b)
    rank, condition, doubtful = decide(sizes, tolerance)
    inverse = (vt[:rank].T / sizes[:rank]) @ u[:, :rank].T
    return NullSpace(vt[rank:].T.copy(), vt[:rank].T.copy(), inverse, rank, sizes, condition,
                     doubtful)


def qr_basis(jacobian: ArrayLike, tolerance: float = RANK_TOLERANCE) -> NullSpace:
    """
    Return the null space by QR with pivoting, ``Bᵀ P = Q R``: the default.

    A few operations where singular values iterate, and as sharp but for a small factor.
    Parameters and errors as for `svd_basis`.
    """
    b = checked_matrix('jacobian', jacobian)
    m, n = b.shape
    if m == 0 or n == 0:
        return svd_basis(b, tolerance)
    rows = np.array(b, order='C')
    q = np.empty((n, n))
    order = np.empty(m, np.int64)
    pivoted(rows, q, order, m, n)
    sizes = np.abs(np.diag(rows))
    rank, condition, doubtful = decide(sizes, tolerance)
    # B = P Rᵀ Qᵀ; what is left of Rᵀ has full column rank: it is inverted, or by one more QR
    inverse = np.zeros((n, m))
    if rank == m:
        inverse[:, order] = np.linalg.solve(rows[:, :m].T, q[:m]).T
    elif rank:
        v, t = np.linalg.qr(rows[:, :rank])
        inverse[:, order] = q[:rank].T @ np.linalg.solve(t, v.T)
    return NullSpace(q[rank:].T.copy(), q[:rank].T.copy(), inverse, rank, sizes, condition,
                     doubtful)


def zero_eigenvalue_basis(jacobian: ArrayLike, tolerance: float = EIGENVALUE_TOLERANCE
                          ) -> NullSpace:
    """
    Return the null space as the eigenvectors of BᵀB to the eigenvalue 0.

    For comparison: singular values below 1e-7 of the largest are indistinguishable from 0.
    Parameters and errors as for `svd_basis`.
    """
    b = checked_matrix('jacobian', jacobian)
    values, vectors = np.linalg.eigh(b.T @ b)
    values = values[::-1]
    vectors = vectors[:, ::-1]
    sizes = np.sqrt(np.maximum(values, 0.0))[:min(b.shape)]
    rank, condition, doubtful = decide(sizes, tolerance)
    kept = vectors[:, :rank]
    inverse = (kept / values[:rank]) @ (b @ kept).T
    return NullSpace(vectors[:, rank:].copy(), kept.copy(), inverse, rank, sizes, condition,
                     doubtful)


BASES: dict[str, Callable[..., NullSpace]] = {
    'qr': qr_basis, 'svd': svd_basis, 'zero_eigenvalue': zero_eigenvalue_basis}


def decide(sizes: Array, tolerance: float) -> tuple[int, float, bool]:
    """Return rank, condition of the independent part, and doubt for descending `sizes`."""
    if len(sizes) == 0 or sizes[0] == 0.0:
        return 0, 1.0, False
    part = sizes / sizes[0]
    rank = int(np.sum(part > tolerance))
    near = (part > tolerance / BAND) & (part < tolerance * BAND)
    return rank, float(1.0 / part[rank - 1]), bool(near.any())


def checked_matrix(name: str, value: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    """Return a matrix of finite numbers of this shape; a ConstraintError names matrix and row."""
    matrix = np.asarray(value, float)
    if matrix.ndim != 2 or (shape is not None and matrix.shape != shape):
        raise ConstraintError(f'{name} has shape {matrix.shape}: expected '
                              f'{shape or "two dimensions"}')
    if not np.isfinite(matrix).all():
        row = int(np.argmin(np.isfinite(matrix).all(1)))
        raise ConstraintError(f'{name}: row {row} = {matrix[row].tolist()}: every number must be '
                              'finite')
    return matrix
