# SPDX-License-Identifier: Apache-2.0
"""Other vehicles in the rough ground node: topics, commands, files, errors."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from nav_msgs.msg import Odometry  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_description.reading.vehicle_files import load_vehicle  # noqa: E402
from c3p_ros.parameters import ParameterError  # noqa: E402
from c3p_rough_ground.node.rough_ground_node import RoughGroundNode  # noqa: E402
from c3p_rough_ground.worlds.terrain_files import load_terrain  # noqa: E402

# the first of these tests on a computer compiles the kernels: a minute of work, more when shared
pytestmark = pytest.mark.timeout(400)


def test_a_rover_is_driven_by_cmd_vel_over_hills(bench):
    joints, odom = bench.collect(JointState, 'joint_states', 50), bench.collect(
        Odometry, 'odom', 50)
    bench.add(RoughGroundNode, robot='rover', terrain='hills', autodrive=False)
    bench.wait_for(lambda: joints and odom, 'messages')
    assert list(joints[-1].name) == list(load_vehicle('rover').joints)
    start = odom[0].pose.pose.position
    bench.command_until(lambda: odom[-1].pose.pose.position.x - start.x > 0.15
                        and joints[-1].position[1] > 0.02, 'driving and steering', 0.3, 0.0, 0.1)
    at = odom[-1].pose.pose.position
    assert 0.0 < at.z - float(load_terrain('hills').height(at.x, at.y)) < 0.5
    # the rocker follows the ground, and the wheels roll
    assert np.abs(np.array([m.velocity for m in joints])).max() > 0.5


def test_a_file_of_ones_own_drives_by_itself(bench, tmp_path):
    path = tmp_path / 'cart.yaml'
    path.write_text("""
kind: vehicle
name: cart
joints:
  a: {axis: [0, 1, 0], origin: [1, 0, 0]}
  b: {axis: [0, 1, 0], origin: [0, 0.4, 0]}
  c: {axis: [0, 1, 0], origin: [0, -0.4, 0]}
wheels:
  f: {joints: [a], sphere: [0.2]}
  l: {joints: [b], sphere: [0.2]}
  r: {joints: [c], sphere: [0.2]}
""")
    odom = bench.collect(Odometry, 'odom', 10, keep=1)
    bench.add(RoughGroundNode, robot=str(path), terrain='flat')
    bench.wait_for(lambda: odom and odom[-1].pose.pose.position.x > 0.1, 'driving')


def test_weights_of_the_tricycle_are_refused_for_a_vehicle(bench):
    with pytest.raises(ParameterError, match='only for the tricycle'):
        bench.add(RoughGroundNode, robot='rover', weights=[1.0, 1.0, 9.0, 1.0, 1.0, 1.0])
