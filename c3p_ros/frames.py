# SPDX-License-Identifier: Apache-2.0
"""Planar poses and their frames; /tf where tf2 is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, Quaternion, TransformStamped, Vector3

from c3p_description.model import Array
from c3p_ros.cdr import TrajectoryRead
from c3p_ros.messages import (
    LARGEST_VALUE,
    QUATERNION_TOLERANCE,
    MessageError,
    ns_to_stamp,
    planar,
    pose_numbers,
    quaternion_of,
    yaw_of,
    yaw_of_parts,
)
from c3p_ros.wire import check_finite

try:
    from tf2_msgs.msg import TFMessage
except ImportError:  # tf2 comes with a ROS 2 installation, not from the package registries
    TFMessage = None


def pose_of(pose: Pose, where: str) -> Array:
    """
    Return (x, y, yaw) of a pose.

    Raises
    ------
    MessageError
        A coordinate that is not finite, or an orientation that is not a rotation.
    """
    x, y = pose.position.x, pose.position.y
    _check_position(x, y, where)
    return np.array([x, y, yaw_of(pose.orientation, f'{where}.orientation')])


def planar_pose(parts: Sequence[float], where: str) -> Array:
    """Return (x, y, yaw) of seven numbers, position and quaternion; errors as `pose_of`."""
    _check_position(parts[0], parts[1], where)
    return np.array([parts[0], parts[1], yaw_of_parts(parts[3:], f'{where}.orientation')])


def _check_position(x: float, y: float, where: str) -> None:
    if not abs(x) + abs(y) <= LARGEST_VALUE:
        raise MessageError(f'{where}.position = ({x}, {y}): must be finite and at most '
                           f'{LARGEST_VALUE:g}')


def planar_points(read: TrajectoryRead, frame: str) -> tuple[Array, Array, Array]:
    """
    Return times (k,), poses (k, 3) with continuous yaw and velocities (k, 3) of a trajectory.

    Raises
    ------
    MessageError
        It is not in `frame`, has no points, or has an invalid number.
    """
    if read.frame_id != frame:
        raise MessageError(f'frame {read.frame_id!r}: must be that of the odometry, {frame!r}')
    if not len(read.time):
        raise MessageError('no points; a robot that stands still needs one')
    place, rate = read.transforms, read.velocities
    x, y, z, w = place[:, 3:].T
    with np.errstate(over='ignore', invalid='ignore'):
        length = np.sqrt(x * x + y * y + z * z + w * w)
        if not ((abs(length - 1.0) <= QUATERNION_TOLERANCE).all()
                and (abs(place[:, 0]) + abs(place[:, 1]) <= LARGEST_VALUE).all()
                and (abs(rate).sum(axis=1) <= LARGEST_VALUE).all()):
            _name_culprit(read)
    yaw = np.unwrap(np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z))
    return read.time, np.column_stack([place[:, :2], yaw]), rate[:, [0, 1, 5]]


def _name_culprit(read: TrajectoryRead) -> None:
    for k, (place, rate) in enumerate(zip(read.transforms.tolist(), read.velocities.tolist(),
                                          strict=True)):
        planar_pose(place, f'points[{k}]')
        planar(rate, f'points[{k}]')
    raise MessageError('the points are not finite')


def fill_pose(pose: Pose, values: Array, topic: str = 'pose') -> Pose:
    """
    Write (x, y, yaw) into `pose` and return it.

    Raises
    ------
    PublishError
        A number that is not finite, with `topic`.
    """
    check_finite(topic, 'pose', values, ('x', 'y', 'yaw'))
    pose.position.x, pose.position.y = float(values[0]), float(values[1])
    pose.orientation = quaternion_of(float(values[2]))
    return pose


class TransformPublisher:
    """
    Publishes one transform on /tf where tf2_msgs is installed; logs once where it is not.

    Parameters
    ----------
    node : SuiteNode
    """

    def __init__(self, node: Any) -> None:
        """Create the publisher."""
        self._node, self.works = node, TFMessage is not None
        if self.works:
            self._publisher = node.create_publisher(TFMessage, '/tf', 100)
        else:
            node.get_logger().info('/tf is off: tf2_msgs is not installed (it comes with a ROS 2 '
                                   'installation); odom carries the same pose')

    def send(self, stamp: int, pose: Array, frame: str, child: str) -> None:
        """Publish pose (x, y, yaw) of frame `child` in `frame`; the stamp is in ns."""
        if self.works:
            self.send_spatial(stamp, pose_numbers(pose), frame, child)

    def send_spatial(self, stamp: int, pose: Sequence[float], frame: str, child: str) -> None:
        """Publish a pose of seven numbers, position and quaternion (x, y, z, w), as `send`."""
        if not self.works:
            return
        transform = TransformStamped(child_frame_id=child)
        transform.header.stamp, transform.header.frame_id = ns_to_stamp(stamp), frame
        x, y, z, qx, qy, qz, qw = map(float, pose)
        transform.transform.translation = Vector3(x=x, y=y, z=z)
        transform.transform.rotation = Quaternion(x=qx, y=qy, z=qz, w=qw)
        self._node.publish(self._publisher, TFMessage(transforms=[transform]))
