# SPDX-License-Identifier: Apache-2.0
"""The kernels of the dynamics give the same numbers compiled and as plain Python."""

import numpy as np
from plain_python import compiled_and_plain

PROGRAM = """
import json
import numpy as np
from c3p_description.model import CasterRobot, Friction
from c3p_dynamics._caster_equations import caster_model, forward_derivatives
from c3p_dynamics._caster_motion_kernels import runge_kutta
from c3p_dynamics.caster_dynamics import bias, forward_dynamics, inverse_dynamics, mass_matrix
from c3p_dynamics.friction import friction_compensation
from c3p_dynamics.prepared import InverseDynamics
out = []
for friction in (Friction(), Friction(0.002, 0.01, 0.001, 0.05, 0.05)):
    robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51,
                                (0.01, -0.02), link_mass=1.2, link_com=0.02,
                                link_inertia=1.5e-3, wheel_mass=0.4, wheel_spin_inertia=3.2e-4,
                                wheel_yaw_inertia=2e-4, friction=friction, torque_limit=1.2)
    rng = np.random.default_rng(0)
    steering, twist, accel = rng.uniform(-4, 4, 3), rng.normal(size=3), rng.normal(size=3)
    torque = rng.normal(size=3)
    out += [mass_matrix(robot, steering), bias(robot, steering, twist)]
    out += [forward_dynamics(robot, steering, twist, torque),
            friction_compensation(robot, steering, twist)]
    out += [inverse_dynamics(robot, steering, twist, accel, w) for w in (0.0, 0.023)]
    out += [InverseDynamics(robot)(np.concatenate([steering, twist, accel]))]
    parts = np.empty(3), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    forward_derivatives(caster_model(robot), steering, twist, torque, accel, parts)
    state = np.concatenate([accel, twist, steering, np.zeros(5)])
    runge_kutta(caster_model(robot), state, torque, accel, 1e-3, 40)
    out += [*parts, state]
print(json.dumps([np.ravel(part).tolist() for part in out]))
"""


def test_plain_python_gives_the_numbers_of_the_compiled_kernels():
    # a compiler may fuse a multiplication with an addition: one rounding less per operation
    for expected, got in compiled_and_plain(PROGRAM):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11)
