# SPDX-License-Identifier: Apache-2.0
"""What is read from the wire is what rclpy writes there."""

import struct
import sys

import numpy as np
import pytest

rclpy_serialization = pytest.importorskip(
    'rclpy.serialization', reason='needs rclpy: pip install .[jazzy], or a ROS 2 installation')

from geometry_msgs.msg import AccelStamped, Twist, TwistStamped  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rosbags.typesys import Stores, get_typestore  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import MultiDOFJointTrajectory  # noqa: E402

from c3p_ros.cdr import HEADER, LITTLE, PublishError  # noqa: E402
from c3p_ros.messages import MessageError, planar  # noqa: E402
from c3p_ros.spatial_wire import OdometryWriter  # noqa: E402
from c3p_ros.twist_wire import TwistWriter  # noqa: E402
from c3p_ros.wire import (  # noqa: E402
    READERS,
    AccelWriter,
    JointStateWriter,
    TrajectoryWriter,
)

serialize = rclpy_serialization.serialize_message
deserialize = rclpy_serialization.deserialize_message
read_odometry, read_accel = READERS[Odometry](), READERS[AccelStamped]()
read_trajectory = READERS[MultiDOFJointTrajectory]()

TEXT = st.text(st.characters(codec='utf-8', exclude_characters='\0'), max_size=12)
# nan is compared through its bytes
NUMBER = st.floats(allow_nan=True)
NUMBERS = st.lists(NUMBER, max_size=9)
STAMP = st.tuples(st.integers(-2**31, 2**31 - 1), st.integers(0, 999_999_999))


def stamped(message, stamp, frame):
    message.header.stamp.sec, message.header.stamp.nanosec = stamp
    message.header.frame_id = frame
    return message


def trajectory(frame, count):
    written = TrajectoryWriter(frame, 'base_link', [0.05 * k for k in range(count)])
    rows = [[k, k + 0.5, 0.1 * k] for k in range(count)]
    return deserialize(written(7, rows, rows), MultiDOFJointTrajectory)


def same(read, written):
    return struct.pack(f'{len(read)}d', *read) == struct.pack(f'{len(written)}d', *written)


@settings(max_examples=200, deadline=None)
@given(STAMP, TEXT, st.lists(TEXT, max_size=7), NUMBERS, NUMBERS, NUMBERS)
def test_joint_states_of_any_size_are_read_as_written(stamp, frame, names, position, velocity,
                                                      effort):
    message = stamped(JointState(name=names, position=position, velocity=velocity,
                                 effort=effort), stamp, frame)
    reader = READERS[JointState]()
    for _ in range(2):  # the second time from the remembered names
        read = reader(serialize(message))
        assert read.stamp == stamp[0] * 1_000_000_000 + stamp[1]
        assert list(read.name) == names
        assert same(read.position, position)
        assert same(read.velocity, velocity)
        assert same(read.effort, effort)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=4)), min_size=2, max_size=5))
def test_remembered_names_never_outlive_a_change_of_names_or_frame(messages):
    reader = READERS[JointState]()
    for frame, names in messages:
        message = stamped(JointState(name=names, position=[1.5] * len(names)), (1, 2), frame)
        read = reader(serialize(message))
        assert list(read.name) == names
        assert list(read.position) == [1.5] * len(names)


@settings(max_examples=200, deadline=None)
@given(STAMP, TEXT, TEXT, st.lists(NUMBER, min_size=13, max_size=13))
def test_odometry_is_read_as_written(stamp, frame, child, values):
    message = stamped(Odometry(child_frame_id=child), stamp, frame)
    place, turn = message.pose.pose.position, message.pose.pose.orientation
    place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w = values[:7]
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = values[7:]
    message.pose.covariance[3] = 7.0
    message.twist.covariance[35] = 9.0
    read = read_odometry(serialize(message))
    assert read.stamp == stamp[0] * 1_000_000_000 + stamp[1]
    assert (read.frame_id, read.child_frame_id) == (frame, child)
    assert same(read.pose, values[:7])
    assert same(read.twist, values[7:])


@settings(max_examples=100, deadline=None)
@given(STAMP, TEXT, st.lists(NUMBER, min_size=6, max_size=6))
def test_accelerations_are_read_as_written(stamp, frame, values):
    message = stamped(AccelStamped(), stamp, frame)
    linear, angular = message.accel.linear, message.accel.angular
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = values
    read = read_accel(serialize(message))
    assert (read.stamp, read.frame_id) == (stamp[0] * 1_000_000_000 + stamp[1], frame)
    assert same(read.accel, values)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(['joints', 'odometry', 'accel', 'trajectory']), st.data())
def test_bytes_that_are_cut_off_or_garbled_are_refused_and_nothing_else_is_raised(kind, data):
    message, read = {
        'joints': (JointState(name=['a', 'bc'], position=[1.0, 2.0]), READERS[JointState]()),
        'odometry': (Odometry(), read_odometry), 'accel': (AccelStamped(), read_accel),
        'trajectory': (trajectory('odom', 3), read_trajectory)}[kind]
    whole = serialize(message)
    garbled = bytearray(whole[:data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 3))):
        if garbled:
            garbled[data.draw(st.integers(0, len(garbled) - 1))] = data.draw(st.integers(0, 255))
    try:
        read(bytes(garbled))
    except MessageError:
        pass


def test_big_endian_messages_are_read_too():
    body = struct.pack('>iI', 5, 6) + struct.pack('>I', 1) + b'\0' + b'\0' * 3
    data = b'\0\0\0\0' + body + struct.pack('>6d', *range(6))
    read = read_accel(data)
    assert read.stamp == 5_000_000_006
    assert read.accel == (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)


@pytest.mark.parametrize('kind', READERS)
def test_the_middleware_writes_plain_cdr_in_the_order_of_the_processor(kind):
    # rmw_fastrtps and rmw_zenoh by Fast CDR, rmw_cyclonedds by a serializer of its own: see
    # docs/support.md
    order = 1 if sys.byteorder == 'little' else 0
    assert serialize(kind())[:HEADER] == bytes([0, order, 0, 0])


def test_what_is_written_here_begins_as_what_the_middleware_writes():
    written = [AccelWriter('base_link', 'accel')(7, [0.0] * 3),
               JointStateWriter(['a'], ['effort'], 'wheel_effort')(7, effort=[0.5]),
               OdometryWriter('odom', 'base_link')(7, [0.0] * 7, [0.0] * 6)]
    assert {bytes(one[:HEADER]) for one in written} == {LITTLE}


def test_the_options_of_a_header_are_ignored_and_other_encodings_refused():
    data = serialize(AccelStamped())
    # the last two bits count the bytes of padding at the end (XTypes 1.3, 7.6.3.1.2)
    assert read_accel(data[:3] + b'\3' + data[HEADER:]) == read_accel(data)
    # parameter lists and XCDR2
    for encoding in (2, 3, 6, 7, 8, 9, 10, 11):
        with pytest.raises(MessageError, match=f'not plain CDR: it begins with 00{encoding:02x}'):
            read_accel(bytes([0, encoding]) + data[2:])


@pytest.mark.parametrize('place, name', [(0, 'linear.x'), (4, 'angular.y'), (5, 'angular.z')])
def test_a_component_that_is_not_finite_is_named(place, name):
    parts = [0.0] * 6
    parts[place] = float('nan')
    with pytest.raises(MessageError, match=rf'twist\.{name} = nan'):
        planar(parts, 'twist')


TYPES = get_typestore(Stores.ROS2_JAZZY)


def assert_written(written, message):
    assert deserialize(written, type(message)) == message
    # rclpy returns its whole buffer, with any bytes as padding; rosbags reads and writes exactly
    # the message
    kind = f'{type(message).__module__.split(".")[0]}/msg/{type(message).__name__}'
    assert written == TYPES.serialize_cdr(TYPES.deserialize_cdr(written, kind), kind)


def lists(count):
    # what is not finite is not written: test_finite.py
    return st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=count,
                    max_size=count)


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=5), st.data())
def test_written_joint_states_are_what_rclpy_would_write(names, data):
    fields = data.draw(st.lists(st.sampled_from(['position', 'velocity', 'effort']), unique=True))
    write = JointStateWriter(names, fields)
    for _ in range(2):
        stamp = data.draw(STAMP)
        values = {field: data.draw(lists(len(names))) for field in fields}
        written = write(stamp[0] * 1_000_000_000 + stamp[1], **values)
        assert_written(written, stamped(JointState(name=names, **values), stamp, ''))


@settings(max_examples=100, deadline=None)
@given(TEXT, TEXT, STAMP, lists(7), lists(6), lists(36), lists(36))
def test_written_odometry_is_what_rclpy_would_write(frame, child, stamp, pose, twist, first,
                                                    second):
    message = stamped(Odometry(child_frame_id=child), stamp, frame)
    place, turn = message.pose.pose.position, message.pose.pose.orientation
    place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w = pose
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = twist
    message.pose.covariance, message.twist.covariance = first, second
    written = OdometryWriter(frame, child)(stamp[0] * 1_000_000_000 + stamp[1], pose, twist,
                                           first, second)
    assert_written(written, message)


@settings(max_examples=100, deadline=None)
@given(TEXT, STAMP, lists(3))
def test_written_accelerations_are_what_rclpy_would_write(frame, stamp, accel):
    message = stamped(AccelStamped(), stamp, frame)
    message.accel.linear.x, message.accel.linear.y, message.accel.angular.z = accel
    written = AccelWriter(frame)(stamp[0] * 1_000_000_000 + stamp[1], accel)
    assert_written(written, message)


def test_bytes_once_given_away_do_not_change_with_the_next_message():
    write = AccelWriter('base_link')
    first = write(1, [1.0, 2.0, 3.0])
    write(2, [4.0, 5.0, 6.0])
    assert deserialize(first, AccelStamped).accel.angular.z == 3.0


@settings(max_examples=100, deadline=None)
@given(TEXT, TEXT, STAMP, st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_a_written_trajectory_is_read_by_rclpy_and_here_alike(frame, child, stamp, count, seed):
    rng = np.random.default_rng(seed)
    pose, velocity = rng.normal(size=(2, count, 3))
    times = np.cumsum(rng.uniform(0.001, 2.0, count))
    written = TrajectoryWriter(frame, child, times)(
        stamp[0] * 1_000_000_000 + stamp[1], pose, velocity)
    message = deserialize(written, MultiDOFJointTrajectory)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == stamp
    assert (message.header.frame_id, message.joint_names) == (frame, [child])
    # what rclpy writes itself has other bytes where padding is, so it is read again
    for data in (written, serialize(message)):
        read = read_trajectory(data)
        assert (read.frame_id, read.name, len(read.time)) == (frame, (child,), count)
        for k, (time, transform, twist) in enumerate(zip(
                read.time, read.transforms.tolist(), read.velocities.tolist(), strict=True)):
            point = message.points[k]
            where, turn = point.transforms[0].translation, point.transforms[0].rotation
            assert transform == [where.x, where.y, 0.0, 0.0, 0.0, turn.z, turn.w]
            assert (where.x, where.y) == tuple(pose[k, :2])
            assert 2.0 * np.arctan2(turn.z, turn.w) == pytest.approx(pose[k, 2], abs=1e-12)
            rate = point.velocities[0]
            assert (rate.linear.x, rate.linear.y, rate.angular.z) == tuple(velocity[k])
            assert twist == [*velocity[k, :2], 0.0, 0.0, 0.0, velocity[k, 2]]
            assert time == pytest.approx(times[k], abs=1e-9)


def test_a_trajectory_of_two_frames_or_without_velocities_is_refused():
    message = trajectory('odom', 2)
    message.points[1].velocities = []
    with pytest.raises(MessageError, match='point 1 has 0 velocities'):
        read_trajectory(serialize(message))


@settings(max_examples=100, deadline=None)
@given(TEXT, STAMP, lists(3))
def test_written_velocity_commands_are_what_rclpy_would_write(frame, stamp, twist):
    plain = Twist()
    plain.linear.x, plain.linear.y, plain.angular.z = twist
    nanoseconds = stamp[0] * 1_000_000_000 + stamp[1]
    assert_written(TwistWriter(False, frame)(nanoseconds, twist), plain)
    assert_written(TwistWriter(True, frame)(nanoseconds, twist),
                   stamped(TwistStamped(twist=plain), stamp, frame))


@pytest.mark.parametrize('is_stamped', [True, False])
def test_a_velocity_command_that_is_not_finite_is_named(is_stamped):
    with pytest.raises(PublishError, match=r'^cmd_vel: twist\[yaw rate\] = nan: must be finite'):
        TwistWriter(is_stamped, 'base_link', 'cmd_vel')(1, [0.1, 0.2, float('nan')])
