# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled forward dynamics by articulated bodies. No checks.

A body's row of `work` holds its motion at q̈ = 0 relative to its lower body (0:14, see
_motion_kernels.py; there the accelerations are only what the joint's velocity adds), the
articulated inertia ``[n; f] = [[I, H], [Hᵀ, M]] [α; a] + [n0; f0]`` as I (14:20), H (20:29), M
(29:35), then n0 (35:38) and f0 (38:41), the column of the joint's own freedom (41:47), its inertia
D (47), the torque left over for it, u (48), and its frame where external wrenches come in (49:61).
"""

from __future__ import annotations

from c3p_dynamics.trees._force_kernels import take_external
from c3p_dynamics.trees._frames import (
    cross,
    down,
    matrix_up,
    place,
    swing,
    symmetric_times,
    symmetric_up,
    up,
)
from c3p_dynamics.trees._inertia_kernels import PIVOT_TOLERANCE
from c3p_kinematics.compiled import inlined, kernel

ARTICULATED_WIDTH = 61


@inlined
def start(i, links, numbers, q, qd, work):
    """Write row i as if the body were alone: ω, what the joint's velocity adds, inertia, bias."""
    low, kind, at = links[i, 0], links[i, 1], links[i, 2]
    row, w = numbers[i], work[i]
    place(row, kind, q[at], w)
    c, s = w[0], w[1]
    wx, wy, wz = 0.0, 0.0, 0.0
    ax, ay, az = 0.0, 0.0, 0.0
    if low >= 0:
        b = work[low]
        ux, uy, uz = swing(b[5], b[6], b[7], w[2], w[3], w[4])
        ax, ay, az = down(row, c, s, ux, uy, uz)
        wx, wy, wz = down(row, c, s, b[5], b[6], b[7])
    lx, ly = 0.0, 0.0
    if kind == 0:
        lx, ly, wz = wy * qd[at], -wx * qd[at], wz + qd[at]
    else:
        ax, ay = ax + 2.0 * wy * qd[at], ay - 2.0 * wx * qd[at]
    w[5], w[6], w[7] = wx, wy, wz
    w[8], w[9], w[10] = lx, ly, 0.0
    w[11], w[12], w[13] = ax, ay, az
    m, hx, hy, hz = row[12], row[13], row[14], row[15]
    for k in range(6):
        w[14 + k] = row[16 + k]
    w[20], w[21], w[22] = 0.0, -hz, hy
    w[23], w[24], w[25] = hz, 0.0, -hx
    w[26], w[27], w[28] = -hy, hx, 0.0
    w[29], w[30], w[31], w[32], w[33], w[34] = m, m, m, 0.0, 0.0, 0.0
    kx, ky, kz = symmetric_times(row[16], row[17], row[18], row[19], row[20], row[21], wx, wy, wz)
    w[35], w[36], w[37] = cross(wx, wy, wz, kx, ky, kz)
    w[38], w[39], w[40] = swing(wx, wy, wz, hx, hy, hz)


@inlined
def own_column(w, kind, tau):
    """Write the column of the joint's freedom, D and u; return the size that D is a part of."""
    if kind == 0:
        w[41], w[42], w[43], w[44], w[45], w[46] = w[18], w[19], w[16], w[26], w[27], w[28]
        w[47], w[48] = w[16], tau - w[37]
        return w[14] + w[15] + w[16]
    w[41], w[42], w[43], w[44], w[45], w[46] = w[22], w[25], w[28], w[33], w[34], w[31]
    w[47], w[48] = w[31], tau - w[40]
    return w[29] + w[30] + w[31]


@inlined
def let_go(w, kind):
    """Leave of inertia and bias what the joint hands down: ``− U Uᵀ/D`` and ``+ U u/D``."""
    # what is left along the joint is zero, not the difference of equals
    over = 1.0 / w[47]
    ux, uy, uz, vx, vy, vz = w[41], w[42], w[43], w[44], w[45], w[46]
    gx, gy, gz, fx, fy, fz = ux * over, uy * over, uz * over, vx * over, vy * over, vz * over
    w[14], w[15], w[17] = w[14] - ux * gx, w[15] - uy * gy, w[17] - ux * gy
    w[20], w[21], w[23], w[24] = (w[20] - ux * fx, w[21] - ux * fy, w[23] - uy * fx,
                                  w[24] - uy * fy)
    w[29], w[30], w[32] = w[29] - vx * fx, w[30] - vy * fy, w[32] - vx * fy
    if kind == 0:
        w[16], w[18], w[19], w[26], w[27], w[28] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        w[22], w[25] = w[22] - ux * fz, w[25] - uy * fz
        w[31], w[33], w[34] = w[31] - vz * fz, w[33] - vx * fz, w[34] - vy * fz
    else:
        w[22], w[25], w[28], w[31], w[33], w[34] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        w[26], w[27] = w[26] - uz * fx, w[27] - uz * fy
        w[16], w[18], w[19] = w[16] - uz * gz, w[18] - ux * gz, w[19] - uy * gz
    u = w[48]
    lx, ly, lz, ax, ay, az = w[8], w[9], w[10], w[11], w[12], w[13]
    nx, ny, nz = symmetric_times(w[14], w[15], w[16], w[17], w[18], w[19], lx, ly, lz)
    w[35] = w[35] + nx + w[20] * ax + w[21] * ay + w[22] * az + gx * u
    w[36] = w[36] + ny + w[23] * ax + w[24] * ay + w[25] * az + gy * u
    w[37] = w[37] + nz + w[26] * ax + w[27] * ay + w[28] * az + gz * u
    nx, ny, nz = symmetric_times(w[29], w[30], w[31], w[32], w[33], w[34], ax, ay, az)
    w[38] = w[38] + nx + w[20] * lx + w[23] * ly + w[26] * lz + fx * u
    w[39] = w[39] + ny + w[21] * lx + w[24] * ly + w[27] * lz + fy * u
    w[40] = w[40] + nz + w[22] * lx + w[25] * ly + w[28] * lz + fz * u


@inlined
def inwards(row, w, b):
    """Add the articulated inertia and bias `w` of a body, seen from the lower body, to its `b`."""
    c, s, px, py, pz = w[0], w[1], w[2], w[3], w[4]
    mxx, myy, mzz, mxy, mxz, myz = symmetric_up(row, c, s, w[29], w[30], w[31], w[32], w[33],
                                                w[34])
    h0, h1, h2, h3, h4, h5, h6, h7, h8 = matrix_up(row, c, s, w[20:29])
    xx, yy, zz, xy, xz, yz = symmetric_up(row, c, s, w[14], w[15], w[16], w[17], w[18], w[19])
    # H' = H + [p] M, by columns
    ax, ay, az = cross(px, py, pz, mxx, mxy, mxz)
    bx, by, bz = cross(px, py, pz, mxy, myy, myz)
    cx, cy, cz = cross(px, py, pz, mxz, myz, mzz)
    g0, g1, g2, g3, g4, g5, g6, g7, g8 = (h0 + ax, h1 + bx, h2 + cx, h3 + ay, h4 + by, h5 + cy,
                                          h6 + az, h7 + bz, h8 + cz)
    # I' = I + [p] Hᵀ − H' [p]
    b[14] = b[14] + xx + (py * h2 - pz * h1) + (py * g2 - pz * g1)
    b[15] = b[15] + yy + (pz * h3 - px * h5) + (pz * g3 - px * g5)
    b[16] = b[16] + zz + (px * h7 - py * h6) + (px * g7 - py * g6)
    b[17] = b[17] + xy + (py * h5 - pz * h4) + (pz * g0 - px * g2)
    b[18] = b[18] + xz + (py * h8 - pz * h7) + (px * g1 - py * g0)
    b[19] = b[19] + yz + (pz * h6 - px * h8) + (px * g4 - py * g3)
    b[20], b[21], b[22] = b[20] + g0, b[21] + g1, b[22] + g2
    b[23], b[24], b[25] = b[23] + g3, b[24] + g4, b[25] + g5
    b[26], b[27], b[28] = b[26] + g6, b[27] + g7, b[28] + g8
    b[29], b[30], b[31] = b[29] + mxx, b[30] + myy, b[31] + mzz
    b[32], b[33], b[34] = b[32] + mxy, b[33] + mxz, b[34] + myz
    nx, ny, nz = up(row, c, s, w[35], w[36], w[37])
    fx, fy, fz = up(row, c, s, w[38], w[39], w[40])
    tx, ty, tz = cross(px, py, pz, fx, fy, fz)
    b[35], b[36], b[37] = b[35] + nx + tx, b[36] + ny + ty, b[37] + nz + tz
    b[38], b[39], b[40] = b[38] + fx, b[39] + fy, b[40] + fz


@inlined
def accelerate(i, links, numbers, gravity, work, qdd):
    """Write q̈ of joint i and replace the accelerations in row i by the body's own, a − g."""
    low, kind, at = links[i, 0], links[i, 1], links[i, 2]
    w = work[i]
    if low < 0:
        lx, ly, lz = 0.0, 0.0, 0.0
        ax, ay, az = down(numbers[i], w[0], w[1], -gravity[0], -gravity[1], -gravity[2])
    else:
        b = work[low]
        tx, ty, tz = cross(b[8], b[9], b[10], w[2], w[3], w[4])
        ax, ay, az = down(numbers[i], w[0], w[1], b[11] + tx, b[12] + ty, b[13] + tz)
        lx, ly, lz = down(numbers[i], w[0], w[1], b[8], b[9], b[10])
    lx, ly, lz = lx + w[8], ly + w[9], lz + w[10]
    ax, ay, az = ax + w[11], ay + w[12], az + w[13]
    rest = (w[48] - (w[41] * lx + w[42] * ly + w[43] * lz + w[44] * ax + w[45] * ay + w[46] * az)
            ) / w[47]
    qdd[at] = rest
    if kind == 0:
        lz = lz + rest
    else:
        az = az + rest
    w[8], w[9], w[10] = lx, ly, lz
    w[11], w[12], w[13] = ax, ay, az


@kernel
def articulated(links, numbers, gravity, q, qd, tau, external, work, qdd):
    """
    Write q̈ (B, n) of ``A q̈ + c = τ``; return state and body without inertia, or −1, −1.

    `external` as in `newton_euler`.
    """
    n = len(links)
    for b in range(len(q)):
        for i in range(n):
            start(i, links, numbers, q[b], qd[b], work)
        if external.shape[1] > 0:
            for i in range(n):
                take_external(i, links, numbers, external[b], work, 49, 38, 35)
        for back in range(n):
            i = n - 1 - back
            kind = links[i, 1]
            size = own_column(work[i], kind, tau[b, links[i, 2]])
            if not work[i, 47] > PIVOT_TOLERANCE * size:
                return b, i
            if links[i, 0] >= 0:
                # outwards the column is needed again; the inertia is handed down
                let_go(work[i], kind)
                inwards(numbers[i], work[i], work[links[i, 0]])
        for i in range(n):
            accelerate(i, links, numbers, gravity, work, qdd[b])
    return -1, -1
