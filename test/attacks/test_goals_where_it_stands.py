# SPDX-License-Identifier: Apache-2.0
"""A goal where the robot stands: reached at once with every law, and the robot stays there."""

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from wired_robot import RATE, WiredRobot  # noqa: E402

# law of the velocity controller, of the position controller, and its parameters
LAWS = {'mpc': ('mpc', 'mpc', {}), 'paper': ('paper', 'paper', {}),
        'printed': ('paper', 'paper', {'paper_law': 'printed'})}
# the printed one drives in its own way, which docs/papers tells: it is asked to stay alone
driving = pytest.mark.parametrize('robot', ['mpc', 'paper'], indirect=True, scope='module')
# position commands come at most 50 times a second
AT_ONCE = 5


@pytest.fixture(scope='module', params=LAWS)
def robot(request):
    velocity, position, parameters = LAWS[request.param]
    robot = WiredRobot(velocity, position, **parameters)
    robot.unlock()
    yield robot
    robot.close()


def stays(robot, seconds=1.0):
    """Nothing moves; that every command is finite is looked at where it is published."""
    before = robot.pose
    robot.cycle(int(seconds * RATE))
    # the papers' laws are slack in yaw, and still turn a little towards an earlier goal's
    np.testing.assert_array_less(abs(robot.pose - before), [2e-3, 2e-3, 2e-2])


@pytest.mark.parametrize('frame', ['odom', 'base_link'])
def test_zero_zero_zero_after_a_start(robot, frame):
    pose = (0.0, 0.0, 0.0) if frame == 'base_link' else robot.sensed._placed
    reason, cycles = robot.drive(*pose, frame=frame)
    assert reason == 'reached' and cycles <= AT_ONCE, robot.results
    stays(robot)


@driving
def test_stay_here_after_a_drive_and_again_and_again(robot):
    assert robot.drive(0.15, 0.1, 0.0, seconds=10.0)[0] == 'reached', robot.results
    robot.cycle(int(RATE))
    for _ in range(5):
        reason, cycles = robot.drive(0.0, 0.0, 0.0)
        assert reason == 'reached' and cycles <= AT_ONCE, robot.results
    stays(robot)


def test_a_goal_so_near_that_numbers_vanish(robot):
    for tiny in (5e-324, 1e-200, 1e-12):
        reason, cycles = robot.drive(tiny, -tiny, tiny)
        assert reason == 'reached' and cycles <= AT_ONCE, robot.results
    stays(robot, 0.5)


@driving
def test_stay_here_in_the_middle_of_a_drive_stops_the_robot_there(robot):
    robot.results.clear()
    robot.goal(2.0, 0.0, 0.0)
    robot.cycle(int(1.2 * RATE))
    assert np.hypot(*robot.twist[:2]) > 0.1
    there = robot.pose
    robot.results.clear()
    robot.goal(0.0, 0.0, 0.0)
    robot.cycle(int(6.0 * RATE))
    assert [m.message.split(':')[0] for m in robot.results] == ['preempted', 'reached']
    assert abs(robot.twist[:2]).max() < 0.02 and np.hypot(*(robot.pose - there)[:2]) < 0.06
    robot.cancel()
    robot.unlock()
