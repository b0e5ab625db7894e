# SPDX-License-Identifier: Apache-2.0
"""A plant whose encoders and motors are wired otherwise than its description states."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.commissioning.assignment import NONE, Assignment
from c3p_simulation.plants.checks import clipped_torque
from c3p_simulation.plants.plant import GroundTruth, JointSample, Plant


def channels_measured(wiring: Assignment, joints: Array) -> Array:
    """Return the angles of the encoder channels by those of the joints (2n,), rad."""
    measured = np.empty(len(joints))
    measured[wiring.encoder_of] = (joints - wiring.zero) / wiring.gear
    return measured


def efforts_of(robot: CasterRobot, wiring: Assignment, ordered: Array) -> Array:
    """Return effort vectors of the robot by the torques of the motor channels (…, m), N·m."""
    there = wiring.motor_of != NONE
    torque = np.zeros((*ordered.shape[:-1], 2 * robot.count))
    torque[..., there] = wiring.leads[there] * ordered[..., wiring.motor_of[there]]
    # joints are steering axes and wheels, efforts wheels and steering axes
    return np.roll(torque, robot.count, axis=-1)[..., :robot.efforts]


class WiredPlant:
    """
    Plant whose encoders and motors are wired otherwise than its description states.

    Parameters
    ----------
    plant : Plant
        With exact joints; sensors come outside.
    wiring : Assignment
    """

    def __init__(self, plant: Plant, wiring: Assignment) -> None:
        """Wire the plant."""
        self._plant = plant
        self._wiring = wiring
        # rates have no zero
        self._rates = wiring._replace(zero=np.zeros_like(wiring.zero))
        self._motors = np.flatnonzero(plant.robot.actuated)

    @property
    def robot(self) -> CasterRobot:
        """Description of the robot."""
        return self._plant.robot

    @property
    def time(self) -> float:
        """Time of the simulation, s."""
        return self._plant.time

    def _stated(self, sample: JointSample) -> JointSample:
        n = self.robot.count
        angles = channels_measured(self._wiring, np.append(sample.steering, sample.wheel_angle))
        rates = channels_measured(self._rates, np.append(sample.steering_rate, sample.wheel_rate))
        return sample._replace(steering=angles[:n], wheel_angle=angles[n:],
                               steering_rate=rates[:n], wheel_rate=rates[n:])

    def reset(self, pose: ArrayLike = (0.0, 0.0, 0.0), steering: ArrayLike = 0.0,
              twist: ArrayLike = (0.0, 0.0, 0.0)) -> JointSample:
        """Place the robot; return what the channels state."""
        return self._stated(self._plant.reset(pose, steering, twist))

    def sense(self) -> JointSample:
        """Return what the channels state."""
        return self._stated(self._plant.sense())

    def truth(self) -> GroundTruth:
        """Return the true state."""
        return self._plant.truth()

    def step(self, torque: ArrayLike, dt: float) -> JointSample:
        """Let torques of the motor channels act for `dt`; return what the channels state."""
        stated = clipped_torque(self.robot, torque)
        ordered = stated[self._motors]
        sample = self._plant.step(efforts_of(self.robot, self._wiring, ordered), dt)
        assert sample is not None
        # a drive states the torque of the motor that it takes for its own
        return self._stated(sample)._replace(wheel_torque=stated)

    def push(self, force: ArrayLike, moment: float, duration: float) -> None:
        """Push the platform."""
        self._plant.push(force, moment, duration)
