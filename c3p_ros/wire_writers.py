# SPDX-License-Identifier: Apache-2.0
"""
The messages of the control chain, written straight to the wire; the counterpart of wire.py.

In a control loop a message never changes its shape: names, frames and sizes stay, numbers change.
So rclpy serializes it once, as the pattern, and each cycle writes its numbers into the places that
wire.py reads them from; the publisher takes the bytes. A writer that is given a number that is not
finite raises PublishError with the name of its topic.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import AccelStamped, Transform, Twist
from nav_msgs.msg import Odometry
from numpy.typing import ArrayLike
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

from c3p_ros.finite import check_finite
from c3p_ros.wire import COVARIANCE, HEADER, POSE, TWIST, aligned, byte_order, text

# numbers of a planar motion, in errors
AXES = ('x', 'y', 'yaw')


class Pattern:
    """
    A serialized message whose stamp and numbers can be changed.

    Parameters
    ----------
    message : ROS message
        With a header, and in its final shape.
    """

    def __init__(self, message: object) -> None:
        """Serialize the message and find the end of its frame."""
        self._data = bytearray(serialize_message(message))
        self._order = byte_order(self._data)
        _, self.place = text(self._data, HEADER + 8, self._order)

    def numbers(self, count: int) -> np.ndarray:
        """Return the next `count` doubles as an array that writes into the message."""
        begin = aligned(self.place, 8)
        self.place = begin + 8 * count
        return np.frombuffer(self._data, f'{self._order}f8', count, begin)

    def skip_text(self) -> None:
        """Go past a string."""
        _, self.place = text(self._data, self.place, self._order)

    def skip_count(self) -> int:
        """Go past the length of a sequence and return it."""
        self.place = aligned(self.place, 4) + 4
        return struct.unpack_from(self._order + 'I', self._data, self.place - 4)[0]

    def stamped(self, stamp: int) -> bytes:
        """Return the message up to the place reached, with this stamp in nanoseconds."""
        struct.pack_into(self._order + 'iI', self._data, HEADER, stamp // 1_000_000_000,
                         stamp % 1_000_000_000)
        # rclpy serializes into a larger buffer and returns all of it
        return bytes(memoryview(self._data)[:self.place])


class JointStateWriter:
    """
    Writes JointState messages of always the same joints.

    Parameters
    ----------
    names : sequence of str
    fields : sequence of str
        Which of ``position``, ``velocity``, ``effort`` have a number for each joint.
    topic : str
        For errors.
    unknown : sequence of str
        Fields whose values may be NaN, for what is not known.
    """

    def __init__(self, names: Sequence[str], fields: Sequence[str],
                 topic: str = 'JointState', unknown: Sequence[str] = ()) -> None:
        """Make the pattern."""
        self._names, self._topic, self._unknown = list(names), topic, tuple(unknown)
        zeros = {field: [0.0] * len(names) for field in fields}
        self._pattern = Pattern(JointState(name=list(names), **zeros))
        for _ in range(self._pattern.skip_count()):
            self._pattern.skip_text()
        self._values = {}
        for field in ('position', 'velocity', 'effort'):
            count = self._pattern.skip_count()
            if field in zeros:
                self._values[field] = self._pattern.numbers(count)

    def __call__(self, stamp: int, **values: ArrayLike) -> bytes:
        """
        Return the message with this stamp (ns) and values, one array per field.

        Raises
        ------
        PublishError
            A value that is not finite, with its joint.
        """
        for field, numbers in values.items():
            known = (np.where(np.isnan(numbers), 0.0, numbers) if field in self._unknown
                     else numbers)
            check_finite(self._topic, field, known, self._names)
            self._values[field][:] = numbers
        return self._pattern.stamped(stamp)


class OdometryWriter:
    """
    Writes Odometry messages between always the same frames.

    Parameters
    ----------
    frame_id, child_frame_id : str
    topic : str
        For errors.
    """

    def __init__(self, frame_id: str, child_frame_id: str, topic: str = 'Odometry') -> None:
        """Make the pattern."""
        self._topic = topic
        message = Odometry(child_frame_id=child_frame_id)
        message.header.frame_id = frame_id
        self._pattern = Pattern(message)
        self._pattern.skip_text()
        self._numbers = self._pattern.numbers(POSE + COVARIANCE + TWIST + COVARIANCE)
        self._pose, self._pose_covariance, self._twist, self._twist_covariance = np.split(
            self._numbers, np.cumsum([POSE, COVARIANCE, TWIST]))

    def __call__(self, stamp: int, pose: ArrayLike, twist: ArrayLike,
                 pose_covariance: ArrayLike | None = None,
                 twist_covariance: ArrayLike | None = None) -> bytes:
        """
        Return the message.

        Parameters
        ----------
        stamp : int, ns
        pose : (7,) array_like
            Position and quaternion (x, y, z, w).
        twist : (6,) array_like
            Linear and angular.
        pose_covariance, twist_covariance : (36,) array_like, optional
            Zero when never given.

        Raises
        ------
        PublishError
            A number that is not finite.
        """
        self._pose[:], self._twist[:] = pose, twist
        if pose_covariance is not None:
            self._pose_covariance[:] = pose_covariance
        if twist_covariance is not None:
            self._twist_covariance[:] = twist_covariance
        # they follow each other without a gap: one test for all
        if not np.isfinite(self._numbers).all():
            self._refuse()
        return self._pattern.stamped(stamp)

    def _refuse(self) -> None:
        """Raise with the number at fault, and keep none of what was given."""
        given = [part.copy() for part in (self._pose, self._pose_covariance, self._twist,
                                          self._twist_covariance)]
        self._numbers[:] = 0.0
        for field, values in zip(('pose', 'pose.covariance', 'twist', 'twist.covariance'), given,
                                 strict=True):
            check_finite(self._topic, field, values)


class AccelWriter:
    """
    Writes AccelStamped messages in always the same frame.

    Parameters
    ----------
    frame_id : str
    topic : str
        For errors.
    """

    def __init__(self, frame_id: str, topic: str = 'AccelStamped') -> None:
        """Make the pattern."""
        self._topic = topic
        message = AccelStamped()
        message.header.frame_id = frame_id
        self._pattern = Pattern(message)
        self._values = self._pattern.numbers(TWIST)

    def __call__(self, stamp: int, accel: ArrayLike) -> bytes:
        """
        Return the message with this stamp (ns) and acceleration (x, y, yaw).

        Raises
        ------
        PublishError
            A number that is not finite.
        """
        check_finite(self._topic, 'accel', accel, AXES)
        self._values[[0, 1, 5]] = accel
        return self._pattern.stamped(stamp)


class TrajectoryWriter:
    """
    Writes MultiDOFJointTrajectory messages of one frame at always the same times.

    Parameters
    ----------
    frame_id, child_frame_id : str
        Frame of the numbers, and the frame that moves.
    times : sequence of float, s
        From the start.
    topic : str
        For errors.
    """

    def __init__(self, frame_id: str, child_frame_id: str, times: Sequence[float],
                 topic: str = 'MultiDOFJointTrajectory') -> None:
        """Make the pattern."""
        self._topic = topic
        message = MultiDOFJointTrajectory(joint_names=[child_frame_id])
        message.header.frame_id = frame_id
        for time in times:
            nanoseconds = round(1e9 * time)
            message.points.append(MultiDOFJointTrajectoryPoint(
                transforms=[Transform()], velocities=[Twist()], time_from_start=Duration(
                    sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)))
        self._pattern = pattern = Pattern(message)
        pattern.skip_count()
        pattern.skip_text()
        self._transforms, self._velocities = [], []
        for _ in range(pattern.skip_count()):
            pattern.skip_count()
            self._transforms.append(pattern.numbers(POSE))
            pattern.skip_count()
            self._velocities.append(pattern.numbers(TWIST))
            pattern.skip_count()
            # the time stays
            pattern.place += 8

    def __call__(self, stamp: int, pose: ArrayLike, velocity: ArrayLike) -> bytes:
        """
        Return the message.

        Parameters
        ----------
        stamp : int, ns
        pose, velocity : (k, 3) array_like
            X, Y, φ and Ẋ, Ẏ, ω in `frame_id`, one row for each time.

        Raises
        ------
        PublishError
            A number that is not finite.
        """
        check_finite(self._topic, 'pose', pose)
        check_finite(self._topic, 'velocity', velocity)
        for k, (here, rate) in enumerate(zip(pose, velocity, strict=True)):
            self._transforms[k][0:2] = here[0:2]
            self._transforms[k][5:7] = math.sin(0.5 * here[2]), math.cos(0.5 * here[2])
            self._velocities[k][[0, 1, 5]] = rate
        return self._pattern.stamped(stamp)
