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

X, Y, DEPTH, P, NX, NY, NZ, K0, K1, T0, T1, N, FX, FY, SX, SY, LENGTH = (
    0, 1, 2, 3, 6, 9, 12, 15, 16, 17, 19, 21, 22, 23, 24, 25, 26)
# columns of a row of `tyre`
(STIFFNESS, DAMPING, SHEAR, SHEAR_DAMPING, RELAXATION, FRICTION, ROLLING) = range(7)
TYRE = 7

# steps of Newton's method, and what is left along the ground, per wheel radius: rounding
MOST_STEPS, CLOSED = 12, 1e-14
# 1/s: fastest renewal of the tread, which steps of 1 ms can follow; a wheel that hardly touches or
# slides fast (at µ N of 100 N and 40 kN/m: 5 m/s) takes this long to the same force
FASTEST = 2000.0
# m/s and rad/s below which sliding and rolling resistance fade to zero, and the force in N below
# which the friction limit does: they make the right-hand side smooth
CREEP, TURNING, LIGHT = 1e-4, 1e-2, 1.0


@inlined
def touch(kind, lengths, ground, frame, spot):
    """
    Write X to T1 of `spot` from its X and Y as a guess; return whether the wheel touches once.

    `frame` (12,): z of its rotation, by rows, is the axle; then the wheel centre.
    """
    ax, ay, az = frame[2], frame[5], frame[8]
    x, y = spot[X], spot[Y]
    scale = CLOSED * (abs(frame[9]) + abs(frame[10]) + lengths[0] + lengths[1])
    for _ in range(MOST_STEPS):
        g, gx, gy, gxx, gxy, gyy = height(ground.kind, ground.parameters, ground.table, x, y)
        a, m01, m11, k00, k01, k11, _, _ = ground_forms(gx, gy, gxx, gxy, gyy)
        w = 1.0 / math.sqrt(1.0 + gx * gx + gy * gy)
        nx, ny, nz = -gx * w, -gy * w, w
        # the point of the wheel whose normal is −n
        side = -(nx * ax + ny * ay + nz * az)
        ex, ey, ez = -nx - side * ax, -ny - side * ay, -nz - side * az
        level = math.sqrt(ex * ex + ey * ey + ez * ez)
        over = 1.0 / level
        ex, ey, ez = ex * over, ey * over, ez * over
        r, h, dr, dh, ddr, ddh = profile(kind, lengths, tread_at(kind, lengths,
                                                                 math.atan2(side, level)))
        _, m1, k0, k1, _ = wheel_forms(r, dr, dh, ddr, ddh)
        cx = frame[9] + r * ex + h * ax - x
        cy = frame[10] + r * ey + h * ay - y
        cz = frame[11] + r * ez + h * az - g
        # tangents of the ground, and directions round the wheel and across its tread in them
        xx, xz = 1.0 / a, gx / a
        yx, yy, yz = -gy * w * xz, a * w, gy * w * xx
        tx, ty, tz = ay * ez - az * ey, az * ex - ax * ez, ax * ey - ay * ex
        ux, uy = tx * xx + tz * xz, tx * yx + ty * yy + tz * yz
        vx, vy = -uy, ux
        depth = -(cx * nx + cy * ny + cz * nz)
        p0, p1 = cx * xx + cz * xz, cx * yx + cy * yy + cz * yz
        # d p = −(1 + (Kw⁻¹ − δ) Kg) dσ
        i0, i1 = 1.0 / k0, 1.0 / k1
        w00 = i0 * ux * ux + i1 * vx * vx - depth
        w01 = i0 * ux * uy + i1 * vx * vy
        w11 = i0 * uy * uy + i1 * vy * vy - depth
        b00, b01 = 1.0 + w00 * k00 + w01 * k01, w00 * k01 + w01 * k11
        b10, b11 = w01 * k00 + w11 * k01, 1.0 + w01 * k01 + w11 * k11
        det = b00 * b11 - b01 * b10
        if not det > 0.0:
            return False
        if abs(p0) + abs(p1) <= scale:
            spot[X], spot[Y], spot[DEPTH] = x, y, depth
            spot[P], spot[P + 1], spot[P + 2] = x + 0.5 * cx, y + 0.5 * cy, g + 0.5 * cz
            spot[NX], spot[NX + 1], spot[NX + 2] = xx, 0.0, xz
            spot[NY], spot[NY + 1], spot[NY + 2] = yx, yy, yz
            spot[NZ], spot[NZ + 1], spot[NZ + 2] = nx, ny, nz
            spot[K0], spot[K1] = k0, k1
            spot[T0], spot[T0 + 1], spot[T1], spot[T1 + 1] = ux, uy, vx, vy
            return True
        s0, s1 = (b11 * p0 - b01 * p1) / det, (b00 * p1 - b10 * p0) / det
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
    x, y, z = spot[P] - frame[9], spot[P + 1] - frame[10], spot[P + 2] - frame[11]
    wx, wy, wz = motion[3], motion[4], motion[5]
    vx, vy, vz = (motion[0] + wy * z - wz * y, motion[1] + wz * x - wx * z,
                  motion[2] + wx * y - wy * x)
    nx, ny, nz = spot[NZ], spot[NZ + 1], spot[NZ + 2]
    s0 = vx * spot[NX] + vz * spot[NX + 2]
    s1 = vx * spot[NY] + vy * spot[NY + 1] + vz * spot[NY + 2]
    depth, closing = spot[DEPTH], -(vx * nx + vy * ny + vz * nz)
    spot[SX], spot[SY] = s0, s1
    kept = 0.5 * tyre[SHEAR] * (shear[0] ** 2 + shear[1] ** 2)
    if not depth > 0.0:
        # off the ground the tread returns to its shape
        shear_rate[0], shear_rate[1] = -FASTEST * shear[0], -FASTEST * shear[1]
        lost[1] += 2.0 * FASTEST * kept
        spot[N], spot[FX], spot[FY] = 0.0, 0.0, 0.0
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
    d0, d1 = slower * (s0 - renewed * shear[0]), slower * (s1 - renewed * shear[1])
    shear_rate[0], shear_rate[1] = d0, d1
    # above 4 k_t/renewed a damping would give energy
    damping = tyre[SHEAR_DAMPING] / (1.0 + renewed * tyre[SHEAR_DAMPING] / (4.0 * tyre[SHEAR]))
    f0 = -tyre[SHEAR] * shear[0] - damping * d0
    f1 = -tyre[SHEAR] * shear[1] - damping * d1
    lost[1] -= f0 * s0 + f1 * s1 + tyre[SHEAR] * (shear[0] * d0 + shear[1] * d1)
    # rolling resistance: a couple against the turning along the ground
    turning = math.sqrt(r0 * r0 + r1 * r1 + TURNING * TURNING)
    couple = tyre[ROLLING] * normal / turning
    lost[2] += couple * (r0 * r0 + r1 * r1)
    spot[N], spot[FX], spot[FY] = normal, f0, f1
    fx = normal * nx + f0 * spot[NX] + f1 * spot[NY]
    fy = normal * ny + f1 * spot[NY + 1]
    fz = normal * nz + f0 * spot[NX + 2] + f1 * spot[NY + 2]
    wrench[0], wrench[1], wrench[2] = fx, fy, fz
    c0, c1 = couple * r0, couple * r1
    wrench[3] = y * fz - z * fy - c0 * spot[NX] - c1 * spot[NY]
    wrench[4] = z * fx - x * fz - c1 * spot[NY + 1]
    wrench[5] = x * fy - y * fx - c0 * spot[NX + 2] - c1 * spot[NY + 2]
    return kept + 0.5 * tyre[STIFFNESS] * depth * depth
