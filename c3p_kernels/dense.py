# SPDX-License-Identifier: Apache-2.0
"""
Small dense matrices: Cholesky, and rank-revealing orthogonalisation in the inertia metric.

With ``A = L Lᵀ`` and ``y = Lᵀ q̈``, constrained motion is the point nearest to ``L⁻¹(τ − c)`` that
satisfies ``Xᵀ y = b``, where the columns of ``X = L⁻¹Bᵀ`` are kept as rows here. Orthogonalising
these, and not forming the product XᵀX = B A⁻¹ Bᵀ, keeps small singular values: the product would
square them. Arrays may be larger than the m rows and n freedoms that are meant.

`orthogonalize` takes the longest row first and keeps the factor; `orthonormalise`, for a few
equations of which only the least solution is needed, takes rows in their order and carries a right
side.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_kernels.compiled import as_few, kernel

# a pivot of A below this fraction of its diagonal is rounding: no inertia resists the joint
PIVOT_TOLERANCE = 1e-14
# fraction of the longest row below which a row counts as dependent: rounding leaves 1e-15 of rows
# that cancel, and a constraint this weak would respond to 1e-8 rad with full speed
ROW_TOLERANCE = 1e-8
# a row reduced below this fraction of its length is made orthogonal once more
TWICE = 0.5


class RowBasis(NamedTuple):
    """
    Orthonormal rows, as `orthogonalize` and `depend` leave them.

    Attributes
    ----------
    x : (m, n) array
        The rows.
    r : (m, m) array
        Factor of the rows that they were made from.
    order : (m,) int array
        Of these.
    """

    x: np.ndarray
    r: np.ndarray
    order: np.ndarray


@kernel
def cholesky(a: np.ndarray, l: np.ndarray, n: int) -> int:
    """Write the lower factor of ``A = L Lᵀ``; return −1, or the row that has no inertia."""
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= l[i, k] * l[j, k]
            if i > j:
                l[i, j] = total / l[j, j]
            elif total > PIVOT_TOLERANCE * a[i, i]:
                l[i, i] = math.sqrt(total)
            else:
                return i
    return -1


@kernel
def factor_inwards(a: np.ndarray, l: np.ndarray, n: int) -> int:
    """
    Write the lower factor of ``A = Lᵀ L``; return −1, or the row that has no inertia.

    Where each body has a greater number than the one that carries it, L has the zeros of A, and
    they are skipped (Featherstone, Rigid Body Dynamics Algorithms, section 6.5).
    """
    for i in range(n):
        for j in range(i + 1):
            l[i, j] = a[i, j]
    for back in range(n):
        k = n - 1 - back
        if not l[k, k] > PIVOT_TOLERANCE * a[k, k]:
            return k
        pivot = math.sqrt(l[k, k])
        l[k, k] = pivot
        over = 1.0 / pivot
        for j in range(k):
            l[k, j] *= over
        for i in range(k):
            part = l[k, i]
            if part != 0.0:
                for j in range(i + 1):
                    l[i, j] -= part * l[k, j]
    return -1


@kernel
def backward_rows(l: np.ndarray, rows: np.ndarray, beside: np.ndarray, m: int, n: int) -> None:
    """
    Replace each of the m `rows` by the solution of ``Lᵀ x' = x``, four at a time side by side.

    `l` (n, n) is the factor L, `beside` (n, 4) work memory for vector instructions.
    """
    for first in range(0, m, 4):
        count = min(4, m - first)
        for c in range(4):
            for i in range(n):
                beside[i, c] = rows[first + c, i] if c < count else 0.0
        lanes = as_few(beside)
        for back in range(n):
            k = n - 1 - back
            solved = lanes[k] * (1.0 / l[k, k])
            lanes[k] = solved
            for i in range(k):
                lanes[i] -= l[k, i] * solved
        for c in range(count):
            for i in range(n):
                rows[first + c, i] = beside[i, c]


@kernel
def forward(l: np.ndarray, x: np.ndarray, n: int) -> None:
    """Replace x by the solution of ``L x' = x``."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= l[i, k] * x[k]
        x[i] = total / l[i, i]


@kernel
def backward(l: np.ndarray, x: np.ndarray, n: int) -> None:
    """Replace x by the solution of ``Lᵀ x' = x``."""
    for back in range(n):
        i = n - 1 - back
        x[i] /= l[i, i]
        for k in range(i):
            x[k] -= l[i, k] * x[i]


@kernel
def depend(r: np.ndarray, rank: int, m: int) -> None:
    """
    Replace the block R12 of dependent rows by ``T = R11⁻¹ R12``, and add a factor of ``1 + TᵀT``.

    The Cholesky factor is written on and below the diagonal of the last rows, which are unused.
    """
    # back-substitution, column by column
    for j in range(rank, m):
        for back in range(rank):
            i = rank - 1 - back
            total = r[i, j]
            for k in range(i + 1, rank):
                total -= r[i, k] * r[k, j]
            r[i, j] = total / r[i, i]
    # Cholesky factor of 1 + TᵀT
    for j in range(rank, m):
        for k in range(rank, j + 1):
            total = 1.0 if j == k else 0.0
            for i in range(rank):
                total += r[i, j] * r[i, k]
            for i in range(rank, k):
                total -= r[j, i] * r[k, i]
            r[j, k] = math.sqrt(total) if j == k else total / r[k, k]


@kernel
def orthogonalize(x: np.ndarray, r: np.ndarray, order: np.ndarray, least: float, m: int, n: int
                  ) -> int:
    """
    Replace the rows of x (m, n) by orthonormal ones, the longest first; return the rank.

    ``x[order[j]] = Σ r[i, j] e_i``, i ≤ j. Rows with a rest shorter than `least` times the first
    are dependent. Modified Gram-Schmidt; an accepted row that has lost most of its length is made
    orthogonal once more. Until then the diagonal of r holds the squares of the given lengths.
    """
    first = 0.0
    for k in range(m):
        order[k] = k
        square = 0.0
        for i in range(n):
            square += x[k, i] * x[k, i]
        r[k, k] = square
    for k in range(m):
        # pivot: the row with the longest rest
        best = k
        longest = -1.0
        for j in range(k, m):
            square = 0.0
            for i in range(n):
                square += x[j, i] * x[j, i]
            if square > longest:
                best = j
                longest = square
        length = math.sqrt(longest)
        if k == 0:
            first = length
        if not length > least * first:
            depend(r, k, m)
            return k
        if best != k:
            order[k], order[best] = order[best], order[k]
            for i in range(n):
                x[k, i], x[best, i] = x[best, i], x[k, i]
            for i in range(k):
                r[i, k], r[i, best] = r[i, best], r[i, k]
            r[k, k], r[best, best] = r[best, best], r[k, k]
        # once more against the rows before: what rounding has left
        if longest < TWICE * TWICE * r[k, k]:
            for j in range(k):
                more = 0.0
                for i in range(n):
                    more += x[j, i] * x[k, i]
                r[j, k] += more
                for i in range(n):
                    x[k, i] -= more * x[j, i]
            square = 0.0
            for i in range(n):
                square += x[k, i] * x[k, i]
            length = math.sqrt(square)
        r[k, k] = length
        for i in range(n):
            x[k, i] /= length
        # remove its direction from all rows that follow
        for j in range(k + 1, m):
            along = 0.0
            for i in range(n):
                along += x[k, i] * x[j, i]
            r[k, j] = along
            for i in range(n):
                x[j, i] -= along * x[k, i]
    return m


@kernel
def orthonormalise(rows: np.ndarray, width: int) -> tuple[int, float]:
    """
    Make the rows [A | b] orthonormal in A, in place; return their number and smallest pivot.

    Rows that depend on earlier ones become zero. The least x with A x = b is then Aᵀ b. The pivot
    is relative to the longest row.
    """
    count = rows.shape[0]
    rank = 0
    longest = 0.0
    for i in range(count):
        square = 0.0
        for j in range(width):
            square += rows[i, j] * rows[i, j]
        longest = max(longest, square)
    longest = math.sqrt(longest)
    smallest = math.inf
    for i in range(count):
        length = longest
        left = 0.0
        for _ in range(2):
            for k in range(i):
                dot = 0.0
                for j in range(width):
                    dot += rows[i, j] * rows[k, j]
                for j in range(width + 1):
                    rows[i, j] -= dot * rows[k, j]
            square = 0.0
            for j in range(width):
                square += rows[i, j] * rows[i, j]
            left = math.sqrt(square)
            if left > TWICE * length or left <= ROW_TOLERANCE * longest:
                break
            length = left
        scale = 0.0
        if left > ROW_TOLERANCE * longest:
            rank += 1
            smallest = min(smallest, left)
            scale = 1.0 / left
        for j in range(width + 1):
            rows[i, j] *= scale
    return rank, smallest / longest if rank else 0.0


@kernel
def spread(r: np.ndarray, rank: int, z: np.ndarray, m: int) -> None:
    """
    Distribute multipliers z of `rank` independent rows over all m rows, with the least norm.

    ``(1 + TᵀT) z2 = Tᵀ z1``, ``z1 −= T z2``, by the factor that `depend` has written into r.
    """
    for j in range(rank, m):
        total = 0.0
        for i in range(rank):
            total += r[i, j] * z[i]
        for k in range(rank, j):
            total -= r[j, k] * z[k]
        z[j] = total / r[j, j]
    for back in range(m - rank):
        j = m - 1 - back
        z[j] /= r[j, j]
        for k in range(rank, j):
            z[k] -= r[j, k] * z[j]
    for j in range(rank, m):
        for i in range(rank):
            z[i] -= r[i, j] * z[j]


@kernel
def reach(basis: RowBasis, rank: int, target: np.ndarray, y: np.ndarray,
          multipliers_out: np.ndarray, z: np.ndarray, m: int, n: int) -> float:
    """
    Project y onto ``xᵀ y = target``; return the largest contradiction of dependent rows.

    ``y += X λ`` with the `multipliers_out` (m,) of least norm. `rank` is that of the `basis`
    (m, n) by `orthogonalize`; z is work memory.
    """
    x = basis.x
    r = basis.r
    order = basis.order
    # target in the orthonormal rows: Rᵀ z = target
    for j in range(rank):
        total = target[order[j]]
        for i in range(j):
            total -= r[i, j] * z[i]
        z[j] = total / r[j, j]
    # dependent rows are x2 = Tᵀ x1: their targets must be, too
    off = 0.0
    for j in range(rank, m):
        total = target[order[j]]
        for i in range(rank):
            total -= r[i, j] * target[order[i]]
        off = max(off, abs(total))
    # move y along each orthonormal row; z becomes the length of that move
    for j in range(rank):
        along = 0.0
        for i in range(n):
            along += x[j, i] * y[i]
        z[j] -= along
        for i in range(n):
            y[i] += z[j] * x[j, i]
    # moves in orthonormal rows as multipliers of the rows themselves: R λ = z
    for back in range(rank):
        j = rank - 1 - back
        total = z[j]
        for k in range(j + 1, rank):
            total -= r[j, k] * z[k]
        z[j] = total / r[j, j]
    if rank < m:
        spread(r, rank, z, m)
    for j in range(m):
        multipliers_out[order[j]] = z[j]
    return off


@kernel
def pivoted(work: np.ndarray, q: np.ndarray, order: np.ndarray, m: int, n: int) -> None:
    """
    Factor ``Bᵀ P = Q R`` by Householder's reflections, the longest column first.

    `work` (m, n) holds B by rows and then Rᵀ (lower, in pivot order); q (n, n) becomes Qᵀ, so that
    its rows are the basis.
    """
    for k in range(m):
        order[k] = k
    for i in range(n):
        for k in range(n):
            q[i, k] = 1.0 if i == k else 0.0
    for k in range(min(m, n)):
        best = k
        longest = -1.0
        for j in range(k, m):
            square = 0.0
            for i in range(k, n):
                square += work[j, i] * work[j, i]
            if square > longest:
                best = j
                longest = square
        if not longest > 0.0:
            break
        if best != k:
            order[k], order[best] = order[best], order[k]
            for i in range(n):
                work[k, i], work[best, i] = work[best, i], work[k, i]
        # v = x ± |x| e, the sign without cancellation; kept in place of the row while in use
        head = work[k, k]
        size = math.copysign(math.sqrt(longest), head)
        work[k, k] = head + size
        over = 1.0 / (size * work[k, k])
        # reflect the remaining columns of Bᵀ, and Qᵀ
        for j in range(k + 1, m):
            total = 0.0
            for i in range(k, n):
                total += work[k, i] * work[j, i]
            for i in range(k, n):
                work[j, i] -= over * total * work[k, i]
        for j in range(n):
            total = 0.0
            for i in range(k, n):
                total += work[k, i] * q[i, j]
            for i in range(k, n):
                q[i, j] -= over * total * work[k, i]
        work[k, k] = -size
        for i in range(k + 1, n):
            work[k, i] = 0.0
