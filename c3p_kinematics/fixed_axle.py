# SPDX-License-Identifier: Apache-2.0
"""
The axle of the fixed wheels of a robot, across which it cannot move.

All fixed wheels stand on one axle (wheels.py). With the point m in its middle, the rolling
direction e and the axle a, the motions without side slip are

    v = s e − ω ẑ×m

so that the robot has a speed s and a yaw rate ω, as a unicycle at m. Stops of its other wheels
bound the curvature ω/s: at the angle δ of a wheel whose pivot is a ahead of m and c to its left

    ω/s = sin δ/(a cos δ + c sin δ)

and a robot on an axle and two wheels with stops of 30° does not turn on the spot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_description.wheels import believed
from c3p_kernels.elementary import wrap_angle

# yaw rate per angle between the axle's direction of rolling and that of the command, 1/s
AIM = 3.0

# speed below which a command across the axle turns the robot less, m/s: a robot that stands
# cannot follow it at all
SLOW = 0.05

# distance of a pivot from the axle below which its wheel rolls straight ahead in every bend, m
ON_AXLE = 1e-6


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
    bends : tuple of float, 1/m
        Smallest and largest curvature of the path of the point, to the left positive; ∓inf: it
        turns on the spot.
    """

    point: Array
    direction: float
    bends: tuple[float, float] = (-math.inf, math.inf)

    @property
    def radius(self) -> float:
        """Radius of the narrowest bend to both sides, m; 0: on the spot; inf: not to both."""
        narrowest = min(-self.bends[0], self.bends[1])
        return 1.0 / narrowest if narrowest > 0.0 else math.inf

    def allowed(self, speed: float, turn: float) -> float:
        """
        Return the yaw rate nearest to `turn`, rad/s, that stops allow at a `speed`, m/s.

        Examples
        --------
        >>> FixedAxle(np.zeros(2), 0.0, (-2.0, 2.0)).allowed(-0.1, 0.5)
        0.2
        """
        lower, upper = (math.copysign(math.inf, bend) if math.isinf(bend) else bend * speed
                        for bend in self.bends)
        return min(max(turn, min(lower, upper)), max(lower, upper))

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
        the direction of the command, also where it rolls backward; within its bends.

        Examples
        --------
        >>> axle = FixedAxle(np.zeros(2), 0.0)
        >>> axle.steered([0.5, 0.0, 0.2]).tolist()
        [0.5, 0.0, 0.2]
        >>> axle.steered([-0.5, 0.1, 0.0]).round(2).tolist()  # a turn to the right moves it left
        [-0.5, 0.0, -0.59]
        """
        speed, across, turn = self.motion(twist)
        aimed = turn + AIM * speed * across / (speed**2 + SLOW**2)
        return self.twist(speed, self.allowed(speed, aimed))

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
    point = robot.hip_position[robot.fixed].mean(axis=0)
    return FixedAxle(point, direction, _bends(robot, point, direction))


def _bends(robot: CasterRobot, point: Array, direction: float) -> tuple[float, float]:
    """Return the smallest and the largest curvature that stops of steering axes allow, 1/m."""
    lowest = -math.inf
    highest = math.inf
    turns = believed(robot) & ~robot.fixed
    ahead, left = np.array([[math.cos(direction), math.sin(direction)],
                            [-math.sin(direction), math.cos(direction)]]) @ (
        robot.hip_position - point).T
    # angles from straight ahead
    ends = np.array([robot.steering_lower, robot.steering_upper]) + 0.5 * math.pi - direction
    for a, c, (lower, upper) in zip(ahead[turns].tolist(), left[turns].tolist(),
                                    ends.T[turns].tolist(), strict=True):
        # over half a turn, one of rolling forward and backward always ends between the stops
        if upper - lower >= math.pi or abs(a) < ON_AXLE:
            continue
        # rolling forward or backward, with straight ahead between the stops
        half_turns = math.pi * math.ceil(lower / math.pi)
        low = lower - half_turns
        high = upper - half_turns
        if a < 0.0:
            low, high = -high, -low
        lowest = max(lowest, -_bend(-low, abs(a), -c))
        highest = min(highest, _bend(high, abs(a), c))
    return lowest, highest


def _bend(angle: float, ahead: float, left: float) -> float:
    """Return the curvature of a wheel at `angle` ≥ 0, 1/m; inf from that of a turn on the spot."""
    across = ahead * math.cos(angle) + left * math.sin(angle)
    return math.sin(angle) / across if across > 0.0 else math.inf
