# SPDX-License-Identifier: Apache-2.0
"""Many robots move as each does alone, to the last bit, and conserve energy."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from robots import C3P
from unequal_casters import FRICTION, random_robot

from c3p_description.model import Friction
from c3p_dynamics._caster_equations import caster_model
from c3p_dynamics._caster_motion_kernels import runge_kutta
from c3p_dynamics.caster_dynamics import kinetic_energy
from c3p_dynamics.rollouts import rollouts

STEP = 1e-3


def random_runs(rng, robot, batch, rows):
    """Return states in motion, torques and wrenches."""
    n = robot.count
    states = np.zeros((batch, 8 + 2 * n))
    states[:, :3], states[:, 3:6] = rng.normal(size=(2, batch, 3))
    states[:, 6:6 + n] = rng.uniform(-4.0, 4.0, (batch, n))
    return states, rng.normal(size=(batch, rows, robot.efforts)), rng.normal(size=(batch, 3))


@pytest.mark.parametrize('count', [2, 3, 4, 6])
@pytest.mark.parametrize('rough, steered', [(False, False), (True, False), (True, True)])
def test_each_robot_moves_with_the_bits_of_one_alone(count, rough, steered, monkeypatch):
    rng = np.random.default_rng(count)
    robot = replace(random_robot(rng, count), steered=steered)
    robot = replace(robot, friction=FRICTION) if rough else robot
    # not divided evenly among the threads
    monkeypatch.setattr('c3p_dynamics.rollouts.TOGETHER', 4)
    states, torques, wrenches = random_runs(rng, robot, 11, 3)
    with ThreadPoolExecutor(2) as pool:
        got = rollouts(robot, states, torques, STEP, 20, wrenches, keep=True, spread=pool.map)
    assert rollouts(robot, states, torques, STEP, 20, wrenches).tolist() == got[:, -1].tolist()
    model = caster_model(robot)
    for b in range(11):
        for row in range(3):
            runge_kutta(model, states[b], torques[b, row], wrenches[b], STEP, 20)
            assert states[b].tolist() == got[b, row].tolist()


def test_without_friction_the_work_is_the_energy():
    robot = replace(C3P, friction=Friction())
    states, torques, wrenches = random_runs(np.random.default_rng(3), robot, 9, 4)
    ends = rollouts(robot, states, 0.2 * torques, STEP, 250, wrenches)
    gained = (kinetic_energy(robot, ends[:, 6:9], ends[:, 3:6])
              - kinetic_energy(robot, states[:, 6:9], states[:, 3:6]))
    # fourth order in steps of 1 ms, of some 30 J
    np.testing.assert_allclose(gained, ends[:, -2], rtol=0, atol=1e-6)
    assert np.all(ends[:, -1] == 0.0)


def test_a_motion_that_diverges_leaves_the_others_alone():
    states, torques, _ = random_runs(np.random.default_rng(4), C3P, 8, 1)
    expected = rollouts(C3P, states, torques, STEP, 10)
    states[5, 3:6] = 1e200
    ends = rollouts(C3P, states, torques, STEP, 10)
    others = np.arange(8) != 5
    assert not np.isfinite(ends[5]).all()
    assert ends[others].tolist() == expected[others].tolist()


@pytest.mark.parametrize('changes, text', [
    ({'states': np.zeros((2, 13))}, 'states'), ({'torques': np.zeros((2, 3))}, 'torques'),
    ({'torques': np.zeros((3, 1, 3))}, 'torques'),
    ({'torques': np.full((2, 1, 3), np.nan)}, 'not finite'),
    ({'wrenches': np.zeros(3)}, 'wrenches'), ({'step': 0.0}, 'step'), ({'count': 0}, 'count')])
def test_what_does_not_fit_is_named(changes, text):
    given = {'states': np.zeros((2, 14)), 'torques': np.zeros((2, 1, 3)), 'step': STEP,
             'count': 1} | changes
    with pytest.raises(ValueError, match=text):
        rollouts(C3P, **given)
