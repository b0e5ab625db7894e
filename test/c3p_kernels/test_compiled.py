# SPDX-License-Identifier: Apache-2.0
"""The kernels give the same numbers compiled and as plain Python."""

import numpy as np
from plain_python import compiled_and_plain

PROGRAM = """
import json
import numpy as np
from c3p_description.model import CasterRobot
from c3p_kinematics import casters, se2
from c3p_kinematics.odometry import Odometry
robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
rng = np.random.default_rng(0)
steering, twist, accel = rng.uniform(-4, 4, 3), rng.normal(size=3), rng.normal(size=3)
rates = casters.inverse(robot, steering, twist)
out = [*rates, *casters.inverse_acceleration(robot, steering, twist, accel)]
out += casters.sensed_forward(robot, steering, rates[0] + 1, rates[1])
out += [se2.integrate(twist, accel), se2.log(twist), se2.wrap(steering)]
odometry = Odometry(robot)
for k in range(60):
    wheel = k * np.array([0.05, 0.3, 0.1])
    last = odometry.step(0.005 * k, steering + 0.01 * k, wheel)
out += [last.pose, last.twist, last.pose_covariance, last.twist_covariance, last.slip.likelihood]
print(json.dumps([np.ravel(part).tolist() for part in out]))
"""


def test_plain_python_gives_the_numbers_of_the_compiled_kernels():
    # a compiler may fuse a multiplication with an addition: one rounding less per operation
    for expected, got in compiled_and_plain(PROGRAM):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
