# SPDX-License-Identifier: Apache-2.0
"""Whose command passes: against twist_mux's rules told another way, and who has to let go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_controller.command_lock import Lock
from c3p_controller.twist_mux import HALT, Input, TwistMux

SOURCES = (Input('keyboard', 'a', 0.5, 90), Input('other', 'b', 0.5, 90),
           Input('robot', 'c', 1.0, 10))
# twist_mux begins with open locks
LOCKS = (Lock('e_stop', 'd', 0.0, 255, 'open'), Lock('pause', 'e', 0.8, 50, 'open'))

# binary fractions, so that sums of them are exact and "at the timeout" is a case of its own
GAPS = st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.625, 1.0, 1.125])
EVENTS = st.lists(st.tuples(GAPS, st.one_of(
    st.tuples(st.sampled_from([s.name for s in SOURCES]), st.booleans()),
    st.tuples(st.sampled_from([lock.name for lock in LOCKS]), st.booleans()))), max_size=40)


def timed(events):
    """Return [(time, name, value)] of events with gaps."""
    now, out = 0.0, []
    for gap, (name, value) in events:
        now += gap
        out.append((now, name, value))
    return out


def run(events, **options):
    """Return which of the events are commands that passed."""
    mux, names = TwistMux(SOURCES, LOCKS, 0.0, **options), {s.name for s in SOURCES}
    passed = []
    for k, (now, name, value) in enumerate(timed(events)):
        if name not in names:
            mux.lock(name, value, now)
        elif mux.command(name, value, now):
            passed.append(k)
    return passed


def closed(history, now):
    """Return the least priority that drives, from all messages until `now`."""
    least = 0
    for lock in LOCKS:
        said = [(t, v) for t, n, v in history if n == lock.name]
        expired = lock.timeout > 0 and (not said or now - said[-1][0] > lock.timeout)
        if expired or (said and said[-1][1]):
            least = max(least, lock.priority)
    return least


def twist_mux(history):
    """Return the index of the source that drives after `history`, as twist_mux says; or None."""
    now = history[-1][0]
    best = None
    for k, source in enumerate(SOURCES):
        times = [t for t, n, _ in history if n == source.name]
        if not times or now - times[-1] > source.timeout or (
                source.priority < closed(history, now)):
            continue
        if best is None or source.priority > SOURCES[best].priority:
            best = k
    return best


@given(EVENTS)
def test_with_resume_the_rules_are_those_of_twist_mux(events):
    history, expected = timed(events), []
    for k, (_, name, _) in enumerate(history):
        best = twist_mux(history[:k + 1])
        if best is not None and SOURCES[best].name == name:
            expected.append(k)
    assert run(events, resume=True) == expected


def masked_until(source, history, now):
    """Return when `source` was last masked before `now`, looked at in small steps; 0 if never."""
    moments = sorted({0.0, *(0.0625 * k for k in range(int(now / 0.0625) + 1)),
                      *(t for t, _, _ in history)})
    last = 0.0
    for moment in moments:
        # just before the messages of this moment, and after them
        before, after = ([e for e in history if e[0] < moment],
                         [e for e in history if e[0] <= moment])
        for known in (before, after):
            if moment <= now and source.priority < closed(known, moment):
                last = moment
    return last


def has_let_go(source, history):
    """Return whether the last event may pass: zero or silence since anything kept it out."""
    now = history[-1][0]
    free = masked_until(source, history[:-1], now)
    last, gone = free, False
    for k, (t, name, neutral) in enumerate(history):
        if name != source.name or t < free:
            continue
        gone |= t - last > source.timeout
        if neutral:
            gone = True
        else:
            last = t
            if k < len(history) - 1:
                best = twist_mux(history[:k + 1])
                gone &= best is not None and SOURCES[best] is source
    return gone


@given(EVENTS)
def test_a_source_that_was_kept_out_passes_after_zero_or_silence_only(events):
    history, by_name = timed(events), {s.name: s for s in SOURCES}
    passed = set(run(events))
    for k in passed:
        t, name, neutral = history[k]
        assert neutral or has_let_go(by_name[name], history[:k + 1]), history[:k + 1]
    # and it is only ever stricter
    assert passed <= set(run(events, resume=True))


@given(EVENTS, st.floats(0.0, 3.0))
def test_start_silence_and_locks_only_ever_hold_back(events, silence):
    assert set(run(events, start_silence=silence)) <= set(run(events))


def mux(**options):
    """Return a mux whose sources have let go, at 2 s."""
    made = TwistMux(SOURCES, LOCKS[:1], 0.0, **options)
    made.look(2.0)
    return made


def drive(made, name, begin, end, neutral=False):
    """Command every 0.1 s; return whether each passed."""
    return [made.command(name, neutral, begin + 0.1 * k)
            for k in range(round((end - begin) / 0.1))]


def test_nothing_goes_on_by_itself_when_the_e_stop_is_released():
    made = mux()
    assert all(drive(made, 'robot', 2.0, 3.0))
    made.lock('e_stop', True, 3.0)
    assert made.locked(3.0) and made.locks(3.0) == ('e_stop',)
    assert not any(drive(made, 'robot', 3.0, 4.0))
    made.lock('e_stop', False, 4.0)
    assert not any(drive(made, 'robot', 4.0, 8.0)) and made.waiting(8.0) == ('robot',)
    # a zero, and it is followed again
    assert made.command('robot', True, 8.0) and made.command('robot', False, 8.1)


def test_zero_while_it_is_locked_does_not_count():
    made = mux()
    made.lock('e_stop', True, 2.0)
    assert not made.command('robot', True, 2.1)
    made.lock('e_stop', False, 2.2)
    assert not made.command('robot', False, 2.3)


def test_nothing_goes_on_by_itself_when_a_key_is_let_go():
    made = mux()
    drive(made, 'robot', 2.0, 3.0)
    assert made.command('keyboard', False, 3.0) and made.driving(3.0) == 'keyboard'
    assert not any(drive(made, 'robot', 3.05, 3.4))
    # the keyboard is silent, and has timed out
    assert not any(drive(made, 'robot', 3.6, 6.0)) and made.driving(6.0) == ''
    assert any(drive(mux(resume=True), 'robot', 3.6, 6.0))


SLOW = (Input('keyboard', 'a', 0.5, 90), Input('robot', 'c', 2.0, 10))


@pytest.mark.parametrize('spoken', [True, False])
def test_a_slow_source_does_not_go_on_after_a_higher_one_between_two_of_its_commands(spoken):
    made = TwistMux(SLOW, (), 0.0)
    assert made.command('robot', True, 0.0) and made.command('robot', False, 0.1)
    assert made.command('keyboard', True, 0.2)
    if not spoken:
        # whether it moved the robot or not
        assert made.command('keyboard', False, 0.3)
    assert not made.command('robot', False, 1.6) and made.waiting(1.6) == ('robot',)
    assert made.command('robot', True, 1.7) and made.command('robot', False, 1.8)


def test_what_begins_behind_a_higher_source_does_not_go_on_after_it():
    made = TwistMux(SLOW, (), 0.0)
    made.command('robot', True, 0.1)
    made.command('keyboard', True, 0.2)
    assert not made.command('robot', False, 0.5) and not made.command('robot', False, 0.9)
    # with `resume` it does, and nothing waits
    made = TwistMux(SLOW, (), 0.0, resume=True)
    made.command('keyboard', True, 0.2)
    assert not made.command('robot', False, 0.5) and made.waiting(0.5) == ()
    assert made.command('robot', False, 0.9)


def test_a_source_at_rest_may_begin_after_a_higher_one():
    """Its last command was zero, or it has been silent: what comes next is meant."""
    made = TwistMux(SLOW, (), 0.0)
    made.command('robot', True, 0.1)
    made.command('keyboard', True, 0.2)
    assert made.command('robot', False, 0.9)
    made.look(4.0)
    made.command('keyboard', True, 4.0)
    assert made.command('robot', False, 4.6)


def test_a_lock_sends_zeros_for_a_while_to_who_moves():
    made = mux()
    made.command('robot', False, 2.0)
    assert not made.halting(2.0)
    made.lock('e_stop', True, 2.1)
    assert made.halting(2.1) and made.halting(2.1 + 0.9 * HALT) and not made.halting(2.1 + HALT)
    # and no more of them as long as it stays closed
    for k in range(1, 8):
        made.look(2.1 + 0.5 * k * HALT)
    assert not made.halting(2.1 + 3.5 * HALT)
    # where nobody moved there is nothing to stop
    resting = mux()
    resting.command('robot', True, 2.0)
    resting.lock('e_stop', True, 2.1)
    assert not resting.halting(2.1)


def test_a_source_that_is_not_followed_is_not_what_moves():
    made = TwistMux(SOURCES, LOCKS[:1], 0.0, start_silence=10.0)
    assert not made.command('robot', False, 1.0)
    made.lock('e_stop', True, 1.1)
    # nothing has moved, so that there is nothing to stop
    assert not made.halting(1.1)


def test_the_end_of_a_motion_is_not_what_moves():
    made = mux()
    assert made.command('robot', False, 2.0) and made.command('robot', True, 2.1)
    made.lock('e_stop', True, 2.2)
    assert not made.halting(2.2)


def test_a_lock_that_masks_one_source_leaves_the_robot_to_another():
    made = TwistMux(SOURCES, (Lock('pause', 'e', 0.0, 50, 'open'),), 0.0)
    made.look(2.0)
    made.command('robot', False, 2.0)
    made.lock('pause', True, 2.1)
    assert made.halting(2.1) and not made.locked(2.1)
    assert made.command('keyboard', False, 2.15) and not made.halting(2.15)


def test_a_lock_with_a_timeout_is_closed_until_it_is_heard_and_when_it_is_heard_no_more():
    made = TwistMux(SOURCES, LOCKS[1:], 0.0)
    assert made.lock_priority(0.0) == 50
    made.lock('pause', False, 1.0)
    assert made.lock_priority(1.5) == 0 and made.lock_priority(2.0) == 50
    # nobody looked meanwhile: it counts all the same
    made.command('robot', True, 1.5)
    made.lock('pause', False, 2.0)
    assert not made.command('robot', False, 2.1)


def test_silence_after_the_start_counts_when_everybody_can_have_been_discovered():
    made = TwistMux(SOURCES, (), 0.0, start_silence=3.0)
    assert not made.command('robot', False, 2.9)
    made = TwistMux(SOURCES, (), 0.0, start_silence=3.0)
    assert made.command('robot', False, 3.0)
    made = TwistMux(SOURCES, (), 0.0, start_silence=3.0)
    assert made.command('robot', True, 0.1) and made.command('robot', False, 0.2)


def test_at_the_timeout_a_source_counts_and_at_its_priority_a_lock_does_not_mask():
    made = TwistMux((Input('a', 'x', 0.5, 90), Input('b', 'y', 0.5, 50)),
                    (Lock('pause', 'e', 0.0, 50, 'open'),), 0.0, resume=True)
    made.lock('pause', True, 0.0)
    assert made.command('a', False, 1.0)
    assert not made.command('b', False, 1.5) and made.command('b', False, 1.5 + 2**-20)


def test_of_equals_the_first_drives():
    made = mux()
    assert made.command('other', True, 2.0) and made.command('keyboard', False, 2.1)
    assert not made.command('other', True, 2.2)


def test_when_time_goes_back_all_let_go_again_and_what_is_locked_stays_so():
    made = mux()
    made.command('robot', False, 100.0)
    made.lock('e_stop', True, 100.0)
    made.look(5.0)
    assert made.locked(5.0) and made.driving(5.0) == ''
    made.lock('e_stop', False, 5.1)
    assert not made.command('robot', False, 5.2) and made.command('robot', True, 5.3)


@pytest.mark.parametrize('sources, locks, words', [
    ((), (), 'no topics'),
    ((Input('a', 'x', 0.5, 0),), (), 'priority of a = 0'),
    ((Input('a', 'x', 0.5, 256),), (), 'priority of a = 256'),
    ((Input('a', 'x', 0.0, 1),), (), 'never expires'),
    ((Input('a', 'x', float('nan'), 1),), (), 'timeout of a'),
    ((Input('a', 'x', 0.5, 1),), (Lock('l', 'y', -1.0, 1),), 'timeout of l'),
    ((Input('a', 'x', 0.5, 1),), (Lock('l', 'y', 0.0, 1, 'shut'),), "start of l = 'shut'"),
    ((Input('a', 'x', 0.5, 1), Input('b', 'x', 0.5, 2)), (), 'topic x: named more than once'),
    ((Input('a', 'x', 0.5, 1),), (Lock('a', 'y', 0.0, 1),), 'name a: named more than once')])
def test_what_means_nothing_is_refused_with_its_name(sources, locks, words):
    with pytest.raises(ValueError, match=words):
        TwistMux(sources, locks, 0.0)


def test_a_source_moves_only_while_its_enabling_device_is_held():
    sources = [Input('joystick', 'joy', 0.5, 100), Input('plan', 'plan', 0.5, 10)]
    device = Lock('grip', 'grip', 0.3, 255, source='joystick')
    mux = TwistMux(sources, [device], 0.0)
    # other sources are not affected, and there is no lock
    assert mux.command('plan', True, 0.1) and mux.locks(0.1) == () and not mux.locked(0.1)
    assert not mux.command('joystick', True, 0.2)
    assert mux.disabled(0.2) == ('joystick',)
    mux.lock('grip', False, 0.3)
    assert mux.command('joystick', True, 0.31) and mux.command('joystick', False, 0.32)
    assert mux.disabled(0.32) == () and mux.driving(0.32) == 'joystick'
    # released
    mux.lock('grip', True, 0.4)
    assert not mux.command('joystick', False, 0.41) and mux.driving(0.41) == 'plan'
    mux.lock('grip', False, 0.5)
    assert not mux.command('joystick', False, 0.51)
    assert mux.command('joystick', True, 0.52) and mux.command('joystick', False, 0.6)
    # not received in time
    assert not mux.command('joystick', False, 0.81) and mux.disabled(0.81) == ('joystick',)


@pytest.mark.parametrize(('change', 'text'), [
    ({'source': 'nobody'}, "source of grip = 'nobody': must be one of joystick"),
    ({'timeout': 0.0}, 'timeout of grip = 0: an enabling device')])
def test_an_enabling_device_needs_a_source_and_a_timeout(change, text):
    device = Lock('grip', 'grip', 0.3, 255, source='joystick')._replace(**change)
    with pytest.raises(ValueError, match=text):
        TwistMux([Input('joystick', 'joy', 0.5, 100)], [device], 0.0)


def test_when_time_goes_back_a_released_source_must_be_released_again():
    made = mux()
    assert made.command('robot', False, 100.0)
    made.look(5.0)
    assert not made.command('robot', False, 5.1) and made.command('robot', True, 5.2)


def test_a_source_that_falls_silent_is_no_reason_to_send_zeros():
    """The velocity controller stops by its own timeout; zeros of the mux answer locks only."""
    made = mux()
    assert made.command('robot', False, 2.0)
    made.look(3.5)
    assert not made.halting(3.5) and made.driving(3.5) == ''
