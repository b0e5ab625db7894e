# SPDX-License-Identifier: Apache-2.0
"""
The axle of the fixed wheels of a robot, across which it cannot move.

All fixed wheels stand on one axle (wheels.py). With the point m in its middle, the rolling
direction e and the axle a, the motions without side slip are

    v = s e − ω ẑ×m

so that the robot has a speed s and a yaw rate ω, as a unicycle at m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kernels.elementary import wrap_angle

# yaw rate per angle between the axle's direction of rolling and that of the command, 1/s
AIM = 3.0

# speed below which a command across the axle turns the robot less, m/s: a robot that stands
# cannot follow it at all
SLOW = 0.05


@dataclass(frozen=True, eq=False)
class FixedAxle:
    """
    Axle of fixed wheels.

    Attributes
    ----------
    point : (2,) array, m
        Middle of the fixed wheels in ``base_link``.
    direction : float, rad
        In which they roll, from +X.
    """

    point: Array
    direction: float

    def motion(self, twist: ArrayLike) -> tuple[float, float, float]:
        """Return the velocity of the point along and to the left of the direction, and ω."""
        vx, vy, turn = np.asarray(twist, float).tolist()
        vx -= turn * float(self.point[1])
        vy += turn * float(self.point[0])
        c = math.cos(self.direction)
        s = math.sin(self.direction)
        return c * vx + s * vy, c * vy - s * vx, turn

    def twist(self, speed: float, turn: float) -> Array:
        """
        Return the twist (3,) in ``base_link`` of a speed along the direction and a yaw rate.

        Examples
        --------
        >>> FixedAxle(np.array([-1.0, 0.0]), 0.0).twist(0.5, 0.1).tolist()
        [0.5, 0.1, 0.1]
        """
        c = math.cos(self.direction)
        s = math.sin(self.direction)
        return np.array([speed * c + turn * float(self.point[1]),
                         speed * s - turn * float(self.point[0]), turn])

    def steered(self, twist: ArrayLike) -> Array:
        """
        Return the motion that follows `twist` (3,): what it has across the axle turns the robot.

        With the velocity s along and u across, ``ω + k s u/(s² + s₀²)``: the robot turns towards
        the direction of the command, also where it rolls backward.

        Examples
        --------
        >>> axle = FixedAxle(np.zeros(2), 0.0)
        >>> axle.steered([0.5, 0.0, 0.2]).tolist()
        [0.5, 0.0, 0.2]
        >>> axle.steered([-0.5, 0.1, 0.0]).round(2).tolist()  # a turn to the right moves it left
        [-0.5, 0.0, -0.59]
        """
        speed, across, turn = self.motion(twist)
        return self.twist(speed, turn + AIM * speed * across / (speed**2 + SLOW**2))

    def pose(self, pose: ArrayLike) -> Array:
        """Return place and direction of the axle (3,) on the floor at a `pose` of the robot."""
        x, y, yaw = np.asarray(pose, float).tolist()
        c = math.cos(yaw)
        s = math.sin(yaw)
        px, py = self.point.tolist()
        return np.array([x + c * px - s * py, y + s * px + c * py,
                         float(wrap_angle(yaw + self.direction))])

    def base(self, pose: ArrayLike) -> Array:
        """Return the pose (3,) of the robot of place and direction of its axle."""
        x, y, angle = np.asarray(pose, float).tolist()
        yaw = angle - self.direction
        c = math.cos(yaw)
        s = math.sin(yaw)
        px, py = self.point.tolist()
        return np.array([x - c * px + s * py, y - s * px - c * py, float(wrap_angle(yaw))])


def fixed_axle(robot: CasterRobot) -> FixedAxle | None:
    """
    Return the axle of the fixed wheels, None without fixed wheels.

    Examples
    --------
    >>> from c3p_description import load
    >>> axle = fixed_axle(load('tricycle_agv'))
    >>> axle.point.tolist(), round(axle.direction, 12)
    ([0.0, 0.0], 0.0)
    >>> fixed_axle(load('swerve'))
    """
    if not robot.fixed.any():
        return None
    # a wheel at the steering angle 0 rolls along +Y
    direction = float(wrap_angle(float(robot.steering_zero[robot.fixed][0]) + 0.5 * math.pi))
    return FixedAxle(robot.hip_position[robot.fixed].mean(axis=0), direction)
