# SPDX-License-Identifier: Apache-2.0
"""Joint states without rates of a robot whose other joints have no encoder."""

import math

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from sensor_msgs.msg import JointState  # noqa: E402

from c3p_description import load  # noqa: E402
from c3p_ros.sensed_joints import SensedJointCoding  # noqa: E402


@pytest.mark.parametrize('rates', [[], [math.nan, math.nan], [1.0, math.nan], [1.0, 2.0]])
@pytest.mark.parametrize('name', ['tricycle_agv', 'amr'])
def test_joints_without_encoders_need_no_rates(name, rates):
    robot = load(name)
    names = list(robot.sensed_joints)
    message = JointState(name=names, position=[0.1, 0.2], velocity=rates)
    steering, steering_rate, angle, rate = SensedJointCoding(robot).read(message)
    found = np.concatenate([steering, angle])[robot.sensed]
    zero = np.concatenate([robot.steering_zero, np.zeros(robot.count)])[robot.sensed]
    np.testing.assert_allclose(found, [0.1, 0.2] + zero)
    known = bool(rates) and not np.isnan(rates).any()
    found = np.concatenate([steering_rate, rate])[robot.sensed]
    np.testing.assert_array_equal(found, rates if known else [math.nan, math.nan])
