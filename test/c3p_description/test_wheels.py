# SPDX-License-Identifier: Apache-2.0
"""Wheels without offset, fixed wheels, and joints without an encoder: the description."""

import re
from dataclasses import replace

import numpy as np
import pytest
from urdf_places import misplaced

from c3p_description import load
from c3p_description.model import ModelError
from c3p_description.reading.loader import robot_description
from c3p_description.reading.parameters import OF_WHEELS
from c3p_description.reading.urdf import from_urdf
from c3p_description.wheels import BELIEF, ROLLING_SLIP

SWERVE = load('swerve')
TRICYCLE = load('tricycle_agv')


def test_casters_with_all_encoders_measure_with_full_rows():
    for name in ('c3p', 'c3p_25kg', 'powered_caster'):
        robot = load(name)
        np.testing.assert_array_equal(robot.rows, 1.0)
        assert robot.other_wheels == ''
        assert robot.sensed_joints == (*robot.steering_joints, *robot.wheel_joints)


def test_a_wheel_below_its_pivot_believes_in_its_tyre():
    factor = ROLLING_SLIP / np.radians(1.0)
    np.testing.assert_allclose(SWERVE.rows, [[1.0, factor]] * 4)
    # a perfect tyre does not become a measurement
    np.testing.assert_allclose(replace(SWERVE, slip_angle=1e-4).rows[:, 1], BELIEF)


def test_wheels_without_encoders_measure_nothing_along():
    np.testing.assert_array_equal(TRICYCLE.rows[:, 0], [1.0, 0.0, 0.0])
    assert np.all(TRICYCLE.rows[:, 1] > 0.0)
    assert TRICYCLE.sensed_joints == ('steering_joint_1', 'wheel_joint_1')


def test_a_free_caster_without_encoders_contributes_nothing():
    robot = replace(load('powered_caster'), steering_encoder=[True, True, False, True],
                    wheel_encoder=[True, True, False, True])
    np.testing.assert_array_equal(robot.rows, [[1, 1], [1, 1], [0, 0], [1, 1]])


def test_a_robot_on_other_wheels_is_refused_by_name_where_casters_are_needed():
    for robot, reason in ((SWERVE, 'all wheels are without offset (d = 0)'),
                          (TRICYCLE, 'wheels 2, 3 are fixed')):
        with pytest.raises(ModelError) as error:
            _ = robot.caster_inertia
        text = f'{error.value}'
        assert robot.name in text and reason in text
        assert 'odometry' in text and 'recompute' in text and '\n' not in text


@pytest.mark.parametrize(('change', 'words'), [
    ({'wheel_encoder': False}, 'do not determine the motion'),
    ({'steering_encoder': False}, 'do not determine the motion'),
    ({'steered': True}, 'a fixed wheel has no steering motor'),
    ({'slip_angle': 3.0}, 'at most 0.5 rad'),
    ({'slip_angle': 0.0}, 'greater than zero'),
    ({'caster_offset': -0.01}, 'must not be negative'),
    ({'caster_offset': 1e-8}, 'lengths are in m'),
    ({'fixed': [False, False, False]}, 'do not determine the motion')])
def test_wheels_that_do_not_belong_together_are_refused(change, words):
    with pytest.raises(ModelError, match=words):
        replace(TRICYCLE, **change)


def test_two_fixed_wheels_with_encoders_measure_the_motion_and_one_does_not():
    pair = replace(TRICYCLE, fixed=[False, True, True], steering_encoder=False,
                   wheel_encoder=[False, True, True])
    np.testing.assert_array_equal(pair.rows[:, 0], [0.0, 1.0, 1.0])
    with pytest.raises(ModelError, match='two fixed wheels with encoders'):
        replace(pair, wheel_encoder=[False, True, False])


@pytest.mark.parametrize('name', ['swerve', 'tricycle_agv', 'amr', 'twin'])
def test_the_description_of_a_robot_on_other_wheels_is_read_back(name):
    robot = load(name)
    found = from_urdf(robot_description(name))
    assert found.joint_places == robot.joint_places
    # the forks of fixed wheels are parts of the platform
    np.testing.assert_allclose(found.link_mass, robot.link_mass * ~robot.fixed, atol=1e-9)
    for field in ('hip_position', 'caster_offset', 'wheel_radius', 'steering_zero', 'total_mass',
                  'steering_sign', 'wheel_sign', 'slip_angle', 'rows', 'lateral_offset'):
        np.testing.assert_allclose(getattr(found, field), getattr(robot, field), atol=1e-9)
    for field in (*OF_WHEELS[:3], 'sensed_joints', 'other_wheels'):
        np.testing.assert_array_equal(getattr(found, field), getattr(robot, field))


def test_the_description_of_two_wheels_on_a_pivot_has_one_fork():
    text = robot_description('twin')
    assert text.count('<link name="steering_link_') == 4
    assert text.count('<joint name="wheel_joint_8"') == 2  # of the tree, and of ros2_control
    # the tree alone, without the settings in it, has the wheels at their distances
    tree = re.sub('<c3p>.*</c3p>', '', text, flags=re.DOTALL)
    robot = from_urdf(tree, twins='apart')
    assert misplaced(tree, robot, 'base_link') < 1e-9
    np.testing.assert_allclose(robot.lateral_offset, load('twin').lateral_offset, atol=1e-12)


@pytest.mark.parametrize(('change', 'words'), [
    ({'lateral_offset': [0.0, 0.0]}, 'share one pivot'),
    ({'steering_joints': ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')}, 'one distinct name'),
    ({'hip_position': np.zeros((8, 2)), 'steering_joints': ()}, 'one lateral_offset')])
def test_wheels_on_one_pivot_that_cannot_be_are_refused(change, words):
    if 'lateral_offset' in change:
        change = {'lateral_offset': np.tile(change['lateral_offset'], 4)}
    with pytest.raises(ModelError, match=words):
        replace(load('twin'), **change)


def test_equal_values_of_wheels_fit_another_number_of_casters():
    # replace gives the fields of the old robot, which are already one per caster
    robot = load('powered_caster')
    part = replace(robot, hip_position=robot.hip_position[:3],
                   steering_joints=robot.steering_joints[:3], wheel_joints=robot.wheel_joints[:3],
                   **{name: getattr(robot, name)[:3] for name in (
                       'caster_offset', 'wheel_radius', 'link_mass', 'link_com', 'link_inertia',
                       'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia', 'steering_sign',
                       'steering_zero', 'wheel_sign')})
    for field in ('fixed', 'steering_encoder', 'wheel_encoder', 'slip_angle'):
        np.testing.assert_array_equal(getattr(part, field), getattr(robot, field)[:3])
    with pytest.raises(ModelError, match='slip_angle'):
        replace(robot, slip_angle=np.nan)
