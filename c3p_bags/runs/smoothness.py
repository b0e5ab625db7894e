# SPDX-License-Identifier: Apache-2.0
"""
Metrics of smoothness: jerk, variation and rate of the torques, ripple of the velocity.

Pure functions of arrays; samples need not be equidistant. Those of torques describe what the
motors do: they count every change, of the whole run. Ripple describes what is left of a motion
without its purpose:

    r = R(φ) (ν − ν_c) − slow part,        φ = ∫ ω dt

with the twist ν, the commanded twist ν_c (zero without a command), both turned to the floor, and
as slow part the mean over `SLOW_TIME` about each sample. It counts while the command is steady
only: a start, a stop and a jump of curvature accelerate on purpose, and casters that turn to a new
direction yaw the platform.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_bags.runs import mapped
from c3p_bags.runs.run_log import Motion, RunLog, between, held
from c3p_description.model import Array

# window of the mean that is the slow part, s: of an oscillation at 1 Hz and more, and at 0.5 Hz,
# nothing is in it
SLOW_TIME = 2.0

# the command is steady if it stays within the range for so long before and after a sample, s; m/s
# and rad/s. Before: casters take about 1 s to align, and the mean reaches back 1 s
STEADY_BEFORE = 2.0
STEADY_AFTER = 1.0
STEADY_SPEED = 0.1
STEADY_YAW_RATE = 0.1

# window of the parabola whose curvature is the jerk, s: contact noise of single samples is out,
# the swing of a platform (up to 5 Hz) is in
JERK_TIME = 0.1

# a platform slower than this is at rest, m/s and rad/s
REST_SPEED = 0.002
REST_YAW_RATE = 0.005

# equidistant samples per sample of the run
MOST_EVEN = 20

KEYS = ('torque_variation_nm_per_s', 'torque_rate_max_nm_per_s', 'jerk_rms_mps3',
        'jerk_max_mps3', 'yaw_rate_ripple_rms_radps', 'velocity_ripple_rms_mps')


def smoothness(time: ArrayLike, torque: ArrayLike, twist: ArrayLike,
               command: ArrayLike | None = None) -> dict[str, float | None]:
    """
    Return the metrics of smoothness of a run, ready for JSON.

    Parameters
    ----------
    time : (k,) array_like, s
        Rising; equal or falling times are left out.
    torque : (k, m) array_like, N·m
        Of all motors.
    twist : (k, 3) array_like
        vx, vy, ω in ``base_link``, m/s and rad/s.
    command : (k, 3) array_like, optional
        Commanded twist; nan before the first command.

    Returns
    -------
    dict
        ``torque_variation_nm_per_s``: Σ |Δτ| of all motors per second;
        ``torque_rate_max_nm_per_s``: largest |Δτ|/Δt; ``jerk_rms_mps3``, ``jerk_max_mps3``: of
        the platform's origin over the floor; ``yaw_rate_ripple_rms_radps``,
        ``velocity_ripple_rms_mps``: rms of the ripple of ω and of the velocity over the floor.
        None: too short, or without a steady command.

    Examples
    --------
    >>> time = np.arange(0.0, 10.0, 0.01)
    >>> swing = 0.05 * np.sin(2.0 * np.pi * 1.5 * time)
    >>> twist = np.stack([0.3 + 0.0 * time, 0.0 * time, 0.2 + swing], axis=-1)
    >>> found = smoothness(time, swing[:, None], twist)
    >>> round(found['yaw_rate_ripple_rms_radps'], 2), round(found['torque_variation_nm_per_s'], 2)
    (0.04, 0.3)
    """
    time = np.asarray(time, float)
    torque = np.asarray(torque, float)
    twist = np.asarray(twist, float)
    command = (np.broadcast_to(0.0, twist.shape) if command is None
               else np.asarray(command, float))
    # a clock that stands or falls gives no rate
    kept = np.concatenate(([True], time[1:] > np.maximum.accumulate(time)[:-1]))
    kept &= np.isfinite(time) & np.isfinite(torque).all(axis=1) & np.isfinite(twist).all(axis=1)
    if not kept.all():
        time, torque, twist, command = (
            mapped.kept(column[kept]) for column in (time, torque, twist, command))
    if len(time) < 2:
        return dict.fromkeys(KEYS)
    turn = _turned(time, twist[:, 2])
    return {**_variation(time, torque), **_jerk(time, turn, twist),
            **_ripple(time, turn, twist, command)}


def _variation(time: Array, torque: Array) -> dict[str, float | None]:
    """Return the variation per second, and the largest rate, of torques (k, n)."""
    steps = mapped.computed(lambda before, after: np.abs(after - before), torque[:-1], torque[1:])
    total = float(steps.sum() / (time[-1] - time[0]))
    rate = mapped.computed(
        lambda step, before, after: (step / (after - before)[:, None]).max(0, initial=0.0)[None],
        steps, time[:-1], time[1:])
    return {'torque_variation_nm_per_s': total,
            'torque_rate_max_nm_per_s': float(rate.max(initial=0.0))}


def run_smoothness(log: RunLog, start: float = 0.0, arrival: float | None = None
                   ) -> dict[str, float | None]:
    """
    Return the `smoothness` of a run from `start`, s, to the end of its motion.

    After `arrival`, s, the motion ends with the first sample at rest: what the recorder writes
    later does not change the result. Without an arrival it ends with the last sample in motion
    or under a command other than zero. The twist is the true one where it is known, else that
    of the odometry.
    """
    motion: Motion | None = log.ground_truth if log.ground_truth is not None else log.odom
    if motion is None or len(motion.time) < 2:
        return dict.fromkeys(KEYS)
    end = _end_of_motion(log, motion, start, arrival)
    after = mapped.where((motion.time >= start) & (motion.time <= end))
    time = motion.time[after]
    command = None if log.cmd_vel is None else held(log.cmd_vel, time)
    torque = held(log.torque, time)
    return smoothness(time, mapped.computed(np.nan_to_num, torque), motion.twist[after], command)


def _end_of_motion(log: RunLog, motion: Motion, start: float, arrival: float | None) -> float:
    """Return when the motion of a run ends, s; see `run_smoothness`."""
    def still(twist: Array) -> Array:
        return (np.hypot(twist[:, 0], twist[:, 1]) <= REST_SPEED) & (
            np.abs(twist[:, 2]) <= REST_YAW_RATE)

    if arrival is not None:
        at_rest = np.flatnonzero(mapped.computed(still, motion.twist)
                                 & (motion.time >= arrival))
        return float(motion.time[at_rest[0]]) if len(at_rest) else math.inf
    command = log.cmd_vel

    def in_motion(time: Array, twist: Array) -> Array:
        moving = ~still(twist)
        return moving if command is None else moving | np.any(
            np.nan_to_num(held(command, time)) != 0.0, axis=1)

    busy = mapped.computed(in_motion, motion.time, motion.twist)
    last = np.flatnonzero(busy & (motion.time >= start))
    return float(motion.time[last[-1]]) if len(last) else math.inf


def _turned(time: Array, rate: Array) -> Array:
    """Return the yaw since the first sample by the trapezoidal rule, rad."""
    return mapped.summed(mapped.computed(
        lambda now, before, since, until: 0.5 * (now + before) * (until - since),
        rate[1:], rate[:-1], time[:-1], time[1:]))


def _floor(turn: Array, twist: Array) -> Array:
    """Return twists (k, 3) turned to the floor."""
    c, s = np.cos(turn), np.sin(turn)
    return np.stack([c * twist[:, 0] - s * twist[:, 1], s * twist[:, 0] + c * twist[:, 1],
                     twist[:, 2]], axis=-1)


def _even(time: Array, value: Array) -> tuple[float, Array]:
    """Return the median period and `value` at equidistant times."""
    # with gaps of all lengths the period is longer: memory follows the number of samples
    period = max(float(np.median(np.diff(time))),
                 float(time[-1] - time[0]) / (MOST_EVEN * len(time)))
    return period, mapped.computed(lambda even: between(even, time, value),
                                   np.arange(time[0], time[-1] + 0.5 * period, period))


def _jerk(time: Array, turn: Array, twist: Array) -> dict[str, float | None]:
    """Return rms and maximum of the jerk over the floor."""
    period, even = _even(time, mapped.computed(
        lambda angle, part: _floor(angle, part)[:, :2], turn, twist))
    half = max(1, int(round(0.5 * JERK_TIME / period)))
    if len(even) < 2 * half + 1:
        return {'jerk_rms_mps3': None, 'jerk_max_mps3': None}
    # second derivative of the least-squares parabola over the window
    offset = period * np.arange(-half, half + 1)
    weights = 2.0 * np.linalg.pinv(np.stack([offset**0, offset, offset**2], axis=-1))[2]
    jerk = mapped.GrowingRows()
    for part in mapped.parts(len(even) - 2 * half):
        jerk.append(np.hypot(*(np.convolve(column, weights[::-1], mode='valid')
                               for column in even[part.start:part.stop + 2 * half].T)))
    found = jerk.array()
    return {'jerk_rms_mps3': rms(found), 'jerk_max_mps3': float(found.max())}


def rms(value: Array) -> float:
    """Return the root of the mean square of values (k,)."""
    return float(np.sqrt(np.mean(mapped.computed(np.square, value))))


def _ripple(time: Array, turn: Array, twist: Array, command: Array) -> dict[str, Any]:
    """Return the ripples of yaw rate and velocity while `command` is steady."""
    none = {'yaw_rate_ripple_rms_radps': None, 'velocity_ripple_rms_mps': None}
    counted = steady(time, command)
    if not counted.any():
        return none
    period, even = _even(time, mapped.computed(
        lambda angle, now, wanted: _floor(angle, now - np.nan_to_num(wanted)),
        turn, twist, command))
    half = int(round(0.5 * SLOW_TIME / period))
    # mean over the window from the sums up to its ends, cut at the ends of the run
    sums = mapped.summed(even)

    def left(now: Array, wanted: Array) -> Array:
        """Return what the mean leaves of the samples `wanted` of those at times `now`."""
        place = np.clip(np.rint((now[wanted] - time[0]) / period).astype(int), 0, len(even) - 1)
        low = np.maximum(place - half, 0)
        high = np.minimum(place + half + 1, len(even))
        return even[place] - (sums[high] - sums[low]) / (high - low)[:, None]

    ripple = mapped.computed(left, time, counted)
    return {'yaw_rate_ripple_rms_radps': rms(ripple[:, 2]),
            'velocity_ripple_rms_mps': float(np.sqrt(np.mean(mapped.computed(
                lambda x, y: x**2 + y**2, ripple[:, 0], ripple[:, 1]))))}


def steady(time: Array, command: Array) -> Array:
    """
    Return for each sample whether `command` (k, 3) is steady about it, (k,) bool.

    The first and last samples of a run are never: what was before and comes after is not known.
    """
    def here(now: Array) -> Array:
        low = np.searchsorted(time, now - STEADY_BEFORE)
        high = np.searchsorted(time, now + STEADY_AFTER, side='right')
        inside = (now - time[0] >= STEADY_BEFORE) & (time[-1] - now >= STEADY_AFTER)
        # what is before and after them is not looked at
        first = int(low.min())
        last = int(high.max())
        for column, most in zip(command[first:last].T, (
                STEADY_SPEED, STEADY_SPEED, STEADY_YAW_RATE), strict=True):
            inside &= _range(column, low - first, high - first) <= most
        return inside

    return mapped.computed(here, time)


def _range(value: Array, low: Array, high: Array) -> Array:
    """Return maximum minus minimum of `value` from `low` to below `high`; inf with a nan."""
    # ranges of 1, 2, 4, … samples, one after the other: two of them cover any window
    top = bottom = np.where(np.isfinite(value), value, np.nan)
    level = np.log2(np.maximum(high - low, 1)).astype(int)
    out = np.full(len(low), np.inf)
    for k in range(int(level.max(initial=0)) + 1):
        if k:
            shift = 2 ** (k - 1)
            top = np.maximum(top[:-shift], top[shift:])
            bottom = np.minimum(bottom[:-shift], bottom[shift:])
        here = level == k
        first = low[here]
        second = high[here] - 2**k
        out[here] = (np.maximum(top[first], top[second])
                     - np.minimum(bottom[first], bottom[second]))
    return np.where(np.isnan(out), np.inf, out)
