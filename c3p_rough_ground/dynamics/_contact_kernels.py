# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled contact of a wheel with the ground: where it touches, how deep, and the force there.

The wheel touches with the point C whose normal opposes that of the ground at G, and C − G is along
that normal: ``C − G = −δ n``. With G given C follows in closed form, which leaves two unknowns.
The force acts half-way between C and G. As n changes only where C and G slide along their own
surfaces, ``δ̇ = −n·v_P`` holds exactly for the material point P there.

Columns of a row of `spot`: X, Y (of G), DEPTH δ, P (point), NX, NY (tangents of the ground), NZ
(its normal), K0, K1 (curvatures of the wheel along its tread and across), T0 and T1 (directions of
both in the tangents), N (normal force), FX, FY (tangential force on the wheel), SX, SY (velocity
of P), LENGTH.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inlined
from c3p_rough_ground.closed_chain._placement_kernels import tread_at
from c3p_rough_ground.rolling_contact._kernels import ground_forms, profile, wheel_forms
from c3p_rough_ground.terrain._kernels import height

X = 0
Y = 1
DEPTH = 2
P = 3
NX = 6
NY = 9
NZ = 12
K0 = 15
K1 = 16
T0 = 17
T1 = 19
N = 21
FX = 22
FY = 23
SX = 24
SY = 25
LENGTH = 26
# columns of a row of `tyre`
(STIFFNESS, DAMPING, SHEAR, SHEAR_DAMPING, RELAXATION, FRICTION, ROLLING) = range(7)
TYRE = 7

# steps of Newton's method, and what is left along the ground, per wheel radius: rounding
MOST_STEPS = 12
CLOSED = 1e-14
# 1/s: fastest renewal of the tread, which steps of 1 ms can follow; a wheel that hardly touches or
# slides fast (at µ N of 100 N and 40 kN/m: 5 m/s) takes this long to the same force
FASTEST = 2000.0
# m/s and rad/s below which sliding and rolling resistance fade to zero, and the force in N below
# which the friction limit does: they make the right-hand side smooth
CREEP = 1e-4
TURNING = 1e-2
LIGHT = 1.0


@inlined
def touch(kind, lengths, ground, frame, spot):
    """
    Write X to T1 of `spot` from its X and Y as a guess; return whether the wheel touches once.

    `frame` (12,): z of its rotation, by rows, is the axle; then the wheel centre.
    """
    ax = frame[2]
    ay = frame[5]
    az = frame[8]
    x, y = spot[X], spot[Y]
    scale = CLOSED * (abs(frame[9]) + abs(frame[10]) + lengths[0] + lengths[1])
    for _ in range(MOST_STEPS):
        g, gx, gy, gxx, gxy, gyy = height(ground.kind, ground.parameters, ground.table, x, y)
        a, m01, m11, k00, k01, k11, _, _ = ground_forms(gx, gy, gxx, gxy, gyy)
        w = 1.0 / math.sqrt(1.0 + gx * gx + gy * gy)
        nx = -gx * w
        ny = -gy * w
        nz = w
        # the point of the wheel whose normal is −n
        side = -(nx * ax + ny * ay + nz * az)
        ex = -nx - side * ax
        ey = -ny - side * ay
        ez = -nz - side * az
        level = math.sqrt(ex * ex + ey * ey + ez * ez)
        over = 1.0 / level
        ex = ex * over
        ey = ey * over
        ez = ez * over
        r, h, dr, dh, ddr, ddh = profile(kind, lengths, tread_at(kind, lengths,
                                                                 math.atan2(side, level)))
        _, m1, k0, k1, _ = wheel_forms(r, dr, dh, ddr, ddh)
        cx = frame[9] + r * ex + h * ax - x
        cy = frame[10] + r * ey + h * ay - y
        cz = frame[11] + r * ez + h * az - g
        # tangents of the ground, and directions round the wheel and across its tread in them
        xx = 1.0 / a
        xz = gx / a
        yx = -gy * w * xz
        yy = a * w
        yz = gy * w * xx
        tx = ay * ez - az * ey
        ty = az * ex - ax * ez
        tz = ax * ey - ay * ex
        ux, uy = tx * xx + tz * xz, tx * yx + ty * yy + tz * yz
        vx, vy = -uy, ux
        depth = -(cx * nx + cy * ny + cz * nz)
        p0 = cx * xx + cz * xz
        p1 = cx * yx + cy * yy + cz * yz
        # d p = −(1 + (Kw⁻¹ − δ) Kg) dσ
        i0 = 1.0 / k0
        i1 = 1.0 / k1
        w00 = i0 * ux * ux + i1 * vx * vx - depth
        w01 = i0 * ux * uy + i1 * vx * vy
        w11 = i0 * uy * uy + i1 * vy * vy - depth
        b00 = 1.0 + w00 * k00 + w01 * k01
        b01 = w00 * k01 + w01 * k11
        b10 = w01 * k00 + w11 * k01
        b11 = 1.0 + w01 * k01 + w11 * k11
        det = b00 * b11 - b01 * b10
        if not det > 0.0:
            return False
        if abs(p0) + abs(p1) <= scale:
            spot[X] = x
            spot[Y] = y
            spot[DEPTH] = depth
            spot[P] = x + 0.5 * cx
            spot[P + 1] = y + 0.5 * cy
            spot[P + 2] = g + 0.5 * cz
            spot[NX] = xx
            spot[NX + 1] = 0.0
            spot[NX + 2] = xz
            spot[NY] = yx
            spot[NY + 1] = yy
            spot[NY + 2] = yz
            spot[NZ] = nx
            spot[NZ + 1] = ny
            spot[NZ + 2] = nz
            spot[K0] = k0
            spot[K1] = k1
            spot[T0] = ux
            spot[T0 + 1] = uy
            spot[T1] = vx
            spot[T1 + 1] = vy
            return True
        s0 = (b11 * p0 - b01 * p1) / det
        s1 = (b00 * p1 - b10 * p0) / det
        dy = s1 / m11
        x, y = x + (s0 - m01 * dy) / a, y + dy
    return False


@inlined
def press(tyre, frame, motion, shear, wrench, spot, shear_rate, lost):
    """
    Write the force of the ground, its `wrench` about the wheel centre and the `shear_rate`.

    `motion` (6,): velocity of the wheel centre and angular velocity. `shear` (2,) is the
    deflection of the tread along the tangents of the ground. Adds to `lost` (3,) the power that is
    dissipated normal to the ground, by slip, by rolling. Returns the energy in the tyre.
    """
    x = spot[P] - frame[9]
    y = spot[P + 1] - frame[10]
    z = spot[P + 2] - frame[11]
    wx = motion[3]
    wy = motion[4]
    wz = motion[5]
    vx = motion[0] + wy * z - wz * y
    vy = motion[1] + wz * x - wx * z
    vz = motion[2] + wx * y - wy * x
    nx = spot[NZ]
    ny = spot[NZ + 1]
    nz = spot[NZ + 2]
    s0 = vx * spot[NX] + vz * spot[NX + 2]
    s1 = vx * spot[NY] + vy * spot[NY + 1] + vz * spot[NY + 2]
    depth = spot[DEPTH]
    closing = -(vx * nx + vy * ny + vz * nz)
    spot[SX] = s0
    spot[SY] = s1
    kept = 0.5 * tyre[SHEAR] * (shear[0] ** 2 + shear[1] ** 2)
    if not depth > 0.0:
        # off the ground the tread returns to its shape
        shear_rate[0], shear_rate[1] = -FASTEST * shear[0], -FASTEST * shear[1]
        lost[1] += 2.0 * FASTEST * kept
        spot[N] = 0.0
        spot[FX] = 0.0
        spot[FY] = 0.0
        for k in range(6):
            wrench[k] = 0.0
        return kept
    normal = tyre[STIFFNESS] * depth * max(0.0, 1.0 + tyre[DAMPING] * closing)
    lost[0] += (normal - tyre[STIFFNESS] * depth) * closing
    # angular velocity along the ground: in its tangents, and by wheel directions the speed of the
    # contact point along the ground
    r0 = wx * spot[NX] + wz * spot[NX + 2]
    r1 = wx * spot[NY] + wy * spot[NY + 1] + wz * spot[NY + 2]
    along = (r0 * spot[T1] + r1 * spot[T1 + 1]) / spot[K0]
    across = (r0 * spot[T0] + r1 * spot[T0 + 1]) / spot[K1]
    # the tread deflects with the slip and is renewed by rolling and by sliding
    sliding = math.sqrt(s0 * s0 + s1 * s1 + CREEP * CREEP)
    limit = tyre[FRICTION] * math.sqrt(normal * normal + LIGHT * LIGHT)
    renewed = (math.sqrt(along * along + across * across) / tyre[RELAXATION]
               + tyre[SHEAR] * sliding / limit)
    slower = min(1.0, FASTEST / renewed)
    d0 = slower * (s0 - renewed * shear[0])
    d1 = slower * (s1 - renewed * shear[1])
    shear_rate[0] = d0
    shear_rate[1] = d1
    # above 4 k_t/renewed a damping would give energy
    damping = tyre[SHEAR_DAMPING] / (1.0 + renewed * tyre[SHEAR_DAMPING] / (4.0 * tyre[SHEAR]))
    f0 = -tyre[SHEAR] * shear[0] - damping * d0
    f1 = -tyre[SHEAR] * shear[1] - damping * d1
    lost[1] -= f0 * s0 + f1 * s1 + tyre[SHEAR] * (shear[0] * d0 + shear[1] * d1)
    # rolling resistance: a couple against the turning along the ground
    turning = math.sqrt(r0 * r0 + r1 * r1 + TURNING * TURNING)
    couple = tyre[ROLLING] * normal / turning
    lost[2] += couple * (r0 * r0 + r1 * r1)
    spot[N] = normal
    spot[FX] = f0
    spot[FY] = f1
    fx = normal * nx + f0 * spot[NX] + f1 * spot[NY]
    fy = normal * ny + f1 * spot[NY + 1]
    fz = normal * nz + f0 * spot[NX + 2] + f1 * spot[NY + 2]
    wrench[0] = fx
    wrench[1] = fy
    wrench[2] = fz
    c0 = couple * r0
    c1 = couple * r1
    wrench[3] = y * fz - z * fy - c0 * spot[NX] - c1 * spot[NY]
    wrench[4] = z * fx - x * fz - c1 * spot[NY + 1]
    wrench[5] = x * fy - y * fx - c0 * spot[NX + 2] - c1 * spot[NY + 2]
    return kept + 0.5 * tyre[STIFFNESS] * depth * depth
