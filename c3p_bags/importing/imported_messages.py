# SPDX-License-Identifier: Apache-2.0
"""Messages of imported columns: joint states, poses as odometry, and a gyro as an IMU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from c3p_bags.runs.run_bag import odometry_message, odometry_numbers
from c3p_description.model import Array

TOPICS = {'joints': ('/joint_states', 'sensor_msgs/msg/JointState'),
          'pose': ('/ground_truth/odom', 'nav_msgs/msg/Odometry'),
          'yaw': ('/imu/data', 'sensor_msgs/msg/Imu'),
          'yaw_rate': ('/imu/data', 'sensor_msgs/msg/Imu')}


@dataclass
class ImportedSection:
    """
    Columns of one topic.

    Attributes
    ----------
    what : {'joints', 'pose', 'yaw', 'yaw_rate'}
    time : (k,) array, s
    value : (k, n) array
        Angles of joints; x, y and yaw; yaw; or yaw rate.
    rate : (k, n) array, optional
        Rates of joints, rad/s.
    names : tuple of str
        Joints; or the frame of the pose.
    """

    what: str
    time: Array
    value: Array
    rate: Array | None
    names: tuple[str, ...]

    @property
    def topic(self) -> str:
        """Return the topic of the bag."""
        return TOPICS[self.what][0]

    @property
    def kind(self) -> str:
        """Return the message type."""
        return TOPICS[self.what][1]


class ImportedMessages:
    """Makes messages of the classes in `types`."""

    def __init__(self, types: Mapping[str, type]) -> None:
        """Store the classes."""
        self.types = types

    def rows(self, section: ImportedSection) -> Iterator[tuple[int, str, Any]]:
        """Yield time [ns], topic and message of each row of a section."""
        make = {'joints': self._joints, 'pose': self._poses, 'yaw': self._yaws,
                'yaw_rate': self._rates}[section.what]
        stamps = np.rint(1e9 * section.time).astype(np.int64).tolist()
        for stamp, message in zip(stamps, make(section, stamps), strict=True):
            yield stamp, section.topic, message

    def _header(self, stamp: int, frame: str) -> Any:
        return self.types['std_msgs/msg/Header'](
            self.types['builtin_interfaces/msg/Time'](*divmod(stamp, 10**9)), frame)

    def _joints(self, section: ImportedSection, stamps: list[int]) -> Iterator[Any]:
        none = np.zeros(0)
        names = list(section.names)
        rates = [none] * len(stamps) if section.rate is None else section.rate
        for stamp, position, rate in zip(stamps, section.value, rates, strict=True):
            yield self.types[section.kind](self._header(stamp, ''), names, position, rate, none)

    def _poses(self, section: ImportedSection, stamps: list[int]) -> Iterator[Any]:
        """Yield poses with the twists of their differences; a covariance of zero is unknown."""
        pose = section.value
        floor = _slope(section.time, pose)
        c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        twist = np.column_stack([c * floor[:, 0] + s * floor[:, 1],
                                 c * floor[:, 1] - s * floor[:, 0], floor[:, 2]])
        unknown = np.zeros((3, 3))
        for stamp, here, speed in zip(stamps, pose, twist, strict=True):
            yield odometry_message(self.types, stamp, odometry_numbers(
                here, speed, unknown, unknown), section.names[0], 'base_link')

    def _yaws(self, section: ImportedSection, stamps: list[int]) -> Iterator[Any]:
        rates = _slope(section.time, section.value)[:, 0]
        for stamp, yaw, rate in zip(stamps, section.value[:, 0], rates, strict=True):
            yield self._imu(stamp, float(rate), float(yaw))

    def _rates(self, section: ImportedSection, stamps: list[int]) -> Iterator[Any]:
        for stamp, rate in zip(stamps, section.value[:, 0], strict=True):
            yield self._imu(stamp, float(rate), None)

    def _imu(self, stamp: int, rate: float, yaw: float | None) -> Any:
        vector = self.types['geometry_msgs/msg/Vector3']
        rotation = self.types['geometry_msgs/msg/Quaternion'](
            0.0, 0.0, float(np.sin(0.5 * (yaw or 0.0))), float(np.cos(0.5 * (yaw or 0.0))))
        # -1: the message has no such data
        absent = np.append(-1.0, np.zeros(8))
        return self.types['sensor_msgs/msg/Imu'](
            self._header(stamp, 'base_link'), rotation, absent if yaw is None else np.zeros(9),
            vector(0.0, 0.0, rate), np.zeros(9), vector(0.0, 0.0, 0.0), absent)


def _slope(time: Array, value: Array) -> Array:
    """Return the derivative of values (k, n) at rising times (k,)."""
    if len(time) < 2:
        return np.zeros_like(value)
    return np.gradient(value, time, axis=0)
