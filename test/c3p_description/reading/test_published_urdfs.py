# SPDX-License-Identifier: Apache-2.0
"""Traits of published descriptions: rounded π, limits that mean none, twin wheels, noise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_urdf import CORNERS, base, caster, inertial, joint, link

from c3p_description import ModelError
from c3p_description.reading.urdf import from_urdf, read_urdf
from c3p_kinematics.casters import sensed_forward
from c3p_multibody.trees.reading.urdf import tree_from_urdf

EXACT = f'{math.pi} 0 {-math.pi / 2}'


def warnings(text, **options):
    return read_urdf(text, options).warnings


def test_a_plain_base_has_no_warnings():
    reading = read_urdf(base())
    assert reading.warnings == () and reading.robot.count == 4
    assert reading.robot.torque_limit.tolist() == [2.5] * 4


@pytest.mark.parametrize('rounded', ['3.14 0 -1.57', '3.1416 0 -1.5708', '3.142 0 -1.571',
                                     '3.1415 0 -1.57075', '3.14159 0 -1.5700000000000003'])
def test_a_rounded_pi_is_read_as_pi(rounded):
    """A caster hanging upside down, as many are: with π exact the drop of 0.1 m has no effect."""
    exact = from_urdf(base(rpy=EXACT, drop=-0.1))
    reading = read_urdf(base(rpy=rounded, drop=-0.1))
    for name in ('hip_position', 'caster_offset', 'steering_zero', 'link_com', 'link_inertia'):
        np.testing.assert_allclose(getattr(reading.robot, name), getattr(exact, name),
                                   rtol=0, atol=1e-15, err_msg=name)
    first, second = [note for note in reading.notes if note.field == 'rpy']
    assert f'{rounded.split()[0]} is taken as π' in first.text and 'joint steer_0' in first.text
    assert 'is taken as -π/2' in second.text
    # five digits are what most files have
    assert [note.kind for note in (first, second)] == [
        'assumed' if angle in ('3.1416', '3.14159', '-1.5708') else 'warning'
        for angle in (rounded.split()[0], rounded.split()[2])]


@given(st.floats(-7, 7))
def test_an_angle_of_all_digits_is_taken_as_it_is(angle):
    """Only angles of few digits are roundings; a measured yaw turns the caster's zero."""
    if abs(angle / (math.pi / 2) - round(angle / (math.pi / 2))) < 1e-8:
        return
    robot = from_urdf(base(rpy=f'0 0 {angle!r}'))
    # the wheel trails along −x of its fork, so that it rolls along x: θ = angle − π/2
    turn = np.exp(1j * (robot.steering_zero - (angle - math.pi / 2)))
    np.testing.assert_allclose(turn, 1.0, rtol=0, atol=1e-12)
    assert not warnings(base(rpy=f'0 0 {angle!r}'))


@pytest.mark.parametrize('angle', ['1.575', '1.58', '3.13', '0.001', '1.5681'])
def test_an_angle_beside_a_right_one_is_no_rounding_of_it(angle):
    assert not warnings(base(rpy=f'0 0 {angle}'))


def test_an_axis_off_by_less_than_a_rounded_pi_is_taken_as_upright():
    """2 mrad over the 0.1 m to the wheel: 0.2 mm beside the pivot, which vanish with the tilt."""
    text = base(rpy='0.002 0 0')
    assert any('joint steer_0: its axis is 0.115° from vertical: taken as vertical' in one
               for one in warnings(text))
    with pytest.raises(ModelError, match='steer_0: axis .* 0.229° from vertical'):
        from_urdf(base(rpy='0.004 0 0'))


def test_an_offset_beyond_what_the_tilt_explains_is_read_as_one():
    reading = read_urdf(base(rpy='0.002 0 0', beside=0.0008))
    np.testing.assert_allclose(np.abs(reading.robot.lateral_offset), 9.98e-4, rtol=1e-2)
    assert any('0.00099' in one and 'tolerance=0.001,' in one for one in reading.warnings)


@pytest.mark.parametrize('effort', ['10000', '1000', '1e16', 'inf'])
def test_an_effort_that_no_motor_has_is_no_limit(effort):
    reading = read_urdf(base(limit=f'<limit effort="{effort}" velocity="20"/>'))
    assert np.isinf(reading.robot.torque_limit).all() and reading.robot.driven.all()
    note, = (note for note in reading.notes if note.field == 'casters.torque_limit')
    assert note.kind == 'warning' and note.value == math.inf
    assert 'N·m at the wheel of a 24 kg robot is not a motor limit' in note.text
    assert 'taken as no limit' in note.text and 'casters.torque_limit' in note.text


def test_an_effort_that_a_motor_may_have_is_the_limit():
    # twice the weight at the rim of one wheel: strong, and possible
    strong = 2 * 24 * 9.81 * 0.05
    reading = read_urdf(base(limit=f'<limit effort="{strong}" velocity="20"/>'))
    assert reading.robot.torque_limit.tolist() == [pytest.approx(strong)] * 4
    assert reading.warnings == ()


@pytest.mark.parametrize('limit', ['', '<limit effort="0" velocity="0"/>',
                                   '<limit effort="0" velocity="1e16"/>'])
def test_no_limits_are_said_as_assumed(limit):
    reading = read_urdf(base(limit=limit))
    assert reading.robot.driven.all() and np.isinf(reading.robot.torque_limit).all()
    assert np.isinf(reading.robot.wheel_rate_limit).all() and reading.warnings == ()
    fields = {note.field: note for note in reading.notes}
    assert {'driven', 'casters.torque_limit', 'wheel.rate_limit', 'base_link'} <= set(fields)
    assert fields['driven'].value == ['roll_0', 'roll_1', 'roll_2', 'roll_3']


def test_a_field_that_is_given_is_not_said_to_be_assumed():
    reading = read_urdf(base(limit='<limit effort="10000" velocity="20"/>'),
                        {'casters': {'torque_limit': 3.0}})
    assert reading.robot.torque_limit.tolist() == [3.0] * 4 and reading.warnings == ()


def test_an_infinite_effort_beside_a_finite_one_is_a_motor():
    parts = [caster(i, x, y, limit=f'<limit effort="{effort}" velocity="20"/>')
             for i, ((x, y), effort) in enumerate(zip(CORNERS, ('inf', 2, 0, 0), strict=True))]
    robot = from_urdf(base(casters=parts))
    assert robot.driven.tolist() == [True, True, False, False]


def test_revolute_joints_without_stops_are_continuous():
    stops = '<limit effort="2.5" velocity="20" lower="-1e+16" upper="1e+16"/>'
    reading = read_urdf(base(wheel_kind='revolute', limit=stops))
    np.testing.assert_array_equal(reading.robot.hip_position, from_urdf(base()).hip_position)
    assert any(note.field == 'joint type' for note in reading.notes)
    with pytest.raises(ModelError, match='0 wheels found'):
        from_urdf(base(wheel_kind='revolute', limit='<limit effort="1" lower="-1" upper="1"/>'))


def test_casters_on_fixed_joints_are_read_by_their_names():
    """As of simulators that slide the base along."""
    text = (base(kind='fixed', wheel_kind='fixed').replace('"steer_', '"caster_0_steer_')
            .replace('"roll_', '"wheel_joint_'))
    reading = read_urdf(text)
    np.testing.assert_array_equal(reading.robot.hip_position, from_urdf(base()).hip_position)
    np.testing.assert_allclose(reading.robot.caster_offset, 0.05)
    assert 'caster_0_steer_0, wheel_joint_0' in reading.warnings[0]
    assert 'are fixed in the file' in reading.warnings[0]
    # where others turn, they are what the file says
    with pytest.raises(ModelError, match=r'1 wheels found .*7 joints with such names are fixed'):
        from_urdf(text.replace('name="wheel_joint_0" type="fixed"',
                               'name="wheel_joint_0" type="continuous"'))


def test_two_wheels_that_do_not_steer_are_read():
    """A vehicle with two driven wheels and balls."""
    wheels = ''.join(link(f'wheel_{side}', inertial(1, 1e-3), 0.1)
                     + joint(f'{side}_wheel', 'continuous', 'base_link', f'wheel_{side}',
                             f'0 {y} 0.1', axis=axis)
                     for side, y, axis in (('left', 0.2, '0 1 0'), ('right', -0.2, '0 -1 0')))
    reading = read_urdf(base(casters=[wheels]))
    robot = reading.robot
    assert robot.fixed.all() and robot.driven.all() and not robot.steered.any()
    np.testing.assert_allclose(robot.hip_position, [[0.0, 0.2], [0.0, -0.2]], atol=1e-15)
    np.testing.assert_allclose(robot.steering_zero, -math.pi / 2)
    # forward is +x for both: one joint counts against it
    assert robot.wheel_sign.tolist() == [1.0, -1.0]
    assert any('left_wheel, right_wheel do not steer' in one for one in reading.warnings)
    found = sensed_forward(robot, [0, 0], np.array([1.0, 3.0]), [0, 0])
    np.testing.assert_allclose(found.twist, [0.2, 0.0, 0.1 * (3 - 1) / 0.4], atol=1e-12)


def test_fixed_wheels_on_two_axles_are_refused():
    wheels = ''.join(link(f'wheel_{i}', inertial(1, 1e-3), 0.1)
                     + joint(f'wheel_joint_{i}', 'continuous', 'base_link', f'wheel_{i}',
                             f'{x} {y} 0.1', axis='0 1 0')
                     for i, (x, y) in enumerate(CORNERS))
    with pytest.raises(ModelError, match='do not steer, and their axles are 0.6 m apart: .*skid '
                                         'steering.*mecanum or omni'):
        from_urdf(base(casters=[wheels]))
    with pytest.raises(ModelError, match='an omni or mecanum wheel by its name'):
        from_urdf(base(casters=[wheels]).replace('"wheel_joint_', '"omni_wheel_joint_'))


def test_inertia_of_a_link_on_a_fixed_joint_may_be_careless():
    antenna = link('antenna', inertial(1e-6, 'ixx="2e-8" ixy="6e-8" iyy="3e-8" izz="4e-8"'))
    more = antenna + joint('bolt', 'fixed', 'base_link', 'antenna', '0 0 0.4')
    plain, read = from_urdf(base()), from_urdf(base(more))
    assert read.platform_mass == pytest.approx(plain.platform_mass + 1e-6, abs=1e-12)
    assert tree_from_urdf(base(more), floating=True).count == 6 + 8


def test_noise_in_an_inertia_is_zero():
    noise = inertial(20, 'ixx="0" iyy="0" izz="0.8" ixz="2.4e-35"')
    assert from_urdf(base(inside=noise)).platform_inertia == 0.8


def test_an_inertia_that_no_body_has_is_refused_with_its_body():
    with pytest.raises(ModelError, match='platform base_link.*eigenvalue -0.5 kg·m².*no body'):
        from_urdf(base(inside=inertial(20, 'ixx="0.5" iyy="-0.5" izz="0.8"')))


def test_a_wheel_with_more_inertia_than_a_ring_is_told():
    text = warnings(base(spin=0.11))[0]
    assert '0.11 kg·m² about the axle, and a ring of their mass and radius has 0.00125' in text


def test_a_caster_that_hardly_turns_is_told():
    """1e-3 kg·m² of the fork and 2.5e-3 of the wheel about a pivot 1 mm ahead: 3.5 t, and more."""
    text, = warnings(base(trail=0.001, fork=0.0))
    assert 'joint steer_0: ' in text and 'weighs 1.4e+03 kg along its axle' in text


def test_a_wheel_beside_its_pivot_is_read_and_the_option_that_neglects_it_named():
    reading = read_urdf(base(beside=0.02))
    # forward is +x, the axle is −y
    np.testing.assert_allclose(reading.robot.lateral_offset, -0.02)
    np.testing.assert_allclose(reading.robot.caster_offset, 0.05)
    assert 'beside the pivot' in reading.robot.other_wheels
    assert '0.02 m beside its pivot, along the axle, and 3 more' in reading.warnings[0]
    assert 'tolerance=0.02,' in reading.warnings[0]
    reading = read_urdf(base(beside=0.02), {'tolerance': 0.02})
    assert reading.robot.other_wheels == '' and not reading.robot.lateral_offset.any()
    assert reading.robot.caster_offset.tolist() == pytest.approx([0.05] * 4)
    assert '0.02 m beside its pivot steer_0' in reading.warnings[0]
    with pytest.raises(ModelError, match='0.03 m beside the wheel plane.*tolerance=0.03,'):
        from_urdf(base(beside=0.02, fork_com=0.03), tolerance=0.02)
    # masses are of robots that are driven
    assert from_urdf(base(beside=0.02, fork_com=0.03)).other_wheels


def test_a_wheel_below_its_pivot_is_read_and_the_user_warned():
    found = read_urdf(base(trail=0.0))
    robot = found.robot
    np.testing.assert_array_equal(robot.caster_offset, 0.0)
    warning = [note for note in found.notes if note.field == 'casters.caster_offset']
    assert len(warning) == 1 and warning[0].kind == 'warning'
    assert 'roll_0, roll_1, roll_2, roll_3 are below their pivots' in warning[0].text
    assert 'mpc and paper do not drive the robot, modules' in warning[0].text
    # a positive rate rolls ahead, whatever the axle's axis is
    np.testing.assert_array_equal(robot.wheel_sign, 1.0)
    with pytest.raises(ModelError, match='without offset'):
        _ = robot.caster_inertia


@pytest.mark.parametrize('axle', ['0 1 0', '0 -1 0'])
def test_a_wheel_below_its_pivot_rolls_as_the_same_wheel_a_little_behind_it(axle):
    near, below = (from_urdf(base(trail=trail, axle=axle)) for trail in (1e-3, 0.0))
    rng = np.random.default_rng(2)
    position, rate = rng.normal(size=(2, near.count))
    found = []
    for robot, weight in ((near, below.rows**2), (below, 1.0)):
        steering = robot.steering_sign * position + robot.steering_zero
        found.append(sensed_forward(robot, steering, robot.wheel_sign * rate,
                                    np.zeros(robot.count), weight).twist)
    # within the offset times the yaw rate
    np.testing.assert_allclose(*found, atol=0.05)
    assert np.abs(found[0]).max() > 0.05


def test_a_wheel_below_its_pivot_and_beside_it_is_read_with_the_distance():
    robot = from_urdf(base(trail=0.0, beside=0.045))
    np.testing.assert_array_equal(robot.caster_offset, 0.0)
    np.testing.assert_allclose(robot.lateral_offset, -0.045)


def twins(i, x, y, half=0.04, trail=0.05, **differ):
    """A caster with two wheels on one axle, as of a hub drive."""
    one, two = ({'radius': 0.05, 'drop': 0.1, 'axis': '0 1 0', **differ.get(side, {})}
                for side in ('left', 'right'))
    return (link(f'fork_{i}', inertial(0.5, 1e-3))
            + joint(f'steer_{i}', 'continuous', 'base_link', f'fork_{i}', f'{x} {y} 0.15')
            + ''.join(link(f'{side}_{i}', inertial(0.5, 4e-4), part['radius'])
                      + joint(f'{side}_roll_{i}', 'continuous', f'fork_{i}', f'{side}_{i}',
                              f'{-trail} {at} {-part["drop"]}', axis=part['axis'],
                              more='<limit effort="2" velocity="20"/>'
                                   '<dynamics damping="0.01"/>')
                      for side, at, part in (('left', half, one), ('right', -half, two))))


def all_twins(**traits):
    return base(casters=[twins(i, x, y, **traits) for i, (x, y) in enumerate(CORNERS)])


def test_twin_wheels_are_one_wheel_with_the_energy_of_both():
    """Kinetic energy of two wheels at ± b, each rolling, against that of the one in the middle."""
    reading = read_urdf(all_twins())
    robot, half, radius = reading.robot, 0.04, 0.05
    assert robot.torque_limit.tolist() == [4.0] * 4 and robot.wheel_mass.tolist() == [1.0] * 4
    assert robot.losses[:, 2].tolist() == pytest.approx([0.02] * 4)
    assert robot.wheel_joints[0] == 'left_roll_0'
    assert 'twin wheels left_roll_0' in reading.warnings[0]
    rng = np.random.default_rng(3)
    for forward, turn in rng.normal(size=(5, 2)):
        # speed of the middle along the rolling line, yaw rate of the caster
        both = sum(0.5 * 0.5 * v**2 + 0.5 * 4e-4 * (v / radius)**2 + 0.5 * 4e-4 * turn**2
                   for v in (forward + half * turn, forward - half * turn))
        one = (0.5 * robot.wheel_mass[0] * forward**2
               + 0.5 * robot.wheel_spin_inertia[0] * (forward / radius)**2
               + 0.5 * robot.wheel_yaw_inertia[0] * turn**2)
        assert one == pytest.approx(both, rel=1e-12)


def test_twin_wheels_below_their_pivot_are_two_wheels_on_one_steering_joint():
    robot = from_urdf(all_twins(trail=0.0))
    assert robot.count == 8
    assert robot.steering_joints[:3] == ('steer_0', 'steer_0', 'steer_1')
    assert robot.wheel_joints[:2] == ('left_roll_0', 'right_roll_0')
    # left is +y, and the axle of a wheel that rolls along x is −y
    np.testing.assert_allclose(robot.lateral_offset[:2], [-0.04, 0.04])
    assert robot.link_mass[:2].tolist() == [0.5, 0.0]
    assert 'on one pivot with another' in robot.other_wheels


def test_twin_wheels_behind_their_pivots_are_taken_apart_by_the_option():
    robot = from_urdf(all_twins(), twins='apart')
    assert robot.count == 8 and robot.other_wheels
    np.testing.assert_allclose(robot.caster_offset, 0.05)
    assert 'twins=apart' in read_urdf(all_twins()).warnings[0]
    assert from_urdf(all_twins(trail=0.0), twins='middle').count == 4
    with pytest.raises(ModelError, match='twins = .both.: expected one of middle, apart'):
        from_urdf(all_twins(), twins='both')


def test_one_pivot_with_two_driven_wheels_is_a_robot():
    """The base turns about a pivot above two differential wheels."""
    robot = from_urdf(base(casters=[twins(0, 0.1, 0.0)]))
    assert robot.count == 2 and robot.steering_joints == ('steer_0', 'steer_0')
    rng = np.random.default_rng(1)
    vx, vy, w, turning = rng.normal(size=4)
    # the middle of the wheels moves along them only: choose the turn of the pivot for it
    turning = (vy + 0.1 * w) / 0.05 - w
    left, right = (((vx + side * 0.04 * -(w + turning)) / 0.05) for side in (1, -1))
    steering = robot.steering_zero
    found = sensed_forward(robot, steering, [left, right], [turning, turning])
    np.testing.assert_allclose(found.twist, [vx, vy, w], atol=1e-9)
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-9)


@pytest.mark.parametrize(('differ', 'says'), [
    ({'right': {'drop': 0.08}}, 'steer_0 carries 2 wheel joints .*not two wheels on one axle'),
    ({'right': {'axis': '0.1 1 0'}}, 'not two wheels on one axle.*ignore=right_roll_0'),
    ({'right': {'radius': 0.06}}, 'twin wheels with the radii 0.05 and 0.06 m')])
def test_two_wheels_that_cannot_roll_as_one_are_refused(differ, says):
    with pytest.raises(ModelError, match=says):
        from_urdf(all_twins(**differ))


def test_an_arm_on_the_platform_is_no_caster():
    """Its vertical first joint carries a continuous one, but that carries further joints."""
    arm = (link('upper', inertial(1, 0.01)) + link('lower', inertial(1, 0.01))
           + link('hand', inertial(1, 0.01))
           + joint('arm_1', 'continuous', 'base_link', 'upper', '0 0 0.3')
           + joint('arm_2', 'continuous', 'upper', 'lower', axis='0 1 0')
           + joint('arm_3', 'continuous', 'lower', 'hand', axis='0 1 0'))
    reading = read_urdf(base(arm))
    assert reading.robot.count == 4
    assert any('joints arm_1, arm_2, arm_3 are not of casters' in text
               for text in reading.assumptions)


def test_macros_called_without_their_prefix_are_named():
    with pytest.raises(ModelError, match='no links; elements .* are: base, gazebo.*<xacro'):
        from_urdf('<robot name="r"><base/><gazebo/></robot>')


def test_a_transmission_on_the_steering_joint_is_a_motor():
    """As on active casters; an effort of 10000 there is no limit, either."""
    drive = ''.join(f'<transmission name="t_{kind}_{i}"><joint name="{kind}_{i}"/></transmission>'
                    for kind in ('steer', 'roll') for i in range(4))
    text = base(drive).replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><limit effort="10000" '
                               'velocity="10000"/>')
    reading = read_urdf(text)
    assert reading.robot.steered.all() and reading.robot.driven.all()
    assert np.isinf(reading.robot.steering_torque_limit).all()
    assert np.isinf(reading.robot.steering_rate_limit).all()
    told, = reading.warnings
    assert 'effort = 10000 N·m at the steering axis of a 24 kg robot is not a motor limit' in told
    assert from_urdf(text, steered=['steer_1']).steered.tolist() == [False, True, False, False]
    with pytest.raises(ModelError, match="steered = .'steer_9'.: no such joints"):
        from_urdf(text, steered=['steer_9'])
