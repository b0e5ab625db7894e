# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Hollerbach's recursive Lagrangian inverse dynamics with 3 × 3 rotation matrices. No checks.

With the rotation W of a body to world axes, its origin p, and A of a joint, ``A' = ∂A/∂q`` has the
columns (a₂, −a₁, 0), so that derivatives need no products. Outwards ``W, Ẇ, Ẅ, p̈``; inwards

    D = J Ẅᵀ + h p̈ᵀ + A₊ D₊ + p₊ e₊ᵀ,   e = m p̈ + Ẅ h + e₊,   s = h + A₊ s₊ + m₊ p₊

with ``J = ∫ r rᵀ dm``, h the first moment, m₊ the mass of all above and p₊ the next origin;
``τ = tr(∂W/∂q D) − gᵀ ∂W/∂q s``.

A body's row of `work` holds A (0:9), W (9:18), Ẇ (18:27), Ẅ (27:36), p̈ (36:39), D (39:48),
e (48:51), s (51:54) and mass (54).
"""

from __future__ import annotations

from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.elementary import circle

LAGRANGE_WIDTH = 55


@inlined
def rotation(row, c, s, out):
    """Write ``R0 Rz`` by rows."""
    for k in range(3):
        x, y = row[3 * k], row[3 * k + 1]
        out[3 * k], out[3 * k + 1], out[3 * k + 2] = c * x + s * y, c * y - s * x, row[3 * k + 2]


@inlined
def product(a, b, out):
    """Write the product of two 3 × 3 matrices by rows."""
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = (a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j]
                              + a[3 * i + 2] * b[6 + j])


@inlined
def times(a, x, y, z):
    """Return the product of a 3 × 3 matrix and a vector."""
    return (a[0] * x + a[1] * y + a[2] * z, a[3] * x + a[4] * y + a[5] * z,
            a[6] * x + a[7] * y + a[8] * z)


@inlined
def outwards(i, row, c, s, rate, accel, work):
    """Write W, Ẇ, Ẅ and p̈ of body i."""
    w = work[i]
    rotation(row, c, s, w[0:9])
    if i == 0:
        for k in range(9):
            w[9 + k] = w[k]
            w[18 + k] = 0.0
            w[27 + k] = 0.0
        w[36] = 0.0
        w[37] = 0.0
        w[38] = 0.0
    else:
        b = work[i - 1]
        for at in (9, 18, 27):
            product(b[at:at + 9], w[0:9], w[at:at + 9])
        x, y, z = times(b[27:36], row[9], row[10], row[11])
        w[36], w[37], w[38] = b[36] + x, b[37] + y, b[38] + z
    # W A' q̇ turns the first two columns; Ẅ first, while Ẇ is still that without the joint's own
    square = rate * rate
    for k in range(3):
        x, y = w[9 + 3 * k], w[10 + 3 * k]
        u = w[18 + 3 * k]
        v = w[19 + 3 * k]
        w[27 + 3 * k] = w[27 + 3 * k] + (rate + rate) * v - square * x + accel * y
        w[28 + 3 * k] = w[28 + 3 * k] - (rate + rate) * u - square * y - accel * x
        w[18 + 3 * k] = u + rate * y
        w[19 + 3 * k] = v - rate * x


@inlined
def alone(row, w):
    """Write D, e, s and mass of one body."""
    m = row[12]
    hx = row[13]
    hy = row[14]
    hz = row[15]
    # ∫ r rᵀ dm from the moments of inertia
    half = 0.5 * (row[16] + row[17] + row[18])
    xx = half - row[16]
    yy = half - row[17]
    zz = half - row[18]
    xy = -row[19]
    xz = -row[20]
    yz = -row[21]
    for a in range(3):
        u = w[27 + 3 * a]
        v = w[28 + 3 * a]
        t = w[29 + 3 * a]
        w[39 + a] = xx * u + xy * v + xz * t + hx * w[36 + a]
        w[42 + a] = xy * u + yy * v + yz * t + hy * w[36 + a]
        w[45 + a] = xz * u + yz * v + zz * t + hz * w[36 + a]
    x, y, z = times(w[27:36], hx, hy, hz)
    w[48], w[49], w[50] = m * w[36] + x, m * w[37] + y, m * w[38] + z
    w[51] = hx
    w[52] = hy
    w[53] = hz
    w[54] = m


@inlined
def hand_down(row, w, b):
    """Add D, e, s and mass of a body, whose origin is in `row`, to those of the lower body b."""
    for k in range(3):
        p = row[9 + k]
        for a in range(3):
            b[39 + 3 * k + a] = (b[39 + 3 * k + a] + w[3 * k] * w[39 + a]
                                 + w[3 * k + 1] * w[42 + a] + w[3 * k + 2] * w[45 + a]
                                 + p * w[48 + a])
    x, y, z = times(w[0:9], w[51], w[52], w[53])
    m = w[54]
    b[48], b[49], b[50] = b[48] + w[48], b[49] + w[49], b[50] + w[50]
    b[51], b[52], b[53] = b[51] + x + m * row[9], b[52] + y + m * row[10], b[53] + z + m * row[11]
    b[54] = b[54] + m


@kernel
def lagrange(tree, q, qd, qdd, work, tau_out):
    """Write τ (B, n) of q, q̇, q̈ (B, n) of a chain."""
    links = tree.links
    numbers = tree.numbers
    gravity = tree.gravity
    n = len(links)
    for state in range(len(q)):
        for i in range(n):
            at = links[i, 2]
            c, s = circle(q[state, at])
            outwards(i, numbers[i], c, s, qd[state, at], qdd[state, at], work)
            alone(numbers[i], work[i])
        for back in range(n):
            i = n - 1 - back
            w = work[i]
            # ∂W/∂q has the columns (w₂, −w₁, 0)
            total = 0.0
            for a in range(3):
                x, y = w[9 + 3 * a], w[10 + 3 * a]
                total = total + y * w[39 + a] - x * w[42 + a]
                total = total - gravity[a] * (y * w[51] - x * w[52])
            tau_out[state, links[i, 2]] = total
            if i > 0:
                hand_down(numbers[i], w, work[i - 1])
