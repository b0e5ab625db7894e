# SPDX-License-Identifier: Apache-2.0
"""IMU of the node: which messages teach, which are rejected, and nothing of it by default."""

import math

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from sensor_msgs.msg import Imu, JointState  # noqa: E402

from c3p_description.reading.loader import load_casters, robot_description  # noqa: E402
from c3p_kinematics.casters import inverse  # noqa: E402
from c3p_kinematics.sensed_kinematics_node import SensedKinematicsNode  # noqa: E402
from c3p_ros.schema import ParameterError  # noqa: E402


def trailing():
    """Return the steering angles of the C3P while it turns on the spot, after it has swung."""
    robot = load_casters('c3p')
    steering = np.zeros(robot.count)
    for _ in range(2000):
        steering = steering + 0.01 * inverse(robot, steering, [0.0, 0.0, 0.5])[1]
    return steering


STEERING = trailing()

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


def test_an_imu_for_a_calibration_that_is_off_is_refused(bench):
    with pytest.raises(ParameterError, match=r'calibration\.enabled'):
        bench.add(SensedKinematicsNode, **{'imu.enabled': True, 'imu.odometry': False})


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


def test_a_gyro_is_fused_without_a_calibration(bench):
    node = bench.add(SensedKinematicsNode, **{'imu.enabled': True})
    publisher = bench.publisher(Imu, 'imu/data')
    assert subscribed(node) and node._odometry.gyro is not None
    state = node._odometry.gyro._state
    bench._repeat(lambda: publisher.publish(message(bench)),
                  lambda: state.samples.count[0] > 5, 'samples of the gyro', 10.0)
    assert state.samples.rate[0] == 0.5


def test_the_axis_of_an_imu_follows_from_the_description(bench):
    urdf = robot_description('c3p').replace('</robot>', """
        <link name="imu_link"/><joint name="imu_mount" type="fixed"><parent link="base_link"/>
        <child link="imu_link"/><origin rpy="3.14159265 0 0"/></joint></robot>""")
    node = bench.add(SensedKinematicsNode, **{'imu.enabled': True, 'robot_description': urdf})
    publisher = bench.publisher(Imu, 'imu/data')
    state = node._odometry.gyro._state
    bench._repeat(lambda: publisher.publish(message(bench, 'imu_link')),
                  lambda: state.samples.count[0] > 2, 'samples of the gyro', 10.0)
    assert state.samples.rate[0] == pytest.approx(-0.5)


def test_a_gyro_that_contradicts_the_joints_is_named_in_the_diagnostics(bench):
    node = bench.add(SensedKinematicsNode, **{'imu.enabled': True})
    joints = bench.publisher(JointState, 'joint_states')
    gyro = bench.publisher(Imu, 'imu/data')
    robot = node.robot
    turned = np.zeros(robot.count)
    last = None

    def turn():
        # the casters trail of themselves: they roll along the circle of their contacts
        nonlocal turned, last
        rate, _, _ = inverse(robot, STEERING, [0.0, 0.0, 0.5])
        sent = JointState()
        sent.header.stamp = bench.now()
        stamp = sent.header.stamp.sec + 1e-9 * sent.header.stamp.nanosec
        turned = turned + (stamp - (last or stamp)) * rate
        last = stamp
        sent.name = [*robot.steering_joints, *robot.wheel_joints]
        sent.position = np.concatenate([
            robot.steering_sign * (STEERING - robot.steering_zero),
            robot.wheel_sign * turned]).tolist()
        sent.velocity = np.concatenate([np.zeros(robot.count), robot.wheel_sign * rate]).tolist()
        joints.publish(sent)
        gyro.publish(message(bench, rate=math.degrees(0.5)))

    def named():
        text = node._odometry.gyro.report().text()
        return 'degrees per second?' in text and "57.3 times the joints' yaw rate" in text

    bench._repeat(turn, named, 'a gyro that is named', 20.0)
    assert 'degrees per second?' in node.metrics()['gyro in the odometry']


def test_a_clock_that_is_set_back_does_not_silence_an_imu(bench):
    node = bench.add(SensedKinematicsNode, **{'imu.enabled': True, 'joint_state_timeout': 5.0})
    publisher = bench.publisher(Imu, 'imu/data')
    state = node._odometry.gyro._state
    bench._repeat(lambda: publisher.publish(message(bench)),
                  lambda: state.samples.count[0] > 5, 'samples of the gyro', 10.0)
    bench._repeat(lambda: publisher.publish(message(bench, rate=0.25, age=2.0)),
                  lambda: state.samples.rate[0] == 0.25, 'samples of the set clock', 10.0)
