# SPDX-License-Identifier: Apache-2.0
"""All wheels of a driving robot spin: it stops, the goal ends and the reason is named."""

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from wired_robot import RATE, WiredRobot  # noqa: E402

from c3p_controller.command_interlock import STOPPED_FOR  # noqa: E402
from c3p_controller.goals.goal_life import STOPPED  # noqa: E402
from c3p_ros.diagnostics import ERROR  # noqa: E402

# wheels on ice gain this much, rad/s²: 20 m/s² at the rim, twice what a tyre transmits
SPIN_UP = 500.0


@pytest.fixture(scope='module', params=['mpc', 'paper'])
def robot(request):
    robot = WiredRobot(request.param)
    yield robot
    robot.close()


def spin(robot, monkeypatch, rate_at):
    """Let the encoders of all wheels add a rate, rad/s, that is a function of time."""
    joints, time, turned = robot.simulation._joints, [0.0], [0.0]
    wheels = np.isin(joints.names, robot.simulation.robot.wheel_joints)
    encode = joints.encode

    def spinning(*arguments):
        position, velocity, effort = map(np.array, encode(*arguments))
        time[0] += 1.0 / RATE
        turned[0] += rate_at(time[0]) / RATE
        return position + turned[0] * wheels, velocity + rate_at(time[0]) * wheels, effort

    monkeypatch.setattr(joints, 'encode', spinning)


def drive(robot):
    robot.unlock()
    robot.results.clear()
    robot.goal(0.0, 3.0, 0.0)
    robot.cycle(int(1.5 * RATE))
    assert np.hypot(*robot.twist[:2]) > 0.3 and not robot.results


def comes_to_rest(robot):
    robot.cycle(int((STOPPED_FOR + 1.5) * RATE))
    assert np.abs(robot.twist).max() < 0.01


def test_a_spin_that_grows_stops_the_robot_and_its_doubt_covers_the_error(robot, monkeypatch):
    drive(robot)
    stream = robot.sensed._odometry
    apart = np.hypot(*stream.pose[:2]) - np.hypot(*robot.pose[:2])
    spin(robot, monkeypatch, lambda time: SPIN_UP * time)
    robot.cycle(int(0.6 * RATE))
    reason, text = robot.ended()
    assert reason == STOPPED and 'all driven wheels have slipped for 0.5 s' in text
    status = robot.velocity.diagnostics.status()
    assert status.level == ERROR and 'traction: all driven wheels have slipped' in status.message
    # the rims have turned by 3.6 m, the robot brakes, the held twist does not know: that is doubt
    error = abs(np.hypot(*stream.pose[:2]) - np.hypot(*robot.pose[:2]) - apart)
    assert error < 0.6 and error < robot.sensed._estimate.doubt[0]
    assert 'wheels spin: the twist has been held' in robot.sensed.diagnostics.status().message
    monkeypatch.undo()
    comes_to_rest(robot)


def test_a_spin_that_a_floor_could_have_caused_in_time_is_overspeed(robot, monkeypatch):
    drive(robot)
    spin(robot, monkeypatch, lambda time: 50.0)
    robot.cycle(int(0.6 * RATE))
    reason, text = robot.ended()
    assert reason == STOPPED and 'at most 1.2 times its limit of 25 rad/s' in text
    monkeypatch.undo()
    comes_to_rest(robot)
    # a new goal is driven to
    drive(robot)
