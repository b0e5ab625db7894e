# SPDX-License-Identifier: Apache-2.0
"""A lock across restarts: what is not known counts as pressed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_controller.command_lock import Lock, LockState
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
