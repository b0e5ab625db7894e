# SPDX-License-Identifier: Apache-2.0
"""Wheels behind rockers, arms and springs, free casters, mimic joints, and what is no wheel."""

import re

import numpy as np
import pytest
from published_urdf import CORNERS, base, caster, inertial, joint, link
from urdf_places import misplaced

from c3p_description.model import ModelError
from c3p_description.reading.urdf import from_urdf, read_urdf

STOPS = '<limit lower="-0.2" upper="0.2" effort="0" velocity="1"/>'


def behind(parent_of, *parts):
    """Return a base whose casters hang on the links that `parent_of` names."""
    text = [caster(i, x, y).replace('parent link="base_link"',
                                    f'parent link="{parent_of.get(i, "base_link")}"')
            for i, (x, y) in enumerate(CORNERS)]
    return base(*parts, casters=text)


def rocker(name, axis='1 0 0'):
    return (link(name, inertial(2, 0.01))
            + joint(f'{name}_joint', 'revolute', 'base_link', name, axis=axis, more=STOPS))


def springs_below():
    """A swing arm with stops between each steering joint and its wheel."""
    return base(casters=[
        link(f'fork_{i}', inertial(0.5, 1e-3)) + link(f'swing_{i}', inertial(0.2, 1e-3))
        + link(f'wheel_{i}', inertial(0.5, 4e-4), 0.05)
        + joint(f'steer_{i}', 'continuous', 'base_link', f'fork_{i}', f'{x} {y} 0.15')
        + joint(f'swing_joint_{i}', 'revolute', f'fork_{i}', f'swing_{i}', axis='0 1 0',
                more=STOPS)
        + joint(f'roll_{i}', 'continuous', f'swing_{i}', f'wheel_{i}', '-0.05 0 -0.1',
                axis='0 1 0')
        for i, (x, y) in enumerate(CORNERS)])


@pytest.mark.parametrize(('text', 'joints'), [
    (behind({0: 'front', 1: 'front'}, rocker('front')), ['front_joint']),
    (behind({0: 'left', 1: 'right', 2: 'left', 3: 'right'}, rocker('left', '0 1 0'),
            rocker('right', '0 1 0')), ['left_joint', 'right_joint']),
    # swing arms about vertical pivots
    (behind({i: f'arm_{i}' for i in range(4)}, *(rocker(f'arm_{i}', '0 0 1') for i in range(4))),
     [f'arm_{i}_joint' for i in range(4)]),
    (springs_below(), [f'swing_joint_{i}' for i in range(4)])])
def test_casters_behind_other_joints_are_read_and_those_named(text, joints):
    reading = read_urdf(text)
    plain = from_urdf(base())
    np.testing.assert_allclose(reading.robot.hip_position, plain.hip_position)
    np.testing.assert_allclose(reading.robot.caster_offset, plain.caster_offset)
    told, = [note for note in reading.notes if note.field == 'ignore' and note.kind == 'warning']
    assert told.value == joints and 'ignore=' in told.text
    # confirmed, and the same robot
    found = read_urdf(text, {'ignore': joints})
    assert found.warnings == ()
    np.testing.assert_array_equal(found.robot.hip_position, reading.robot.hip_position)


def test_a_hand_that_turns_without_end_is_no_wheel():
    """As the last joint of an arm, above the floor."""
    arm = (link('upper', inertial(1, 0.01)) + link('hand', inertial(1, 0.01), 0.03)
           + joint('shoulder', 'revolute', 'base_link', 'upper', '0 0 0.6', more=STOPS)
           + joint('wrist', 'continuous', 'upper', 'hand', '0.2 0 0', axis='1 0 0'))
    # behind one vertical joint it would be a caster: there are two
    turned = arm.replace('parent link="base_link"', 'parent link="mast"') + link(
        'mast', inertial(1, 0.01)) + joint('waist', 'revolute', 'base_link', 'mast', more=STOPS)
    reading = read_urdf(base(turned))
    assert reading.robot.count == 4 and reading.warnings == ()
    assert any('waist, ' in text or ', wrist' in text for text in reading.assumptions)


def amr(control=''):
    """Two driven wheels that do not steer, and four free casters without motors."""
    wheels = ''.join(link(f'drive_{side}', inertial(1, 1e-3), 0.08)
                     + joint(f'{side}_wheel', 'continuous', 'base_link', f'drive_{side}',
                             f'0 {y} 0.08', axis='0 1 0', more='<limit effort="9" velocity="20"/>')
                     for side, y in (('left', 0.25), ('right', -0.25)))
    return base(control, casters=[wheels, *(
        caster(i, x, y, limit='', drop=0.1) for i, (x, y) in enumerate(CORNERS))])


def test_free_casters_beside_fixed_wheels_have_no_encoders():
    reading = read_urdf(amr())
    robot = reading.robot
    assert robot.count == 6 and robot.fixed.tolist() == [True] * 2 + [False] * 4
    assert robot.driven.tolist() == [True] * 2 + [False] * 4
    assert robot.sensed_joints == ('left_wheel', 'right_wheel')
    np.testing.assert_array_equal(robot.rows[2:], 0.0)
    assert any('roll_0, roll_1, roll_2, roll_3 have neither motors nor sensors' in text
               for text in reading.assumptions)


def test_free_casters_that_the_control_block_names_are_measured():
    block = '<ros2_control>{}</ros2_control>'.format(''.join(
        f'<joint name="{name}">{command}<state_interface name="position"/></joint>'
        for name, command in (
            *((f'{side}_wheel', '<command_interface name="velocity"/>')
              for side in ('left', 'right')),
            *((f'{kind}_0', '') for kind in ('steer', 'roll')))))
    robot = from_urdf(amr(block))
    assert robot.sensed_joints == ('steer_0', 'left_wheel', 'right_wheel', 'roll_0')


def test_a_wheel_that_mimics_another_has_no_encoder():
    text = amr().replace('<limit effort="9" velocity="20"/>', '<limit effort="9" velocity="20"/>'
                         '<mimic joint="left_wheel"/>')
    # one of two: the motion is not measured
    with pytest.raises(ModelError, match='do not determine the motion'):
        from_urdf(text)
    casters = base().replace('<joint name="roll_3" type="continuous">', '<joint name="roll_3" '
                             'type="continuous"><mimic joint="roll_2"/>')
    robot = from_urdf(casters)
    assert robot.wheel_encoder.tolist() == [True, True, True, False]


def test_a_base_that_slides_has_no_wheels():
    slides = ''.join(link(f'slide_{axis}', inertial(1, 0.01)) for axis in 'xy')
    text = base(slides + joint('slide_x', 'prismatic', 'base_link', 'slide_x', axis='1 0 0')
                + joint('slide_y', 'prismatic', 'slide_x', 'slide_y', axis='0 1 0'),
                casters=[' '])
    with pytest.raises(ModelError, match='joints slide_x, slide_y slide: if they move the base'):
        from_urdf(text)


def test_a_robot_on_modules_is_read_without_masses():
    text = re.sub('<inertial>.*?</inertial>', '', base(trail=0.0))
    reading = read_urdf(text)
    assert reading.robot.count == 4 and reading.robot.other_wheels
    assert any('a mass of 1 kg' in one for one in reading.assumptions)
    with pytest.raises(ModelError, match='has an <inertial>'):
        read_urdf(re.sub('<inertial>.*?</inertial>', '', base()))


@pytest.mark.parametrize('text', [
    base(), base(beside=0.02), base(trail=0.0, beside=-0.045), base(trail=0.0), amr(),
    springs_below(),
    # forks turned at their pivots, hanging upside down, axles the other way
    base(rpy='0 0 0.7', beside=0.02), base(rpy=f'{np.pi} 0 0.3', drop=-0.1, beside=0.02),
    base(trail=0.0, beside=0.03, axle='0 -1 0', rpy='0 0 -2.0'),
    # two wheels on each pivot: one more on the other side
    base(trail=0.0, beside=0.04).replace('</robot>', ''.join(
        link(f'other_{i}', inertial(0.5, 4e-4), 0.05)
        + joint(f'other_roll_{i}', 'continuous', f'fork_{i}', f'other_{i}', '0 -0.04 -0.1',
                axis='0 1 0') for i in range(4)) + '</robot>')])
def test_wheels_stand_where_the_joints_of_the_file_bring_them(text):
    robot = from_urdf(text)
    for seed in range(3):
        assert misplaced(text, robot, 'base_link', seed) < 1e-12
