# SPDX-License-Identifier: Apache-2.0
"""When a command counts: after a start, a fault, silence and within a cycle."""

import numpy as np
import pytest

from c3p_controller.command_interlock import STOPPED, STOPPED_FOR, CommandInterlock

MOVE, ZERO, TIMEOUT = np.array([0.3, 0.0, 0.1]), np.zeros(3), 0.5


@pytest.fixture
def guard():
    return CommandInterlock(TIMEOUT, TIMEOUT)


@pytest.fixture
def unlocked(guard):
    guard.command(ZERO, 0.0)
    guard.rearm(0.0)
    return guard


def test_it_starts_locked_and_follows_nothing(guard):
    assert guard.lock == 'starting' and guard.active(0.0) is None
    guard.command(MOVE, 0.0)
    guard.rearm(0.0)
    assert guard.lock and guard.active(0.0) is None


def test_commands_that_never_pause_do_not_unlock(guard):
    for k in range(200):
        guard.command(MOVE, 0.02 * k)
        guard.rearm(0.02 * k)
    assert guard.lock == 'starting'


def test_a_zero_command_unlocks_once_the_chain_is_whole(guard):
    guard.command(ZERO, 0.0)
    assert guard.lock
    guard.rearm(0.0)
    assert not guard.lock
    guard.command(MOVE, 0.1)
    assert guard.active(0.1) is MOVE


def test_silence_as_long_as_a_command_is_valid_unlocks(guard):
    guard.rearm(10.0)
    guard.rearm(10.0 + 0.99 * TIMEOUT)
    assert guard.lock
    guard.rearm(10.0 + TIMEOUT)
    assert not guard.lock


def test_a_command_interrupts_the_silence(guard):
    guard.rearm(0.0)
    guard.command(MOVE, 0.4)
    guard.rearm(0.45)
    # the command stales at 0.9; silence counts from when that is seen
    guard.rearm(1.0)
    assert guard.lock
    guard.rearm(1.0 + TIMEOUT)
    assert not guard.lock


def test_a_fault_locks_and_the_first_reason_stays(unlocked):
    unlocked.command(MOVE, 1.0)
    unlocked.fault('no odom')
    unlocked.fault('no joint_states')
    assert unlocked.lock == 'no odom' and unlocked.active(1.0) is None
    for k in range(100):  # whoever commanded goes on: no motion
        unlocked.command(MOVE, 1.0 + 0.02 * k)
        unlocked.rearm(1.0 + 0.02 * k)
        assert unlocked.active(1.0 + 0.02 * k) is None
    unlocked.command(ZERO, 4.0)
    unlocked.rearm(4.0)
    unlocked.command(MOVE, 4.1)
    assert unlocked.active(4.1) is MOVE


def test_a_fault_begins_the_silence_anew(guard):
    guard.rearm(0.0)
    guard.fault('no odom')
    guard.rearm(0.9 * TIMEOUT)
    guard.rearm(1.1 * TIMEOUT)
    assert guard.lock


def test_an_old_command_is_not_followed_and_a_new_one_is_at_once(unlocked):
    unlocked.command(MOVE, 1.0)
    assert not unlocked.stale(1.0 + TIMEOUT) and unlocked.active(1.0 + TIMEOUT) is MOVE
    assert unlocked.stale(1.01 + TIMEOUT) and unlocked.active(1.01 + TIMEOUT) is None
    unlocked.command(MOVE, 3.0)
    assert unlocked.active(3.0) is MOVE


def test_a_command_of_the_present_cycle_counts_from_the_next(unlocked):
    earlier = np.array([0.1, 0.0, 0.0])
    unlocked.command(earlier, 1.0, stamp=10)
    unlocked.command(MOVE, 1.005, stamp=15)
    assert unlocked.active(1.005, cycle=15) is earlier
    assert unlocked.active(1.010, cycle=20) is MOVE
    # without stamps there is nothing to tell apart
    assert unlocked.active(1.005) is MOVE


def test_arrival_before_or_after_the_cycle_gives_the_same(unlocked):
    first, second = np.array([0.1, 0.0, 0.0]), np.array([0.2, 0.0, 0.0])
    unlocked.command(first, 1.0, stamp=10)
    after = unlocked.active(1.0, cycle=15)
    unlocked.command(second, 1.0, stamp=15)
    before = unlocked.active(1.0, cycle=15)
    assert after is before is first


def test_the_first_command_after_a_pause_does_not_bring_back_the_one_before(unlocked):
    unlocked.command(MOVE, 1.0, stamp=10)
    unlocked.command(ZERO, 9.0, stamp=15)
    assert unlocked.active(9.0, cycle=15) is None
    assert unlocked.active(9.005, cycle=20) is ZERO


def test_after_the_start_silence_must_last_longer_than_discovery():
    guard = CommandInterlock(0.5, 3.0)
    for now in (10.0, 10.6, 12.9):
        guard.rearm(now)
        assert guard.lock
    # who commands is discovered just in time, and has to send zero first
    guard.command(np.array([0.3, 0.0, 0.0]), 12.95)
    guard.rearm(13.1)
    assert guard.lock and guard.active(13.1) is None
    guard.command(np.zeros(3), 13.2)
    guard.rearm(13.2)
    assert not guard.lock
    # after a fault everybody is known, and the shorter silence does
    guard.fault('test')
    guard.rearm(13.8)
    guard.rearm(14.4)
    assert not guard.lock


def test_the_stamp_is_that_of_the_command_that_counts(unlocked):
    unlocked.command(ZERO, 1.0, stamp=10)
    unlocked.command(MOVE, 1.005, stamp=15)
    assert unlocked.active(1.005, cycle=15) is ZERO and unlocked.stamp == 10
    assert unlocked.active(1.010, cycle=20) is MOVE and unlocked.stamp == 15
    # nothing counts, so nothing that belongs to it does
    assert unlocked.active(2.0, cycle=25) is None and unlocked.stamp == 0
    unlocked.command(MOVE, 2.1)
    assert unlocked.active(2.1, cycle=30) is MOVE and unlocked.stamp == 0


def test_what_moves_begins_with_torques_of_zero(guard):
    assert not guard.opening(0.0)
    guard.command(ZERO, 1.0)
    guard.rearm(1.0)
    assert guard.opening(1.0) and guard.opening(1.04) and not guard.opening(1.06)
    guard.fault('a cable')
    assert not guard.opening(1.04)
    # a simulation that began anew
    assert not guard.opening(0.5)


def test_a_stop_stays_for_a_while_after_its_cause_and_names_it():
    guard = CommandInterlock(0.5, 3.0)
    zero, moving = np.zeros(3), np.array([0.3, 0.0, 0.0])
    guard.command(zero, 0.0)
    guard.rearm(0.0)
    guard.command(moving, 0.1)
    for k in range(10):
        guard.stop('all wheels spin', 0.1 + 0.01 * k)
    guard.command(zero, 0.3)
    guard.rearm(0.3)
    assert guard.lock == STOPPED + 'all wheels spin'
    guard.command(zero, 0.19 + STOPPED_FOR - 0.01)
    guard.rearm(0.19 + STOPPED_FOR - 0.01)
    assert guard.lock and guard.active(1.18) is None
    guard.command(zero, 0.19 + STOPPED_FOR + 0.01)
    guard.rearm(0.19 + STOPPED_FOR + 0.01)
    assert not guard.lock


def test_silence_is_reported_while_a_command_has_expired(guard):
    # there was no command yet, and one that is valid
    assert guard.silence(100.0) == ''
    guard.command(MOVE, 1.0)
    assert guard.silence(1.0 + TIMEOUT) == ''
    assert guard.silence(1.01 + TIMEOUT) == (
        f'no command for longer than {TIMEOUT} s: the robot stands')
    guard.command(ZERO, 2.0)
    assert guard.silence(2.0) == ''


def test_the_remedy_of_a_lock_is_given_as_long_as_it_is_locked(guard):
    remedy = 'the robot moves after a zero command or silence'
    assert guard.remedy() == f'starting; {remedy}'
    guard.command(ZERO, 0.0)
    guard.rearm(0.0)
    assert guard.remedy() == ''
    guard.fault('no odom')
    assert guard.remedy() == f'no odom; {remedy}'


def test_a_stop_stays_for_a_second_from_its_very_moment(unlocked):
    unlocked.stop('all wheels spin', 2.0)
    # in the moment of the stop, and until the second is over
    for now in (2.0, 2.5, 3.0 - 2**-10):
        unlocked.command(ZERO, now)
        unlocked.rearm(now)
        assert unlocked.lock
    unlocked.command(ZERO, 3.0)
    unlocked.rearm(3.0)
    assert not unlocked.lock


def test_without_a_cycle_a_command_counts_whatever_its_stamp(unlocked):
    unlocked.command(MOVE, 1.0, stamp=1)
    assert unlocked.active(1.0) is MOVE and unlocked.stamp == 1
