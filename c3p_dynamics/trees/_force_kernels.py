# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled inverse dynamics by Newton and Euler, joint wrenches, energy and momentum. No checks.

After the pass inwards a body's row of `work` holds, beside its motion (see _motion_kernels.py),
the force (14:17) and moment (17:20) which its joint hands to it, about its origin in inner axes.
The frames (20:32) are there only where wrenches come in or go out in world axes.
"""

from __future__ import annotations

import numpy as np

from c3p_dynamics.trees._frames import cross, fixed_up, swing, symmetric_times, up
from c3p_dynamics.trees._motion_kernels import WIDTH, orient, outwards, speed
from c3p_kinematics.compiled import inlined, kernel


@inlined
def down_all(f, x, y, z):
    """Return Rᵀ v of a frame's rotation: world axes to inner axes."""
    return (f[0] * x + f[3] * y + f[6] * z, f[1] * x + f[4] * y + f[7] * z,
            f[2] * x + f[5] * y + f[8] * z)


@inlined
def inertia_wrench(row, w):
    """Write what accelerates one body: ``m a + α×h + ω×(ω×h)`` and ``I α + ω×I ω + h×a``."""
    m, hx, hy, hz = row[12], row[13], row[14], row[15]
    wx, wy, wz, lx, ly, lz, ax, ay, az = (w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12],
                                          w[13])
    tx, ty, tz = cross(lx, ly, lz, hx, hy, hz)
    ux, uy, uz = swing(wx, wy, wz, hx, hy, hz)
    w[14], w[15], w[16] = m * ax + tx + ux, m * ay + ty + uy, m * az + tz + uz
    nx, ny, nz = symmetric_times(row[16], row[17], row[18], row[19], row[20], row[21], lx, ly, lz)
    kx, ky, kz = symmetric_times(row[16], row[17], row[18], row[19], row[20], row[21], wx, wy, wz)
    gx, gy, gz = cross(wx, wy, wz, kx, ky, kz)
    tx, ty, tz = cross(hx, hy, hz, ax, ay, az)
    w[17], w[18], w[19] = nx + gx + tx, ny + gy + ty, nz + gz + tz


@inlined
def hand_down(links, numbers, work, i):
    """Add the wrench on body i's joint to that of its lower body."""
    w, b = work[i], work[links[i, 0]]
    fx, fy, fz = up(numbers[i], w[0], w[1], w[14], w[15], w[16])
    nx, ny, nz = up(numbers[i], w[0], w[1], w[17], w[18], w[19])
    tx, ty, tz = cross(w[2], w[3], w[4], fx, fy, fz)
    b[14], b[15], b[16] = b[14] + fx, b[15] + fy, b[16] + fz
    b[17], b[18], b[19] = b[17] + nx + tx, b[18] + ny + ty, b[19] + nz + tz


@kernel
def newton_euler(links, numbers, gravity, q, qd, qdd, external, work, tau):
    """
    Write ``τ = A q̈ + c`` less what the external wrenches do.

    `external` is (n, 6) in the user's numbering, force and moment about each body's origin in
    world axes; (0, 6) where there is none.
    """
    n = len(links)
    for i in range(n):
        outwards(i, links, numbers, gravity, q, qd, qdd, work)
        inertia_wrench(numbers[i], work[i])
    if len(external) > 0:
        frames = work[:, 20:]
        for i in range(n):
            orient(i, links, numbers, work[i], frames)
            e, w = external[links[i, 2]], work[i]
            fx, fy, fz = down_all(frames[i], e[0], e[1], e[2])
            nx, ny, nz = down_all(frames[i], e[3], e[4], e[5])
            w[14], w[15], w[16] = w[14] - fx, w[15] - fy, w[16] - fz
            w[17], w[18], w[19] = w[17] - nx, w[18] - ny, w[19] - nz
    for k in range(n):
        i = n - 1 - k
        tau[links[i, 2]] = work[i, 19] if links[i, 1] == 0 else work[i, 16]
        if links[i, 0] >= 0:
            hand_down(links, numbers, work, i)


@kernel
def newton_euler_batch(links, numbers, gravity, q, qd, qdd, external, tau):
    """Write τ (B, n); `external` is (B, n, 6) or, without any, (B, 0, 6)."""
    work = np.empty((len(links), WIDTH))
    for b in range(len(q)):
        newton_euler(links, numbers, gravity, q[b], qd[b], qdd[b], external[b], work, tau[b])


@kernel
def wrenches(links, numbers, gravity, q, qd, qdd, external, wrench):
    """Write (B, n, 6): force and moment about the origin on each body by its joint, world axes."""
    n = len(links)
    work, frames, tau = np.empty((n, WIDTH)), np.empty((n, 12)), np.empty(n)
    for b in range(len(q)):
        newton_euler(links, numbers, gravity, q[b], qd[b], qdd[b], external[b], work, tau)
        for i in range(n):
            orient(i, links, numbers, work[i], frames)
            out, w = wrench[b, links[i, 2]], work[i]
            out[0], out[1], out[2] = fixed_up(frames[i], w[14], w[15], w[16])
            out[3], out[4], out[5] = fixed_up(frames[i], w[17], w[18], w[19])


@kernel
def account(links, numbers, gravity, q, qd, energy, momentum):
    """
    Write kinetic and potential energy (B, 2) and momentum (B, 6).

    ``T = ½ Σ m v² + 2 v·(ω×h) + ω·Iω``, ``V = −Σ g·(m p + R h)``; momentum is linear, then angular
    about the world's origin, in world axes.
    """
    n = len(links)
    work, frames, v = np.empty((n, WIDTH)), np.empty((n, 12)), np.empty((n, 3))
    still = np.zeros(n)
    for b in range(len(q)):
        kinetic, potential = 0.0, 0.0
        total = momentum[b]
        total[:] = 0.0
        for i in range(n):
            outwards(i, links, numbers, gravity, q[b], qd[b], still, work)
            orient(i, links, numbers, work[i], frames)
            speed(i, links, numbers, work, qd[b], v)
            row, w, f = numbers[i], work[i], frames[i]
            m, hx, hy, hz = row[12], row[13], row[14], row[15]
            tx, ty, tz = cross(w[5], w[6], w[7], hx, hy, hz)
            # linear momentum, and angular about the body's origin
            px, py, pz = m * v[i, 0] + tx, m * v[i, 1] + ty, m * v[i, 2] + tz
            kx, ky, kz = symmetric_times(row[16], row[17], row[18], row[19], row[20], row[21],
                                         w[5], w[6], w[7])
            tx, ty, tz = cross(hx, hy, hz, v[i, 0], v[i, 1], v[i, 2])
            kx, ky, kz = kx + tx, ky + ty, kz + tz
            kinetic += 0.5 * (v[i, 0] * px + v[i, 1] * py + v[i, 2] * pz
                              + w[5] * kx + w[6] * ky + w[7] * kz)
            hx, hy, hz = fixed_up(f, hx, hy, hz)
            potential -= (gravity[0] * (m * f[9] + hx) + gravity[1] * (m * f[10] + hy)
                          + gravity[2] * (m * f[11] + hz))
            px, py, pz = fixed_up(f, px, py, pz)
            kx, ky, kz = fixed_up(f, kx, ky, kz)
            tx, ty, tz = cross(f[9], f[10], f[11], px, py, pz)
            total[0], total[1], total[2] = total[0] + px, total[1] + py, total[2] + pz
            total[3], total[4], total[5] = (total[3] + kx + tx, total[4] + ky + ty,
                                            total[5] + kz + tz)
        energy[b, 0], energy[b, 1] = kinetic, potential
