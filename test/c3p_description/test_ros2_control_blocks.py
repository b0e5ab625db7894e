# SPDX-License-Identifier: Apache-2.0
"""The <ros2_control> blocks that the real xacro makes, for each kind of hardware."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import yaml

from c3p_description import load, robot_description
from c3p_description.model import ModelError
from c3p_description.reading.urdf import from_urdf

pytest.importorskip('xacro', reason='the URDF is made by xacro: pip install xacro')

ROOT = Path(__file__).parents[2]
PLUGINS = {'mock': 'mock_components/GenericSystem',
           'topic': 'joint_state_topic_hardware_interface/JointStateTopicSystem',
           'gazebo': 'gz_ros2_control/GazeboSimSystem',
           'mujoco': 'mujoco_ros2_control/MujocoSystemInterface'}
WHEELS = [f'wheel_joint_{i}' for i in (1, 2, 3)]
STEERING = [f'steering_joint_{i}' for i in (1, 2, 3)]
EVERY = pytest.mark.parametrize('hardware', [*PLUGINS, 'my_package/MySystem'])


def tree_of(hardware, robot='c3p', **arguments):
    """Return the description as elements."""
    return ElementTree.fromstring(robot_description(robot, {'hardware': hardware, **arguments}))


def parameters(block):
    """Return the parameters of a block's hardware."""
    return {p.get('name'): p.text for p in block.findall('hardware/param')}


def interfaces(block, kind):
    """Return {joint: interfaces} of a block, in its order."""
    return {j.get('name'): [i.get('name') for i in j.findall(kind)]
            for j in block.findall('joint')}


@EVERY
def test_wheels_take_effort_and_passive_steering_never_has_a_command_interface(hardware):
    blocks = tree_of(hardware).findall('ros2_control')
    commands, states = {}, {}
    for block in blocks:
        assert block.get('type') == 'system'
        assert block.find('hardware/plugin').text == PLUGINS.get(hardware, hardware)
        commands |= interfaces(block, 'command_interface')
        states |= interfaces(block, 'state_interface')
    assert commands == dict.fromkeys(WHEELS, ['effort']) | dict.fromkeys(STEERING, [])
    assert states == (dict.fromkeys(WHEELS, ['position', 'velocity', 'effort'])
                      | dict.fromkeys(STEERING, ['position', 'velocity']
                                      + ['effort'] * (hardware == 'topic')))
    assert not {block.get('name') for block in blocks} & {'c3p'}
    # the same joints must not be in two blocks
    assert sum(len(block.findall('joint')) for block in blocks) == 6


@EVERY
def test_the_block_does_not_change_the_robot(hardware):
    plain, model = load('c3p'), from_urdf(robot_description('c3p', {'hardware': hardware}))
    for name in ('wheel_joints', 'steering_joints'):
        assert getattr(model, name) == getattr(plain, name)
    np.testing.assert_array_equal(model.driven, plain.driven)
    losses = plain.losses.copy()
    if hardware == 'gazebo':
        # there the pivots resist in the place of tyres that turn on the spot
        losses[:, 1], losses[:, 4] = losses[:, 1] + losses[:, 4], 0
    np.testing.assert_allclose(model.losses, losses, rtol=1e-12)


def test_the_limit_of_a_command_is_that_of_the_joint():
    """The controller manager enforces what the joint says (enforce_command_limits)."""
    joints = {j.get('name'): j for j in tree_of('topic', 'c3p_25kg').findall('joint')}
    limits = [float(joints[name].find('limit').get('effort')) for name in WHEELS]
    assert limits == pytest.approx(load('c3p_25kg').torque_limit)


def test_the_topic_system_gets_one_block_both_topics_and_the_threshold():
    """Of two blocks one may have the sample before: steering and wheels of different times."""
    block, = tree_of('topic').findall('ros2_control')
    assert parameters(block) == {'joint_commands_topic': 'hardware/joint_commands',
                                 'joint_states_topic': 'hardware/joint_states',
                                 'trigger_joint_command_threshold': '-1'}
    block, = tree_of('topic', joint_commands_topic='/a', joint_states_topic='/b'
                     ).findall('ros2_control')
    assert list(parameters(block).values())[:2] == ['/a', '/b']


def test_the_default_commands_topic_is_that_of_the_bridge():
    schema = yaml.safe_load(
        (ROOT / 'c3p_hardware/ros2_control_bridge_parameters.yaml').read_text())
    block = tree_of('topic').find('ros2_control')
    assert (parameters(block)['joint_commands_topic']
            == schema['ros2_control_bridge']['joint_commands_topic']['default_value'])


def test_mock_hardware_starts_at_zero_and_no_other_is_told_where_to_start():
    for hardware in PLUGINS:
        values = [p.text for p in tree_of(hardware).iter('param')
                  if p.get('name') == 'initial_value']
        assert values == (['0.0'] * 15 if hardware == 'mock' else [])


def test_gazebo_gets_the_plugin_that_holds_the_controller_manager():
    for hardware in set(PLUGINS) - {'gazebo'}:
        assert not tree_of(hardware).findall('gazebo')
    plugin = tree_of('gazebo').find('gazebo/plugin')
    assert (plugin.get('filename'), plugin.get('name')) == (
        'gz_ros2_control-system', 'gz_ros2_control::GazeboSimROS2ControlPlugin')
    assert plugin.find('ros') is None
    # beside the description, in the source as in an installation
    assert Path(plugin.find('parameters').text).samefile(ROOT / 'config/ros2_controllers.yaml')
    plugin = tree_of('gazebo', controllers='/x.yaml', namespace='robot1').find('gazebo/plugin')
    assert (plugin.find('parameters').text, plugin.find('ros/namespace').text) == (
        '/x.yaml', 'robot1')


def test_mujoco_gets_its_model_or_waits_for_it():
    assert parameters(tree_of('mujoco').find('ros2_control')) == {'headless': 'false'}
    block = tree_of('mujoco', mujoco_model='/x.xml', headless='true').find('ros2_control')
    assert parameters(block) == {'mujoco_model': '/x.xml', 'headless': 'true'}


def test_a_steering_joint_with_a_motor_takes_effort(tmp_path):
    file = tmp_path / 'one.yaml'
    file.write_text('extends: c3p\nname: one\ncasters:\n  steered: [false, true, false]\n'
                    '  steering_torque_limit: 2.0\n  steering_rate_limit: 30.0\n')
    for hardware in PLUGINS:
        tree = tree_of(hardware, file)
        commands, states = {}, {}
        for block in tree.findall('ros2_control'):
            commands |= interfaces(block, 'command_interface')
            states |= interfaces(block, 'state_interface')
        assert [name for name, found in commands.items() if found == ['effort']] == [
            WHEELS[0], STEERING[1], *WHEELS[1:]]
        assert states[STEERING[1]] == ['position', 'velocity', 'effort']
        limit, = tree.findall("joint[@name='steering_joint_2']/limit")
        assert limit.attrib == {'effort': '2.0', 'velocity': '30.0'}
        assert not tree.findall("joint[@name='steering_joint_1']/limit")


def test_a_wheel_without_motor_is_only_measured(tmp_path):
    file = tmp_path / 'two.yaml'
    file.write_text('extends: c3p\nname: two\ncasters: {driven: [true, false, true]}\n')
    for hardware in PLUGINS:
        commands = {}
        for block in tree_of(hardware, file).findall('ros2_control'):
            commands |= interfaces(block, 'command_interface')
        assert [name for name, found in commands.items() if found] == WHEELS[::2]
    block, = tree_of('topic', file).findall('ros2_control')
    assert 'wheel_joint_2' in interfaces(block, 'state_interface')


def test_a_misspelt_kind_is_refused_with_those_there_are():
    with pytest.raises(ModelError, match='hardware:=gazeboo: must be one of mock, topic, gazebo, '
                                         'mujoco, or the name of a plugin'):
        robot_description('c3p', {'hardware': 'gazeboo'})


def test_controllers_know_the_joints_of_the_c3p_and_the_bridges_topic():
    content = {name.removeprefix('/**/'): entry['ros__parameters'] for name, entry in
               yaml.safe_load((ROOT / 'config/ros2_controllers.yaml').read_text()).items()}
    assert content['wheel_effort_controller']['joints'] == WHEELS
    assert set(content['controller_manager']) == {'update_rate', 'joint_state_broadcaster',
                                                  'wheel_effort_controller'}
    for name, entry in content['controller_manager'].items():
        if name != 'update_rate':
            assert name in content and re.fullmatch(r'\w+/\w+', entry['type'])


# plugin classes and their parameters in ros2_controllers 4.42.1 (Jazzy), 5.17.0 (Kilted) and 6.9.0
# (Lyrical), by *_plugin*.xml and *_parameters.yaml
FORWARD, BROADCASTER = ('forward_command_controller/ForwardCommandController',
                        'joint_state_broadcaster/JointStateBroadcaster')
COMMON = {FORWARD: {'joints', 'interface_name'},
          BROADCASTER: {'use_local_topics', 'joints', 'extra_joints', 'interfaces',
                        'map_interface_to_joint_state', 'use_urdf_to_filter', 'frame_id'}}
GROUP = {'effort_controllers/JointGroupEffortController': {'joints', 'interface_name'}}
DYNAMIC = {BROADCASTER: COMMON[BROADCASTER] | {'publish_dynamic_joint_states'}}
CLASSES = {'jazzy': {**COMMON, **GROUP, **DYNAMIC}, 'kilted': {**COMMON, **GROUP, **DYNAMIC},
           'lyrical': COMMON}


@pytest.mark.parametrize('distribution', CLASSES)
def test_controllers_exist_with_their_parameters_in_each_distribution(distribution):
    content = {name.removeprefix('/**/'): entry['ros__parameters'] for name, entry in
               yaml.safe_load((ROOT / 'config/ros2_controllers.yaml').read_text()).items()}
    manager, classes = content.pop('controller_manager'), CLASSES[distribution]
    assert content.keys() == manager.keys() - {'update_rate'}
    for name, parameters in content.items():
        kind = manager[name]['type']
        assert kind in classes, f'{name}: {kind} does not exist in {distribution}'
        assert parameters.keys() <= classes[kind], name
    # neither may be empty: the special type sets the second by itself, the general one does not
    forward = next(name for name in content if manager[name]['type'] == FORWARD)
    assert content[forward]['interface_name'] == 'effort' and content[forward]['joints']
