# SPDX-License-Identifier: Apache-2.0
"""One terrain of every kind, for the tests of terrains."""

import numpy as np

from c3p_rough_ground.terrain import Flat, HeightMap, Hills, Incline, Plateau, SplineGround

ROUGH = np.random.default_rng(2).uniform(-0.2, 0.2, (9, 12))
SPACING, ORIGIN = (0.5, 0.4), (-1.0, 2.0)
TERRAINS = {
    'flat': Flat(0.3),
    'incline': Incline(0.4, 0.3),
    'plateau': Plateau(direction=0.35),
    'hills': Hills.random(3, count=12),
    'cubic': SplineGround.random(2),
    'quintic': SplineGround.random(2, degree=5),
    'cubic_held': SplineGround(ROUGH, SPACING, ORIGIN, continuation='hold'),
    'quintic_held': SplineGround(ROUGH, SPACING, ORIGIN, 5, 'hold'),
    'cubic_map': HeightMap(ROUGH, SPACING, ORIGIN),
    'quintic_map': HeightMap(ROUGH, SPACING, ORIGIN, 5),
}
