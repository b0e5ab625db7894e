# SPDX-License-Identifier: Apache-2.0
"""Limits within the reach of a robot: they do not bind for strong robots, and do for weak ones."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_controller.goals.path_controller import PathGains
from c3p_controller.goals.reach_limits import LEAST_ACCELERATION, limits_of_reach, within_reach
from c3p_controller.paper.exponential import PositionGains
from c3p_description import load
from c3p_dynamics.reach import travel

C3P = load('c3p')


@pytest.mark.parametrize('name', ['c3p', 'c3p_25kg', 'powered_caster'])
@pytest.mark.parametrize('gains', [PathGains(), PositionGains()])
def test_robots_of_the_suite_keep_their_gains(name, gains):
    found, texts = within_reach(gains, limits_of_reach(load(name)))
    assert found is gains and not texts


def test_acceleration_is_a_fraction_of_what_the_motors_reach():
    heavy = replace(C3P, platform_mass=300.0)
    limits = limits_of_reach(heavy)
    assert limits.acceleration == pytest.approx(0.4 * travel(heavy).along.min(), rel=0.1)
    gains, texts = within_reach(PathGains(), limits)
    assert (gains.acceleration, gains.deceleration) == limits[1:3]
    assert gains.speed == PathGains().speed and len(texts) == 2
    assert 'acceleration' in texts[0] and 'in the place of 0.8' in texts[0]


def test_slow_wheels_and_short_casters_lower_the_speed():
    assert limits_of_reach(replace(C3P, wheel_rate_limit=2.0)).speed == pytest.approx(0.064)
    short = replace(C3P, caster_offset=0.01)
    gains, texts = within_reach(PositionGains(), limits_of_reach(short))
    assert gains.speed == pytest.approx(1 / 3) and 'caster offsets' in texts[0]
    # the bounds of the parameter are those of a user's input
    crawling, _ = within_reach(PathGains(), limits_of_reach(replace(C3P, wheel_rate_limit=0.05)))
    assert 0.0 < crawling.speed < 0.01


def test_a_robot_that_cannot_move_has_limits_above_zero():
    limits = limits_of_reach(replace(load('c3p'), torque_limit=np.full(3, 1e-3)))
    assert limits.acceleration == LEAST_ACCELERATION
    assert all(limit > 0.0 for limit in limits)
