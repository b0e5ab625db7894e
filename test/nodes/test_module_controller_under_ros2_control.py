# SPDX-License-Identifier: Apache-2.0
"""The node module_controller with controllers and components that the description has."""

import math
import xml.etree.ElementTree as ElementTree

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')

from fake_ros2_control import (  # noqa: E402
    PERIOD,
    ForwardController,
    Manager,
    StateBroadcaster,
)
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.qos import qos_profile_sensor_data  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_controller.module_controller_node import ModuleControllerNode  # noqa: E402
from c3p_controller.module_joints import ModuleJoints  # noqa: E402
from c3p_description import load, robot_description  # noqa: E402
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_ros.orderly_node import OrderlyNode  # noqa: E402

NAME = 'module_controller'
# of steering motors that follow positions, rad/s
TURN = 8.0


class JointSystem:
    """
    Component with the interfaces of a block: joints follow positions and velocities.

    A command of another interface than the block has is refused, as the controller manager does
    when it activates the controller.
    """

    def __init__(self, urdf):
        block = ElementTree.fromstring(urdf).find('ros2_control')
        self.interface = {joint.get('name'): command.get('name')
                          for joint in block.findall('joint')
                          for command in joint.findall('command_interface')}
        self.commands = {}
        self.states = {joint.get('name'): {'position': 0.0, 'velocity': 0.0}
                       for joint in block.findall('joint')}

    def claim(self, joints, interface):
        """Return the commands of a controller; the block must have the interfaces."""
        assert {self.interface[name] for name in joints} <= {interface}
        return self.commands

    def read(self):
        for name, command in self.commands.items():
            state = self.states[name]
            if self.interface[name] == 'velocity':
                step = command * PERIOD
            else:
                most = TURN * PERIOD
                step = min(max(command - state['position'], -most), most)
            state['position'] += step
            state['velocity'] = step / PERIOD

    def write(self):
        """Send nothing: the joints are here."""


def start(bench, name, interface):
    """Start manager, controllers, module_controller and odometry of a robot."""
    system = JointSystem(robot_description(name, {'steering_interface': interface}))
    joints = ModuleJoints(load(name))
    node = bench.add(lambda **options: OrderlyNode('controller_manager',
                                                   context=options['context']))
    controllers = [ForwardController(node, 'wheel_controller', joints.wheels,
                                     system.claim(joints.wheels, 'velocity'))]
    if joints.steering:
        controllers.append(ForwardController(node, 'steering_controller', joints.steering,
                                             system.claim(joints.steering, interface)))
    Manager(node, [system], [StateBroadcaster(node, system.states), *controllers])
    words = ['--ros-args']
    for topic, controller in ((f'steering_{interface}', 'steering_controller'),
                              ('wheel_velocity', 'wheel_controller')):
        words += ['-r', f'{NAME}/{topic}:={controller}/commands']
    bench.add(lambda **options: ModuleControllerNode(cli_args=words, **options), robot=name,
              start_silence=0.2, steering_interface=interface)
    bench.add(SensedKinematicsNode, robot=name)
    return system


def follow(bench, twist, seconds):
    for _ in range(round(seconds / 0.02)):
        bench.command(*twist)
        bench.run(0.02)


@pytest.mark.parametrize('interface', ['position', 'velocity'])
@pytest.mark.parametrize('name', ['swerve', 'tricycle_agv', 'amr'])
def test_a_robot_drives_through_the_interfaces_of_its_description(bench, name, interface):
    system = start(bench, name, interface)
    odom = bench.collect(Odometry, 'odom', keep=1)
    bench.wait_for(lambda: odom, 'odometry')
    bench.command_until(lambda: bench.value(NAME, 'locked') == 'no', 'unlocking', 0.0, 0.0, 0.0)
    # a quarter of a turn to the left, on a circle of 0.5 m
    follow(bench, (0.25, 0.0, 0.5), math.pi)
    follow(bench, (0.0, 0.0, 0.0), 1.5)
    pose = odom[-1].pose.pose
    yaw = 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)
    # ramps and turning modules cost a part of the path, and none of its curvature
    assert 1.2 < yaw < 1.6
    radius = 0.5
    assert pose.position.x == pytest.approx(radius * math.sin(yaw), abs=0.03)
    assert pose.position.y == pytest.approx(radius * (1.0 - math.cos(yaw)), abs=0.03)
    # at rest, and by the commands that the controllers keep
    assert all(abs(state['velocity']) < 1e-3 for state in system.states.values())


def test_frames_of_fixed_wheels_need_no_joint_states(bench):
    """joint_states have the joints of the block, which are those that turn."""
    start(bench, 'amr', 'position')
    states = bench.collect(JointState, 'joint_states', qos_profile_sensor_data, keep=1)
    bench.wait_for(lambda: states, 'joint states')
    turning = {joint.get('name') for joint in ElementTree.fromstring(
        robot_description('amr')).findall('joint') if joint.get('type') != 'fixed'}
    assert turning <= set(states[-1].name)
