# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled odometry: increments, gaps, covariance, slip isolation; no checks.

Public sides: odometry.py and slip.py. `contact` (n, 2) is the velocity of each contact
point [along, across] its wheel, `variance` (n,) the noise variance of both, m²/s².
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import put, solve3
from c3p_kinematics._planar_kernels import contact_rows, fit, integrate_row, measured, solve

# intervals into which a gap is divided: casters may swing by a radian in one
BRIDGE_STEPS = 32

# eigenvalue of the fraction of a caster's velocity that the others can check, below which it is
# rounding: the others leave that direction open
CHECKABLE = 1e-9

# fraction of its weight that a caster keeps however certain its slip is: the fit stays well posed
LEAST_TRUST = 1e-3


@kernel
def increments(latch, steering, wheel, dt, middle, wheel_rate, steering_rate):
    """
    Write the steering halfway and the mean rates since `latch` (3, n); renew the latch.

    Its last row is 1 for wheels whose positions wrap at a turn.
    """
    for i in range(len(steering)):
        turned = wrap_angle(steering[i] - latch[0, i])
        rolled = wrap_angle(wheel[i] - latch[1, i])
        if abs(wheel[i] - latch[1, i]) > math.pi:
            latch[2, i] = 1.0
        middle[i] = latch[0, i] + 0.5 * turned
        steering_rate[i], wheel_rate[i] = turned / dt, rolled / dt
        latch[0, i], latch[1, i] = steering[i], wheel[i]


@kernel
def advance(pose, twist, dt):
    """Move `pose` by exp(twist dt)."""
    step = np.empty(3)
    for j in range(3):
        step[j] = twist[j] * dt
    integrate_row(pose, step, pose)


@kernel
def bridge(geometry, latch, steering, wheel, before, after, dt, largest, lever, pose):
    """
    Move `pose` over a gap by positions alone and renew the latch; return the path length, m.

    A wheel may have made whole turns. Multi-turn positions include them; for positions that wrap
    they follow from the rates `before` and `after` the gap (nan: unknown). Both angles are assumed
    to change evenly within the gap. If a wheel would have turned faster than `largest` [rad/s] and
    than 1.5 times its rates, its counter was reset: the pose stays and −1 is returned. `lever` [m]
    converts yaw to metres.
    """
    n = len(steering)
    rolled, turned, rolling, turning = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    # increment of each angle, whole turns of the wheels included
    for i in range(n):
        turned[i] = wrap_angle(steering[i] - latch[0, i])
        raw = wheel[i] - latch[1, i]
        near, expected = wrap_angle(raw), 0.5 * (before[i] + after[i]) * dt
        rolled[i] = near
        if latch[2, i] != 0.0:
            if math.isfinite(expected):
                rolled[i] += 2.0 * math.pi * round((expected - near) / (2.0 * math.pi))
        elif abs(raw) > 2.0 * math.pi or abs(raw - expected) < abs(near - expected):
            rolled[i] = raw
        fastest = largest
        for rate in (abs(before[i]), abs(after[i])):
            if 1.5 * rate > fastest:
                fastest = 1.5 * rate
        if abs(rolled[i]) > math.pi + fastest * dt:
            return -1.0
        rolling[i], turning[i] = rolled[i] / dt, turned[i] / dt
    # one constant twist per interval, at the steering halfway
    middle, weight, twist = np.empty(n), np.ones((n, 2)), np.empty(3)
    spare, unit = np.empty((n, 2)), np.empty((3, 3))
    place, length, part = pose.copy(), 0.0, dt / BRIDGE_STEPS
    for k in range(BRIDGE_STEPS):
        for i in range(n):
            middle[i] = latch[0, i] + turned[i] * (k + 0.5) / BRIDGE_STEPS
        solve(geometry, middle, rolling, turning, weight, twist, spare, unit)
        if not math.isfinite(twist.sum()):
            return -1.0
        advance(place, twist, part)
        length += part * (math.hypot(twist[0], twist[1]) + lever * abs(twist[2]))
    put(place, pose)
    put(steering, latch[0])
    put(wheel, latch[1])
    return length


@kernel
def add_slip(covariance, yaw, unit, amount):
    """Add `amount` times the body-frame covariance `unit` to the floor-frame `covariance`."""
    c, s = math.cos(yaw), math.sin(yaw)
    xx, xy, yy = unit[0, 0], unit[0, 1], unit[1, 1]
    xz, yz = c * unit[0, 2] - s * unit[1, 2], s * unit[0, 2] + c * unit[1, 2]
    covariance[0, 0] += amount * (c * c * xx - 2.0 * c * s * xy + s * s * yy)
    covariance[1, 1] += amount * (s * s * xx + 2.0 * c * s * xy + c * c * yy)
    covariance[2, 2] += amount * unit[2, 2]
    covariance[0, 1] += amount * (c * s * (xx - yy) + (c * c - s * s) * xy)
    covariance[0, 2] += amount * xz
    covariance[1, 2] += amount * yz
    covariance[1, 0] = covariance[0, 1]
    covariance[2, 0], covariance[2, 1] = covariance[0, 2], covariance[1, 2]


@kernel
def grow(covariance, anchor, pose, growth, lever, least):
    """
    Transport `covariance` to `pose` and add the growth of the path; return its length.

    ``P ← F P Fᵀ + Q`` with F = [[1, 0, −Δy], [0, 1, Δx], [0, 0, 1]], the first order of the
    adjoint of SE(2) for errors along floor axes. `growth` holds the variances of position per
    metre and per radian, of yaw per metre and per radian. Below a motion of `least` [m] (`lever`
    converts yaw to metres) the covariance and the anchor stay and −1 is returned: encoders that
    flicker at standstill add nothing.
    """
    dx, dy, turned = pose[0] - anchor[0], pose[1] - anchor[1], wrap_angle(pose[2] - anchor[2])
    length, angle = math.hypot(dx, dy), abs(turned)
    if length + lever * angle < least:
        return -1.0
    p02, p12, p22 = covariance[0, 2], covariance[1, 2], covariance[2, 2]
    covariance[0, 0] += dy * (dy * p22 - 2.0 * p02)
    covariance[1, 1] += dx * (dx * p22 + 2.0 * p12)
    covariance[0, 1] += dx * p02 - dy * p12 - dx * dy * p22
    covariance[0, 2] -= dy * p22
    covariance[1, 2] += dx * p22
    place = growth[0] * length + growth[1] * angle
    covariance[0, 0] += place
    covariance[1, 1] += place
    covariance[2, 2] += growth[2] * length + growth[3] * angle
    covariance[1, 0] = covariance[0, 1]
    covariance[2, 0], covariance[2, 1] = covariance[0, 2], covariance[1, 2]
    put(pose, anchor)
    return length


@kernel
def turn(steering, vectors, out):
    """Turn [along, across] into (x, y) of ``base_link``, or back: it is a reflection."""
    for i in range(len(steering)):
        c, s = math.cos(steering[i]), math.sin(steering[i])
        p, q = vectors[i, 0], vectors[i, 1]
        out[i, 0], out[i, 1] = -s * p + c * q, c * p + s * q


@kernel
def leave_one_out(geometry, steering, contact, variance, residual, without):
    """
    Fit all casters, then all but one; return the χ² of all, write that of the others in `without`.

    Leaving caster k out lowers χ² by ``w rᵀ S⁻¹ r`` with r its residual and ``S = 1 − w J N⁻¹ Jᵀ``
    the fraction of its velocity that the others can check: no second fit is needed. Where S is
    singular (two casters) the open direction explains nothing.
    """
    n = len(steering)
    weight, twist, information = np.empty((n, 2)), np.empty(3), np.empty((3, 3))
    for i in range(n):
        weight[i, 0] = weight[i, 1] = 1.0 / variance[i]
    fit(geometry, steering, contact, weight, twist, residual, information)
    rolling, axle = np.empty((n, 3)), np.empty((n, 3))
    contact_rows(geometry, steering, rolling, axle)
    total = 0.0
    for i in range(n):
        total += (residual[i, 0] ** 2 + residual[i, 1] ** 2) / variance[i]
    # N⁻¹ Jᵀ of one caster, column by column, and from it S
    p, q = np.empty(3), np.empty(3)
    for i in range(n):
        solve3(information, rolling[i], p)
        solve3(information, axle[i], q)
        s00, s01, s11 = 1.0, 0.0, 1.0
        for j in range(3):
            s00 -= weight[i, 0] * rolling[i, j] * p[j]
            s01 -= weight[i, 0] * rolling[i, j] * q[j]
            s11 -= weight[i, 0] * axle[i, j] * q[j]
        a, b = residual[i, 0], residual[i, 1]
        trace, det = s00 + s11, s00 * s11 - s01 * s01
        drop = 0.0
        if det > CHECKABLE * trace * trace and trace > CHECKABLE:
            drop = (s11 * a * a - 2.0 * s01 * a * b + s00 * b * b) / det
        elif trace > CHECKABLE:
            drop = (s00 * a * a + 2.0 * s01 * a * b + s11 * b * b) / (trace * trace)
        without[i] = max(total - weight[i, 0] * drop, 0.0)
    return total


@kernel
def posterior(without, several, likelihood):
    """
    Write the probability of each caster to be the one that slips, given that at least one does.

    Equal priors, Gaussian noise; the hypothesis "more than one" competes with the χ² `several`.
    """
    # relative to the best χ², so that the exponentials do not underflow together
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
def track(geometry, steering, wheel_rate, steering_rate, gain, noise, speed_fraction, mean, power,
          variance, contact, residual, without):
    """
    Low-pass the residuals in ``base_link`` axes and test them; return the χ² of all.

    `gain` in [0, 1] is that of the low-pass; `mean` (n, 2) and `power` (n,) are its memory: mean
    residual and mean squared contact speed. The filtered residuals are written to `contact`.
    """
    n = len(steering)
    twist, information = np.empty(3), np.empty((3, 3))
    measured(geometry, wheel_rate, steering_rate, contact)
    for i in range(n):
        speed = contact[i, 0] ** 2 + contact[i, 1] ** 2
        power[i] += gain * (speed - power[i])
        variance[i] = noise * noise + speed_fraction * speed_fraction * power[i]
    fit(geometry, steering, contact, np.ones((n, 2)), twist, residual, information)
    # in base_link axes, in which errors of position increments cancel from sample to sample
    turn(steering, residual, contact)
    for i in range(n):
        for j in range(2):
            # a fit that failed (all contact points in one place) is no evidence
            new = contact[i, j] if math.isfinite(contact[i, j]) else 0.0
            mean[i, j] += gain * (new - mean[i, j])
    turn(steering, mean, contact)
    statistic = leave_one_out(geometry, steering, contact, variance, residual, without)
    if not math.isfinite(statistic):
        residual[:] = 0.0
        without[:] = 0.0
        return 0.0
    return statistic


@kernel
def lengths(vectors, length):
    """Write the lengths (n,) of `vectors` (n, 2)."""
    for i in range(len(vectors)):
        length[i] = math.sqrt(vectors[i, 0] * vectors[i, 0] + vectors[i, 1] * vectors[i, 1])
