# SPDX-License-Identifier: Apache-2.0
"""
Axes of modules as drives make them: first-order steering and wheels, limited rates, latency.

A robot of them has no masses. Its motion is that of its rolling wheels, in which tyres resist side
slip as much as they roll: the least squares of

    R_x ν = r θ̇_x − b θ̇_s  of driven wheels,  R_a ν = 0  of wheels that do not trail

so that what its platform does beside its commands comes from the axes alone.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_description.wheels import pivots
from c3p_kinematics.module_commands import ModuleSteering
from c3p_kinematics.module_settings import ModuleSettings, two_wheels
from c3p_kinematics.wheel_following import WheelFollowing

# time constants, s: of steering axes, each another one, and of wheels
STEERING_LAG = 0.05, 0.1
WHEEL_LAG = 0.05

# by which the wheels' time constants differ, relative
UNEQUAL = 0.2

# largest rate of a steering axis, rad/s
STEERING_RATE = 10.0

# cycle, s
DT = 0.01

# of random reversals: speeds, m/s; largest difference of directions from 180°, rad; cycles until
# the next one, from before the last one has ended until after it; cycles of the first drive
SPEEDS = 0.2, 1.0
OFF = math.radians(4.0)
CYCLES = 20, 120
BEGIN = 200


class LaggingAxes:
    """
    Axes of a robot that follow commands a cycle late, and the motion that they make on the floor.

    Parameters
    ----------
    robot : CasterRobot
    seed : int
        Of the time constants, and of the angles at the start.
    unequal : float
        Largest relative difference of a wheel's time constant from `WHEEL_LAG`.

    Attributes
    ----------
    steering, steering_rate : (n,) array, rad and rad/s
    wheel_angle, wheel_rate : (n,) array, rad and rad/s
    twist : (3,) array, m/s and rad/s
        Of the platform, ``base_link``.
    pose : (3,) array, m and rad
        On the floor.

    Examples
    --------
    >>> from c3p_description import load
    >>> axes = LaggingAxes(load('swerve'), 0)
    >>> for _ in range(200):  # all modules along +Y
    ...     axes.step(np.zeros(4), np.full(4, 5.0))
    >>> (axes.twist.round(3) + 0.0).tolist()  # 5 rad/s on a radius of 0.0508 m
    [0.0, 0.254, 0.0]
    """

    def __init__(self, robot: CasterRobot, seed: int, unequal: float = UNEQUAL) -> None:
        """Draw the axes, at rest."""
        rng = np.random.default_rng(seed)
        n = robot.count
        self.robot = robot
        self.first = pivots(robot.hip_position)
        self.steering_lag = rng.uniform(*STEERING_LAG, n)
        self.wheel_lag = WHEEL_LAG * (1.0 + unequal * rng.uniform(-1.0, 1.0, n))
        angles = rng.uniform(-3.0, 3.0, n)[self.first]
        self.steering = np.where(robot.fixed, robot.steering_zero, angles)
        self.steering_rate = np.zeros(n)
        self.wheel_rate = np.zeros(n)
        self.wheel_angle = np.zeros(n)
        self.twist = np.zeros(3)
        self.pose = np.zeros(3)
        self._pairs = two_wheels(robot)
        self._waiting: tuple[Array, Array] | None = None

    def step(self, steering: Array, wheel_rate: Array, dt: float = DT) -> None:
        """Give commands (n,) of a cycle, rad and rad/s, and move by those of the one before."""
        command = self._waiting
        self._waiting = np.array(steering), np.array(wheel_rate)
        if command is None:
            return
        robot = self.robot
        rate = np.clip((command[0] - self.steering) / self.steering_lag, -STEERING_RATE,
                       STEERING_RATE)
        rate = np.where(robot.steered, rate, 0.0)
        for i, j in enumerate(self.first):
            if self._pairs[i] and i != j:
                turned = (robot.wheel_radius[i] * self.wheel_rate[i]
                          - robot.wheel_radius[j] * self.wheel_rate[j])
                track = robot.lateral_offset[i] - robot.lateral_offset[j]
                rate[[i, j]] = turned / track - self.twist[2]
        self.steering_rate = rate
        self.steering = self.steering + dt * rate
        self.wheel_rate = self.wheel_rate + dt * (command[1] - self.wheel_rate) / self.wheel_lag
        self.twist = self._motion()
        self.wheel_angle = self.wheel_angle + dt * self.wheel_rate
        x, y, yaw = self.pose
        middle = yaw + 0.5 * dt * self.twist[2]
        c = np.cos(middle)
        s = np.sin(middle)
        vx, vy, yaw_rate = dt * self.twist
        self.pose = np.array([x + c * vx - s * vy, y + s * vx + c * vy, yaw + yaw_rate])

    def rows(self) -> tuple[Array, Array]:
        """Return the rows along and across the wheels, (n, 3) each."""
        x, y = self.robot.hip_position.T
        c = np.cos(self.steering)
        s = np.sin(self.steering)
        return (np.column_stack([-s, c, s * y + c * x + self.robot.lateral_offset]),
                np.column_stack([c, s, s * x - c * y]))

    def side_slip(self) -> Array:
        """Return the velocities of the pivots across the wheels that do not trail, (n,) m/s."""
        return np.where(self._trails(), 0.0, self.rows()[1] @ self.twist)

    def _trails(self) -> Array:
        return (self.robot.caster_offset > 0.0) & ~self._pairs

    def _motion(self) -> Array:
        along, across = self.rows()
        stands = ~self._trails()
        rolled = (self.robot.wheel_radius * self.wheel_rate
                  - self.robot.lateral_offset * self.steering_rate)
        driven = self.robot.driven
        rows = np.vstack([along[driven], across[stands]])
        sides = np.concatenate([rolled[driven], np.zeros(int(np.sum(stands)))])
        return np.asarray(np.linalg.lstsq(rows, sides, rcond=None)[0])


def reversal_swings(axes: LaggingAxes, limits: ModuleSettings, count: int, gain: float = 0.0,
                    seed: int = 0) -> Array:
    """
    Return the yaw swings of a robot whose command is reversed at random times, (count,) rad.

    Each command is 180° ± `OFF` from the last one, about half of them before that has ended. A
    swing is the range of the yaw until the next reversal.

    Parameters
    ----------
    axes : LaggingAxes
        Of the robot; they are moved.
    limits : ModuleSettings
        Of the plan of the modules.
    count : int
        Of the reversals.
    gain : float
        Of the feedback of wheel rates (`WheelFollowing`); 0: none.
    seed : int
        Of the speed, the directions and the times.
    """
    rng = np.random.default_rng(seed)
    modules = ModuleSteering(axes.robot, limits)
    following = WheelFollowing(axes.robot, WHEEL_LAG, gain)
    speed = rng.uniform(*SPEEDS)
    angle = rng.uniform(-np.pi, np.pi)
    found = []
    for k in range(count + 1):
        twist = np.array([speed * np.cos(angle), speed * np.sin(angle), 0.0])
        begin = axes.pose[2]
        yaw = [0.0]
        for _ in range(BEGIN if k == 0 else int(rng.integers(*CYCLES))):
            command = modules.step(axes.steering, twist, DT)
            axes.step(command.steering, following.step(command.wheel_rate, axes.wheel_rate, DT))
            yaw.append(axes.pose[2] - begin)
        found.append(np.ptp(yaw))
        angle += np.pi + rng.uniform(-OFF, OFF)
    return np.array(found[1:])
