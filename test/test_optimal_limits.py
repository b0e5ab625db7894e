# SPDX-License-Identifier: Apache-2.0
"""Least times by optimal control: the model, a fast case, and what docs/limits.md says of it."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import caster_robots

pytest.importorskip('casadi', reason='pip install casadi')
sys.path.insert(0, str(Path(__file__).parents[1] / 'scripts'))
from casadi_model import motion  # noqa: E402
from least_time import ALIGNED, Grid, Problem, drive  # noqa: E402
from optimal_limits import FLIP_GOAL, TASKS, distinct, needed_torque, turns_of  # noqa: E402

from c3p_dynamics.caster_dynamics import forward_dynamics  # noqa: E402
from c3p_kinematics.casters import inverse  # noqa: E402
from c3p_kinematics.se2 import to_floor  # noqa: E402

ALIGN, FLIP = TASKS
COARSE = Grid(24, 8)


@settings(max_examples=25, deadline=None)
@given(robot=caster_robots(), seed=st.integers(0, 2**32 - 1))
def test_casadi_model_moves_as_the_dynamics_and_the_kinematics_say(robot, seed):
    rng = np.random.default_rng(seed)
    n = robot.count
    state, torque = rng.uniform(-1.0, 1.0, 6 + n), rng.uniform(-1.0, 1.0, n)
    state[6:] *= np.pi
    rate = np.asarray(motion(robot, robot.losses)(state, torque, np.zeros(3))).ravel()
    twist, steering = state[3:6], state[6:]
    expected = np.r_[to_floor(state[2], twist), forward_dynamics(robot, steering, twist, torque),
                     inverse(robot, steering, twist)[1]]
    # rounding, times the condition of the mass matrix of a light robot
    np.testing.assert_allclose(rate, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


@pytest.fixture(scope='module')
def coarse():
    """Return the problem of the flip on a coarse grid, and a solution from one guess."""
    problem = Problem(FLIP, COARSE)
    rng = np.random.default_rng(0)
    # the second caster turns the other way round: the best way that is known
    guess = problem.guess(np.pi * np.array([-1.0, 1.0, 1.0]), 0.5, 0.5, rng)
    return problem, problem.solve(1.2, 0.01, guess)


def test_a_coarse_solution_keeps_its_limits_on_the_suites_plant(coarse):
    problem, found = coarse
    assert found.solved
    found, driven = problem.confirmed(found)
    assert found.solved and found.time < 0.6
    assert np.abs(found.torque).max() <= 1.2 + 1e-6
    # a caster that is late by a sample is late by less than 2 ms
    assert driven.align_time == pytest.approx(found.time, abs=2e-3)
    assert driven.path_error <= 0.01
    after = driven.time >= driven.align_time
    assert driven.off[after].max() <= ALIGNED
    # half of the speed asked for, and never more than it; 2 % for the grid
    assert driven.speed[-1] >= 0.49 * FLIP.speed
    assert driven.speed.max() <= 1.02 * FLIP.speed


def test_less_time_takes_torque_with_its_square(coarse):
    problem, found = coarse
    fast = needed_torque(problem, found, FLIP_GOAL[0])
    assert fast.solved and fast.time == pytest.approx(FLIP_GOAL[0], abs=5e-4)
    # friction and the speed asked for bend the law; 40 % is far from linear
    assert fast.limit == pytest.approx(1.2 * (found.time / FLIP_GOAL[0]) ** 2, rel=0.4)
    driven = drive(FLIP, problem.robot, fast)
    assert driven.path_error < 0.012


def test_a_solution_on_another_grid_keeps_its_torques(coarse):
    _, found = coarse
    finer = Problem(FLIP, Grid(48, 16))
    states, torque, end = finer.carry_over(found)
    assert end == found.time
    np.testing.assert_array_equal(torque, np.repeat(found.torque, 2, axis=0) / 1.2)
    np.testing.assert_allclose(states[::4], found.states[::2], atol=1e-12)


def test_a_rate_limit_costs_time_and_binds(coarse):
    problem, found = coarse
    slow = Problem(FLIP, COARSE, rate_limit=30.0)
    limited = slow.solve(1.2, 0.01, slow.carry_over(found))
    assert limited.solved and limited.time > found.time
    step = np.diff(limited.torque, axis=0, prepend=0.0) / limited.length[:, None]
    assert np.abs(step).max() == pytest.approx(30.0, rel=1e-3)


def test_every_way_to_turn_ends_with_trailing_casters():
    for task in TASKS:
        ways = turns_of(task, 3)
        assert len(set(ways)) >= 4
        missed = np.array(ways) + task.steering - task.trailing
        np.testing.assert_allclose(np.cos(missed), 1.0)


def test_alike_local_optima_are_followed_once(coarse):
    _, found = coarse
    others = [found._replace(time=part * found.time) for part in (1.0, 1.005, 1.1)]
    assert distinct(others, 3) == [others[0], others[2]]


def test_page_names_the_tasks_and_their_tolerances():
    page = (Path(__file__).parents[1] / 'docs/limits.md').read_text(encoding='utf-8')
    for task in TASKS:
        for limit in task.limits:
            for tolerance in task.tolerances:
                assert f'| {task.name} | {limit:.1f} | {1e3 * tolerance:.0f} |' in page
