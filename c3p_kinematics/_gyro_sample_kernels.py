# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled samples of a gyro: integral by their own stamps; no checks. Public: gyro_fusion.py."""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner, kernel
from c3p_kinematics.gyro_states import SAMPLES, GyroFilter

cut_filter = GyroFilter.cut

# longest time between two samples that is integrated: 10 Hz with a late one, s
LONGEST = 0.15


@kernel
def add_sample(block, n, time, rate, variance):
    """
    Add a sample of the gyro, later than the last one.

    Parameters
    ----------
    block : array
        Of GyroFilter.
    n : int
        Number of casters.
    time, rate : float, s and rad/s
    variance : float, rad²/s²
        Of the rate, by the covariance of its message; 0 if unknown.
    """
    f = cut_filter(block, n)
    samples = f.samples
    count = int(samples.count[0])
    row = count % SAMPLES
    before = (count - 1) % SAMPLES
    turned = 0.0
    noise = 0.0
    if count > 0:
        dt = time - samples.time[before]
        if dt <= LONGEST:
            # the trapezium: rates between two samples are those of the straight line
            turned = 0.5 * (samples.rate[0] + rate) * dt
            # white noise of a sample stands for its interval
            noise = max(f.walk, variance * dt) * dt
            samples.same[0] = samples.same[0] + dt if rate == samples.rate[0] else 0.0
        else:
            samples.first[0] = count
            samples.same[0] = 0.0
    samples.time[row] = time
    samples.angle[row] = samples.angle[before] + turned if count > 0 else 0.0
    samples.noise[row] = samples.noise[before] + noise if count > 0 else 0.0
    samples.rate[0] = rate
    samples.count[0] = count + 1


@inner
def newest_time(samples):
    """Return the stamp of the newest sample, −inf without one, s."""
    count = int(samples.count[0])
    return samples.time[(count - 1) % SAMPLES] if count > 0 else -math.inf


@kernel
def newest_stamp(block, n):
    """Return the stamp of the newest sample of the filter in `block`, −inf without one, s."""
    return newest_time(cut_filter(block, n).samples)


@inner
def integrals_at(samples, time):
    """Return angle [rad] and noise [rad²] at a `time` between two samples; nan if unknown."""
    count = int(samples.count[0])
    oldest = max(int(samples.first[0]), count - SAMPLES)
    low = oldest
    high = count - 1
    if high < oldest or time > samples.time[high % SAMPLES] or time < samples.time[low % SAMPLES]:
        return math.nan, math.nan
    # the first sample that is not earlier
    while low < high:
        middle = (low + high) // 2
        if samples.time[middle % SAMPLES] < time:
            low = middle + 1
        else:
            high = middle
    after = high % SAMPLES
    if high == oldest or samples.time[after] == time:
        return samples.angle[after], samples.noise[after]
    before = (high - 1) % SAMPLES
    part = (time - samples.time[before]) / (samples.time[after] - samples.time[before])
    return (samples.angle[before] + part * (samples.angle[after] - samples.angle[before]),
            samples.noise[before] + part * (samples.noise[after] - samples.noise[before]))
