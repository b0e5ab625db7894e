# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Armstrong's linear recursion between force and acceleration, for turning joints. No checks.

The wrench that a joint hands to its body is linear in the acceleration of the body's origin and
in its angular acceleration, ``f = M a + N α + k`` and ``n = Nᵀ a + P α + l``: the recursion
coefficients. The joint's own acceleration is eliminated by ``z·n = τ``. M, N and P are kept as
full 3 × 3 matrices, turned as products; Featherstone's articulated bodies are the same recursion
with symmetric matrices.

A body's row of `work` holds R (0:9), M (9:18), N (18:27), P (27:36), k (36:39), l (39:42),
ω (42:45), τ − l_z (45), a (46:49), α (49:52), Coriolis' ζ (52:55) and a matrix (55:64).
"""

from __future__ import annotations

from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.elementary import circle
from c3p_multibody.comparison._lagrange_kernels import product, rotation, times
from c3p_multibody.trees._frames import cross, inertia_of, swing, symmetric_times

ARMSTRONG_WIDTH = 64


@inlined
def times_back(a, x, y, z):
    """Return the product of a transposed 3 × 3 matrix and a vector."""
    return (a[0] * x + a[3] * y + a[6] * z, a[1] * x + a[4] * y + a[7] * z,
            a[2] * x + a[5] * y + a[8] * z)


@inlined
def alone(i, row, c, s, rate, work):
    """Write rotation, velocity and the coefficients of body i alone."""
    w = work[i]
    rotation(row, c, s, w[0:9])
    x = 0.0
    y = 0.0
    z = 0.0
    if i > 0:
        b = work[i - 1]
        x, y, z = times_back(w[0:9], b[42], b[43], b[44])
    # ω of the lower body × z q̇
    w[52] = y * rate
    w[53] = -x * rate
    w[54] = 0.0
    w[42] = x
    w[43] = y
    w[44] = z + rate
    m = row[12]
    hx = row[13]
    hy = row[14]
    hz = row[15]
    for k in range(9):
        w[9 + k] = 0.0
    w[9] = m
    w[13] = m
    w[17] = m
    # N α = α × h
    w[18] = 0.0
    w[19] = hz
    w[20] = -hy
    w[21] = -hz
    w[22] = 0.0
    w[23] = hx
    w[24] = hy
    w[25] = -hx
    w[26] = 0.0
    w[27], w[28], w[29] = row[16], row[19], row[20]
    w[30], w[31], w[32] = row[19], row[17], row[21]
    w[33], w[34], w[35] = row[20], row[21], row[18]
    w[36], w[37], w[38] = swing(w[42], w[43], w[44], hx, hy, hz)
    x, y, z = symmetric_times(inertia_of(row), w[42], w[43],
                              w[44])
    w[39], w[40], w[41] = cross(w[42], w[43], w[44], x, y, z)


@inlined
def eliminate(w, tau):
    """Replace the coefficients by those with the joint's acceleration eliminated."""
    over = 1.0 / w[35]
    w[45] = tau - w[41]
    # last columns of N and P
    nx = w[20]
    ny = w[23]
    nz = w[26]
    px = w[29]
    py = w[32]
    pz = w[35]
    for k in range(3):
        share = over * (nx if k == 0 else (ny if k == 1 else nz))
        turn = over * (px if k == 0 else (py if k == 1 else pz))
        at = 3 * k
        w[9 + at], w[10 + at], w[11 + at] = (w[9 + at] - share * nx, w[10 + at] - share * ny,
                                             w[11 + at] - share * nz)
        w[18 + at], w[19 + at], w[20 + at] = (w[18 + at] - share * px, w[19 + at] - share * py,
                                              w[20 + at] - share * pz)
        w[27 + at], w[28 + at], w[29 + at] = (w[27 + at] - turn * px, w[28 + at] - turn * py,
                                              w[29 + at] - turn * pz)
        w[36 + k] = w[36 + k] + share * w[45]
        w[39 + k] = w[39 + k] + turn * w[45]
    # ζ is part of the angular acceleration
    x, y, z = times(w[18:27], w[52], w[53], w[54])
    w[36], w[37], w[38] = w[36] + x, w[37] + y, w[38] + z
    x, y, z = times(w[27:36], w[52], w[53], w[54])
    w[39], w[40], w[41] = w[39] + x, w[40] + y, w[41] + z


@inlined
def turn_matrix(r, x, between):
    """Replace x by ``R x Rᵀ``."""
    product(r, x, between)
    for i in range(3):
        for j in range(3):
            x[3 * i + j] = (between[3 * i] * r[3 * j] + between[3 * i + 1] * r[3 * j + 1]
                            + between[3 * i + 2] * r[3 * j + 2])


@inlined
def add_times_skew(x, p, out):
    """Add ``−x [p]×`` to `out`: minus each row of x crossed with p."""
    for i in range(3):
        tx, ty, tz = cross(x[3 * i], x[3 * i + 1], x[3 * i + 2], p[0], p[1], p[2])
        out[3 * i], out[3 * i + 1], out[3 * i + 2] = (out[3 * i] - tx, out[3 * i + 1] - ty,
                                                      out[3 * i + 2] - tz)


@inlined
def hand_down(row, w, b):
    """Turn the coefficients of a body to the axes of the lower body b, shift and add them."""
    for at in (9, 18, 27):
        turn_matrix(w[0:9], w[at:at + 9], w[55:64])
    fx, fy, fz = times(w[0:9], w[36], w[37], w[38])
    nx, ny, nz = times(w[0:9], w[39], w[40], w[41])
    p = row[9:12]
    bx, by, bz = swing(b[42], b[43], b[44], p[0], p[1], p[2])
    x, y, z = times_back(w[18:27], bx, by, bz)
    nx = nx + x
    ny = ny + y
    nz = nz + z
    x, y, z = times(w[9:18], bx, by, bz)
    fx = fx + x
    fy = fy + y
    fz = fz + z
    # P − Nᵀ[p] with Nᵀ by rows, then N − M[p], then P + [p]N
    for i in range(3):
        for j in range(3):
            w[55 + 3 * i + j] = w[18 + 3 * j + i]
    add_times_skew(w[55:64], p, w[27:36])
    add_times_skew(w[9:18], p, w[18:27])
    for j in range(3):
        tx, ty, tz = cross(p[0], p[1], p[2], w[18 + j], w[21 + j], w[24 + j])
        w[27 + j], w[30 + j], w[33 + j] = w[27 + j] + tx, w[30 + j] + ty, w[33 + j] + tz
    for k in range(27):
        b[9 + k] = b[9 + k] + w[9 + k]
    tx, ty, tz = cross(p[0], p[1], p[2], fx, fy, fz)
    b[36], b[37], b[38] = b[36] + fx, b[37] + fy, b[38] + fz
    b[39], b[40], b[41] = b[39] + nx + tx, b[40] + ny + ty, b[41] + nz + tz


@inlined
def accelerate(i, row, gravity, kept, work):
    """Return q̈ of joint i; `kept` (5) are N_z, 1/P_zz and P_z's first two before elimination."""
    w = work[i]
    if i == 0:
        x, y, z = times_back(w[0:9], -gravity[0], -gravity[1], -gravity[2])
        lx = w[52]
        ly = w[53]
        lz = w[54]
    else:
        b = work[i - 1]
        tx, ty, tz = cross(b[49], b[50], b[51], row[9], row[10], row[11])
        ux, uy, uz = swing(b[42], b[43], b[44], row[9], row[10], row[11])
        x, y, z = times_back(w[0:9], b[46] + tx + ux, b[47] + ty + uy, b[48] + tz + uz)
        lx, ly, lz = times_back(w[0:9], b[49], b[50], b[51])
        lx, ly = lx + w[52], ly + w[53]
    along = kept[0] * x + kept[1] * y + kept[2] * z + kept[4] * lx + kept[5] * ly
    accel = kept[3] * (w[45] - along) - lz
    w[46] = x
    w[47] = y
    w[48] = z
    w[49] = lx
    w[50] = ly
    w[51] = lz + accel
    return accel


@kernel
def armstrong(tree, q, qd, tau, work, kept, qdd_out):
    """Write q̈ (B, n) of q, q̇, τ (B, n) of a chain; `kept` (n, 6) is work memory, too."""
    links = tree.links
    numbers = tree.numbers
    n = len(links)
    for state in range(len(q)):
        for i in range(n):
            at = links[i, 2]
            c, s = circle(q[state, at])
            alone(i, numbers[i], c, s, qd[state, at], work)
        for back in range(n):
            i = n - 1 - back
            w = work[i]
            kept[i, 0], kept[i, 1], kept[i, 2] = w[20], w[23], w[26]
            kept[i, 3], kept[i, 4], kept[i, 5] = 1.0 / w[35], w[29], w[32]
            eliminate(w, tau[state, links[i, 2]])
            if i > 0:
                hand_down(numbers[i], w, work[i - 1])
        for i in range(n):
            qdd_out[state, links[i, 2]] = accelerate(i, numbers[i], tree.gravity, kept[i], work)
