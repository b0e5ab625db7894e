# SPDX-License-Identifier: Apache-2.0
"""Vehicles on rough ground move by the same numbers compiled and as plain Python."""

import numpy as np
from plain_python import compiled_and_plain

PROGRAM = """
import json
import numpy as np
from c3p_description.pvc_model import PvcTricycle
from c3p_rough_ground.closed_chain import Stepping, place, simulate
from c3p_rough_ground.vehicles import pvc_tricycle
from c3p_rough_ground.vehicles import four_wheel_rover
from c3p_rough_ground.terrain import Hills, SplineGround
out = []
for robot, ground in ((pvc_tricycle(PvcTricycle('one', 1.2, 0.6, 0.1, 0.25, 0.05)),
                       Hills.random(3)), (four_wheel_rover(), SplineGround.random(5, degree=5))):
    start = place(robot, ground, 0.3, -0.2, 0.4).require()
    asked = np.full(robot.size[0], 0.1)
    asked[list(robot.spins)] = 1.0
    for method in ('rk4', 'adaptive'):
        run = simulate(robot, ground, start, asked, 0.2, Stepping(0.05, method))
        assert not run.ended_early
        out += [run.states[-1], run.joint_rates[-1], run.platform_twist[-1]]
print(json.dumps([np.ravel(part).tolist() for part in out]))
"""


def test_plain_python_moves_a_vehicle_as_the_compiled_kernels_do():
    # numbers up to 3 (states: angles and metres), some thousand roundings in four steps
    for expected, got in compiled_and_plain(PROGRAM):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
