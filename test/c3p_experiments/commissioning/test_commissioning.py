# SPDX-License-Identifier: Apache-2.0
"""Experiment of random wirings: draws, channels, verdicts, and one small run."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from c3p_experiments.commissioning.experiment import cases, commissioning, summary
from c3p_experiments.commissioning.trial import (
    EXACT,
    REFUSED,
    UNDECIDED,
    WRONG,
    errors,
    failed_trial,
    judged,
)
from c3p_experiments.commissioning.wired import FAULTS, ROBOTS, everything, few, robot_named
from c3p_experiments.loop.conditions import Conditions
from c3p_kinematics.commissioning.assignment import FoundWiring, as_described
from c3p_kinematics.commissioning.ties import parts_wrong
from c3p_simulation.plants.wired_plant import channels_measured, efforts_of

sys.path.insert(0, str(Path(__file__).parents[3] / 'scripts'))
import write_commissioning  # noqa: E402


@pytest.mark.parametrize('name', ROBOTS)
def test_channels_of_a_draw_are_undone_by_its_wiring(name):
    robot = robot_named(name)
    rng = np.random.default_rng(1)
    for draw in (everything, few):
        wiring = draw(robot, rng)
        joints = rng.uniform(-3.0, 3.0, 2 * robot.count)
        assert wiring.angles(channels_measured(wiring, joints)[None])[0] == pytest.approx(joints)


def test_efforts_go_to_the_joints_of_the_motors():
    robot = robot_named('powered_caster')
    right = as_described(robot)
    ordered = np.arange(1.0, 9.0)
    assert np.array_equal(efforts_of(robot, right, ordered), ordered)
    # motors of the first two wheels exchanged, the second with reversed leads
    swap = np.array([0, 1, 2, 3, 5, 4, 6, 7])
    leads = np.ones(8)
    leads[5] = -1.0
    wrong = right._replace(motor_of=right.motor_of[swap], leads=leads)
    assert np.array_equal(efforts_of(robot, wrong, ordered)[:3], [2.0, -1.0, 3.0])


def test_every_fault_is_one_or_two_parts_of_the_wiring():
    robot = robot_named('powered_caster')
    rng = np.random.default_rng(4)
    for fault in FAULTS:
        assert parts_wrong(robot, fault(robot, rng, as_described(robot))) in (1, 2)


def test_verdicts_follow_the_truth():
    robot = robot_named('c3p')
    true = everything(robot, np.random.default_rng(2))
    other = true._replace(gear=-true.gear)
    sure = true._replace(gear=np.zeros(6), zero=np.zeros(6))

    def found(first, second, texts):
        return FoundWiring(first, 0.9, sure, ((second, 0.1),), texts, 1.0)

    assert judged(true, found(true, other, ())) == EXACT
    assert judged(true, found(other, true, ('which side is the front',))) == UNDECIDED
    assert judged(true, found(other, true, ())) == WRONG
    assert judged(true, found(other, other, ('which side is the front',))) == WRONG
    assert errors(true, true) == (0.0, 0.0)
    assert np.isnan(errors(true, other)).all()


def test_robots_take_turns_and_seeds_are_those_of_the_experiment():
    assert list(cases(('a', 'b'), 2, 3)) == [('a', 130_000), ('b', 130_000), ('a', 130_001),
                                             ('b', 130_001)]


def test_a_trial_whose_worker_is_lost_is_refused_with_the_reason():
    lost = failed_trial(('c3p', 5), 'worker killed')
    assert lost.verdict == REFUSED and lost.text == 'worker killed'
    assert summary([lost])['refused'] == 1


def test_a_small_run_names_the_wiring_and_its_table_is_written(tmp_path):
    pytest.importorskip('mujoco')
    metrics = commissioning(tmp_path, Conditions(robot='c3p', trials=1, workers=1, seed=7))
    assert metrics['reached'] and metrics['all'][EXACT] == 1
    assert all(file.exists() for file in metrics['files'])
    kept = json.loads(json.dumps({**metrics, 'files': []}))
    lines = write_commissioning.table(kept)
    assert len(lines) == 4 and lines[2].startswith('| c3p | 1 | 1 | 0 | 0 | 0 |')
