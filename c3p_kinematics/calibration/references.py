# SPDX-License-Identifier: Apache-2.0
"""Outside references of a calibration: taped distances, marks, ground truth, yaw of an IMU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_kinematics.calibration.recording import CalibrationError


class MeasuredDistance(NamedTuple):
    """
    Distance between two places of ``base_link``, for example by tape measure.

    Attributes
    ----------
    recording : int
        Index of the recording.
    begin, end : float, s
        Times at the two places.
    distance : float, m
    deviation : float, m
        Standard deviation of `distance`.
    """

    recording: int
    begin: float
    end: float
    distance: float
    deviation: float = 0.002


class Displacement(NamedTuple):
    """
    Pose of ``base_link`` at `end` as seen from its pose at `begin`.

    A loop that ends on the mark where it began is (0, 0, 0); a known turn is (0, 0, yaw) with
    infinite deviations of x and y.

    Attributes
    ----------
    recording : int
    begin, end : float, s
    pose : tuple of float
        x, y [m], yaw [rad], whole turns included.
    deviation : tuple of float
        Standard deviations; inf leaves a component out.
    """

    recording: int
    begin: float
    end: float
    pose: tuple[float, float, float] = (0.0, 0.0, 0.0)
    deviation: tuple[float, float, float] = (0.002, 0.002, 0.005)


class Turns(NamedTuple):
    """
    Turns of one recording by an IMU, whose errors belong together (gyro.py).

    Attributes
    ----------
    recording : int
    spans : (k, 2) array, s
        Begin and end of each turn.
    yaw : (k,) array, rad
        Turned, whole turns included.
    covariance : (k, k) array, rad²
    """

    recording: int
    spans: Array
    yaw: Array
    covariance: Array


Reference = MeasuredDistance | Displacement | Turns


def spans_of(reference: Reference) -> list[tuple[float, float]]:
    """Return begin and end of the motions over which a reference is known, s."""
    if isinstance(reference, Turns):
        return [(begin, end) for begin, end in reference.spans.tolist()]
    return [(reference.begin, reference.end)]


class Chain(NamedTuple):
    """Composed windows: pose (3,), its derivative (3, 5n), and its covariance (3, 3)."""

    pose: Array
    slope: Array
    covariance: Array


def chain(step: Array, of: Array, spread: Array) -> Chain:
    """
    Compose consecutive windows: `step` (w, 3), derivatives `of` (w, 3, 5n), `spread` (w, 3, 3).

    The yaw is not wrapped.
    """
    pose = np.zeros(3)
    slope = np.zeros((3, of.shape[2]))
    covariance = np.zeros((3, 3))
    for one, by, root in zip(step, of, spread, strict=True):
        c, s = math.cos(pose[2]), math.sin(pose[2])
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        moved = turn @ one
        # an error of the yaw before turns this displacement
        carry = np.eye(3)
        carry[0, 2], carry[1, 2] = -moved[1], moved[0]
        slope = carry @ slope + turn @ by
        part = turn @ root
        covariance = carry @ covariance @ carry.T + part @ part.T
        pose = pose + moved
    return Chain(pose, slope, covariance)


def reference_rows(reference: Reference, chains: Sequence[Chain]) -> tuple[Array, Array]:
    """
    Return whitened residual (k,) and derivative (k, 5n) of a reference over the windows.

    `chains` are the motions over its `spans_of`.
    """
    found = chains[0]
    if isinstance(reference, Turns):
        value = np.array([c.pose[2] for c in chains]) - reference.yaw
        spread = reference.covariance + np.diag([c.covariance[2, 2] for c in chains])
        return _whitened(spread, value, np.array([c.slope[2] for c in chains]))
    if isinstance(reference, MeasuredDistance):
        length = math.hypot(found.pose[0], found.pose[1])
        if length == 0.0:
            raise CalibrationError('distance reference: the recording does not move between '
                                   f'{reference.begin} s and {reference.end} s')
        row = np.array([[found.pose[0] / length, found.pose[1] / length, 0.0]])
        value = np.array([length - reference.distance])
        variance = np.array([reference.deviation**2])
    else:
        used = np.isfinite(reference.deviation)
        row = np.eye(3)[used]
        value = (found.pose - np.array(reference.pose))[used]
        variance = np.array(reference.deviation)[used]**2
    spread = row @ found.covariance @ row.T + np.diag(variance)
    return _whitened(spread, value, row @ found.slope)


def _whitened(spread: Array, value: Array, slope: Array) -> tuple[Array, Array]:
    root = np.linalg.cholesky(spread)
    return np.linalg.solve(root, value), np.linalg.solve(root, slope)
