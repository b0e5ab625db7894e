# SPDX-License-Identifier: Apache-2.0
"""Accelerations where rows of a loop lose rank, and beside it."""

import numpy as np
import pytest

from c3p_multibody.constraints import ConstrainedDynamics, PlanarLoop
from c3p_multibody.trees import Body, Joint, Tree

CRANK, COUPLER, GRAVITY = 0.4, 1.1, 9.81
MASSES = (1.0, 2.0, 1.5)


def parallelogram():
    """Return crank, coupler and rocker as a tree, and the joint that closes them."""
    rods = [Body(name, mass, (length / 2, 0, 0), mass * length**2 / 12 * np.diag([0, 1, 1]))
            for name, mass, length in zip(('crank', 'coupler', 'rocker'), MASSES,
                                          (CRANK, COUPLER, CRANK), strict=True)]
    tree = Tree.from_connection(
        [-1, 0, -1], [Joint('crank'), Joint('coupler', translation=(CRANK, 0, 0)),
                      Joint('rocker', translation=(COUPLER, 0, 0))], rods, (0, -GRAVITY, 0))
    return ConstrainedDynamics(tree, [PlanarLoop(body='coupler', point=(COUPLER, 0, 0),
                                                 base='rocker', place=(CRANK, 0, 0))])


def test_a_parallelogram_in_one_line_differs_from_its_neighbours():
    dynamics = parallelogram()
    crank, coupler, rocker = MASSES
    # one freedom: the coupler does not turn
    inertia = (crank / 3 + coupler + rocker / 3) * CRANK**2
    limit = -(crank / 2 + coupler + rocker / 2) * CRANK * GRAVITY / inertia
    rate = np.array([-4.0, 4.0, -4.0])
    for angle in (-1e-3, -1e-8, 1e-8, 1e-3):
        found = dynamics(np.array([angle, -angle, angle]), rate, np.zeros(3))
        expected = limit * np.cos(angle) * np.array([1.0, -1.0, 1.0])
        # rounding of 1e-16 over the angle by which the rows differ
        assert found == pytest.approx(expected, rel=1e-6) and dynamics.rank == 2
    found = dynamics(np.zeros(3), rate, np.zeros(3)).copy()
    assert dynamics.rank == 1 and dynamics.fine
    # the row that is left holds, and the other one by 4 % of the accelerations
    assert found == pytest.approx(limit * np.array([1.0, -1.0, 1.0]), rel=0.07)
    assert found != pytest.approx(limit * np.array([1.0, -1.0, 1.0]), rel=0.01)
