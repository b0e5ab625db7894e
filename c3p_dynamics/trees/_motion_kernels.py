# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled recursions from the world outwards: places, velocities, accelerations. No checks.

A body's row of `work` holds: c, s and the origin in the lower body (0:5), angular velocity (5:8),
angular acceleration (8:11) and the acceleration of its origin (11:14), all in inner axes.
"""

from __future__ import annotations

import numpy as np

from c3p_dynamics.trees._frames import cross, down, fixed_up, place, swing, up
from c3p_kinematics.compiled import inlined, kernel

# columns of `work` in the recursions of this file and of the inverse dynamics
WIDTH = 32


@inlined
def outwards(i, links, numbers, gravity, q, qd, qdd, work):
    """
    Write row i of `work`; the acceleration is that relative to free fall, a − g.

    ``ω = Rᵀω' + ẑ q̇``, ``α = Rᵀα' + Rᵀω' × ẑ q̇ + ẑ q̈`` (Kelly, eqs (1) and (2)) and
    ``a = Rᵀ(a' + α' × p + ω' × (ω' × p))``; a prismatic joint adds ``2 ω × ẑ q̇ + ẑ q̈`` to a.
    """
    low, kind, at = links[i, 0], links[i, 1], links[i, 2]
    row, w = numbers[i], work[i]
    place(row, kind, q[at], w)
    c, s = w[0], w[1]
    if low < 0:
        wx, wy, wz = 0.0, 0.0, 0.0
        lx, ly, lz = 0.0, 0.0, 0.0
        ax, ay, az = down(row, c, s, -gravity[0], -gravity[1], -gravity[2])
    else:
        b = work[low]
        px, py, pz = w[2], w[3], w[4]
        tx, ty, tz = cross(b[8], b[9], b[10], px, py, pz)
        ux, uy, uz = swing(b[5], b[6], b[7], px, py, pz)
        ax, ay, az = down(row, c, s, b[11] + tx + ux, b[12] + ty + uy, b[13] + tz + uz)
        wx, wy, wz = down(row, c, s, b[5], b[6], b[7])
        lx, ly, lz = down(row, c, s, b[8], b[9], b[10])
    if kind == 0:
        lx, ly, lz = lx + wy * qd[at], ly - wx * qd[at], lz + qdd[at]
        wz = wz + qd[at]
    else:
        ax, ay, az = ax + 2.0 * wy * qd[at], ay - 2.0 * wx * qd[at], az + qdd[at]
    w[5], w[6], w[7] = wx, wy, wz
    w[8], w[9], w[10] = lx, ly, lz
    w[11], w[12], w[13] = ax, ay, az


@inlined
def orient(i, links, numbers, w, frames):
    """Write the rotation (9) from inner to world axes and the origin (3) to row i of `frames`."""
    low = links[i, 0]
    row, f = numbers[i], frames[i]
    c, s = w[0], w[1]
    ax, ay, az = fixed_up(row, c, s, 0.0)
    bx, by, bz = fixed_up(row, -s, c, 0.0)
    cx, cy, cz = row[2], row[5], row[8]
    if low < 0:
        f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8] = ax, bx, cx, ay, by, cy, az, bz, cz
        f[9], f[10], f[11] = w[2], w[3], w[4]
    else:
        g = frames[low]
        f[0], f[3], f[6] = fixed_up(g, ax, ay, az)
        f[1], f[4], f[7] = fixed_up(g, bx, by, bz)
        f[2], f[5], f[8] = fixed_up(g, cx, cy, cz)
        x, y, z = fixed_up(g, w[2], w[3], w[4])
        f[9], f[10], f[11] = g[9] + x, g[10] + y, g[11] + z


@kernel
def frames_of(links, numbers, q, work, frames):
    """Write the world rotation (9) and origin (3) of every body, inner axes and numbering."""
    for i in range(len(links)):
        place(numbers[i], links[i, 1], q[links[i, 2]], work[i])
        orient(i, links, numbers, work[i], frames)


@kernel
def poses(links, numbers, q, rotation, translation):
    """Write rotation (B, n, 3, 3) and translation (B, n, 3), the user's axes and numbering."""
    n = len(links)
    work, frames = np.empty((n, WIDTH)), np.empty((n, 12))
    for b in range(len(q)):
        frames_of(links, numbers, q[b], work, frames)
        for i in range(n):
            at = links[i, 2]
            for j in range(3):
                translation[b, at, j] = frames[i, 9 + j]
                for k in range(3):
                    # inner axes back to the user's: R Qᵀ
                    rotation[b, at, j, k] = (frames[i, 3 * j] * numbers[i, 22 + 3 * k]
                                             + frames[i, 3 * j + 1] * numbers[i, 23 + 3 * k]
                                             + frames[i, 3 * j + 2] * numbers[i, 24 + 3 * k])


@inlined
def speed(i, links, numbers, work, qd, v):
    """Write the velocity of body i's origin, in inner axes, to ``v[i]``; needs ω in `work`."""
    low, kind, at = links[i, 0], links[i, 1], links[i, 2]
    w = work[i]
    if low < 0:
        v[i, 0], v[i, 1], v[i, 2] = 0.0, 0.0, 0.0
    else:
        b = work[low]
        tx, ty, tz = cross(b[5], b[6], b[7], w[2], w[3], w[4])
        v[i, 0], v[i, 1], v[i, 2] = down(numbers[i], w[0], w[1], v[low, 0] + tx, v[low, 1] + ty,
                                         v[low, 2] + tz)
    if kind == 1:
        v[i, 2] += qd[at]


@kernel
def velocities(links, numbers, q, qd, velocity):
    """Write (B, n, 6): velocity of the origin, angular velocity; world axes, user's numbering."""
    n = len(links)
    work, frames, v = np.empty((n, WIDTH)), np.empty((n, 12)), np.empty((n, 3))
    still, weightless = np.zeros(n), np.zeros(3)
    for b in range(len(q)):
        for i in range(n):
            outwards(i, links, numbers, weightless, q[b], qd[b], still, work)
            orient(i, links, numbers, work[i], frames)
            speed(i, links, numbers, work, qd[b], v)
            out, w = velocity[b, links[i, 2]], work[i]
            out[0], out[1], out[2] = fixed_up(frames[i], v[i, 0], v[i, 1], v[i, 2])
            out[3], out[4], out[5] = fixed_up(frames[i], w[5], w[6], w[7])


@inlined
def inner_point(row, point):
    """Return a point of the body, given in the user's axes, in inner axes: Qᵀ p."""
    return (row[22] * point[0] + row[25] * point[1] + row[28] * point[2],
            row[23] * point[0] + row[26] * point[1] + row[29] * point[2],
            row[24] * point[0] + row[27] * point[1] + row[30] * point[2])


@kernel
def jacobian(links, numbers, frames, i, point, out):
    """
    Write the Jacobian (6, n) of a point of body i (inner number): velocity, angular velocity.

    `point` is in the body's own axes as the user gave them; `frames` come from `frames_of`.
    """
    out[:] = 0.0
    x, y, z = inner_point(numbers[i], point)
    x, y, z = fixed_up(frames[i], x, y, z)
    x, y, z = x + frames[i, 9], y + frames[i, 10], z + frames[i, 11]
    while i >= 0:
        f, at = frames[i], links[i, 2]
        ex, ey, ez = f[2], f[5], f[8]
        if links[i, 1] == 0:
            out[0, at], out[1, at], out[2, at] = cross(ex, ey, ez, x - f[9], y - f[10], z - f[11])
            out[3, at], out[4, at], out[5, at] = ex, ey, ez
        else:
            out[0, at], out[1, at], out[2, at] = ex, ey, ez
        i = links[i, 0]


@kernel
def jacobians(links, numbers, q, i, point, out):
    """Write the Jacobians (B, 6, n) of a point of body i (inner number)."""
    n = len(links)
    work, frames = np.empty((n, WIDTH)), np.empty((n, 12))
    for b in range(len(q)):
        frames_of(links, numbers, q[b], work, frames)
        jacobian(links, numbers, frames, i, point, out[b])


@kernel
def drift(links, numbers, q, qd, i, point, work, frames, out):
    """Write J̇ q̇ (6,) of a point of body i (inner number): its accelerations at q̈ = 0."""
    still, weightless = np.zeros(len(links)), np.zeros(3)
    # lower bodies have smaller numbers
    for k in range(i + 1):
        outwards(k, links, numbers, weightless, q, qd, still, work)
        orient(k, links, numbers, work[k], frames)
    w = work[i]
    x, y, z = inner_point(numbers[i], point)
    tx, ty, tz = cross(w[8], w[9], w[10], x, y, z)
    ux, uy, uz = swing(w[5], w[6], w[7], x, y, z)
    out[0], out[1], out[2] = fixed_up(frames[i], w[11] + tx + ux, w[12] + ty + uy, w[13] + tz + uz)
    out[3], out[4], out[5] = fixed_up(frames[i], w[8], w[9], w[10])


@kernel
def drifts(links, numbers, q, qd, i, point, out):
    """Write J̇ q̇ (B, 6) of a point of body i (inner number)."""
    n = len(links)
    work, frames = np.empty((n, WIDTH)), np.empty((n, 12))
    for b in range(len(q)):
        drift(links, numbers, q[b], qd[b], i, point, work, frames, out[b])
