# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled covariance of pose and twist by errors that last: of the parameters, and of rounding.

Public side: uncertainty.py. The unknowns ξ (5n,) are the errors of the parameters [r, d, x, y, β]
of all casters in units of their deviations; ρ (n,) are the rounding errors of the steering angles
in units of theirs. Derivation: docs/calibration.md.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import circle

# time constant of the low-pass that gives the acceleration of a twist, s
SLOW = 0.02

# parameters of a caster
PER_CASTER = 5


@kernel
def add_slopes(geometry, steering, twist, weight, unit, units, rounding, yaw, dt, slopes, rounded):
    """
    Add ``dt R(yaw) ∂(fitted twist)/∂(ξ, ρ)`` to `slopes` (3, 5n) and `rounded` (3, n).

    The rates of the joints are those of the twist: what they deviate by is noise. With
    `unit` (3, 3) the inverse of the normal equations, weights included, and rows Rₓ, Rₐ of the
    contact velocity along and across the wheel, ∂V/∂p = unit Σ w (Rₓᵀ ∂aₓ/∂p + Rₐᵀ ∂aₐ/∂p).

    Parameters
    ----------
    geometry, steering, twist, weight, unit : arrays
        As of the fit (`_planar_kernels.solve`).
    units : (5n,) array, m and rad
        Deviations of the parameters.
    rounding : float, rad
        Deviation of a rounded steering angle.
    yaw, dt : float, rad and s
        Heading of the step and its duration; 0 and 1 give the derivative of the twist.
    slopes, rounded : arrays
        Updated.
    """
    c, s = circle(yaw)
    vx, vy, w = twist[0], twist[1], twist[2]
    for i in range(len(steering)):
        x, y, d, r = geometry[i, 0], geometry[i, 1], geometry[i, 2], geometry[i, 3]
        ci, si = circle(steering[i])
        # velocity of the pivot along and across the wheel, and rows of the contact velocity
        px, py = vx - y * w, vy + x * w
        along, across = -si * px + ci * py, ci * px + si * py
        x2, a2 = si * y + ci * x, si * x - ci * y + d
        # columns of unit times both rows
        rolled, swept = weight[i, 0] * dt, weight[i, 1] * dt
        k = PER_CASTER * i
        for row in range(3):
            gx = rolled * (-si * unit[row, 0] + ci * unit[row, 1] + x2 * unit[row, 2])
            ga = swept * (ci * unit[row, 0] + si * unit[row, 1] + a2 * unit[row, 2])
            # ∂(measured − fitted)/∂[r, d, x, y, β]: the wheel turns by along/r, the steering by
            # −(across + d w)/d
            by_r, by_d = gx * along / r, ga * across / d
            by_x = -w * (ci * gx + si * ga)
            by_y = w * (ci * ga - si * gx)
            by_zero = gx * across - ga * along
            # floor axes: this row of the body goes to two of the floor
            if row == 0:
                fx, fy, fz = c, s, 0.0
            elif row == 1:
                fx, fy, fz = -s, c, 0.0
            else:
                fx, fy, fz = 0.0, 0.0, 1.0
            for j, f in ((0, fx), (1, fy), (2, fz)):
                if f != 0.0:
                    slopes[j, k] += f * by_r * units[k]
                    slopes[j, k + 1] += f * by_d * units[k + 1]
                    slopes[j, k + 2] += f * by_x * units[k + 2]
                    slopes[j, k + 3] += f * by_y * units[k + 3]
                    slopes[j, k + 4] += f * by_zero * units[k + 4]
                    rounded[j, i] += f * by_zero * rounding


@kernel
def carry(dx, dy, slopes, rounded, turned, count, spread, covariance, cross, lasting):
    """
    Carry the covariance along a displacement (dx, dy), and add the errors of its parameters.

    With e' = F e + S ξ + T ρ, Σ = cov e, A = cov(e, ξ), P = cov ξ:

        A' = F A + S P,  Σ' = F Σ Fᵀ + F A Sᵀ + S A'ᵀ

    and likewise for ρ, of which exp(−turned/count) remains after the steering has `turned`.

    Parameters
    ----------
    dx, dy : float, m
    slopes, rounded, turned : (3, 5n), (3, n) and (n,) arrays
        S, T, and the turn of each steering [rad]; cleared.
    count : float, rad
        Step of a steering encoder.
    spread : (5n, 5n) array
        P.
    covariance, cross, lasting : (3, 3), (3, 5n) and (3, n) arrays
        Σ, A and cov(e, ρ); updated.
    """
    k, n = spread.shape[0], len(turned)
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
        p = lasting[2, i]
        lasting[0, i] = kept * (lasting[0, i] - dy * p)
        lasting[1, i] = kept * (lasting[1, i] + dx * p)
        lasting[2, i] = kept * p
        for a in range(3):
            for b in range(3):
                covariance[a, b] += (lasting[a, i] * rounded[b, i] + rounded[a, i] * lasting[b, i]
                                     + rounded[a, i] * rounded[b, i])
        for a in range(3):
            lasting[a, i] += rounded[a, i]
        turned[i] = 0.0
    slopes[:] = 0.0
    rounded[:] = 0.0
    # the mean of both halves is symmetric to the last bit
    for a in range(3):
        for b in range(a):
            covariance[a, b] = covariance[b, a] = 0.5 * (covariance[a, b] + covariance[b, a])


@kernel
def of_twist(slopes, rounded, spread, twist, dt, lag, slow, out):
    """
    Write the covariance (3, 3) of a twist: lasting errors and the lag of the rates.

    Parameters
    ----------
    slopes, rounded : (3, 5n) and (3, n) arrays
        Derivatives of the twist.
    spread : (5n, 5n) array
        Covariance of the unknowns.
    twist : (3,) array
    dt, lag : float, s
        Time since the twist before, and lag of the rates: the twist is late by the acceleration
        times it.
    slow : (3,) array
        Low-pass of the twist, `SLOW` behind it; updated.
    out : (3, 3) array
    """
    k, n = spread.shape[0], rounded.shape[1]
    part, late = 1.0 - math.exp(-dt / SLOW), (lag / SLOW)**2
    for a in range(3):
        for b in range(a + 1):
            total = late * (twist[a] - slow[a]) * (twist[b] - slow[b])
            for i in range(n):
                total += rounded[a, i] * rounded[b, i]
            for j in range(k):
                if slopes[a, j] != 0.0:
                    row = 0.0
                    for m in range(k):
                        row += spread[j, m] * slopes[b, m]
                    total += slopes[a, j] * row
            out[a, b] = out[b, a] = total
    for a in range(3):
        slow[a] += part * (twist[a] - slow[a])
