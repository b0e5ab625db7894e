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

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_bags.runs.run_log import Motion, RunLog
from c3p_description.model import Array

# window of the mean that is the slow part, s: of an oscillation at 1 Hz and more, and at 0.5 Hz,
# nothing is in it
SLOW_TIME = 2.0

# the command is steady if it stays within the range for so long before and after a sample, s; m/s
# and rad/s. Before: casters take about 1 s to align, and the mean reaches back 1 s
STEADY_BEFORE, STEADY_AFTER = 2.0, 1.0
STEADY_SPEED, STEADY_YAW_RATE = 0.1, 0.1

# window of the parabola whose curvature is the jerk, s: contact noise of single samples is out,
# the swing of a platform (up to 5 Hz) is in
JERK_TIME = 0.1

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
    time, torque = np.asarray(time, float), np.asarray(torque, float)
    twist = np.asarray(twist, float)
    command = np.zeros_like(twist) if command is None else np.asarray(command, float)
    # a clock that stands or falls gives no rate
    kept = np.concatenate(([True], time[1:] > np.maximum.accumulate(time)[:-1]))
    kept &= np.isfinite(time) & np.isfinite(torque).all(axis=1) & np.isfinite(twist).all(axis=1)
    if not kept.all():
        time, torque, twist, command = time[kept], torque[kept], twist[kept], command[kept]
    if len(time) < 2:
        return dict.fromkeys(KEYS)
    turn = _turned(time, twist[:, 2])
    return {**_variation(time, torque), **_jerk(time, _floor(turn, twist)),
            **_ripple(time, turn, twist, command)}


def _variation(time: Array, torque: Array) -> dict[str, float | None]:
    """Return the variation per second, and the largest rate, of torques (k, n)."""
    steps = np.abs(np.diff(torque, axis=0))
    total = float(steps.sum() / (time[-1] - time[0]))
    steps /= np.diff(time)[:, None]
    return {'torque_variation_nm_per_s': total,
            'torque_rate_max_nm_per_s': float(steps.max(initial=0.0))}


def run_smoothness(log: RunLog, start: float = 0.0) -> dict[str, float | None]:
    """
    Return the `smoothness` of a run from `start`, s, to its end.

    The twist is the true one where it is known, else that of the odometry.
    """
    motion: Motion | None = log.ground_truth if log.ground_truth is not None else log.odom
    if motion is None or len(motion.time) < 2:
        return dict.fromkeys(KEYS)
    torque = log.torque
    time = motion.time[motion.time >= start]

    def at(series_time: Array, value: Array) -> Array:
        """Return the newest value at each time; nan before the first."""
        index = np.searchsorted(series_time, time, side='right') - 1
        taken = value[np.maximum(index, 0)].astype(float)
        taken[index < 0] = np.nan
        return taken

    command = None if log.cmd_vel is None else at(log.cmd_vel.time, log.cmd_vel.value)
    return smoothness(time, np.nan_to_num(at(torque.time, torque.value)),
                      motion.twist[motion.time >= start], command)


def _turned(time: Array, rate: Array) -> Array:
    """Return the yaw since the first sample by the trapezoidal rule, rad."""
    steps = 0.5 * (rate[1:] + rate[:-1]) * np.diff(time)
    return np.concatenate(([0.0], np.cumsum(steps)))


def _floor(turn: Array, twist: Array) -> Array:
    """Return twists (k, 3) turned to the floor."""
    c, s = np.cos(turn), np.sin(turn)
    return np.stack([c * twist[:, 0] - s * twist[:, 1], s * twist[:, 0] + c * twist[:, 1],
                     twist[:, 2]], axis=-1)


def _even(time: Array, value: Array) -> tuple[float, Array]:
    """Return the median period and `value` at equidistant times."""
    period = float(np.median(np.diff(time)))
    even = np.arange(time[0], time[-1] + 0.5 * period, period)
    return period, np.stack([np.interp(even, time, column) for column in value.T], axis=-1)


def _jerk(time: Array, velocity: Array) -> dict[str, float | None]:
    """Return rms and maximum of the jerk from the `velocity` over the floor."""
    period, even = _even(time, velocity[:, :2])
    half = max(1, int(round(0.5 * JERK_TIME / period)))
    if len(even) < 2 * half + 1:
        return {'jerk_rms_mps3': None, 'jerk_max_mps3': None}
    # second derivative of the least-squares parabola over the window
    offset = period * np.arange(-half, half + 1)
    weights = 2.0 * np.linalg.pinv(np.stack([offset**0, offset, offset**2], axis=-1))[2]
    jerk = np.hypot(*(np.convolve(column, weights[::-1], mode='valid') for column in even.T))
    return {'jerk_rms_mps3': float(np.sqrt(np.mean(jerk**2))), 'jerk_max_mps3': float(jerk.max())}


def _ripple(time: Array, turn: Array, twist: Array, command: Array) -> dict[str, Any]:
    """Return the ripples of yaw rate and velocity while `command` is steady."""
    none = {'yaw_rate_ripple_rms_radps': None, 'velocity_ripple_rms_mps': None}
    counted = steady(time, command)
    if not counted.any():
        return none
    error = _floor(turn, twist - np.nan_to_num(command))
    period, even = _even(time, error)
    half = int(round(0.5 * SLOW_TIME / period))
    # mean over the window from the sums up to its ends, cut at the ends of the run
    sums = np.vstack([np.zeros(3), np.cumsum(even, axis=0)])
    low = np.maximum(np.arange(len(even)) - half, 0)
    high = np.minimum(np.arange(len(even)) + half + 1, len(even))
    slow = (sums[high] - sums[low]) / (high - low)[:, None]
    place = np.clip(np.rint((time[counted] - time[0]) / period).astype(int), 0, len(even) - 1)
    ripple = (even - slow)[place]
    return {'yaw_rate_ripple_rms_radps': float(np.sqrt(np.mean(ripple[:, 2]**2))),
            'velocity_ripple_rms_mps': float(np.sqrt(np.mean(ripple[:, 0]**2
                                                             + ripple[:, 1]**2)))}


def steady(time: Array, command: Array) -> Array:
    """
    Return for each sample whether `command` (k, 3) is steady about it, (k,) bool.

    The first and last samples of a run are never: what was before and comes after is not known.
    """
    low = np.searchsorted(time, time - STEADY_BEFORE)
    high = np.searchsorted(time, time + STEADY_AFTER, side='right')
    inside = (time - time[0] >= STEADY_BEFORE) & (time[-1] - time >= STEADY_AFTER)
    for column, most in zip(command.T, (STEADY_SPEED, STEADY_SPEED, STEADY_YAW_RATE),
                            strict=True):
        inside &= _range(column, low, high) <= most
    return inside


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
        first, second = low[here], high[here] - 2**k
        out[here] = (np.maximum(top[first], top[second])
                     - np.minimum(bottom[first], bottom[second]))
    return np.where(np.isnan(out), np.inf, out)
