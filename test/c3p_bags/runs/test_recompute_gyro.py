# SPDX-License-Identifier: Apache-2.0
"""Odometry of a bag with a gyro: the messages in the bag give the bits of the node."""

import numpy as np
import pytest
from synthetic import opened
from test_recompute import BEGIN, PARAMETERS, PERIOD, ROBOT, Value, angles

from c3p_bags.runs.recompute import ODOMETRY
from c3p_bags.runs.recompute_bag import recompute_bag
from c3p_bags.runs.run_bag import odometry_message, odometry_numbers
from c3p_bags.storage import bag_parameters
from c3p_bags.storage.bag_writer import BagWriter
from c3p_kinematics.odometry import Odometry, odometry_settings
from c3p_ros.cycle import CycleClock

GYRO = {'imu.enabled': True, 'imu.odometry': True, 'imu.axis': 'x-down', 'imu.walk': 0.0002,
        'imu.scale_std': 0.02, 'imu.bias_walk': 0.0001, 'imu.wait': 0.05}
COUNT = 600


def bag(path, late=12_000_000, gyro=True, parameters=GYRO):
    """Write what a robot would whose gyro sends 100 messages a second, `late` [ns] each."""
    stream = Odometry(ROBOT, odometry_settings(
        wheel_counts=PARAMETERS['wheel_counts'], robust=PARAMETERS['robust'], **GYRO))
    clock = CycleClock()
    random = np.random.default_rng(4)
    with BagWriter(path) as writer:
        writer.note({'c3p_robot': 'c3p'})
        for topic, kind in (('joint_states', 'sensor_msgs/msg/JointState'), ('odom', ODOMETRY),
                            ('imu/data', 'sensor_msgs/msg/Imu')):
            writer.add(f'/{topic}', kind)
        writer.add('/recorder/parameters', bag_parameters.EVENT, latched=True)
        t = writer.types.types
        writer.write_message('/recorder/parameters', BEGIN, bag_parameters.event(
            t, BEGIN, '/sensed_kinematics', {name: Value(value) for name, value in
                                             {**PARAMETERS, **parameters}.items()}))
        names = [*ROBOT.steering_joints, *ROBOT.wheel_joints]
        sign = np.concatenate([ROBOT.steering_sign, ROBOT.wheel_sign])
        zero = np.concatenate([ROBOT.steering_zero, np.zeros(ROBOT.count)])
        vector = t['geometry_msgs/msg/Vector3']

        def header(stamp, frame):
            return t['std_msgs/msg/Header'](t['builtin_interfaces/msg/Time'](
                *divmod(stamp, 10**9)), frame)

        waiting = []
        rate_before = 0.0
        for k, (steering, steering_rate, angle, rate) in enumerate(angles(COUNT)):
            stamp = BEGIN + k * PERIOD
            if k % 2 == 0:
                turn = 1.01 * rate_before + 0.005 + 0.002 * random.normal()
                message = t['sensor_msgs/msg/Imu'](
                    header(stamp + 1_300_000, 'imu_link'), t['geometry_msgs/msg/Quaternion'](
                        0.0, 0.0, 0.0, 1.0), np.zeros(9), vector(-turn, 0.1, 0.2),
                    np.full(9, 1e-5), vector(0.0, 0.0, 9.8), np.zeros(9))
                waiting.append((stamp + 1_300_000, turn, message))
            position = (np.concatenate([steering, angle]) - zero) * sign
            velocity = np.concatenate([steering_rate, rate]) * sign
            # what the node has received by now, whatever the order of the recorder
            while gyro and waiting and waiting[0][0] + late <= stamp:
                sent, turn, message = waiting.pop(0)
                stream.gyro.measure(sent, turn, 1e-5)
                writer.write_message('/imu/data', stamp + 1500, message)
            writer.write_message('/joint_states', stamp + 1000, t['sensor_msgs/msg/JointState'](
                header(stamp, ''), names, position, velocity, np.zeros(6)))
            back = sign * position + zero
            stream.gyro.at(stamp)
            estimate = stream.step_by(clock.accept(stamp), back[:3], back[3:],
                                      sign[3:] * velocity[3:], sign[:3] * velocity[:3])
            rate_before = float(estimate.twist[2])
            writer.write_message('/odom', stamp + 2000, odometry_message(
                t, stamp, odometry_numbers(estimate.pose, estimate.twist,
                                           estimate.pose_covariance,
                                           estimate.twist_covariance), 'map', 'base_link'))
        assert not gyro or estimate.gyro.fused > 20, estimate.gyro
    return path


@pytest.mark.parametrize('late', [0, 12_000_000, 35_000_000])
def test_every_bit_is_that_of_the_recorded_odometry_with_a_gyro(tmp_path, late):
    found = opened(recompute_bag, bag(tmp_path / 'bag', late))
    assert found.parameters['imu.axis'] == 'x-down'
    assert (found.agreement.compared, found.agreement.identical) == (COUNT, COUNT)


def test_without_its_gyro_the_odometry_differs(tmp_path):
    path = bag(tmp_path / 'bag')
    found = opened(recompute_bag, path, changes={'imu.enabled': False})
    assert found.changed and found.agreement.yaw > 1e-4


def test_a_bag_without_the_messages_of_the_gyro_is_remarked(tmp_path):
    path = bag(tmp_path / 'bag', gyro=False)

    def remarks(bag):
        recompute_bag(bag)
        return bag.remarks

    assert any('no rates on /imu/data' in text for text in opened(remarks, path))
