# SPDX-License-Identifier: Apache-2.0
"""A drive in lockstep with all nodes in one process: the same bits each time."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from builtin_interfaces.msg import Time  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from ros_bench import Bench  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

# samples from the start of the motion, 200 a second
SAMPLES = 300


def drive(recorded):
    """Return odometry and torques of a drive, as others hear them, and how many are recorded."""
    bench = Bench(shared=True)
    try:
        bench.add_robot(simulation={'lockstep': True, 'publish_clock': True}, **{
            name: {'use_sim_time': True} for name in (
                'sensed_kinematics', 'velocity_controller', 'inverse_dynamics',
                'position_controller')})
        odom = bench.collect(Odometry, 'odom', 1000)
        effort = bench.collect(JointState, 'wheel_effort', 1000) if recorded else []
        if not recorded:
            bench.forget('wheel_effort')
        bench.wait_until_unlocked()
        # a stamp of zero is now: the bench itself lives by another clock
        bench.goal(0.3, 0.0, 0.0, stamp=Time())

        def moved():
            return [message for message in odom if message.twist.twist.linear.x]

        bench.wait_for(lambda: len(moved()) > SAMPLES, 'the drive', 60.0)
        begin = next(k for k, message in enumerate(odom) if message.twist.twist.linear.x)
        return odom[begin:begin + SAMPLES], effort
    finally:
        bench.close()


def numbers(odom):
    """Return pose and twist of odometry messages."""
    return [(message.pose.pose.position.x, message.pose.pose.position.y,
             message.pose.pose.orientation.z, message.twist.twist.linear.x) for message in odom]


def test_a_drive_repeats_bit_for_bit():
    first, effort = drive(recorded=True)
    again, effort_again = drive(recorded=True)
    assert first == again and len(first) == SAMPLES
    # the torques have the stamps of their cycles, without a gap
    assert [message.header.stamp for message in effort_again[:len(effort)]] == [
        message.header.stamp for message in effort[:len(effort_again)]]
    stamps = [message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
              for message in first]
    assert {after - before for before, after in zip(stamps, stamps[1:], strict=False)} == {
        5_000_000}


def test_a_recorder_of_the_torques_does_not_change_the_drive():
    """They are serialized for it after the robot has them."""
    recorded, _ = drive(recorded=True)
    alone, _ = drive(recorded=False)
    for heard, unheard in zip(numbers(recorded), numbers(alone), strict=True):
        # another start of the motion in simulated time: rounding of sums of time
        assert heard == pytest.approx(unheard, abs=1e-9)
