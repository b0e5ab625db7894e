# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled plausibility of contact velocities: plain arrays, no checks (see grip.py)."""

from __future__ import annotations

import math

import numpy as np

from c3p_kinematics._slip_kernels import LEAST_TRUST, contact_rows, fit, measured
from c3p_kinematics.compiled import kernel

# what `judge` returns: all casters plausible, some left out, all wheels slowed down together, held
ROLLING, PARTLY, SLOWED, HELD = 0, 1, 2, 3


@kernel
def follow(rolling, axle, reach, target, reference):
    """Move `reference` towards `target`, no contact point by more than `reach`, m/s."""
    fastest = 0.0
    for i in range(len(rolling)):
        along, across = 0.0, 0.0
        for j in range(3):
            change = target[j] - reference[j]
            along += rolling[i, j] * change
            across += axle[i, j] * change
        fastest = max(fastest, math.hypot(along, across))
    part = 1.0 if fastest <= reach else reach / fastest
    for j in range(3):
        reference[j] += part * (target[j] - reference[j])


@kernel
def judge(geometry, steering, wheel_rate, steering_rate, dt, age, acceleration, noise, fraction,
          reference, twist, weight, excess):
    """
    Compare contact velocities with those of a `reference` that accelerates as tyres can.

    The noise of one sample must not let an implausible acceleration through that lasts: so the
    reference follows the fitted twist by no more than `acceleration` allows.

    Parameters
    ----------
    geometry, steering, wheel_rate, steering_rate : arrays
    dt, age : float, s
        Since the sample before; for how long the twist has been held.
    acceleration : float, m/s²
        Largest plausible acceleration of a contact point.
    noise, fraction : float, m/s and 1
        Of a contact velocity: constant part, part of its speed.
    reference : (3,) array
        Plausible twist after the last sample, in ``base_link``; is replaced.
    twist : (3,) array
        Fitted to the plausible casters, or the reference while it is held; written.
    weight : (n,) array
        1 for a plausible caster, LEAST_TRUST for another; written.
    excess : (n,) array, m/s
        Deviation of each contact velocity from the prediction; written.
    """
    n = len(steering)
    contact, rolling, axle = np.empty((n, 2)), np.empty((n, 3)), np.empty((n, 3))
    measured(geometry, wheel_rate, steering_rate, contact)
    contact_rows(geometry, steering, rolling, axle)
    # a constant velocity over the floor, seen from the turning platform
    turned = -reference[2] * dt
    c, s = math.cos(turned), math.sin(turned)
    reference[0], reference[1] = (c * reference[0] - s * reference[1],
                                  s * reference[0] + c * reference[1])
    reach = acceleration * (age + dt)
    plausible, slower = 0, True
    for i in range(n):
        along, across = 0.0, 0.0
        for j in range(3):
            along += rolling[i, j] * reference[j]
            across += axle[i, j] * reference[j]
        excess[i] = math.hypot(contact[i, 0] - along, contact[i, 1] - across)
        speed, expected = math.hypot(contact[i, 0], contact[i, 1]), math.hypot(along, across)
        allowed = reach + noise + fraction * max(speed, expected)
        weight[i] = 1.0 if excess[i] <= allowed else LEAST_TRUST
        plausible += excess[i] <= allowed
        slower = slower and speed <= expected + allowed
    fitted, residual, information = np.empty(3), np.empty((n, 2)), np.empty((3, 3))
    if plausible >= 2:
        fit(geometry, steering, contact, weight, fitted, residual, information)
        if math.isfinite(fitted[0] + fitted[1] + fitted[2]):
            twist[:] = fitted
            follow(rolling, axle, reach, fitted, reference)
            return ROLLING if plausible == n else PARTLY
    # wheels that agree and have slowed down: the robot met an obstacle
    if slower:
        fit(geometry, steering, contact, np.ones(n), fitted, residual, information)
        agree = math.isfinite(fitted[0] + fitted[1] + fitted[2])
        for i in range(n):
            speed = math.hypot(contact[i, 0], contact[i, 1])
            agree = agree and math.hypot(residual[i, 0], residual[i, 1]) <= (
                noise + fraction * speed)
        if agree:
            twist[:], reference[:] = fitted, fitted
            weight[:] = 1.0
            return SLOWED
    weight[:] = LEAST_TRUST
    twist[:] = reference
    return HELD
