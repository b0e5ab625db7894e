# SPDX-License-Identifier: Apache-2.0
"""The node computes odometry from joint states that have positions only."""

import math

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import Odometry  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402


@pytest.mark.parametrize('rates', [[], [math.nan] * 6], ids=['empty', 'nan'])
def test_positions_are_enough(bench, rates):
    node = bench.add(SensedKinematicsNode)
    heard = bench.collect(Odometry, 'odom')
    publisher = bench.publisher(JointState, 'joint_states')
    wheel = 0.0

    def roll():
        nonlocal wheel
        wheel += 0.02
        message = JointState(velocity=rates)
        message.header.stamp = bench.now()
        message.name = [*node.robot.steering_joints, *node.robot.wheel_joints]
        # parallel wheels: a drive straight ahead
        message.position = [0.0] * 3 + [wheel] * 3
        publisher.publish(message)

    bench._repeat(roll, lambda: heard and abs(heard[-1].twist.twist.linear.y) > 0.01,
                  'motion by positions', 10.0)
    assert not [reason for reason in node.diagnostics._dropped]
    assert math.isfinite(heard[-1].pose.pose.position.x)
