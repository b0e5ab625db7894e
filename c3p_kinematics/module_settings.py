# SPDX-License-Identifier: Apache-2.0
"""Limits of steered modules: platform, steering axes, stops, and the defaults by the robot."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from c3p_description.model import GRAVITY, Array, ArrayField, CasterRobot
from c3p_description.wheels import on_pivot
from c3p_kinematics.limited_steps import StepLimits

# time in which the platform reaches its largest acceleration, s
JERK_TIME = 0.1

# part of the rates of two wheels on a pivot with which they turn it
TURNING_PART = 0.5

# gain with which two wheels on a pivot bring it to its angle, 1/s: their lag of 50 ms and a
# sample of latency leave a phase margin of 60°
PIVOT_GAIN = 8.0


@dataclass(frozen=True)
class ModuleSettings:
    """
    Limits of the motion of a robot on modules; inf: unlimited.

    Attributes
    ----------
    acceleration, yaw_acceleration : float, m/s² and rad/s²
        Of the platform; both together as the hypotenuse of their parts.
    jerk, yaw_jerk : float, m/s³ and rad/s³
    stop_acceleration : float, m/s²
        In the place of `acceleration` for a command of zero, with the others in proportion.
    steering_rate, steering_acceleration : float or (n,) array, rad/s and rad/s²
        Of the steering axes, beside `CasterRobot.steering_rate_limit`.
    steering_lower, steering_upper : float or (n,) array, rad
        Steering angles between which a module turns: its stops.
    steering_lag, wheel_lag : float, s
        Time constants of the axes by which commands lead; 0 leads by nothing.
    steering_gain : float, 1/s
        Of the difference between the angle of the plan and the measured one, in the steering
        rates: for axes that are commanded by rates. Two wheels on a pivot have at least
        `PIVOT_GAIN`.
    straight_time : float, s
        Time over which the direction of a command is constant over the floor while the robot
        turns, such as the period of its publisher; 0: it is constant in ``base_link``.

    Raises
    ------
    ValueError
        A limit that is not positive, or stops in the wrong order.

    Examples
    --------
    >>> from c3p_description import load
    >>> limits = ModuleSettings.of(load('swerve'))
    >>> round(limits.acceleration, 2), round(limits.stopping_distance(1.0), 3)
    (6.86, 0.333)
    """

    acceleration: float = math.inf
    yaw_acceleration: float = math.inf
    jerk: float = math.inf
    yaw_jerk: float = math.inf
    stop_acceleration: float = math.inf
    steering_rate: ArrayField = math.inf
    steering_acceleration: ArrayField = math.inf
    steering_lower: ArrayField = -math.inf
    steering_upper: ArrayField = math.inf
    steering_lag: float = 0.0
    wheel_lag: float = 0.0
    steering_gain: float = 0.0
    straight_time: float = 0.0

    def __post_init__(self) -> None:
        """Check the values."""
        for name in ('acceleration', 'yaw_acceleration', 'jerk', 'yaw_jerk', 'stop_acceleration',
                     'steering_rate', 'steering_acceleration'):
            if not np.all(np.asarray(value := getattr(self, name), float) > 0.0):
                raise ValueError(f'{name} = {value}: must be above 0; inf: unlimited')
        for name in ('steering_lag', 'wheel_lag', 'steering_gain', 'straight_time'):
            if not 0.0 <= (value := getattr(self, name)) < math.inf:
                raise ValueError(f'{name} = {value}: must be finite, and not negative')
        if not np.all(np.asarray(self.steering_lower) < np.asarray(self.steering_upper)):
            raise ValueError(f'steering_lower = {self.steering_lower}, steering_upper = '
                             f'{self.steering_upper}: the lower stop must be below the upper one')

    @classmethod
    def of(cls, robot: CasterRobot, **changes: Any) -> ModuleSettings:
        """
        Return limits that motors and tyres of `robot` allow, with `changes`.

        The acceleration is the smaller one of ``Σ torque_limit/r / mass`` and of µ g
        `traction_margin` with the driven part of the wheels; the yaw acceleration that of the same
        forces at the mean distance of the driven wheels. Jerks reach them in `JERK_TIME`. Steering
        accelerations are those of the motors with link and wheel, and stops those of the robot.
        """
        driven = robot.driven
        push = float(np.sum((robot.torque_limit / robot.wheel_radius)[driven])) / robot.total_mass
        grip = GRAVITY * robot.tyre_friction * robot.traction_margin * float(np.mean(driven))
        acceleration = min(push, grip) if driven.any() else math.inf
        lever = float(np.mean(np.hypot(*robot.hip_position[driven].T))) if driven.any() else 0.0
        yaw = acceleration * lever * robot.total_mass / robot.platform_inertia if lever else \
            math.inf
        inertia = robot.link_inertia + robot.wheel_yaw_inertia
        turning = np.where(robot.steered & (inertia > 0.0), robot.steering_torque_limit
                           / np.where(inertia > 0.0, inertia, 1.0), math.inf)
        found = cls(acceleration, yaw, acceleration / JERK_TIME, yaw / JERK_TIME,
                    steering_acceleration=turning, steering_lower=robot.steering_lower,
                    steering_upper=robot.steering_upper)
        return replace(found, **changes)

    def stopping_distance(self, speed: float) -> float:
        """
        Return the longest path, m, from `speed`, m/s, to standstill after a command of zero.

        At worst the stop begins at full acceleration: ``v²/(2 a) + v a/(2 j)`` from the speed that
        is then reached, after ``a/j``, during which the speed still rises by ``a²/(2 j)``.
        """
        if math.isinf(self.acceleration):
            return 0.0
        part = self._stop_part()
        stop = part * self.acceleration
        jerk = part * self.jerk
        rise = self.acceleration / jerk
        fastest = speed + 0.5 * self.acceleration * rise
        return fastest * (rise + 0.5 * fastest / stop + 0.5 * stop / jerk)

    def _stop_part(self) -> float:
        """Return the factor of all limits of the platform for a command of zero."""
        if math.isinf(self.stop_acceleration) or math.isinf(self.acceleration):
            return 1.0
        return self.stop_acceleration / self.acceleration

    def platform_limits(self, stops: bool = False) -> StepLimits:
        """Return the limits of twist and acceleration; `stops` for a command of zero."""
        part = self._stop_part() if stops else 1.0
        rate = 1.0 / (part * self.acceleration), 1.0 / (part * self.yaw_acceleration)
        change = 1.0 / (part * self.jerk), 1.0 / (part * self.yaw_jerk)
        return StepLimits(
            lambda d: math.hypot(rate[0] * math.hypot(d[0], d[1]), rate[1] * d[2]),
            lambda d: math.hypot(change[0] * math.hypot(d[0], d[1]), change[1] * d[2]))

    def steering_limits(self, robot: CasterRobot) -> StepLimits:
        """Return the limits of all steering axes together."""
        slowness = 1.0 / self.steering_rates(robot)
        change = 1.0 / np.broadcast_to(np.asarray(self.steering_acceleration, float), robot.count)
        return StepLimits(lambda d: float(np.max(np.abs(d) * slowness)),
                          lambda d: float(np.max(np.abs(d) * change)))

    def steering_rates(self, robot: CasterRobot) -> Array:
        """Return the largest steering rates (n,), rad/s: motors, or two wheels on a pivot."""
        found = np.minimum(self.steering_rate, robot.steering_rate_limit)
        turned = two_wheels(robot) & (robot.lateral_offset != 0.0)
        lever = np.where(turned, np.abs(robot.lateral_offset), 1.0)
        by_wheels = TURNING_PART * robot.wheel_rate_limit * robot.wheel_radius / lever
        return np.where(turned, np.minimum(found, by_wheels), found)


def two_wheels(robot: CasterRobot) -> Array:
    """Return which wheels (n,) turn their pivot together with another driven one."""
    return robot.driven & ~robot.steered & ~robot.fixed & (on_pivot(robot) > 1)
