# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled limits of twists and torques, and the slip of wheels; public side: limits.py."""

from __future__ import annotations

import math

from c3p_kernels.compiled import kernel
from c3p_kinematics._planar_kernels import rows


@kernel
def excess_of(twist, speed, yaw_rate):
    """Return the factor, 1 or more, by which a twist exceeds limits of speed and yaw rate."""
    return max(math.hypot(twist[0], twist[1]) / speed, abs(twist[2]) / yaw_rate, 1.0)


@kernel
def scale_down(torque, limit, limited):
    """Write `torque` within `limit` into `limited`; one factor scales all."""
    factor = 1.0
    for i in range(len(torque)):
        if limit[i] > 0.0 and abs(torque[i]) > limit[i]:
            factor = min(factor, limit[i] / abs(torque[i]))
    # rounding of the factor must not pass a limit
    for i in range(len(torque)):
        limited[i] = min(max(factor * torque[i], -limit[i]), limit[i])


@kernel
def track_slip(thresholds, geometry, wheels, bound, steering, twist, rate, torque, dt, memory,
                slipping, limits, work):
    """
    Execute a cycle of `TractionControl`; return whether a wheel slips or is too fast.

    `thresholds` are the speeds, fractions and times of its settings, `wheels` (3, n) the radius,
    whether a motor drives it, and the limit of the rate, `memory` (5, n) spin, limit, time since
    the last slip, durations of slip and overspeed. The torque limits are written into `limits`.
    """
    slip_speed = thresholds[0]
    slip_fraction = thresholds[1]
    most = thresholds[2]
    least = thresholds[3]
    hold = thresholds[4]
    recovery = thresholds[5]
    overspeed = thresholds[6]
    radius = wheels[0]
    driven = wheels[1]
    rate_limit = wheels[2]
    spin = memory[0]
    limit = memory[1]
    gripped = memory[2]
    slipped = memory[3]
    fast = memory[4]
    rolling = work[0]
    axle = work[1]
    trouble = False
    rows(geometry, steering, rolling, axle)
    for i in range(len(radius)):
        # wheel rate without slip: J_x ν, and J_x has the rows Rx/r
        speed = 0.0
        for j in range(3):
            speed += rolling[i, j] / radius[i] * twist[j]
        spin[i] = rate[i] - speed
        # a wheel that slips grips again below half the threshold: hysteresis against chattering
        threshold = slip_speed + slip_fraction * abs(speed) * radius[i]
        part = 0.5 if slipping[i] else 1.0
        slips = driven[i] > 0.0 and abs(spin[i]) * radius[i] > part * threshold
        # begin of a slip: cut the limit
        if slips and not slipping[i]:
            cut = max(most * min(limit[i], abs(torque[i])), least * bound[i])
            limit[i] = min(cut, limit[i])
        # after the hold the limit rises
        gripped[i] = 0.0 if slips else gripped[i] + dt
        if gripped[i] > hold:
            limit[i] = min(limit[i] + bound[i] * dt / recovery, bound[i])
        # durations for the faults
        slipping[i] = slips
        slipped[i] = slipped[i] + dt if slips else 0.0
        too_fast = not slips and abs(rate[i]) > overspeed * rate_limit[i]
        fast[i] = fast[i] + dt if too_fast else 0.0
        trouble = trouble or slips or too_fast
    # a steering motor has the same part of its bound as the wheel of its caster
    n = len(radius)
    for i in range(len(bound)):
        j = i - n
        limits[i] = (limit[i] if i < n else
                     (limit[j] / bound[j] if bound[j] > 0.0 else 1.0) * bound[i])
    return trouble


@kernel
def slow_spin(torque, limit, bound, slipping, damping, spin, limited):
    """Write torques within `limit`, those of spinning wheels against their spin."""
    for i in range(len(torque)):
        value = min(max(torque[i], -limit[i]), limit[i])
        if i < len(slipping):
            value += -damping[i] * spin[i] if slipping[i] else 0.0
        limited[i] = min(max(value, -bound[i]), bound[i])


@kernel
def admit(torque, limit, bound, slipping, damping, spin, limited):
    """Apply `scale_down` and `slow_spin`; return whether all torques are finite."""
    for i in range(len(torque)):
        if not math.isfinite(torque[i]):
            return False
    scale_down(torque, bound, limited)
    slow_spin(limited, limit, bound, slipping, damping, spin, limited)
    return True
