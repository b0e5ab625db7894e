# SPDX-License-Identifier: Apache-2.0
"""Conversion between messages and numbers; invalid messages are rejected with the reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from operator import itemgetter

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose, Quaternion, Twist

from c3p_description.model import Array, CasterRobot
from c3p_ros.cdr import EarlyMessageError, MessageError, OtherJointsError, nanoseconds_of
from c3p_ros.chain_messages import JointFields
from c3p_ros.wire import check_finite

# largest deviation of a quaternion's length from one
QUATERNION_TOLERANCE = 0.01

# plausibility limit of every angle, rate, torque and acceleration, SI units
LARGEST_VALUE = 1e9


def stamp_to_ns(stamp: Time) -> int:
    """Return a message stamp in nanoseconds; errors as in `nanoseconds_of`."""
    return nanoseconds_of(stamp.sec, stamp.nanosec)


def ns_to_stamp(nanoseconds: int) -> Time:
    """Return nanoseconds as a message stamp."""
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def check_age(stamp_ns: int, now_ns: int, max_age: float, max_ahead: float = 0.1) -> None:
    """
    Reject a stamp older than `max_age` or further ahead than `max_ahead` seconds.

    Parameters
    ----------
    stamp_ns, now_ns : int, ns
        Of the message, and now by the same clock.
    max_age, max_ahead : float, s

    Raises
    ------
    MessageError
        With the age and the limit in seconds.
    """
    age = (now_ns - stamp_ns) * 1e-9
    if age > max_age:
        raise MessageError(f'stale: {age:.3f} s old, at most {max_age:.3f} s')
    if age < -max_ahead:
        raise MessageError(f'from the future: {-age:.3f} s ahead, at most {max_ahead:.3f} s; '
                           'are the clocks synchronised?')


def yaw_of(orientation: Quaternion, where: str) -> float:
    """
    Return the yaw of a quaternion, rad.

    Raises
    ------
    MessageError
        Not finite or not of unit length; an all-zero one means that the field was never filled.
    """
    return yaw_of_parts((orientation.x, orientation.y, orientation.z, orientation.w), where)


def yaw_of_parts(parts: Sequence[float], where: str) -> float:
    """Return the yaw of a quaternion (x, y, z, w); errors as `yaw_of`."""
    x, y, z, w = parts
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if not abs(length - 1.0) <= QUATERNION_TOLERANCE:
        raise MessageError(f'{where} = {list(parts)}: not a rotation (its length is '
                           f'{length:.3g}); for no rotation send w = 1')
    # of roll, pitch and yaw about fixed axes (REP 103); the length does not matter
    return math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)


def quaternion_of(yaw: float) -> Quaternion:
    """Return the rotation by `yaw` about z."""
    return Quaternion(z=math.sin(0.5 * yaw), w=math.cos(0.5 * yaw))


def pose_numbers(pose: Array) -> list[float]:
    """Return position and quaternion (x, y, z, w) of (x, y, yaw): seven numbers."""
    half = 0.5 * pose[2]
    return [pose[0], pose[1], 0.0, 0.0, 0.0, math.sin(half), math.cos(half)]


def twist_of(message: Twist, where: str) -> Array:
    """
    Return (vx, vy, ω) of a Twist; the parts that a planar robot cannot follow must be finite too.

    Raises
    ------
    MessageError
        A component that is not finite, named with its value.
    """
    linear = message.linear
    angular = message.angular
    return planar((linear.x, linear.y, linear.z, angular.x, angular.y, angular.z), where)


def planar(parts: Sequence[float], where: str) -> Array:
    """
    Return (vx, vy, ω) of six numbers, linear and angular; all must be finite.

    Raises
    ------
    MessageError
        A component that is not finite, named with its value.
    """
    if not sum(map(abs, parts)) <= LARGEST_VALUE:
        for i, value in enumerate(parts):
            if not abs(value) <= LARGEST_VALUE:
                name = f'{("linear", "angular")[i // 3]}.{"xyz"[i % 3]}'
                raise MessageError(f'{where}.{name} = {value}: must be finite and at most '
                                   f'{LARGEST_VALUE:g}')
    return np.array([parts[0], parts[1], parts[5]])


def fill_twist(message: Twist, twist: Array, topic: str = 'cmd_vel') -> Twist:
    """
    Write (vx, vy, ω) into `message` and return it.

    Raises
    ------
    PublishError
        A number that is not finite, with `topic`.
    """
    check_finite(topic, 'twist', twist, ('vx', 'vy', 'yaw rate'))
    message.linear.x, message.linear.y = float(twist[0]), float(twist[1])
    message.angular.z = float(twist[2])
    return message


def pose_of(pose: Pose, where: str) -> Array:
    """
    Return (x, y, yaw) of a pose.

    Raises
    ------
    MessageError
        A coordinate that is not finite, or an orientation that is not a rotation.
    """
    position = pose.position
    turn = pose.orientation
    return planar_pose((position.x, position.y, position.z, turn.x, turn.y, turn.z, turn.w), where)


def planar_pose(parts: Sequence[float], where: str) -> Array:
    """Return (x, y, yaw) of seven numbers, position and quaternion; errors as `pose_of`."""
    x = parts[0]
    y = parts[1]
    if not abs(x) + abs(y) <= LARGEST_VALUE:
        raise MessageError(f'{where}.position = ({x}, {y}): must be finite and at most '
                           f'{LARGEST_VALUE:g}')
    return np.array([x, y, yaw_of_parts(parts[3:], f'{where}.orientation')])


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


def picker(places: Sequence[int]) -> Callable[[Sequence[float]], tuple[float, ...]]:
    """
    Return a function that picks the values at these places of a sequence.

    >>> picker([2, 0])((5.0, 6.0, 7.0)), picker([1])((5.0, 6.0)), picker([])(())
    ((7.0, 5.0), (6.0,), ())
    """
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[place] for place in places)


class _Fields:
    """
    Selects the values of some joints from JointState messages with any order of joints.

    On a `shared` topic other devices publish their joints, too.
    """

    def __init__(self, wanted: list[str], shared: bool = False) -> None:
        self._wanted = wanted
        self._shared = shared
        # of the last message; a first one without names is not known either
        self._names: tuple[str, ...] | None = None
        # NaN is not known yet until the first complete message
        self._begun = False

    def __call__(self, message: JointFields, *fields: str) -> Array:
        """Return the values of one field after the other."""
        # plain tuples: for a handful of joints they are several times faster than arrays
        names = message.name
        picked: tuple[float, ...] = ()
        # one writer or reader names them by the same tuple
        if names is not self._names and tuple(names) != self._names:
            self._learn(names)
        for field in fields:
            values = getattr(message, field)
            if len(values) != len(names):
                raise MessageError(f'{field} has {len(values)} values for {len(names)} names')
            picked += self._pick(values)
        if not sum(map(abs, picked)) <= LARGEST_VALUE:
            self._name_culprit(fields, picked)
        self._begun = True
        return np.array(picked)

    def _name_culprit(self, fields: Sequence[str], picked: Sequence[float]) -> None:
        for (field, joint), value in zip(product(fields, self._wanted), picked, strict=True):
            if not abs(value) <= LARGEST_VALUE:
                early = not self._begun and math.isnan(value)
                raise (EarlyMessageError if early else MessageError)(
                    f'{field} of {joint} is {value}: must be finite and at most '
                    f'{LARGEST_VALUE:g}')

    def _learn(self, names: Sequence[str]) -> None:
        """Find the places of the joints."""
        missing = [name for name in self._wanted if name not in names]
        if missing:
            # joints that were never complete may have other names in the driver
            others = (self._shared and self._begun and len(names) > 0
                      and len(missing) == len(self._wanted))
            raise (OtherJointsError if others else MessageError)(
                f'joints {missing} are missing; the message names {list(names[:12])}')
        doubled = sorted({name for name in self._wanted if names.count(name) > 1})
        if doubled:
            raise MessageError(f'joints {doubled} are named more than once')
        self._names = tuple(names)
        self._pick = picker([names.index(name) for name in self._wanted])


class JointCoding:
    """
    Conversion between JointState messages and the angles of the model.

    Parameters
    ----------
    robot : CasterRobot
        Gives joint names, signs and zero angles.
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Store names and signs."""
        self.robot = robot
        self.names = list(robot.joint_places)
        # of a robot on ordinary casters all, in order
        self._places = np.array(list(robot.joint_places.values()))
        self._sign = np.concatenate([robot.steering_sign, robot.wheel_sign])
        self._zero = np.concatenate([robot.steering_zero, np.zeros(robot.count)])
        # of position and velocity, one behind the other
        self._both_signs = np.tile(self._sign, 2)
        self._both_zeros = np.concatenate([self._zero, np.zeros(2 * robot.count)])
        # of joints without an encoder a message need not have values
        self._fields = _Fields(list(robot.sensed_joints), shared=True)
        self._sensed = robot.sensed
        self._all_sensed = len(self._sensed) == 2 * robot.count

    def _complete(self, values: Array, fields: int) -> Array:
        """Return the values of `fields` for all joints: 0 for those without an encoder."""
        complete = np.zeros((fields, 2 * self.robot.count))
        complete[:, self._sensed] = values.reshape(fields, -1)
        return complete.ravel()

    def read(self, message: JointFields) -> tuple[Array, Array, Array, Array]:
        """
        Return ``steering, steering_rate, wheel_angle, wheel_rate`` of the model, rad and rad/s.

        Raises
        ------
        MessageError
            Missing or doubled joints, wrong sizes, values that are not finite: each named.
        """
        values = self._fields(message, 'position', 'velocity')
        if not self._all_sensed:
            values = self._complete(values, 2)
        values *= self._both_signs
        values += self._both_zeros
        n = self.robot.count
        return values[:n], values[2 * n:3 * n], values[n:2 * n], values[3 * n:]

    def positions(self, message: JointFields) -> tuple[Array, Array]:
        """
        Return ``steering, wheel_angle`` of the model, rad; velocities may be missing.

        Raises
        ------
        MessageError
            As `read`.
        """
        position = self._fields(message, 'position')
        if not self._all_sensed:
            position = self._complete(position, 1)
        position = self._sign * position + self._zero
        return position[:self.robot.count], position[self.robot.count:]

    def encode(self, steering: Array, steering_rate: Array, wheel_angle: Array,
               wheel_rate: Array, wheel_torque: Array) -> tuple[Array, Array, Array]:
        """
        Return position, velocity and effort of `names`; passive steering carries no effort.

        Parameters
        ----------
        steering, steering_rate : (n,) array, rad and rad/s
        wheel_angle, wheel_rate : (n,) array, rad and rad/s
        wheel_torque : (robot.efforts,) array, N·m
        """
        n = self.robot.count
        robot = self.robot
        values = np.concatenate([steering, wheel_angle, steering_rate, wheel_rate])
        values -= self._both_zeros
        values *= self._both_signs
        effort = np.zeros(2 * n)
        effort[n:] = wheel_torque[:n] * robot.wheel_sign
        if robot.efforts != n:
            effort[:n] = wheel_torque[n:] * robot.steering_sign
        return (values[:2 * n][self._places], values[2 * n:][self._places],
                effort[self._places])


class EffortCoding:
    """
    Conversion between the efforts of JointState messages and torques of the model, N·m.

    The joints are those of the wheels and, with steering motors, the steering joints; each is
    named once, and a fixed wheel has no steering joint. A message
    from ros2_control's topic bridge names all joints and gives efforts for those with motors
    alone; it is refused, because which effort belongs to which joint would be a guess.
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Store names and signs."""
        self.names = list(robot.effort_places)
        self._places = np.array(list(robot.effort_places.values()))
        self._sign = robot.effort_sign[self._places]
        self._efforts = robot.efforts
        self._fields = _Fields(self.names)

    def read(self, message: JointFields) -> Array:
        """
        Return the torques (robot.efforts,), N·m; 0 where no joint is.

        Raises
        ------
        MessageError
            As `JointCoding.read`.
        """
        torque = np.zeros(self._efforts)
        torque[self._places] = self._fields(message, 'effort') * self._sign
        return torque

    def encode(self, torque: Array) -> Array:
        """Return the efforts of `names` for torques of the model, N·m."""
        return torque[self._places] * self._sign
