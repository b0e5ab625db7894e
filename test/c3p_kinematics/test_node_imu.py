# SPDX-License-Identifier: Apache-2.0
"""IMU of the node: which messages teach, which are rejected, and nothing of it by default."""

import math

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from sensor_msgs.msg import Imu  # noqa: E402

from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_ros.schema import ParameterError  # noqa: E402

ENABLED = {'calibration.enabled': True, 'imu.enabled': True}


def subscribed(node):
    return 'imu/data' in {s.topic_name.lstrip('/') for s in node.subscriptions}


def message(bench, frame='base_link', rate=0.5, age=0.0):
    sent = Imu()
    sent.header.stamp, sent.header.frame_id = bench.now(-age), frame
    sent.angular_velocity.z = rate
    sent.orientation_covariance[0] = -1.0
    return sent


def test_nothing_is_subscribed_by_default(bench):
    for parameters in ({}, {'calibration.enabled': True}):
        node = bench.add(SensedKinematicsNode, **parameters)
        assert not subscribed(node) and getattr(node._odometry, 'yaw', None) is None
        node.destroy_node()


def test_an_imu_without_the_calibration_is_refused(bench):
    with pytest.raises(ParameterError, match=r'calibration\.enabled'):
        bench.add(SensedKinematicsNode, **{'imu.enabled': True})


def test_messages_of_an_imu_reach_the_learner(bench):
    node = bench.add(SensedKinematicsNode, **ENABLED)
    publisher = bench.publisher(Imu, 'imu/data')
    learner = node._odometry.yaw
    assert subscribed(node)

    def turn():
        publisher.publish(message(bench))

    bench._repeat(turn, lambda: learner._turned > 0.01, 'a turn by the gyro', 10.0)
    assert 'imu' in node.metrics()


@pytest.mark.parametrize(('change', 'named'), [
    ({'frame': 'imu_link'}, 'imu.axis'), ({'rate': math.nan}, 'finite'), ({'age': 5.0}, 'old'),
    ({'covariance': -1.0}, 'no rate')])
def test_a_message_that_must_not_teach_is_rejected_and_named(bench, change, named):
    node = bench.add(SensedKinematicsNode, **ENABLED)
    publisher = bench.publisher(Imu, 'imu/data')

    def send():
        sent = message(bench, **{k: v for k, v in change.items() if k != 'covariance'})
        sent.angular_velocity_covariance[0] = change.get('covariance', 0.0)
        publisher.publish(sent)

    def shown():
        return any(topic == 'imu/data' and named in reason for (topic, _), (_, _, reason)
                   in node.diagnostics._dropped.items())

    bench._repeat(send, shown, f'a rejection with {named!r}', 10.0)
    assert node._odometry.yaw._time is None


def test_an_imu_in_another_frame_has_the_axis_of_its_parameter(bench):
    node = bench.add(SensedKinematicsNode, **ENABLED, **{'imu.axis': 'z-down'})
    publisher = bench.publisher(Imu, 'imu/data')
    bench._repeat(lambda: publisher.publish(message(bench, 'imu_link')),
                  lambda: node._odometry.yaw._turned < -0.01, 'a turn to the right', 10.0)
