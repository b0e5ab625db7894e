# SPDX-License-Identifier: Apache-2.0
"""
Writers of the messages of the control chain, straight to the wire; their readers are beside it.

rclpy makes a Python object of every field of a message, covariances included; an Odometry costs it
50 µs, of which the chain needs thirteen numbers. A raw subscription delivers the serialized
message instead, and a reader (wire_readers.py) unpacks what a control cycle needs of it in 1 to
3 µs. The layout (cdr.py) of a message is found again only if a text or a count differs.

A writer has two steps. `message` checks the numbers and returns an immutable value, which the
nodes of this process get; PublishError names a number that is not finite. `serialize` writes that
value for other processes, later and in any thread: no step changes the writer's blank message.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import cos, isfinite, sin
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_ros.cdr import HEADER, POSE, TWIST, MessageError, PublishError, layout_of, serialized
from c3p_ros.chain_messages import (
    AccelMessage,
    ChainMessage,
    JointStateMessage,
    OdometryMessage,
    TrajectoryMessage,
)
from c3p_ros.wire_readers import ACCEL, JOINTS, ODOMETRY, READERS, TRAJECTORY, Reader

__all__ = ['READERS', 'AccelWriter', 'JointStateWriter', 'PlanarOdometryWriter', 'Reader',
           'TrajectoryWriter', 'Writer', 'check_finite', 'finite_numbers']

# names and places of a planar motion among six numbers, linear and angular
AXES, PLANAR = ('x', 'y', 'yaw'), [0, 1, 5]
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
    if np.isfinite(values).all():
        return
    for place, value in enumerate(values.ravel().tolist()):
        if not isfinite(value):
            where = names[place] if len(names) == values.size else place
            raise PublishError(topic, f'{field}[{where}] = {value}: must be finite; check the '
                                      'parameters, the robot description and the inputs of the '
                                      'node')


def finite_numbers(topic: str, field: str, values: ArrayLike, names: Sequence[str] = ()
                   ) -> tuple[float, ...]:
    """Return the numbers of an array; parameters and PublishError as for `check_finite`."""
    numbers = np.asarray(values, float).ravel().tolist()
    # the sum is not finite if one of them is not; of finite numbers it may be infinite
    if not isfinite(sum(numbers)):
        check_finite(topic, field, values, names)
    return tuple(numbers)


class Writer(ABC):
    """
    Messages of a topic, of which the stamp and the numbers change; base of the writers.

    Attributes
    ----------
    refusal : str
        Limit of received messages (cdr.py) that every message of this writer exceeds: subscribers
        of this process reject it as those of others do. Empty where none is exceeded.
    """

    def __init__(self, kind: str, topic: str, **values: Any) -> None:
        """Serialize a blank message with texts and counts as for `cdr.serialized`."""
        self._topic = topic
        self._blank = serialized(kind, values)
        self._layout = layout_of(bytes(self._blank), kind, limited=False)
        self._stamped = 'stamp' in self._layout.fields
        self.refusal = ''
        try:
            layout_of(bytes(self._blank), kind)
        except MessageError as error:
            self.refusal = f'{error}'

    @abstractmethod
    def message(self, *arguments: Any, **values: Any) -> ChainMessage:
        """Return the checked message as a value; its arguments are those of the writer."""

    def serialize(self, message: Any) -> bytes:
        """Return a message of this writer as CDR."""
        data = bytearray(self._blank)
        if self._stamped:
            struct.pack_into('<iI', data, HEADER, *divmod(message.stamp, 1_000_000_000))
        self._fill(data, message)
        return bytes(data)

    def __call__(self, *arguments: Any, **values: Any) -> bytes:
        """Return the checked message as CDR."""
        return self.serialize(self.message(*arguments, **values))

    @abstractmethod
    def _fill(self, data: bytearray, message: Any) -> None:
        """Write the numbers of a message into a blank one."""

    def _span(self, *names: str) -> tuple[int, int]:
        """Return the count of the doubles of adjacent fields, and the place of the first."""
        slots = [self._layout.fields[name] for name in names]
        return sum(slot.count for slot in slots), slots[0].place


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
        self._names = tuple(names)
        self._unknown = tuple(unknown)
        super().__init__(JOINTS, topic, name=self._names, **dict.fromkeys(fields, len(names)))
        zeros = (0.0,) * len(names)
        self._zeros = dict.fromkeys(fields, zeros)
        self._fields: dict[str, tuple[float, ...]] = {
            'position': (), 'velocity': (), 'effort': (), **self._zeros}
        self._spans = {field: self._span(field) for field in fields}

    def message(self, stamp: int, **values: ArrayLike) -> JointStateMessage:
        """
        Return the message with this stamp (ns) and values, one array per field, else zeros.

        Raises
        ------
        PublishError
            A value that is not finite, with its joint.
        ValueError
            Not one value for each joint.
        """
        fields = dict(self._fields)
        for field, numbers in values.items():
            known = (np.where(np.isnan(numbers), 0.0, numbers) if field in self._unknown
                     else numbers)
            checked = finite_numbers(self._topic, field, known, self._names)
            if len(checked) != len(self._zeros[field]):
                raise ValueError(f'{self._topic}: {field} has {len(checked)} values; must have '
                                 f'one for each of the {len(self._names)} joints')
            fields[field] = (checked if known is numbers else
                             tuple(np.asarray(numbers, float).tolist()))
        return JointStateMessage(stamp, self._names, **fields)

    def _fill(self, data: bytearray, message: JointStateMessage) -> None:
        for field, span in self._spans.items():
            np.frombuffer(data, '<f8', *span)[:] = getattr(message, field)


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
        self._frames = frame_id, child_frame_id
        self._covariances: tuple[tuple[float, ...], tuple[float, ...]] = (), ()
        self._every = self._span('pose', 'pose_covariance', 'twist', 'twist_covariance')
        self._motion = np.array(MOTION)
        self._all = np.array(MOTION + COVARIANCES)
        if unobserved is not None:
            for field in ('pose_covariance', 'twist_covariance'):
                np.frombuffer(self._blank, '<f8', *self._span(field))[:] = unobserved

    def message(self, stamp: int, pose: Array, twist: Array,
                pose_covariance: Array | None = None, twist_covariance: Array | None = None
                ) -> OdometryMessage:
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
        x, y, yaw = pose.tolist()
        vx, vy, yaw_rate = twist.tolist()
        covariances = self._covariances
        if pose_covariance is not None and twist_covariance is not None:
            covariances = (tuple(pose_covariance.ravel().tolist()),
                           tuple(twist_covariance.ravel().tolist()))
        # of finite numbers the sum may be infinite: then each is looked at
        if not isfinite(x + y + yaw + vx + vy + yaw_rate + sum(covariances[0])
                        + sum(covariances[1])):
            check_finite(self._topic, 'pose', pose, ('x', 'y', 'yaw'))
            check_finite(self._topic, 'twist', twist, ('vx', 'vy', 'yaw rate'))
            check_finite(self._topic, 'covariance', covariances[0] + covariances[1])
        self._covariances = covariances
        return OdometryMessage(
            stamp, *self._frames, (x, y, 0.0, 0.0, 0.0, sin(0.5 * yaw), cos(0.5 * yaw)),
            (vx, vy, 0.0, 0.0, 0.0, yaw_rate), *covariances)

    def _fill(self, data: bytearray, message: OdometryMessage) -> None:
        pose = message.pose
        twist = message.twist
        places = self._all if message.pose_covariance else self._motion
        np.frombuffer(data, '<f8', *self._every)[places] = (
            *pose[:2], *pose[5:], *twist[:2], *twist[5:], *message.pose_covariance,
            *message.twist_covariance)


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
        self._frame_id = frame_id
        self._accel = self._span('accel')

    def message(self, stamp: int, accel: ArrayLike) -> AccelMessage:
        """
        Return the message with this stamp (ns) and acceleration (x, y, yaw).

        Raises
        ------
        PublishError
            A number that is not finite.
        """
        x, y, yaw = finite_numbers(self._topic, 'accel', accel, AXES)
        return AccelMessage(stamp, self._frame_id, (x, y, 0.0, 0.0, 0.0, yaw))

    def _fill(self, data: bytearray, message: AccelMessage) -> None:
        np.frombuffer(data, '<f8', *self._accel)[:] = message.accel


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
        self._texts = frame_id, (child_frame_id,)
        slots = self._layout.fields['points']
        stamps = [divmod(round(1e9 * time), 10**9) for time in times]
        for stamp, (_, _, slot) in zip(stamps, slots, strict=True):
            struct.pack_into('<iI', self._blank, slot.place, *stamp)
        # as a reader finds them: whole nanoseconds
        parts = np.array(stamps, float).reshape(-1, 2)
        self._time = parts[:, 0] + 1e-9 * parts[:, 1]
        self._time.flags.writeable = False
        # doubles are at multiples of eight behind the header
        first = np.array([[pose.place, rate.place] for pose, rate, _ in slots], int)
        first = (first.reshape(-1, 2) - HEADER) // 8
        self._pose = first[:, :1] + np.arange(POSE)
        self._rate = first[:, 1:] + np.arange(TWIST)

    def message(self, stamp: int, pose: ArrayLike, velocity: ArrayLike) -> TrajectoryMessage:
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
        places = np.asarray(pose, float).reshape(-1, 3)
        half = 0.5 * places[:, 2]
        transforms = np.zeros((len(self._time), POSE))
        transforms[:, :2] = places[:, :2]
        transforms[:, 5] = np.sin(half)
        transforms[:, 6] = np.cos(half)
        velocities = np.zeros((len(self._time), TWIST))
        velocities[:, PLANAR] = velocity
        transforms.flags.writeable = velocities.flags.writeable = False
        return TrajectoryMessage(stamp, *self._texts, self._time, transforms, velocities)

    def _fill(self, data: bytearray, message: TrajectoryMessage) -> None:
        every = np.frombuffer(data, '<f8', (len(data) - HEADER) // 8, HEADER)
        every[self._pose] = message.transforms
        every[self._rate] = message.velocities
