# SPDX-License-Identifier: Apache-2.0
"""The stall watch: motion without progress is found, what moves or is held is left alone."""

import numpy as np
import pytest

from c3p_controller.predictive._stall_kernels import ATTEMPTS, LEVELS, STRETCH
from c3p_controller.predictive.guesses import BOLD, bold_guesses
from c3p_controller.predictive.stall import StallWatch

HORIZON, DT = 0.8, 0.01


def reference(x, yaw=0.0):
    rows = np.zeros((5, 7))
    rows[-1, 0], rows[-1, 2] = x, yaw
    return rows


def state(vx=0.0, turn=0.0, yaw=0.0):
    found = np.zeros(9)
    found[2], found[3], found[5] = yaw, vx, turn
    return found


def run(watch, seconds, here, rows, disturbance=0.0):
    return [k * DT for k in range(round(seconds / DT))
            if watch.step(here, rows, HORIZON, disturbance, DT)]


def test_a_robot_that_rests_with_motion_commanded_stalls_after_about_a_second():
    watch = StallWatch()
    times = run(watch, 1.3, state(), reference(0.2))
    assert len(times) == 1 and 0.9 < times[0] < 1.3
    assert watch.stretch == STRETCH


def test_a_yaw_error_that_stays_at_the_goal_is_a_stall():
    assert run(StallWatch(), 1.5, state(), reference(0.0, 0.15))


def test_an_error_within_what_holding_a_place_leaves_is_not_a_stall():
    assert not run(StallWatch(), 5.0, state(), reference(0.01, 0.02))


@pytest.mark.parametrize('yaw', [0.0, 2.0])
def test_progress_is_measured_on_the_floor(yaw):
    """Along the reference at its speed: no stall; across it: one."""
    speed = 0.2 / HORIZON
    along = state(speed * np.cos(yaw), yaw=yaw)
    along[4] = -speed * np.sin(yaw)
    # no error of yaw: only travel
    rows = reference(0.2, yaw)
    assert not run(StallWatch(), 5.0, along, rows)
    across = along.copy()
    across[3:5] = speed * np.sin(yaw), speed * np.cos(yaw)
    assert run(StallWatch(), 2.0, across, rows)


def test_a_manoeuvre_as_long_as_that_of_the_c3p_is_not_a_stall():
    watch = StallWatch()
    assert not run(watch, 0.8, state(), reference(0.4))
    assert not run(watch, 5.0, state(0.5), reference(0.4))


def test_a_robot_that_something_holds_is_left_alone():
    """
    In front of a wall the estimate of the disturbance has reached its limit.

    On the slope of 4° that the C3P just climbs, 24 N, it has not: there the robot stalls.
    """
    assert not run(StallWatch(), 5.0, state(), reference(0.2), disturbance=1.0)
    assert run(StallWatch(), 5.0, state(), reference(0.2), disturbance=24.0 / 40.0)


def test_attempts_are_bounded_and_motion_restores_the_horizon():
    watch = StallWatch()
    assert len(run(watch, 60.0, state(), reference(0.2))) == ATTEMPTS
    assert watch.stretch == STRETCH**LEVELS
    run(watch, 3.0, state(0.25), reference(0.2))
    assert watch.stretch == 1.0 and watch.attempts == 0


def test_bold_guesses_are_within_the_limits_and_push_in_both_senses():
    limit, times = np.array([1.0, 0.0, 2.0]), np.linspace(0.0, 1.0, 20)
    guesses = bold_guesses(limit, times)
    assert len(guesses) == 1 + len(BOLD) * 2 * 2 * 2
    assert all((np.abs(guess) <= limit).all() for guess in guesses)
    sums = np.array([guess[0] for guess in guesses])
    np.testing.assert_allclose(sums.sum(axis=0), 0.0, atol=1e-12)
    # the largest lasts for the whole horizon
    assert (np.abs(guesses[-1][:-1, 2]) == 2.0).all()
