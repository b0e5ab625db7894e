# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled limits of twists and torques, and the slip of wheels; public side: limits.py."""

from __future__ import annotations

import math

from c3p_controller.traction_states import TractionState
from c3p_kernels.compiled import inner, kernel
from c3p_kinematics._planar_kernels import rows

# a twist below this commands standstill, m/s and rad/s
STANDSTILL_COMMAND = 1e-3

cut_state = TractionState.cut


@kernel
def excess_of(twist, speed, yaw_rate):
    """Return the factor, 1 or more, by which a twist exceeds limits of speed and yaw rate."""
    return max(math.hypot(twist[0], twist[1]) / speed, abs(twist[2]) / yaw_rate, 1.0)


@kernel
def scale_down(torque, limit, limited_out):
    """Write `torque` within `limit` into `limited_out`; one factor scales all."""
    factor = 1.0
    for i in range(len(torque)):
        if limit[i] > 0.0 and abs(torque[i]) > limit[i]:
            factor = min(factor, limit[i] / abs(torque[i]))
    # rounding of the factor must not pass a limit
    for i in range(len(torque)):
        limited_out[i] = min(max(factor * torque[i], -limit[i]), limit[i])


@kernel
def assess_step(block, sizes, geometry, demand, dt):
    """
    Execute a cycle of `TractionControl`, `dt` s after the last one, and judge the command.

    Parameters
    ----------
    block : array
        Of TractionState; steering to torque are those of the cycle.
    sizes : tuple of int
    geometry : (n, 7) array
    demand : tuple of float
        Limits of speed and yaw rate of a command; speed and yaw rate below which the robot is at
        standstill. m/s and rad/s.
    dt : float, s

    Returns
    -------
    tuple of (bool, float, bool, bool)
        A wheel slips or is too fast; the factor, 1 or more, by which the command exceeds its
        limits; it is more than standstill; the robot is at standstill.
    """
    t = cut_state(block, sizes)
    rows(geometry, t.steering, t.rolling, t.axle)
    trouble = False
    for i in range(len(t.spin)):
        # first the call: it updates the wheel in any case
        trouble = track_wheel(t, i, dt) or trouble
    # a steering motor has the same part of its bound as the wheel of its caster
    n = len(t.spin)
    for i in range(len(t.bound)):
        j = i - n
        t.limit[i] = (t.wheel_limit[i] if i < n else
                      (t.wheel_limit[j] / t.bound[j] if t.bound[j] > 0.0 else 1.0) * t.bound[i])
    speed, yaw_rate, standstill, yaw_standstill = demand
    moves = False
    for j in range(3):
        moves = moves or not abs(t.command[j]) < STANDSTILL_COMMAND
    still = (math.hypot(t.twist[0], t.twist[1]) < standstill
             and abs(t.twist[2]) < yaw_standstill)
    return trouble, excess_of(t.command, speed, yaw_rate), moves, still


@inner
def track_wheel(t, i, dt):
    """Update slip and limit of wheel i; return whether it slips or is too fast."""
    # wheel rate without slip: J_x ν, and J_x has the rows Rx/r
    radius = t.radius[i]
    rate = t.wheel_rate[i]
    bound = t.bound[i]
    speed = 0.0
    for j in range(3):
        speed += t.rolling[i, j] / radius * t.twist[j]
    t.spin[i] = rate - speed
    # a wheel that slips grips again below half the threshold: hysteresis against chattering
    threshold = t.slip_speed + t.slip_fraction * abs(speed) * radius
    before = t.slipping[i] > 0.0
    part = 0.5 if before else 1.0
    slips = t.driven[i] > 0.0 and abs(t.spin[i]) * radius > part * threshold
    # begin of a slip: cut the limit
    limit = t.wheel_limit[i]
    if slips and not before:
        limit = min(max(t.cut_part * min(limit, abs(t.torque[i])), t.least * bound), limit)
    # after the hold the limit rises
    t.gripped[i] = 0.0 if slips else t.gripped[i] + dt
    if t.gripped[i] > t.hold:
        limit = min(limit + bound * dt / t.recovery, bound)
    t.wheel_limit[i] = limit
    # durations for the faults
    t.slipping[i] = 1.0 if slips else 0.0
    t.slipped[i] = t.slipped[i] + dt if slips else 0.0
    too_fast = not slips and abs(rate) > t.overspeed * t.rate_limit[i]
    t.fast[i] = t.fast[i] + dt if too_fast else 0.0
    return slips or too_fast


@inner
def slow_spin(t, torque):
    """Write torques within the limits into ``limited``, those of spinning wheels against it."""
    n = len(t.spin)
    for i in range(len(torque)):
        value = min(max(torque[i], -t.limit[i]), t.limit[i])
        if i < n:
            value += -t.damping[i] * t.spin[i] if t.slipping[i] > 0.0 else 0.0
        t.limited[i] = min(max(value, -t.bound[i]), t.bound[i])


@kernel
def apply_step(block, sizes, torque):
    """Write `torque` by `slow_spin` into ``limited`` of a TractionState."""
    slow_spin(cut_state(block, sizes), torque)


@kernel
def admit_step(block, sizes, torque):
    """Write `torque` by `scale_down` and `slow_spin`; return whether all torques are finite."""
    t = cut_state(block, sizes)
    for i in range(len(torque)):
        if not math.isfinite(torque[i]):
            return False
    scale_down(torque, t.bound, t.limited)
    slow_spin(t, t.limited)
    return True
