# SPDX-License-Identifier: Apache-2.0
"""Writer of simulated runs as bags, in the form of the recorder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.runs.run_log import Motion, RunLog
from c3p_bags.storage.bag_parameters import notes
from c3p_bags.storage.bag_writer import BagWriter
from c3p_description.model import Array, CasterRobot

# simulated time starts here, because a stamp of zero means "not set", ns
START_NS = 1_000_000_000

TYPES = {'joint_states': 'sensor_msgs/msg/JointState',
         'wheel_effort': 'sensor_msgs/msg/JointState',
         'odom': 'nav_msgs/msg/Odometry', 'ground_truth/odom': 'nav_msgs/msg/Odometry',
         'cmd_vel': 'geometry_msgs/msg/TwistStamped'}


def write_run(log: RunLog, robot: CasterRobot, path: str | Path) -> Path:
    """
    Write joints, efforts, odometry, truth and commands of a run to a new bag.

    Parameters
    ----------
    log : RunLog
    robot : CasterRobot
        Gives joint names, signs and zero angles.
    path : str or Path
        Directory of the bag; must not exist.

    Returns
    -------
    Path
        The bag.

    Raises
    ------
    BagError
        It cannot be written.
    """
    with BagWriter(path) as writer:
        writer.note(notes(robot.name))
        make = _Messages(writer.types.types, robot)
        rows = [('joint_states', t, lambda ns, k=k: make.joints(ns, log, k))
                for k, t in enumerate(log.joints.time)]
        efforts = log.wheel_effort
        if efforts is not None:
            rows += [('wheel_effort', t, lambda ns, k=k: make.efforts(ns, efforts.value[k]))
                     for k, t in enumerate(efforts.time)]
        for topic, motion in (('odom', log.odom), ('ground_truth/odom', log.ground_truth)):
            if motion is not None:
                rows += [(topic, t, lambda ns, m=motion, k=k: make.odometry(ns, m, k))
                         for k, t in enumerate(motion.time)]
        if log.cmd_vel is not None:
            rows += [('cmd_vel', t, lambda ns, k=k: make.command(ns, log.cmd_vel.value[k]))
                     for k, t in enumerate(log.cmd_vel.time)]
        for topic in dict.fromkeys(topic for topic, _, _ in rows):
            writer.add(f'/{topic}', TYPES[topic])
        # stable: what belongs to one time stays in the order of cause and effect
        for topic, time, message in sorted(rows, key=lambda row: row[1]):
            ns = START_NS + round(1e9 * float(time))
            writer.write_message(f'/{topic}', ns, message(ns))
    return Path(path)


class _Messages:
    """Makes messages of one robot."""

    def __init__(self, types: dict[str, Any], robot: CasterRobot) -> None:
        self.types, self.robot = types, robot
        self.names = [*robot.steering_joints, *robot.wheel_joints]
        self.sign = np.concatenate([robot.steering_sign, robot.wheel_sign])
        self.zero = np.concatenate([robot.steering_zero, np.zeros(robot.count)])

    def _header(self, ns: int, frame: str) -> Any:
        return self.types['std_msgs/msg/Header'](
            self.types['builtin_interfaces/msg/Time'](*divmod(ns, 10**9)), frame)

    def joints(self, ns: int, log: RunLog, k: int) -> Any:
        of = log.joints
        pair = np.concatenate
        return self.types[TYPES['joint_states']](
            self._header(ns, ''), self.names,
            self.sign * (pair([of.steering[k], of.wheel_angle[k]]) - self.zero),
            self.sign * pair([of.steering_rate[k], of.wheel_rate[k]]),
            self.sign * pair([np.zeros(self.robot.count), of.wheel_torque[k]]))

    def efforts(self, ns: int, torque: Array) -> Any:
        none = np.zeros(0)
        return self.types[TYPES['wheel_effort']](
            self._header(ns, ''), list(self.robot.wheel_joints), none, none,
            torque * self.robot.wheel_sign)

    def _twist(self, twist: Array) -> Any:
        vector = self.types['geometry_msgs/msg/Vector3']
        vx, vy, turn = map(float, twist)
        return self.types['geometry_msgs/msg/Twist'](vector(vx, vy, 0.0), vector(0.0, 0.0, turn))

    def odometry(self, ns: int, motion: Motion, k: int) -> Any:
        t, (x, y, yaw) = self.types, map(float, motion.pose[k])
        pose = t['geometry_msgs/msg/Pose'](
            t['geometry_msgs/msg/Point'](x, y, 0.0), t['geometry_msgs/msg/Quaternion'](
                0.0, 0.0, math.sin(yaw / 2.0), math.cos(yaw / 2.0)))
        return t[TYPES['odom']](
            self._header(ns, motion.frame), motion.child_frame,
            t['geometry_msgs/msg/PoseWithCovariance'](pose, _square(motion.pose_covariance[k])),
            t['geometry_msgs/msg/TwistWithCovariance'](self._twist(motion.twist[k]),
                                                       _square(motion.twist_covariance[k])))

    def command(self, ns: int, twist: Array) -> Any:
        return self.types[TYPES['cmd_vel']](self._header(ns, 'base_link'), self._twist(twist))


def _square(planar: Array) -> Array:
    """Return a covariance of x, y and yaw among ROS' six coordinates."""
    whole = np.zeros((6, 6))
    whole[np.ix_([0, 1, 5], [0, 1, 5])] = planar
    return whole.ravel()
