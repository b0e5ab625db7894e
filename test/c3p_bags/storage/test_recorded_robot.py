# SPDX-License-Identifier: Apache-2.0
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import yaml
from synthetic import opened

from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_parameters import EVENT, event
from c3p_bags.storage.bag_writer import BagError, BagWriter
from c3p_description.reading.loader import load, robot_description

pytest.importorskip('xacro', reason='pip install xacro')


@contextmanager
def described(path):
    """Yield the argument of `load` for the robot of a bag."""
    with Bag(path) as bag, bag.robot().description() as robot:
        yield robot


def write(path, note, description, namespace=''):
    """Write a bag of a robot that says nothing but what it is."""
    with BagWriter(path) as writer:
        writer.note(note)
        writer.add(f'{namespace}/joint_states', 'sensor_msgs/msg/JointState')
        writer.add(f'{namespace}/robot_description', 'std_msgs/msg/String', latched=True)
        if description:
            text = writer.types.types['std_msgs/msg/String'](description)
            writer.write_message(f'{namespace}/robot_description', 1, text)
    return path


def test_a_name_that_is_known_here_is_taken(tmp_path):
    bag = write(tmp_path / 'bag', {'c3p_robot': 'pvc_tricycle'}, robot_description('c3p_25kg'))
    with described(bag) as name:
        assert name == 'pvc_tricycle'


@pytest.mark.parametrize('note', [{}, {'c3p_robot': '/opt/robot/ours.yaml'}])
@pytest.mark.parametrize('space', ['', '/robot1'])
def test_else_it_is_the_one_that_the_bag_describes(tmp_path, note, space):
    bag = write(tmp_path / 'bag', note, robot_description('c3p_25kg'), space)
    with described(bag) as path:
        assert load(path).platform_mass == pytest.approx(load('c3p_25kg').platform_mass)
    assert not Path(path).exists()


def test_a_bag_that_neither_names_nor_describes_a_robot_needs_one_named(tmp_path):
    bag = write(tmp_path / 'bag', {}, '')
    with pytest.raises(BagError, match='has no robot_description; name the robot: --robot NAME'):
        opened(Bag.robot, bag)
    assert opened(Bag.casters, bag, 'c3p').name == 'c3p'


ARM = '<robot name="arm"><link name="base"/></robot>'


@pytest.mark.parametrize(('note', 'description', 'reason'), [
    ({'c3p_robot': 'ours'}, '', "'ours' is not one of this installation.*no robot_description"),
    ({'c3p_robot': 'ours'}, ARM, 'casters'),
    ({}, ARM, 'its description cannot be used.*casters'),
    ({}, '<robot', 'not well-formed')])
def test_a_robot_that_cannot_be_found_is_refused_with_the_remedy(tmp_path, note, description,
                                                                 reason):
    bag = write(tmp_path / 'bag', note, description)
    with pytest.raises(BagError, match=f'{reason}.*--robot'), described(bag):
        pass


@pytest.mark.parametrize('name', [
    'bag/robot.xacro', './robot.xacro', 'robot.xacro', '../bag/robot.yaml', 'robot.urdf', 'robot',
    '/etc/passwd', 'c3p.yaml', '../robots/c3p', ['c3p'], 7])
def test_a_path_in_a_bag_is_not_opened(tmp_path, monkeypatch, name):
    bag = write(tmp_path / 'bag', {}, robot_description('c3p_25kg'))
    metadata = bag / 'metadata.yaml'
    content = yaml.safe_load(metadata.read_text(encoding='utf-8'))
    content['rosbag2_bagfile_information']['custom_data'] = {'c3p_robot': name}
    metadata.write_text(yaml.safe_dump(content), encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    for place in ('robot.xacro', 'robot.yaml', 'robot.urdf', 'robot', 'c3p.yaml'):
        (bag / place).write_text('<robot/>', encoding='utf-8')
        (tmp_path / place).write_text('<robot/>', encoding='utf-8')
    with described(bag) as path:
        assert Path(path).name == 'robot.urdf' and Path(path).parent.name.startswith('c3p_robot_')
        assert load(path).platform_mass == pytest.approx(load('c3p_25kg').platform_mass)


def test_a_description_in_a_bag_is_urdf_and_never_xacro(tmp_path):
    mark = tmp_path / 'ran'
    text = robot_description('c3p_25kg').replace('<link', (
        '<x:property xmlns:x="http://www.ros.org/wiki/xacro" name="a" value="${(lambda: '
        f"open('{mark}', 'w'))()}}\"/><link"), 1)
    bag = write(tmp_path / 'bag', {}, text)
    assert opened(Bag.casters, bag).platform_mass == pytest.approx(load('c3p_25kg').platform_mass)
    assert not mark.exists()


def test_the_node_of_a_namespace_says_more_than_the_recorder(tmp_path):
    with BagWriter(tmp_path / 'bag') as writer:
        writer.note({'c3p_robot': 'c3p'})
        for space, robot in (('/one', 'c3p_25kg'), ('/two', 'c3p')):
            writer.add(f'{space}/joint_states', 'sensor_msgs/msg/JointState')
            writer.add(f'{space}/recorder/parameters', EVENT)
            node = f'{space}/sensed_kinematics'
            writer.write_message(f'{space}/recorder/parameters', 1, event(
                writer.types.types, 1, node, {'robot': parameter(writer.types.types, robot)}))
    with Bag(tmp_path / 'bag') as bag:
        assert bag.robot('/one') == bag.robot('one/') == bag.robot('/one/')
        assert bag.robot('/one').name == 'c3p_25kg'
        assert bag.robot('/two').name == 'c3p'


def parameter(types, text):
    """Return the value of a parameter that is a text."""
    empty = [np.zeros(0, kind) for kind in (np.int8, bool, np.int64, float)]
    return types['rcl_interfaces/msg/ParameterValue'](4, False, 0, 0.0, text, *empty, [])


def test_a_bag_that_is_none_is_told(tmp_path):
    with pytest.raises(BagError, match='no such file'), described(tmp_path / 'none'):
        pass


@pytest.mark.parametrize('command', ['report', 'recompute', 'film', 'view', 'identify'])
def test_every_command_refuses_a_bag_of_an_unknown_robot_with_the_remedy(tmp_path, capsys,
                                                                         monkeypatch, command):
    from c3p_bringup.cli.main import main

    monkeypatch.chdir(tmp_path)
    bag = write(tmp_path / 'bag', {'c3p_robot': 'ours'}, '')
    assert main([command, str(bag)]) == 2
    told = capsys.readouterr().err
    assert "'ours' is not one of this installation" in told and '--robot NAME' in told
