# SPDX-License-Identifier: Apache-2.0
"""Recorded joint angles for a calibration, and their division into windows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot

# longest step between two samples that windows contain, s
LONGEST_STEP = 0.25

# largest turn of a wheel between two samples, rad: half a turn is ambiguous
LARGEST_TURN = 0.9 * math.pi


class CalibrationError(ValueError):
    """Recordings that do not determine a calibration; one line."""


class UnexplainedError(CalibrationError):
    """Recordings that no lengths near the description explain; one line."""


class JointRecording(NamedTuple):
    """
    Joint angles of one drive.

    Attributes
    ----------
    time : (k,) array, s
        Increasing.
    steering, wheel_angle : (k, n) arrays, rad
        Continuous, in the convention of the model.
    """

    time: Array
    steering: Array
    wheel_angle: Array


def checked(robot: CasterRobot, recording: JointRecording) -> JointRecording:
    """
    Return `recording` as contiguous continuous arrays.

    Raises
    ------
    CalibrationError
        Shapes that do not belong together, or numbers that are not finite.
    """
    time = np.ascontiguousarray(recording.time, float)
    angles = [np.ascontiguousarray(a, float) for a in recording[1:]]
    for name, angle in zip(('steering', 'wheel_angle'), angles, strict=True):
        if angle.shape != (len(time), robot.count):
            raise CalibrationError(f'{name} has shape {angle.shape}: must be ({len(time)}, '
                                   f'{robot.count}), one row per sample')
        if not np.all(np.isfinite(angle)):
            raise CalibrationError(f'{name}: every angle must be finite; leave such samples out')
    if len(time) < 2 or not np.all(np.diff(time) > 0.0):
        raise CalibrationError(f'time of {len(time)} samples: must have two or more, each later '
                               'than the one before')
    return JointRecording(time, *(np.unwrap(a, axis=0) for a in angles))


def at_one_instant(recording: JointRecording, ages: Array) -> JointRecording:
    """
    Return a recording whose joints are of one instant, from samples with joints of different age.

    Parameters
    ----------
    recording : JointRecording
    ages : (2n,) array, s
        Of steering angles and wheel angles: a sample at t has the angle of the instant t − age.

    Examples
    --------
    >>> time = np.linspace(0.0, 1.0, 101)
    >>> late = JointRecording(time, np.zeros((101, 2)), np.column_stack([time, time - 0.02]))
    >>> found = at_one_instant(late, np.array([0.0, 0.0, 0.0, 0.02]))
    >>> round(float(found.wheel_angle[50, 1]), 3)
    0.5
    """
    joints = np.hstack([recording.steering, recording.wheel_angle])
    for column in np.flatnonzero(ages):
        joints[:, column] = np.interp(recording.time + ages[column], recording.time,
                                      joints[:, column])
    n = recording.steering.shape[1]
    return recording._replace(steering=np.ascontiguousarray(joints[:, :n]),
                              wheel_angle=np.ascontiguousarray(joints[:, n:]))


def cut(robot: CasterRobot, recording: JointRecording, length: float) -> Array:
    """
    Return first and last row (w, 2) of each window with a mean caster path of `length`, m.

    Windows follow each other. One that contains a gap, or a wheel that turned too far between two
    samples, is left out, as the rest at the end is.
    """
    rolled = np.abs(np.diff(recording.wheel_angle, axis=0))
    turned = np.abs(np.diff(recording.steering, axis=0))
    # of the wheels with an encoder
    part = robot.count / max(int(np.count_nonzero(robot.rows[:, 0])), 1)
    path = np.concatenate([[0.0], np.cumsum(part * np.mean(
        rolled * robot.wheel_radius + turned * robot.caster_offset, axis=1))])
    bad = (np.diff(recording.time) > LONGEST_STEP) | (
        np.maximum(rolled, turned).max(axis=1) > LARGEST_TURN)
    edges = np.searchsorted(path, np.arange(0.0, path[-1], length))
    # before and after a bad step windows end and begin
    rows = np.flatnonzero(bad)
    edges = np.unique(np.concatenate([edges, rows, rows + 1]))
    edges = edges[edges < len(recording.time)]
    pairs = np.column_stack([edges[:-1], edges[1:]])
    good = np.concatenate([[0], np.cumsum(bad)])
    return pairs[good[pairs[:, 1]] == good[pairs[:, 0]]]
