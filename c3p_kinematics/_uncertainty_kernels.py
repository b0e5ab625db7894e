# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled covariance of pose and twist by errors that last: of the parameters, and of rounding.

Public side: uncertainty.py; `lasting` is the state `Lasting` of odometry_states.py. The unknowns
ξ (5n,) are the errors of the parameters [r, d, x, y, β] of all casters in units of their
deviations; ρ (n,) are the rounding errors of the steering angles in units of theirs. Derivation:
docs/calibration.md.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner
from c3p_kernels.elementary import circle

# time over which squared changes of a twist are averaged, s
CHANGES = 0.1

# parameters of a caster
PER_CASTER = 5


@inner
def add_slopes(geometry, motion, lasting, yaw, dt, slopes):
    """
    Add ``dt R(yaw) ∂(fitted twist)/∂(ξ, ρ)`` to `slopes`.

    The rates of the joints are those of the twist: what they deviate by is noise. With
    `unit` (3, 3) the inverse of the normal equations, weights included, and rows Rₓ, Rₐ of the
    contact velocity along and across the wheel, ∂V/∂p = unit Σ w (Rₓᵀ ∂aₓ/∂p + Rₐᵀ ∂aₐ/∂p). The
    weights have the squares of the factors of the rows.

    Parameters
    ----------
    geometry : (n, 7) array
    motion : RigidFit
    lasting : Lasting
        With the deviations of parameters and rounded angles.
    yaw, dt : float, rad and s
        Heading of the step and its duration; 0 and 1 give the derivative of the twist.
    slopes : Slopes
        Updated.
    """
    steering = motion.steering
    weight = motion.weight
    unit = motion.unit
    units = lasting.units
    by_parameter = slopes.by_parameter
    c, s = circle(yaw)
    vx = motion.twist[0]
    vy = motion.twist[1]
    w = motion.twist[2]
    for i in range(len(steering)):
        x = geometry[i, 0]
        y = geometry[i, 1]
        d = geometry[i, 2]
        r = geometry[i, 3]
        ci, si = circle(steering[i])
        # velocity of the pivot along and across the wheel, and rows of the contact velocity
        px, py = vx - y * w, vy + x * w
        along = -si * px + ci * py
        across = ci * px + si * py
        b = geometry[i, 6]
        x2 = si * y + ci * x + b
        a2 = si * x - ci * y + d
        rolled_by = along + b * (w + motion.steering_rate[i])
        # columns of unit times both rows
        rolled = weight[i, 0] * geometry[i, 4] * geometry[i, 4] * dt
        swept = weight[i, 1] * geometry[i, 5] * geometry[i, 5] * dt
        k = PER_CASTER * i
        for row in range(3):
            gx = rolled * (-si * unit[row, 0] + ci * unit[row, 1] + x2 * unit[row, 2])
            ga = swept * (ci * unit[row, 0] + si * unit[row, 1] + a2 * unit[row, 2])
            # ∂(measured − fitted)/∂[r, d, x, y, β]: the wheel turns by (along + b θ̇_c)/r, the
            # steering by −(across + d w)/d
            by_r = gx * rolled_by / r
            by_d = ga * across / d if d > 0.0 else 0.0
            by_x = -w * (ci * gx + si * ga)
            by_y = w * (ci * ga - si * gx)
            by_zero = gx * across - ga * along
            # floor axes: this row of the body goes to two of the floor
            if row == 0:
                fx = c
                fy = s
                fz = 0.0
            elif row == 1:
                fx = -s
                fy = c
                fz = 0.0
            else:
                fx = 0.0
                fy = 0.0
                fz = 1.0
            for j, f in ((0, fx), (1, fy), (2, fz)):
                if f != 0.0:
                    by_parameter[j, k] += f * by_r * units[k]
                    by_parameter[j, k + 1] += f * by_d * units[k + 1]
                    by_parameter[j, k + 2] += f * by_x * units[k + 2]
                    by_parameter[j, k + 3] += f * by_y * units[k + 3]
                    by_parameter[j, k + 4] += f * by_zero * units[k + 4]
                    slopes.by_rounding[j, i] += f * by_zero * lasting.rounding


@inner
def carry(dx, dy, lasting, spread, cross):
    """
    Carry the covariance along a displacement (dx, dy), and add the errors of its parameters.

    With e' = F e + S ξ + T ρ, Σ = cov e, A = cov(e, ξ), P = cov ξ:

        A' = F A + S P,  Σ' = F Σ Fᵀ + F A Sᵀ + S A'ᵀ

    and likewise for ρ, of which exp(−turned/count) remains after the steering has `turned` by
    steps of `count`.

    Parameters
    ----------
    dx, dy : float, m
    lasting : Lasting
        ``pose`` has S and T, `turned` the turn of each steering; they are cleared. `covariance`
        and `lasting` are Σ and cov(e, ρ), and are updated.
    spread, cross : (5n, 5n) and (3, 5n) arrays
        P, and A, which is updated.
    """
    n = len(lasting.turned)
    k = 5 * n
    slopes = lasting.pose.by_parameter
    rounded = lasting.pose.by_rounding
    covariance = lasting.covariance
    correlation = lasting.lasting
    turned = lasting.turned
    count = lasting.resolution
    # F Σ Fᵀ
    for a in range(3):
        p = covariance[2, a]
        covariance[0, a] -= dy * p
        covariance[1, a] += dx * p
    for a in range(3):
        p = covariance[a, 2]
        covariance[a, 0] -= dy * p
        covariance[a, 1] += dx * p
    for b in range(k):
        p = cross[2, b]
        cross[0, b] -= dy * p
        cross[1, b] += dx * p
    # F A Sᵀ, then A', then S A'ᵀ
    for a in range(3):
        for b in range(3):
            total = 0.0
            for j in range(k):
                total += cross[a, j] * slopes[b, j]
            covariance[a, b] += total
    for a in range(3):
        for j in range(k):
            slope = slopes[a, j]
            if slope != 0.0:
                for b in range(k):
                    cross[a, b] += slope * spread[j, b]
    for a in range(3):
        for b in range(3):
            total = 0.0
            for j in range(k):
                total += slopes[a, j] * cross[b, j]
            covariance[a, b] += total
    for i in range(n):
        kept = math.exp(-turned[i] / count) if count > 0.0 else 0.0
        p = correlation[2, i]
        correlation[0, i] = kept * (correlation[0, i] - dy * p)
        correlation[1, i] = kept * (correlation[1, i] + dx * p)
        correlation[2, i] = kept * p
        for a in range(3):
            for b in range(3):
                covariance[a, b] += (correlation[a, i] * rounded[b, i]
                                     + rounded[a, i] * correlation[b, i]
                                     + rounded[a, i] * rounded[b, i])
        for a in range(3):
            correlation[a, i] += rounded[a, i]
        turned[i] = 0.0
    clear(lasting.pose)
    # the mean of both halves is symmetric to the last bit
    for a in range(3):
        for b in range(a):
            covariance[a, b] = covariance[b, a] = 0.5 * (covariance[a, b] + covariance[b, a])


@inner
def clear(slopes):
    """Set all slopes to zero."""
    for j in range(3):
        for k in range(slopes.by_parameter.shape[1]):
            slopes.by_parameter[j, k] = 0.0
        for k in range(slopes.by_rounding.shape[1]):
            slopes.by_rounding[j, k] = 0.0


@inner
def of_twist(lasting, spread, present, dt, late, out):
    """
    Write the covariance (3, 3) of a twist: lasting errors and the lag of the rates.

    The twist is linear in the rates: that of their changes is fitted as they are. Casters that
    swing round change their rates by more than the twist changes.

    Parameters
    ----------
    lasting : Lasting
        ``twist`` has the derivatives of the twist, `changes` the mean square of its change, which
        is updated.
    spread : (5n, 5n) array
        Covariance of the unknowns.
    present : RigidFit
        Of the twist, but ``contact`` has changes of the contact velocities, m/s².
    dt : float, s
        Time since the twist before.
    late : float, s²
        Variance of the time of the twist.
    out : (3, 3) array
        Written.
    """
    right = present.right
    change = present.column[0]
    changes = lasting.changes
    for a in range(3):
        right[a] = 0.0
        for i in range(len(present.weight)):
            right[a] += (present.weight[i, 0] * present.contact[i, 0] * present.rolling[i, a]
                         + present.weight[i, 1] * present.contact[i, 1] * present.axle[i, a])
    for a in range(3):
        change[a] = (present.unit[a, 0] * right[0] + present.unit[a, 1] * right[1]
                     + present.unit[a, 2] * right[2])
    part = -math.expm1(-dt / CHANGES)
    slopes = lasting.twist.by_parameter
    rounded = lasting.twist.by_rounding
    n = rounded.shape[1]
    k = slopes.shape[1]
    for a in range(3):
        for b in range(a + 1):
            changes[a, b] += part * (change[a] * change[b] - changes[a, b])
            total = late * changes[a, b]
            for i in range(n):
                total += rounded[a, i] * rounded[b, i]
            for j in range(k):
                if slopes[a, j] != 0.0:
                    row = 0.0
                    for m in range(k):
                        row += spread[j, m] * slopes[b, m]
                    total += slopes[a, j] * row
            out[a, b] = out[b, a] = total
