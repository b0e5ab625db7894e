# SPDX-License-Identifier: Apache-2.0
"""Odometry that calibrates itself: its lengths and steering zeros follow an estimate by joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import CasterRobot
from c3p_kinematics import joint_times
from c3p_kinematics.calibration.online import SelfCalibration
from c3p_kinematics.calibration.online_yaw import YawLearner
from c3p_kinematics.calibration.parameters import CalibrationSettings, LearningSettings
from c3p_kinematics.odometry import (
    Odometry,
    OdometryEstimate,
    OdometrySettings,
)
from c3p_kinematics.odometry_states import CAPACITY
from c3p_kinematics.slip import vectors


class CalibratingOdometry(Odometry):
    """
    `Odometry` whose geometry and steering zeros are learned from its own increments.

    A window of motion that ends without slip updates the estimate; the next step is by it. The
    pose does not jump, and `reset` keeps what was learned. With `calibration.frozen` and nothing
    learned the estimates are those of `Odometry`, bit by bit.

    Parameters
    ----------
    robot : CasterRobot
        Description: the prior.
    settings : OdometrySettings, optional
    learning : LearningSettings, optional
        Default: with the encoder steps of `settings`.

    Attributes
    ----------
    calibration : SelfCalibration
    yaw : YawLearner or None
        Gyro that teaches as well; None until it is set.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> odometry = CalibratingOdometry(robot)
    >>> for k in range(101):
    ...     estimate = odometry.step(0.05 * k, [0, 0, 0], 0.01 / 0.04 * k * np.ones(3))
    >>> (estimate.pose.round(3) + 0.0).tolist(), odometry.calibration.learned
    ([0.0, 1.0, 0.0], 4)
    """

    def __init__(self, robot: CasterRobot, settings: OdometrySettings | None = None,
                 learning: LearningSettings | None = None) -> None:
        settings = settings or OdometrySettings()
        learning = learning or LearningSettings(CalibrationSettings(
            wheel_resolution=settings.wheel_resolution,
            steering_resolution=settings.steering_resolution))
        self.calibration = SelfCalibration(robot, learning)
        self.yaw: YawLearner | None = None
        self._zero = np.zeros(robot.count)
        self._parameters = self.calibration.parameters.copy()
        # the geometry of a copy of its own follows the estimate, in all monitors
        super().__init__(replace(robot), replace(
            settings, prior=learning.calibration.prior))
        # the covariance of the pose is joint with that of the estimate
        self._lasting.share(self.calibration.spread, self.calibration.cross)

    def warm_up(self) -> None:
        """Compile all kernels, and reset."""
        self.calibration.warm_up()
        frozen = self.calibration.frozen
        self.calibration.frozen = True
        super().warm_up()
        self.calibration.frozen = frozen

    def reset(self, pose: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Start again at `pose` (3,), with what was learned; as `Odometry.reset`."""
        self._interrupt()
        times = self._state.times.block.copy()
        super().reset(pose)
        joint_times.keep(self._state.times, times)

    def forget(self) -> None:
        """Return to the description; the pose stays."""
        self.calibration.reset()
        self.follow()

    def adopt(self, parameters: ArrayLike, covariance: ArrayLike | None = None) -> None:
        """Continue from an estimate, as `SelfCalibration.adopt`; the pose stays."""
        self.calibration.adopt(parameters, covariance)
        self.follow()

    def _sample(self, time: float, steering: ArrayLike, wheel_angle: ArrayLike,
                wheel_rate: ArrayLike | None, steering_rate: ArrayLike | None, dt: float | None
                ) -> OdometryEstimate:
        measured, = vectors(self.robot.count, steering=steering)
        return super()._sample(time, measured + self._zero, wheel_angle, wheel_rate,
                               steering_rate, dt)

    def _begin_anew(self, time: float) -> str:
        self._interrupt()
        return super()._begin_anew(time)

    def _moved(self) -> None:
        # duration and hold of the step as it was integrated
        state = self._state
        if not joint_times.settled(state.times):
            # joints of different times would be taken for wrong lengths
            self._interrupt()
            return
        row = (int(state.ring.count[0]) - 1) % CAPACITY
        span = float(state.ring.steps.duration[row])
        held = state.ring.steps.held[row] != 0.0
        good = not (self._monitor.slipping or held or self._faults.alarm)
        motion = (state.motion.steering - self._zero, state.motion.wheel_rate * span,
                  state.motion.steering_rate * span)
        times = state.times
        if times.age_prior:
            self.calibration.take_times(joint_times.unknown(times), float(times.changing[0]),
                                        joint_times.shown(times), state.channels.recent)
        changed = self.calibration.step(*motion, good)
        if self.yaw is not None:
            changed = self.yaw.step(*motion, span, good) or changed
        if changed:
            self.follow()

    def _interrupt(self) -> None:
        self.calibration.interrupt()
        if self.yaw is not None:
            self.yaw.interrupt()

    def follow(self) -> None:
        """Use the present estimate of `calibration`, after it was set."""
        parameters = self.calibration.parameters
        geometry = self.robot.geometry
        joint_times.follow_lengths(self._state.times, self._parameters, parameters)
        self._parameters = parameters.copy()
        self._lasting.share(self.calibration.spread, self.calibration.cross)
        geometry[:, :2], geometry[:, 2] = parameters[:, 2:4], parameters[:, 1]
        geometry[:, 3] = parameters[:, 0]
        # another zero is not a turn of a caster
        self._state.latch[0] += parameters[:, 4] - self._zero
        self._zero = parameters[:, 4].copy()
        self._joints.turn_fixed(self._zero)
