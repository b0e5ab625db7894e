# SPDX-License-Identifier: Apache-2.0
"""A lock across restarts: what is not known counts as pressed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_controller.command_lock import COPY_DELAY, Lock, LockState
from c3p_controller.twist_mux import Input, TwistMux

E_STOP = Lock('e_stop', 'e_stop', 0.0, 255)
BUTTON = Lock('button', 'button', 0.5, 255)
SOURCE = Input('keyboard', 'cmd_vel_keyboard', 0.5, 90)


def state(given_lock=E_STOP):
    return LockState(given_lock)


def test_a_lock_is_closed_from_the_start_until_a_false_is_heard():
    lock = state()
    assert lock.locked(0.0) and lock.unknown and lock.locked(1e9)
    lock.take(False, 1.0)
    assert not lock.locked(1.0) and not lock.unknown


def test_release_opens_what_is_not_known_and_nothing_else():
    lock = state()
    assert lock.release() and not lock.locked(1.0)
    lock.take(True, 2.0)
    assert not lock.release() and lock.locked(2.0)
    button = state(BUTTON)
    assert not button.release() and button.locked(10.0)


def test_a_lock_that_starts_open_forgets():
    lock = state(E_STOP._replace(start='open'))
    assert not lock.locked(0.0) and not lock.unknown


@pytest.mark.parametrize('messages, closed, latched', [
    # (pressed, kept) and whether it is locked then, by its start; what is latched is heard by both
    # subscriptions, in any order
    ([(True, True)], True, True), ([(False, True)], True, False),
    ([(False, True), (False, False)], False, False),
    ([(True, True), (False, True), (False, False)], False, False),
    ([(False, True), (True, False), (True, True)], True, True),
    # a press, and then a publisher is found that latched false long before
    ([(True, False), (False, True)], True, True), ([(True, True), (False, True)], True, True),
    ([(False, True), (True, False), (False, True)], True, True),
    # released elsewhere, and then one is found that latched true: there it is pressed
    ([(False, False), (True, True)], True, True)])
def test_latched_messages(messages, closed, latched):
    for start, locked in (('closed', closed), ('latched', latched)):
        lock = state(E_STOP._replace(start=start))
        for k, (pressed, kept) in enumerate(messages):
            (lock.take_kept if kept else lock.take)(pressed, float(k))
        assert lock.locked(float(len(messages))) == locked, start


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_one_publisher_that_latches_is_followed_however_its_two_copies_interleave(said, chance):
    """Each subscription gets the messages in order; the executor mixes the two at will."""
    found = chance.randint(0, len(said))
    live, kept = said[found:], said[max(0, found - 1):]
    lock = state(E_STOP._replace(start='latched'))
    while live or kept:
        from_live = bool(live) and (not kept or chance.random() < 0.5)
        (lock.take if from_live else lock.take_kept)((live if from_live else kept).pop(0), 0.0)
    # a release in the moment of the discovery may be missed, a press never
    assert lock.locked(0.0) or not said[-1]


def test_a_kept_false_is_not_the_fresh_message_that_a_timeout_wants():
    lock = state(BUTTON)
    lock.take_kept(False, 1.0)
    assert lock.locked(1.0)
    lock.take(False, 1.0)
    assert not lock.locked(1.5) and lock.locked(1.6)
    lock.take(False, 2.0)
    lock.take_kept(True, 2.1)
    assert lock.locked(2.1)
    # a steady publisher says false again
    lock.take(False, 2.2)
    assert not lock.locked(2.2)


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_copies_of_a_reliable_publisher_open_nothing_however_late_and_lossy(said, chance):
    """The reliable subscription gets all, in order; the other one some of it, in order."""
    reliable, copies = list(said), [m for m in said if chance.random() < 0.7]
    lock, now = state(), 0.0
    while reliable or copies:
        now += 0.01
        from_reliable = bool(reliable) and (not copies or chance.random() < 0.5)
        (lock.take if from_reliable else lock.take_best_effort)(
            (reliable if from_reliable else copies).pop(0), now)
    assert now < COPY_DELAY
    # it may be closed a message too long, and is never open when it is pressed
    assert lock.locked(now) or not said[-1]


def test_a_publisher_without_reliability_presses_and_releases():
    lock = state()
    for pressed in (False, True, False, True, True, False):
        lock.take_best_effort(pressed, 1.0)
        assert lock.locked(1.0) == pressed
    # beside a reliable press, a false counts once it can be no copy
    lock.take(True, 0.0)
    lock.take_best_effort(False, 0.9 * COPY_DELAY)
    assert lock.locked(3.0)
    lock.take_best_effort(False, COPY_DELAY)
    assert not lock.locked(3.0)
    # a reliable false holds no other back, and a press always counts
    lock.take(False, 4.0)
    lock.take_best_effort(True, 4.01)
    lock.take_best_effort(False, 4.02)
    assert not lock.locked(4.02)
    lock.take(True, 5.0)
    lock.take(False, 5.01)
    lock.take_best_effort(True, 5.02)
    assert lock.locked(5.02)
    # a clock that went back does not hold it
    lock.take(True, 9.0)
    lock.take_best_effort(False, 1.0)
    assert not lock.locked(1.0)


@pytest.mark.parametrize('given_lock', [E_STOP, BUTTON, E_STOP._replace(start='open')])
def test_an_unheard_publisher_closes_it_whatever_is_released_and_leaves_it_unknown(given_lock):
    lock = state(given_lock)
    lock.take(False, 1.0)
    assert not lock.locked(1.0)
    lock.set_unheard(True)
    assert lock.locked(1.0) and not lock.release() and lock.locked(1.0)
    lock.take(False, 1.1)
    lock.take_kept(False, 1.1)
    assert lock.locked(1.1)
    # it may have been pressed meanwhile by what was not received
    lock.set_unheard(True)
    lock.set_unheard(False)
    assert lock.locked(1.1) and lock.unknown
    assert lock.release() and not lock.locked(1.1)


def test_a_release_that_was_refused_opens_nothing_later():
    lock = state()
    lock.set_unheard(True)
    assert not lock.release()
    lock.set_unheard(False)
    assert lock.locked(1.0) and lock.unknown


EVENTS = st.lists(st.one_of(
    st.tuples(st.just('command'), st.booleans()), st.tuples(st.just('time'), st.floats(0.0, 9.0)),
    st.tuples(st.just('kept'), st.just(True)), st.tuples(st.just('lock'), st.just(True))),
    max_size=40)


@given(EVENTS, st.booleans())
def test_after_a_restart_nothing_but_a_false_or_a_release_lets_a_command_pass(events, resume):
    """The mux that was killed with its e-stop pressed: whatever comes, nothing passes."""
    now = 0.0
    mux = TwistMux((SOURCE,), (E_STOP,), now, resume=resume)
    for kind, value in events:
        if kind == 'time':
            now += value
            mux.look(now)
        elif kind == 'command':
            assert not mux.command('keyboard', value, now)
        else:
            mux.lock('e_stop', value, now, kept=kind == 'kept')
    assert mux.locked(now) and not mux.driving(now)


def test_what_was_commanded_before_the_release_does_not_drive_after_it():
    mux = TwistMux((SOURCE,), (E_STOP,), 0.0)
    # a source that kept on commanding through the restart, and showed zero while it was locked
    assert not mux.command('keyboard', True, 1.0) and not mux.command('keyboard', False, 1.1)
    assert mux.unknown() == ('e_stop',) and mux.release(1.2) == ('e_stop',)
    assert not mux.command('keyboard', False, 1.3)
    assert mux.command('keyboard', True, 1.4) and mux.command('keyboard', False, 1.5)


def test_a_clock_that_goes_back_does_not_open_it():
    mux = TwistMux((SOURCE,), (E_STOP,), 100.0)
    mux.look(1.0)
    assert mux.locked(1.0) and mux.unknown()


@pytest.mark.parametrize('heard', [0.2, 0.9])
def test_a_lock_with_a_timeout_is_closed_when_time_goes_back_until_it_is_heard(heard):
    """Expired or not: the age of its last message is not known any more."""
    mux = TwistMux((SOURCE,), (BUTTON,), 0.0)
    mux.lock('button', False, heard)
    mux.look(1.0)
    for now in (-98.7, -98.5, -90.0):
        mux.look(now)
        assert mux.locked(now) and not mux.command('keyboard', True, now)
    mux.lock('button', False, -89.0)
    assert not mux.locked(-89.0)


def test_a_lock_without_a_timeout_keeps_its_state_when_time_goes_back():
    for pressed in (True, False):
        mux = TwistMux((SOURCE,), (E_STOP,), 0.0)
        mux.lock('e_stop', pressed, 5.0)
        mux.look(1.0)
        assert mux.locked(1.0) == pressed


def test_the_mux_names_what_is_unheard_and_what_a_release_would_open():
    mux = TwistMux((SOURCE,), (E_STOP, BUTTON), 0.0)
    mux.lock('button', False, 0.0)
    assert mux.unknown() == ('e_stop',) and mux.unheard() == ()
    mux.set_unheard('button', True, 0.1)
    assert mux.unheard() == ('button',) and mux.locks(0.1) == ('e_stop', 'button')
    assert mux.unknown() == ('e_stop',) and mux.release(0.1) == ('e_stop',)
    assert mux.locks(0.1) == ('button',) and mux.locked(0.1)


def test_an_unheard_publisher_stops_what_moves():
    mux = TwistMux((SOURCE,), (E_STOP,), 0.0)
    mux.lock('e_stop', False, 0.0)
    assert mux.command('keyboard', True, 0.1) and mux.command('keyboard', False, 0.2)
    mux.set_unheard('e_stop', True, 0.3)
    assert mux.halting(0.3) and not mux.command('keyboard', False, 0.3)
    mux.set_unheard('e_stop', False, 0.4)
    mux.release(0.4)
    # and it must be released again
    assert not mux.command('keyboard', False, 0.5) and mux.command('keyboard', True, 0.6)


def test_what_was_latched_does_not_open_a_pressed_lock_after_time_went_back():
    mux = TwistMux((SOURCE,), (E_STOP._replace(start='latched'),), 0.0)
    mux.lock('e_stop', True, 5.0)
    mux.look(1.0)
    mux.lock('e_stop', False, 1.1, kept=True)
    assert mux.locked(1.1)


def test_the_mux_passes_on_how_a_message_was_received():
    mux = TwistMux((SOURCE,), (E_STOP,), 0.0)
    mux.lock('e_stop', False, 1.0, kept=True)
    assert mux.locked(1.0)
    mux.lock('e_stop', True, 1.1)
    mux.lock('e_stop', False, 1.2, best_effort=True)
    assert mux.locked(1.2)
    mux.lock('e_stop', False, 1.2)
    assert not mux.locked(1.2)


def test_the_first_best_effort_message_counts_however_early():
    lock = state()
    lock.take_best_effort(False, 0.5 * COPY_DELAY)
    assert not lock.locked(0.5 * COPY_DELAY)


def test_a_copy_in_the_moment_of_a_press_does_not_open():
    lock = state()
    lock.take(True, 1.0)
    lock.take_best_effort(False, 1.0)
    assert lock.locked(1.0)


def test_a_lock_with_a_timeout_is_not_opened_by_what_was_latched_before():
    """However it starts: a latched false may be of any age."""
    button = state(BUTTON._replace(start='latched'))
    button.take_kept(False, 1.0)
    assert button.locked(1.0)
    button.take(False, 1.0)
    assert not button.locked(1.0)
