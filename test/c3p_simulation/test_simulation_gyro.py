# SPDX-License-Identifier: Apache-2.0
"""Gyro of the simulated robot on its topic."""

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from sensor_msgs.msg import Imu  # noqa: E402

from c3p_bringup.options import known_timing  # noqa: E402
from c3p_simulation.simulation_node import SimulationNode  # noqa: E402


def test_a_gyro_is_published_where_the_sensors_have_one(bench):
    got = bench.collect(Imu, 'imu/data')
    node = bench.add(SimulationNode, sensors='real_gyro')
    bench.run(1.0)
    assert 60 < len(got) < 140
    stamps = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in got]
    assert stamps == sorted(set(stamps))
    assert {m.header.frame_id for m in got} == {'base_link'}
    errors = node.plant.settings.gyro
    assert got[-1].angular_velocity_covariance[8] == pytest.approx(errors.noise**2 * errors.rate)
    # a robot that stands: bias and noise
    assert abs(got[-1].angular_velocity.z) < 0.1
    assert got[-1].orientation_covariance[0] == -1.0


def test_without_a_gyro_there_is_no_topic(bench):
    node = bench.add(SimulationNode, sensors='real')
    assert 'imu/data' not in {p.topic_name.lstrip('/') for p in node.publishers}


def test_the_odometry_of_a_simulated_robot_uses_its_gyro():
    assert known_timing('real_gyro') == {'imu.enabled': True}
    assert 'imu.enabled' not in known_timing('real') | known_timing('')
