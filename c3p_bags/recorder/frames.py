# SPDX-License-Identifier: Apache-2.0
"""Computed /tf, /tf_static and robot_description of a robot that publishes none of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from rosbags.typesys.store import Typestore

from c3p_bags.recorder.readers import read_message
from c3p_bags.recorder.transforms import FrameTree, Transform, TransformFrame, compose, inverse

TF = 'tf2_msgs/msg/TFMessage'


def _period(rate: float) -> int:
    """Return the least interval of messages, ns: a little less than the period, for jitter."""
    return int(0.9e9 / rate)


class MessageWriter(Protocol):
    """Takes messages: the writer of a bag or of snapshots, or the server of a viewer."""

    @property
    def types(self) -> Typestore:
        """Message definitions."""

    def write_message(self, topic: str, time: int, message: Any) -> None:
        """Take one message made of the classes in ``types.types``; `time` is in ns."""


class RecordedFrames:
    """
    Writes computed frames into a bag.

    Parameters
    ----------
    writer : BagWriter
        With `tf_topic`, `static_topic` and `description_topic` announced.
    urdf : str
        Description of the robot; empty to write only the frame of the odometry.
    rate : float, Hz
        Largest rate of /tf messages from each source.
    description_topic, tf_topic, static_topic : str
        Resolved names: in a namespace they may be remapped.

    Raises
    ------
    ValueError
        The text is not a URDF.
    """

    def __init__(self, writer: MessageWriter, urdf: str, rate: float,
                 description_topic: str = '/robot_description', tf_topic: str = '/tf',
                 static_topic: str = '/tf_static') -> None:
        """Read the tree of frames."""
        self._writer = writer
        self._types = writer.types.types
        self._urdf = urdf
        self._tree = FrameTree(urdf) if urdf else None
        self._period = _period(rate)
        self._description_topic = description_topic
        self._tf_topic = tf_topic
        self._static_topic = static_topic
        self._next = {'odom': 0, 'joints': 0}

    def start(self, time: int) -> None:
        """Write fixed frames and the description; `time` is in ns."""
        if self._tree is None:
            return
        stamp = self._types['builtin_interfaces/msg/Time'](*divmod(time, 1_000_000_000))
        self._write(self._static_topic, time, stamp, self._tree.fixed())
        self._writer.write_message(self._description_topic, time,
                                   self._types['std_msgs/msg/String'](self._urdf))

    def joint_states(self, time: int, data: bytes) -> None:
        """
        Write the frames of the moving joints of a serialised JointState.

        Raises MessageError; see `read_message`.
        """
        if self._tree is None or not self._due('joints', time):
            return
        message = read_message(self._writer.types, data, 'sensor_msgs/msg/JointState')
        positions = dict(zip(message.name, message.position.tolist(), strict=False))
        self._write(self._tf_topic, time, message.header.stamp, self._tree.movable(positions))

    def odometry(self, time: int, data: bytes) -> None:
        """
        Write the frame of a serialised Odometry.

        A frame has one parent: if the odometry's child frame is fixed to the root of the robot
        (``base_link`` to ``base_footprint``), the transform places the root in ``odom``.

        Raises MessageError; see `read_message`.
        """
        if not self._due('odom', time):
            return
        message = read_message(self._writer.types, data, 'nav_msgs/msg/Odometry')
        p = message.pose.pose.position
        q = message.pose.pose.orientation
        pose = Transform((p.x, p.y, p.z), (q.x, q.y, q.z, q.w))
        child = message.child_frame_id
        from_root = self._tree.from_root(child) if self._tree else None
        if self._tree is not None and from_root is not None:
            pose = compose(pose, inverse(from_root))
            child = self._tree.root
        self._write(self._tf_topic, time, message.header.stamp,
                    [TransformFrame(message.header.frame_id, child, pose)])

    def _due(self, source: str, time: int) -> bool:
        due = time >= self._next[source]
        if due:
            self._next[source] = time + self._period
        return due

    def _write(self, topic: str, time: int, stamp: Any, frames: Sequence[TransformFrame]) -> None:
        if not frames:
            return
        header = self._types['std_msgs/msg/Header']
        vector = self._types['geometry_msgs/msg/Vector3']
        quaternion = self._types['geometry_msgs/msg/Quaternion']
        transform = self._types['geometry_msgs/msg/Transform']
        stamped = self._types['geometry_msgs/msg/TransformStamped']
        self._writer.write_message(topic, time, self._types[TF]([
            stamped(header(stamp, f.parent), f.child,
                    transform(vector(*f.transform.translation), quaternion(*f.transform.rotation)))
            for f in frames]))
