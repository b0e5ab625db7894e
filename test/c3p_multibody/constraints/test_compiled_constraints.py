# SPDX-License-Identifier: Apache-2.0
"""Constrained motion has the same numbers compiled and as plain Python."""

import numpy as np
from plain_python import compiled_and_plain

PROGRAM = """
import json
import numpy as np
from c3p_multibody.constraints import (ConstrainedDynamics, ConstrainedMotion, Contact, Distance,
                                       PlanarLoop)
from c3p_multibody.trees import Body, Joint, Tree
rods = [Body(name, 1.0, (0.2, 0, 0), np.diag([0.01, 0.02, 0.02])) for name in 'abc']
tree = Tree.from_connection([-1, 0, 1], [Joint('a'), Joint('b', translation=(0.4, 0, 0)),
                                         Joint('c', translation=(0.4, 0, 0))], rods,
                            (0, -9.81, 0))
loop = PlanarLoop(body="c", point=(0.4, 0, 0), base="a", place=(1.0, 0, 0))
rod = Distance(body='c', point=(0.4, 0, 0), length=1.2)
out = []
for constraints in ((loop,), (rod, loop), ()):
    dynamics = ConstrainedDynamics(tree, constraints, 20.0)
    out += [dynamics(np.array([0.1, -0.2, 0.3]), np.ones(3), np.zeros(3)).copy(),
            dynamics.multipliers, dynamics.error]
bent = np.array([0.3, 0.4, 0.5])
tip = 0.4 * sum(np.exp(1j * angle) for angle in np.cumsum(bent))
held = Distance(body='c', point=(0.4, 0, 0), length=abs(tip))
motion = ConstrainedMotion(tree, bent, [0, 0, 0], [held], damping=0.1)
motion.advance(0.02)
out += [motion.q, motion.qd, [motion.error()]]
ball = Tree.from_connection([-1], [Joint('height', 'prismatic')], [Body('ball', 1.0)])
motion = ConstrainedMotion(ball, [0.01], [-0.5], contacts=[Contact(body='ball', restitution=0.5)])
motion.advance(0.03)
out += [motion.q, motion.qd, [motion.energy_loss, len(motion.record.events)]]
print(json.dumps([np.ravel(part).tolist() for part in out]))
"""


def test_plain_python_moves_a_mechanism_as_the_compiled_kernels_do():
    for expected, got in compiled_and_plain(PROGRAM):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
