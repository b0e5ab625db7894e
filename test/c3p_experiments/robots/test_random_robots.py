# SPDX-License-Identifier: Apache-2.0
"""Random robots: repeatable, plausible, within the ranges that are stated."""

import numpy as np
import pytest

from c3p_description.model import GRAVITY
from c3p_dynamics.traction import least_loads
from c3p_experiments.robots.random_robots import random_robot


def test_a_seed_is_one_robot():
    one, other = random_robot(7), random_robot(7)
    assert one.count == other.count
    np.testing.assert_array_equal(one.geometry, other.geometry)
    np.testing.assert_array_equal(one.losses, other.losses)


@pytest.mark.parametrize('seed', range(40))
def test_robots_are_within_the_ranges(seed):
    robot = random_robot(seed)
    assert 2 <= robot.count <= 6 and robot.driven.any()
    assert (robot.caster_offset >= 0.01).all() and (robot.caster_offset <= 0.15).all()
    assert (robot.wheel_radius >= 0.02).all() and (robot.wheel_radius <= 0.15).all()
    assert 5.0 <= robot.total_mass <= 300.0
    assert (robot.torque_limit >= 0.5).all() and (robot.torque_limit <= 100.0).all()
    if robot.count > 2:
        # every wheel carries a load in all directions of travel: it does not tip
        assert least_loads(robot).min() > 0.2 * GRAVITY * robot.total_mass / robot.count


def test_steering_motors_leave_the_rest_of_a_robot():
    for seed in range(10):
        rolling, both = random_robot(seed), random_robot(seed, steering=True)
        assert both.steered.any() and not rolling.steered.any()
        np.testing.assert_array_equal(rolling.geometry, both.geometry)
        np.testing.assert_array_equal(rolling.driven, both.driven)
        assert (both.steering_torque_limit >= 0.5).all()


def test_all_numbers_of_casters_and_motors_occur():
    robots = [random_robot(seed) for seed in range(60)]
    assert {robot.count for robot in robots} == {2, 3, 4, 5, 6}
    assert len({(robot.count, int(robot.driven.sum())) for robot in robots}) > 10
