# SPDX-License-Identifier: Apache-2.0
"""Every goal ends once, whatever happens; the end says what was left."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_controller.goals.goal_life import (
    CANCELLED,
    NO_ODOMETRY,
    NO_PROGRESS,
    PREEMPTED,
    REACHED,
    REASONS,
    REFUSED,
    GoalLife,
    refused,
    stands,
)
from c3p_controller.goals.position_command import PositionCommand

REST, MOVING = np.zeros(3), np.array([0.3, 0.0, 0.0])
GOAL = np.array([1.0, 2.0, 0.5])


def command(distance, reached=False, yaw_error=0.0):
    return PositionCommand(np.zeros(3), distance, yaw_error, reached)


def test_a_goal_is_reached_when_the_robot_is_there_and_stands():
    life = GoalLife()
    assert life.begin(GOAL, 10.0) is None
    assert life.step(10.5, command(0.04, reached=True), MOVING, 10.0) is None
    outcome = life.step(12.5, command(0.01, reached=True, yaw_error=-0.02), REST, 10.0)
    assert outcome.reason == REACHED and outcome.number == 1 and outcome.goal is GOAL
    assert (outcome.distance, outcome.yaw_error, outcome.time) == (0.01, -0.02, 2.5)
    assert life.held and not life.running
    assert life.step(13.0, command(0.01, reached=True), REST, 10.0) is None


def test_a_rest_that_rounds_to_zero_has_no_sign():
    life = GoalLife()
    life.begin(GOAL, 0.0)
    outcome = life.step(1.0, command(0.0, reached=True, yaw_error=-1e-6), REST, 10.0)
    assert outcome.text == '0.0000 m and 0.0000 rad after 1.00 s'


@pytest.mark.parametrize('reason, news', [(CANCELLED, False), (NO_ODOMETRY, True)])
def test_of_a_goal_that_is_held_only_its_loss_is_news(reason, news):
    life = GoalLife()
    life.begin(GOAL, 0.0)
    life.step(1.0, command(0.01, reached=True), REST, 10.0)
    outcome = life.end(reason, 'why')
    assert (outcome is not None) == news
    assert not life.held and life.end(reason, 'again') is None


def test_a_robot_that_is_pushed_from_its_goal_and_stays_there_has_lost_it():
    life = GoalLife()
    life.begin(GOAL, 0.0)
    assert life.step(1.0, command(0.01, reached=True), REST, 2.0).reason == REACHED
    assert life.step(2.9, command(0.5), REST, 2.0) is None
    assert life.step(3.1, command(0.5), REST, 2.0).reason == NO_PROGRESS


def test_a_new_goal_takes_the_place_of_the_old_one():
    life = GoalLife()
    life.begin(GOAL, 0.0)
    life.step(1.0, command(0.7, yaw_error=0.1), MOVING, 10.0)
    before = life.begin(-GOAL, 1.5)
    assert before.reason == PREEMPTED and before.number == 1 and before.distance == 0.7
    assert 'goal 2' in before.text
    # nothing of the old one is left
    after = life.end(CANCELLED, 'cancelled')
    assert after.number == 2 and math.isnan(after.distance) and after.time == 0.0


def test_no_progress_ends_it_and_zero_never_does():
    for timeout, ends in ((2.0, True), (0.0, False)):
        life = GoalLife()
        life.begin(GOAL, 0.0)
        assert life.step(0.0, command(1.0), REST, timeout) is None
        outcome = life.step(2.1, command(1.0), REST, timeout)
        assert (outcome is not None and outcome.reason == NO_PROGRESS) == ends


def test_a_refused_goal_ends_nothing():
    life = GoalLife()
    life.begin(GOAL, 0.0)
    assert refused('no odometry').number == 0 and refused('').reason == REFUSED
    assert life.running


def test_the_rest_takes_as_long_as_the_longer_way():
    life = GoalLife()
    life.begin(GOAL, 0.0)
    assert life.time_left(0.5, 0.5) == 0.0
    life.step(0.1, command(1.0, yaw_error=-0.1), MOVING, 10.0)
    assert life.time_left(0.5, 0.5) == 2.0
    life.step(0.2, command(0.1, yaw_error=-2.0), MOVING, 10.0)
    assert life.time_left(0.5, 0.5) == 4.0


@pytest.mark.parametrize('axis, limit', [(0, 0.05), (1, 0.05), (2, 0.1)])
def test_what_counts_as_standing_is_the_same_for_every_sign(axis, limit):
    for sign in (-1.0, 1.0):
        twist = np.zeros(3)
        twist[axis] = sign * 0.99 * limit
        assert stands(twist)
        twist[axis] = sign * 1.01 * limit
        assert not stands(twist)


# what a user, the robot and the network may do, in any order
EVENTS = st.lists(st.one_of(
    st.just('begin'), st.sampled_from([CANCELLED, NO_ODOMETRY]),
    st.tuples(st.floats(0.0, 3.0), st.booleans(), st.booleans())), max_size=40)


@given(EVENTS)
def test_every_goal_has_one_end_before_it_is_reached_or_replaced(events):
    """An independent account: which goal is open, which is held, and who may still be told of."""
    life, now, open_goal, held, number = GoalLife(), 0.0, False, False, 0
    for event in events:
        now += 0.5
        if event == 'begin':
            outcome = life.begin(GOAL, now)
            assert (outcome is not None) == open_goal
            if outcome:
                assert (outcome.reason, outcome.number) == (PREEMPTED, number)
            number, open_goal, held = number + 1, True, False
        elif isinstance(event, str):
            outcome = life.end(event, '')
            assert (outcome is not None) == (open_goal or (held and event == NO_ODOMETRY))
            open_goal = held = False
        else:
            distance, there, moving = event
            outcome = life.step(now, command(distance, there), MOVING if moving else REST, 0.0)
            arrives = open_goal and there and not moving
            assert (outcome is not None) == arrives
            if arrives:
                open_goal, held = False, True
        assert (life.running, life.held, life.number) == (open_goal, held, number)
        assert outcome is None or (outcome.reason in REASONS and outcome.number == number
                                   or outcome.reason == PREEMPTED)


def test_a_second_goal_does_not_inherit_the_progress_of_the_first():
    life = GoalLife()
    life.begin(GOAL, 0.0)
    # the first comes within a centimetre of its goal
    life.step(1.0, command(0.012, yaw_error=0.01), MOVING, 10.0)
    life.begin(GOAL + [3.0, 0.0, 1.0], 2.0)
    # the second is approached from far, longer than the time without progress
    for k in range(30):
        assert life.step(2.0 + k, command(5.0 - 0.1 * k, yaw_error=1.0), MOVING, 10.0) is None


def test_before_the_first_goal_there_is_nothing():
    life = GoalLife()
    assert (life.number, life.running, life.held, life.took) == (0, False, False, 0.0)
    assert math.isnan(life.distance) and life.end(CANCELLED, '') is None


def test_a_turn_on_the_spot_is_progress_by_its_yaw_error():
    life = GoalLife()
    life.begin(GOAL, 0.0)
    for k in range(20):
        # to either side; 0.03 rad within less than the time
        yaw_error = (1.0 - 0.03 * k) * (-1.0) ** k
        assert life.step(1.9 * k, command(0.5, yaw_error=yaw_error), MOVING, 2.0) is None
    # turning away, or by less than a degree, is none
    for k, error in ((20, 0.6), (21, 0.42)):
        outcome = life.step(1.9 * k, command(0.5, yaw_error=error), MOVING, 2.0)
    assert outcome.reason == NO_PROGRESS


def test_at_the_end_of_its_time_a_goal_may_still_progress():
    life = GoalLife()
    life.begin(GOAL, 0.0)
    life.step(0.0, command(1.0), MOVING, 2.0)
    assert life.step(2.0, command(1.0), MOVING, 2.0) is None
    assert life.step(2.0 + 2**-10, command(1.0), MOVING, 2.0).reason == NO_PROGRESS
