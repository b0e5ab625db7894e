# SPDX-License-Identifier: Apache-2.0
"""The xacro of robots on modules, fixed wheels and twins: tree, ros2_control, Gazebo."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from sdformat_tool import sdformat
from urdf_places import misplaced

from c3p_controller.module_joints import ModuleJoints
from c3p_description import load, robot_description
from c3p_description.model import ModelError
from c3p_description.reading.urdf import from_urdf

pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')

ROOT = Path(__file__).parents[2]
KINDS = pytest.mark.parametrize('name', ['swerve', 'tricycle_agv', 'amr', 'twin'])


def elements(name, **arguments):
    """Return the description without the settings of the suite, as Gazebo and RViz see it."""
    return ElementTree.fromstring(plain(robot_description(name, arguments)))


def plain(text):
    return re.sub('<c3p>.*</c3p>', '', text, flags=re.DOTALL)


@KINDS
def test_the_tree_alone_has_the_wheels_of_the_robot(name):
    text = plain(robot_description(name))
    found, robot = from_urdf(text, twins='apart'), load(name)
    # no joint turns a fixed wheel
    assert misplaced(text, replace(robot, steering_joints=found.steering_joints),
                     'base_link') < 1e-9
    np.testing.assert_array_equal(found.fixed, robot.fixed)
    np.testing.assert_allclose(found.steering_zero, robot.steering_zero, atol=1e-12)
    assert found.total_mass == pytest.approx(robot.total_mass, rel=1e-12)
    assert found.wheel_joints == robot.wheel_joints


@KINDS
def test_joints_that_turn_are_those_of_messages(name):
    """A fixed wheel with a joint that turns would be a caster in Gazebo, and lost in RViz."""
    turning = {joint.get('name') for joint in elements(name).findall('joint')
               if joint.get('type') != 'fixed'}
    assert turning == set(load(name).joint_places)


@KINDS
def test_a_wheel_points_ahead_where_its_joints_are_at_zero(name):
    """As written in the files: all wheels roll along x there, but for the modules along y."""
    robot = load(name)
    ahead = {'swerve': [0.0, 1.0]}.get(name, [1.0, 0.0])
    joints = {joint.get('name'): joint for joint in elements(name).findall('joint')}
    for steering in {f'steering_joint_{k + 1}' for k in range(robot.count)} & set(joints):
        yaw = float(joints[steering].find('origin').get('rpy').split()[2])
        np.testing.assert_allclose([-np.sin(yaw), np.cos(yaw)], ahead, atol=1e-12)


@KINDS
@pytest.mark.parametrize('hardware', ['mock', 'topic', 'gazebo', 'mujoco'])
@pytest.mark.parametrize('interface', ['', 'position', 'velocity'])
def test_the_block_has_the_joints_and_commands_of_the_controllers(name, hardware, interface):
    robot = load(name)
    joints = ModuleJoints(robot)
    block, = elements(name, hardware=hardware, steering_interface=interface
                      ).findall('ros2_control')
    found = {joint.get('name'): [command.get('name') for command in
                                 joint.findall('command_interface')]
             for joint in block.findall('joint')}
    assert set(found) == set(robot.joint_places)
    expected = {**dict.fromkeys(joints.steering, [interface or 'effort']),
                **dict.fromkeys(joints.wheels, ['velocity' if interface else 'effort'])}
    assert {joint: commands for joint, commands in found.items() if commands} == expected
    # each of them is measured, too
    for joint in block.findall('joint'):
        states = [state.get('name') for state in joint.findall('state_interface')]
        assert states[:2] == ['position', 'velocity']


def test_the_controllers_of_the_example_find_their_interfaces_in_the_block():
    content = yaml.safe_load((ROOT / 'config/module_controllers.yaml').read_text())
    block = elements('swerve', steering_interface='position').find('ros2_control')
    offered = {(joint.get('name'), command.get('name')) for joint in block.findall('joint')
               for command in joint.findall('command_interface')}
    entries = [entry['ros__parameters'] for entry in content.values()]
    claimed = {(joint, entry['interface_name'])
               for entry in entries for joint in entry.get('joints', ())}
    assert claimed == offered


def test_another_steering_interface_is_refused_with_those_there_are():
    with pytest.raises(ModelError, match='steering_interface:=effort: must be position, velocity'):
        robot_description('swerve', {'steering_interface': 'effort'})


@KINDS
def test_sdformat_reads_the_wheels_as_they_are(name, tmp_path):
    file = tmp_path / 'robot.urdf'
    file.write_text(robot_description(name, {'hardware': 'gazebo'}))
    done = subprocess.run([*sdformat(), '-p', str(file)], capture_output=True, text=True)
    assert done.returncode == 0 and 'Error' not in done.stderr
    model = ElementTree.fromstring(done.stdout).find('model')
    assert {joint.get('name') for joint in model.findall('joint')
            if joint.get('type') != 'fixed'} == set(load(name).joint_places)


def test_motors_without_limits_have_numbers_that_parsers_of_urdf_read(tmp_path):
    """Infinity is no number for urdfdom: robot_state_publisher and Gazebo refuse the file."""
    file = tmp_path / 'free.yaml'
    file.write_text('extends: swerve\nname: free\ncasters: {torque_limit: .inf, '
                    'steering_torque_limit: .inf, steering_rate_limit: .inf}\n'
                    'wheel: {rate_limit: .inf}\n')
    text = robot_description(file)
    limits = [float(limit.get(name)) for limit in ElementTree.fromstring(text).iter('limit')
              for name in ('effort', 'velocity')]
    assert len(limits) == 16 and np.isfinite(limits).all()
    found = from_urdf(text)
    for name in ('torque_limit', 'steering_torque_limit', 'steering_rate_limit',
                 'wheel_rate_limit'):
        assert np.isinf(getattr(found, name)).all(), name
