# SPDX-License-Identifier: Apache-2.0
"""Every node in a process of its own, and one after the other killed in the middle of a drive."""

import os
import signal
import time

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import Odometry  # noqa: E402
from patience import patient_parameters  # noqa: E402
from ros_bench import Bench  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from test_lost_nodes import AT_REST, VICTIMS, rests  # noqa: E402
from virtual_time import RealTime  # noqa: E402

from c3p_bringup.processes import NodeProcess  # noqa: E402

MODULES = {
    'simulation': 'c3p_simulation.simulation_node',
    'sensed_kinematics': 'c3p_kinematics.sensed_kinematics_node',
    'inverse_dynamics': 'c3p_dynamics.inverse_dynamics_node',
    'velocity_controller': 'c3p_controller.velocity_controller_node',
    'position_controller': 'c3p_controller.position_controller_node',
}


class Robot(Bench):
    """The robot's nodes as processes with the watchdogs of a busy machine; the bench looks on."""

    def __init__(self, place):
        super().__init__(RealTime())
        self.place, self.processes = place, {}
        self.options = ['--params-file', str(patient_parameters(place))]
        self.truth = self.collect(Odometry, 'ground_truth/odom', 10, keep=1)
        for name in MODULES:
            self.start(name)
        self.wait_for(lambda: set(MODULES) <= set(self.health), 'every node')

    def start(self, name):
        self.health.pop(name, None)
        self.processes[name] = NodeProcess(name, MODULES[name], self.options,
                                           self.place / f'{name}.log')

    def kill(self, name):
        os.kill(self.processes[name].pid, signal.SIGKILL)
        self.wait_for(self.processes[name].ended, f'the end of {name}')

    def close(self):
        for process in self.processes.values():
            process.stop()
        super().close()


@pytest.fixture
def robot(tmp_path):
    robot = Robot(tmp_path)
    yield robot
    robot.close()


def drives(robot, ahead):
    """Send a goal until the robot moves: a node that has just started may not be matched yet."""
    due = 0.0

    def moves():
        nonlocal due
        if time.monotonic() >= due and robot.speed() < AT_REST:
            due = time.monotonic() + 5.0
            robot.goal(0.0, ahead, 0.0, frame='base_link')
        return robot.speed() > 0.1

    robot.wait_for(moves, 'driving')


def comes_to_rest(robot, reason):
    """Wait until the robot has stood for half a second: a late brake passes through zero speed."""
    since = time.monotonic()

    def stands():
        nonlocal since
        if robot.speed() > AT_REST:
            since = time.monotonic()
        return time.monotonic() - since > 0.5

    robot.wait_for(stands, reason)


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.timeout(900)
def test_killed_nodes_stop_the_robot_and_their_return_does_not_move_it(robot):
    for victim, (_, witness, reason) in VICTIMS.items():
        robot.wait_until_unlocked()
        drives(robot, 10.0)
        robot.kill(victim)
        comes_to_rest(robot, f'rest after the end of {victim}')
        robot.wait_for(lambda w=witness, r=reason: r in robot.health[w].message,
                       f'{witness}: {reason!r}')
        rests(robot, 0.7)
        robot.start(victim)
        robot.wait_for(lambda v=victim: v in robot.health, f'{victim} again')
        rests(robot, 1.0)
        # a goal that is still held is cancelled; then the robot is as it was
        robot.call(Trigger, 'position_controller/cancel')
    robot.wait_until_unlocked()
    drives(robot, 1.0)
