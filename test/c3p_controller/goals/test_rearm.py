# SPDX-License-Identifier: Apache-2.0
"""Zeros at the begin of a drive and after whatever locks; goals that outlive a pause."""

import numpy as np
import pytest

from c3p_controller.command_interlock import CommandInterlock
from c3p_controller.goals.goal_life import NO_PROGRESS, GoalLife
from c3p_controller.goals.position_command import PositionCommand
from c3p_controller.goals.rearm import (
    CLOCK_STEP,
    STUCK_AFTER,
    STUCK_ZEROS,
    ZEROS,
    Opening,
    astray,
    robot_step,
)

MOVING, STILL = np.array([0.4, 0.0, 0.0]), np.zeros(3)


def test_a_drive_begins_with_zeros_as_soon_as_somebody_takes_them():
    opening = Opening()
    opening.begin(stands=True)
    for time in (0.0, 1.0, 2.0):
        opening.matched(time, 0.0, subscribed=False)
        assert opening.zeros(time, STILL, True, '')
    opening.matched(3.0, 0.0, subscribed=True)
    assert opening.zeros(3.0, STILL, True, '')
    assert opening.zeros(3.0 + 0.9 * ZEROS, STILL, True, '')
    assert not opening.zeros(3.0 + 1.1 * ZEROS, STILL, True, '')
    # somebody who is found later is given zeros for a time of his own
    opening.matched(5.0, 0.3, subscribed=True)
    assert opening.zeros(5.29, MOVING, True, '') and not opening.zeros(5.31, MOVING, True, '')


def test_a_lock_is_answered_with_zeros_until_it_is_gone_and_counted_once():
    opening = Opening()
    assert not opening.zeros(0.0, MOVING, True, '')
    for k in range(100):
        assert opening.zeros(0.02 * k, STILL, True, 'no odom')
    assert not opening.zeros(3.0, STILL, True, '') and opening.count == 1


@pytest.mark.parametrize('pause', [0.25, 0.6, 1.0])
def test_guard_and_drive_come_free_of_a_pause_by_the_documented_rule(pause):
    """The velocity controller's guard beside the drive that commands it, cycle by cycle."""
    guard, opening, twist = CommandInterlock(0.5, 3.0), Opening(), np.array([0.5, 0.0, 0.0])
    guard.lock, now, followed = '', 0.0, []
    for k in range(400):
        now += 0.005 if k != 200 else pause
        if k == 200:
            guard.fault(f'nothing to answer for {pause} s')
        guard.rearm(now)
        if k % 4 == 0:
            zeros = opening.zeros(now, MOVING, True, guard.lock)
            guard.command(0.0 * twist if zeros else twist, now)
        followed.append(guard.active(now) is not None and guard.active(now)[0] > 0.0)
    assert all(followed[1:199]) and not any(followed[200:203]) and all(followed[215:])


def test_what_stands_though_it_is_asked_to_move_is_opened_by_zeros():
    opening, given = Opening(), []
    for time in np.arange(0.0, STUCK_AFTER + 1.0, 0.02):
        given.append(opening.zeros(time, STILL, True, ''))
    assert sum(given) == pytest.approx(STUCK_ZEROS / 0.02, abs=2) and opening.count == 1
    # what moves, or is not asked to, or holds its goal, is not
    opening = Opening()
    for time in np.arange(0.0, 3 * STUCK_AFTER, 0.02):
        assert not opening.zeros(time, MOVING, True, '')
        assert not opening.zeros(time, STILL, False, '')


def test_robot_time_goes_on_through_pauses_and_not_with_a_clock_that_is_set():
    assert robot_step(0.005) == 0.005 and robot_step(1.0) == 1.0
    assert robot_step(3600.0) == robot_step(None) == 0.0 and robot_step(CLOCK_STEP) == 0.0


@pytest.mark.parametrize('moved, gap, same', [
    ((0.0, 0.0, 0.0), 0.0, True), ((0.08, -0.08, 0.2), 0.0, True), ((0.5, 0.0, 1.0), 1.0, True),
    ((0.2, 0.0, 0.0), 0.1, False), ((0.0, 0.9, 0.0), 1.0, False), ((0.0, 0.0, 2.5), 1.0, False),
    ((0.0, 0.0, 2 * np.pi), 0.0, True)])
def test_odometry_that_comes_back_elsewhere_is_not_driven_on_with(moved, gap, same):
    before = np.array([1.0, 2.0, 3.0])
    why = astray(before, before + moved, gap, 0.5, 1.5)
    assert (why == '') is same and ('came back' in why) is not same


def test_a_goal_that_ends_behind_a_lock_says_so():
    life, command = GoalLife(), PositionCommand(MOVING, 1.0, 0.0, False)
    life.begin(np.array([1.0, 0.0, 0.0]), 0.0)
    obstacle = 'the velocity controller is locked: no odom'
    assert life.step(0.0, command, STILL, 10.0, obstacle) is None
    outcome = life.step(10.1, command, STILL, 10.0, obstacle)
    assert outcome.reason == NO_PROGRESS and outcome.text.endswith(f'; {obstacle}')


def test_standstill_counts_from_the_last_motion():
    opening = Opening()
    # at rest for a moment, then on the move: the casters have turned
    assert not opening.zeros(0.0, STILL, True, '')
    assert not opening.zeros(1.0, MOVING, True, '')
    for time in np.arange(STUCK_AFTER - 0.5, 2 * STUCK_AFTER - 1.0, 0.1):
        assert not opening.zeros(time, STILL, True, '')
    assert opening.zeros(2 * STUCK_AFTER, STILL, True, '')
    # nor does a rest without a command to move count
    opening = Opening()
    assert not opening.zeros(0.0, STILL, True, '')
    assert not opening.zeros(1.0, STILL, False, '')
    assert not opening.zeros(STUCK_AFTER + 0.5, STILL, True, '')


@pytest.mark.parametrize('component, speed', [(0, 0.005), (1, 0.005), (2, 0.01)])
@pytest.mark.parametrize('sign', [-1.0, 1.0])
def test_standstill_is_below_5_mm_and_10_mrad_a_second(component, speed, sign):
    for factor, stands in ((0.9, True), (1.0, True), (1.1, False)):
        opening, twist = Opening(), np.zeros(3)
        twist[component] = sign * factor * speed
        opening.zeros(0.0, twist, True, '')
        assert opening.zeros(1.1 * STUCK_AFTER, twist, True, '') is stands


def test_a_pose_at_the_bound_is_plausible():
    assert astray(np.zeros(3), np.array([0.1, 0.1, 0.3]), 0.0, 0.5, 1.5) == ''


def test_a_pause_of_10_s_is_a_clock_that_was_set():
    assert robot_step(9.9) == 9.9 and robot_step(10.0) == 0.0


def test_a_subscriber_that_is_known_gets_no_zeros():
    opening = Opening()
    opening.matched(1.0, 0.0, subscribed=True)
    assert not opening.zeros(1.05, MOVING, True, '')


def test_standstill_counts_from_its_own_beginning_whatever_was_before():
    # a new drive of a robot whose casters turn
    opening = Opening()
    opening.begin(stands=False)
    assert not opening.zeros(5.0, STILL, True, '')
    assert not opening.zeros(5.0 + STUCK_AFTER, STILL, True, '')
    assert opening.zeros(5.25 + STUCK_AFTER, STILL, True, '')
    # after a lock
    opening = Opening()
    assert opening.zeros(5.0, STILL, True, 'no odom')
    assert not opening.zeros(5.1, STILL, True, '')


def test_a_lock_that_is_there_from_the_begin_is_counted():
    opening = Opening()
    opening.zeros(0.0, STILL, True, 'no odom')
    assert opening.count == 1


def test_zeros_of_a_stuck_robot_last_300_ms():
    opening = Opening()
    opening.zeros(0.0, STILL, True, '')
    assert opening.zeros(5.0, STILL, True, '') and opening.zeros(5.29, STILL, True, '')
    assert not opening.zeros(5.31, STILL, True, '')
