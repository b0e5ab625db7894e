# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled: odometry and slip watch over a whole run, sample by sample as the node does."""

from __future__ import annotations

import math

import numpy as np

from c3p_kinematics._odometry_kernels import advance, bridge, increments, solve
from c3p_kinematics._slip_kernels import LEAST_TRUST, fit, posterior, track
from c3p_kinematics.compiled import kernel


@kernel
def blame(geometry, steering, contact, variance, without, several, likelihood, residual):
    """Write who slips and how fast; return the suspect, −1 where no single wheel explains it."""
    n = len(steering)
    suspect = -1
    likelihood[:] = 1.0 / n
    if n > 2:
        posterior(without, several, likelihood)
        best = 0
        for i in range(n):
            if likelihood[i] > likelihood[best]:
                best = i
        if without[best] < several:
            suspect = best
    weight, twist, information = np.empty(n), np.empty(3), np.empty((3, 3))
    for i in range(n):
        weight[i] = max(1.0 - likelihood[i], LEAST_TRUST) / variance[i]
    fit(geometry, steering, contact, weight, twist, residual, information)
    return suspect


@kernel
def replay(geometry, time, steering, wheel, wheel_rate, steering_rate, noise, speed_fraction,
           time_constant, persistence, release, limit, several, clear, shortest, longest, pose,
           twist, statistic, without, slipping, suspect, slip):
    """
    Write odometry and slip of a run, (k, …) each; the settings are those of odometry.py.

    A sample that is not later than the last only latches; one that is later by more than `longest`
    moves the pose by the positions alone.
    """
    count, n = steering.shape
    latch, middle, wheel_mean, steer_mean = np.zeros((3, n)), np.empty(n), np.empty(n), np.empty(n)
    mean, power, variance = np.zeros((n, 2)), np.zeros(n), np.full(n, noise * noise)
    contact, edge = np.empty((n, 2)), np.empty(n * (n - 1) // 2)
    likelihood, unit = np.empty(n), np.empty((3, 3))
    step, spare, weight = np.empty(3), np.empty((n, 2)), np.ones(n)
    residual = np.zeros((n, 2))
    place = np.zeros(3)
    alarm, held, blamed, chi = False, 0.0, -1, 0.0
    for k in range(count):
        dt = time[k] - time[k - 1] if k else math.inf
        weight[:] = 1.0
        if k and shortest <= dt <= longest:
            increments(latch, steering[k], wheel[k], dt, middle, wheel_mean, steer_mean)
            chi = track(geometry, middle, wheel_mean, steer_mean, -math.expm1(-dt / time_constant),
                        noise, speed_fraction, mean, power, variance, contact, residual,
                        edge, without[k])
            changing = chi < clear * limit if alarm else chi > limit
            held = held + dt if changing else 0.0
            if changing and held >= (release if alarm else persistence):
                alarm, held = not alarm, 0.0
            blamed = -1
            if alarm:
                blamed = blame(geometry, middle, contact, variance, without[k], several,
                               likelihood, residual)
            if blamed >= 0:
                for i in range(n):
                    weight[i] = max(1.0 - likelihood[i], LEAST_TRUST)
            solve(geometry, middle, wheel_mean, steer_mean, weight, step, spare, unit)
            if math.isfinite(step.sum()):
                advance(place, step, dt)
        else:
            if dt > longest and k:
                bridge(geometry, latch, steering[k], wheel[k], wheel_rate[k - 1], wheel_rate[k],
                       dt, math.pi / longest, 0.0, place)
            latch[0], latch[1] = steering[k], wheel[k]
            without[k] = 0.0
        solve(geometry, steering[k], wheel_rate[k], steering_rate[k], weight, twist[k], slip[k],
              unit)
        pose[k], statistic[k], slipping[k], suspect[k] = place, chi, alarm, blamed
