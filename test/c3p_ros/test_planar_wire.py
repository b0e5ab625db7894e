# SPDX-License-Identifier: Apache-2.0
"""Odometry on a plane, written straight to the wire, against rclpy's own serialization."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402

from c3p_kinematics.odometry import planar_covariance  # noqa: E402
from c3p_ros.cdr import PublishError  # noqa: E402
from c3p_ros.messages import pose_numbers  # noqa: E402
from c3p_ros.spatial_wire import OdometryWriter  # noqa: E402
from c3p_ros.wire import PlanarOdometryWriter  # noqa: E402

NUMBER = st.floats(-1e6, 1e6)
GOOD = {'pose': np.array([1.0, 2.0, 3.0]), 'twist': np.array([0.1, 0.2, 0.3]),
        'pose_covariance': np.eye(3), 'twist_covariance': 2.0 * np.eye(3)}


@settings(max_examples=100, deadline=None)
@given(st.lists(NUMBER, min_size=24, max_size=24))
def test_it_writes_what_the_spatial_writer_does(numbers):
    pose, twist = np.array(numbers[:3]), np.array(numbers[3:6])
    covariances = np.array(numbers[6:]).reshape(2, 3, 3)
    write = PlanarOdometryWriter('odom', 'base_link', 'odom', planar_covariance(np.zeros((3, 3))))
    spatial = OdometryWriter('odom', 'base_link')(
        7, pose_numbers(pose), [*twist[:2], 0.0, 0.0, 0.0, twist[2]],
        *map(planar_covariance, covariances))
    assert write(7, pose, twist, *covariances) == spatial
    # covariances that are left out stay
    assert write(7, pose, twist) == spatial


def test_without_a_covariance_it_is_zero():
    message = deserialize_message(PlanarOdometryWriter('odom', 'base_link')(
        5_000_000_006, GOOD['pose'], GOOD['twist']), Odometry)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (5, 6)
    assert not message.pose.covariance.any() and not message.twist.covariance.any()
    assert message.pose.pose.orientation.z == np.sin(1.5)
    assert message.twist.twist.angular.z == 0.3


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(('field', 'name'), [
    ('pose', r'pose\[yaw\]'), ('twist', r'twist\[yaw rate\]'),
    ('pose_covariance', r'covariance\[8\]'), ('twist_covariance', r'covariance\[17\]')])
def test_a_number_that_is_not_finite_is_named_and_leaves_nothing(field, name, value):
    write = PlanarOdometryWriter('odom', 'base_link', 'odom')
    before = write(1, **GOOD)
    spoiled = GOOD[field].copy()
    spoiled.flat[-1] = value
    with pytest.raises(PublishError, match=rf'^odom: {name} = {value}: must be finite'):
        write(2, **{**GOOD, field: spoiled})
    assert write(1, **GOOD) == before


def test_the_largest_finite_numbers_pass():
    write = PlanarOdometryWriter('odom', 'base_link')
    assert write(1, np.array([1.7e308, 1.7e308, 0.0]), GOOD['twist'])
