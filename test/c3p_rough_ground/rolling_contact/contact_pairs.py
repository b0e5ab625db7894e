# SPDX-License-Identifier: Apache-2.0
"""Wheels, grounds and a numerical derivative for the tests of rolling contact."""

import numpy as np
from contact_oracles import TriaxialEllipsoid
from hypothesis import strategies as st

from c3p_rough_ground.rolling_contact import CappedCylinder, Ellipsoid, Ground, Torus, sphere
from c3p_rough_ground.terrain import Flat, HeightMap, Hills, Incline, Plateau, SplineGround

# each with a range of v in which its chart is smooth and regular
WHEELS = {
    'torus': (Torus(0.25, 0.05), (-1.2, 1.2)),
    'sphere': (sphere(0.3), (-1.2, 1.2)),
    'ellipsoid': (Ellipsoid(0.3, 0.12), (-1.2, 1.2)),
    'triaxial': (TriaxialEllipsoid((0.3, 0.1, 0.25)), (-1.2, 1.2)),
    'cylinder_edge': (CappedCylinder(0.3, 0.04, 0.03), (0.045, 0.08)),
    'cylinder_left_edge': (CappedCylinder(0.3, 0.04, 0.03), (-0.08, -0.045)),
}
_BUMPS = np.random.default_rng(5).uniform(-0.05, 0.05, (9, 8))
TERRAINS = {
    'flat': Flat(0.2),
    'incline': Incline(0.6, 0.7),
    'plateau': Plateau(direction=np.radians(20.0)),
    'hills': Hills.random(4),
    'cubic': SplineGround.random(7),
    'quintic': SplineGround.random(7, degree=5),
    'map': HeightMap(_BUMPS, (0.8, 0.7), (0.0, -1.0), degree=5),
}
GROUNDS = {name: Ground(terrain) for name, terrain in TERRAINS.items()}
PAIRS = [(wheel, ground) for wheel in WHEELS for ground in GROUNDS]

# half of the widest stencil, s; the rates are of the order of 1/s. Splines are polynomials in
# each cell only, so the ground coordinates keep this distance from the lines of their nets
STEP = 2e-3
STENCIL = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}


def derivative(function):
    """Return df/dt at 0 by central differences of 8th order, for a list of arrays."""
    total = 0.0
    for k, weight in STENCIL.items():
        ahead, behind = function(k * STEP), function(-k * STEP)
        total = total + weight * (ahead - behind) / STEP
    return total


@st.composite
def contacts(draw):
    """Draw a pair of names, contact coordinates of the pair and rates."""
    wheel, ground = draw(st.sampled_from(PAIRS))
    low, high = WHEELS[wheel][1]
    unit, rate = st.floats(0, 1), st.floats(-1, 1)
    inside = st.floats(0.05, 0.95)
    # a cell of the nets (spacing 1, 0.8 or 0.7), and a place well inside it
    cells = {'map': (0.8, 0.7, 0.0, -1.0)}.get(ground, (1.0, 1.0, 0.0, 0.0))
    x = cells[2] + cells[0] * (draw(st.integers(0, 6)) + draw(inside))
    y = cells[3] + cells[1] * (draw(st.integers(0, 5)) + draw(inside))
    eta = np.array([6 * draw(rate), low + (high - low) * draw(unit), x, y, 6 * draw(rate)])
    return wheel, ground, eta, scaled(wheel, [draw(rate) for _ in range(5)])


def a_contact(wheel, ground, seed=0):
    """Return coordinates of a contact of a pair of names, and rates."""
    generator = np.random.default_rng(seed)
    low, high = WHEELS[wheel][1]
    eta = np.array([generator.uniform(-3, 3), generator.uniform(low, high),
                    2.13 + 0.1 * generator.uniform(), 0.77 + 0.1 * generator.uniform(),
                    generator.uniform(-3, 3)])
    return eta, scaled(wheel, generator.uniform(-1, 1, 5))


def scaled(wheel, rate):
    """Return rates of the order of 1/s: v of a cylinder is an arc length on an edge of 3 cm."""
    return np.array(rate) * ([1, 0.03, 1, 1, 1] if wheel.startswith('cylinder') else 1.0)
