# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled odometry: increments, pose and its covariance; no checks. Public: odometry.py."""

from __future__ import annotations

import math

from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import wrap_angle
from c3p_kernels.small import put
from c3p_kinematics._planar_kernels import exponential, product

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
        steering_rate[i] = turned / dt
        wheel_rate[i] = rolled / dt
        latch[0, i] = steering[i]
        latch[1, i] = wheel[i]


@kernel
def advance(pose, twist, dt):
    """Move `pose` by exp(twist dt)."""
    x, y, yaw = exponential(twist[0] * dt, twist[1] * dt, twist[2] * dt)
    pose[0], pose[1], pose[2] = product(pose, x, y, yaw)


@kernel
def add_slip(covariance, yaw, unit, amount):
    """Add `amount` times the body-frame covariance `unit` to the floor-frame `covariance`."""
    c, s = math.cos(yaw), math.sin(yaw)
    xx = unit[0, 0]
    xy = unit[0, 1]
    yy = unit[1, 1]
    xz, yz = c * unit[0, 2] - s * unit[1, 2], s * unit[0, 2] + c * unit[1, 2]
    covariance[0, 0] += amount * (c * c * xx - 2.0 * c * s * xy + s * s * yy)
    covariance[1, 1] += amount * (s * s * xx + 2.0 * c * s * xy + c * c * yy)
    covariance[2, 2] += amount * unit[2, 2]
    covariance[0, 1] += amount * (c * s * (xx - yy) + (c * c - s * s) * xy)
    covariance[0, 2] += amount * xz
    covariance[1, 2] += amount * yz
    covariance[1, 0] = covariance[0, 1]
    covariance[2, 0] = covariance[0, 2]
    covariance[2, 1] = covariance[1, 2]


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
    dx = pose[0] - anchor[0]
    dy = pose[1] - anchor[1]
    turned = wrap_angle(pose[2] - anchor[2])
    length = math.hypot(dx, dy)
    angle = abs(turned)
    if length + lever * angle < least:
        return -1.0
    p02 = covariance[0, 2]
    p12 = covariance[1, 2]
    p22 = covariance[2, 2]
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
    covariance[2, 0] = covariance[0, 2]
    covariance[2, 1] = covariance[1, 2]
    put(pose, anchor)
    return length
