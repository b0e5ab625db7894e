# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from c3p_description.loader import load, robot_description
from c3p_simulation.recording.bags import BagError, BagWriter
from c3p_simulation.recording.recorded_robot import recorded_robot

pytest.importorskip('xacro', reason='pip install xacro')


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
    with recorded_robot(bag) as name:
        assert name == 'pvc_tricycle'


@pytest.mark.parametrize('note', [{}, {'c3p_robot': '/opt/robot/ours.yaml'}])
@pytest.mark.parametrize('space', ['', '/robot1'])
def test_else_it_is_the_one_that_the_bag_describes(tmp_path, note, space):
    bag = write(tmp_path / 'bag', note, robot_description('c3p_25kg'), space)
    with recorded_robot(bag) as path:
        assert load(path).platform_mass == pytest.approx(load('c3p_25kg').platform_mass)
    assert not Path(path).exists()


@pytest.mark.parametrize('description', ['', '<robot name="arm"><link name="base"/></robot>'])
def test_else_it_is_the_c3p(tmp_path, description):
    bag = write(tmp_path / 'bag', {'c3p_robot': 'ours'}, description)
    with recorded_robot(bag) as name:
        assert name == 'c3p'


def test_a_bag_that_is_none_is_told(tmp_path):
    with pytest.raises(BagError, match='no such file'), recorded_robot(tmp_path / 'none'):
        pass
