# SPDX-License-Identifier: Apache-2.0
"""Steering motors of wheels below their pivots, where a URDF names none."""

from dataclasses import replace

import pytest

from c3p_controller import AUTO
from c3p_description import describe, load
from c3p_description.model import ModelError
from c3p_description.reading.loader import robot_description
from c3p_description.reading.urdf import from_urdf
from c3p_experiments.loop.controllers import make_controller

WHEEL = """
  <link name="fork_{k}"><inertial><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="pivot_{k}" type="continuous"><parent link="base_link"/><child link="fork_{k}"/>
    <origin xyz="{x} {y} 0.1"/><axis xyz="0 0 1"/></joint>
  <link name="wheel_{k}"><inertial><mass value="1"/>
    <inertia ixx="0.002" iyy="0.004" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin rpy="1.5708 0 0"/><geometry><cylinder radius="0.1" length="0.04"/>
      </geometry></collision></link>
  <joint name="roll_{k}" type="continuous"><parent link="fork_{k}"/><child link="wheel_{k}"/>
    <origin xyz="{offset} 0 0"/><axis xyz="0 1 0"/><limit effort="5" velocity="20"/></joint>"""


def urdf(path, offset):
    """Write a robot on four wheels behind steering joints without transmissions."""
    wheels = ''.join(WHEEL.format(k=k, x=x, y=y, offset=offset) for k, (x, y) in enumerate(
        ((0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3))))
    path.write_text(f'<robot name="four"><link name="base_link"><inertial><mass value="30"/>'
                    '<inertia ixx="1" iyy="1" izz="2" ixy="0" ixz="0" iyz="0"/></inertial></link>'
                    f'{wheels}</robot>')
    return path


def test_a_wheel_below_its_pivot_has_a_steering_motor_that_is_noted(tmp_path):
    reading = describe(urdf(tmp_path / 'four.urdf', 0.0))
    assert reading.robot.steered.all()
    note, = (note for note in reading.notes if note.field == 'steered')
    assert note.kind == 'assumed' and 'pivot_0, pivot_1, pivot_2, pivot_3' in note.text
    assert 'below their pivots' in note.text


def test_a_caster_and_an_option_are_taken_as_they_are(tmp_path):
    assert not describe(urdf(tmp_path / 'trail.urdf', -0.05)).robot.steered.any()
    path = urdf(tmp_path / 'four.urdf', 0.0)
    given = describe(path, {'steered': ('pivot_0', 'pivot_1')}).robot
    assert given.steered.tolist() == [True, True, False, False]


@pytest.mark.parametrize('name', ['swerve', 'amr', 'twin', 'tricycle_agv'])
def test_the_description_of_each_kind_has_its_motors(name):
    robot = load(name)
    read = from_urdf(robot_description(name))
    for field in ('driven', 'steered', 'fixed', 'lateral_offset', 'caster_offset'):
        assert getattr(read, field) == pytest.approx(getattr(robot, field)), field


@pytest.mark.parametrize('lost, what', [('steered', 'no motor'),
                                        ('steering_encoder', 'no steering encoder')])
def test_modules_that_cannot_be_turned_are_refused_by_the_law(lost, what):
    robot = replace(load('swerve'), **{lost: [True, True, False, True]})
    with pytest.raises(ModelError, match=f'wheels 3 are below their pivots with {what}'):
        make_controller(AUTO, robot)
