# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled caster kinematics: plain arrays in, plain arrays out, no checks (see casters.py).

`geometry` has rows ``[hip x, hip y, d, r]``; `steering` is θ_s (n,); `twist` is (vx, vy, ω) in
``base_link``. For every caster, with e = (−sin θ, cos θ) the rolling direction and a = (cos θ,
sin θ) the axle, the pivot moves with ``s = e·v_pivot = Rx ν`` and ``u = a·v_pivot = Ra ν``.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kinematics.compiled import kernel

# share of its diagonal below which a Cholesky pivot is rounding: contact points nearer to each
# other than 1e-7 of their distance from the origin, or of the caster offset, count as one
RANK_TOLERANCE = 1e-14


@kernel
def first_not_finite(vectors):
    """Return the first row of `vectors` (B, k) with a number that is not finite, or −1."""
    for b in range(len(vectors)):
        for value in vectors[b]:
            if not math.isfinite(value):
                return b
    return -1


@kernel
def rows(geometry, steering, rolling, axle):
    """Write the rows ``Rx`` into `rolling` and ``Ra`` into `axle`, both (n, 3)."""
    for i in range(len(steering)):
        c, s = math.cos(steering[i]), math.sin(steering[i])
        x, y = geometry[i, 0], geometry[i, 1]
        # v_pivot = v + ω ẑ×m with ẑ×m = (−y, x)
        rolling[i, 0], rolling[i, 1], rolling[i, 2] = -s, c, s * y + c * x
        axle[i, 0], axle[i, 1], axle[i, 2] = c, s, s * x - c * y


@kernel
def jacobians(geometry, steering, wheel, steer, contact):
    """Write ``Rx/r``, ``−Ra/d − [0 0 1]`` and ``−Ra/d``; leading axis is the batch."""
    for b in range(len(steering)):
        rows(geometry, steering[b], wheel[b], contact[b])
        for i in range(steering.shape[1]):
            for j in range(3):
                wheel[b, i, j] /= geometry[i, 3]
                contact[b, i, j] /= -geometry[i, 2]
                steer[b, i, j] = contact[b, i, j]
            steer[b, i, 2] -= 1.0


@kernel
def rates(geometry, steering, twist, wheel_rate, steering_rate, contact_rate):
    """Write θ̇_x, θ̇_s, θ̇_c of a rigid motion without slip; leading axis is the batch."""
    for b in range(len(steering)):
        vx, vy, w = twist[b, 0], twist[b, 1], twist[b, 2]
        for i in range(steering.shape[1]):
            c, s = math.cos(steering[b, i]), math.sin(steering[b, i])
            px, py = vx - w * geometry[i, 1], vy + w * geometry[i, 0]
            wheel_rate[b, i] = (c * py - s * px) / geometry[i, 3]
            contact_rate[b, i] = -(c * px + s * py) / geometry[i, 2]
            steering_rate[b, i] = contact_rate[b, i] - w


@kernel
def accelerations(geometry, steering, twist, accel, wheel_accel, steering_accel):
    """Write θ̈_x = J_x ν̇ − θ̇_s u/r and θ̈_s = J_s ν̇ − θ̇_s s/d; leading axis is the batch."""
    for b in range(len(steering)):
        vx, vy, w = twist[b, 0], twist[b, 1], twist[b, 2]
        ax, ay, aw = accel[b, 0], accel[b, 1], accel[b, 2]
        for i in range(steering.shape[1]):
            c, s = math.cos(steering[b, i]), math.sin(steering[b, i])
            x, y, d, r = geometry[i, 0], geometry[i, 1], geometry[i, 2], geometry[i, 3]
            px, py = vx - w * y, vy + w * x
            along, across = c * py - s * px, c * px + s * py
            rate = -across / d - w
            qx, qy = ax - aw * y, ay + aw * x
            # dRx/dθ = −Ra and dRa/dθ = Rx
            wheel_accel[b, i] = (c * qy - s * qx - rate * across) / r
            steering_accel[b, i] = -(c * qx + s * qy + rate * along) / d - aw


@kernel
def solve3(a, b, x):
    """
    Solve the symmetric positive definite ``a x = b`` (3, 3) by Cholesky; return the last pivot.

    A matrix without full rank (a pivot below RANK_TOLERANCE of its diagonal) gives nan and 0.
    """
    p00 = a[0, 0]
    if p00 > 0.0:
        l10, l20 = a[1, 0] / p00, a[2, 0] / p00
        p11 = a[1, 1] - l10 * a[1, 0]
        if p11 > RANK_TOLERANCE * a[1, 1]:
            r21 = a[2, 1] - l20 * a[1, 0]
            l21 = r21 / p11
            p22 = a[2, 2] - l20 * a[2, 0] - l21 * r21
            if p22 > RANK_TOLERANCE * a[2, 2]:
                y0 = b[0]
                y1 = b[1] - l10 * y0
                y2 = b[2] - l20 * y0 - l21 * y1
                x[2] = y2 / p22
                x[1] = y1 / p11 - l21 * x[2]
                x[0] = y0 / p00 - l10 * x[1] - l20 * x[2]
                return math.sqrt(p22)
    x[:] = np.nan
    return 0.0


@kernel
def least_squares(geometry, steering, wheel_rate, steering_rate, weight,
                  twist, residual, information):
    """
    Fit one rigid twist to the measured velocities of the contact points.

    Each caster gives two equations in metres per second, ``Rx ν = r θ̇_x`` along the wheel and
    ``(Ra + d [0 0 1]) ν = −d θ̇_s`` across it: the velocity of the body-fixed point over the
    contact. Together they are a rigid-body fit to n points, which has full rank whenever two
    contact points differ. `residual` (n, 2) is measured minus fitted [along, across];
    `information` (3, 3) is the matrix of the normal equations.
    """
    n = steering.shape[1]
    right = np.empty(3)
    rolling = np.empty((n, 3))
    axle = np.empty((n, 3))
    for b in range(len(steering)):
        rows(geometry, steering[b], rolling, axle)
        normal = information[b]
        normal[:] = 0.0
        right[:] = 0.0
        lever = 0.0
        for i in range(n):
            axle[i, 2] += geometry[i, 2]
            lever += (weight[b, i, 0] + weight[b, i, 1]) * geometry[i, 2] ** 2
            along = geometry[i, 3] * wheel_rate[b, i]
            across = -geometry[i, 2] * steering_rate[b, i]
            for j in range(3):
                wx, wa = weight[b, i, 0] * rolling[i, j], weight[b, i, 1] * axle[i, j]
                right[j] += wx * along + wa * across
                for k in range(3):
                    normal[j, k] += wx * rolling[i, k] + wa * axle[i, k]
        if solve3(normal, right, twist[b]) ** 2 <= RANK_TOLERANCE * lever:
            twist[b, :] = np.nan
        for i in range(n):
            residual[b, i, 0] = geometry[i, 3] * wheel_rate[b, i]
            residual[b, i, 1] = -geometry[i, 2] * steering_rate[b, i]
            for j in range(3):
                residual[b, i, 0] -= rolling[i, j] * twist[b, j]
                residual[b, i, 1] -= axle[i, j] * twist[b, j]
