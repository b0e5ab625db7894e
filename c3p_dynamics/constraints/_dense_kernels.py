# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Small dense matrices: Cholesky, and rank-revealing orthogonalisation in the inertia metric.

With ``A = L Lᵀ`` and ``y = Lᵀ q̈``, constrained motion is the point nearest to ``L⁻¹(τ − c)`` that
satisfies ``Xᵀ y = b``, where the columns of ``X = L⁻¹Bᵀ`` are kept as rows here. Orthogonalising
these, and not forming the product XᵀX = B A⁻¹ Bᵀ, keeps small singular values: the product would
square them. Arrays may be larger than the m rows and n freedoms that are meant.
"""

from __future__ import annotations

import math

from c3p_kinematics.compiled import kernel

# a pivot of A below this share of its diagonal is rounding: no inertia resists the joint
PIVOT_TOLERANCE = 1e-14


@kernel
def cholesky(a, l, n):
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
def forward(l, x, n):
    """Replace x by the solution of ``L x' = x``."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= l[i, k] * x[k]
        x[i] = total / l[i, i]


@kernel
def backward(l, x, n):
    """Replace x by the solution of ``Lᵀ x' = x``."""
    for back in range(n):
        i = n - 1 - back
        x[i] /= l[i, i]
        for k in range(i):
            x[k] -= l[i, k] * x[i]


@kernel
def depend(r, rank, m):
    """
    Replace what r says of dependent rows by ``T = R11⁻¹ R12``, and by a factor of ``1 + TᵀT``.

    The factor stands below and on the diagonal of the last rows, which nothing else uses.
    """
    for j in range(rank, m):
        for back in range(rank):
            i = rank - 1 - back
            total = r[i, j]
            for k in range(i + 1, rank):
                total -= r[i, k] * r[k, j]
            r[i, j] = total / r[i, i]
    for j in range(rank, m):
        for k in range(rank, j + 1):
            total = 1.0 if j == k else 0.0
            for i in range(rank):
                total += r[i, j] * r[i, k]
            for i in range(rank, k):
                total -= r[j, i] * r[k, i]
            r[j, k] = math.sqrt(total) if j == k else total / r[k, k]


@kernel
def orthogonalize(x, r, order, least, m, n):
    """
    Replace the rows of x by orthonormal ones, the longest first; return the rank.

    ``x[order[j]] = Σ r[i, j] e_i``, i ≤ j. Rows that are left with less than `least` of the first
    one count as dependent. Gram and Schmidt, modified, and once more for each row that is taken.
    """
    first = 0.0
    for k in range(m):
        order[k] = k
    for k in range(m):
        best, longest = k, -1.0
        for j in range(k, m):
            square = 0.0
            for i in range(n):
                square += x[j, i] * x[j, i]
            if square > longest:
                best, longest = j, square
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
        for j in range(k + 1, m):
            along = 0.0
            for i in range(n):
                along += x[k, i] * x[j, i]
            r[k, j] = along
            for i in range(n):
                x[j, i] -= along * x[k, i]
    return m


@kernel
def spread(r, rank, z, m):
    """
    Spread multipliers of independent rows over all rows so that they are of least length.

    ``(1 + TᵀT) z2 = Tᵀ z1``, ``z1 −= T z2``.
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
def reach(x, r, order, rank, target, y, multipliers, z, m, n):
    """
    Move y the shortest way to ``xᵀ y = target``; return by how much dependent rows disagree.

    ``y += X λ`` with the multipliers of least length; z is for use here.
    """
    for j in range(rank):
        total = target[order[j]]
        for i in range(j):
            total -= r[i, j] * z[i]
        z[j] = total / r[j, j]
    off = 0.0
    for j in range(rank, m):
        total = target[order[j]]
        for i in range(rank):
            total -= r[i, j] * target[order[i]]
        off = max(off, abs(total))
    for j in range(rank):
        along = 0.0
        for i in range(n):
            along += x[j, i] * y[i]
        z[j] -= along
        for i in range(n):
            y[i] += z[j] * x[j, i]
    for back in range(rank):
        j = rank - 1 - back
        total = z[j]
        for k in range(j + 1, rank):
            total -= r[j, k] * z[k]
        z[j] = total / r[j, j]
    if rank < m:
        spread(r, rank, z, m)
    for j in range(m):
        multipliers[order[j]] = z[j]
    return off


@kernel
def pivoted(work, q, order, m, n):
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
        best, longest = k, -1.0
        for j in range(k, m):
            square = 0.0
            for i in range(k, n):
                square += work[j, i] * work[j, i]
            if square > longest:
                best, longest = j, square
        if not longest > 0.0:
            break
        if best != k:
            order[k], order[best] = order[best], order[k]
            for i in range(n):
                work[k, i], work[best, i] = work[best, i], work[k, i]
        # v = x ± |x| e, so that nothing cancels; it stands in place of the row until it was used
        head = work[k, k]
        size = math.copysign(math.sqrt(longest), head)
        work[k, k] = head + size
        over = 1.0 / (size * work[k, k])
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
