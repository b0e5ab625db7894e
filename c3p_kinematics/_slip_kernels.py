# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled slip tests: plain arrays in, plain arrays out, no checks (see slip.py).

`contact` (n, 2) holds the velocity of each contact point [along, across] its wheel, `variance`
(n,) the noise variance of both, m²/s².
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kinematics._caster_kernels import RANK_TOLERANCE, rows, solve3
from c3p_kinematics.compiled import kernel

# eigenvalue of the share of a caster's velocity that the others can check, below which it is
# rounding: the others leave that direction open
CHECKABLE = 1e-9

# share of its weight that a caster keeps however sure its slip is: the fit stays well posed
LEAST_TRUST = 1e-3


@kernel
def contact_rows(geometry, steering, rolling, axle):
    """Write the rows of the contact velocities: `rolling` Rx and `axle` Ra + d [0 0 1]."""
    rows(geometry, steering, rolling, axle)
    for i in range(len(steering)):
        axle[i, 2] += geometry[i, 2]


@kernel
def measured(geometry, wheel_rate, steering_rate, contact):
    """Write r θ̇_x and −d θ̇_s of each caster, m/s."""
    for i in range(len(wheel_rate)):
        contact[i, 0] = geometry[i, 3] * wheel_rate[i]
        contact[i, 1] = -geometry[i, 2] * steering_rate[i]


@kernel
def turn(steering, vectors, out):
    """Turn [along, across] into (x, y) of ``base_link``, or back: it is a reflection."""
    for i in range(len(steering)):
        c, s = math.cos(steering[i]), math.sin(steering[i])
        p, q = vectors[i, 0], vectors[i, 1]
        out[i, 0], out[i, 1] = -s * p + c * q, c * p + s * q


@kernel
def stretch(geometry, steering, contact, edge_rate):
    """Write the rates at which the distances between the contact points change, m/s."""
    n = len(steering)
    k = 0
    for i in range(n):
        ci, si = math.cos(steering[i]), math.sin(steering[i])
        for j in range(i + 1, n):
            cj, sj = math.cos(steering[j]), math.sin(steering[j])
            # contact point m − d e, velocity along e + across a
            x = (geometry[i, 0] + geometry[i, 2] * si) - (geometry[j, 0] + geometry[j, 2] * sj)
            y = (geometry[i, 1] - geometry[i, 2] * ci) - (geometry[j, 1] - geometry[j, 2] * cj)
            vx = (-si * contact[i, 0] + ci * contact[i, 1]
                  + sj * contact[j, 0] - cj * contact[j, 1])
            vy = (ci * contact[i, 0] + si * contact[i, 1]
                  - cj * contact[j, 0] - sj * contact[j, 1])
            length = math.hypot(x, y)
            edge_rate[k] = (x * vx + y * vy) / length if length > 0.0 else 0.0
            k += 1


@kernel
def fit(geometry, steering, contact, weight, twist, residual, information):
    """Fit one twist (3,) to the contact velocities, `weight` (n,) for both directions."""
    n = len(steering)
    rolling, axle, right = np.empty((n, 3)), np.empty((n, 3)), np.zeros(3)
    contact_rows(geometry, steering, rolling, axle)
    information[:] = 0.0
    lever = 0.0
    for i in range(n):
        lever += weight[i] * geometry[i, 2] ** 2
        for j in range(3):
            right[j] += weight[i] * (rolling[i, j] * contact[i, 0] + axle[i, j] * contact[i, 1])
            for k in range(3):
                information[j, k] += weight[i] * (rolling[i, j] * rolling[i, k]
                                                  + axle[i, j] * axle[i, k])
    if solve3(information, right, twist) ** 2 <= RANK_TOLERANCE * lever:
        twist[:] = np.nan
    for i in range(n):
        residual[i, 0], residual[i, 1] = contact[i, 0], contact[i, 1]
        for j in range(3):
            residual[i, 0] -= rolling[i, j] * twist[j]
            residual[i, 1] -= axle[i, j] * twist[j]


@kernel
def leave_one_out(geometry, steering, contact, variance, residual, without):
    """
    Fit all casters, then all but one; return the χ² of all, write that of the others in `without`.

    Leaving caster k out lowers χ² by ``w rᵀ S⁻¹ r`` with r its residual and ``S = 1 − w J N⁻¹ Jᵀ``
    the share of its velocity that the others can check: no second fit is needed. Where S has no
    full rank (two casters) the open direction explains nothing.
    """
    n = len(steering)
    weight, twist, information = np.empty(n), np.empty(3), np.empty((3, 3))
    for i in range(n):
        weight[i] = 1.0 / variance[i]
    fit(geometry, steering, contact, weight, twist, residual, information)
    rolling, axle = np.empty((n, 3)), np.empty((n, 3))
    contact_rows(geometry, steering, rolling, axle)
    total = 0.0
    for i in range(n):
        total += weight[i] * (residual[i, 0] ** 2 + residual[i, 1] ** 2)
    p, q = np.empty(3), np.empty(3)
    for i in range(n):
        solve3(information, rolling[i], p)
        solve3(information, axle[i], q)
        s00, s01, s11 = 1.0, 0.0, 1.0
        for j in range(3):
            s00 -= weight[i] * rolling[i, j] * p[j]
            s01 -= weight[i] * rolling[i, j] * q[j]
            s11 -= weight[i] * axle[i, j] * q[j]
        a, b = residual[i, 0], residual[i, 1]
        trace, det = s00 + s11, s00 * s11 - s01 * s01
        drop = 0.0
        if det > CHECKABLE * trace * trace and trace > CHECKABLE:
            drop = (s11 * a * a - 2.0 * s01 * a * b + s00 * b * b) / det
        elif trace > CHECKABLE:
            drop = (s00 * a * a + 2.0 * s01 * a * b + s11 * b * b) / (trace * trace)
        without[i] = max(total - weight[i] * drop, 0.0)
    return total


@kernel
def posterior(without, several, likelihood):
    """
    Write how likely each caster is the one that slips, given that at least one does.

    Equal priors, Gaussian noise; the hypothesis "more than one" competes with the χ² `several`.
    """
    best = several
    for value in without:
        best = min(best, value)
    total = math.exp(0.5 * (best - several))
    for i in range(len(without)):
        likelihood[i] = math.exp(0.5 * (best - without[i]))
        total += likelihood[i]
    for i in range(len(without)):
        likelihood[i] /= total


@kernel
def track(geometry, steering, wheel_rate, steering_rate, share, noise,
          speed_fraction, mean, power, variance, contact, residual,
          edge_rate, without):
    """
    Low-pass the residuals in ``base_link`` axes and test them; return the χ² of all.

    `share` in [0, 1] is the new sample's part; `mean` (n, 2) and `power` (n,) are the memory: mean
    residual and mean squared contact speed. The filtered residuals go to `contact`.
    """
    n = len(steering)
    twist, information = np.empty(3), np.empty((3, 3))
    measured(geometry, wheel_rate, steering_rate, contact)
    for i in range(n):
        speed = contact[i, 0] ** 2 + contact[i, 1] ** 2
        power[i] += share * (speed - power[i])
        variance[i] = noise * noise + speed_fraction * speed_fraction * power[i]
    fit(geometry, steering, contact, np.ones(n), twist, residual, information)
    turn(steering, residual, contact)
    for i in range(n):
        for j in range(2):
            # a fit that failed (all contact points in one place) is no evidence
            new = contact[i, j] if math.isfinite(contact[i, j]) else 0.0
            mean[i, j] += share * (new - mean[i, j])
    turn(steering, mean, contact)
    stretch(geometry, steering, contact, edge_rate)
    statistic = leave_one_out(geometry, steering, contact, variance, residual, without)
    if not math.isfinite(statistic):
        residual[:] = 0.0
        without[:] = 0.0
        return 0.0
    return statistic
