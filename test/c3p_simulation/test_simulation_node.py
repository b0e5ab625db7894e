# SPDX-License-Identifier: Apache-2.0
"""The simulated robot as a node: its rate, its gate, its truth."""

import time

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import Odometry  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_simulation.simulation_node import SimulationNode  # noqa: E402

WHEELS = [f'wheel_joint_{i}' for i in (1, 2, 3)]


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def efforts(stamp, *torque):
    message = JointState(name=WHEELS, effort=[float(t) for t in torque])
    message.header.stamp = stamp
    return message


@pytest.mark.parametrize('factor', [0.5, 1.0, 2.0])
def test_robot_time_keeps_its_ratio_to_real_time(bench, factor):
    bench.add(SimulationNode, publish_clock=True, realtime_factor=factor)
    clock = bench.collect(Clock, '/clock', keep=1)
    bench.wait_for(lambda: clock, 'the clock')
    robot, real = seconds(clock[-1].clock), time.monotonic()
    bench.run(1.0)
    ratio = (seconds(clock[-1].clock) - robot) / (time.monotonic() - real)
    assert ratio == pytest.approx(factor, rel=0.1)


def test_stamps_go_on_by_one_period_and_are_now(bench):
    joints = bench.collect(JointState, 'joint_states')
    bench.add(SimulationNode, rate=100.0)
    bench.run(0.5)
    stamps = np.array([seconds(m.header.stamp) for m in joints])
    steps = np.diff(stamps) * 100.0
    # a busy machine may make up several periods in one step, but whole ones
    assert np.abs(steps - np.round(steps)).max() < 1e-3 and np.median(steps) == pytest.approx(1.0)
    assert abs(seconds(bench.now()) - stamps[-1]) < 0.2


def test_late_cycles_are_counted_and_made_up_for(bench):
    node = bench.add(SimulationNode, rate=200.0)
    slow = node.plant.step
    node.plant.step = lambda *a: bench.pause(0.012) or slow(*a)
    bench.run(0.3)
    node.plant.step = slow
    bench.wait_for(lambda: node.pace.overruns >= 10, 'overruns')
    bench.wait_for(lambda: int(bench.value('simulation', 'overruns') or 0) >= 10, 'the figure')


def test_start_pose_and_steering_are_those_of_the_parameters(bench):
    truth, joints = bench.collect(Odometry, 'ground_truth/odom'), bench.collect(
        JointState, 'joint_states')
    bench.add(SimulationNode, start_pose=[1.0, 2.0, 0.0], start_steering=[0.1, 0.2, 0.3])
    bench.wait_for(lambda: truth and joints, 'messages')
    position = truth[0].pose.pose.position
    assert (position.x, position.y) == (1.0, 2.0)
    assert list(joints[0].position[:3]) == pytest.approx([0.1, 0.2, 0.3])


def test_a_standing_robot_stands_to_the_last_bit(bench):
    truth = bench.collect(Odometry, 'ground_truth/odom')
    bench.add(SimulationNode)
    bench.run(0.5)
    assert {(m.pose.pose.position.x, m.pose.pose.position.y) for m in truth} == {(0.0, 0.0)}


def test_torque_moves_it_only_after_a_zero_command(bench):
    joints = bench.collect(JointState, 'joint_states', keep=1)
    bench.add(SimulationNode)
    publisher = bench.publisher(JointState, 'wheel_effort')
    bench.wait_for(lambda: joints, 'joint states')

    def push(*torque, until=None):
        """Command for 0.15 s, or until the wheels have `until`; return what they have."""
        end = time.monotonic() + 0.15

        def more():
            publisher.publish(efforts(bench.now(), *torque))
            if until is None:
                return time.monotonic() > end
            return list(joints[-1].effort[3:]) == until

        bench.wait_for(more, f'wheel efforts {until}')
        return list(joints[-1].effort[3:])

    assert push(0.3, 0.3, 0.3) == [0.0, 0.0, 0.0]
    push(0.0, 0.0, 0.0)
    push(0.3, 0.3, 0.3, until=[0.3, 0.3, 0.3])
    push(9.0, -9.0, 0.0, until=[1.2, -1.2, 0.0])
    # nobody commands any more: braking against the rotation
    bench.run(0.4)
    effort, rate = np.array(joints[-1].effort[3:]), np.array(joints[-1].velocity[3:])
    assert np.all(effort * rate <= 0.0)
    assert 'they brake' in bench.nodes['simulation'].diagnostics.status().message


@pytest.mark.parametrize('wrong, words', [
    ({'lockstep': True}, 'publish_clock'), ({'realtime_factor': 2.0}, 'publish_clock'),
    ({'start_steering': [0.1, 0.2]}, 'start_steering'), ({'rate': 0.0}, 'rate'),
    ({'plant': 'magic'}, 'plant')])
def test_parameters_that_cannot_be_are_refused(bench, wrong, words):
    with pytest.raises(ValueError, match=words):
        bench.add(SimulationNode, **wrong)
