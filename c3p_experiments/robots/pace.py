# SPDX-License-Identifier: Apache-2.0
"""Speeds and accelerations of goals that are within the ability of a robot."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_controller.goals.path import TURN_LENGTH
from c3p_controller.goals.path_controller import PathGains
from c3p_controller.goals.reach_limits import limits_of_reach
from c3p_description.model import CasterRobot
from c3p_description.wheels import farthest_wheel
from c3p_dynamics.freedoms import heading_is_free
from c3p_dynamics.reach import Travel
from c3p_kinematics.fixed_axle import fixed_axle
from c3p_kinematics.singularity import length_scale

# length of the drives over the length scale of the robot, its limits, m, and the longest time at
# full speed, s
LENGTHS = 4.0
SHORTEST = 0.8
LONGEST = 1.6
CRUISE = 5.0

# the ring of the figure eight, times the distance of the farthest pivot
RING = 1.5

# and times the narrowest bend that stops of steering axes allow: feedback needs some of it
ROOM = 1.25

# and the same of robots with fewer motors than freedoms, times those of others
WIDE = 2.0


class Pace(NamedTuple):
    """
    Limits of the reference of a robot, and the size of its drives.

    Attributes
    ----------
    speed, acceleration, deceleration : float, m/s and m/s²
    yaw_rate, yaw_acceleration : float, rad/s and rad/s²
    length, radius : float, m
        Of a straight drive, and of a ring of the figure eight.
    """

    speed: float
    acceleration: float
    deceleration: float
    yaw_rate: float
    yaw_acceleration: float
    length: float
    radius: float

    def straight(self) -> dict[str, float]:
        """Return the gains of `PathGains` for drives along a path."""
        return {'speed': self.speed, 'acceleration': self.acceleration,
                'deceleration': self.deceleration, 'yaw_rate': self.yaw_rate}

    def turning(self) -> dict[str, float]:
        """Return the gains of `PathGains` for a turn in place: of lengths σ in its equations."""
        return {'speed': min(self.speed, TURN_LENGTH * self.yaw_rate),
                'acceleration': min(self.acceleration, TURN_LENGTH * self.yaw_acceleration),
                'deceleration': min(self.deceleration, TURN_LENGTH * self.yaw_acceleration),
                'yaw_rate': self.yaw_rate}

    def seconds(self, length: float) -> float:
        """Return the time of a drive of `length` [m] without errors, s."""
        reach = min(self.speed, math.sqrt(2.0 * length / (
            1.0 / self.acceleration + 1.0 / self.deceleration)))
        ramps = 0.5 * reach * (1.0 / self.acceleration + 1.0 / self.deceleration)
        return length / reach + ramps


def pace_of(robot: CasterRobot, ability: Travel) -> Pace:
    """
    Return the limits of a reference that `robot` follows with its `ability`.

    Each is the smaller of the default of `PathGains` and what torque, traction, wheel rates and
    casters allow, so that a strong robot has the defaults.
    """
    usual = PathGains()
    limits = limits_of_reach(robot, ability)
    free = heading_is_free(robot)
    most = limits.acceleration
    turn = limits.yaw_acceleration
    length = float(np.clip(LENGTHS * length_scale(robot), SHORTEST, LONGEST))
    acceleration = min(usual.acceleration, most)
    speed = min(usual.speed, limits.speed, math.sqrt(acceleration * length))
    length = min(length, max(SHORTEST, CRUISE * speed))
    # a wheel at the farthest pivot turns with the same speed
    farthest = farthest_wheel(robot)
    axle = fixed_axle(robot)
    yaw_rate = min(usual.yaw_rate, speed / farthest,
                   math.inf if free else math.sqrt(turn * math.pi))
    return Pace(speed, acceleration, min(usual.deceleration, most), yaw_rate, turn, length,
                max((WIDE if free else 1.0) * RING * farthest, speed / yaw_rate,
                    0.0 if axle is None or math.isinf(axle.radius) else ROOM * axle.radius))
