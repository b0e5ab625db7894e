# SPDX-License-Identifier: Apache-2.0
"""Axes of modules as drives make them: first-order steering and wheels, limited rates, latency."""

import numpy as np

from c3p_description.wheels import pivots
from c3p_kinematics.module_settings import two_wheels

# time constants, s: of steering axes, each another one, and of wheels
STEERING_LAG = 0.05, 0.1
WHEEL_LAG = 0.05

# by which the wheels' time constants differ, relative
UNEQUAL = 0.2

# largest rate of a steering axis, rad/s
STEERING_RATE = 10.0

# cycle, s
DT = 0.01


class LaggingAxes:
    """
    Axes of a robot that follow commands a cycle late, and the motion that they make on the floor.

    The motion is the least-squares twist of the rolling wheels, in which tyres resist side slip as
    much as they roll.
    """

    def __init__(self, robot, seed, unequal=UNEQUAL):
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
        self._rolls = robot.driven | robot.wheel_encoder
        self._waiting = None

    def step(self, steering, wheel_rate, dt=DT):
        """Give the commands of a cycle, and move by those of the one before."""
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
        c, s = np.cos(yaw + 0.5 * dt * self.twist[2]), np.sin(yaw + 0.5 * dt * self.twist[2])
        vx, vy, yaw_rate = dt * self.twist
        self.pose = np.array([x + c * vx - s * vy, y + s * vx + c * vy, yaw + yaw_rate])

    def rows(self):
        """Return the rows along and across the wheels, (n, 3) each."""
        x, y = self.robot.hip_position.T
        c, s = np.cos(self.steering), np.sin(self.steering)
        return (np.column_stack([-s, c, s * y + c * x + self.robot.lateral_offset]),
                np.column_stack([c, s, s * x - c * y]))

    def side_slip(self):
        """Return the velocities of the pivots across the wheels that do not trail, (n,) m/s."""
        trails = (self.robot.caster_offset > 0.0) & ~self._pairs
        return np.where(trails, 0.0, self.rows()[1] @ self.twist)

    def _motion(self):
        along, across = self.rows()
        trails = (self.robot.caster_offset > 0.0) & ~self._pairs
        rolled = (self.robot.wheel_radius * self.wheel_rate
                  - self.robot.lateral_offset * self.steering_rate)
        driven = self.robot.driven
        rows = np.vstack([along[driven], across[~trails]])
        sides = np.concatenate([rolled[driven], np.zeros(int(np.sum(~trails)))])
        return np.linalg.lstsq(rows, sides, rcond=None)[0]
