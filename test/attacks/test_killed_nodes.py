# SPDX-License-Identifier: Apache-2.0
"""
An e-stop that was pressed once, and every node of the robot killed by SIGKILL, one after another.

Each node is a process. The publisher of the e-stop latches nothing and does not repeat itself, and
a joystick goes on commanding, zeros first, as one that wants to drive.
"""

import math
import os
import signal
import time

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import TwistStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from ros_bench import Bench  # noqa: E402
from std_msgs.msg import Bool  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from virtual_time import RealTime  # noqa: E402

from c3p_bringup.processes import NodeProcess  # noqa: E402
from c3p_ros.messages import fill_twist  # noqa: E402
from c3p_ros.node import LATCHED  # noqa: E402

MODULES = {
    'simulation': 'c3p_simulation.simulation_node',
    'sensed_kinematics': 'c3p_kinematics.sensed_kinematics_node',
    'velocity_controller': 'c3p_controller.velocity_controller_node',
    'position_controller': 'c3p_controller.position_controller_node',
    'twist_mux': 'c3p_controller.twist_mux_node',
}
# nothing waits longer than it has to: what holds the robot must not be a silence after the start
ARGUMENTS = {
    'position_controller': ['-r', 'cmd_vel:=cmd_vel_position'],
    'velocity_controller': ['-p', 'start_silence:=0.2'],
    'twist_mux': ['-p', 'start_silence:=0.0'],
}
AT_REST, SPEED = 0.01, 0.25
# a joystick shows zero for so long, then commands for so long, s; and once more where the mux was
# started again, which passes nothing on until its subscribers have been told to stand for 0.3 s
ZEROS, PUSH, TRIES = 0.4, 1.2, 2


class Robot(Bench):
    """The robot's nodes as processes, a joystick and an e-stop."""

    def __init__(self, place):
        super().__init__(RealTime())
        self.place, self.processes = place, {}
        self.truth = self.collect(Odometry, 'ground_truth/odom', 10, keep=1)
        self.mux_locked = self.collect(Bool, 'twist_mux/locked', LATCHED, keep=1)
        for name in MODULES:
            self.start(name)
        self.wait_for(lambda: set(MODULES) <= set(self.health), 'every node', 90.0)
        self.stick = self.publisher(TwistStamped, 'cmd_vel_joy')

    def start(self, name):
        self.health.pop(name, None)
        if name == 'twist_mux':
            self.mux_locked.clear()
        self.processes[name] = NodeProcess(name, MODULES[name], ARGUMENTS.get(name, []),
                                           self.place / f'{name}.log')

    def kill(self, name):
        os.kill(self.processes[name].pid, signal.SIGKILL)
        self.wait_for(self.processes[name].ended, f'the end of {name}')

    def push(self, seconds, *twist, enough=math.inf):
        """Command for some time, or until the speed is `enough`; return the highest speed."""
        end, fastest = time.monotonic() + seconds, 0.0

        def over():
            nonlocal fastest
            fastest = max(fastest, self.speed())
            return time.monotonic() > end or fastest > enough

        def command():
            message = TwistStamped()
            message.header.stamp, message.header.frame_id = self.now(), 'base_link'
            fill_twist(message.twist, twist)
            self.stick.publish(message)

        self._repeat(command, over, 'time', seconds + 10.0)
        return fastest

    def tries_to_drive(self, times):
        """Let go of the stick and push it; return the highest speed."""
        return max(max(self.push(ZEROS, 0.0, 0.0, 0.0), self.push(PUSH, 0.0, SPEED, 0.0))
                   for _ in range(times))

    def drives(self):
        """Fail unless the joystick can drive the robot now."""
        end, enough = time.monotonic() + 60.0, 0.5 * SPEED
        self.push(ZEROS, 0.0, 0.0, 0.0)
        while self.push(4 * PUSH, 0.0, SPEED, 0.0, enough=enough) < enough:
            assert time.monotonic() < end, f'does not drive: {self.story()}'
            self.push(ZEROS, 0.0, 0.0, 0.0)

    def close(self):
        for process in self.processes.values():
            process.stop()
        super().close()


@pytest.fixture
def robot(tmp_path):
    robot = Robot(tmp_path)
    yield robot
    robot.close()


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.timeout(300)
def test_an_e_stop_stays_pressed_whichever_node_is_killed_and_started_again(robot):
    robot.wait_for(lambda: robot.mux_locked and robot.mux_locked[-1].data, 'locked from the start')
    assert robot.call(Trigger, 'twist_mux/release').success
    robot.drives()
    # pressed once, by a publisher that is gone then
    button = robot.publisher(Bool, 'e_stop')
    button.publish(Bool(data=True))
    robot.wait_for(lambda: robot.mux_locked[-1].data, 'the e-stop')
    robot.talker.destroy_publisher(button)
    robot.push(1.5, 0.0, SPEED, 0.0)
    robot.wait_for(lambda: robot.speed() < AT_REST, 'rest')
    for name in MODULES:
        robot.kill(name)
        robot.start(name)
        robot.wait_for(lambda name=name: name in robot.health, f'{name} again', 60.0)
        robot.wait_for(lambda: robot.mux_locked and robot.truth, 'discovery')
        fastest = robot.tries_to_drive(TRIES if name == 'twist_mux' else 1)
        print(f'{name} killed: at most {fastest:.4f} m/s')
        assert fastest < AT_REST, (name, robot.story())
        assert robot.mux_locked[-1].data, (name, robot.story())
    # the same stick drives as soon as the e-stop is released: nothing else held the robot
    assert robot.call(Trigger, 'twist_mux/release').success
    robot.drives()
