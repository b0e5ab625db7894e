# SPDX-License-Identifier: Apache-2.0
"""Moments of a caster robot from serialized messages, of live topics or of a bag."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_ros.cdr import MessageError
from c3p_ros.wheel_slip import KIND as SLIP_KIND
from c3p_ros.wheel_slip import TOPIC as SLIP
from c3p_ros.wheel_slip import read_slip
from c3p_viewers.sources.moment import Moment
from c3p_viewers.sources.newest import (
    LASTS,
    NewestMessages,
    finite,
    picked,
    planar_pose,
    rates,
    spatial_twist,
    stamp_of,
)

# topics of a moment; only the first is required
TOPICS: Mapping[str, str] = {
    'joint_states': 'sensor_msgs/msg/JointState', 'odom': 'nav_msgs/msg/Odometry',
    'ground_truth/odom': 'nav_msgs/msg/Odometry', 'cmd_vel': 'geometry_msgs/msg/TwistStamped',
    'wheel_effort': 'sensor_msgs/msg/JointState', 'goal_pose': 'geometry_msgs/msg/PoseStamped',
    SLIP: SLIP_KIND,
}
# what RViz shows besides
PLANNED = 'reference_trajectory'
MARKER_TOPICS = {**{topic: TOPICS[topic] for topic in (
    'joint_states', 'odom', SLIP, 'wheel_effort')},
    PLANNED: 'trajectory_msgs/msg/MultiDOFJointTrajectory'}

# places of x, y and yaw in ROS' covariances over (x, y, z, roll, pitch, yaw)
PLANAR = np.ix_([0, 1, 5], [0, 1, 5])


class MomentReader(NewestMessages):
    """
    Keeps the newest messages of a caster robot; decodes them when a moment is requested.

    Parameters
    ----------
    robot : CasterRobot
    topics : mapping
        Topic → usual message type: `TOPICS`, or `MARKER_TOPICS`.
    lasts, refuse
        As for `NewestMessages`.
    """

    def __init__(self, robot: CasterRobot, topics: Mapping[str, str] = TOPICS,
                 lasts: float = LASTS,
                 refuse: Callable[[str, object], None] = lambda topic, reason: None) -> None:
        """Begin without messages."""
        super().__init__(topics, lasts, refuse)
        self.robot = robot
        self._first: int | None = None

    def moment(self, now: float) -> Moment | None:
        """
        Return the moment at a time of the clock of `put`.

        Parameters
        ----------
        now : float, s

        Returns
        -------
        Moment or None
            None without fresh joint states of all joints of the robot.
        """
        joints = self.value('joint_states', now, self._joints)
        if joints is None:
            return None
        stamp, (steering, steering_rate, wheel_angle, wheel_rate) = joints
        if self._first is None or stamp < self._first:
            self._first = stamp
        robot = self.robot
        frame, pose = self.value('odom', now, _framed) or ('odom', None)

        def in_frame(found: tuple[str, Array] | None) -> Array | None:
            # a motion capture system or a map has another frame
            return found[1] if found is not None and found[0] == frame else None

        torque = self.value('wheel_effort', now, lambda message: picked(
            message, robot.wheel_joints, 'effort') * robot.wheel_sign)
        turning = None if robot.efforts == robot.count else self.value(
            'wheel_effort', now, lambda message: steering_torque(robot, message))
        residual, suspect = self.value(SLIP, now, self._slip) or (None, None)
        return Moment(
            (stamp - self._first) * 1e-9, steering, steering_rate, wheel_angle, wheel_rate,
            pose=pose,
            twist=self.value('odom', now, lambda message: _planar(message.twist.twist)),
            truth=in_frame(self.value('ground_truth/odom', now, _framed)),
            command=self.value('cmd_vel', now, lambda message: _planar(
                getattr(message, 'twist', message))),
            torque=torque, residual=residual, suspect=suspect, steering_torque=turning,
            # a goal holds until the next one
            goal=in_frame(self.value('goal_pose', math.inf, lambda message: (
                message.header.frame_id, planar_pose(message.pose)))),
            stamp=stamp, frame=frame,
            planned=None if pose is None else self.value(
                PLANNED, now, lambda message: _planned(message, frame)),
            covariance=self.value('odom', now, lambda message: finite(np.reshape(
                message.pose.covariance, (6, 6))[PLANAR], 'pose.covariance')))

    def odometry(self, now: float) -> tuple[int, str, Array] | None:
        """Return stamp, ns, frame and pose (3,) of the odometry; None without a fresh one."""
        return self.value('odom', now, lambda message: (
            stamp_of(message.header), *_framed(message)))

    def _joints(self, message: Any) -> tuple[int, tuple[Array, Array, Array, Array]]:
        """Return the stamp, and steering, its rate, wheel angle and its rate of the model."""
        robot = self.robot
        values = []
        sensed = set(robot.sensed_joints)
        for names, sign, zero in ((robot.steering_joints, robot.steering_sign,
                                   robot.steering_zero), (robot.wheel_joints, robot.wheel_sign,
                                                          0.0)):
            # joints without an encoder stand at zero
            known = [name in sensed for name in names]
            some = [name for name in names if name in sensed]
            angle = np.zeros(robot.count)
            rate = np.zeros(robot.count)
            if some:
                angle[known] = picked(message, some, 'position')
                rate[known] = rates(message, some)
            values += [sign * angle + zero, sign * rate]
        return stamp_of(message.header), (values[0], values[1], values[2], values[3])

    def _slip(self, message: Any) -> tuple[Array, int | None]:
        """Return the residuals (n, 2) and the suspected wheel."""
        slip = read_slip(message, self.robot.wheel_joints)
        return slip.residual, slip.suspect if slip.suspect >= 0 else None


def _framed(message: Any) -> tuple[str, Array]:
    """Return frame and pose of an Odometry."""
    return message.header.frame_id, planar_pose(message.pose.pose)


def _planar(twist: Any) -> Array:
    return spatial_twist(twist)[[0, 1, 5]]


def _planned(message: Any, frame: str) -> Array:
    """Return the places (k, 2) of a trajectory in the frame of the odometry."""
    if message.header.frame_id != frame:
        raise MessageError(f'frame {message.header.frame_id!r}: must be that of the odometry, '
                           f'{frame!r}')
    places = [point.transforms[0].translation for point in message.points if point.transforms]
    if not places:
        raise MessageError('no points; the trajectory must have at least one')
    return finite([(place.x, place.y) for place in places], 'points')


def steering_torque(robot: CasterRobot, message: Any) -> Array:
    """Return the torques of the steering axes (n,), N·m; 0 where no joint is."""
    places = {joint: place - robot.count for joint, place in robot.effort_places.items()
              if place >= robot.count}
    torque = np.zeros(robot.count)
    torque[list(places.values())] = picked(message, list(places), 'effort')
    return torque * robot.steering_sign
