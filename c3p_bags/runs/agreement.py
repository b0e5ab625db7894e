# SPDX-License-Identifier: Apache-2.0
"""Recomputed against recorded odometry, message by message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_kinematics.odometry import planar_covariance
from c3p_kinematics.se2 import wrap

# largest difference that counts as equal, SI units: rounding of a pose that was taken from a
# message; otherwise every bit is equal
SAME = 1e-12


class Agreement(NamedTuple):
    """
    Agreement of recomputed and recorded odometry.

    Numbers of messages with the same stamp, of those with all 85 numbers equal to the last bit,
    of those with equal pose and twist, and of those with pose and twist within their limit, `SAME`
    unless samples are missing. Largest differences [m, rad, m/s and rad/s]; that of the covariance
    as a fraction of the largest recorded number, `scale`.
    """

    compared: int
    identical: int
    same_motion: int
    close: int
    position: float
    yaw: float
    twist: float
    covariance: float
    scale: float


def yaw_of(numbers: Array) -> Array:
    """Return the yaw in the numbers (…, 85) of Odometry messages, rad."""
    return 2.0 * np.arctan2(numbers[..., 5], numbers[..., 6])


def agreement(a: Array, b: Array, limit: Array | float = SAME) -> Agreement:
    """
    Return the agreement of recomputed numbers `a` with recorded `b`, both (k, 85).

    Pose and twist that differ by `limit` at most are close, SI units: one number, or one of the
    pose and one of the twist for each message (k, 2).
    """
    if not len(a):
        return Agreement(0, 0, 0, 0, *[math.nan] * 5)
    pose_limit, twist_limit = np.broadcast_to(limit, (len(a), 2)).T
    apart = np.abs(a - b)
    yaw = np.abs(wrap(yaw_of(a) - yaw_of(b)))
    position = apart[:, :3].max(axis=1)
    twist = apart[:, 7:13].max(axis=1)
    planar = planar_covariance(np.ones((3, 3))) == 1.0
    spread = np.concatenate([apart[:, 13:49][:, planar], apart[:, 49:][:, planar]])
    scale = np.concatenate([b[:, 13:49][:, planar], b[:, 49:][:, planar]])
    equal = a == b
    largest = float(np.abs(scale).max())
    return Agreement(len(a), int(equal.all(axis=1).sum()),
                     int(equal[:, :13].all(axis=1).sum()),
                     int(np.sum((np.maximum(position, yaw) <= pose_limit)
                                & (twist <= twist_limit))),
                     float(position.max()), float(yaw.max()), float(twist.max()),
                     float(spread.max() / largest), largest)


def joined(parts: Sequence[Agreement]) -> Agreement:
    """Return the agreement of all messages of some `parts`, at least one."""
    some = [part for part in parts if part.compared] or parts[:1]
    scale = max(part.scale for part in some)
    spread = max(part.covariance * part.scale for part in some)
    return Agreement(
        sum(part.compared for part in some), sum(part.identical for part in some),
        sum(part.same_motion for part in some), sum(part.close for part in some),
        max(part.position for part in some), max(part.yaw for part in some),
        max(part.twist for part in some), spread / scale, scale)
