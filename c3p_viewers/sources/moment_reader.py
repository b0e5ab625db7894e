# SPDX-License-Identifier: Apache-2.0
"""Moments from serialized messages as they come: of live topics, or of a bag that is played."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.storage.bags import message_types
from c3p_description.model import Array, CasterRobot
from c3p_ros.cdr import MessageError
from c3p_ros.wheel_slip import KIND as SLIP_KIND
from c3p_ros.wheel_slip import TOPIC as SLIP
from c3p_ros.wheel_slip import read_slip
from c3p_viewers.sources.moment import Moment

# what a moment is made of: only the first is needed. The types are the usual ones; `put` is told
# those that are published
TOPICS: Mapping[str, str] = {
    'joint_states': 'sensor_msgs/msg/JointState', 'odom': 'nav_msgs/msg/Odometry',
    'ground_truth/odom': 'nav_msgs/msg/Odometry', 'cmd_vel': 'geometry_msgs/msg/TwistStamped',
    'wheel_effort': 'sensor_msgs/msg/JointState', 'goal_pose': 'geometry_msgs/msg/PoseStamped',
    SLIP: SLIP_KIND,
}

# age from which on a message says nothing about now, s; a goal stays
LASTS = 0.5


class Heard(NamedTuple):
    """A serialized message, its type, and when it came, s."""

    kind: str
    data: bytes
    time: float


class MomentReader:
    """
    Keeps the newest message of each topic, and decodes them when a moment is asked for.

    Parameters
    ----------
    robot : CasterRobot
    """

    def __init__(self, robot: CasterRobot) -> None:
        """Begin without messages."""
        self.robot = robot
        self._types = message_types()
        self._heard: dict[str, Heard] = {}
        self._first: int | None = None

    def put(self, topic: str, data: bytes, time: float, kind: str | None = None) -> None:
        """
        Take a message.

        Parameters
        ----------
        topic : str
            One of `TOPICS`, without namespace; others are left alone.
        data : bytes
            As on the wire.
        time : float, s
            When it came; of a clock of the caller's choice.
        kind : str, optional
            Its type, where it is not the usual one.
        """
        if topic in TOPICS:
            self._heard[topic] = Heard(kind or TOPICS[topic], data, time)

    def clear(self) -> None:
        """Forget all messages."""
        self._heard.clear()

    def stamp(self) -> int | None:
        """Return the stamp of the newest joint states, ns; None without any."""
        message = self._message('joint_states', math.inf)
        return None if message is None else _stamp(message)

    def moment(self, now: float) -> Moment | None:
        """
        Return what is known at a time of the clock of `put`.

        Parameters
        ----------
        now : float, s

        Returns
        -------
        Moment or None
            None without fresh joint states that name all joints of the robot.
        """
        robot, message = self.robot, self._message('joint_states', now)
        joints = None if message is None else self._joints(message)
        if joints is None:
            return None
        stamp = _stamp(message)
        if self._first is None or stamp < self._first:
            self._first = stamp
        odom, truth = (self._message(topic, now) for topic in ('odom', 'ground_truth/odom'))
        command, goal = self._message('cmd_vel', now), self._message('goal_pose', math.inf)
        frame = 'odom' if odom is None else odom.header.frame_id
        residual, suspect = self._slip(self._message(SLIP, now))
        effort = self._message('wheel_effort', now)
        torque = None if effort is None else _picked(effort, robot.wheel_joints, 'effort')
        return Moment(
            (stamp - self._first) * 1e-9, *joints,
            pose=None if odom is None else _pose(odom.pose.pose),
            twist=None if odom is None else _twist(odom.twist.twist),
            # a motion capture's frame is elsewhere
            truth=None if truth is None or truth.header.frame_id != frame else (
                _pose(truth.pose.pose)),
            command=None if command is None else _twist(getattr(command, 'twist', command)),
            torque=None if torque is None else torque * robot.wheel_sign,
            residual=residual, suspect=suspect,
            goal=None if goal is None or goal.header.frame_id != frame else _pose(goal.pose))

    def _message(self, topic: str, now: float) -> Any:
        """Return the newest message of a topic, None where it is old or cannot be read."""
        heard = self._heard.get(topic)
        if heard is None or (math.isfinite(now) and now - heard.time > LASTS):
            return None
        try:
            return self._types.deserialize_cdr(heard.data, heard.kind)
        # bytes of whatever another program sent
        except Exception:
            del self._heard[topic]
            return None

    def _joints(self, message: Any) -> tuple[Array, Array, Array, Array] | None:
        """Return steering, its rate, wheel angle and its rate in the model's convention."""
        robot, values = self.robot, []
        for names, sign, zero in ((robot.steering_joints, robot.steering_sign,
                                   robot.steering_zero), (robot.wheel_joints, robot.wheel_sign,
                                                          0.0)):
            position = _picked(message, names, 'position')
            rate = _picked(message, names, 'velocity')
            if position is None:
                return None
            values += [sign * position + zero,
                       np.zeros(robot.count) if rate is None else sign * rate]
        return values[0], values[1], values[2], values[3]

    def _slip(self, message: Any) -> tuple[Array | None, int | None]:
        """Return the residuals (n, 2) and the wheel that is suspected."""
        if message is None:
            return None, None
        try:
            slip = read_slip(message, self.robot.wheel_joints)
        except MessageError:
            return None, None
        return slip.residual, slip.suspect if slip.suspect >= 0 else None


def _picked(message: Any, names: tuple[str, ...], field: str) -> Array | None:
    """Return the values of some joints, None where one is missing or no finite number."""
    at = {name: k for k, name in enumerate(message.name)}
    values = np.asarray(getattr(message, field), float)
    if len(values) != len(message.name) or any(name not in at for name in names):
        return None
    picked = values[[at[name] for name in names]]
    return picked if np.isfinite(picked).all() else None


def _stamp(message: Any) -> int:
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


def _pose(pose: Any) -> Array | None:
    q = pose.orientation
    yaw = math.atan2(2.0 * (q.w * q.z + q.x * q.y), q.w**2 + q.x**2 - q.y**2 - q.z**2)
    return _finite(pose.position.x, pose.position.y, yaw)


def _twist(twist: Any) -> Array | None:
    return _finite(twist.linear.x, twist.linear.y, twist.angular.z)


def _finite(*values: float) -> Array | None:
    array = np.array(values, float)
    return array if np.isfinite(array).all() else None


def topic_below(topic: str, namespace: str) -> str:
    """
    Return a topic without its namespace.

    Parameters
    ----------
    topic, namespace : str
        ``'/robot1/odom'`` and ``'/robot1'``.

    Examples
    --------
    >>> topic_below('/robot1/odom', '/robot1'), topic_below('/odom', '')
    ('odom', 'odom')
    """
    return topic.removeprefix(f'{namespace.rstrip("/")}/')


