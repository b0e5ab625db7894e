# SPDX-License-Identifier: Apache-2.0
"""
A robot on two driven wheels and free casters drives forward, back and forward: two laws for it.

`WheelLoops` is what a diff-drive controller has: a PI loop of the rate of each wheel. `Expected`
has the same gains, in terms of the twist, and the torques expected of the casters. Commands come
at 20 Hz and 100 ms late, and are limited in acceleration.
"""

from typing import NamedTuple

import numpy as np

from c3p_dynamics.free_caster_torques import expected_torque
from c3p_kinematics.casters import sensed_forward
from c3p_kinematics.free_casters import FreeCasters, ReversalTurn
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

PERIOD = 0.01
COMMAND_RATE = 20.0
LATENCY = 0.1
SPEED = 0.4
ACCELERATION = 1.0

# of the encoders and of half a cycle, for which the casters turn on, s
DELAY = 0.015

# of a wheel loop, over the inertia that a wheel drives: critically damped, 1/s and 1/s²
PROPORTIONAL = 20.0
INTEGRAL = 100.0


class Reference(NamedTuple):
    """Twist and acceleration that are wanted now, (3,) each."""

    twist: np.ndarray
    accel: np.ndarray


class WheelLoops:
    """PI loops of the wheel rates: torque of the inertia that a wheel drives times the gains."""

    def __init__(self, robot):
        self.robot = robot
        self.sum = np.zeros(2)
        self.inertia = robot.total_mass / 2 * robot.wheel_radius[0]**2

    def step(self, wanted, sample):
        track = self.robot.hip_position[:2, 1]
        rate = (wanted.twist[0] - wanted.twist[2] * track) / self.robot.wheel_radius[:2]
        error = rate - sample.wheel_rate[:2]
        self.sum += error * PERIOD
        torque = np.zeros(self.robot.efforts)
        torque[:2] = self.inertia * (PROPORTIONAL * error + INTEGRAL * self.sum)
        return torque


class Expected:
    """The same feedback, on the twist, with the torques expected of the free casters."""

    def __init__(self, robot):
        self.robot = robot
        self.casters = FreeCasters(robot)
        self.turn = ReversalTurn(self.casters)
        self.sum = np.zeros(3)
        self.last = np.zeros(robot.count)

    def step(self, wanted, sample):
        still = np.zeros(self.robot.count)
        # the mean motion since the last sample turns the casters
        mean = sensed_forward(self.robot, still, (sample.wheel_angle - self.last) / PERIOD, still)
        self.last = sample.wheel_angle.copy()
        self.casters.step(mean.twist, PERIOD)
        twist = sensed_forward(self.robot, still, sample.wheel_rate, still).twist
        rate, change = self.turn.step(wanted.twist, wanted.accel, PERIOD)
        reference = wanted.twist + [0.0, 0.0, rate]
        error = reference - twist
        # by the angles of the wheels, whose counts are not lost as those of rates are
        self.sum += (reference - mean.twist) * PERIOD
        accel = wanted.accel + [0.0, 0.0, change] + PROPORTIONAL * error + INTEGRAL * self.sum
        expected = self.casters.ahead(reference, DELAY)
        return expected_torque(expected, still, reference, 0.0, accel, 0.0)


def command(time):
    """Return the twist commanded at a time: forward, back and forward, 3 s each."""
    return np.array([SPEED if time < 3.0 or time >= 6.0 else -SPEED, 0.0, 0.0])


def headings(law, plant, seed, duration=9.0, latency=0.01):
    """
    Return the heading [rad] in each cycle of a drive straight ahead, back and ahead.

    Casters begin at random angles. Encoders have 2000 counts and a delay of `latency` [s].
    """
    sensed = SensedPlant(plant, SensorSettings(latency=latency), seed)
    count = plant.robot.count
    sample = sensed.reset(steering=np.random.default_rng(seed).uniform(-np.pi, np.pi, count))
    twist = np.zeros(3)
    found = []
    for k in range(round(duration / PERIOD)):
        heard = np.floor((k * PERIOD - LATENCY) * COMMAND_RATE + 1e-9) / COMMAND_RATE
        target = command(heard) if heard >= 0.0 else np.zeros(3)
        accel = np.clip((target - twist) / PERIOD, -ACCELERATION, ACCELERATION)
        twist = twist + accel * PERIOD
        sample = sensed.step(law.step(Reference(twist, accel), sample), PERIOD)
        found.append(plant.truth().pose[2])
    return np.array(found)
