# SPDX-License-Identifier: Apache-2.0
"""Subscription of an IMU, whose yaw rate teaches the calibration of a node."""

from __future__ import annotations

import math

from sensor_msgs.msg import Imu

from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration.gyro import AXES, GyroSettings
from c3p_kinematics.calibration.online_yaw import YawLearner
from c3p_ros.messages import MessageError
from c3p_ros.node import SENSOR_DATA, SuiteNode

TOPIC = 'imu/data'


class ImuSubscription:
    """
    Gives the yaw rate of an IMU to the calibration of a node; rejects what must not be used.

    Parameters
    ----------
    node : SuiteNode
    odometry : CalibratingOdometry
    """

    def __init__(self, node: SuiteNode, odometry: CalibratingOdometry) -> None:
        """Subscribe."""
        self._node, values = node, node.parameters.value
        self._axis = values.imu.axis
        self._number, self._sign = AXES[self._axis or 'z']
        self._frame, self._oldest = values.base_frame, values.joint_state_timeout
        self._first: int | None = None
        self._last = 0
        self.learner = odometry.yaw = YawLearner(odometry.calibration,
                                                    GyroSettings.of(values))
        node.create_subscription(Imu, TOPIC, self._on_imu, SENSOR_DATA)

    def _on_imu(self, message: Imu) -> None:
        try:
            time, rate = self._read(message)
        except MessageError as error:
            self._node.diagnostics.refuse(TOPIC, error)
            return
        self.learner.measure(time, rate)

    def _read(self, message: Imu) -> tuple[float, float]:
        """Return time [s] and rate [rad/s] of a message."""
        header = message.header
        turn = message.angular_velocity
        if not self._axis and header.frame_id != self._frame:
            raise MessageError(f'frame {header.frame_id!r}: must be {self._frame!r}; for another '
                               'set imu.axis to its vertical axis')
        if message.angular_velocity_covariance[0] == -1.0:
            raise MessageError('angular_velocity_covariance[0] is -1: the message has no rate')
        rate = self._sign * (turn.x, turn.y, turn.z)[self._number]
        if not math.isfinite(rate):
            raise MessageError(f'angular velocity {rate}: must be finite')
        stamp = header.stamp.sec * 1_000_000_000 + header.stamp.nanosec
        self._node.cycle_stamp(stamp, self._oldest)
        if stamp <= self._last:
            raise MessageError(f'stamp {stamp} ns: must be later than the one before, '
                               f'{self._last} ns')
        self._first = self._first or stamp
        self._last = stamp
        return (stamp - self._first) * 1e-9, rate
