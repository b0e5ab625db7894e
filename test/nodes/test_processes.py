# SPDX-License-Identifier: Apache-2.0
"""Every node in a process of its own, and one after the other killed in the middle of a drive."""

import os
import signal
import time

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import Odometry  # noqa: E402
from ros_bench import Bench  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from virtual_time import RealTime  # noqa: E402

from c3p_simulation.processes import NodeProcess  # noqa: E402

MODULES = {
    'simulation': 'c3p_simulation.simulation_node',
    'sensed_kinematics': 'c3p_kinematics.sensed_kinematics_node',
    'inverse_dynamics': 'c3p_dynamics.inverse_dynamics_node',
    'velocity_controller': 'c3p_controller.velocity_controller_node',
    'position_controller': 'c3p_controller.position_controller_node',
}
AT_REST = 0.01
pytestmark = pytest.mark.slow

# seconds from the kill to rest, and who must say why: the watchdog of the schema, braking from
# 0.5 m/s, and a second for a busy machine
VICTIMS = {
    # cmd_vel_timeout 0.5 s, then stop_acceleration 1 m/s²
    'position_controller': (0.5 + 0.5 + 1.0, 'velocity_controller', 'no command for longer'),
    # chain_timeout 0.2 s, then the wheels brake with stop_damping
    'sensed_kinematics': (0.2 + 0.9 + 1.0, 'velocity_controller', 'no odom'),
    # command_timeout 0.2 s of the gate, then the same braking
    'velocity_controller': (0.2 + 0.9 + 1.0, 'simulation', 'they brake'),
}


class Robot(Bench):
    """The robot's nodes as processes; the bench looks on."""

    def __init__(self, place):
        super().__init__(RealTime())
        self.place, self.processes = place, {}
        self.truth = self.collect(Odometry, 'ground_truth/odom', 10, keep=1)
        for name in MODULES:
            self.start(name)
        self.wait_for(lambda: set(MODULES) <= set(self.health), 'every node', 60.0)

    def start(self, name):
        self.health.pop(name, None)
        self.processes[name] = NodeProcess(name, MODULES[name], [], self.place / f'{name}.log')

    def kill(self, name):
        os.kill(self.processes[name].pid, signal.SIGKILL)
        self.wait_for(self.processes[name].ended, f'the end of {name}')

    def close(self):
        for process in self.processes.values():
            process.stop()
        super().close()


@pytest.fixture(scope='module')
def processes(tmp_path_factory):
    robot = Robot(tmp_path_factory.mktemp('logs'))
    yield robot
    robot.close()


@pytest.fixture
def robot(processes, request):
    """The robot with all its processes; a test that tries again has new ones."""
    again = getattr(request.node, 'execution_count', 1) > 1
    for name, process in list(processes.processes.items()):
        if again:
            process.stop()
        if process.ended():
            processes.start(name)
    processes.wait_for(lambda: set(MODULES) <= set(processes.health), 'every node', 60.0)
    return processes


def rests(robot, seconds):
    """Fail when the robot moves within `seconds`."""
    end = time.monotonic() + seconds

    def still():
        assert robot.speed() < AT_REST, f'moves at {robot.speed()} m/s: {robot.story()}'
        return time.monotonic() > end

    robot.wait_for(still, 'time', seconds + 2.0)


def drives(robot, ahead):
    """Send a goal until the robot moves: who has just been started may not be heard yet."""
    due = 0.0

    def moves():
        nonlocal due
        if time.monotonic() >= due and robot.speed() < AT_REST:
            due = time.monotonic() + 2.0
            robot.goal(0.0, ahead, 0.0, frame='base_link')
        return robot.speed() > min(0.3, 0.3 * ahead)

    robot.wait_for(moves, 'driving')


@pytest.mark.parametrize('victim', VICTIMS)
def test_a_killed_node_stops_the_robot_and_its_return_does_not_move_it(robot, victim):
    within, witness, reason = VICTIMS[victim]
    robot.wait_until_unlocked()
    drives(robot, 3.0)
    begin = time.monotonic()
    robot.kill(victim)
    robot.wait_for(lambda: robot.speed() < AT_REST, f'rest after the end of {victim}', within)
    print(f'{victim}: rest after {time.monotonic() - begin:.2f} s of {within} s')
    robot.wait_for(lambda: reason in robot.health[witness].message, f'{witness} says {reason!r}',
                   1.5)
    rests(robot, 0.7)
    robot.start(victim)
    robot.wait_for(lambda: victim in robot.health, f'{victim} again', 30.0)
    rests(robot, 0.8)
    # whoever still has the goal gives it up; then the robot is as it was
    robot.call(Trigger, 'position_controller/cancel')


def test_after_all_that_the_robot_drives_to_a_goal(robot):
    robot.wait_until_unlocked()
    before = robot.pose()
    drives(robot, 0.5)
    robot.wait_for(lambda: 0.45 < ((robot.pose() - before)[:2] ** 2).sum() ** 0.5, 'arrival')
