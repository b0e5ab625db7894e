# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled odometry: plain arrays in, plain arrays out, no checks (see odometry.py)."""

from __future__ import annotations

import math

import numpy as np

from c3p_kinematics._caster_kernels import solve3
from c3p_kinematics._se2_kernels import integrate_row, wrap_angle
from c3p_kinematics._slip_kernels import LEAST_TRUST, fit, measured
from c3p_kinematics.compiled import kernel

# parts into which a gap is divided: casters may swing by a radian in one
BRIDGE_STEPS = 32


@kernel
def increments(latch, steering, wheel, dt, middle, wheel_rate, steering_rate):
    """
    Write the steering halfway and the mean rates since `latch` (3, n); renew the latch.

    Its last row is not zero for wheels whose positions have been seen to begin anew at a turn.
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
def solve(geometry, steering, wheel_rate, steering_rate, weight,
          twist, residual, covariance):
    """
    Fit a twist; write its covariance for unit variance (3, 3); return variance, mean square speed.

    The variance is ``Σ w|residual|²/(2n − 3)``, m²/s²; the mean square is of the contact speeds.
    """
    n = len(steering)
    contact, information, column = np.empty((n, 2)), np.empty((3, 3)), np.zeros(3)
    measured(geometry, wheel_rate, steering_rate, contact)
    fit(geometry, steering, contact, weight, twist, residual, information)
    for j in range(3):
        column[:] = 0.0
        column[j] = 1.0
        solve3(information, column, covariance[j])
    for j in range(3):
        for k in range(j):
            covariance[j, k] = covariance[k, j] = 0.5 * (covariance[j, k] + covariance[k, j])
    variance, power = 0.0, 0.0
    for i in range(n):
        variance += weight[i] * (residual[i, 0] ** 2 + residual[i, 1] ** 2) / (2 * n - 3)
        power += (contact[i, 0] ** 2 + contact[i, 1] ** 2) / n
    return variance, power


@kernel
def advance(pose, twist, dt):
    """Move `pose` by exp(twist dt)."""
    step = np.empty(3)
    for j in range(3):
        step[j] = twist[j] * dt
    integrate_row(pose, step, pose)


@kernel
def refit(geometry, casters, steps, wheel, pose):
    """
    Take back the `steps` (k, 5) from `pose` and make them again without `wheel`.

    Rows of `casters` (k, 4, n) are steering, wheel rate, steering rate and weight; rows of `steps`
    twist, duration and whether the twist was held.
    """
    n = casters.shape[2]
    weight, twist, residual, unit = np.empty(n), np.empty(3), np.empty((n, 2)), np.empty((3, 3))
    for k in range(len(steps) - 1, -1, -1):
        advance(pose, steps[k, :3], -steps[k, 3])
    for k in range(len(steps)):
        twist[:] = steps[k, :3]
        if steps[k, 4] == 0.0:
            weight[:] = casters[k, 3]
            weight[wheel] = min(weight[wheel], LEAST_TRUST)
            solve(geometry, casters[k, 0], casters[k, 1], casters[k, 2], weight, twist, residual,
                  unit)
            if not math.isfinite(twist[0] + twist[1] + twist[2]):
                twist[:] = steps[k, :3]
        advance(pose, twist, steps[k, 3])


@kernel
def bridge(geometry, latch, steering, wheel, before, after, dt, largest, lever, pose):
    """
    Move `pose` over a gap by positions alone and renew the latch; return the way, m.

    A wheel may have made whole turns, which show where positions count on. Where they begin anew
    at each turn the rates `before` and `after` the gap (nan: unknown) tell how many those were.
    Within the gap both angles are taken to change evenly. Returns −1 and does nothing where a
    wheel would have turned faster than `largest`, rad/s, and than half as fast again as its rates
    say: what counts its turns was started anew. `lever` [m] makes metres of the yaw.
    """
    n = len(steering)
    rolled, turned = np.empty(n), np.empty(n)
    for i in range(n):
        turned[i] = wrap_angle(steering[i] - latch[0, i])
        raw = wheel[i] - latch[1, i]
        near, told = wrap_angle(raw), 0.5 * (before[i] + after[i]) * dt
        rolled[i] = near
        if latch[2, i] != 0.0:
            if math.isfinite(told):
                rolled[i] += 2.0 * math.pi * round((told - near) / (2.0 * math.pi))
        elif abs(raw) > 2.0 * math.pi or abs(raw - told) < abs(near - told):
            rolled[i] = raw
        fastest = largest
        for rate in (abs(before[i]), abs(after[i])):
            if 1.5 * rate > fastest:
                fastest = 1.5 * rate
        if abs(rolled[i]) > math.pi + fastest * dt:
            return -1.0
    middle, weight, twist = np.empty(n), np.ones(n), np.empty(3)
    spare, unit = np.empty((n, 2)), np.empty((3, 3))
    place, way, part = pose.copy(), 0.0, dt / BRIDGE_STEPS
    for k in range(BRIDGE_STEPS):
        for i in range(n):
            middle[i] = latch[0, i] + turned[i] * (k + 0.5) / BRIDGE_STEPS
        solve(geometry, middle, rolled / dt, turned / dt, weight, twist, spare, unit)
        if not math.isfinite(twist.sum()):
            return -1.0
        advance(place, twist, part)
        way += part * (math.hypot(twist[0], twist[1]) + lever * abs(twist[2]))
    pose[:] = place
    latch[0], latch[1] = steering, wheel
    return way


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
    Transport `covariance` from `anchor` to `pose` and add what the way cost; return its length.

    ``P ← F P Fᵀ + Q`` with F = [[1, 0, −Δy], [0, 1, Δx], [0, 0, 1]], the first order of the
    adjoint of SE(2) for errors along floor axes. `growth` holds the variances of position per
    metre and per radian, of yaw per metre and per radian. Nearer than `least` [m] (`lever` makes
    metres of the angle) nothing happens, the anchor stays and −1 is returned: encoders that
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
    anchor[:] = pose
    return length
