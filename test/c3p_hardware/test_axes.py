# SPDX-License-Identifier: Apache-2.0
"""Axes from parameters: joints, channels, gears, and refusals that name value and remedy."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import caster_robots

from c3p_description import load
from c3p_description.model import CasterRobot
from c3p_hardware.axes import card_settings, driven_joints
from c3p_hardware.canopen.bus_load import axes_load, bus_load
from c3p_hardware.settings import CardError, EncoderSettings
from c3p_hardware.tools.parameter_file import hardware_values

ANGLES = np.radians([45.0, 135.0, 225.0, 315.0])
FOUR = CasterRobot.regular(0.3, ANGLES, 0.05, 0.05, 15.0, 1.0, driven=[True, False, True, False],
                           torque_limit=1.0, name='mule')
S = [f'steering_joint_{k}' for k in (1, 2, 3, 4)]
W = [f'wheel_joint_{k}' for k in (1, 2, 3, 4)]


def settings_of(robot=FOUR, **parameters):
    return card_settings(robot, hardware_values(**{
        name.replace('__', '.'): value for name, value in parameters.items()}))


def test_without_parameters_every_wheel_has_a_drive_and_every_steering_joint_an_encoder():
    settings = settings_of()
    assert [(d.joint, d.node_id, d.channel, d.driven) for d in settings.drives] == [
        (W[0], 1, 1, True), (W[1], 2, 1, False), (W[2], 3, 1, True), (W[3], 4, 1, False)]
    assert [(e.joint, e.node_id) for e in settings.encoders] == list(zip(S, range(11, 15),
                                                                         strict=True))
    # 1 N·m of 1.232 N·m at the wheel; no torque for one that is only read
    assert [d.max_permille for d in settings.drives] == [811, 0, 811, 0]


@given(robot=caster_robots())
def test_any_robot_has_settings_by_default(robot):
    settings = settings_of(robot)
    assert [d.joint for d in settings.drives] == list(robot.wheel_joints)
    assert len(settings.encoders) == robot.count


def test_lists_follow_the_joints_that_are_named():
    settings = settings_of(drives__joints=[W[2], W[0]], drives__node_ids=[7, 7],
                           drives__channels=[1, 2], drives__gear_ratio=[14.0, 20.0],
                           encoders__joints=[*S, W[1], W[3]],
                           encoders__gear_ratio=[1.0, 1.0, 1.0, 1.0, 4.0, 2.5])
    assert [(d.joint, d.node_id, d.channel, d.units.gear_ratio) for d in settings.drives] == [
        (W[2], 7, 1, 14.0), (W[0], 7, 2, 20.0)]
    assert [e.gear_ratio for e in settings.encoders if e.joint in W] == [4.0, 2.5]
    assert settings.drives[1].name == 'drive of wheel_joint_1 (node 7, channel 2)'
    # a wheel with an encoder of its own has no drive unless one is named
    assert [d.joint for d in settings_of(encoders__joints=[*S, W[1], W[3]]).drives] == [W[0], W[2]]


@pytest.mark.parametrize(('parameters', 'text'), [
    ({'drives__joints': ['wheel_jont_1']}, r"drives\.joints.*'wheel_jont_1'; did you mean wheel"),
    ({'drives__joints': ['q']}, r"no joint 'q'; its joints are wheel_joint_1"),
    ({'drives__joints': [W[0], W[2], W[0]]}, r"\['wheel_joint_1'\] are named more than once"),
    ({'drives__joints': [W[0]]}, r"\['wheel_joint_3'\] of mule have a motor but no drive.*"
                                 r'casters\.driven.*for a URDF the robot option driven'),
    ({'drives__node_ids': [1, 2, 3]}, r'drives\.node_ids = \[1, 2, 3\].*each of the 4 drives '
                                      r'\(wheel_joint_1.*drives\.joints'),
    ({'drives__node_ids': [1, 1, 2, 3]}, r'node id \[1\] is used twice.*drives\.channels'),
    ({'drives__gear_ratio': [-1.0]}, r'gear_ratio = -1\.0.*correct drives\.gear_ratio'),
    ({'encoders__joints': [*S, W[0]], 'drives__joints': [W[0], W[2]]},
     r'wheel_joint_1 is counted by its drive \(node 1\) already'),
    ({'encoders__joints': S[1:]}, r'steering_joint_1 has no encoder, but its caster is driven'),
    ({'encoders__joints': [S[0], S[2], S[3]]},
     r'steering_joint_2 has no encoder, but its wheel wheel_joint_2 is counted'),
    ({'encoders__gear_ratio': [3.0]}, r'range of 4096 counts is 0\.333333 turns.*encoders\.range'),
    ({'encoders__gear_ratio': [0.0]}, r'gear_ratio = 0\.0.*encoders\.gear_ratio')])
def test_what_cannot_work_is_refused_with_parameter_value_and_remedy(parameters, text):
    with pytest.raises(CardError, match=text):
        settings_of(**parameters)


def test_a_robot_with_fixed_wheels_is_refused_by_the_names_of_its_wheels():
    with pytest.raises(CardError, match='robot tricycle_agv: wheel_joint_2, wheel_joint_3 are '
                                        'fixed wheels.*ros2_control'):
        settings_of(load('tricycle_agv'))


def test_wheels_on_one_pivot_share_its_encoder_and_its_drive():
    twin = replace(load('twin'), steered=True, steering_torque_limit=2.0)
    shared = [f'steering_joint_{k}' for k in (1, 3, 5, 7)]
    settings = settings_of(twin, drives__rated_torque=[1.0])
    assert [e.joint for e in settings.encoders] == shared
    assert [d.joint for d in settings.drives] == [*twin.wheel_joints, *shared]


def test_two_casters_with_both_sensors_must_be_apart():
    close = CasterRobot.regular(0.3, ANGLES, 0.05, 0.05, 15.0, 1.0,
                                driven=[True, False, False, False])
    with pytest.raises(CardError, match=r'casters \[1\] of 4 have both sensors: two or more'):
        settings_of(close, drives__joints=W[:1], encoders__joints=S[:1])
    narrow = CasterRobot('narrow', [[0.04, 0.0], [-0.04, 0.0], [0.3, 0.3]], 0.05, 0.05, 15.0, 1.0,
                         [0.0, 0.0], *[0.0] * 6, driven=[True, True, False])
    with pytest.raises(CardError, match='further apart than the sum of their caster offsets'):
        settings_of(narrow, drives__joints=W[:2], encoders__joints=S[:2])


def test_a_geared_encoder_with_whole_turns_is_absolute():
    settings = settings_of(encoders__gear_ratio=[4.0], encoders__range=[4 * 4096])
    assert settings.encoders[0].resolution == pytest.approx(2 * np.pi / (4 * 4096))
    assert EncoderSettings(11, 'a', gear_ratio=0.5).resolution == 2 * np.pi / 2048


def test_driven_joints_are_those_of_the_description():
    assert driven_joints(FOUR) == {W[0]: (1.0, np.inf), W[2]: (1.0, np.inf)}


@given(count=st.integers(2, 8), rate=st.floats(10, 500))
def test_the_load_of_axes_is_that_of_casters_and_less_without_commands(count, rate):
    assert axes_load(rate, 1e6, count, 0, count) == pytest.approx(bus_load(rate, 1e6, count))
    assert axes_load(rate, 1e6, count - 1, 1, count) < axes_load(rate, 1e6, count, 0, count)
