# SPDX-License-Identifier: Apache-2.0
"""
Newest message of each topic, decoded on request.

Messages come two hundred times a second and pictures twenty times: a message that is not drawn is
not decoded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.storage.bag_writer import message_types
from c3p_description.model import Array
from c3p_ros.cdr import MOST_BYTES, MessageError

# age from which on a message is not used, s
LASTS = 0.5
# limits of c3p_ros.messages, which needs ROS 2: of values, and of the length of a quaternion
LARGEST = 1e9
QUATERNION_TOLERANCE = 0.01


class Received(NamedTuple):
    """A serialized message, its type, and the time of its arrival, s."""

    kind: str
    data: bytes
    time: float


class NewestMessages:
    """
    Keeps the newest message of each topic, serialized.

    Parameters
    ----------
    topics : mapping
        Topic → usual message type.
    lasts : float, s
        Age from which on a message is not used.
    refuse : callable
        Called once with topic and reason for a message that cannot be used.
    large : collection of str
        Topics whose messages may have more than `MOST_BYTES`.
    """

    def __init__(self, topics: Mapping[str, str], lasts: float = LASTS,
                 refuse: Callable[[str, object], None] = lambda topic, reason: None,
                 large: Sequence[str] = ()) -> None:
        """Begin without messages."""
        self._topics = topics
        self._lasts = lasts
        self._refuse = refuse
        self._large = large
        self._types = message_types()
        self._received: dict[str, Received] = {}
        self._read: dict[str, tuple[Received, Any]] = {}

    def put(self, topic: str, data: bytes, time: float, kind: str | None = None) -> None:
        """
        Take a message.

        Parameters
        ----------
        topic : str
            Without namespace; topics that are not used are ignored.
        data : bytes
            As on the wire.
        time : float, s
            Of arrival, of a clock of the caller's choice.
        kind : str, optional
            Its type, if it is not the usual one.
        """
        if topic in self._topics:
            self._received[topic] = Received(kind or self._topics[topic], data, time)

    def clear(self) -> None:
        """Forget all messages."""
        self._received.clear()
        self._read.clear()

    def received(self, topic: str) -> Received | None:
        """Return the newest message of a topic as it came."""
        return self._received.get(topic)

    def value(self, topic: str, now: float, use: Callable[[Any], Any]) -> Any:
        """
        Return what `use` makes of the newest message of a topic; None if it is old or unusable.

        Parameters
        ----------
        topic : str
        now : float, s
            By the clock of `put`; infinite accepts any age.
        use : callable
            Takes the decoded message; raises MessageError for one that cannot be used.
        """
        received = self._received.get(topic)
        if received is None or (math.isfinite(now) and now - received.time > self._lasts):
            return None
        try:
            return use(self._decoded(topic, received))
        except MessageError as error:
            self._refuse(topic, error)
            # refused once, and not with every picture
            del self._received[topic]
            return None

    def _decoded(self, topic: str, received: Received) -> Any:
        """Return the message; one that is used several times is decoded once."""
        before, message = self._read.get(topic, (None, None))
        if before is received:
            return message
        if len(received.data) > MOST_BYTES and topic not in self._large:
            raise MessageError(f'{len(received.data)} bytes: must be at most {MOST_BYTES}')
        try:
            message = self._types.deserialize_cdr(received.data, received.kind)
        # whatever bytes of another program raise
        except Exception as error:
            raise MessageError(f'not a {received.kind}: {error}') from error
        self._read[topic] = received, message
        return message


def picked(message: Any, names: Sequence[str], field: str) -> Array:
    """
    Return the values of some joints of a JointState.

    Raises
    ------
    MessageError
        A joint is missing, the field has another length, or a value is not finite.
    """
    at = {name: k for k, name in enumerate(message.name)}
    missing = [name for name in names if name not in at]
    if missing:
        raise MessageError(f'joints {missing} are missing; the message names '
                           f'{list(message.name)[:12]}')
    values = np.asarray(getattr(message, field), float)
    if len(values) != len(message.name):
        raise MessageError(f'{field} has {len(values)} values for {len(message.name)} names')
    return finite(values[[at[name] for name in names]], field)


def rates(message: Any, names: Sequence[str]) -> Array:
    """Return the velocities of some joints of a JointState; zeros where they are missing."""
    try:
        return picked(message, names, 'velocity')
    except MessageError:
        # sliders of joint_state_publisher_gui publish positions only
        return np.zeros(len(names))


def finite(values: Any, where: str) -> Array:
    """Return values as an array; MessageError if one is not finite or too large for a robot."""
    array = np.asarray(values, float)
    if not (np.abs(array) <= LARGEST).all():
        raise MessageError(f'{where} = {array.tolist()}: must be finite, at most {LARGEST:g}')
    return array


def stamp_of(header: Any) -> int:
    """Return the stamp of a header, ns; MessageError for a second or more of nanoseconds."""
    if header.stamp.nanosec >= 1_000_000_000:
        raise MessageError(f'stamp: {header.stamp.nanosec} nanoseconds: must be less than '
                           '1000000000')
    return int(header.stamp.sec) * 1_000_000_000 + int(header.stamp.nanosec)


def spatial_pose(pose: Any) -> Array:
    """Return position and quaternion x, y, z, w (7,) of a Pose; MessageError without rotation."""
    p = pose.position
    q = pose.orientation
    values = finite((p.x, p.y, p.z, q.x, q.y, q.z, q.w), 'pose')
    length = float(np.linalg.norm(values[3:]))
    if not abs(length - 1.0) <= QUATERNION_TOLERANCE:
        raise MessageError(f'orientation = {values[3:].tolist()}: not a rotation (its length is '
                           f'{length:.3g})')
    return values


def planar_pose(pose: Any) -> Array:
    """Return x, y, yaw (3,) of a Pose; errors as `spatial_pose`."""
    px, py, _, x, y, z, w = spatial_pose(pose)
    return np.array([px, py, math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)])


def spatial_twist(twist: Any) -> Array:
    """Return linear and angular velocity (6,) of a Twist; MessageError if not finite."""
    v = twist.linear
    w = twist.angular
    return finite((v.x, v.y, v.z, w.x, w.y, w.z), 'twist')


def topic_below(topic: str, namespace: str) -> str:
    """
    Return a topic without its namespace.

    Examples
    --------
    >>> topic_below('/robot1/odom', '/robot1'), topic_below('/odom', '')
    ('odom', 'odom')
    """
    return topic.removeprefix(f'{namespace.rstrip("/")}/')
