# SPDX-License-Identifier: Apache-2.0
"""
Smallest slip that the redundancy of n casters shows, at given steering angles.

A slip s of wheel k along its rolling direction adds s to one of the 2n measured components of the
contact velocities. With these in units of their standard deviation σ, and the orthogonal projector
M on the residuals of a rigid motion,

    χ² = (s/σ_k)² M_kk,

so that the alarm of `slip` needs ``s = σ_k √(threshold / M_kk)``. A wheel is named if every
hypothesis of another wheel j, whose two components are left out, still contradicts the
measurements: with ``q_kj = M_kk − M_kJ M_JJ⁻¹ M_Jk`` in the place of M_kk.

M_kk is 0 where a slip looks like a rigid motion. Two casters have one redundant equation: the
distance of their contact points. Only slip along the line between them is visible, and it is never
isolated.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics._planar_kernels import contact_rows
from c3p_kinematics.slip import SlipSettings, measured_rows, thresholds

# confidence from which a wheel counts as named, and the difference of χ² that gives it between two
SURE = 0.9
NAMED = 2.0 * math.log(SURE / (1.0 - SURE))

# visible part of a measurement that is rounding
NOTHING = 1e-12


class Visibility(NamedTuple):
    """
    Smallest slip of each wheel along its rolling direction, m/s; inf for an invisible one.

    Attributes
    ----------
    seen : (k, n) array
        Raises the alarm.
    named : (k, n) array
        Raises the alarm, and is attributed to this wheel with `SURE` confidence.
    """

    seen: Array
    named: Array


def slip_visibility(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike = (0.0, 0.0, 0.0),
                    settings: SlipSettings | None = None) -> Visibility:
    """
    Return the smallest slip that is seen, and that is named, at steering angles.

    Parameters
    ----------
    robot : CasterRobot
    steering : (k, n) array_like, rad
    twist : (k, 3) or (3,) array_like, m/s and rad/s
        Motion, which raises the noise of the measurements.
    settings : SlipSettings, optional
        Its noise and its probability of a false alarm are used.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.25, np.radians([90, 270]), 0.05, 0.05, 20.0, 1.0)
    >>> found = slip_visibility(robot, [[-np.pi / 2] * 2, [0.0, 0.0]])
    >>> np.isfinite(found.seen).tolist(), np.isfinite(found.named).any().item()
    ([[False, False], [True, True]], False)
    """
    settings = settings or SlipSettings()
    steering = np.atleast_2d(np.asarray(steering, float))
    count, n = steering.shape
    twist = np.broadcast_to(np.asarray(twist, float), (count, 3))
    rows, speed = _rows(robot, steering, twist)
    deviation = np.hypot(settings.noise_std, settings.speed_fraction * speed)
    # along, across of each caster, in standard deviations
    basis = np.linalg.qr((rows / deviation[:, :, None, None]).reshape(count, 2 * n, 3))[0]
    left = np.eye(2 * n) - basis @ np.swapaxes(basis, 1, 2)
    along = 2 * np.arange(n)
    # a slip along a wheel without encoder shows nowhere
    visible = left[:, along, along] * robot.rows[:, 0]
    threshold = thresholds(n, settings.false_alarm, measured_rows(robot))[0]
    seen = _needed(visible, threshold, deviation)
    if n < 3:
        return Visibility(seen, np.full_like(seen, np.inf))
    named = np.full((count, n), np.inf)
    for j in range(n):
        pair = [2 * j, 2 * j + 1]
        block = left[:, pair][:, :, pair]
        mixed = left[:, along][:, :, pair]
        rest = visible - np.einsum('kip,kpq,kiq->ki', mixed, np.linalg.pinv(block), mixed)
        rest[:, j] = np.inf
        need = _needed(rest, NAMED, deviation)
        need[:, j] = 0.0
        named = need if j == 0 else np.maximum(named, need)
    return Visibility(seen, np.maximum(seen, named))


def _needed(visible: Array, threshold: float, deviation: Array) -> Array:
    """Return the slip whose visible part reaches a threshold; inf for a part of zero."""
    with np.errstate(divide='ignore'):
        return np.where(visible > NOTHING,
                        deviation * np.sqrt(threshold / np.maximum(visible, NOTHING)), np.inf)


def _rows(robot: CasterRobot, steering: Array, twist: Array) -> tuple[Array, Array]:
    """Return what a rigid motion measures (k, n, 2, 3), and the contact speeds (k, n)."""
    rows = np.empty((*steering.shape, 2, 3))
    rolling, axle = np.empty((2, robot.count, 3))
    for k, angles in enumerate(np.ascontiguousarray(steering)):
        contact_rows(robot.geometry, angles, rolling, axle)
        rows[k, :, 0] = rolling
        rows[k, :, 1] = axle
    speed = np.linalg.norm(np.einsum('knij,kj->kni', rows, twist), axis=-1)
    return rows, speed
