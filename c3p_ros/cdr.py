# SPDX-License-Identifier: Apache-2.0
"""
Plain CDR, the encoding of messages: layouts of the suite's messages as data. Needs no ROS.

Each value is aligned to its size, counted from behind the four bytes of the header; texts have
their length and a final zero (OMG DDS-RTPS 2.5, 10.2). Texts and counts of a topic rarely change,
numbers do: `layout_of` finds the place of each number in one message, and the layout holds for all
messages with the same texts and counts. wire.py reads and writes single messages of the control
chain with it, cdr_arrays.py many recorded ones.

Counts are checked before what they count is read, so that a message of a million names costs no
more than a short one.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

# bytes before the body; those of a little-endian message
HEADER = 4
LITTLE = b'\0\1\0\0'

# limits of received messages: bytes of a message read as an object and of a text, names of a
# message or numbers of a field, points of a trajectory
MOST_BYTES = 2**18
MOST_TEXT = 1000
MOST_NAMES = 400
MOST_POINTS = 200

# doubles of a pose (position, quaternion), of a twist (linear, angular), of a covariance
POSE = 7
TWIST = 6
COVARIANCE = 36

# form of a field: 'stamp', 'text', 'texts', 'doubles' (a sequence), 'bool', 'points' (of a
# trajectory of one frame: transform, velocity, perhaps acceleration, time), or a number of doubles
Form = str | int
_STAMPED = (('stamp', 'stamp'), ('frame_id', 'text'))
LAYOUTS: dict[str, tuple[tuple[str, Form], ...]] = {
    'sensor_msgs/msg/JointState': (*_STAMPED, ('name', 'texts'), ('position', 'doubles'),
                                   ('velocity', 'doubles'), ('effort', 'doubles')),
    'nav_msgs/msg/Odometry': (*_STAMPED, ('child_frame_id', 'text'), ('pose', POSE),
                              ('pose_covariance', COVARIANCE), ('twist', TWIST),
                              ('twist_covariance', COVARIANCE)),
    'trajectory_msgs/msg/MultiDOFJointTrajectory': (*_STAMPED, ('name', 'texts'),
                                                    ('points', 'points')),
    'geometry_msgs/msg/TwistStamped': (*_STAMPED, ('twist', TWIST)),
    'geometry_msgs/msg/Twist': (('twist', TWIST),),
    'geometry_msgs/msg/AccelStamped': (*_STAMPED, ('accel', TWIST)),
    'geometry_msgs/msg/PoseStamped': (*_STAMPED, ('pose', POSE)),
    'sensor_msgs/msg/Imu': (*_STAMPED, ('orientation', 4), ('orientation_covariance', 9),
                            ('angular_velocity', 3), ('angular_velocity_covariance', 9),
                            ('linear_acceleration', 3), ('linear_acceleration_covariance', 9)),
    'std_msgs/msg/Bool': (('data', 'bool'),),
    'std_msgs/msg/Float64': (('data', 1),),
}


class MessageError(ValueError):
    """A message that must not be used; the text has field, value and expectation."""


class EarlyMessageError(MessageError):
    """
    A message before the system has started.

    Its values are NaN, as ros2_control sends them at first, or there is no simulated time yet.
    """


class OtherJointsError(MessageError):
    """
    Joint states without any of the robot's joints, after complete ones.

    Another device publishes on the same topic, as the driver of an arm does.
    """


class PublishError(ValueError):
    """
    A message that must not be published.

    Parameters
    ----------
    topic : str
    text : str
        Field, value and remedy.
    """

    def __init__(self, topic: str, text: str) -> None:
        """Join both into the error text."""
        super().__init__(f'{topic}: {text}')
        self.topic = topic
        self.text = text


def nanoseconds_of(seconds: int, nanoseconds: int, what: str = 'stamp') -> int:
    """
    Return a time of two parts in nanoseconds.

    Parameters
    ----------
    seconds, nanoseconds : int
    what : str
        For the error.

    Raises
    ------
    MessageError
        A second or more of nanoseconds: no message could carry the sum on.
    """
    if nanoseconds >= 1_000_000_000:
        raise MessageError(f'{what}: {nanoseconds} nanoseconds: must be less than 1000000000')
    return seconds * 1_000_000_000 + nanoseconds


def byte_order(data: bytes) -> str:
    """Return the byte order of a message, ``<`` or ``>``; MessageError unless plain CDR."""
    if len(data) < HEADER or data[0] != 0 or data[1] not in (0, 1):
        raise MessageError(f'not plain CDR: it begins with {data[:HEADER].hex()}')
    return '<' if data[1] else '>'


def aligned(place: int, size: int) -> int:
    """Return the next place for a value of `size` bytes."""
    return place + (HEADER - place) % size


class Slot(NamedTuple):
    """Numbers of a field: 'stamp', 'bool' or 'double', first byte, and how many of them."""

    kind: str
    place: int
    # hides the method of tuples, which are never called on a slot
    count: int  # type: ignore[assignment]

    @property
    def end(self) -> int:
        """The byte behind the last number."""
        return self.place + (self.count if self.kind == 'bool' else
                             (4 if self.kind == 'stamp' else 8) * self.count)


class Layout(NamedTuple):
    """
    Places of the fields of a message, and of all that have the same texts and counts.

    Attributes
    ----------
    order : str
        Byte order, ``<`` or ``>``.
    fields : dict
        Text, list of texts, Slot, or for points a list of (transform, velocity, time) slots.
    same : list of slice
        Bytes that determine the layout: header, texts and counts.
    size : int, bytes
    """

    order: str
    fields: dict[str, Any]
    same: list[slice]
    size: int


class Cursor:
    """
    Position in a serialized message; notes the bytes that determine its layout.

    Parameters
    ----------
    data : bytes
    limited : bool
        Apply the limits of received messages; recorded ones are limited by their length alone.

    Raises
    ------
    MessageError
        It is not plain CDR; `struct.error` from every method where the message is cut off.
    """

    def __init__(self, data: bytes, limited: bool = True) -> None:
        """Start behind the header."""
        self.data, self.order, self.place = data, byte_order(data), HEADER
        self._limited, self.same = limited, [slice(0, 2)]

    def numbers(self, kind: str, size: int, count: int) -> Slot:
        """Pass numbers of `size` bytes each and return where they are."""
        begin = aligned(self.place, size) if count else self.place
        self.place = begin + size * count
        if self.place > len(self.data):
            raise struct.error(f'{count} numbers at byte {begin}, and {len(self.data)} bytes in '
                               'all')
        return Slot(kind, begin, count)

    def count(self, what: str = '', most: float = math.inf) -> int:
        """Pass a count and return it; MessageError above `most` of `what`."""
        begin = aligned(self.place, 4)
        value, = struct.unpack_from(self.order + 'I', self.data, begin)
        self.place = begin + 4
        self.same.append(slice(begin, self.place))
        if self._limited and value > most:
            raise MessageError(f'{value} {what}: must be at most {most}')
        return value

    def text(self) -> str:
        """Pass a text and return it."""
        length = self.count()
        begin = self.place
        self.place = self.place + length
        if self._limited and length > MOST_TEXT:
            raise MessageError(f'a string of {length} bytes at byte {begin - 4}: must have at '
                               f'most {MOST_TEXT}')
        if self.place > len(self.data):
            raise struct.error(f'a string of {length} bytes at byte {begin - 4}, and '
                               f'{len(self.data)} bytes in all')
        self.same.append(slice(begin, self.place))
        return bytes(self.data[begin:self.place - 1]).decode('utf-8', 'replace')

    def field(self, form: Form) -> Any:
        """Pass a field and return it as in `Layout.fields`."""
        match form:
            case 'stamp':
                return self.numbers('stamp', 4, 2)
            case 'text':
                return self.text()
            case 'texts':
                return [self.text() for _ in range(self.count('names', MOST_NAMES))]
            case 'bool':
                return self.numbers('bool', 1, 1)
            case 'doubles':
                return self.numbers('double', 8, self.count('numbers in a field', MOST_NAMES))
            case 'points':
                return [self._point(k) for k in range(self.count('points', MOST_POINTS))]
            case _:
                return self.numbers('double', 8, int(form))

    def _point(self, k: int) -> tuple[Slot, Slot, Slot]:
        found = []
        for field, size, known in (('transforms', POSE, (1,)), ('velocities', TWIST, (1,)),
                                   ('accelerations', TWIST, (0, 1))):
            if (many := self.count()) not in known:
                raise MessageError(f'point {k} has {many} {field}: must have one for the one '
                                   'frame that moves')
            found.append(self.numbers('double', 8, size * many))
        return found[0], found[1], self.numbers('stamp', 4, 2)


def layout_of(data: bytes, kind: str, limited: bool = True) -> Layout:
    """
    Return the layout of a message of the type `kind`, one of `LAYOUTS`.

    Raises
    ------
    MessageError
        It is not such a message, is cut off, or exceeds a limit.
    """
    cursor = Cursor(data, limited)
    try:
        fields = {name: cursor.field(form) for name, form in LAYOUTS[kind]}
    except struct.error as error:
        raise MessageError(f'cut off: {error}') from error
    return Layout(cursor.order, fields, _merged(cursor.same), cursor.place)


def _merged(parts: Sequence[slice]) -> list[slice]:
    """Return adjacent slices as one; at most three bytes of padding are between them."""
    merged = list(parts[:1])
    for part in parts[1:]:
        if part.start - merged[-1].stop < 4:
            merged[-1] = slice(merged[-1].start, part.stop)
        else:
            merged.append(part)
    return merged


def serialized(kind: str, values: Mapping[str, Any]) -> bytearray:
    """
    Return a little-endian message of the type `kind` with zeros for all numbers.

    Parameters
    ----------
    kind : str
        One of `LAYOUTS`.
    values : mapping
        Text, sequence of texts, or the count of a sequence of doubles or points; empty or 0 for
        fields that are left out.
    """
    data = bytearray(LITTLE)

    def put(code: str, size: int, *numbers: float) -> None:
        data.extend(bytes(aligned(len(data), size) - len(data)) + struct.pack(
            f'<{code}', *numbers))

    def doubles(count: int) -> None:
        if count:
            put(f'{8 * count}x', 8)

    def text(value: str) -> None:
        coded = value.encode() + b'\0'
        put('I', 4, len(coded))
        data.extend(coded)

    for name, form in LAYOUTS[kind]:
        value = values.get(name)
        match form:
            case 'stamp':
                put('8x', 4)
            case 'text':
                text(value or '')
            case 'texts':
                put('I', 4, len(value or ()))
                for one in value or ():
                    text(one)
            case 'bool':
                put('x', 1)
            case 'doubles':
                put('I', 4, value or 0)
                doubles(value or 0)
            case 'points':
                put('I', 4, value or 0)
                for _ in range(value or 0):
                    # one transform, one velocity, no acceleration, and the time
                    for many, size in ((1, POSE), (1, TWIST), (0, 0)):
                        put('I', 4, many)
                        doubles(size)
                    put('8x', 4)
            case _:
                doubles(int(form))
    return data
