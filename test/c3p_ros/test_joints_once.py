# SPDX-License-Identifier: Apache-2.0
"""Messages name each joint of a robot once, whatever its wheels; efforts keep their order."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from sensor_msgs.msg import JointState  # noqa: E402

from c3p_bags.storage.log_fields import effort_reader, joint_reader  # noqa: E402
from c3p_description import load  # noqa: E402
from c3p_ros.messages import EffortCoding, JointCoding  # noqa: E402
from c3p_ros.wire import JointStateWriter  # noqa: E402
from c3p_viewers.sources.moment_reader import steering_torque  # noqa: E402

TRICYCLE = load('tricycle_agv')
# one motor turns each pivot of two wheels; of the last one it is described with the second wheel
TWIN = replace(load('twin'), steered=[True] * 6 + [False, True],
               steering_sign=[-1.0] * 8, steering_torque_limit=2.0)
WHEELS = tuple(f'wheel_joint_{i}' for i in range(1, 9))


@pytest.mark.parametrize(('robot', 'efforts', 'steering', 'places'), [
    (TRICYCLE, WHEELS[:3] + ('steering_joint_1',), ('steering_joint_1',), [0, 1, 2, 3]),
    (load('amr'), WHEELS[:6], ('steering_joint_3', 'steering_joint_4', 'steering_joint_5',
                               'steering_joint_6'), [0, 1, 2, 3, 4, 5]),
    (load('swerve'), None, None, range(8)),
    (TWIN, WHEELS + tuple(f'steering_joint_{i}' for i in (1, 3, 5, 7)),
     tuple(f'steering_joint_{i}' for i in (1, 3, 5, 7)), [*range(8), 8, 10, 12, 15])])
def test_messages_name_each_joint_once(robot, efforts, steering, places):
    efforts = efforts or robot.effort_joints
    steering = steering or robot.steering_joints
    coding = EffortCoding(robot)
    assert tuple(coding.names) == efforts
    assert tuple(JointCoding(robot).names) == steering + robot.wheel_joints
    torque = np.arange(1.0, robot.efforts + 1)
    back = coding.read(JointState(name=coding.names, effort=coding.encode(torque)))
    there = np.isin(np.arange(robot.efforts), places)
    np.testing.assert_array_equal(back, np.where(there, torque, 0.0))
    # a motor has one entry
    named = [joint for joint, motor in zip(robot.effort_joints, robot.actuated, strict=True)
             if motor]
    assert len(set(named)) == len(named)


@pytest.mark.parametrize('robot', [TRICYCLE, TWIN, load('amr'), load('twin')])
def test_joints_are_read_as_they_were_written(robot):
    coding = JointCoding(robot)
    rng = np.random.default_rng(1)
    n = robot.count
    # wheels on one pivot have its angle; a fixed one stands, without encoder it is read as zero
    steering = rng.normal(size=n)
    first = np.array([robot.steering_joints.index(name) for name in robot.steering_joints])
    steering = np.where(robot.fixed | ~robot.steering_encoder, robot.steering_zero,
                        steering[first])
    angle = np.where(robot.wheel_encoder, rng.normal(size=n), 0.0)
    torque = rng.normal(size=robot.efforts)
    position, velocity, effort = coding.encode(steering, np.zeros(n), angle, np.zeros(n), torque)
    message = JointState(name=coding.names, position=position, velocity=velocity, effort=effort)
    assert len(set(message.name)) == len(message.name) == len(position) == len(effort)
    read = coding.read(message)
    np.testing.assert_allclose(read[0], steering, atol=1e-12)
    np.testing.assert_allclose(read[2], angle, atol=1e-12)


@pytest.mark.parametrize('robot', [TRICYCLE, TWIN])
def test_a_bag_gives_back_the_efforts_that_were_sent(robot):
    coding = EffortCoding(robot)
    torque = np.where(robot.actuated, np.arange(1.0, robot.efforts + 1), 0.0)
    data = JointStateWriter(coding.names, ['effort'], 'wheel_effort')(
        1, effort=coding.encode(torque))
    rows, = effort_reader(robot)('sensor_msgs/msg/JointState', [data])
    np.testing.assert_array_equal(rows.values[0], [torque])


def test_a_bag_has_the_torque_of_a_shared_pivot_once():
    coding = JointCoding(TWIN)
    zeros = np.zeros(8)
    torque = np.where(TWIN.actuated, np.arange(1.0, 17.0), 0.0)
    values = dict(zip(('position', 'velocity', 'effort'), coding.encode(
        zeros, zeros, zeros, zeros, torque), strict=True))
    data = JointStateWriter(coding.names, list(values), 'joint_states')(1, **values)
    rows, = joint_reader(TWIN)('sensor_msgs/msg/JointState', [data])
    np.testing.assert_array_equal(rows.values[-1], [torque])


def test_a_viewer_takes_the_torques_of_steering_joints_there_are():
    coding = EffortCoding(TRICYCLE)
    effort = coding.encode(np.array([0.1, 0.0, 0.0, 0.7, 0.0, 0.0]))
    message = JointState(name=coding.names, effort=effort)
    np.testing.assert_array_equal(steering_torque(TRICYCLE, message), [0.7, 0.0, 0.0])
