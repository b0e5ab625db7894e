# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled inverse dynamics by Newton and Euler. No checks.

After the pass inwards a body's row of `work` holds, beside its motion (see _motion_kernels.py),
the force (14:17) and moment (17:20) which its joint hands to it, about its origin in inner axes.
External wrenches are given in world axes and written to 20:26 in inner ones.
"""

from __future__ import annotations

from c3p_kernels.compiled import inlined, kernel
from c3p_multibody.trees._frames import cross, inertia_of, swing, symmetric_times, up
from c3p_multibody.trees._motion_kernels import orient, outwards
from c3p_multibody.trees.description import Arrays


@inlined
def inertia_wrench(row, w):
    """Write the inertia wrench: ``m a + α×h + ω×(ω×h)`` and ``I α + ω×I ω + h×a``."""
    m = row[12]
    hx = row[13]
    hy = row[14]
    hz = row[15]
    wx = w[5]
    wy = w[6]
    wz = w[7]
    lx = w[8]
    ly = w[9]
    lz = w[10]
    ax = w[11]
    ay = w[12]
    az = w[13]
    tx, ty, tz = cross(lx, ly, lz, hx, hy, hz)
    ux, uy, uz = swing(wx, wy, wz, hx, hy, hz)
    w[14] = m * ax + tx + ux
    w[15] = m * ay + ty + uy
    w[16] = m * az + tz + uz
    nx, ny, nz = symmetric_times(inertia_of(row), lx, ly, lz)
    kx, ky, kz = symmetric_times(inertia_of(row), wx, wy, wz)
    gx, gy, gz = cross(wx, wy, wz, kx, ky, kz)
    tx, ty, tz = cross(hx, hy, hz, ax, ay, az)
    w[17] = nx + gx + tx
    w[18] = ny + gy + ty
    w[19] = nz + gz + tz


@inlined
def hand_down(links, numbers, work, i):
    """Add the wrench on body i's joint to that of its lower body."""
    w = work[i]
    b = work[links[i, 0]]
    fx, fy, fz = up(numbers[i], w[0], w[1], w[14], w[15], w[16])
    nx, ny, nz = up(numbers[i], w[0], w[1], w[17], w[18], w[19])
    tx, ty, tz = cross(w[2], w[3], w[4], fx, fy, fz)
    b[14], b[15], b[16] = b[14] + fx, b[15] + fy, b[16] + fz
    b[17], b[18], b[19] = b[17] + nx + tx, b[18] + ny + ty, b[19] + nz + tz


@inlined
def inner_external(i, links, numbers, external, work, out):
    """Write the external wrench on body i in inner axes, force and moment, to `out`."""
    orient(i, links, numbers, work)
    e = external[links[i, 2]]
    f = work[i, 64:76]
    for k in range(3):
        out[k] = f[k] * e[0] + f[3 + k] * e[1] + f[6 + k] * e[2]
        out[3 + k] = f[k] * e[3] + f[3 + k] * e[4] + f[6 + k] * e[5]


@kernel
def newton_euler(tree, q, qd, qdd, external, work, wrench_out, tau_out):
    """
    Write ``τ = A q̈ + c − Σ Jᵀ f`` (B, n).

    `external` (B, n, 6) is in the user's numbering, force and moment about each body's origin in
    world axes; (B, 0, 6) for none. `wrench_out` (B, n, 6) are the wrenches of the joints on their
    bodies, in inner axes and numbering; not written if (B, 0, 6).
    """
    tree = Arrays(tree[0], tree[1], tree[2])
    links = tree.links
    numbers = tree.numbers
    gravity = tree.gravity
    n = len(links)
    for b in range(len(q)):
        for i in range(n):
            outwards(i, tree, (-gravity[0], -gravity[1], -gravity[2]), q[b], qd[b], work)
            work[i, 10 if links[i, 1] == 0 else 13] += qdd[b, links[i, 2]]
            inertia_wrench(numbers[i], work[i])
        if external.shape[1] > 0:
            for i in range(n):
                w = work[i]
                inner_external(i, links, numbers, external[b], work, w[20:26])
                for k in range(6):
                    w[14 + k] = w[14 + k] - w[20 + k]
        for k in range(n):
            i = n - 1 - k
            tau_out[b, links[i, 2]] = work[i, 19 if links[i, 1] == 0 else 16]
            if links[i, 0] >= 0:
                hand_down(links, numbers, work, i)
        if wrench_out.shape[1] > 0:
            for i in range(n):
                for k in range(6):
                    wrench_out[b, i, k] = work[i, 14 + k]
