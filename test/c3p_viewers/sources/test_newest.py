# SPDX-License-Identifier: Apache-2.0
"""Newest messages of topics: age, decoding, and the reasons of refusals; without ROS 2."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import C3P
from scipy.spatial.transform import Rotation

from c3p_bags.storage.bag_writer import message_types
from c3p_description.pvc_model import JOINTS
from c3p_ros.cdr import MOST_BYTES
from c3p_viewers.sources.moment import odometry_scene
from c3p_viewers.sources.moment_reader import MARKER_TOPICS, PLANNED, SLIP, MomentReader
from c3p_viewers.sources.newest import NewestMessages, planar_pose
from c3p_viewers.sources.ride_reader import TERRAIN, RideReader

STORE = message_types()
T = STORE.types
NAMES = [*C3P.steering_joints, *C3P.wheel_joints]


def wire(message):
    return bytes(STORE.serialize_cdr(message, message.__msgtype__))


def header(frame='', stamp=0):
    return T['std_msgs/msg/Header'](T['builtin_interfaces/msg/Time'](
        *divmod(stamp, 1_000_000_000)), frame)


def joints(position=(0.5, 2.0, -1.5, 0, 0, 0), names=NAMES, effort=(), velocity=(), stamp=0):
    return wire(T['sensor_msgs/msg/JointState'](
        header(stamp=stamp), list(names), *(np.array(v, float) for v in (
            position, velocity, effort))))


def pose(x=0.0, y=0.0, quaternion=(0.0, 0.0, 0.0, 1.0)):
    return T['geometry_msgs/msg/Pose'](T['geometry_msgs/msg/Point'](x, y, 0.0),
                                       T['geometry_msgs/msg/Quaternion'](*quaternion))


def odometry(frame='odom', covariance=None, vx=0.5, **where):
    vector = T['geometry_msgs/msg/Vector3']
    return wire(T['nav_msgs/msg/Odometry'](
        header(frame), 'base_link', T['geometry_msgs/msg/PoseWithCovariance'](
            pose(**where), np.zeros(36) if covariance is None else covariance),
        T['geometry_msgs/msg/TwistWithCovariance'](T['geometry_msgs/msg/Twist'](
            vector(vx, 0.0, 0.0), vector(0.0, 0.0, 0.0)), np.zeros(36))))


def slip(along=0.1, suspect=1, names=C3P.wheel_joints):
    return joints(np.full(len(names), along), names, [0.9 * (k == suspect) for k in range(
        len(names))], [-0.01 * k for k in range(len(names))])


def trajectory(frame='odom', places=((0.0, 0.0), (1.0, 0.5))):
    transform, vector = T['geometry_msgs/msg/Transform'], T['geometry_msgs/msg/Vector3']
    turn = T['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
    return wire(T['trajectory_msgs/msg/MultiDOFJointTrajectory'](header(frame), ['base'], [
        T['trajectory_msgs/msg/MultiDOFJointTrajectoryPoint'](
            [transform(vector(x, y, 0.0), turn)], [], [],
            T['builtin_interfaces/msg/Duration'](0, 0)) for x, y in places]))


@pytest.fixture
def reader():
    """A reader of what RViz shows, and the list of its refusals."""
    refused = []
    reader = MomentReader(C3P, MARKER_TOPICS, refuse=lambda *why: refused.append(why))
    return reader, refused


def test_a_message_is_decoded_once_and_used_until_it_is_old():
    newest = NewestMessages({'odom': MARKER_TOPICS['odom']}, lasts=0.5)
    newest.put('camera', b'ignored', 0.0)
    assert newest.received('camera') is None
    newest.put('odom', odometry(), 10.0)
    first = newest.value('odom', 10.5, lambda message: message)
    assert first is newest.value('odom', math.inf, lambda message: message)
    assert newest.value('odom', 10.6, lambda message: message) is None
    newest.clear()
    assert newest.value('odom', math.inf, lambda message: message) is None


def test_joint_states_without_velocities_are_enough(reader):
    reader, refused = reader
    assert reader.moment(0.0) is None
    reader.put('joint_states', joints(), 0.0)
    moment = reader.moment(0.1)
    np.testing.assert_allclose(moment.steering, C3P.steering_sign * [0.5, 2.0, -1.5]
                               + C3P.steering_zero)
    assert not moment.steering_rate.any() and refused == []


@pytest.mark.parametrize(('topic', 'data', 'reason', 'lost'), [
    ('wheel_effort', joints(names=C3P.wheel_joints, position=(), effort=[1.0]),
     'effort has 1 values for 3 names', 'torque'),
    (SLIP, b'\x00\x01\x00\x00nonsense', 'not a sensor_msgs', 'residual'),
    (SLIP, bytes(MOST_BYTES + 1), f'{MOST_BYTES + 1} bytes: must be at most {MOST_BYTES}',
     'residual'),
    (SLIP, slip(math.nan), 'must be a speed', 'residual'),
    (SLIP, slip(names=()), 'wheel wheel_joint_1 is missing', 'residual'),
    (PLANNED, trajectory('map'), "'map': must be that of the odometry, 'odom'", 'planned'),
    (PLANNED, trajectory(places=()), 'no points', 'planned'),
    (PLANNED, trajectory(places=[(math.nan, 0.0)]), 'must be finite', 'planned'),
    ('odom', odometry(covariance=np.full(36, math.nan)), 'pose.covariance', 'covariance'),
    ('odom', odometry(quaternion=(0.0, 0.0, 0.0, 0.0)), 'not a rotation', 'pose'),
    ('odom', odometry(x=math.inf), 'must be finite', 'pose'),
    ('odom', odometry()[:60], 'not a nav_msgs', 'twist')])
def test_an_unusable_message_is_refused_once_and_left_out(reader, topic, data, reason, lost):
    reader, refused = reader
    for good, value in (('odom', odometry()), (topic, data)):
        reader.put(good, value, 0.0)
    for _ in range(3):
        reader.put('joint_states', joints(), 0.0)
        assert getattr(reader.moment(0.0), lost) is None
    assert [where for where, _ in refused] == [topic] and reason in str(refused[0][1])


@pytest.mark.parametrize(('data', 'reason'), [
    (joints(names=['a', 'b', 'c', 'd', 'e', 'f']), 'missing'),
    (joints(position=[1.0]), 'position has 1 values'),
    (joints(position=[math.nan] * 6), 'must be finite'),
    (joints(position=[1e10] * 6), 'at most 1e+09')])
def test_joint_states_of_another_robot_are_refused(reader, data, reason):
    reader, refused = reader
    reader.put('joint_states', data, 0.0)
    assert reader.moment(0.0) is None and reason in str(refused[0][1])


def test_everything_of_a_moment_is_that_of_its_messages(reader):
    reader, refused = reader
    reader.put('joint_states', joints(stamp=3_000_000_007), 0.0)
    reader.put('odom', odometry(x=1.0, covariance=np.arange(36.0)), 0.0)
    reader.put(SLIP, slip(), 0.0)
    reader.put('wheel_effort', joints(names=C3P.wheel_joints, position=(), effort=[1, 2, 3]), 0.0)
    reader.put(PLANNED, trajectory(), 0.0)
    moment = reader.moment(0.0)
    assert moment.stamp == 3_000_000_007 and moment.time == 0.0 and moment.frame == 'odom'
    np.testing.assert_array_equal(moment.covariance, [[0, 1, 5], [6, 7, 11], [30, 31, 35]])
    np.testing.assert_array_equal(moment.residual, [[0.1, -0.0], [0.1, -0.01], [0.1, -0.02]])
    np.testing.assert_array_equal(moment.torque, C3P.wheel_sign * [1, 2, 3])
    np.testing.assert_array_equal(moment.planned, [[0, 0], [1, 0.5]])
    assert moment.suspect == 1 and moment.pose[0] == 1.0 and moment.twist[0] == 0.5
    assert {s.name for s in odometry_scene(C3P, moment)} >= {'planned', 'uncertainty_place'}
    assert reader.odometry(0.0)[1] == 'odom' and refused == []


@given(st.tuples(*[st.floats(-3, 3)] * 3))
def test_yaw_is_that_of_scipy(angles):
    turn = Rotation.from_euler('ZYX', [angles[0], angles[1] / 3, angles[2]])
    found = planar_pose(pose(1.0, 2.0, turn.as_quat()))
    expected = turn.as_matrix()[:2, 0]
    np.testing.assert_allclose([math.cos(found[2]), math.sin(found[2])],
                               expected / np.linalg.norm(expected), atol=1e-9)


def test_a_tricycle_is_read_in_any_order_of_its_joints():
    reader = RideReader()
    position = 0.1 * np.arange(6)
    reader.put('joint_states', joints(position[::-1], JOINTS[::-1]), 0.0)
    stamp, joint, rate = reader.joints(0.0)
    np.testing.assert_array_equal(joint, position)
    assert stamp == 0 and not rate.any() and reader.moment(0.0) is None
    reader.put('odom', odometry('map', x=2.0), 0.0)
    assert reader.placed(0.0).frame == 'map' and reader.moment(0.0).pose[0] == 2.0
    # a ground may be large, and is returned once
    reader.put(TERRAIN, b'\x00\x01\x00\x00' + bytes(2 * MOST_BYTES), 0.0)
    assert reader.ground() is None
