# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled planar kinematics: SE(2), casters and the rigid fit; plain arrays, no checks.

Public sides: se2.py and casters.py. Poses and steps are rows (x, y, yaw); the leading axis of
`*_each` is the batch. `geometry` has rows ``[hip x, hip y, d, r, along, across, b]``, of which
along and across are factors of both sides of a wheel's rows of measurement, and b is the distance
of the wheel from its pivot along the axle (c3p_description/wheels.py);
`steering` is θ_s (n,); `twist` is (vx, vy, ω) in ``base_link``. For every caster, with
e = (−sin θ, cos θ) the rolling direction and a = (cos θ, sin θ) the axle, the pivot moves with
``s = e·v_pivot = Rx ν`` and ``u = a·v_pivot = Ra ν``. `contact` (n, 2) is the velocity of each
contact point [along, across] its wheel, m/s.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import inner, kernel
from c3p_kernels.elementary import arc, half_cotangent, wrap_angle
from c3p_kernels.small import RANK_TOLERANCE, solve3


@kernel
def exponential(x, y, yaw):
    """Return exp of a step (x, y, yaw)."""
    s, c = arc(yaw)
    return s * x - c * y, c * x + s * y, wrap_angle(yaw)


@kernel
def product(pose, x, y, yaw):
    """Return the product of a pose (3,) and the pose (x, y, yaw)."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return pose[0] + c * x - s * y, pose[1] + s * x + c * y, wrap_angle(pose[2] + yaw)


@kernel
def exp_row(step, out):
    """Write exp of one step (3,) into `out`."""
    out[0], out[1], out[2] = exponential(step[0], step[1], step[2])


@kernel
def log_row(pose, out):
    """Write the logarithm of one pose (3,) into `out`."""
    yaw = wrap_angle(pose[2])
    g = half_cotangent(yaw)
    h = 0.5 * yaw
    x, y = g * pose[0] + h * pose[1], g * pose[1] - h * pose[0]
    out[0] = x
    out[1] = y
    out[2] = yaw


@kernel
def compose_row(a, b, out):
    """Write the product of two poses (3,) into `out`, which may be `a` or `b`."""
    out[0], out[1], out[2] = product(a, b[0], b[1], b[2])


@kernel
def integrate_row(pose, step, out):
    """Write pose · exp(step) into `out`, which may be `pose`."""
    x, y, yaw = exponential(step[0], step[1], step[2])
    out[0], out[1], out[2] = product(pose, x, y, yaw)


@kernel
def exp_each(step, out):
    """Apply `exp_row` to each row."""
    for b in range(len(out)):
        exp_row(step[b], out[b])


@kernel
def log_each(pose, out):
    """Apply `log_row` to each row."""
    for b in range(len(out)):
        log_row(pose[b], out[b])


@kernel
def compose_each(first, second, out):
    """Apply `compose_row` to each row."""
    for b in range(len(out)):
        compose_row(first[b], second[b], out[b])


@kernel
def integrate_each(pose, step, out):
    """Apply `integrate_row` to each row."""
    for b in range(len(out)):
        integrate_row(pose[b], step[b], out[b])


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
        rolling[i, 0] = -s
        rolling[i, 1] = c
        rolling[i, 2] = s * y + c * x
        axle[i, 0] = c
        axle[i, 1] = s
        axle[i, 2] = s * x - c * y


@kernel
def jacobians(geometry, steering, wheel, steer, contact):
    """Write ``Rx/r``, ``−Ra/d − [0 0 1]`` and ``−Ra/d``, b = 0; leading axis is the batch."""
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
    """Write θ̇_x, θ̇_s, θ̇_c of a motion without slip, b = 0; leading axis is the batch."""
    for b in range(len(steering)):
        vx = twist[b, 0]
        vy = twist[b, 1]
        w = twist[b, 2]
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
        vx = twist[b, 0]
        vy = twist[b, 1]
        w = twist[b, 2]
        ax = accel[b, 0]
        ay = accel[b, 1]
        aw = accel[b, 2]
        for i in range(steering.shape[1]):
            c, s = math.cos(steering[b, i]), math.sin(steering[b, i])
            x = geometry[i, 0]
            y = geometry[i, 1]
            d = geometry[i, 2]
            r = geometry[i, 3]
            px, py = vx - w * y, vy + w * x
            along = c * py - s * px
            across = c * px + s * py
            rate = -across / d - w
            qx, qy = ax - aw * y, ay + aw * x
            # dRx/dθ = −Ra and dRa/dθ = Rx
            wheel_accel[b, i] = (c * qy - s * qx - rate * across) / r
            steering_accel[b, i] = -(c * qx + s * qy + rate * along) / d - aw


@kernel
def contact_rows(geometry, steering, rolling, axle):
    """
    Write the rows of the contact velocities: `rolling` Rx + b [0 0 1], `axle` Ra + d [0 0 1].

    They have the factors of the wheel's rows: 1 for a measurement, less for a belief in the tyre,
    0 without an encoder.
    """
    rows(geometry, steering, rolling, axle)
    for i in range(len(steering)):
        axle[i, 2] += geometry[i, 2]
        rolling[i, 2] += geometry[i, 6]
        for j in range(3):
            rolling[i, j] *= geometry[i, 4]
            axle[i, j] *= geometry[i, 5]


@kernel
def measured(geometry, wheel_rate, steering_rate, contact):
    """Write r θ̇_x − b θ̇_s and −d θ̇_s of each caster with the factors of its rows, m/s."""
    for i in range(len(wheel_rate)):
        rolled = geometry[i, 3] * wheel_rate[i] - geometry[i, 6] * steering_rate[i]
        contact[i, 0] = rolled * geometry[i, 4]
        contact[i, 1] = -geometry[i, 2] * steering_rate[i] * geometry[i, 5]


@kernel
def redundant(geometry):
    """Return the number of rows of measurement beyond the three that determine the motion."""
    count = -3
    for i in range(len(geometry)):
        for j in range(4, 6):
            count += geometry[i, j] > 0.0
    return max(count, 1)


@kernel
def pivot_speed(geometry, steering, twist, i):
    """Return the speed of pivot `i` along its wheel, e·(v + ω ẑ×m), m/s."""
    c, s = math.cos(steering[i]), math.sin(steering[i])
    x, y = geometry[i, 0], geometry[i, 1]
    return c * twist[1] - s * twist[0] + (s * y + c * x) * twist[2]


@kernel
def misfit(rolling, axle, contact, twist, residual):
    """Write measured minus fitted contact velocities."""
    for i in range(len(contact)):
        residual[i, 0], residual[i, 1] = contact[i, 0], contact[i, 1]
        for j in range(3):
            residual[i, 0] -= rolling[i, j] * twist[j]
            residual[i, 1] -= axle[i, j] * twist[j]


@inner
def fit(geometry, motion):
    """
    Fit one twist to the contact velocities of a RigidFit (odometry_states.py).

    The rigid-body fit of `least_squares` for one sample: from `steering`, `contact` and `weight`
    to `twist`, which is nan if all contact points coincide, `residual` and `information`.
    """
    rolling = motion.rolling
    axle = motion.axle
    right = motion.right
    twist = motion.twist
    contact_rows(geometry, motion.steering, rolling, axle)
    for j in range(3):
        right[j] = 0.0
        for k in range(3):
            motion.information[j, k] = 0.0
    lever = 0.0
    for i in range(len(geometry)):
        weight = motion.weight[i]
        contact = motion.contact[i]
        lever += 0.5 * (weight[0] + weight[1]) * geometry[i, 2] ** 2
        for j in range(3):
            rolled = weight[0] * rolling[i, j]
            swept = weight[1] * axle[i, j]
            right[j] += rolled * contact[0] + swept * contact[1]
            for k in range(3):
                motion.information[j, k] += rolled * rolling[i, k] + swept * axle[i, k]
    # the last pivot is what the contact points, apart from each other, measure of the yaw rate
    if solve3(motion.information, right, twist) ** 2 <= RANK_TOLERANCE * lever:
        for j in range(3):
            twist[j] = math.nan
    misfit(rolling, axle, motion.contact, twist, motion.residual)


@kernel
def least_squares(geometry, steering, wheel_rate, steering_rate, weight,
                  twist, residual, information):
    """
    Fit one rigid twist per row to the measured contact velocities, weights (B, n, 2).

    Each caster gives two equations in metres per second, ``(Rx + b [0 0 1]) ν = r θ̇_x − b θ̇_s``
    along the wheel and ``(Ra + d [0 0 1]) ν = −d θ̇_s`` across it: the velocity of the body-fixed
    point over the contact. Together they are a rigid-body fit to n points, which has full rank
    whenever two contact points differ. `residual` (n, 2) is measured minus fitted [along, across];
    `information` (3, 3) is the matrix of the normal equations.
    """
    n = steering.shape[1]
    right = np.empty(3)
    contact = np.empty((n, 2))
    rolling = np.empty((n, 3))
    axle = np.empty((n, 3))
    for b in range(len(steering)):
        contact_rows(geometry, steering[b], rolling, axle)
        measured(geometry, wheel_rate[b], steering_rate[b], contact)
        normal = information[b]
        normal[:] = 0.0
        right[:] = 0.0
        lever = 0.0
        for i in range(n):
            lever += (weight[b, i, 0] + weight[b, i, 1]) * geometry[i, 2] ** 2
            for j in range(3):
                wx = weight[b, i, 0] * rolling[i, j]
                wa = weight[b, i, 1] * axle[i, j]
                right[j] += wx * contact[i, 0] + wa * contact[i, 1]
                for k in range(3):
                    normal[j, k] += wx * rolling[i, k] + wa * axle[i, k]
        if solve3(normal, right, twist[b]) ** 2 <= RANK_TOLERANCE * lever:
            twist[b, :] = np.nan
        misfit(rolling, axle, contact, twist[b], residual[b])


@inner
def solve(geometry, motion):
    """
    Fit the twist of a RigidFit (odometry_states.py); return the variance and mean square speed.

    Its `unit` becomes the covariance of the twist for unit variance. The variance is
    ``Σ w|residual|²/(2n − 3)``, m²/s², with the number of measured rows for 2n; the mean square is
    of the contact speeds.
    """
    n = len(geometry)
    column = motion.column[0]
    contact = motion.contact
    weight = motion.weight
    residual = motion.residual
    unit = motion.unit
    measured(geometry, motion.wheel_rate, motion.steering_rate, contact)
    fit(geometry, motion)
    # the inverse column by column; the mean of both halves is symmetric to the last bit
    for j in range(3):
        for k in range(3):
            column[k] = 1.0 if k == j else 0.0
        solve3(motion.information, column, unit[j])
    for j in range(3):
        for k in range(j):
            unit[j, k] = unit[k, j] = 0.5 * (unit[j, k] + unit[k, j])
    variance = 0.0
    power = 0.0
    rest = redundant(geometry)
    for i in range(n):
        variance += (weight[i, 0] * residual[i, 0] ** 2
                     + weight[i, 1] * residual[i, 1] ** 2) / rest
        rolled = contact[i, 0]
        # the speed of a wheel without encoder is that of its pivot
        if geometry[i, 4] == 0.0:
            rolled = pivot_speed(geometry, motion.steering, motion.twist, i)
        power += (rolled ** 2 + contact[i, 1] ** 2) / n
    return variance, power
