# SPDX-License-Identifier: Apache-2.0
"""
The messages of the control chain, read straight from the wire.

rclpy makes a Python object of every field of a message, covariances included; an Odometry costs it
50 µs, of which the chain needs six numbers. A raw subscription hands over the serialized message,
and what a control cycle needs of it is read here in 2 to 4 µs; wire_writers.py writes it. The
encoding is plain CDR (OMG DDS-RTPS 2.5, 10.2): each value aligned to its size, counted from behind
the four bytes of the header, strings with their length and a final zero.

Counts are looked at before what they count is read, so that a message of a million names costs no
more than a short one; stamps that the messages of a cycle could not carry on are refused here.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from geometry_msgs.msg import AccelStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory

from c3p_ros.errors import MOST_TEXT
from c3p_ros.messages import MessageError, nanoseconds_of

HEADER = 4

# doubles of an Odometry between its last string and its twist: pose and its covariance
POSE, COVARIANCE, TWIST = 7, 36, 6

# bytes that a point of a trajectory has at least: three counts and its time
POINT = 20

# names of a message, and numbers of a field, beyond which it is not of a robot
MOST_NAMES = 400

# points of a trajectory, at most; as in c3p_controller.torque_law
MOST_POINTS = 200


class JointStateRead(NamedTuple):
    """A JointState: stamp in ns, and the fields as sequences."""

    stamp: int
    name: list[str]
    position: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]


class OdometryRead(NamedTuple):
    """An Odometry: stamp in ns, frames, pose (position, quaternion), twist (linear, angular)."""

    stamp: int
    frame_id: str
    child_frame_id: str
    pose: tuple[float, ...]
    twist: tuple[float, ...]


class AccelRead(NamedTuple):
    """An AccelStamped: stamp in ns, frame, acceleration (linear, angular)."""

    stamp: int
    frame_id: str
    accel: tuple[float, ...]


class TrajectoryRead(NamedTuple):
    """
    A MultiDOFJointTrajectory of one frame: stamp in ns, frame, joint names, and the points.

    A point is its time from the start, s, its transform (translation, quaternion) and its velocity
    (linear, angular).
    """

    stamp: int
    frame_id: str
    names: list[str]
    points: list[tuple[float, tuple[float, ...], tuple[float, ...]]]


def byte_order(data: bytes) -> str:
    """Return the byte order of a message as struct and numpy write it."""
    if len(data) < HEADER or data[0] != 0 or data[1] not in (0, 1):
        raise MessageError(f'not plain CDR: it begins with {data[:HEADER].hex()}')
    return '<' if data[1] else '>'


def _whole(read: Callable[..., Any]) -> Callable[..., Any]:
    """Make a reader refuse a message that ends before its last field."""
    @functools.wraps(read)
    def checked(*arguments: Any) -> Any:
        try:
            return read(*arguments)
        except struct.error as error:
            raise MessageError(f'cut off: {error}') from error
    return checked


def _stamp(data: bytes, order: str) -> int:
    return nanoseconds_of(*struct.unpack_from(order + 'iI', data, HEADER))


def aligned(place: int, size: int) -> int:
    """Return the next place for a value of `size` bytes."""
    return place + (HEADER - place) % size


def text(data: bytes, place: int, order: str) -> tuple[str, int]:
    """Return the string at `place` and the place behind it."""
    place = aligned(place, 4)
    length, = struct.unpack_from(order + 'I', data, place)
    end = place + 4 + length
    if length > MOST_TEXT:
        raise MessageError(f'a string of {length} bytes at byte {place}: must have at most '
                           f'{MOST_TEXT}')
    if end > len(data):
        raise MessageError(f'cut off: a string of {length} bytes at byte {place}, and {len(data)} '
                           'bytes in all')
    return bytes(data[place + 4:end - 1]).decode('utf-8', 'replace'), end


def _texts(data: bytes, place: int, order: str) -> tuple[list[str], int]:
    place = aligned(place, 4)
    count, = struct.unpack_from(order + 'I', data, place)
    if count > MOST_NAMES:
        raise MessageError(f'{count} names: must be at most {MOST_NAMES}')
    place, texts = place + 4, []
    for _ in range(count):
        one, place = text(data, place, order)
        texts.append(one)
    return texts, place


def _doubles(data: bytes, place: int, order: str, count: int) -> tuple[tuple[float, ...], int]:
    place = aligned(place, 8)
    return struct.unpack_from(f'{order}{count}d', data, place), place + 8 * count


def _sequence(data: bytes, place: int, order: str) -> tuple[tuple[float, ...], int]:
    place = aligned(place, 4)
    count, = struct.unpack_from(order + 'I', data, place)
    if count == 0:
        return (), place + 4
    if count > MOST_NAMES:
        raise MessageError(f'{count} numbers in a field: must be at most {MOST_NAMES}')
    if place + 8 * count > len(data):
        raise MessageError(f'cut off: {count} numbers at byte {place}, and {len(data)} bytes in '
                           'all')
    return _doubles(data, place + 4, order, count)


class JointStateReader:
    """Reads JointState; the names are decoded again only when they change."""

    def __init__(self) -> None:
        """Start without names."""
        self._bytes = b''
        self._begin = self._end = 0
        self._names: list[str] = []

    @_whole
    def __call__(self, data: bytes) -> JointStateRead:
        """
        Return what `data` says.

        Raises
        ------
        MessageError
            It is no serialized JointState.
        """
        order = byte_order(data)
        _, place = text(data, HEADER + 8, order)
        # one comparison instead of as many strings as there are joints
        if place != self._begin or data[place:self._end] != self._bytes or not self._bytes:
            self._read_names(data, place, order)
        position, place = _sequence(data, self._end, order)
        velocity, place = _sequence(data, place, order)
        effort, _ = _sequence(data, place, order)
        return JointStateRead(_stamp(data, order), self._names, position, velocity, effort)

    def _read_names(self, data: bytes, begin: int, order: str) -> None:
        names, place = _texts(data, begin, order)
        self._begin, self._end, self._names = begin, place, names
        self._bytes = data[begin:place]


@_whole
def read_odometry(data: bytes) -> OdometryRead:
    """
    Return what a serialized Odometry says, without its covariances.

    Raises
    ------
    MessageError
        It is no serialized Odometry.
    """
    order = byte_order(data)
    frame, place = text(data, HEADER + 8, order)
    child, place = text(data, place, order)
    pose, place = _doubles(data, place, order, POSE)
    twist, _ = _doubles(data, place + 8 * COVARIANCE, order, TWIST)
    return OdometryRead(_stamp(data, order), frame, child, pose, twist)


@_whole
def read_accel(data: bytes) -> AccelRead:
    """
    Return what a serialized AccelStamped says.

    Raises
    ------
    MessageError
        It is no serialized AccelStamped.
    """
    order = byte_order(data)
    frame, place = text(data, HEADER + 8, order)
    accel, _ = _doubles(data, place, order, TWIST)
    return AccelRead(_stamp(data, order), frame, accel)


@_whole
def read_trajectory(data: bytes) -> TrajectoryRead:
    """
    Return what a serialized MultiDOFJointTrajectory of one joint says, without accelerations.

    Raises
    ------
    MessageError
        It is no serialized MultiDOFJointTrajectory, or a point has not one transform and one
        velocity.
    """
    order = byte_order(data)
    frame, place = text(data, HEADER + 8, order)
    names, place = _texts(data, place, order)
    place = aligned(place, 4)
    count, = struct.unpack_from(order + 'I', data, place)
    place, points = place + 4, []
    if count > MOST_POINTS:
        raise MessageError(f'{count} points: must have 1 to {MOST_POINTS}')
    if place + POINT * count > len(data):
        raise MessageError(f'cut off: {count} points at byte {place}, and {len(data)} bytes in '
                           'all')
    for k in range(count):
        parts = []
        for field, size, known in (('transforms', POSE, (1,)), ('velocities', TWIST, (1,)),
                                   ('accelerations', TWIST, (0, 1))):
            place = aligned(place, 4)
            many, = struct.unpack_from(order + 'I', data, place)
            if many not in known:
                raise MessageError(f'point {k} has {many} {field}: must have one for the one '
                                   'frame that moves')
            values, place = _doubles(data, place + 4, order, size * many) if many else (
                (), place + 4)
            parts.append(values)
        seconds, nanoseconds = struct.unpack_from(order + 'iI', data, place)
        place += 8
        nanoseconds_of(seconds, nanoseconds, f'time of point {k}')
        points.append((seconds + 1e-9 * nanoseconds, parts[0], parts[1]))
    return TrajectoryRead(_stamp(data, order), frame, names, points)


# how to read a message type of the chain; a factory, because a reader may remember
READERS: dict[type, Callable[[], Callable[[bytes], Any]]] = {
    JointState: JointStateReader,
    Odometry: lambda: read_odometry,
    AccelStamped: lambda: read_accel,
    MultiDOFJointTrajectory: lambda: read_trajectory,
}
