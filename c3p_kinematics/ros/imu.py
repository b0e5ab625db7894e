# SPDX-License-Identifier: Apache-2.0
"""Subscription of an IMU: its yaw rate is fused in the odometry, and teaches the calibration."""

from __future__ import annotations

import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu

from c3p_description.model import Array
from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration.gyro import GyroSettings
from c3p_kinematics.calibration.online_yaw import YawLearner
from c3p_kinematics.gyro_fusion import RESTART, GyroFusion
from c3p_kinematics.odometry import Odometry
from c3p_kinematics.ros.gyro_mounting import (
    MountingError,
    rate_about,
    variance_about,
    vertical_axis,
)
from c3p_ros.chain_messages import ImuMessage
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.messages import MessageError
from c3p_ros.node import SuiteNode

TOPIC = 'imu/data'

# frames of messages that are kept
FRAMES = 16

# every message counts, not the newest alone: a burst of a quarter of a second at 1 kHz; receives
# every publisher, reliable or not
QUEUE = QoSProfile(depth=250, reliability=ReliabilityPolicy.BEST_EFFORT)


class ImuSubscription:
    """
    Gives the yaw rate of an IMU to odometry and calibration; rejects what must not be used.

    Parameters
    ----------
    node : SuiteNode
    odometry : Odometry
    """

    def __init__(self, node: SuiteNode, odometry: Odometry) -> None:
        """Subscribe."""
        values = node.parameters.value
        self._node = node
        self._axis = values.imu.axis
        self._frame = values.base_frame
        self._oldest = values.joint_state_timeout
        self._description = values.robot_description
        # the vertical of `base_frame` in each frame of messages, or why it is not known
        self._verticals: dict[str, Array | MountingError] = {}
        self._first: int | None = None
        self._last = 0
        self.fusion: GyroFusion | None = odometry.gyro
        self.learner: YawLearner | None = None
        if isinstance(odometry, CalibratingOdometry):
            self.learner = odometry.yaw = YawLearner(odometry.calibration,
                                                     GyroSettings.of(values))
        # before the joint states of the same cycle
        node.listen(Imu, TOPIC, self._on_imu, QUEUE, rank=0)
        if self.fusion is not None:
            node.watch(self._on_watch)

    def _on_imu(self, message: ImuMessage) -> None:
        try:
            stamp, rate, variance = self._read(message)
            # by stamps alone, so that the bag gives the same bits: a late one changes nothing
            if self.fusion is not None and stamp:
                self.fusion.measure(stamp, rate, variance)
            self._node.cycle_stamp(stamp, self._oldest)
        except MessageError as error:
            self._node.diagnostics.refuse(TOPIC, error)
            return
        if self.learner is not None:
            self._first = self._first or stamp
            self.learner.measure((stamp - self._first) * 1e-9, rate)

    def _read(self, message: ImuMessage) -> tuple[int, float, float]:
        """Return stamp [ns], rate [rad/s] and its variance [rad²/s²] of a message."""
        stamp = message.stamp
        up = self._vertical(message.frame_id)
        if message.angular_velocity_covariance[0] == -1.0:
            raise MessageError('angular_velocity_covariance[0] is -1: the message has no rate')
        rate = float(rate_about(up, *message.angular_velocity))
        if not np.isfinite(rate):
            raise MessageError(f'angular velocity {rate}: must be finite')
        if 0 <= (self._last - stamp) * 1e-9 <= RESTART:
            raise MessageError(f'stamp {stamp} ns: must be later than the one before, '
                               f'{self._last} ns')
        if stamp < self._last:
            # the clock was set back
            self._first = None
        self._last = stamp
        return stamp, rate, float(variance_about(
            up, np.array(message.angular_velocity_covariance)))

    def _vertical(self, frame: str) -> Array:
        """Return the vertical of the robot in a `frame` of messages."""
        if frame not in self._verticals:
            # a frame costs a look at the description
            if len(self._verticals) >= FRAMES:
                self._verticals.clear()
            try:
                self._verticals[frame] = vertical_axis(self._axis, frame, self._frame,
                                                       self._description)
            except MountingError as error:
                self._verticals[frame] = error
        found = self._verticals[frame]
        if isinstance(found, MountingError):
            raise MessageError(f'{found}')
        return found

    def _on_watch(self) -> None:
        if self.fusion is not None:
            text = self.fusion.report().text()
            self._node.diagnostics.condition('imu', WARN if text else OK,
                                             text or 'turns as the joints')

