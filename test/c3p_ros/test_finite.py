# SPDX-License-Identifier: Apache-2.0
"""What is not finite is not written, by any writer or sender, and the error names it."""

import math

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from geometry_msgs.msg import Pose, PoseStamped, Twist, TwistStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from nav_msgs.msg import Path as PathMessage  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray, String  # noqa: E402
from trajectory_msgs.msg import MultiDOFJointTrajectory  # noqa: E402

from c3p_ros.cdr import PublishError  # noqa: E402
from c3p_ros.finite import check_message, check_serialized  # noqa: E402
from c3p_ros.messages import fill_pose, fill_twist  # noqa: E402
from c3p_ros.spatial_wire import OdometryWriter  # noqa: E402
from c3p_ros.wire import (  # noqa: E402
    READERS,
    AccelWriter,
    JointStateWriter,
    TrajectoryWriter,
    check_finite,
)

BAD = [math.nan, math.inf, -math.inf]
bad = pytest.mark.parametrize('value', BAD)


def spoiled(shape, place, value):
    numbers = np.ones(shape)
    numbers.flat[place] = value
    return numbers


@bad
def test_a_writer_names_topic_field_and_joint(value):
    write = JointStateWriter(['a', 'b', 'c'], ['position', 'effort'], 'wheel_effort')
    with pytest.raises(PublishError, match=rf'^wheel_effort: effort\[b\] = {value}: must be fin'):
        write(1, position=np.ones(3), effort=spoiled(3, 1, value))


@bad
@pytest.mark.parametrize('size, field', [(7, 'pose'), (6, 'twist'), (36, 'pose_covariance'),
                                         (36, 'twist_covariance')])
def test_odometry_is_written_again_after_a_refusal_and_keeps_nothing_of_it(size, field, value):
    write = OdometryWriter('odom', 'base_link', 'odom')
    good = {'pose': np.arange(7.0), 'twist': np.arange(6.0)}
    with pytest.raises(PublishError, match=rf'^odom: {field.replace("_", ".")}\[3\] = {value}'):
        write(1, **{**good, field: spoiled(size, 3, value)})
    # a covariance that is left out stays what it was
    read = READERS[Odometry]()(write(2, **good))
    assert read.pose == tuple(range(7)) and read.twist == tuple(range(6))


@bad
def test_accelerations_and_trajectories_are_refused(value):
    with pytest.raises(PublishError, match=rf'^accel_topic: accel\[yaw\] = {value}'):
        AccelWriter('base_link', 'accel_topic')(1, spoiled(3, 2, value))
    write, good = TrajectoryWriter('odom', 'base_link', [0.0, 0.1], 'ahead'), np.ones((2, 3))
    for pose, velocity, field in ((spoiled((2, 3), 4, value), good, 'pose'),
                                  (good, spoiled((2, 3), 4, value), 'velocity')):
        with pytest.raises(PublishError, match=rf'^ahead: {field}\[4\] = {value}'):
            write(1, pose, velocity)


@bad
def test_twists_and_poses_are_refused_before_they_are_filled(value):
    twist, pose = Twist(), Pose()
    with pytest.raises(PublishError, match=rf'^cmd_vel_joy: twist\[yaw rate\] = {value}'):
        fill_twist(twist, spoiled(3, 2, value), 'cmd_vel_joy')
    with pytest.raises(PublishError, match=rf'^goal_pose: pose\[x\] = {value}'):
        fill_pose(pose, spoiled(3, 0, value), 'goal_pose')
    assert twist == Twist() and pose == Pose()


def test_the_largest_finite_numbers_pass():
    check_finite('a', 'b', [1.7e308, 1.7e308, -1.7e308])
    check_finite('a', 'b', [])


@bad
def test_a_typed_message_is_looked_through_at_any_depth(value):
    stamped, group, way = TwistStamped(), Float64MultiArray(data=[0.0, value]), PathMessage()
    stamped.twist.angular.x = value
    way.poses = [PoseStamped(), PoseStamped()]
    way.poses[1].pose.position.z = value
    odometry = Odometry()
    odometry.twist.covariance[35] = value
    for message, place in ((stamped, 'twist.angular.x'), (group, r'data\[1\]'),
                           (way, r'poses\[1\].pose.position.z'),
                           (odometry, r'twist.covariance\[35\]')):
        with pytest.raises(PublishError, match=f'^x: {place}.* = {value}'):
            check_message('x', message)
    for message in (String(data='nan'), TwistStamped(), PathMessage(), Odometry(),
                    MultiDOFJointTrajectory()):
        assert check_message('x', message) is message


@bad
def test_a_serialized_command_is_refused_with_its_number_or_as_no_message(value):
    good = serialize_message(JointState(name=['a'], effort=[1.0]))
    check_serialized('wheel_effort', good, JointState)
    with pytest.raises(PublishError, match=r'wheel_effort: effort\[0\]'):
        check_serialized('wheel_effort', serialize_message(JointState(effort=[value])), JointState)
    with pytest.raises(PublishError, match='wheel_effort: no JointState'):
        check_serialized('wheel_effort', good[:20], JointState)
