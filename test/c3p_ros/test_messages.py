# SPDX-License-Identifier: Apache-2.0
"""Messages to numbers and back; every refusal names what is wrong, and where."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import C3P, vectors
from transforms3d.euler import euler2quat, quat2euler

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import Pose, Quaternion, Twist  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_ros.cdr import EarlyMessageError, OtherJointsError  # noqa: E402
from c3p_ros.chain_messages import JointStateMessage  # noqa: E402
from c3p_ros.messages import (  # noqa: E402
    EffortCoding,
    JointCoding,
    MessageError,
    check_age,
    fill_pose,
    fill_twist,
    ns_to_stamp,
    pose_numbers,
    pose_of,
    quaternion_of,
    stamp_to_ns,
    twist_of,
    yaw_of,
)
from c3p_ros.sensed_joints import SensedJointCoding  # noqa: E402

ROBOT = replace(C3P, steering_sign=[1, -1, 1], steering_zero=[0.1, -0.2, 3.0],
                wheel_sign=[-1, 1, -1],
                steering_joints=('s_a', 's_b', 's_c'), wheel_joints=('w_a', 'w_b', 'w_c'))
BAD = [math.nan, math.inf, -math.inf]


def encoded(coding, *values):
    """Return a message with all joints of a coding."""
    position, velocity, effort = coding.encode(*values)
    return JointState(name=coding.names, position=position, velocity=velocity, effort=effort)


def joint_state():
    """Return a message with all joints and an effort of the wheels."""
    return encoded(JointCoding(ROBOT), np.array([0.1, 0.2, 0.3]), np.ones(3),
                   np.array([4.0, 5.0, 6.0]), np.full(3, 2.0), np.array([0.7, 0.8, 0.9]))


def shuffled(message, order):
    """Return the message with its joints in another order."""
    for field in ('name', 'position', 'velocity', 'effort'):
        values = list(getattr(message, field))
        setattr(message, field, [values[i] for i in order])
    return message


def test_each_coding_reads_arrays_of_its_own_and_leaves_the_message():
    """Nodes of a process get the same message."""
    message = joint_state()
    value = JointStateMessage(5, *(tuple(getattr(message, field))
                                   for field in ('name', 'position', 'velocity', 'effort')))
    before = value._replace()
    first = JointCoding(ROBOT).read(value)
    first[0][:] = 7.0
    second = JointCoding(ROBOT).read(value)
    assert value == before and second[0] == pytest.approx([0.1, 0.2, 0.3])
    # with another zero it is another reading
    moved = JointCoding(replace(ROBOT, steering_zero=np.array(ROBOT.steering_zero) + 0.5))
    np.testing.assert_allclose(moved.read(value)[0], second[0] + 0.5)


@given(vectors(3, 1e3), vectors(3, 50.0), vectors(3, 1e4), vectors(3, 50.0), vectors(3, 2.0),
       st.permutations(range(6)))
def test_round_trip_whatever_the_order_the_signs_and_the_zeros(steering, steering_rate, angle,
                                                              rate, torque, order):
    coding = JointCoding(ROBOT)
    message = shuffled(encoded(coding, steering, steering_rate, angle, rate, torque), order)
    back = coding.read(message)
    for wanted, found in zip((steering, steering_rate, angle, rate), back, strict=True):
        # the zero angle is subtracted and added: rounding of 1e3 rad
        assert found == pytest.approx(wanted, abs=1e-12, rel=1e-15)
    assert EffortCoding(ROBOT).read(message) == pytest.approx(torque, abs=0)


@given(vectors(6, 2.0), st.permutations(range(6)))
def test_efforts_of_steering_motors_have_the_signs_of_their_joints(torque, order):
    robot = replace(ROBOT, steered=[True, False, True])
    message = shuffled(encoded(JointCoding(robot), *np.zeros((4, 3)), torque), order)
    efforts = dict(zip(message.name, message.effort, strict=True))
    assert efforts['s_a'] == torque[3] and efforts['s_b'] == -torque[4]
    assert efforts['w_a'] == -torque[0]
    coding = EffortCoding(robot)
    assert coding.read(message) == pytest.approx(torque, abs=0)
    assert coding.names == [*ROBOT.wheel_joints, *ROBOT.steering_joints]
    assert coding.read(JointState(name=coding.names, effort=coding.encode(torque))
                       ) == pytest.approx(torque, abs=0)


def test_signs_and_zeros_are_what_the_robot_says():
    message = joint_state()
    assert message.name == ['s_a', 's_b', 's_c', 'w_a', 'w_b', 'w_c']
    # model angle = sign · joint angle + zero
    assert list(message.position) == pytest.approx([0.0, -0.4, -2.7, -4.0, 5.0, -6.0])
    assert list(message.velocity) == [1.0, -1.0, 1.0, -2.0, 2.0, -2.0]
    assert list(message.effort) == [0.0, 0.0, 0.0, -0.7, 0.8, -0.9]


def test_one_coding_reads_messages_in_changing_orders():
    coding = JointCoding(ROBOT)
    for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5], [3, 0, 4, 1, 5, 2]):
        steering, _, angle, _ = coding.read(shuffled(joint_state(), order))
        assert steering == pytest.approx([0.1, 0.2, 0.3])
        assert angle == pytest.approx([4.0, 5.0, 6.0])


def test_foreign_joints_are_left_out():
    message = joint_state()
    message.name = ['arm', *message.name]
    message.position = [math.nan, *message.position]
    message.velocity = [math.inf, *message.velocity]
    steering, _, _, _ = JointCoding(ROBOT).read(message)
    assert steering == pytest.approx([0.1, 0.2, 0.3])


def test_nan_before_the_first_state_is_told_from_nan_afterwards():
    """As ros2_control sends it until the hardware has reported."""
    coding, empty = JointCoding(ROBOT), joint_state()
    empty.position = [math.nan] * 6
    with pytest.raises(EarlyMessageError, match='position of .* is nan'):
        coding.read(empty)
    coding.read(joint_state())
    with pytest.raises(MessageError) as refused:
        coding.read(empty)
    assert not isinstance(refused.value, EarlyMessageError)


@pytest.mark.parametrize('value', BAD)
@pytest.mark.parametrize('field', ['position', 'velocity'])
@pytest.mark.parametrize('joint', range(6))
def test_a_number_that_is_not_finite_is_refused_by_joint_and_value(joint, field, value):
    message = joint_state()
    values = list(getattr(message, field))
    values[joint] = value
    setattr(message, field, values)
    with pytest.raises(MessageError) as refused:
        JointCoding(ROBOT).read(message)
    text = str(refused.value)
    assert field in text and message.name[joint] in text and str(value) in text


@pytest.mark.parametrize('value', BAD)
@pytest.mark.parametrize('wheel', range(3))
def test_an_effort_that_is_not_finite_is_refused_by_joint_and_value(wheel, value):
    message = JointState(name=['w_c', 'w_a', 'w_b'], effort=[0.1, 0.2, 0.3])
    message.effort[wheel] = value
    with pytest.raises(MessageError) as refused:
        EffortCoding(ROBOT).read(message)
    assert message.name[wheel] in str(refused.value) and str(value) in str(refused.value)


def test_opposite_infinities_do_not_cancel():
    message = JointState(name=['w_a', 'w_b', 'w_c'], effort=[math.inf, -math.inf, 0.0])
    with pytest.raises(MessageError, match='effort of w_a is inf'):
        EffortCoding(ROBOT).read(message)


@pytest.mark.parametrize('coding', [JointCoding, EffortCoding])
def test_a_missing_joint_is_named_with_what_came(coding):
    message = joint_state()
    for field in ('name', 'position', 'velocity', 'effort'):
        setattr(message, field, list(getattr(message, field))[:-1])
    with pytest.raises(MessageError, match=r"\['w_c'\] are missing.*w_b"):
        coding(ROBOT).read(message)


def test_joints_of_another_device_are_told_apart_once_the_own_ones_are_known():
    """An arm publishes on joint_states, too; wheel_effort is of the wheels alone."""
    arm = JointState(name=['arm_1', 'arm_2'], position=[0.1, 0.2], velocity=[0.0, 0.0],
                     effort=[0.0, 0.0])
    for coding in (JointCoding(ROBOT), EffortCoding(ROBOT)):
        shared = isinstance(coding, JointCoding)
        with pytest.raises(MessageError, match='are missing') as refused:
            coding.read(arm)
        # a driver may name all joints wrongly
        assert type(refused.value) is MessageError
        coding.read(joint_state())
        with pytest.raises(MessageError, match='are missing') as refused:
            coding.read(arm)
        assert type(refused.value) is (OtherJointsError if shared else MessageError)
        coding.read(joint_state())
        # a part of the own joints is no other device
        part = joint_state()
        for field in ('name', 'position', 'velocity', 'effort'):
            setattr(part, field, list(getattr(part, field))[:-1])
        with pytest.raises(MessageError, match='are missing') as refused:
            coding.read(part)
        assert type(refused.value) is MessageError


@pytest.mark.parametrize('coding', [JointCoding, EffortCoding])
def test_a_doubled_joint_is_named(coding):
    message = joint_state()
    message.name[4] = 'w_a'
    message.name = [*message.name, 'w_b']
    with pytest.raises(MessageError, match=r"\['w_a'\] are named more than once"):
        coding(ROBOT).read(message)


@pytest.mark.parametrize('field, coding', [('position', JointCoding), ('velocity', JointCoding),
                                           ('effort', EffortCoding)])
@pytest.mark.parametrize('length', [0, 3, 5, 7])
def test_a_wrong_size_is_refused_with_both_sizes(field, coding, length):
    message = joint_state()
    setattr(message, field, [0.0] * length)
    with pytest.raises(MessageError, match=f'{field} has {length} values for 6 names'):
        coding(ROBOT).read(message)


@pytest.mark.parametrize('velocity', [[], [math.nan] * 6, [math.nan] + [1.0] * 5])
def test_a_sensed_message_needs_no_rates(velocity):
    message = joint_state()
    steering, _, angle, _ = JointCoding(ROBOT).read(message)
    message.velocity = velocity
    found = SensedJointCoding(ROBOT).read(message)
    assert found[0].tolist() == steering.tolist() and found[2].tolist() == angle.tolist()
    assert np.isnan(found[1]).all() and np.isnan(found[3]).all()
    # for a controller they are not enough
    with pytest.raises(MessageError, match='velocity'):
        JointCoding(ROBOT).read(message)


def test_rates_of_other_joints_do_not_matter_and_infinite_ones_are_refused():
    message = joint_state()
    whole = JointCoding(ROBOT).read(message)
    message.name = [*message.name, 'arm']
    message.position = [*message.position, 1.0]
    message.velocity = [*message.velocity, math.nan]
    message.effort = []
    for found, expected in zip(SensedJointCoding(ROBOT).read(message), whole, strict=True):
        assert found.tolist() == expected.tolist()
    message.velocity[2] = math.inf
    with pytest.raises(MessageError, match='velocity.*inf'):
        SensedJointCoding(ROBOT).read(message)
    message.velocity = [1.0, 2.0]
    with pytest.raises(MessageError, match='velocity has 2 values for 7 names'):
        SensedJointCoding(ROBOT).read(message)


@pytest.mark.parametrize('rates, words', [
    ([math.nan, math.inf], 'velocity is infinite: must be finite, or NaN'),
    ([math.inf, -math.inf], 'velocity of .* is -?inf: must be finite')])
def test_an_infinite_rate_is_refused_whatever_the_sum_of_all_is(rates, words):
    message = joint_state()
    message.velocity = [*rates, *message.velocity[2:]]
    with pytest.raises(MessageError, match=words):
        SensedJointCoding(ROBOT).read(message)


@pytest.mark.parametrize('coding', [JointCoding, EffortCoding])
def test_a_refused_message_does_not_spoil_the_next(coding):
    reader = coding(ROBOT)
    for spoil in (lambda m: m.name.pop(), lambda m: m.name.append('w_a'),
                  lambda m: setattr(m, 'name', [])):
        message = joint_state()
        spoil(message)
        with pytest.raises(MessageError):
            reader.read(message)
        reader.read(joint_state())


@given(vectors(3, 1e6))
def test_twists_go_there_and_back(twist):
    assert np.array_equal(twist_of(fill_twist(Twist(), twist), 'twist'), twist)


@pytest.mark.parametrize('value', BAD)
@pytest.mark.parametrize('part', ['linear', 'angular'])
@pytest.mark.parametrize('axis', 'xyz')
def test_a_twist_that_is_not_finite_is_refused_by_component(part, axis, value):
    message = Twist()
    setattr(getattr(message, part), axis, value)
    with pytest.raises(MessageError, match=rf'twist\.{part}\.{axis} = {value}'):
        twist_of(message, 'twist')


@given(st.floats(-math.pi, math.pi), st.floats(0.9905, 1.0095))
def test_yaw_goes_there_and_back_also_when_its_length_is_a_little_off(yaw, length):
    q = quaternion_of(yaw)
    scaled = Quaternion(x=q.x * length, y=q.y * length, z=q.z * length, w=q.w * length)
    found = yaw_of(scaled, 'orientation')
    assert math.cos(found - yaw) == pytest.approx(1.0, abs=1e-12)


@given(vectors(3, math.pi))
def test_yaw_is_the_last_of_roll_pitch_and_yaw_about_fixed_axes(angles):
    """As tf2 and transforms3d define it."""
    # at a pitch of 90 degrees roll and yaw are one motion
    assume(abs(abs(angles[1]) - 0.5 * math.pi) > 1e-4)
    w, x, y, z = euler2quat(*angles)
    found = yaw_of(Quaternion(x=x, y=y, z=z, w=w), 'orientation')
    # its error is that of the quaternion over the cosine of the pitch
    assert math.cos(found - quat2euler((w, x, y, z))[2]) == pytest.approx(1.0, abs=1e-12)


@given(st.floats(-math.pi, math.pi))
def test_the_quaternion_of_a_yaw_is_the_one_of_the_library(yaw):
    q = quaternion_of(yaw)
    np.testing.assert_allclose((q.w, q.x, q.y, q.z), euler2quat(0.0, 0.0, yaw), rtol=0, atol=0)
    assert pose_numbers([1.0, 2.0, yaw]) == [1.0, 2.0, 0.0, q.x, q.y, q.z, q.w]


@pytest.mark.parametrize('parts', [(0, 0, 0, 0), (0, 0, 0, 2), (0, 0, 0, 1.02),
                                   (0, 0, math.nan, 1), (math.inf, 0, 0, 0), (0, 0, 1e200, 0)])
def test_what_is_no_rotation_is_refused_by_its_place(parts):
    x, y, z, w = (float(p) for p in parts)
    with pytest.raises(MessageError, match='pose.orientation = .*not a rotation'):
        yaw_of(Quaternion(x=x, y=y, z=z, w=w), 'pose.orientation')


@given(st.integers(0, 2**31 * 10**9 - 1))
def test_stamps_go_there_and_back(nanoseconds):
    assert stamp_to_ns(ns_to_stamp(nanoseconds)) == nanoseconds


def test_age_is_refused_with_age_and_limit():
    now = 1_000_000_000_000
    check_age(now - 200_000_000, now, 0.2)
    check_age(now + 100_000_000, now, 0.2)
    with pytest.raises(MessageError, match='stale: 0.300 s old, at most 0.200 s'):
        check_age(now - 300_000_000, now, 0.2)
    with pytest.raises(MessageError, match='from the future: 0.200 s ahead, at most 0.100 s'):
        check_age(now + 200_000_000, now, 0.2)


@pytest.mark.parametrize('coding', [JointCoding, EffortCoding])
def test_a_first_message_without_names_lacks_all_joints(coding):
    with pytest.raises(MessageError, match='are missing'):
        coding(C3P).read(JointState())


@given(vectors(2, 1e4), st.floats(-math.pi, math.pi))
def test_poses_go_there_and_back(position, yaw):
    found = pose_of(fill_pose(Pose(), (*position, yaw)), 'pose')
    assert np.array_equal(found[:2], position)
    assert math.cos(found[2] - yaw) == pytest.approx(1.0, abs=1e-12)
