# SPDX-License-Identifier: Apache-2.0
"""
Readers and writers of the messages of the control chain, straight from and to the wire.

rclpy makes a Python object of every field of a message, covariances included; an Odometry costs it
50 µs, of which the chain needs thirteen numbers. A raw subscription delivers the serialized
message instead, and a reader unpacks what a control cycle needs of it in 1 to 3 µs. The layout
(cdr.py) of a message is found again only if a text or a count differs. A writer makes its message
once; each cycle writes stamp and numbers into it. PublishError names a number that is not finite.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from math import cos, isfinite, sin
from typing import Any

import numpy as np
from geometry_msgs.msg import AccelStamped
from nav_msgs.msg import Odometry
from numpy.typing import ArrayLike
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory

from c3p_description.model import Array
from c3p_ros.cdr import (
    HEADER,
    POSE,
    TWIST,
    AccelRead,
    JointStateRead,
    Layout,
    OdometryRead,
    PublishError,
    Slot,
    TrajectoryRead,
    layout_of,
    nanoseconds_of,
    serialized,
)

# type names of the messages of the chain
JOINTS, ODOMETRY = 'sensor_msgs/msg/JointState', 'nav_msgs/msg/Odometry'
ACCEL = 'geometry_msgs/msg/AccelStamped'
TRAJECTORY = 'trajectory_msgs/msg/MultiDOFJointTrajectory'

# names and places of a planar motion among six numbers, linear and angular; what stands for the
# stamp, the first two numbers of a message, among the parts of a reader
AXES, PLANAR, STAMP = ('x', 'y', 'yaw'), [0, 1, 5], object()
# places among the numbers of an Odometry, where pose (7), its covariance (36), twist (6) and its
# covariance follow each other: of x, y, rotation (z, w), vx, vy and yaw rate; of both covariances
MOTION = [0, 1, 5, 6, 43, 44, 48]
COVARIANCES = [first + 6 * i + j for first in (7, 49) for i in PLANAR for j in PLANAR]


def check_finite(topic: str, field: str, values: ArrayLike, names: Sequence[str] = ()) -> None:
    """
    Let `values` of a message pass only when every one is finite.

    Parameters
    ----------
    topic, field : str
        For the error.
    values : array_like
        Of any shape.
    names : sequence of str, optional
        One for each value, for the error; numbers when left out.

    Raises
    ------
    PublishError
        Names the first value that is not finite.

    Examples
    --------
    >>> check_finite('wheel_effort', 'effort', [0.1, float('nan')], ['wheel_1', 'wheel_2'])
    Traceback (most recent call last):
    ...
    c3p_ros.cdr.PublishError: wheel_effort: effort[wheel_2] = nan: must be finite; check the \
parameters, the robot description and the inputs of the node
    """
    values = np.asarray(values, float)
    # the sum is not finite if one of them is not, and of few numbers found ten times as fast
    if isfinite(sum(values.tolist())) if values.ndim == 1 else np.isfinite(values).all():
        return
    for place, value in enumerate(values.ravel().tolist()):
        if not isfinite(value):
            where = names[place] if len(names) == values.size else place
            raise PublishError(topic, f'{field}[{where}] = {value}: must be finite; check the '
                                      'parameters, the robot description and the inputs of the '
                                      'node')


def _stamp(seconds: int, nanoseconds: int) -> int:
    if nanoseconds >= 1_000_000_000:
        nanoseconds_of(seconds, nanoseconds)
    return seconds * 1_000_000_000 + nanoseconds


class Reader:
    """
    Reads messages of one type into a named tuple; reuses the layout while it stays the same.

    Parameters
    ----------
    kind : str
        One of `LAYOUTS`.
    result : type
        NamedTuple; its fields are the fields that are read.

    Examples
    --------
    >>> read = Reader('geometry_msgs/msg/AccelStamped', AccelRead)
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
        code, place, count, self._parts = layout.order, 0, 0, []
        for name in self._result._fields:
            field = layout.fields[name]
            if not isinstance(field, Slot):
                self._parts.append(field)
                continue
            stamp = field.kind == 'stamp'
            self._parts.append(STAMP if stamp else slice(count, count + field.count))
            if field.count:
                code += f'{field.place - place}x' + ('iI' if stamp else f'{field.count}d')
                place, count = field.end, count + field.count
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
        super().__init__('trajectory_msgs/msg/MultiDOFJointTrajectory', TrajectoryRead)

    def _learn(self, layout: Layout) -> None:
        """Prepare the places of the points among the words of four and eight bytes."""
        self._texts, self._order = (layout.fields['frame_id'], layout.fields['name']), layout.order
        points = layout.fields['points']
        places = np.array([[slot.place - HEADER for slot in point] for point in points], int)
        places = places.reshape(-1, 3)
        self._pose = places[:, :1] // 8 + np.arange(POSE)
        self._rate = places[:, 1:2] // 8 + np.arange(TWIST)
        self._time = places[:, 2] // 4
        self._doubles, self._words = (layout.size - HEADER) // 8, (layout.size - HEADER) // 4

    def _values(self, data: bytes) -> TrajectoryRead:
        order = self._order
        stamp = _stamp(*struct.unpack_from(order + 'iI', data, HEADER))
        doubles = np.frombuffer(data, order + 'f8', self._doubles, HEADER)
        words = np.frombuffer(data, order + 'u4', self._words, HEADER)
        nanoseconds = words[self._time + 1]
        for k in np.flatnonzero(nanoseconds >= 1_000_000_000)[:1]:
            nanoseconds_of(0, int(nanoseconds[k]), f'time of point {k}')
        time = words.view(order + 'i4')[self._time] + 1e-9 * nanoseconds
        return TrajectoryRead(stamp, *self._texts, time, doubles[self._pose].astype(float),
                              doubles[self._rate].astype(float))


# readers by message type of the chain; each remembers a layout
READERS: dict[type, Callable[[], Reader]] = {
    JointState: lambda: Reader(JOINTS, JointStateRead),
    Odometry: lambda: Reader(ODOMETRY, OdometryRead),
    AccelStamped: lambda: Reader(ACCEL, AccelRead),
    MultiDOFJointTrajectory: TrajectoryReader,
}


class Writer:
    """A serialized message whose stamp and numbers change; base of the writers."""

    def __init__(self, kind: str, topic: str, **values: Any) -> None:
        """Serialize the message with texts and counts as for `cdr.serialized`."""
        self._topic, self._data = topic, serialized(kind, values)
        self._layout = layout_of(bytes(self._data), kind, limited=False)

    def _numbers(self, *names: str) -> Array:
        """Return the doubles of adjacent fields as an array that writes into the message."""
        slots = [self._layout.fields[name] for name in names]
        return np.frombuffer(self._data, '<f8', sum(slot.count for slot in slots), slots[0].place)

    def _stamped(self, stamp: int) -> bytes:
        """Return the message with this stamp in nanoseconds."""
        struct.pack_into('<iI', self._data, HEADER, stamp // 1_000_000_000, stamp % 1_000_000_000)
        return bytes(self._data)


class JointStateWriter(Writer):
    """
    Writes JointState messages of always the same joints.

    Parameters
    ----------
    names : sequence of str
    fields : sequence of str
        Which of ``position``, ``velocity``, ``effort`` have a number for each joint.
    topic : str, for errors
    unknown : sequence of str
        Fields whose values may be NaN, for what is not known.
    """

    def __init__(self, names: Sequence[str], fields: Sequence[str],
                 topic: str = 'JointState', unknown: Sequence[str] = ()) -> None:
        """Serialize the message with zeros."""
        self._names, self._unknown = list(names), tuple(unknown)
        super().__init__(JOINTS, topic, name=self._names, **dict.fromkeys(fields, len(names)))
        self._values = {field: self._numbers(field) for field in fields}

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
        return self._stamped(stamp)


class PlanarOdometryWriter(Writer):
    """
    Writes Odometry messages of a robot on a plane, between always the same frames.

    Parameters
    ----------
    frame_id, child_frame_id, topic : str
    unobserved : (36,) array, optional
        Covariance of what a plane leaves open, for pose and twist; zero when left out.
    """

    def __init__(self, frame_id: str, child_frame_id: str, topic: str = 'Odometry',
                 unobserved: Array | None = None) -> None:
        """Serialize the message with zeros."""
        super().__init__(ODOMETRY, topic, frame_id=frame_id, child_frame_id=child_frame_id)
        self._every = self._numbers('pose', 'pose_covariance', 'twist', 'twist_covariance')
        self._motion, self._all = np.array(MOTION), np.array(MOTION + COVARIANCES)
        if unobserved is not None:
            self._every[7:43] = self._every[49:] = unobserved

    def __call__(self, stamp: int, pose: Array, twist: Array,
                 pose_covariance: Array | None = None, twist_covariance: Array | None = None
                 ) -> bytes:
        """
        Return the message.

        Parameters
        ----------
        stamp : int, ns
        pose, twist : (3,) array
            (x, y, yaw) and (vx, vy, yaw rate).
        pose_covariance, twist_covariance : (3, 3) array, optional
            Both or none; those of the message before when left out.

        Raises
        ------
        PublishError
            A number that is not finite.
        """
        numbers, places = pose.tolist() + twist.tolist(), self._motion
        if pose_covariance is not None and twist_covariance is not None:
            places = self._all
            numbers += pose_covariance.ravel().tolist() + twist_covariance.ravel().tolist()
        # of finite numbers the sum may be infinite: then each is looked at
        if not isfinite(sum(numbers)):
            check_finite(self._topic, 'pose', pose, ('x', 'y', 'yaw'))
            check_finite(self._topic, 'twist', twist, ('vx', 'vy', 'yaw rate'))
            check_finite(self._topic, 'covariance', numbers[6:])
        numbers[2:3] = sin(0.5 * numbers[2]), cos(0.5 * numbers[2])
        self._every[places] = numbers
        return self._stamped(stamp)


class AccelWriter(Writer):
    """
    Writes AccelStamped messages in always the same frame.

    Parameters
    ----------
    frame_id : str
    topic : str, for errors
    """

    def __init__(self, frame_id: str, topic: str = 'AccelStamped') -> None:
        """Serialize the message with zeros."""
        super().__init__(ACCEL, topic, frame_id=frame_id)
        self._values = self._numbers('accel')

    def __call__(self, stamp: int, accel: ArrayLike) -> bytes:
        """
        Return the message with this stamp (ns) and acceleration (x, y, yaw).

        Raises
        ------
        PublishError
            A number that is not finite.
        """
        check_finite(self._topic, 'accel', accel, AXES)
        self._values[PLANAR] = accel
        return self._stamped(stamp)


class TrajectoryWriter(Writer):
    """
    Writes MultiDOFJointTrajectory messages of one frame at always the same times.

    Parameters
    ----------
    frame_id, child_frame_id : str
        Frame of the numbers, and the frame that moves.
    times : sequence of float, s
        From the start.
    topic : str, for errors
    """

    def __init__(self, frame_id: str, child_frame_id: str, times: Sequence[float] | np.ndarray,
                 topic: str = 'MultiDOFJointTrajectory') -> None:
        """Serialize the message with the times and zeros."""
        super().__init__(TRAJECTORY, topic, frame_id=frame_id, name=[child_frame_id],
                         points=len(times))
        slots = self._layout.fields['points']
        for time, (_, _, slot) in zip(times, slots, strict=True):
            struct.pack_into('<iI', self._data, slot.place, *divmod(round(1e9 * time), 10**9))
        # doubles are at multiples of eight behind the header
        first = np.array([[pose.place, rate.place] for pose, rate, _ in slots], int)
        first = (first.reshape(-1, 2) - HEADER) // 8
        self._pose = first[:, :1] + np.array([0, 1, 5, 6])
        self._rate = first[:, 1:] + np.array(PLANAR)
        self._every = np.frombuffer(self._data, '<f8', (len(self._data) - HEADER) // 8, HEADER)

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
        x, y, yaw = np.transpose(pose)
        self._every[self._pose] = np.column_stack([x, y, np.sin(0.5 * yaw), np.cos(0.5 * yaw)])
        self._every[self._rate] = velocity
        return self._stamped(stamp)
