# SPDX-License-Identifier: Apache-2.0
"""Loads of the tyres as scipy finds them, and the time step that their bouncing allows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import caster_robots
from scipy.linalg import eigh
from scipy.optimize import nnls

mujoco = pytest.importorskip('mujoco', reason='pip install .[sim]')

from c3p_simulation.contact_plant.mujoco_model import mjcf  # noqa: E402
from c3p_simulation.contact_plant.mujoco_plant import shape_of  # noqa: E402
from c3p_simulation.contact_plant.mujoco_tyres import (  # noqa: E402
    STIFFEST,
    VERTICAL,
    nonnegative_least_squares,
    set_tyres,
    tyre_geoms,
)


@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_loads_are_those_of_an_active_set_method(count, seed):
    """With and without tyres that bear nothing; the tolerance is that of the two solutions."""
    random = np.random.default_rng(seed)
    rows, values = random.normal(size=(count + 3, count)), random.normal(size=count + 3)
    inside = random.uniform(0.5, 1.0, count)
    for right in (values, rows @ inside):
        assert nonnegative_least_squares(rows, right) == pytest.approx(nnls(rows, right)[0],
                                                                       abs=1e-9)
    assert nonnegative_least_squares(rows, rows @ inside) == pytest.approx(inside)


@given(caster_robots(min_casters=3))
def test_a_long_step_makes_the_tyres_as_soft_as_it_needs(robot):
    """The fastest mode by the generalised eigenvalues of stiffness and inertia."""
    step = 0.02
    model = mujoco.MjModel.from_xml_string(mjcf(robot, shape_of(robot), 1.0, step))
    data = mujoco.MjData(model)
    stiffness = set_tyres(mujoco, model, data, robot, step)
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    x, y = data.geom_xpos[tyre_geoms(model, robot.count), :2].T
    raised = np.stack([np.ones(robot.count), y, -x])
    square = eigh(stiffness * raised @ raised.T, inertia[np.ix_(VERTICAL, VERTICAL)],
                  eigvals_only=True)[-1]
    assert square * step**2 == pytest.approx(STIFFEST, rel=1e-9)
