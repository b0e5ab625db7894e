# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled recursions from the world outwards: places, velocities, accelerations. No checks.

A body's row of `work` holds: c, s and the origin in the lower body (0:5), angular velocity (5:8),
angular acceleration (8:11) and the acceleration of its origin (11:14), all in inner axes; where it
is needed, the frame (64:76): rotation from inner to world axes by rows, and origin. The leading
axis of all states and results is the batch; bodies are in inner numbering. `tree` is
`description.Arrays`.
"""

from __future__ import annotations

from c3p_kernels.compiled import inlined, kernel
from c3p_multibody.trees._frames import (
    cross,
    down,
    fixed_up,
    inertia_of,
    place,
    swing,
    symmetric_times,
)
from c3p_multibody.trees.description import Arrays

# columns of `work` here and in the inverse dynamics; of `frames`: rotation from inner to world
# axes by rows, origin; of `motion`: velocity, angular velocity, acceleration, angular one; of
# `totals`: kinetic and potential energy, momentum, angular momentum about the world's origin
WIDTH = 76
FRAME = 12
MOTION = 12
TOTALS = 8


@inlined
def outwards(i, tree, accel, q, qd, work):
    """
    Write row i of `work` for q̈ = 0 in a world that accelerates with `accel` (3).

    ``ω = Rᵀω' + ẑ q̇``, ``α = Rᵀα' + Rᵀω' × ẑ q̇`` (Kelly, eqs (1) and (2)) and
    ``a = Rᵀ(a' + α' × p + ω' × (ω' × p))``; a prismatic joint adds ``2 ω × ẑ q̇`` to a.
    """
    low = tree.links[i, 0]
    kind = tree.links[i, 1]
    at = tree.links[i, 2]
    row = tree.numbers[i]
    w = work[i]
    place(row, kind, q[at], w)
    c, s = w[0], w[1]
    if low < 0:
        wx = 0.0
        wy = 0.0
        wz = 0.0
        lx = 0.0
        ly = 0.0
        lz = 0.0
        ax, ay, az = down(row, c, s, accel[0], accel[1], accel[2])
    else:
        b = work[low]
        px = w[2]
        py = w[3]
        pz = w[4]
        tx, ty, tz = cross(b[8], b[9], b[10], px, py, pz)
        ux, uy, uz = swing(b[5], b[6], b[7], px, py, pz)
        ax, ay, az = down(row, c, s, b[11] + tx + ux, b[12] + ty + uy, b[13] + tz + uz)
        wx, wy, wz = down(row, c, s, b[5], b[6], b[7])
        lx, ly, lz = down(row, c, s, b[8], b[9], b[10])
    if kind == 0:
        lx = lx + wy * qd[at]
        ly = ly - wx * qd[at]
        wz = wz + qd[at]
    else:
        ax, ay = ax + 2.0 * wy * qd[at], ay - 2.0 * wx * qd[at]
    w[5] = wx
    w[6] = wy
    w[7] = wz
    w[8] = lx
    w[9] = ly
    w[10] = lz
    w[11] = ax
    w[12] = ay
    w[13] = az


@inlined
def orient(i, links, numbers, work):
    """Write the rotation from inner to world axes and the origin to ``work[i, 64:76]``."""
    low = links[i, 0]
    row = numbers[i]
    w = work[i]
    f = w[64:76]
    c = w[0]
    s = w[1]
    # the columns of R
    f[0], f[3], f[6] = fixed_up(row, c, s, 0.0)
    f[1], f[4], f[7] = fixed_up(row, -s, c, 0.0)
    f[2], f[5], f[8] = row[2], row[5], row[8]
    f[9], f[10], f[11] = w[2], w[3], w[4]
    if low >= 0:
        g = work[low, 64:76]
        for k in range(3):
            f[k], f[3 + k], f[6 + k] = fixed_up(g, f[k], f[3 + k], f[6 + k])
        x, y, z = fixed_up(g, f[9], f[10], f[11])
        f[9], f[10], f[11] = g[9] + x, g[10] + y, g[11] + z


@inlined
def speed(i, links, numbers, qd, work):
    """Write the velocity of body i's origin, in inner axes, to ``work[i, 14:17]``."""
    low = links[i, 0]
    w = work[i]
    x = 0.0
    y = 0.0
    z = 0.0
    if low >= 0:
        b = work[low]
        tx, ty, tz = cross(b[5], b[6], b[7], w[2], w[3], w[4])
        x, y, z = down(numbers[i], w[0], w[1], b[14] + tx, b[15] + ty, b[16] + tz)
    if links[i, 1] == 1:
        z = z + qd[links[i, 2]]
    w[14] = x
    w[15] = y
    w[16] = z


@inlined
def tally(row, w, f, gravity, total):
    """
    Add energy and momentum of one body to `total`.

    ``T = ½ (m v² + 2 v·(ω×h) + ω·Iω)``, ``V = −g·(m p + R h)``.
    """
    m = row[12]
    hx = row[13]
    hy = row[14]
    hz = row[15]
    vx = w[14]
    vy = w[15]
    vz = w[16]
    tx, ty, tz = cross(w[5], w[6], w[7], hx, hy, hz)
    # linear momentum, and angular about the body's origin
    px = m * vx + tx
    py = m * vy + ty
    pz = m * vz + tz
    kx, ky, kz = symmetric_times(inertia_of(row), w[5], w[6],
                                 w[7])
    tx, ty, tz = cross(hx, hy, hz, vx, vy, vz)
    kx = kx + tx
    ky = ky + ty
    kz = kz + tz
    total[0] += 0.5 * (vx * px + vy * py + vz * pz + w[5] * kx + w[6] * ky + w[7] * kz)
    hx, hy, hz = fixed_up(f, hx, hy, hz)
    total[1] -= (gravity[0] * (m * f[9] + hx) + gravity[1] * (m * f[10] + hy)
                 + gravity[2] * (m * f[11] + hz))
    px, py, pz = fixed_up(f, px, py, pz)
    kx, ky, kz = fixed_up(f, kx, ky, kz)
    tx, ty, tz = cross(f[9], f[10], f[11], px, py, pz)
    total[2], total[3], total[4] = total[2] + px, total[3] + py, total[4] + pz
    total[5], total[6], total[7] = total[5] + kx + tx, total[6] + ky + ty, total[7] + kz + tz


@kernel
def observe(tree, q, qd, work, frames_out, motion_out, totals_out):
    """
    Write frames, motion at q̈ = 0 (without gravity) and energies of all states.

    `frames_out` (B, n, 12), `motion_out` (B, n, 12) and `totals_out` (B, 8) have the columns named
    above.
    """
    tree = Arrays(tree[0], tree[1], tree[2])
    links = tree.links
    numbers = tree.numbers
    for b in range(len(q)):
        for k in range(TOTALS):
            totals_out[b, k] = 0.0
        for i in range(len(links)):
            w = work[i]
            f = frames_out[b, i]
            out = motion_out[b, i]
            outwards(i, tree, (0.0, 0.0, 0.0), q[b], qd[b], work)
            orient(i, links, numbers, work)
            speed(i, links, numbers, qd[b], work)
            for k in range(FRAME):
                f[k] = w[64 + k]
            out[0], out[1], out[2] = fixed_up(f, w[14], w[15], w[16])
            out[3], out[4], out[5] = fixed_up(f, w[5], w[6], w[7])
            out[6], out[7], out[8] = fixed_up(f, w[11], w[12], w[13])
            out[9], out[10], out[11] = fixed_up(f, w[8], w[9], w[10])
            tally(numbers[i], w, f, tree.gravity, totals_out[b])


@kernel
def jacobian(links, frames, i, point, out):
    """
    Write the Jacobian (6, n) of a point of body i: velocity, angular velocity; world axes.

    `point` (3,) is in inner axes of the body, `frames` (n, 12) of this state come from `observe`.
    """
    out[:] = 0.0
    x, y, z = fixed_up(frames[i], point[0], point[1], point[2])
    x = x + frames[i, 9]
    y = y + frames[i, 10]
    z = z + frames[i, 11]
    while i >= 0:
        f = frames[i]
        at = links[i, 2]
        ex = f[2]
        ey = f[5]
        ez = f[8]
        if links[i, 1] == 0:
            out[0, at], out[1, at], out[2, at] = cross(ex, ey, ez, x - f[9], y - f[10], z - f[11])
            out[3, at] = ex
            out[4, at] = ey
            out[5, at] = ez
        else:
            out[0, at] = ex
            out[1, at] = ey
            out[2, at] = ez
        i = links[i, 0]
