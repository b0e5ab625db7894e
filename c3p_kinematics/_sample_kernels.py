# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled parts of sample_times.py, without checks."""

from __future__ import annotations

import math

from c3p_kinematics.compiled import kernel

# residual up to which the increment of a wheel fits, relative to its measured rate and to its
# change by another time
STRETCH, COMMON = 0.15, 0.5
# deviation from the time of the stamps that is left in, besides two encoder steps, and smallest
# time, as fractions of it
EVEN, LEAST_PART = 0.05, 0.05
# time constant and bound of a sample's age, s; shortest cycle, s; slowest rate compared, rad/s
FORGET, OLDEST, SPARE, SLOWEST = 2.0, 0.25, 0.005, 0.2


@kernel
def repeated(last, steering, wheel, steering_rate, wheel_rate, least):
    """
    Return whether a sample equals `last` (4, n) bit for bit at a rate above `least` [rad/s].

    The sample replaces `last`.
    """
    same, fastest = True, 0.0
    for i in range(len(steering)):
        same = (same and last[0, i] == steering[i] and last[1, i] == wheel[i]
                and last[2, i] == steering_rate[i] and last[3, i] == wheel_rate[i])
        last[0, i], last[1, i] = steering[i], wheel[i]
        last[2, i], last[3, i] = steering_rate[i], wheel_rate[i]
        fastest = max(fastest, abs(steering_rate[i]), abs(wheel_rate[i]))
    return same and fastest > least


@kernel
def interval(mean, before, after, dt, resolution, age):
    """
    Return the time between two samples, s, and the age of the newer one; `dt` is of their stamps.

    A publisher that stamps its own cycle sends the newest sample of other hardware: increments
    belong to another time than `dt`. The common factor ``s/dt = Σ ē ω / Σ ē²`` of the `mean` rates
    ω (n,) from positions to those measured, ē = (`before` + `after`)/2, gives it, if it is common:
    the increment of a wheel that slips or accelerates differs from those of the others. A wheel
    fits up to two encoder steps `resolution` [rad]. Time that was missing in earlier samples,
    `age` [s], may be made up for, and one cycle more: the first age is unknown.
    """
    n, power, along, steps = len(mean), 0.0, 0.0, 2.0 * resolution
    for i in range(n):
        expected = 0.5 * (before[i] + after[i])
        power += expected * expected
        along += expected * mean[i]
    kept, spare = age * (1.0 - min(dt / FORGET, 1.0)), max(dt, SPARE)
    # too slow to be compared, or rates unknown (nan)
    if not power > n * SLOWEST**2:
        return dt, kept
    span, rate = along / power * dt, math.sqrt(power / n)
    if rate * max(span, dt) < steps:
        return dt, kept
    fits = min(STRETCH * span, COMMON * abs(span - dt))
    for i in range(n):
        expected = 0.5 * (before[i] + after[i])
        if abs(mean[i] * dt - expected * span) > steps + fits * abs(expected):
            return dt, kept
    span = min(max(span, LEAST_PART * dt), dt + spare + kept)
    kept = min(max(kept + dt - span, -spare), OLDEST)
    return (dt if abs(span - dt) <= EVEN * dt + steps / rate else span), kept
