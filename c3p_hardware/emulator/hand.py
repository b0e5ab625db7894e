# SPDX-License-Identifier: Apache-2.0
"""A robot whose motors are off and whose joints a person turns, for emulated cards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.rolling import rolling_rates

if TYPE_CHECKING:  # needs the library of the protocol
    from c3p_hardware.emulator.cards import RobotPlant, TrueJoints

# speed of a hand on a joint, rad/s, and of a pushed robot, m/s and rad/s
JOINT_RATE = 3.0
PUSH_SPEED = 0.4


@dataclass
class HandJoints:
    """Joints (n,) of a robot that is moved by hand: rad and rad/s."""

    steering: Array
    steering_rate: Array
    wheel_angle: Array
    wheel_rate: Array


class HandMovedRobot:
    """
    Plant of `EmulatedCards` that takes no torque: `turn` and `push` move it as time passes.

    Parameters
    ----------
    robot : CasterRobot
    steering : array_like, rad
        Angles at the start, one for all or one per caster.

    Attributes
    ----------
    moving : bool
        A motion is not over yet.
    """

    def __init__(self, robot: CasterRobot, steering: ArrayLike = 0.0) -> None:
        """Stand."""
        self.robot = robot
        n = robot.count
        self._steering = np.array(np.broadcast_to(np.asarray(steering, float), n))
        self._wheels = np.zeros(n)
        self._rates = np.zeros(2 * n)
        self._turns = np.zeros(2 * n)
        self._twist = np.zeros(3)
        self._seconds = 0.0

    @property
    def moving(self) -> bool:
        """True during a motion."""
        return self._seconds > 0.0

    def turn(self, joint: int, angle: float) -> None:
        """Turn a joint, of the steering axes and then the wheels, by `angle`, rad."""
        self._twist = np.zeros(3)
        self._turns = np.zeros(2 * self.robot.count)
        self._turns[joint] = np.copysign(JOINT_RATE, angle)
        self._seconds = abs(angle) / JOINT_RATE

    def set_wheels(self, angle: float) -> None:
        """Set the wheels below their pivots parallel to `angle`, either way round, rad."""
        turns = np.round((self._steering - angle) / np.pi)
        self._steering = np.where(self.robot.caster_offset > 0.0, self._steering,
                                  angle + np.pi * turns)

    def push(self, twist: ArrayLike, distance: float) -> None:
        """Push the robot along `twist` (3,), scaled, by `distance`, m and rad."""
        direction = np.asarray(twist, float)
        self._turns = np.zeros(2 * self.robot.count)
        self._twist = PUSH_SPEED * direction / np.linalg.norm(direction)
        self._seconds = distance / PUSH_SPEED

    def sense(self) -> HandJoints:
        """Return the present joints."""
        n = self.robot.count
        return HandJoints(self._steering.copy(), self._rates[:n].copy(), self._wheels.copy(),
                          self._rates[n:].copy())

    def step(self, wheel_torque: ArrayLike, dt: float) -> HandJoints:
        """Let `dt` pass, s; the torque has no effect."""
        n = self.robot.count
        span = min(dt, self._seconds)
        self._seconds -= span
        self._rates = np.zeros(2 * n)
        if span > 0.0:
            rolling = rolling_rates(self.robot, self._steering, self._twist)
            self._rates = self._turns + np.concatenate([rolling.steering_rate,
                                                        rolling.wheel_rate])
        self._steering = self._steering + span * self._rates[:n]
        self._wheels = self._wheels + span * self._rates[n:]
        return self.sense()

    def truth(self) -> None:
        """Return nothing: the pose is not known."""


class HandAfterMotors:
    """
    A plant that its motors move until a hand takes over: then `hand` moves it, without motors.

    Parameters
    ----------
    plant : RobotPlant
        The true robot.

    Attributes
    ----------
    robot : CasterRobot
    hand : HandMovedRobot or None
        After `take_over`.
    """

    def __init__(self, plant: RobotPlant) -> None:
        """Leave it to its motors."""
        self._plant = plant
        self.robot = plant.robot
        self.hand: HandMovedRobot | None = None
        self._wheels = np.zeros(plant.robot.count)

    def take_over(self) -> HandMovedRobot:
        """Return the hand, which moves the robot from now on."""
        joints = self._plant.sense()
        self._wheels = np.array(joints.wheel_angle)
        self.hand = HandMovedRobot(self.robot, joints.steering)
        return self.hand

    def sense(self) -> TrueJoints:
        """Return the present joints."""
        if self.hand is None:
            return self._plant.sense()
        return self._shifted(self.hand.sense())

    def step(self, wheel_torque: ArrayLike, dt: float) -> TrueJoints | None:
        """Let `dt` pass, s."""
        if self.hand is None:
            return self._plant.step(wheel_torque, dt)
        return self._shifted(self.hand.step(wheel_torque, dt))

    def _shifted(self, joints: HandJoints) -> HandJoints:
        joints.wheel_angle = joints.wheel_angle + self._wheels
        return joints

    def truth(self) -> Any:
        """Return the pose and twist of the plant before the hand took over."""
        return self._plant.truth()
