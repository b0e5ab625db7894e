# SPDX-License-Identifier: Apache-2.0
"""Abilities of robots: obstacles are named before moving, slips that can be isolated."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_description import load
from c3p_description.model import CasterRobot, Friction
from c3p_experiments.robots.ability import ability_json, ability_of, singular_postures
from c3p_experiments.robots.pace import pace_of
from c3p_kinematics.singularity import Lines, singularity

DUO = CasterRobot('duo', [(0, 0.25), (0, -0.25)], 0.05, 0.06, 20.0, 0.8, (0.0, 0.0), 0.5, 0.02,
                  1e-3, 0.4, 1e-3, 6e-4, torque_limit=2.0)


def test_the_c3p_has_no_obstacle():
    ability = ability_of(load('c3p'))
    assert ability.freedoms == 3 and ability.obstacles() == []
    np.testing.assert_allclose(ability.bound, 1.2)


def test_fewer_motors_than_freedoms_are_named():
    ability = ability_of(replace(load('c3p'), driven=[True, True, False]))
    assert ability.freedoms == 2 and ability.obstacles() == []
    one = ability_of(replace(load('c3p'), driven=[True, False, False]))
    assert '1 of 3 freedoms' in one.obstacles()[0]


def test_a_robot_that_its_motors_cannot_move_is_named():
    weak = replace(load('c3p'), torque_limit=0.5, platform_mass=300.0, tyre_friction=0.6,
                   friction=Friction(rolling_coulomb=0.6))
    assert 'friction is stronger' in ability_of(weak).obstacles()[0]


def test_with_two_casters_slip_is_detected_and_never_isolated():
    slips = ability_of(DUO).isolation
    assert slips.equations == 1 and 0.0 < slips.detected < 1.0 and slips.named == 0.0


def test_with_more_casters_more_slips_are_isolated():
    three = ability_of(load('c3p')).isolation
    square = CasterRobot.regular(0.4, np.radians([45, 135, 225, 315]), 0.04, 0.05, 30.0, 3.0)
    four = ability_of(square).isolation
    assert (three.equations, four.equations) == (3, 5)
    assert 0.8 < three.named < four.named <= 1.0


@pytest.mark.parametrize('seed', range(10))
def test_singular_postures_are_singular(seed):
    rng = np.random.default_rng(seed)
    robot = replace(load('c3p'), hip_position=rng.uniform(-0.5, 0.5, (3, 2)))
    kinds = [Lines(int(singularity(robot, steering).lines))
             for _, steering, _ in singular_postures(robot)]
    assert kinds == [Lines.PARALLEL, Lines.CONCURRENT]


def test_the_json_has_only_plain_numbers():
    import json

    text = json.dumps(ability_json(ability_of(DUO)), allow_nan=False)
    assert json.loads(text)['driven_freedoms'] == 2


def test_the_pace_of_the_c3p_is_that_of_its_gains():
    """A robot whose motors are stronger than needed has the default speed and acceleration."""
    robot = load('c3p')
    pace = pace_of(robot, ability_of(robot).travel)
    assert (pace.speed, pace.acceleration) == (0.5, 0.8)


def test_the_pace_of_a_heavy_robot_is_within_its_reach():
    heavy = replace(load('c3p'), platform_mass=300.0)
    ability = ability_of(heavy)
    pace = pace_of(heavy, ability.travel)
    assert pace.acceleration < 0.5 * ability.travel.along.min()
    assert pace.speed**2 <= pace.acceleration * pace.length * (1 + 1e-9)
