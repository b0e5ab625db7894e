# SPDX-License-Identifier: Apache-2.0
"""True joints of a drive, to be sensed again with a fault: a tape, and a plant that repeats it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline

from c3p_description.model import Array, CasterRobot
from c3p_experiments.slip_faults.scenes import Scene, drive
from c3p_simulation.plants.plant import GroundTruth, JointSample
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings, arrivals

# period of a tape, as encoders are read, and of the cycle, s
PERIOD = 0.001
CYCLE = 0.005


class Tape(NamedTuple):
    """
    True motion at instants that are `PERIOD` apart.

    Attributes
    ----------
    steering, steering_rate, wheel_angle, wheel_rate : (k, n) arrays, rad, rad/s
    pose, twist : (k, 3) arrays
    """

    steering: Array
    steering_rate: Array
    wheel_angle: Array
    wheel_rate: Array
    pose: Array
    twist: Array


def record(robot: CasterRobot, seed: int, duration: float, plant: str = 'mujoco') -> Tape:
    """
    Return the tape of a random drive without a fault.

    Parameters
    ----------
    robot : CasterRobot
    seed : int
    duration : float, s
    plant : str

    Raises
    ------
    ModelError
        As `scenes.drive`.
    """
    return taped(drive(robot, 'clean', seed, duration, plant, sensors=SensorSettings.ideal()))


def taped(scene: Scene) -> Tape:
    """Return the tape of a scene with ideal sensors."""
    joints = scene.joints
    truth = scene.log.ground_truth
    grid = joints.time[0] + PERIOD * np.arange(int((joints.time[-1] - joints.time[0]) / PERIOD))

    def between(angle: Array, rate: Array) -> tuple[Array, Array]:
        curve = CubicHermiteSpline(joints.time, np.unwrap(angle, axis=0), rate)
        return curve(grid), curve(grid, 1)

    pose, twist = (np.column_stack([np.interp(grid, truth.time, column) for column in of.T])
                   for of in (truth.pose, truth.twist))
    return Tape(*between(joints.steering, joints.steering_rate),
                *between(joints.wheel_angle, joints.wheel_rate), pose, twist)


class TapePlant:
    """Plant that repeats a tape, whatever its torques are."""

    def __init__(self, robot: CasterRobot, tape: Tape) -> None:
        """Start at the first instant of the tape."""
        self.robot = robot
        self._tape = tape
        self._now = 0

    @property
    def time(self) -> float:
        """Seconds since the begin of the tape."""
        return PERIOD * self._now

    def reset(self, *place: ArrayLike, **more: ArrayLike) -> JointSample:
        """Return to the begin of the tape, wherever the robot would be placed."""
        self._now = 0
        return self.sense()

    def push(self, *push: Any) -> None:
        """Do nothing: the motion is recorded."""

    def sense(self) -> JointSample:
        """Return the joints now."""
        steering, steering_rate, wheel_angle, wheel_rate = (
            of[self._now] for of in self._tape[:4])
        return JointSample(self.time, steering, steering_rate, wheel_angle, wheel_rate,
                           np.zeros(self.robot.efforts))

    def truth(self) -> GroundTruth:
        """Return pose and twist now."""
        return GroundTruth(self.time, self._tape.pose[self._now], self._tape.twist[self._now])

    def step(self, wheel_torque: ArrayLike, dt: float) -> JointSample:
        """Advance by `dt`, to the end of the tape at most."""
        last = len(self._tape.pose) - 1
        self._now = min(self._now + max(1, round(dt / PERIOD)), last)
        return self.sense()


def sensed(robot: CasterRobot, tape: Tape, settings: SensorSettings, seed: int
           ) -> list[tuple[float, JointSample]]:
    """
    Return the samples that arrive while a `robot` moves as on its `tape`, each with its true time.

    The sensors have `settings`; `seed` is that of their errors.
    """
    sensors = SensedPlant(TapePlant(robot, tape), settings, seed)
    torque = np.zeros(robot.efforts)
    found = []
    for _ in range(round(len(tape.pose) * PERIOD / CYCLE) - 1):
        found += [(arrived.truth.time, arrived.sample)
                  for arrived in arrivals(sensors, sensors.step(torque, CYCLE))]
    return found
