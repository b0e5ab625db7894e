# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Frames, inertia matrix and bias of a tree in one sweep out and one in, in world axes. No checks.

Constraints need places, velocities and accelerations in world axes. With these the bias and the
inertia matrix need no rotations either, only shifts between the bodies' origins.

A row of `frames` (n + 1, 24; the last one is the world, so that index −1 finds it) holds rotation
(9) from inner to world axes by rows, origin (9:12), velocity (12:15), angular velocity (15:18) and
at q̈ = 0 acceleration (18:21) and angular acceleration (21:24). A row of `bodies` (n, 16) holds of
the body and all that it carries, about its origin in world axes: mass, first moment (1:4), inertia
xx yy zz xy xz yz (4:10), force (10:13) and moment (13:16) at q̈ = 0.
"""

from __future__ import annotations

from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.elementary import circle
from c3p_multibody.trees._frames import cross, inertia_of, swing, symmetric_times

FRAME = 24
BODY = 16


@inlined
def turned(r, x, y, z):
    """Return R v."""
    return (r[0] * x + r[1] * y + r[2] * z, r[3] * x + r[4] * y + r[5] * z,
            r[6] * x + r[7] * y + r[8] * z)


@inlined
def outwards(i, links, numbers, q, qd, frames):
    """Write row i of `frames`; Kelly, eqs (1) and (2), and the same for points."""
    at = links[i, 2]
    row = numbers[i]
    low = frames[links[i, 0]]
    f = frames[i]
    ax, ay, az = turned(low, row[0], row[3], row[6])
    bx, by, bz = turned(low, row[1], row[4], row[7])
    ex, ey, ez = turned(low, row[2], row[5], row[8])
    dx, dy, dz = turned(low, row[9], row[10], row[11])
    rate = qd[at]
    wx = low[15]
    wy = low[16]
    wz = low[17]
    lx = low[21]
    ly = low[22]
    lz = low[23]
    # the joint's own motion adds e q̇, and ω × e q̇ once or (Coriolis, prismatic) twice
    tx, ty, tz = cross(wx, wy, wz, ex * rate, ey * rate, ez * rate)
    if links[i, 1] == 0:
        c, s = circle(q[at])
        f[0] = c * ax + s * bx
        f[3] = c * ay + s * by
        f[6] = c * az + s * bz
        f[1] = c * bx - s * ax
        f[4] = c * by - s * ay
        f[7] = c * bz - s * az
        f[15] = wx + ex * rate
        f[16] = wy + ey * rate
        f[17] = wz + ez * rate
        f[21] = lx + tx
        f[22] = ly + ty
        f[23] = lz + tz
        tx = 0.0
        ty = 0.0
        tz = 0.0
        rate = 0.0
    else:
        f[0] = ax
        f[3] = ay
        f[6] = az
        f[1] = bx
        f[4] = by
        f[7] = bz
        f[15] = wx
        f[16] = wy
        f[17] = wz
        f[21] = lx
        f[22] = ly
        f[23] = lz
        dx = dx + ex * q[at]
        dy = dy + ey * q[at]
        dz = dz + ez * q[at]
    f[2] = ex
    f[5] = ey
    f[8] = ez
    f[9], f[10], f[11] = low[9] + dx, low[10] + dy, low[11] + dz
    ux, uy, uz = cross(wx, wy, wz, dx, dy, dz)
    f[12], f[13], f[14] = (low[12] + ux + ex * rate, low[13] + uy + ey * rate,
                           low[14] + uz + ez * rate)
    ux, uy, uz = cross(lx, ly, lz, dx, dy, dz)
    vx, vy, vz = swing(wx, wy, wz, dx, dy, dz)
    f[18], f[19], f[20] = (low[18] + ux + vx + 2.0 * tx, low[19] + uy + vy + 2.0 * ty,
                           low[20] + uz + vz + 2.0 * tz)


@inlined
def alone(row, f, gravity, body):
    """Write inertia and bias wrench of one body in world axes; return its potential energy."""
    m = row[12]
    hx, hy, hz = turned(f, row[13], row[14], row[15])
    # R I Rᵀ by columns of R I
    px, py, pz = symmetric_times(inertia_of(row), f[0], f[1],
                                 f[2])
    qx, qy, qz = symmetric_times(inertia_of(row), f[3], f[4],
                                 f[5])
    rx, ry, rz = symmetric_times(inertia_of(row), f[6], f[7],
                                 f[8])
    xx, xy, xz = turned(f, px, py, pz)
    yy = f[3] * qx + f[4] * qy + f[5] * qz
    yz = f[6] * qx + f[7] * qy + f[8] * qz
    zz = f[6] * rx + f[7] * ry + f[8] * rz
    body[0] = m
    body[1] = hx
    body[2] = hy
    body[3] = hz
    body[4] = xx
    body[5] = yy
    body[6] = zz
    body[7] = xy
    body[8] = xz
    body[9] = yz
    # gravity as an acceleration of everything upwards
    ax = f[18] - gravity[0]
    ay = f[19] - gravity[1]
    az = f[20] - gravity[2]
    wx = f[15]
    wy = f[16]
    wz = f[17]
    tx, ty, tz = cross(f[21], f[22], f[23], hx, hy, hz)
    ux, uy, uz = swing(wx, wy, wz, hx, hy, hz)
    body[10] = m * ax + tx + ux
    body[11] = m * ay + ty + uy
    body[12] = m * az + tz + uz
    nx, ny, nz = symmetric_times((xx, yy, zz, xy, xz, yz), f[21], f[22], f[23])
    kx, ky, kz = symmetric_times((xx, yy, zz, xy, xz, yz), wx, wy, wz)
    tx, ty, tz = cross(wx, wy, wz, kx, ky, kz)
    ux, uy, uz = cross(hx, hy, hz, ax, ay, az)
    body[13] = nx + tx + ux
    body[14] = ny + ty + uy
    body[15] = nz + tz + uz
    return -(gravity[0] * (m * f[9] + hx) + gravity[1] * (m * f[10] + hy)
             + gravity[2] * (m * f[11] + hz))


@inlined
def put_down(body, b, dx, dy, dz):
    """Add a composite body to its lower one `b`, d below it in world axes; Steiner's rule."""
    m = body[0]
    hx = body[1]
    hy = body[2]
    hz = body[3]
    # half of m d + 2 h takes part in each product: I += (d·k + k·d) 1 − (d kᵀ + k dᵀ)
    kx = hx + 0.5 * m * dx
    ky = hy + 0.5 * m * dy
    kz = hz + 0.5 * m * dz
    ax = dx * kx
    ay = dy * ky
    az = dz * kz
    b[0] += m
    b[1], b[2], b[3] = b[1] + hx + m * dx, b[2] + hy + m * dy, b[3] + hz + m * dz
    b[4] += body[4] + 2.0 * (ay + az)
    b[5] += body[5] + 2.0 * (ax + az)
    b[6] += body[6] + 2.0 * (ax + ay)
    b[7] += body[7] - (dx * ky + kx * dy)
    b[8] += body[8] - (dx * kz + kx * dz)
    b[9] += body[9] - (dy * kz + ky * dz)
    tx, ty, tz = cross(dx, dy, dz, body[10], body[11], body[12])
    b[10], b[11], b[12] = b[10] + body[10], b[11] + body[11], b[12] + body[12]
    b[13], b[14], b[15] = b[13] + body[13] + tx, b[14] + body[14] + ty, b[15] + body[15] + tz


@inlined
def inwards(i, links, frames, bodies, a, c):
    """Write bias and inertia of joint i, then add the composite body to its lower body."""
    low = links[i, 0]
    at = links[i, 2]
    f = frames[i]
    body = bodies[i]
    ex = f[2]
    ey = f[5]
    ez = f[8]
    # the wrench that gives the composite body a unit acceleration of its joint
    if links[i, 1] == 0:
        c[at] = ex * body[13] + ey * body[14] + ez * body[15]
        fx, fy, fz = cross(ex, ey, ez, body[1], body[2], body[3])
        nx, ny, nz = symmetric_times(
            (body[4], body[5], body[6], body[7], body[8], body[9]), ex, ey, ez)
        a[at, at] = ex * nx + ey * ny + ez * nz
    else:
        c[at] = ex * body[10] + ey * body[11] + ez * body[12]
        fx = body[0] * ex
        fy = body[0] * ey
        fz = body[0] * ez
        nx, ny, nz = cross(body[1], body[2], body[3], ex, ey, ez)
        a[at, at] = body[0]
    # the moment of that wrench about each joint below is an entry of A
    gx = f[9]
    gy = f[10]
    gz = f[11]
    k = low
    while k >= 0:
        h = frames[k]
        hx = h[9]
        hy = h[10]
        hz = h[11]
        tx, ty, tz = cross(gx - hx, gy - hy, gz - hz, fx, fy, fz)
        nx = nx + tx
        ny = ny + ty
        nz = nz + tz
        if links[k, 1] == 0:
            value = h[2] * nx + h[5] * ny + h[8] * nz
        else:
            value = h[2] * fx + h[5] * fy + h[8] * fz
        beside = links[k, 2]
        a[at, beside] = value
        a[beside, at] = value
        gx = hx
        gy = hy
        gz = hz
        k = links[k, 0]
    if low >= 0:
        h = frames[low]
        put_down(body, bodies[low], f[9] - h[9], f[10] - h[10], f[11] - h[11])


@kernel
def sweep(tree, q, qd, frames_out, bodies_out, a_out, c_out):
    """
    Write places, inertia matrix A and bias c of ``A q̈ + c = τ``; return the potential energy.

    `a_out` must be zero where no body carries the other; nothing is written there.
    """
    links = tree.links
    numbers = tree.numbers
    potential = 0.0
    for i in range(len(links)):
        outwards(i, links, numbers, q, qd, frames_out)
        potential += alone(numbers[i], frames_out[i], tree.gravity, bodies_out[i])
    for back in range(len(links)):
        inwards(len(links) - 1 - back, links, frames_out, bodies_out, a_out, c_out)
    return potential
