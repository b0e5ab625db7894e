# SPDX-License-Identifier: Apache-2.0
"""What every plant of the three-caster robot is tried with."""

import numpy as np

BRISK = {'steering': [0.3, 1.0, -2.0], 'twist': (0.3, -0.2, 1.0)}

# calls that a plant refuses, and what the error names
REFUSED = [
    (lambda p: p.step([0, np.nan, 0], 0.01), 'wheel_joint_2'),
    (lambda p: p.step([0, 0], 0.01), 'wheel_torque'),
    (lambda p: p.step([0, 0, 0], 0.0), 'dt'),
    (lambda p: p.reset(pose=(0, 0)), 'pose'),
    (lambda p: p.reset(twist=(0, 0, np.nan)), 'twist'),
    (lambda p: p.reset(steering=[0, 0]), 'steering'),
    (lambda p: p.push((1, 2), 3, -1), 'duration'),
]
