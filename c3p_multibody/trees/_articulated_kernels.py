# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled forward dynamics by articulated bodies. No checks.

A body's row of `work` holds its place and its motion at q̈ = 0 (0:14, see _motion_kernels.py; there
the accelerations are only what the joint's velocity adds), the articulated inertia J of
``[moment; force] = J [α; a] + p`` by rows (14:50), p (50:56), the column U of J that belongs to
the joint's own freedom (56:62), its inertia D (62), the torque left over for it, u (63), and the
body's frame if there are external wrenches (64:76). Loops of three and six are unrolled by the
compiler.
"""

from __future__ import annotations

from c3p_kernels.compiled import inlined, kernel
from c3p_multibody.trees._force_kernels import inner_external
from c3p_multibody.trees._frames import (
    cross,
    down,
    fixed_up,
    inertia_of,
    place,
    swing,
    symmetric_times,
    up,
)
from c3p_multibody.trees._inertia_kernels import PIVOT_TOLERANCE
from c3p_multibody.trees.description import Arrays

ARTICULATED_WIDTH = 76


@inlined
def start(i, links, numbers, q, qd, work):
    """Write row i of an isolated body: ω, accelerations by the joint's velocity, J and p."""
    low = links[i, 0]
    kind = links[i, 1]
    at = links[i, 2]
    row = numbers[i]
    w = work[i]
    place(row, kind, q[at], w)
    c = w[0]
    s = w[1]
    rate = qd[at]
    for k in range(5, 56):
        w[k] = 0.0
    wx = 0.0
    wy = 0.0
    wz = 0.0
    if low >= 0:
        b = work[low]
        ux, uy, uz = swing(b[5], b[6], b[7], w[2], w[3], w[4])
        w[11], w[12], w[13] = down(row, c, s, ux, uy, uz)
        wx, wy, wz = down(row, c, s, b[5], b[6], b[7])
    # Coriolis terms of the joint's own motion: ω × ẑ q̇ (revolute), 2 ω × ẑ q̇ (prismatic)
    if kind == 0:
        w[8] = wy * rate
        w[9] = -wx * rate
        wz = wz + rate
    else:
        w[11], w[12] = w[11] + 2.0 * wy * rate, w[12] - 2.0 * wx * rate
    w[5] = wx
    w[6] = wy
    w[7] = wz
    hx = row[13]
    hy = row[14]
    hz = row[15]
    # J = [[I, [h]], [[h]ᵀ, m 1]], its upper triangle; p = [ω×Iω; ω×(ω×h)]
    for k in range(3):
        w[14 + 7 * k], w[35 + 7 * k] = row[16 + k], row[12]
    w[15], w[16], w[22] = row[19], row[20], row[21]
    w[18] = -hz
    w[19] = hy
    w[23] = hz
    w[25] = -hx
    w[29] = -hy
    w[30] = hx
    mirror(w)
    kx, ky, kz = symmetric_times(inertia_of(row), wx, wy, wz)
    w[50], w[51], w[52] = cross(wx, wy, wz, kx, ky, kz)
    w[53], w[54], w[55] = swing(wx, wy, wz, hx, hy, hz)


@inlined
def mirror(w):
    """Copy the upper triangle of J below its diagonal."""
    for r in range(6):
        for c in range(r):
            w[14 + 6 * r + c] = w[14 + 6 * c + r]


@inlined
def own_column(w, kind, tau):
    """Write U, D and u; return the trace of the block of D, the scale of its rounding."""
    own = 2 if kind == 0 else 5
    for r in range(6):
        w[56 + r] = w[14 + 6 * r + own]
    w[62], w[63] = w[56 + own], tau - w[50 + own]
    return w[14 + 7 * own] + w[14 + 7 * (own - 1)] + w[14 + 7 * (own - 2)]


@inlined
def let_go(w, kind):
    """Replace J and p by the parts for the lower body: ``J − U Uᵀ/D``, ``p + J' a + U u/D``."""
    own = 2 if kind == 0 else 5
    over = 1.0 / w[62]
    for r in range(6):
        part = w[56 + r] * over
        for c in range(r, 6):
            w[14 + 6 * r + c] = w[14 + 6 * r + c] - part * w[56 + c]
        w[50 + r] = w[50 + r] + part * w[63]
    # exact zeros along the joint instead of rounded differences
    for k in range(6):
        w[14 + 6 * own + k] = 0.0
        w[14 + 6 * k + own] = 0.0
    mirror(w)
    for r in range(6):
        for c in range(6):
            w[50 + r] = w[50 + r] + w[14 + 6 * r + c] * w[8 + c]


@inlined
def turn_block(row, c, s, w, at):
    """Replace the block of J that begins at ``w[at]``, B (3, 3), by R B Rᵀ."""
    # in the plane: B_xx + B_yy and B_xy − B_yx do not change
    u = s * (w[at] - w[at + 7]) + c * (w[at + 1] + w[at + 6])
    t = s * u
    w[at], w[at + 1], w[at + 6], w[at + 7] = (w[at] - t, c * u - w[at + 6], c * u - w[at + 1],
                                              w[at + 7] + t)
    w[at + 2], w[at + 8] = c * w[at + 2] - s * w[at + 8], s * w[at + 2] + c * w[at + 8]
    w[at + 12], w[at + 13] = (c * w[at + 12] - s * w[at + 13], s * w[at + 12] + c * w[at + 13])
    # then R0 by columns and by rows
    for k in range(3):
        x, y, z = fixed_up(row, w[at + k], w[at + 6 + k], w[at + 12 + k])
        w[at + k] = x
        w[at + 6 + k] = y
        w[at + 12 + k] = z
    for k in range(3):
        first = at + 6 * k
        x, y, z = fixed_up(row, w[first], w[first + 1], w[first + 2])
        w[first] = x
        w[first + 1] = y
        w[first + 2] = z


@inlined
def inwards(row, w, b):
    """Add J and p of a body to its lower body's `b`; overwrites J in `w`."""
    c = w[0]
    s = w[1]
    px = w[2]
    py = w[3]
    pz = w[4]
    for block in range(3):
        # inertia, first moments, mass; what is below the diagonal is not needed
        turn_block(row, c, s, w, 14 + (0, 3, 21)[block])
    # from the body's origin to the lower one's, p away: I + [p] Hᵀ, then H' = H + [p] M, − H' [p]
    for k in range(3):
        x, y, z = cross(px, py, pz, w[17 + 6 * k], w[18 + 6 * k], w[19 + 6 * k])
        w[14 + k], w[20 + k], w[26 + k] = w[14 + k] + x, w[20 + k] + y, w[26 + k] + z
    for k in range(3):
        # column k of M, from above its diagonal
        low = min(k, 1)
        high = max(k, 1)
        x, y, z = cross(px, py, pz, w[35 + k], w[35 + 6 * low + high], w[37 + 6 * k])
        w[17 + k], w[23 + k], w[29 + k] = w[17 + k] + x, w[23 + k] + y, w[29 + k] + z
    for k in range(3):
        x, y, z = cross(px, py, pz, w[17 + 6 * k], w[18 + 6 * k], w[19 + 6 * k])
        w[14 + 6 * k], w[15 + 6 * k], w[16 + 6 * k] = (w[14 + 6 * k] + x, w[15 + 6 * k] + y,
                                                       w[16 + 6 * k] + z)
    for r in range(6):
        for k in range(r, 6):
            b[14 + 6 * r + k] = b[14 + 6 * r + k] + w[14 + 6 * r + k]
    mirror(b)
    nx, ny, nz = up(row, c, s, w[50], w[51], w[52])
    fx, fy, fz = up(row, c, s, w[53], w[54], w[55])
    tx, ty, tz = cross(px, py, pz, fx, fy, fz)
    b[50], b[51], b[52] = b[50] + nx + tx, b[51] + ny + ty, b[52] + nz + tz
    b[53], b[54], b[55] = b[53] + fx, b[54] + fy, b[55] + fz


@inlined
def accelerate(i, links, numbers, gravity, work, qdd):
    """Write q̈ of joint i and replace the accelerations in row i by the body's own, a − g."""
    low = links[i, 0]
    at = links[i, 2]
    w = work[i]
    if low < 0:
        ax, ay, az = down(numbers[i], w[0], w[1], -gravity[0], -gravity[1], -gravity[2])
    else:
        b = work[low]
        tx, ty, tz = cross(b[8], b[9], b[10], w[2], w[3], w[4])
        ax, ay, az = down(numbers[i], w[0], w[1], b[11] + tx, b[12] + ty, b[13] + tz)
        lx, ly, lz = down(numbers[i], w[0], w[1], b[8], b[9], b[10])
        w[8], w[9], w[10] = w[8] + lx, w[9] + ly, w[10] + lz
    w[11], w[12], w[13] = w[11] + ax, w[12] + ay, w[13] + az
    rest = w[63]
    for k in range(6):
        rest = rest - w[56 + k] * w[8 + k]
    rest = rest / w[62]
    qdd[at] = rest
    own = 10 if links[i, 1] == 0 else 13
    w[own] = w[own] + rest


@kernel
def articulated(tree, q, qd, tau, external, work, qdd_out):
    """
    Write q̈ (B, n) of ``A q̈ + c = τ``; return state and body without inertia, or −1, −1.

    `external` as in `newton_euler`.
    """
    tree = Arrays(tree[0], tree[1], tree[2])
    links = tree.links
    numbers = tree.numbers
    n = len(links)
    for b in range(len(q)):
        for i in range(n):
            start(i, links, numbers, q[b], qd[b], work)
        if external.shape[1] > 0:
            for i in range(n):
                w = work[i]
                # (force, moment), while p is (moment, force); the place of U serves as memory
                inner_external(i, links, numbers, external[b], work, w[56:62])
                for k in range(3):
                    w[50 + k], w[53 + k] = w[50 + k] - w[59 + k], w[53 + k] - w[56 + k]
        for back in range(n):
            i = n - 1 - back
            kind = links[i, 1]
            size = own_column(work[i], kind, tau[b, links[i, 2]])
            if not work[i, 62] > PIVOT_TOLERANCE * size:
                return b, i
            if links[i, 0] >= 0:
                # the column U is kept for the pass outwards
                let_go(work[i], kind)
                inwards(numbers[i], work[i], work[links[i, 0]])
        for i in range(n):
            accelerate(i, links, numbers, tree.gravity, work, qdd_out[b])
    return -1, -1
