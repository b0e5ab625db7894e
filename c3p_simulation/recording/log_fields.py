# SPDX-License-Identifier: Apache-2.0
"""
Numbers out of recorded messages: stamp in ns (None where there is none) and values.

A message that cannot be used (other joints, values that are not finite) gives None and is left
out, as the nodes refuse it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from c3p_description.model import Array, CasterRobot

Row = tuple[Any, ...]

# indices of x, y, yaw in ROS' covariances over (x, y, z, roll, pitch, yaw)
PLANAR = np.ix_([0, 1, 5], [0, 1, 5])


def stamp(message: Any) -> int:
    """Return the header's stamp, ns."""
    time = message.header.stamp
    return time.sec * 1_000_000_000 + time.nanosec


def yaw(q: Any) -> float:
    """Return the yaw of a quaternion, rad; its length does not matter."""
    return math.atan2(2.0 * (q.w * q.z + q.x * q.y), q.w**2 + q.x**2 - q.y**2 - q.z**2)


def _picker(wanted: Sequence[str]) -> Callable[[Any], Array | None]:
    """Return what finds the places of `wanted` joints in a message, in whatever order."""
    known: dict[tuple[str, ...], Array | None] = {}

    def places(message: Any) -> Array | None:
        names = tuple(message.name)
        if names not in known:
            known[names] = (np.array([names.index(w) for w in wanted])
                            if all(names.count(w) == 1 for w in wanted) else None)
        return known[names]

    return places


def joint_reader(robot: CasterRobot) -> Callable[[Any], Row | None]:
    """
    Return a reader of JointState messages with all joints of `robot`.

    It gives stamp, steering, steering rate, wheel angle, wheel rate and wheel torque in the
    model's convention; the torque is nan where the message has no effort.
    """
    n = robot.count
    places = _picker([*robot.steering_joints, *robot.wheel_joints])
    sign = np.concatenate([robot.steering_sign, robot.wheel_sign])
    zero = np.concatenate([robot.steering_zero, np.zeros(n)])

    def read(message: Any) -> Row | None:
        order, count = places(message), len(message.name)
        if order is None or len(message.position) != count or len(message.velocity) != count:
            return None
        position = sign * message.position[order] + zero
        velocity = sign * message.velocity[order]
        if not (np.isfinite(position).all() and np.isfinite(velocity).all()):
            return None
        effort = (message.effort[order[n:]] * robot.wheel_sign
                  if len(message.effort) == count else np.full(n, np.nan))
        return stamp(message), position[:n], velocity[:n], position[n:], velocity[n:], effort

    return read


def effort_reader(robot: CasterRobot) -> Callable[[Any], Row | None]:
    """Return a reader of JointState messages that carry wheel efforts: stamp, torque (n,)."""
    places = _picker(robot.wheel_joints)

    def read(message: Any) -> Row | None:
        order = places(message)
        if order is None or len(message.effort) != len(message.name):
            return None
        return stamp(message), message.effort[order] * robot.wheel_sign

    return read


def odometry(message: Any) -> Row | None:
    """Return stamp, pose, twist, their covariances, frame and child frame of an Odometry."""
    pose, twist = message.pose.pose, message.twist.twist
    place = np.array([pose.position.x, pose.position.y, yaw(pose.orientation)])
    speed = np.array([twist.linear.x, twist.linear.y, twist.angular.z])
    if not (np.isfinite(place).all() and np.isfinite(speed).all()):
        return None
    covariances = [np.reshape(m.covariance, (6, 6))[PLANAR]
                   for m in (message.pose, message.twist)]
    return (stamp(message), place, speed, *covariances, message.header.frame_id,
            message.child_frame_id)


def _planar(message: Any, content: Any) -> Row | None:
    value = np.array([content.linear.x, content.linear.y, content.angular.z])
    if not np.isfinite(value).all():
        return None
    return (stamp(message) if hasattr(message, 'header') else None), value


def twist(message: Any) -> Row | None:
    """Return stamp and (vx, vy, ω) of a TwistStamped or a Twist."""
    return _planar(message, getattr(message, 'twist', message))


def acceleration(message: Any) -> Row | None:
    """Return stamp and (ax, ay, α) of an AccelStamped."""
    return _planar(message, message.accel)


def goal(message: Any) -> Row | None:
    """Return stamp, pose (x, y, yaw) and frame of a PoseStamped."""
    place = message.pose.position
    pose = (float(place.x), float(place.y), yaw(message.pose.orientation))
    return (stamp(message), pose, message.header.frame_id) if np.isfinite(pose).all() else None


def scalar(message: Any) -> Row:
    """Return no stamp and the number of a Bool or Float64."""
    return None, float(message.data)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def slip_reader(robot: CasterRobot) -> Callable[[Any], Row | None]:
    """
    Return a reader of the odometry's wheel slip: stamp, residual (n, 2), suspect (n,), confidence.

    The message is a DiagnosticArray with one status per wheel, named ``<node>: <wheel joint>``.
    """
    def read(message: Any) -> Row | None:
        of = {s.name.rsplit(': ', 1)[-1]: {v.key: v.value for v in s.values}
              for s in message.status}
        if not all(joint in of for joint in robot.wheel_joints):
            return None
        wheels = [of[joint] for joint in robot.wheel_joints]
        residual = np.array([[_number(w.get(k, '')) for k in ('along', 'across')]
                             for w in wheels])
        suspect = np.array([w.get('suspect', '').lower() in ('true', '1') for w in wheels])
        confidence = np.array([_number(w.get('confidence', '')) for w in wheels])
        return stamp(message), residual, suspect, confidence

    return read


def diagnostics(message: Any) -> Row:
    """Return stamp and the statuses: (name, level, message, values) of each."""
    return stamp(message), [
        (s.name, int(s.level), s.message, {v.key: v.value for v in s.values})
        for s in message.status]
