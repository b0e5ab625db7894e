# SPDX-License-Identifier: Apache-2.0
"""
Yaw of a robot with another wiring than described, by which a gyro distinguishes them.

Opposite casters of a square robot exchanged, or all steering zeros 180° off, are nearly a robot
that turns to the other side: its joints contradict each other by the offsets alone
(docs/slip_and_faults.md). A gyro shows the side.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.rolling import rolling_rates
from c3p_kinematics.wiring_hypotheses import Wiring

# casters of a turn, evenly spread over the circle from one to the next by an irrational fraction
POSTURES = 16
GOLDEN = 2.399963

# yaw by the joints per true yaw below which a wiring reverses it
REVERSES = -0.7


def yaw_factors(robot: CasterRobot, wirings: Sequence[Wiring]) -> Array:
    """
    Return the yaw rate by the joints per true yaw rate (k,) of a robot with each of the `wirings`.

    Means over postures, of turns on the spot.

    Examples
    --------
    >>> from c3p_kinematics.wiring_hypotheses import wirings
    >>> square = CasterRobot.regular(0.35, np.radians([45, 135, 225, 315]), 0.04, 0.05, 40.0, 4.5)
    >>> known = {w.text(): w for w in wirings(4)}
    >>> opposite = known['casters 1 and 3 exchanged, and 2 and 4 exchanged']
    >>> yaw_factors(square, [opposite]).round(1).tolist()
    [-1.0]
    """
    n = robot.count
    angle = GOLDEN * np.arange(POSTURES * n).reshape(POSTURES, n)
    turn = np.tile([0.0, 0.0, 1.0], (POSTURES, 1))
    rolled, turned, _ = rolling_rates(robot, angle, turn)
    return np.array([_mean_yaw(robot, wiring, angle, rolled, turned) for wiring in wirings])


def _contacts(robot: CasterRobot, angle: Array) -> Array:
    """Return the contact points (p, n, 2) of steering angles (p, n)."""
    c, s = np.cos(angle), np.sin(angle)
    behind = np.stack([s, -c], axis=-1)
    beside = np.stack([c, s], axis=-1)
    return (robot.hip_position + robot.caster_offset[:, None] * behind
            + robot.lateral_offset[:, None] * beside)


def _mean_yaw(robot: CasterRobot, wiring: Wiring, angle: Array, rolled: Array, turned: Array
              ) -> float:
    """Return the mean yaw rate by the description, of joints with the `wiring`."""
    stated = np.empty((3, *angle.shape))
    for k in range(robot.count):
        steering = wiring.steering_of[k]
        sign = wiring.steering_sign[k]
        stated[0, :, steering] = (angle[:, k] - wiring.turn[k]) * sign
        stated[1, :, steering] = turned[:, k] * sign
        stated[2, :, wiring.wheel_of[k]] = rolled[:, k] * wiring.wheel_sign[k]
    angle, turned, rolled = stated
    along = robot.wheel_radius * rolled - robot.lateral_offset * turned
    across = -robot.caster_offset * turned
    c, s = np.cos(angle), np.sin(angle)
    path = np.stack([across * c - along * s, across * s + along * c], axis=-1)
    place = _contacts(robot, angle)
    place = place - place.mean(axis=1, keepdims=True)
    turn = np.sum(place[..., 0] * path[..., 1] - place[..., 1] * path[..., 0], axis=1)
    return float(np.mean(turn / np.sum(place**2, axis=(1, 2))))
