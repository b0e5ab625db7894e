# SPDX-License-Identifier: Apache-2.0
"""Vehicles on rough ground move by the same numbers compiled and as plain Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from source_tree import python_path

ROOT = Path(__file__).parents[3]

PROGRAM = """
import json
import numpy as np
from c3p_description.pvc_model import PvcTricycle
from c3p_rough_ground.closed_chain import place, simulate
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
        run = simulate(robot, ground, start, asked, 0.2, 0.05, method=method)
        assert not run.ended_early
        out += [run.states[-1], run.joint_rates[-1], run.platform_twist[-1]]
print(json.dumps([np.ravel(part).tolist() for part in out]))
"""


def numbers(**environment):
    done = subprocess.run([sys.executable, '-c', PROGRAM], cwd=ROOT, check=True, text=True,
                          capture_output=True, env={**os.environ, 'PYTHONPATH': python_path(ROOT),
                                                    **environment})
    return [np.array(part) for part in json.loads(done.stdout)]


def test_plain_python_moves_a_vehicle_as_the_compiled_kernels_do():
    compiled, plain = numbers(NUMBA_DISABLE_JIT='0'), numbers(NUMBA_DISABLE_JIT='1')
    # numbers up to 3 (states: angles and metres), some thousand roundings in four steps
    for got, expected in zip(plain, compiled, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
