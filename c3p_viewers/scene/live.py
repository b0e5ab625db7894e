# SPDX-License-Identifier: Apache-2.0
"""The scene of a robot that runs, from the newest messages of its topics."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory

from c3p_description.model import Array, CasterRobot
from c3p_ros.cdr import OdometryRead
from c3p_ros.frames import planar_points, planar_pose
from c3p_ros.messages import EffortCoding, JointCoding, MessageError, planar
from c3p_ros.wheel_slip import TOPIC as SLIP
from c3p_ros.wheel_slip import read_slip
from c3p_ros.wire import ODOMETRY, READERS, Reader
from c3p_viewers.scene.caster_scene import caster_scene
from c3p_viewers.scene.planned import planned_line
from c3p_viewers.scene.settings import SceneSettings
from c3p_viewers.scene.shapes import Shape
from c3p_viewers.scene.uncertainty import uncertainty

JOINTS, ODOM, EFFORT, AHEAD = (
    'joint_states', 'odom', 'wheel_effort', 'reference_trajectory')

# what the scene is made of: only the first is needed
TOPICS = {JOINTS: JointState, ODOM: Odometry, SLIP: JointState, EFFORT: JointState,
          AHEAD: MultiDOFJointTrajectory}


# x, y and yaw of six
PLANAR = np.ix_([0, 1, 5], [0, 1, 5])


class Spread(NamedTuple):
    """The covariance of the pose of an Odometry."""

    pose_covariance: tuple[float, ...]


class Heard(NamedTuple):
    """A serialized message, and when it came, s of the monotonic clock."""

    data: bytes
    time: float


def planar_covariance(read: Spread) -> Array:
    """Return the covariance (3, 3) of x, y and yaw; MessageError unless it is finite."""
    planar = np.reshape(read.pose_covariance, (6, 6))[PLANAR]
    if not np.isfinite(planar).all():
        raise MessageError(f'pose.covariance = {planar.tolist()}: must be finite')
    return planar


class LiveScene:
    """
    Keeps the newest message of each topic, undecoded; reads them when a scene is asked for.

    Messages come two hundred times a second and scenes twenty times: what nobody will see is not
    decoded.

    Parameters
    ----------
    robot : CasterRobot
    timeout : float, s
        Age from which on a message is not drawn.
    refuse : callable
        Called with topic and reason for a message that cannot be used.

    Attributes
    ----------
    settings : SceneSettings
    """

    def __init__(self, robot: CasterRobot, timeout: float,
                 refuse: Callable[[str, object], None]) -> None:
        """Begin without messages."""
        self.robot, self.settings = robot, SceneSettings()
        self._timeout, self._refuse = timeout, refuse
        self._joints, self._efforts = JointCoding(robot), EffortCoding(robot)
        self._readers = {topic: READERS[kind]() for topic, kind in TOPICS.items()}
        self._spread = Reader(ODOMETRY, Spread)
        self._heard: dict[str, Heard] = {}
        self._drawn: Heard | None = None

    def put(self, topic: str, data: bytes) -> None:
        """Take a serialized message of one of `TOPICS`."""
        self._heard[topic] = Heard(data, time.monotonic())

    def clear(self) -> None:
        """Forget all messages."""
        self._heard.clear()
        self._drawn = None

    def odometry(self) -> tuple[OdometryRead, Array] | None:
        """Return the newest odometry with its pose (x, y, yaw); None without a fresh one."""
        return self._value(ODOM, lambda read: (read, planar_pose(read.pose, 'pose')))

    def scene(self) -> tuple[tuple[Shape, ...], int] | None:
        """
        Return the scene and its stamp, ns; None when no joint states came since the last one.

        What is older than the timeout, or cannot be read, is left out.
        """
        newest = self._heard.get(JOINTS)
        if newest is None or newest is self._drawn:
            return None
        self._drawn = newest
        read = self._value(JOINTS, lambda read: (read.stamp, self._joints.positions(read)[0]))
        if read is None:
            return None
        stamp, steering = read
        twist = self._value(ODOM, lambda read: planar(read.twist, 'twist'))
        slip = self._value(SLIP, lambda read: read_slip(read, self.robot.wheel_joints))
        shapes = caster_scene(
            self.robot, steering, twist=twist,
            wheel_torque=self._value(EFFORT, self._efforts.read),
            residual=None if slip is None else slip.residual,
            suspect=None if slip is None else slip.suspect,
            slipping=slip is not None and slip.suspect >= 0, settings=self.settings)
        return (*shapes, *self._in_odometry()), stamp

    def _in_odometry(self) -> tuple[Shape, ...]:
        """Return what is drawn in the frame of the odometry: the way ahead, and how sure it is."""
        odometry = self.odometry()
        spread = self._value(ODOM, lambda read: planar_covariance(
            self._spread(self._heard[ODOM].data)))
        if odometry is None or spread is None:
            return ()
        read, pose = odometry
        ahead = self._value(AHEAD, lambda way: planar_points(way, read.frame_id)[1])
        shapes = uncertainty(self.robot, pose, spread, read.frame_id, self.settings)
        return shapes if ahead is None else (*shapes, *planned_line(
            self.robot, ahead, read.frame_id, self.settings))

    def _value(self, topic: str, use: Callable[[Any], Any]) -> Any:
        """Return what `use` makes of the newest message; None where it is old or of no use."""
        heard = self._heard.get(topic)
        if heard is None or time.monotonic() - heard.time > self._timeout:
            return None
        try:
            return use(self._readers[topic](heard.data))
        except MessageError as error:
            self._refuse(topic, error)
            # said once, not with every scene
            del self._heard[topic]
            return None
