# SPDX-License-Identifier: Apache-2.0
"""The four-bar against MuJoCo, whose equality constraint is soft: a loose but foreign witness."""

import numpy as np
import pytest
from mechanisms import COUPLER, CRANK, GROUND, ROCKER, closed, four_bar

from c3p_multibody.constraints import ConstrainedMotion

mujoco = pytest.importorskip('mujoco')

STEP, SPAN = 1e-4, 0.5


def link(name, place, length, mass, inside):
    """Return a rod of the linkage in MuJoCo's words."""
    turn = mass * length**2 / 12
    return (f'<body name="{name}" pos="{place} 0 0"><joint axis="0 0 1"/><inertial '
            f'pos="{length / 2} 0 0" mass="{mass}" diaginertia="1e-4 {turn} {turn}"/>'
            f'{inside}</body>')


def test_a_swing_agrees_within_what_a_soft_constraint_gives():
    coupler = link('coupler', CRANK, COUPLER, 2.0, f'<site name="a" pos="{COUPLER} 0 0"/>')
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP}" gravity="0 -9.81 0" integrator="RK4" '
        'tolerance="1e-14"><flag contact="disable"/></option><worldbody>'
        + link('crank', 0, CRANK, 1.0, coupler)
        + link('rocker', GROUND, ROCKER, 1.5, f'<site name="b" pos="{ROCKER} 0 0"/>')
        + '</worldbody><equality><connect site1="a" site2="b" solref="2e-4 1" '
        'solimp="0.9999 0.9999 0.001"/></equality></mujoco>')
    data = mujoco.MjData(model)
    data.qpos[:] = closed(0.5)
    for _ in range(round(SPAN / STEP)):
        mujoco.mj_step(model, data)
    tree, cut = four_bar()
    motion = ConstrainedMotion(tree, closed(0.5), np.zeros(3), [cut])
    motion.advance(SPAN)
    # the crank turns by about a radian; the soft joint gives by some 1e-8 m
    assert abs(motion.q[0] - 0.5) > 0.5
    np.testing.assert_allclose(motion.q, data.qpos, atol=1e-5)
    np.testing.assert_allclose(motion.qd, data.qvel, atol=1e-4)
