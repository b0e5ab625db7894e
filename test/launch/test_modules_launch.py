# SPDX-License-Identifier: Apache-2.0
"""What modules.launch.py starts: commands for forward controllers, odometry, mux."""

import os
from xml.etree import ElementTree

import pytest
import yaml
from conftest import add_package
from launch_reading import ROOT, nodes_of, parameters_of

from c3p_controller.module_joints import ModuleJoints
from c3p_description import load

FILE = 'modules.launch.py'


@pytest.mark.parametrize('robot', ['swerve', 'tricycle_agv', 'amr', 'twin'])
def test_commands_are_those_of_the_forward_controllers(prefix, robot):
    nodes = nodes_of(FILE, robot=robot, steering_interface='velocity', namespace='robot1')
    assert set(nodes) == {'module_controller_node', 'sensed_kinematics_node', 'twist_mux_node'}
    words = nodes['module_controller_node']
    for topic, controller in (('steering_position', 'steering'), ('steering_velocity', 'steering'),
                              ('wheel_velocity', 'wheel')):
        assert f'module_controller/{topic}:={controller}_controller/commands' in words
    assert '__ns:=/robot1' in words
    merged = {}
    for values in parameters_of(words).values():
        merged |= values
    assert merged['robot'] == robot and merged['steering_interface'] == 'velocity'


@pytest.mark.parametrize('given, in_file, expected', [
    ('', '', 'position'), ('velocity', '', 'velocity'), ('', 'velocity', 'velocity'),
    ('position', 'velocity', 'position')])
def test_the_description_has_the_interfaces_of_the_commands(prefix, tmp_path, given, in_file,
                                                           expected):
    """A controller manager takes it from the topic robot_description."""
    chosen = {'steering_interface': in_file} if in_file else {}
    content = {'/**/module_controller': {'ros__parameters': chosen}}
    assert described(tmp_path, content, given) == {'steering_joint_1': expected,
                                                   'wheel_joint_1': 'velocity'}


@pytest.mark.parametrize('content', [
    {'agv': {'module_controller': {'ros__parameters': {'steering_interface': 'velocity'}}}},
    {'/**': {'ros__parameters': {'steering_interface': 'velocity'}}, 'module_controller': None}])
def test_the_interface_of_a_file_is_found_below_namespaces_and_beside_empty_nodes(
        prefix, tmp_path, content):
    assert described(tmp_path, content)['steering_joint_1'] == 'velocity'


def described(tmp_path, content, given=''):
    """Return the command interface of each joint in the published description."""
    add_package(tmp_path, 'robot_state_publisher', 'robot_state_publisher')
    file = tmp_path / 'modules.yaml'
    file.write_text(yaml.safe_dump(content))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv('AMENT_PREFIX_PATH',
                       f'{tmp_path}{os.pathsep}{os.environ["AMENT_PREFIX_PATH"]}')
        words = nodes_of(FILE, robot='tricycle_agv', steering_interface=given,
                         params_file=str(file))['robot_state_publisher']
    merged = {}
    for values in parameters_of(words).values():
        merged |= values
    block = ElementTree.fromstring(merged['robot_description']).find('ros2_control')
    return {joint.get('name'): joint.find('command_interface').get('name')
            for joint in block.findall('joint') if joint.find('command_interface') is not None}


def test_parts_of_other_packages_may_take_their_place(prefix):
    nodes = nodes_of(FILE, odometry='false', mux='false', wheel_commands='wheels/commands')
    assert set(nodes) == {'module_controller_node'}
    words = nodes['module_controller_node']
    assert 'module_controller/wheel_velocity:=wheels/commands' in words


def test_the_example_of_the_controllers_has_the_joints_of_its_robot():
    content = yaml.safe_load((ROOT / 'config/module_controllers.yaml').read_text())
    joints = ModuleJoints(load('swerve'))
    for name, expected, interface in (('steering', joints.steering, 'position'),
                                      ('wheel', joints.wheels, 'velocity')):
        found = content[f'/**/{name}_controller']['ros__parameters']
        assert tuple(found['joints']) == expected and found['interface_name'] == interface
