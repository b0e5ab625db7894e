# SPDX-License-Identifier: Apache-2.0
"""Readers of the messages of the control chain, straight from the wire (wire.py)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import AccelStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory

from c3p_ros.cdr import HEADER, POSE, TWIST, Layout, Slot, layout_of, nanoseconds_of
from c3p_ros.chain_messages import (
    AccelMessage,
    ImuMessage,
    JointStateMessage,
    OdometryMessage,
    TrajectoryMessage,
)

# type names of the messages of the chain
JOINTS, ODOMETRY = 'sensor_msgs/msg/JointState', 'nav_msgs/msg/Odometry'
ACCEL = 'geometry_msgs/msg/AccelStamped'
IMU = 'sensor_msgs/msg/Imu'
TRAJECTORY = 'trajectory_msgs/msg/MultiDOFJointTrajectory'

# what stands for the stamp, the first two numbers of a message, among the parts of a reader
STAMP = object()


def _stamp(seconds: int, nanoseconds: int) -> int:
    if nanoseconds >= 1_000_000_000:
        nanoseconds_of(seconds, nanoseconds)
    return seconds * 1_000_000_000 + nanoseconds


def _constant(field: Any) -> Any:
    """Return a text, or the names of a message as a tuple."""
    return tuple(field) if isinstance(field, list) else field


class Reader:
    """
    Reads messages of one type into a named tuple; reuses the layout while it stays the same.

    Parameters
    ----------
    kind : str
        One of `LAYOUTS`.
    result : type
        NamedTuple; its fields without a default are the fields that are read.

    Examples
    --------
    >>> from c3p_ros.wire import AccelWriter
    >>> read = Reader('geometry_msgs/msg/AccelStamped', AccelMessage)
    >>> read(AccelWriter('base_link')(5, [1.0, 2.0, 3.0])).accel
    (1.0, 2.0, 0.0, 0.0, 0.0, 3.0)
    """

    def __init__(self, kind: str, result: Any) -> None:
        """Start without a layout."""
        self._kind, self._result = kind, result
        # bytes that determine the layout; empty without one
        self._same: list[tuple[slice, bytes]] = []
        self._size = 0

    def __call__(self, data: bytes) -> Any:
        """
        Return the fields of a serialized message.

        Raises
        ------
        MessageError
            It is not such a message, is cut off, or exceeds a limit.
        """
        if not self._same or len(data) < self._size:
            self._renew(data)
        for part, same in self._same:
            if data[part] != same:
                self._renew(data)
                break
        return self._values(data)

    def _renew(self, data: bytes) -> None:
        """Find the layout of a message that differs from the one before."""
        self._same = []
        layout = layout_of(data, self._kind)
        self._learn(layout)
        self._size = layout.size
        self._same = [(part, bytes(data[part])) for part in layout.same]

    def _learn(self, layout: Layout) -> None:
        """Prepare one unpacking for all numbers that are read."""
        code = layout.order
        place = 0
        count = 0
        self._parts: list[Any] = []
        for name in self._result._fields:
            field = layout.fields[name]
            if name in self._result._field_defaults:
                continue
            if not isinstance(field, Slot):
                self._parts.append(_constant(field))
                continue
            stamp = field.kind == 'stamp'
            self._parts.append(STAMP if stamp else slice(count, count + field.count))
            if field.count:
                code += f'{field.place - place}x' + ('iI' if stamp else f'{field.count}d')
                place = field.end
                count = count + field.count
        self._unpack = struct.Struct(code).unpack_from

    def _values(self, data: bytes) -> Any:
        numbers = self._unpack(data)
        return self._result(*[numbers[part] if part.__class__ is slice else
                              _stamp(*numbers[:2]) if part is STAMP else part
                              for part in self._parts])


class TrajectoryReader(Reader):
    """Reads MultiDOFJointTrajectory messages of one frame."""

    def __init__(self) -> None:
        """Start without a layout."""
        super().__init__(TRAJECTORY, TrajectoryMessage)

    def _learn(self, layout: Layout) -> None:
        """Prepare the places of the points among the words of four and eight bytes."""
        self._texts = layout.fields['frame_id'], _constant(layout.fields['name'])
        self._order = layout.order
        points = layout.fields['points']
        places = np.array([[slot.place - HEADER for slot in point] for point in points], int)
        places = places.reshape(-1, 3)
        self._pose = places[:, :1] // 8 + np.arange(POSE)
        self._rate = places[:, 1:2] // 8 + np.arange(TWIST)
        self._time = places[:, 2] // 4
        self._doubles, self._words = (layout.size - HEADER) // 8, (layout.size - HEADER) // 4

    def _values(self, data: bytes) -> TrajectoryMessage:
        order = self._order
        stamp = _stamp(*struct.unpack_from(order + 'iI', data, HEADER))
        doubles = np.frombuffer(data, order + 'f8', self._doubles, HEADER)
        words = np.frombuffer(data, order + 'u4', self._words, HEADER)
        nanoseconds = words[self._time + 1]
        for k in np.flatnonzero(nanoseconds >= 1_000_000_000)[:1]:
            nanoseconds_of(0, int(nanoseconds[k]), f'time of point {k}')
        time = words.view(order + 'i4')[self._time] + 1e-9 * nanoseconds
        transforms = doubles[self._pose].astype(float)
        velocities = doubles[self._rate].astype(float)
        for values in (time, transforms, velocities):
            values.flags.writeable = False
        return TrajectoryMessage(stamp, *self._texts, time, transforms, velocities)


# readers by message type of the chain; each remembers a layout
READERS: dict[type, Callable[[], Reader]] = {
    JointState: lambda: Reader(JOINTS, JointStateMessage),
    Odometry: lambda: Reader(ODOMETRY, OdometryMessage),
    AccelStamped: lambda: Reader(ACCEL, AccelMessage),
    Imu: lambda: Reader(IMU, ImuMessage),
    MultiDOFJointTrajectory: TrajectoryReader,
}
