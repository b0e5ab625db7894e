# SPDX-License-Identifier: Apache-2.0
"""Any caster robot written as URDF is read back; what cannot be read says why."""

import math
import re

import numpy as np
import pytest
from caster_urdf import Writer, random_robot, write
from hypothesis import given, settings
from hypothesis import strategies as st

from c3p_description import ModelError, robot_description
from c3p_description.reading.urdf import from_urdf, read_urdf

LENGTHS_MASSES = ('hip_position', 'caster_offset', 'wheel_radius', 'platform_mass',
                  'platform_inertia', 'platform_com', 'link_mass', 'link_com', 'link_inertia',
                  'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia')


@settings(max_examples=60, deadline=None)
@given(count=st.integers(2, 6), seed=st.integers(0, 2**32 - 1))
def test_random_robots_are_recovered_from_awkward_urdfs(count, seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(count, rng)
    read = from_urdf(write(robot, rng))
    # frames are multiplied four deep, with lengths up to a few metres
    for name in LENGTHS_MASSES:
        np.testing.assert_allclose(getattr(read, name), getattr(robot, name), rtol=0, atol=1e-9,
                                   err_msg=name)
    for name in ('steering_sign', 'wheel_sign', 'driven'):
        np.testing.assert_array_equal(getattr(read, name), getattr(robot, name), err_msg=name)
    turn = np.abs(np.exp(1j * read.steering_zero) - np.exp(1j * robot.steering_zero))
    assert turn.max() < 1e-9
    assert (read.steering_joints, read.wheel_joints) == (robot.steering_joints, robot.wheel_joints)
    np.testing.assert_allclose(read.losses, robot.losses, atol=1e-15)
    np.testing.assert_array_equal(read.torque_limit[read.driven],
                                  robot.torque_limit[robot.driven])


def test_wheel_sign_follows_rolling():
    """Positive θ_x moves the hub along +e: ω × (centre − contact), with ω = θ̇_x·(−a), is r e."""
    theta = 0.7
    e = np.array([-math.sin(theta), math.cos(theta), 0.0])
    a = np.array([math.cos(theta), math.sin(theta), 0.0])
    np.testing.assert_allclose(np.cross(-a, [0.0, 0.0, 1.0]), e, atol=1e-15)


@pytest.fixture(scope='module')
def c3p():
    return robot_description('c3p')


def changed(text, old, new, count=0):
    result, done = re.subn(old, new, text, count=count, flags=re.S)
    assert done, f'{old} is not in the URDF'
    return result


BAD = {
    'not well-formed': (r'</robot>', '</robo>'),
    '<robots>': (r'<robot name="c3p"(.*)</robot>', r'<robots\1</robots>'),
    'caster link steering_link_3.*<inertial>': (
        r'(<link name="steering_link_3">.*?)<inertial>.*?</inertial>', r'\1'),
    'wheel wheel_link_1.*<inertial>': (
        r'(<link name="wheel_link_1">.*?)<inertial>.*?</inertial>', r'\1'),
    'platform base_link.*<inertial>': (
        r'(<link name="base_link">.*?)<inertial>.*?</inertial>', r'\1'),
    'steering_joint_1.*from vertical.*rpy and axis': (
        r'(<joint name="steering_joint_1".*?)rpy="0 0 0"', r'\1rpy="0.1 0 0"'),
    'wheel_joint_1.*from horizontal': (
        r'(<joint name="wheel_joint_1".*?)xyz="-1 0 0"', r'\1xyz="-1 0 0.1"'),
    "wheel_joint_1 axis = '-1 0': expected 3": (
        r'(<joint name="wheel_joint_1".*?)xyz="-1 0 0"', r'\1xyz="-1 0"'),
    'wheel_joint_1 axis = 0 0 0': (
        r'(<joint name="wheel_joint_1".*?)xyz="-1 0 0"', r'\1xyz="0 0 0"'),
    "mass value = 'nan': expected 1 finite number": (r'mass value="30.0"', 'mass value="nan"'),
    'mass = -1.0: must not': (r'mass value="30.0"', 'mass value="-1.0"'),
    'mass value is missing': (r'<mass value="30.0"/>', ''),
    "parent link 'body' does not exist": (r'parent link="base_link"', 'parent link="body"'),
    'hangs on two joints': (r'child link="wheel_link_2"', 'child link="wheel_link_1"'),
    '2 root links': (r'<joint name="wheel_joint_3".*?</joint>', ''),
    'is given twice': (r'link name="wheel_link_2"', 'link name="wheel_link_1"'),
    'has no <child': (r'<child link="wheel_link_2"/>', ''),
    'has no name': (r'<link name="wheel_link_2">', '<link>'),
    '0 wheels found.*a robot needs wheel joints': (r'type="continuous"', 'type="prismatic"'),
    'steering_link_1.*0.005 m beside': (
        r'(<link name="steering_link_1">.*?xyz=")0 ', r'\g<1>0.005 '),
    'wheel_link_1.*0.005 m off the axle': (
        r'(<link name="wheel_link_1">.*?xyz=")0 0 0', r'\g<1>0 0 0.005'),
    "scrub_coulomb = 'much': expected": (r'(name="scrub_coulomb">)0.05', r'\1much'),
}


@pytest.mark.parametrize('message', BAD)
def test_bad_urdf_is_refused_with_name_value_and_remedy(message, c3p):
    old, new = BAD[message]
    with pytest.raises(ModelError, match='(?s)' + message):
        from_urdf(changed(c3p, old, new))


def test_tolerance_neglects_a_lateral_offset_and_keeps_its_inertia(c3p):
    text = changed(c3p, r'(<link name="steering_link_1">.*?xyz=")0 ', r'\g<1>0.005 ')
    robot = from_urdf(text, tolerance=0.006)
    assert robot.link_inertia[0] == pytest.approx(1.5e-3 + 1.2 * 0.005**2, abs=1e-15)


def test_driven_follows_interfaces_then_limits_then_all(c3p):
    without = changed(c3p, r'<command_interface name="effort"/>', '', count=1)
    assert from_urdf(without).driven.tolist() == [False, True, True]
    plain = changed(c3p, r'<ros2_control.*</ros2_control>', '')
    assert from_urdf(plain).driven.all()
    second = r'(<joint name="wheel_joint_2".*?)effort="1.2"'
    unlimited = from_urdf(changed(plain, second, r'\1effort="0"'))
    assert unlimited.driven.tolist() == [True, False, True]
    assert from_urdf(changed(plain, r'<limit.*?/>', '')).driven.all()
    geared = plain.replace('</robot>', '<transmission name="t"><joint name="wheel_joint_3"/>'
                                       '</transmission></robot>')
    assert from_urdf(geared).driven.tolist() == [False, False, True]
    assert from_urdf(c3p, driven=[True, False, True]).driven.tolist() == [True, False, True]


def test_radius_falls_back_to_the_height_of_the_axle(c3p):
    mesh_only = changed(c3p, r'<collision>\s*<origin rpy="0 1.57[^>]*>\s*<geometry>\s*<cylinder.*?'
                             r'</collision>', '')
    np.testing.assert_allclose(from_urdf(mesh_only).wheel_radius, 0.04, atol=1e-12)
    no_ground = mesh_only.replace('base_footprint', 'base')
    with pytest.raises(ModelError, match='wheel_link_1: its radius is unknown'):
        from_urdf(no_ground)
    assert from_urdf(no_ground, wheel_radius=0.05).wheel_radius.tolist() == [0.05] * 3


def test_ignored_joints_stand_still(c3p):
    spare = ('<link name="fan"/><joint name="fan_joint" type="continuous"><parent '
             'link="base_link"/><child link="fan"/><axis xyz="0 1 0"/></joint></robot>')
    text = c3p.replace('</robot>', spare)
    # without a round shape on the floor, and not called a wheel
    reading = read_urdf(text)
    assert reading.robot.count == 3 and reading.robot.other_wheels == ''
    assert any('fan_joint are not of casters' in one for one in reading.assumptions)
    assert from_urdf(text, ignore=['fan_joint']).count == 3
    with pytest.raises(ModelError, match='no such joints'):
        from_urdf(text, ignore=['fun_joint'])


def test_twin_wheels_are_refused(c3p):
    twin = ('<link name="twin"/><joint name="twin_joint" type="continuous"><parent '
            'link="steering_link_1"/><child link="twin"/></joint></robot>')
    with pytest.raises(ModelError, match='steering_joint_1 carries 2 wheel joints'):
        from_urdf(c3p.replace('</robot>', twin))


def test_model_is_in_the_frame_asked_for(c3p):
    shifted = c3p.replace('</robot>', '<link name="deck"/><joint name="deck_joint" type="fixed">'
                          '<parent link="base_link"/><child link="deck"/>'
                          '<origin xyz="0.1 0 0"/></joint></robot>')
    robot = from_urdf(shifted, base_link='deck')
    np.testing.assert_allclose(robot.platform_com, [-0.1, 0.0], atol=1e-15)
    with pytest.raises(ModelError, match='not a link of the platform'):
        from_urdf(shifted, base_link='wheel_link_1')


def test_unprocessed_xacro_is_recognised():
    with pytest.raises(ModelError, match='process xacro first'):
        from_urdf('<xacro xmlns:xacro="http://www.ros.org/wiki/xacro"/>')


def test_loop_apart_from_the_root_is_refused():
    w = Writer('loop')
    for name in ('base_link', 'a', 'b'):
        w.link(name, np.eye(4))
    w.joint('ab', 'fixed', 'a', 'b')
    w.joint('ba', 'fixed', 'b', 'a')
    with pytest.raises(ModelError, match='a, b form a loop'):
        from_urdf(w.xml())
