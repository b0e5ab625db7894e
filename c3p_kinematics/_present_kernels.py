# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled twist at the time of a sample, by its rates, with its covariance; no checks.

`s` is the state `OdometryState` of odometry_states.py, and the other states are parts of it.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner
from c3p_kernels.small import put
from c3p_kinematics._channel_kernels import SLOW
from c3p_kinematics._held_kernels import put_rows
from c3p_kinematics._planar_kernels import measured, solve
from c3p_kinematics._row_kernels import creep_variance
from c3p_kinematics._uncertainty_kernels import add_slopes, clear, of_twist

# time over which squared changes of a twist are averaged, s
CHANGES = 0.1

# mean square residual of a twist beyond which it is slip, relative to that of wrong parameters
UNEXPLAINED = 4.0


@inner
def take_rates(s, timed, dt):
    """Take the rates of the sample or, without, of its increments, for the present twist."""
    present = s.out.present
    motion = s.motion
    peak = s.peak
    for i in range(len(s.weight)):
        present.steering[i] = s.sample[0, i] if timed else motion.steering[i]
        present.steering_rate[i] = present_rate(s, 0, i) if timed else motion.steering_rate[i]
        present.wheel_rate[i] = present_rate(s, 1, i) if timed else motion.wheel_rate[i]
        put(motion.weight[i], present.weight[i])
    s.out.span[0] = dt
    # rates lag; increments have the rounding of two angles in their time
    s.out.late[0] = lateness(s) if timed else 0.0
    # rates that contradict the angles are wrong by that; angles have the rounding of two samples
    more = s.channels.excess[0] if timed else peak.difference_noise / dt
    s.out.noise[0] = math.hypot(peak.rate_noise, more)


@inner
def present_rate(s, k, i):
    """Return the rate of a joint at the time of its angle: carried on by the lag of the rates."""
    now = s.sample[2 + k, i]
    return now + s.channels.lag[k] * s.channels.change[k, i]


@inner
def lateness(s):
    """
    Return the variance of the time of a twist by rates, s².

    The lag L is known to its deviation. The change of the rates is low-passed over τ = `SLOW`,
    and the correction by it falls short. Of a motion that changes with the frequency 1/τ, the
    fastest that shows, the twist is off by the change that is left in it times a lateness with
    the square

        2 τ² L²/(τ² + (τ + L)²)

    Stamps deviate; and joints whose ages are spread from 0 on, with the deviation of `skew`, are
    late by √3 of it together, which they do not show.
    """
    variance = 4.0 * s.times.skew[0]**2 + s.lasting.jitter**2
    most = 0.0
    for k in range(2):
        lag = s.channels.lag[k]
        missed = 2.0 * (SLOW * lag)**2 / (SLOW**2 + (SLOW + lag)**2)
        most = max(most, missed + s.channels.lag_deviation[k]**2)
    return variance + most


@inner
def average_changes(geometry, s, dt):
    """
    Take the change of the twist by that of the joint rates into its mean square.

    The twist is linear in the rates: that of their changes is fitted as they are. Casters that
    swing round change their rates by more than the twist changes.
    """
    present = s.out.present
    right = present.right
    changes = s.lasting.changes
    measured(geometry, s.channels.carried[1], s.channels.carried[0], present.contact)
    for j in range(3):
        right[j] = 0.0
    for i in range(len(geometry)):
        along = present.weight[i, 0] * present.contact[i, 0]
        across = present.weight[i, 1] * present.contact[i, 1]
        for j in range(3):
            right[j] += along * present.rolling[i, j] + across * present.axle[i, j]
    for j in range(3):
        present.column[0, j] = (present.unit[j, 0] * right[0] + present.unit[j, 1] * right[1]
                                + present.unit[j, 2] * right[2])
    part = -math.expm1(-dt / CHANGES)
    for j in range(3):
        for k in range(3):
            square = present.column[0, j] * present.column[0, k]
            changes[j, k] += part * (square - changes[j, k])


@inner
def fit_start(geometry, s, spread):
    """Fit the twist of a sample that only latches; without rates the robot stands."""
    present = s.out.present
    timed = s.sample[2, 0] == s.sample[2, 0]
    for i in range(len(geometry)):
        present.steering[i] = s.sample[0, i]
        present.steering_rate[i] = s.sample[2, i] if timed else 0.0
        present.wheel_rate[i] = s.sample[3, i] if timed else 0.0
        present.weight[i, 0] = 1.0
        present.weight[i, 1] = 1.0
    s.out.span[0] = 0.0
    s.out.late[0] = 0.0
    s.out.noise[0] = s.peak.rate_noise
    fit_present(geometry, s, spread)
    put_rows(present.unit, s.motion.unit)


@inner
def fit_present(geometry, s, spread):
    """Fit the twist of ``out.present`` and write its covariance; without one the last stays."""
    out = s.out
    peak = s.peak
    place = s.place
    present = out.present
    variance, power = solve(geometry, present)
    if not math.isfinite(variance):
        return
    # residuals beyond those of described parameters are of slip; smaller ones are expected
    noise = out.noise[0]
    amount = noise**2 + max(peak.creep**2 * power, creep_variance(s.rows, power))
    if variance > UNEXPLAINED * (noise**2 + peak.fraction**2 * power):
        amount = variance
    trace = 0.0
    largest = 0.0
    for j in range(3):
        trace += present.unit[j, j] * amount
        largest += peak.value[j, j]
    # at standstill the covariance of the motion stays for a while
    time = place.time[0]
    since = peak.time[0] if place.moved[0] == time else place.moved[0]
    if time - since > peak.hold or trace >= largest:
        peak.time[0] = time
        for j in range(3):
            for k in range(3):
                peak.value[j, k] = present.unit[j, k] * amount
    clear(s.lasting.twist)
    add_slopes(geometry, present, s.lasting, 0.0, 1.0, s.lasting.twist)
    average_changes(geometry, s, out.span[0])
    of_twist(s.lasting, spread, out.late[0], out.covariance)
    for j in range(3):
        for k in range(3):
            out.covariance[j, k] += peak.value[j, k]
    put(present.twist, out.twist)
    put_rows(present.residual, out.residual)
