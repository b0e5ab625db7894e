# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled parts of sample_times.py, without checks."""

from __future__ import annotations

import math

from c3p_kinematics.compiled import kernel

# relative residual up to which increments fit the measured rates, and deviation of the
# time from that of the stamps which is left in, besides an encoder step each; smallest fraction of
# that time; time constant and bound of a sample's age, s; shortest cycle, s; slowest rate that is
# compared, rad/s
STRETCH, EVEN, LEAST_PART, FORGET, OLDEST, SPARE, SLOWEST = 0.15, 0.05, 0.05, 2.0, 0.25, 0.005, 0.2


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
    ω (n,) from positions to those measured, ē = (`before` + `after`)/2, gives it, unless the
    residual exceeds STRETCH or the encoder step `resolution` [rad]. Time that was missing in
    earlier samples, `age` [s], may be made up for, and one cycle more: the first age is unknown.
    """
    n, power, along, square = len(mean), 0.0, 0.0, 0.0
    for i in range(n):
        expected = 0.5 * (before[i] + after[i])
        power += expected * expected
        along += expected * mean[i]
        square += mean[i] * mean[i]
    kept, spare = age * (1.0 - min(dt / FORGET, 1.0)), max(dt, SPARE)
    # too slow to be compared, or rates unknown (nan)
    if not power > n * SLOWEST**2:
        return dt, kept
    span, rate = along / power * dt, math.sqrt(power / n)
    if rate * max(span, dt) < 2.0 * resolution:
        return dt, kept
    left = (square - along * along / power) * dt * dt
    if left > n * (2.0 * resolution) ** 2 + (STRETCH * span) ** 2 * power:
        return dt, kept
    span = min(max(span, LEAST_PART * dt), dt + spare + kept)
    kept = min(max(kept + dt - span, -spare), OLDEST)
    return (dt if abs(span - dt) <= EVEN * dt + resolution / rate else span), kept
