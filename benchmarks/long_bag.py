# SPDX-License-Identifier: Apache-2.0
"""
Bags of any length at 200 Hz, with the topics of a drive: circles, and the odometry of the node.

``python benchmarks/long_bag.py PATH --minutes 60`` writes one. The casters trail on circles, so
that the joints continue from lap to lap; recomputing the odometry gives the same bits.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from c3p_bags.runs.run_bag import odometry_numbers
from c3p_bags.storage.bag_writer import BagWriter
from c3p_description.reading.loader import load_casters
from c3p_kinematics.casters import inverse
from c3p_kinematics.odometry import Odometry
from c3p_kinematics.se2 import integrate
from c3p_ros.cycle import CycleClock
from c3p_ros.spatial_wire import OdometryWriter
from c3p_ros.wire import JointStateWriter

RATE, START_NS = 200, 10**18
JOINTS, ODOMETRY = 'sensor_msgs/msg/JointState', 'nav_msgs/msg/Odometry'
# seven messages a cycle: 5 million an hour
TOPICS = {'/joint_states': JOINTS, '/odom': ODOMETRY, '/wheel_effort': JOINTS,
          '/ground_truth/odom': ODOMETRY, '/dynamics_effort': JOINTS,
          '/odom/filtered': ODOMETRY, '/sensed_kinematics/wheel_slip': JOINTS}
TWIST = np.array([0.4, 0.1, 0.3])
FIELDS = ('position', 'velocity', 'effort')


def trailing(robot, twist):
    """Return steering angles that a twist keeps (n,), and the wheel rates (n,)."""
    steering = np.zeros(robot.count)
    # the casters settle within some multiples of d/v
    for _ in range(40 * RATE):
        _, rate, _ = inverse(robot, steering, twist)
        steering = steering + rate / (4 * RATE)
    return steering, inverse(robot, steering, twist)[0]


def write_long_bag(path: Path, seconds: float) -> int:
    """Write a bag of `seconds` to the directory `path`; return the number of its messages."""
    robot, cycles = load_casters('c3p'), round(seconds * RATE)
    steering, wheel_rate = trailing(robot, TWIST)
    names = [*robot.steering_joints, *robot.wheel_joints]
    sign = np.concatenate([robot.steering_sign, robot.wheel_sign])
    zero = np.concatenate([robot.steering_zero, np.zeros(robot.count)])
    joints, odom = JointStateWriter(names, FIELDS), OdometryWriter('odom', 'base_link')
    effort, slip = (JointStateWriter(robot.wheel_joints, fields) for fields in (
        ('effort',), FIELDS))
    rates = sign * np.concatenate([np.zeros(robot.count), wheel_rate])
    none, quiet = np.zeros(robot.count), np.zeros(2 * robot.count)
    stream, clock, pose = Odometry(robot), CycleClock(), np.zeros(3)
    with BagWriter(path) as writer:
        writer.note({'c3p_robot': 'c3p'})
        for topic, kind in TOPICS.items():
            writer.add(topic, kind)
        for k in range(cycles):
            stamp = START_NS + k * (10**9 // RATE)
            angle = sign * (np.concatenate([steering, wheel_rate * k / RATE]) - zero)
            # as the node reads it
            back = sign * angle + zero
            read = back[:robot.count], back[robot.count:]
            found = stream.step_by(clock.accept(stamp), read[0], read[1],
                                   (sign * rates)[robot.count:], (sign * rates)[:robot.count])
            numbers = odometry_numbers(found.pose, found.twist, found.pose_covariance,
                                       found.twist_covariance)
            here = odom(stamp, numbers[:7], numbers[7:13], numbers[13:49], numbers[49:])
            torque = effort(stamp, effort=0.3 + 0.1 * np.sin(0.01 * k + np.arange(robot.count)))
            truth = np.array([*pose[:2], 0, 0, 0, np.sin(pose[2] / 2), np.cos(pose[2] / 2)])
            for topic, data in zip(TOPICS, (
                    joints(stamp, position=angle, velocity=rates, effort=quiet), here, torque,
                    odom(stamp, truth, numbers[7:13]), torque, here,
                    slip(stamp, position=none, velocity=none, effort=none)), strict=True):
                writer.write(topic, stamp, data)
            pose = integrate(pose, TWIST / RATE)
    return cycles * len(TOPICS)


def main() -> None:
    """Write a bag."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[1])
    parser.add_argument('path', type=Path)
    parser.add_argument('--minutes', type=float, default=60.0, help='(default: %(default)s)')
    arguments = parser.parse_args()
    print(write_long_bag(arguments.path, 60.0 * arguments.minutes), 'messages', file=sys.stderr)


if __name__ == '__main__':
    main()
