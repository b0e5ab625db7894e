# SPDX-License-Identifier: Apache-2.0
"""The battery of robots on modules, fixed wheels and twins."""

import numpy as np
import pytest

from c3p_controller import AUTO, chosen_law
from c3p_description import load
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.robots.ability import ability_of
from c3p_experiments.robots.battery import drive, ring_centres, tasks, travel_of_eight
from c3p_experiments.robots.bench import RobotBench
from c3p_experiments.robots.pace import pace_of

KINDS = ('swerve', 'amr', 'twin', 'tricycle_agv')


@pytest.mark.parametrize('name', KINDS)
@pytest.mark.parametrize('plant', ['analytic', 'mujoco'])
def test_each_kind_does_drives_of_the_battery_on_both_plants(name, plant):
    robot = load(name)
    ability = ability_of(robot)
    assert not ability.obstacles()
    pace = pace_of(robot, ability.travel)
    bench = RobotBench(robot, Conditions(plant=plant, controller=chosen_law(AUTO, robot)), name)
    for task in tasks(robot, pace):
        if task.name in ('sideways', 'spin', 'steering_5'):
            outcome = drive(bench, task, pace)
            assert outcome.reached, (task.name, outcome.failure)
            assert outcome.metrics['ground_truth_final_error_m'] < 0.01


def test_the_ability_of_other_wheels_is_that_of_aligned_ones():
    for name in KINDS:
        ability = ability_of(load(name))
        assert ability.freedoms == (2 if load(name).fixed.any() else 3)
        assert not ability.heading_free
        assert ability.travel.along.min() > 0.1 and ability.travel.turn.min() > 0.1
    # rows along of two wheels and one axle across: nothing is spare
    assert ability_of(load('amr')).isolation.equations == 1
    # eight rows along, four across
    assert ability_of(load('twin')).isolation.equations == 9


def test_a_figure_eight_of_an_axle_begins_in_its_direction():
    assert travel_of_eight(load('swerve')) == pytest.approx(0.5 * np.pi)
    assert travel_of_eight(load('amr')) == pytest.approx(0.0)
    assert ring_centres(2.0, 0.0) == [pytest.approx((0.0, 2.0)), pytest.approx((0.0, -2.0))]
