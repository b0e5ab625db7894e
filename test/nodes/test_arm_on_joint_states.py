# SPDX-License-Identifier: Apache-2.0
"""A robot with an arm whose driver publishes on joint_states, too."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from ros_bench import Bench  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_ros.diagnostics import OF_OTHERS  # noqa: E402

NODES = ('sensed_kinematics', 'velocity_controller')


@pytest.fixture
def bench():
    bench = Bench()
    bench.add_robot(**{name: {'sole_publisher': False} for name in ('simulation', *NODES)})
    bench.wait_until_unlocked()
    yield bench
    bench.close()


def test_joints_of_an_arm_are_counted_and_neither_warned_of_nor_used(bench):
    names = [f'arm_joint_{k}' for k in range(1, 7)]
    arm = bench.publisher(JointState, 'joint_states')

    def driven():
        message = JointState(name=names, position=[0.1] * 6)
        message.header.stamp = bench.now()
        arm.publish(message)
        return bench.speed() > 0.15 and all(
            bench.nodes[name].diagnostics.count('joint_states', OF_OTHERS) > 20 for name in NODES)

    bench.command_until(driven, 'motion beside an arm', 0.0, 0.2, 0.0)
    for name in NODES:
        diagnostics = bench.nodes[name].diagnostics
        assert diagnostics.refused('joint_states') == 0
        assert diagnostics.status().level == DiagnosticStatus.OK
