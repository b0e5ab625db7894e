# SPDX-License-Identifier: Apache-2.0
"""
Yaw of an IMU as a reference: its bias at standstill, and the turns between reversals.

A gyro measures (1 + s) ω + b + noise. The bias b is the mean at standstill. The scale error s is
one number for all turns, which their covariance contains. Turns begin and end where the robot
reverses its turn or stands: the delay between the stamps of IMU and joints has no effect there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_kinematics.calibration.recording import (
    LARGEST_TURN,
    LONGEST_STEP,
    CalibrationError,
    JointRecording,
)
from c3p_kinematics.calibration.references import Turns
from c3p_kinematics.sensed_kinematics_parameters import GyroSettings

# vertical axes of an IMU: number, and sign of one that points up
AXES = {f'{name}{down}': (k, -1.0 if down else 1.0)
        for down in ('', '-down') for k, name in enumerate('xyz')}

# joints that stay within this many encoder steps for SETTLED seconds around a sample stand still
STEPS = 1.5
SETTLED = 0.5

# least standstill of a recording in all, s
LEAST_STANDSTILL = 2.0

# least turn between two reversals, rad
LEAST_TURN = 0.5

# longest step between two samples of the IMU, s
LONGEST_GAP = 0.1


class Standstill(NamedTuple):
    """Standstill of a recording: duration [s], bias there and its standard deviation [rad/s]."""

    duration: float
    bias: float
    deviation: float


def standstill(recording: JointRecording, time: Array, rate: Array, resolution: float,
               walk: float) -> Standstill:
    """
    Return the bias of a gyro where the joints stand still.

    Parameters
    ----------
    recording : JointRecording
    time, rate : (k,) arrays, s and rad/s
        Of the gyro, on the time axis of the joints.
    resolution : float, rad
        Largest step of the encoders.
    walk : float, rad/√s
        Angle random walk.

    Raises
    ------
    CalibrationError
        Less than `LEAST_STANDSTILL`.
    """
    # of no use to the nodes, which import this file: it takes 0.1 s
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    joints = np.column_stack(recording[1:])
    step = float(np.median(np.diff(recording.time)))
    size = 2 * round(0.5 * SETTLED / step) + 1
    moved = (maximum_filter1d(joints, size, axis=0)
             - minimum_filter1d(joints, size, axis=0)).max(axis=1)
    still = moved <= max(STEPS * resolution, 1e-9)
    # a sample of the gyro counts between two joint samples that stand, without a gap between them
    after = np.clip(np.searchsorted(recording.time, time), 1, len(still) - 1)
    stands = still[after] & still[after - 1] & (
        np.diff(recording.time)[after - 1] <= LONGEST_STEP) & (
        time >= recording.time[0]) & (time <= recording.time[-1])
    pace = float(np.median(np.diff(time)))
    duration = pace * float(np.count_nonzero(stands))
    if duration < LEAST_STANDSTILL:
        raise CalibrationError(f'IMU: the joints stand still for {duration:.1f} s: its bias needs '
                               f'{LEAST_STANDSTILL:g} s or more; let the robot stand for 5 s at '
                               'the begin of the recording')
    edges = np.flatnonzero(np.diff(np.concatenate([[0], stands.astype(int), [0]])))
    pauses = [rate[a:b] for a, b in edges.reshape(-1, 2) if (b - a) * pace >= SETTLED]
    bias = float(rate[stands].mean())
    # the drift of the bias from one standstill to another is part of its uncertainty
    drift = np.var([p.mean() for p in pauses], ddof=1) if len(pauses) > 1 else 0.0
    return Standstill(duration, bias, math.sqrt(walk**2 / duration + drift))


def turns_of(number: int, recording: JointRecording, time: Array, rate: Array, resolution: float,
             settings: GyroSettings | None = None) -> tuple[Turns, Standstill]:
    """
    Return the turns of one recording by a gyro, and the standstill by which its bias is known.

    Parameters
    ----------
    number : int
        Index of the recording.
    recording : JointRecording
        Continuous angles.
    time, rate : (k,) arrays, s and rad/s
        Rate about the vertical axis, on the time axis of the joints, increasing in time.
    resolution : float, rad
        Largest step of the encoders.
    settings : GyroSettings, optional

    Raises
    ------
    CalibrationError
        Too little standstill, or no turn of `LEAST_TURN`.

    Examples
    --------
    >>> from c3p_kinematics.calibration.recording import JointRecording
    >>> t = np.linspace(0.0, 20.0, 2001)
    >>> moves = np.maximum(t - 5.0, 0.0)[:, None] * np.ones(3)  # stands for 5 s, then turns
    >>> turns, still = turns_of(0, JointRecording(t, moves, moves), t, 0.01 + 0.2 * (t > 5), 0.002)
    >>> turns.yaw.round(2).tolist(), round(still.bias, 3)
    ([3.0], 0.01)
    """
    settings = settings or GyroSettings()
    if len(time) < 2 or not np.all(np.diff(time) > 0.0):
        raise CalibrationError(f'IMU: {len(time)} samples: must be two or more, each later than '
                               'the one before')
    still = standstill(recording, time, rate, resolution, settings.walk)
    rate = rate - still.bias
    total = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(time))])
    yaw = np.interp(recording.time, time, total)
    spans = [pair for piece in _pieces(recording, time) for pair in _reversals(yaw, piece)]
    if not spans:
        raise CalibrationError(f'IMU: no turn of {LEAST_TURN:g} rad or more without a gap of IMU '
                               'or joints: turn on the spot, best several times to one side')
    first, last = np.array(spans).T
    turned = yaw[last] - yaw[first]
    took = recording.time[last] - recording.time[first]
    covariance = (settings.walk**2 * np.diag(took) + settings.scale**2 * np.outer(turned, turned)
                  + still.deviation**2 * np.outer(took, took))
    return Turns(number, np.column_stack([recording.time[first], recording.time[last]]), turned,
                 covariance), still


def _pieces(recording: JointRecording, time: Array) -> list[tuple[int, int]]:
    """Return first and last row of each part of a recording without a gap in joints or IMU."""
    at = recording.time
    turned = np.maximum(*(np.abs(np.diff(a, axis=0)).max(axis=1) for a in recording[1:]))
    bad = (np.diff(at) > LONGEST_STEP) | (turned > LARGEST_TURN)
    after = np.clip(np.searchsorted(time, at), 1, len(time) - 1)
    lost = (np.diff(time)[after - 1] > LONGEST_GAP) | (at < time[0] - LONGEST_GAP) | (
        at > time[-1] + LONGEST_GAP)
    bad |= lost[1:] | lost[:-1]
    rows = np.flatnonzero(bad)
    begins = np.concatenate([[0], rows + 1])
    ends = np.concatenate([rows, [len(at) - 1]])
    return [(int(a), int(b)) for a, b in zip(begins, ends, strict=True) if b > a]


def _reversals(yaw: Array, piece: tuple[int, int]) -> list[tuple[int, int]]:
    """Return first and last row of the turns of a piece, between reversals of `LEAST_TURN`."""
    first, last = piece
    edges = [first]
    low = first
    high = first
    for row in range(first, last + 1):
        low = row if yaw[row] < yaw[low] else low
        high = row if yaw[row] > yaw[high] else high
        # the extreme is behind once the yaw has returned by the least turn
        if low > edges[-1] and yaw[row] - yaw[low] >= LEAST_TURN:
            edges.append(low)
            high = row
        elif high > edges[-1] and yaw[high] - yaw[row] >= LEAST_TURN:
            edges.append(high)
            low = row
    edges.append(last)
    return [(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)
            if abs(yaw[b] - yaw[a]) >= LEAST_TURN]
