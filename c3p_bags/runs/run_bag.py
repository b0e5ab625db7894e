# SPDX-License-Identifier: Apache-2.0
"""Writer of simulated runs as bags, in the form of the recorder."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from c3p_bags.runs import mapped
from c3p_bags.runs.run_log import Motion, RunLog, Series
from c3p_bags.storage.bag_parameters import notes
from c3p_bags.storage.bag_writer import BagWriter
from c3p_description.model import Array, CasterRobot
from c3p_kinematics.odometry import planar_covariance

# simulated time starts here, because a stamp of zero means "not set", ns
START_NS = 1_000_000_000

DESCRIPTION = '/robot_description'
TYPES = {'joint_states': 'sensor_msgs/msg/JointState',
         'wheel_effort': 'sensor_msgs/msg/JointState',
         'odom': 'nav_msgs/msg/Odometry', 'ground_truth/odom': 'nav_msgs/msg/Odometry',
         'cmd_vel': 'geometry_msgs/msg/TwistStamped'}


def write_run(log: RunLog, robot: CasterRobot, path: str | Path, description: str = '') -> Path:
    """
    Write joints, efforts, odometry, truth and commands of a run to a new bag.

    `log` is the run; `robot` defines joint names, signs and zero angles; the directory `path` must
    not exist. `description` is the URDF of a robot that is not one of the installation. Returns
    the path.

    Raises
    ------
    BagError
        The bag cannot be written.
    """
    with BagWriter(path) as writer:
        writer.note(notes(robot.name))
        make = _Messages(writer.types.types, robot)
        rows: list[tuple[str, float, Callable[[int], Any]]] = [
            ('joint_states', t, partial(make.joints, log=log, k=k))
            for k, t in enumerate(log.joints.time)]
        efforts = log.wheel_effort
        if efforts is not None:
            rows += [('wheel_effort', t, partial(make.efforts, efforts=efforts, k=k))
                     for k, t in enumerate(efforts.time)]
        for topic, motion in (('odom', log.odom), ('ground_truth/odom', log.ground_truth)):
            if motion is not None:
                rows += [(topic, t, partial(make.odometry, motion=motion, k=k))
                         for k, t in enumerate(motion.time)]
        if log.cmd_vel is not None:
            rows += [('cmd_vel', t, partial(make.command, commands=log.cmd_vel, k=k))
                     for k, t in enumerate(log.cmd_vel.time)]
        for topic in dict.fromkeys(topic for topic, _, _ in rows):
            writer.add(f'/{topic}', TYPES[topic])
        if description:
            writer.add(DESCRIPTION, 'std_msgs/msg/String')
            writer.write_message(DESCRIPTION, START_NS, writer.types.types['std_msgs/msg/String'](
                description))
        # stable: what belongs to one time stays in the order of cause and effect
        for topic, time, message in sorted(rows, key=lambda row: row[1]):
            ns = START_NS + round(1e9 * float(time))
            writer.write_message(f'/{topic}', ns, message(ns))
    return Path(path)


class _Messages:
    """Makes messages of one robot."""

    def __init__(self, types: dict[str, Any], robot: CasterRobot) -> None:
        self.types = types
        self.robot = robot
        self.names = list(robot.joint_places)
        self.places = list(robot.joint_places.values())
        self.sign = np.concatenate([robot.steering_sign, robot.wheel_sign])

    def _header(self, ns: int, frame: str) -> Any:
        return self.types['std_msgs/msg/Header'](
            self.types['builtin_interfaces/msg/Time'](*divmod(ns, 10**9)), frame)

    def joints(self, ns: int, log: RunLog, k: int) -> Any:
        of = log.joints

        def pair(*values: Array) -> Array:
            return (self.sign * np.concatenate(values))[self.places]

        return self.types[TYPES['joint_states']](
            self._header(ns, ''), self.names,
            pair(of.steering[k] - self.robot.steering_zero, of.wheel_angle[k]),
            pair(of.steering_rate[k], of.wheel_rate[k]),
            pair(self._turning(of.wheel_torque[k]), of.wheel_torque[k, :self.robot.count]))

    def efforts(self, ns: int, efforts: Series, k: int) -> Any:
        none = np.zeros(0)
        places = self.robot.effort_places
        return self.types[TYPES['wheel_effort']](
            self._header(ns, ''), list(places), none, none,
            (efforts.value[k] * self.robot.effort_sign)[list(places.values())])

    def _turning(self, torque: Array) -> Array:
        """Return the torques of the steering axes, 0 without motors."""
        n = self.robot.count
        return torque[n:] if len(torque) > n else np.zeros(n)

    def _twist(self, twist: Array) -> Any:
        vector = self.types['geometry_msgs/msg/Vector3']
        vx, vy, turn = map(float, twist)
        return self.types['geometry_msgs/msg/Twist'](vector(vx, vy, 0.0), vector(0.0, 0.0, turn))

    def odometry(self, ns: int, motion: Motion, k: int) -> Any:
        numbers = odometry_numbers(motion.pose[k], motion.twist[k], motion.pose_covariance[k],
                                   motion.twist_covariance[k])
        return odometry_message(self.types, ns, numbers, motion.frame, motion.child_frame)

    def command(self, ns: int, commands: Series, k: int) -> Any:
        return self.types[TYPES['cmd_vel']](self._header(ns, 'base_link'),
                                            self._twist(commands.value[k]))


def finite_rows(row: Array, numbers: Array) -> tuple[Array, Array]:
    """Return `row` (k,) with −1 for those of `numbers` (m, 85) with inf or nan, and `numbers`."""
    known = mapped.computed(lambda part: np.isfinite(part).all(axis=1), numbers)
    return np.where((row >= 0) & known[row], row, -1), numbers


def odometry_numbers(pose: Array, twist: Array, pose_covariance: Array, twist_covariance: Array
                     ) -> Array:
    """
    Return the 85 numbers of an Odometry message of the plane.

    Position and quaternion (7), twist (6), covariance of the pose (36) and of the twist (36), of
    `pose` and `twist` (3,), `pose_covariance` and `twist_covariance` (3, 3).
    """
    (x, y, yaw), (vx, vy, turn) = pose, twist
    return np.concatenate([
        [x, y, 0.0, 0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)],
        [vx, vy, 0.0, 0.0, 0.0, turn], planar_covariance(pose_covariance),
        planar_covariance(twist_covariance)])


def odometry_message(types: Mapping[str, type], ns: int, numbers: Array, frame: str, child: str
                     ) -> Any:
    """Return an Odometry of `numbers` at `ns`, in `frame` and `child` frame, made of `types`."""
    def make(name: str, *values: Any) -> Any:
        return types[f'geometry_msgs/msg/{name}'](*values)

    plain = numbers[:13].tolist()
    pose = numbers[13:49]
    twist = numbers[49:]
    header = types['std_msgs/msg/Header'](
        types['builtin_interfaces/msg/Time'](*divmod(ns, 10**9)), frame)
    return types['nav_msgs/msg/Odometry'](
        header, child,
        make('PoseWithCovariance', make('Pose', make('Point', *plain[:3]),
                                        make('Quaternion', *plain[3:7])), pose),
        make('TwistWithCovariance', make('Twist', make('Vector3', *plain[7:10]),
                                         make('Vector3', *plain[10:])), twist))
