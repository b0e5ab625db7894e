# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202, ANN205 (the compiler infers the types)
"""
Compiled geometry of a vehicle on the ground: chains, contact frames, mismatch of the two sides.

The state is one vector: p (3), quaternion (w, x, y, z), θ (m), η = (u, v, x, y, ψ) of each wheel.
A wheel's surface is one of revolution, so its point at (u, v) coincides with that at u + α of a
wheel that does not turn: no frame is turned by the spin α. One row of `contact`:

C   contact point by the chain         WX, WY, WZ  contW by the chain, z out of the wheel
G   contact point by the ground        GX, GY, GZ  contG, z out of the ground
WHEEL, GROUND  metric, curvature, torsion as `rolling_contact._kernels` has them
PSI            cos ψ, sin ψ
OFF, TWIST     C − G and the rotation of contW by the chain from contW by the ground, in contW
OWN            velocity of the touching point and of the wheel in the platform: w_i, angular
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inlined, inner
from c3p_kernels.elementary import circle
from c3p_rough_ground.closed_chain.description import SLIDING, SPINNING
from c3p_rough_ground.rolling_contact._kernels import ground_forms, profile, wheel_forms
from c3p_rough_ground.terrain._kernels import height

POSE = 7
C = 0
WX = 3
WY = 6
WZ = 9
G = 12
GX = 15
GY = 18
GZ = 21
WHEEL = 24
GROUND = 29
PSI = 37
OFF = 39
TWIST = 42
OWN = 45


@inlined
def platform_frame(state, frame):
    """Write axes and origin of {P}; the quaternion may have any length."""
    w = state[3]
    x = state[4]
    y = state[5]
    z = state[6]
    k = 2.0 / (w * w + x * x + y * y + z * z)
    xx = k * x * x
    yy = k * y * y
    zz = k * z * z
    xy = k * x * y
    xz = k * x * z
    yz = k * y * z
    wx = k * w * x
    wy = k * w * y
    wz = k * w * z
    frame[0, 0] = 1.0 - yy - zz
    frame[0, 1] = xy + wz
    frame[0, 2] = xz - wy
    frame[0, 3] = xy - wz
    frame[0, 4] = 1.0 - xx - zz
    frame[0, 5] = yz + wx
    frame[0, 6] = xz + wy
    frame[0, 7] = yz - wx
    frame[0, 8] = 1.0 - xx - yy
    frame[0, 9], frame[0, 10], frame[0, 11] = state[0], state[1], state[2]


@inlined
def chains(vehicle, state, frame):
    """Write axes x, y, z and origin of every body in {G}; wheels are not turned by their spin."""
    tree = vehicle.tree
    fixed = vehicle.fixed
    for i in range(tree.shape[0]):
        b = tree[i, 1]
        r = i + 1
        x = fixed[i, 9]
        y = fixed[i, 10]
        z = fixed[i, 11]
        for k in range(3):
            frame[r, 9 + k] = (frame[b, 9 + k] + frame[b, k] * x + frame[b, 3 + k] * y
                               + frame[b, 6 + k] * z)
        if tree[i, 4]:
            for k in range(3):
                for j in range(3):
                    frame[r, 3 * j + k] = (frame[b, k] * fixed[i, j]
                                           + frame[b, 3 + k] * fixed[i, 3 + j]
                                           + frame[b, 6 + k] * fixed[i, 6 + j])
        else:
            for k in range(9):
                frame[r, k] = frame[b, k]
        axis = tree[i, 2]
        motion = tree[i, 3]
        q = state[POSE + tree[i, 0]]
        if motion == SPINNING:
            continue
        if motion == SLIDING:
            for k in range(3):
                frame[r, 9 + k] += q * frame[r, 3 * axis + k]
            continue
        # about one axis the other two turn in their plane
        c, s = circle(q)
        first = 3 * ((axis + 1) % 3)
        second = 3 * ((axis + 2) % 3)
        for k in range(3):
            p = frame[r, first + k]
            n = frame[r, second + k]
            frame[r, first + k] = c * p + s * n
            frame[r, second + k] = c * n - s * p


@inlined
def wheel_side(vehicle, i, frame, spin, u, v, contact):
    """Write C, contW and WHEEL of wheel i by its chain."""
    b = vehicle.chain[vehicle.wheel[i, 1] - 1, 0] + 1
    r, h, dr, dh, ddr, ddh = profile(vehicle.wheel[i, 2], vehicle.profile[i], v)
    m0, m1, k0, k1, t0 = wheel_forms(r, dr, dh, ddr, ddh)
    c, s = circle(spin + u)
    along = dr / m1
    across = dh / m1
    for k in range(3):
        # e_r, its derivative by the angle, the axle
        x = frame[b, k]
        axle = frame[b, 3 + k]
        z = frame[b, 6 + k]
        radial = c * x - s * z
        contact[i, C + k] = frame[b, 9 + k] + r * radial + h * axle
        contact[i, WX + k] = -s * x - c * z
        contact[i, WY + k] = along * radial + across * axle
        contact[i, WZ + k] = across * radial - along * axle
    contact[i, WHEEL] = m0
    contact[i, WHEEL + 1] = m1
    contact[i, WHEEL + 2] = k0
    contact[i, WHEEL + 3] = k1
    contact[i, WHEEL + 4] = t0


@inlined
def ground_side(ground, x, y, contact, i):
    """Write G, contG and GROUND of one contact."""
    g, gx, gy, gxx, gxy, gyy = height(ground.kind, ground.parameters, ground.table, x, y)
    a, m01, m11, k00, k01, k11, t0, t1 = ground_forms(gx, gy, gxx, gxy, gyy)
    w = 1.0 / math.sqrt(1.0 + gx * gx + gy * gy)
    x_x = 1.0 / a
    x_z = gx / a
    contact[i, G] = x
    contact[i, G + 1] = y
    contact[i, G + 2] = g
    contact[i, GX] = x_x
    contact[i, GX + 1] = 0.0
    contact[i, GX + 2] = x_z
    contact[i, GY] = -gy * w * x_z
    contact[i, GY + 1] = a * w
    contact[i, GY + 2] = gy * w * x_x
    contact[i, GZ] = -gx * w
    contact[i, GZ + 1] = -gy * w
    contact[i, GZ + 2] = w
    contact[i, GROUND] = a
    contact[i, GROUND + 1] = m01
    contact[i, GROUND + 2] = m11
    contact[i, GROUND + 3] = k00
    contact[i, GROUND + 4] = k01
    contact[i, GROUND + 5] = k11
    contact[i, GROUND + 6] = t0
    contact[i, GROUND + 7] = t1


@inlined
def dot(a, p, q, i):
    """Return the product of the vectors at columns p and q of row i."""
    return a[i, p] * a[i, q] + a[i, p + 1] * a[i, q + 1] + a[i, p + 2] * a[i, q + 2]


@inlined
def mismatch(contact, i):
    """Write OFF and TWIST of one contact and return the larger length, m and rad as they are."""
    c, s = contact[i, PSI], contact[i, PSI + 1]
    x = contact[i, C] - contact[i, G]
    y = contact[i, C + 1] - contact[i, G + 1]
    z = contact[i, C + 2] - contact[i, G + 2]
    for k in range(3):
        at = WX + 3 * k
        contact[i, OFF + k] = x * contact[i, at] + y * contact[i, at + 1] + z * contact[i, at + 2]
    # B = Eᵀ A with the axes E by the ground and A by the chain; half of what is antisymmetric
    xx = dot(contact, GX, WX, i)
    xy = dot(contact, GX, WY, i)
    xz = dot(contact, GX, WZ, i)
    yx = dot(contact, GY, WX, i)
    yy = dot(contact, GY, WY, i)
    yz = dot(contact, GY, WZ, i)
    zx, zy = dot(contact, GZ, WX, i), dot(contact, GZ, WY, i)
    tx = 0.5 * (-zy + s * xz + c * yz)
    ty = 0.5 * (c * xz - s * yz + zx)
    tz = 0.5 * (-s * xx - c * yx - c * xy + s * yy)
    contact[i, TWIST] = tx
    contact[i, TWIST + 1] = ty
    contact[i, TWIST + 2] = tz
    return math.sqrt(max(x * x + y * y + z * z, tx * tx + ty * ty + tz * tz))


@inner
def contacts(vehicle, ground, state, work):
    """Write all frames and both sides of all contacts."""
    platform_frame(state, work.frame)
    chains(vehicle, state, work.frame)
    m = vehicle.tree.shape[0]
    contact = work.contact
    for i in range(contact.shape[0]):
        at = POSE + m + 5 * i
        spin = state[POSE + vehicle.chain[vehicle.wheel[i, 1] - 1, 1]]
        wheel_side(vehicle, i, work.frame, spin, state[at], state[at + 1], contact)
        ground_side(ground, state[at + 2], state[at + 3], contact, i)
        contact[i, PSI], contact[i, PSI + 1] = circle(state[at + 4])


@inner
def geometry(vehicle, ground, state, work):
    """Write all frames, both sides of all contacts and their mismatches; return the largest."""
    contacts(vehicle, ground, state, work)
    contact = work.contact
    worst = 0.0
    for i in range(contact.shape[0]):
        size = mismatch(contact, i)
        # one that is not finite is the largest
        worst = worst if size <= worst else size
    return worst
