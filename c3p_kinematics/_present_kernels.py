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
from c3p_kinematics._uncertainty_kernels import add_slopes, clear, of_twist

# mean square residual of a twist beyond which it is slip, relative to that of wrong parameters
UNEXPLAINED = 4.0


@inner
def take_rates(s, timed, dt):
    """
    Take the rates of the sample or, without, of its increments, for the present twist.

    Rates are carried on by their lag L. Their change is low-passed over τ = `SLOW`, and the
    correction by it falls short. Of a motion that changes with the frequency 1/τ, the fastest that
    shows, the twist is off by the change that is left in it times a lateness with the square

        2 τ² L²/(τ² + (τ + L)²)

    The deviation of L adds to it. Stamps deviate; and joints whose ages are spread from 0 on, with
    the deviation of `skew`, are late by √3 of it together, which they do not show.
    """
    present = s.out.present
    motion = s.motion
    peak = s.peak
    lag = s.channels.lag
    change = s.channels.change
    for i in range(len(s.weight)):
        present.steering[i] = s.sample[0, i] if timed else motion.steering[i]
        present.steering_rate[i] = (s.sample[2, i] + lag[0] * change[0, i] if timed
                                    else motion.steering_rate[i])
        present.wheel_rate[i] = (s.sample[3, i] + lag[1] * change[1, i] if timed
                                 else motion.wheel_rate[i])
        put(motion.weight[i], present.weight[i])
    s.out.span[0] = dt
    late = 0.0
    for k in range(2):
        missed = 2.0 * (SLOW * lag[k])**2 / (SLOW**2 + (SLOW + lag[k])**2)
        late = max(late, missed + s.channels.lag_deviation[k]**2)
    late += 4.0 * s.times.skew[0]**2 + s.lasting.jitter**2
    # increments have the rounding of two angles in their time
    s.out.late[0] = late if timed else 0.0
    # rates that contradict the angles are wrong by that; angles have the rounding of two samples
    more = s.channels.excess[0] if timed else peak.difference_noise / dt
    s.out.noise[0] = math.hypot(peak.rate_noise, more)


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
    amount = noise**2 + max(peak.creep**2, s.rows.moment[0]) * power
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
    measured(geometry, s.channels.carried[1], s.channels.carried[0], present.contact)
    of_twist(s.lasting, spread, present, out.span[0], out.late[0], out.covariance)
    for j in range(3):
        for k in range(3):
            out.covariance[j, k] += peak.value[j, k]
    put(present.twist, out.twist)
    put_rows(present.residual, out.residual)
