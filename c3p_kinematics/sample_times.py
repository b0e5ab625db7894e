# SPDX-License-Identifier: Apache-2.0
"""
Times of joint samples that a publisher sends in a cycle of its own.

The joint state broadcaster of ros2_control stamps the cycle of its manager and sends the newest
state of the hardware. If the hardware has another cycle, one sample is sent twice and another one
not at all; while the hardware is silent, its last sample is sent with new stamps.

A controller manager inside a simulator stamps with the /clock that it has received, which deviates
by milliseconds from the time of the sample: a speed from two angles would be wrong by half of it.
If angles and rates of the same instant are known, the increments Δq and the mean rates q̇ contain
the step. With σ_t the deviation of the stamps and σ_q that of Δq, the most likely step is

    Δt = (Δq·q̇ + λ Δt_stamp)/(q̇·q̇ + λ),   λ = (σ_q/σ_t)²

At rest it is that of the stamps, which does not matter there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from c3p_description.model import Array
from c3p_kernels.compiled import kernel

# reason of the odometry
REPEATED = 'the sample before, repeated'

# rate, rad/s, above which a sample that equals the one before is the same sample: encoders count
# several times in a period of the watchdogs, whereas some drives show a rate at standstill
LEAST_RATE = 1.0

# standard deviation of the increments of ideal encoders from those of the mean rates, rad
INCREMENT = 1e-4
# a received clock of a busy computer lags by less in one step, and in all since the begin; a
# larger deviation is that of encoders that were set, or of wrong rates, s
LONGEST_LAG = 0.1
LONGEST_SUM = 0.5

# residual up to which the increment of a wheel fits, relative to its measured rate and to its
# change by another time
STRETCH = 0.15
COMMON = 0.5
# deviation from the time of the stamps that is left in, besides two encoder steps, and smallest
# time, as fractions of it
EVEN = 0.05
LEAST_PART = 0.05
# time constant and bound of a sample's age, s; shortest cycle, s; slowest rate compared, rad/s
FORGET = 2.0
OLDEST = 0.25
SPARE = 0.005
SLOWEST = 0.2


@kernel
def repeated(last: Array, steering: Array, wheel: Array, steering_rate: Array, wheel_rate: Array,
             least: float) -> bool:
    """
    Return whether a sample equals `last` (4, n) bit for bit at a rate above `least` [rad/s].

    The sample replaces `last`.
    """
    same = True
    fastest = 0.0
    for i in range(len(steering)):
        same = (same and last[0, i] == steering[i] and last[1, i] == wheel[i]
                and last[2, i] == steering_rate[i] and last[3, i] == wheel_rate[i])
        last[0, i], last[1, i] = steering[i], wheel[i]
        last[2, i], last[3, i] = steering_rate[i], wheel_rate[i]
        fastest = max(fastest, abs(steering_rate[i]), abs(wheel_rate[i]))
    return same and fastest > least


@kernel
def interval(mean: Array, before: Array, after: Array, dt: float, resolution: float, age: float
             ) -> tuple[float, float]:
    """
    Return the time between two samples, s, and the age of the newer one; `dt` is of their stamps.

    A publisher that stamps its own cycle sends the newest sample of other hardware: increments
    belong to another time than `dt`. The common factor ``s/dt = Σ ē ω / Σ ē²`` of the `mean` rates
    ω (n,) from positions to those measured, ē = (`before` + `after`)/2, gives it, if it is common:
    the increment of a wheel that slips or accelerates differs from those of the others. A wheel
    fits up to two encoder steps `resolution` [rad]. Time that was missing in earlier samples,
    `age` [s], may be made up for, and one cycle more: the first age is unknown.
    """
    n = len(mean)
    power = 0.0
    along = 0.0
    steps = 2.0 * resolution
    for i in range(n):
        expected = 0.5 * (before[i] + after[i])
        power += expected * expected
        along += expected * mean[i]
    kept = age * (1.0 - min(dt / FORGET, 1.0))
    spare = max(dt, SPARE)
    # too slow to be compared, or rates unknown (nan)
    if not power > n * SLOWEST**2:
        return dt, kept
    span = along / power * dt
    rate = math.sqrt(power / n)
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


@kernel
def likely_step(before: Array, now: Array, weight: float, stamped: float, ahead: float
                ) -> tuple[float, float]:
    """
    Return the most likely step between two samples, s, and how far its sum is ahead of the stamps.

    Parameters
    ----------
    before, now : (2k, m) arrays, rad and rad/s
        Rows of angles, then as many of rates.
    weight : float, rad²/s²
        λ above.
    stamped : float, s
        Step of the stamps; it is returned where the other deviates by too much.
    ahead : float, s
        Sum of all steps so far, less that of the stamps.
    """
    half = len(now) // 2
    along = 0.0
    power = 0.0
    for j in range(half):
        for i in range(now.shape[1]):
            mean = 0.5 * (before[half + j, i] + now[half + j, i])
            along += (now[j, i] - before[j, i]) * mean
            power += mean * mean
    step = (along + weight * stamped) / (power + weight)
    sum_ahead = ahead + step - stamped
    late = abs(step - stamped) >= LONGEST_LAG or abs(sum_ahead) >= LONGEST_SUM
    if late or step <= 0.0:
        return stamped, ahead
    return step, sum_ahead


def stamp_weight(jitter: float) -> float:
    """Return λ, rad²/s², for stamps of a deviation `jitter` [s]; 0: they are exact."""
    return (INCREMENT / jitter)**2 if jitter else 0.0


class Repetition:
    """
    Detects a sample that equals the one before bit for bit although the robot moves.

    Parameters
    ----------
    count : int
        Number of casters.

    Examples
    --------
    >>> repetition, still, rate = Repetition(3), np.zeros(3), np.full(3, 5.0)
    >>> [repetition.found(still, still, still + angle, rate) for angle in (0.1, 0.2, 0.2)]
    [False, False, True]
    >>> [repetition.found(still, still, still, still) for _ in range(2)]  # a robot that stands
    [False, False]
    """

    def __init__(self, count: int) -> None:
        """Compile, and start without a sample."""
        self._before = np.zeros((4, count))
        # samples of messages are views of many layouts, each of which would be compiled for
        self._sample = np.zeros((4, count))
        self.found(*self._sample)
        self._before[:] = np.nan

    def found(self, steering: Array, steering_rate: Array, wheel_angle: Array, wheel_rate: Array
              ) -> bool:
        """
        Return whether a sample is the one before.

        Parameters
        ----------
        steering, steering_rate : (n,) array, rad and rad/s
        wheel_angle, wheel_rate : (n,) array, rad and rad/s
        """
        sample = self._sample
        sample[0], sample[1] = steering, wheel_angle
        sample[2], sample[3] = steering_rate, wheel_rate
        return repeated(self._before, sample[0], sample[1], sample[2], sample[3], LEAST_RATE)


class SampleStep:
    """
    Steps of joint samples by their angles and rates.

    Parameters
    ----------
    jitter : float, s
        σ_t; 0: the steps are those of the stamps.

    Examples
    --------
    >>> pace, rates = SampleStep(0.003), (np.array([5.0]), np.array([4.0]))
    >>> pace.step(None, (np.array([0.0]), np.array([0.0])), rates)
    >>> round(pace.step(0.002, (np.array([0.025]), np.array([0.02])), rates), 4)
    0.005
    """

    def __init__(self, jitter: float) -> None:
        """Compile, and start without a sample."""
        self._jitter = jitter
        self._weight = stamp_weight(jitter)
        self._last: Array | None = None
        if jitter:
            likely_step(np.ones((2, 1)), np.ones((2, 1)), self._weight, 1.0, 0.0)
        # deviation of the sum of all steps from that of the stamps, s
        self._ahead = 0.0

    def step(self, stamped: float | None, angles: Sequence[Array],
             rates: Sequence[Array]) -> float | None:
        """
        Return the step to a sample, s; `stamped` for the first of a time line.

        Parameters
        ----------
        stamped : float or None, s
            Step of the stamps; None or infinite: the first of a time line.
        angles, rates : sequence of array, rad and rad/s
            Of the steering joints and wheels.
        """
        before = self._last
        self._last = None
        if not self._jitter:
            return stamped
        self._last = now = np.array((np.concatenate(angles), np.concatenate(rates)))
        if stamped is None or stamped == np.inf or before is None:
            self._ahead = 0.0
            return stamped
        step, self._ahead = likely_step(before, now, self._weight, stamped, self._ahead)
        return step
