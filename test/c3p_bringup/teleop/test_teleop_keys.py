# SPDX-License-Identifier: Apache-2.0
"""Bytes to keys, keys to twists: whatever is typed, what is not held does not move."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_bringup.teleop.keys import (
    BURST,
    HOLD,
    MOVES,
    QUIT,
    SCALES,
    TAP,
    UNKNOWN,
    ZEROS,
    KeyDrive,
    KeyReader,
    direction,
)

LIMITS = (0.8, 2.0)
# times that are sums of these are exact
STEP = 2.0**-5


def drive(**options):
    return KeyDrive(0.2, 0.5, *LIMITS, **options)


def hold(made, key, begin, end):
    """Press `key` and repeat it as a terminal does; return the time of the last one."""
    made.keys([key], begin)
    now = begin + 0.45
    while now < end:
        made.keys([key], now)
        now += STEP
    return now - STEP


# --- bytes ---

@pytest.mark.parametrize('data, keys', [
    (b'i', ['i']), (b'ie r', ['i', 'e', UNKNOWN, 'r']), (b'\x1b[A\x1b[B', ['up', 'down']),
    (b'\x1bOC\x1bOD', ['right', 'left']), (b'\x1b[1;5A', ['up']), (b'\x1b[15~', [UNKNOWN]),
    (b'\x1b\x1b[A', [UNKNOWN, 'up']), (b'\x03\x04', list(QUIT)), ('ä'.encode(), [UNKNOWN] * 2)])
def test_keys_of_bytes(data, keys):
    assert KeyReader().read(data) == keys


@given(st.binary(max_size=60), st.lists(st.integers(1, 7)))
def test_keys_do_not_depend_on_where_the_bytes_are_cut(data, cuts):
    reader, pieces, rest = KeyReader(), [], data
    for cut in cuts:
        pieces += reader.read(rest[:cut])
        rest = rest[cut:]
    assert pieces + reader.read(rest) == KeyReader().read(data)


@given(st.binary(max_size=60))
def test_whatever_is_typed_gives_known_keys(data):
    reader = KeyReader()
    keys = reader.read(data) + reader.flush()
    assert set(keys) <= {*MOVES, *SCALES, *QUIT, 'e', 'r', UNKNOWN}
    assert bool(keys) == bool(data) and reader.flush() == []


def test_an_escape_alone_is_a_key_once_nothing_follows():
    reader = KeyReader()
    assert reader.read(b'\x1b') == [] and reader.flush() == [UNKNOWN]
    assert reader.read(b'[') == [UNKNOWN]


def test_a_sequence_without_an_end_does_not_swallow_what_follows():
    reader = KeyReader()
    assert len(reader.read(b'\x1b[' + b'1' * 40)) > 20


@pytest.mark.parametrize('key', MOVES)
def test_every_key_has_the_same_speed_in_its_direction(key):
    x, y, turn = direction(key)
    assert math.hypot(x, y) == pytest.approx(1.0) or (x == y == 0.0 and turn)
    assert abs(turn) in (0.0, 1.0)


# --- time ---

def test_a_key_that_was_pressed_once_counts_for_its_time_and_then_zeros_and_silence():
    made = drive()
    assert made.twist(0.0) is None
    made.keys(['i'], 0.0)
    assert made.twist(0.0).tolist() == [0.2, 0.0, 0.0]
    assert made.twist(TAP - STEP)[0] == 0.2
    # looked at for the first time when it is over: the zeros last all the same
    assert not made.twist(TAP).any() and not made.twist(TAP + ZEROS - STEP).any()
    assert made.twist(TAP + ZEROS) is None and made.stops == 1


def test_a_held_key_counts_until_it_is_not_repeated():
    made = drive()
    last = hold(made, 'left', 0.0, 2.0)
    assert made.twist(last + HOLD - STEP).tolist() == [0.0, 0.2, 0.0]
    assert not made.twist(last + HOLD).any()


def test_every_key_that_is_none_stops():
    for key in (UNKNOWN, 'e', 'r', *QUIT):
        made = drive()
        made.keys(['i', key], 0.0)
        assert not made.twist(0.0).any(), key


def test_keys_of_a_line_that_hung_are_old():
    made = drive()
    made.keys(['i'] * (BURST + 1), 0.0)
    assert made.twist(0.0) is None
    # while a key is held they come together now and then
    made.keys(['i'], 1.0)
    made.keys(['i'] * (BURST + 1), 1.25)
    assert made.twist(1.25)[0] == 0.2


def test_a_key_held_while_the_robot_is_released_does_not_count_until_it_was_let_go():
    made = drive()
    hold(made, 'i', 0.0, 1.0)
    made.lock(True, 1.0)
    assert not made.twist(1.0).any()
    for now in np.arange(1.0, 3.0, STEP):
        made.lock(now < 2.0, now)
        made.keys(['i'], now)
        twist = made.twist(now)
        assert twist is None or not twist.any(), now
    assert made.waits(3.0)
    made.keys(['i'], 3.0 + TAP)
    assert made.twist(3.0 + TAP)[0] == 0.2


def test_the_keyboard_holds_the_e_stop_until_it_releases_it():
    made = drive()
    made.keys(['i'], 0.0)
    assert made.keys(['e'], 0.1) and made.holds and not made.twist(0.1).any()
    # as long as it is pressed zeros are sent, also without anybody who confirms it
    assert not made.twist(9.0).any()
    made.keys(['i'], 9.0)
    assert not made.twist(9.0).any()
    assert made.keys(['r'], 10.0) and not made.holds


def test_speeds_stay_within_the_limits_of_the_robot():
    made = drive()
    made.keys(['q'] * 100, 0.0)
    assert (made.speed, made.yaw_rate) == LIMITS
    made.limit(0.3, 0.4)
    assert (made.speed, made.yaw_rate) == (0.3, 0.4)
    made.keys(['w', 'x', 'x'], 0.0)
    assert made.speed < 0.3 and made.yaw_rate == 0.4
    made.keys(['z'] * 200, 0.0)
    assert made.speed > 0.0 and made.yaw_rate > 0.0


EVENTS = st.lists(st.tuples(
    st.sampled_from([0.0, STEP, 3 * STEP, 0.25, 0.5, 1.0]),
    st.one_of(st.lists(st.sampled_from([*MOVES, *SCALES, 'e', 'r', UNKNOWN]), max_size=5),
              st.booleans())), max_size=40)


@given(EVENTS)
def test_whatever_is_typed_only_a_key_of_just_now_moves(events):
    made, now, pressed, locked, since = drive(), 0.0, -9.0, False, -9.0
    for gap, event in events:
        now += gap
        if isinstance(event, bool):
            locked = event
            made.lock(event, now)
        else:
            made.keys(event, now)
            moves = [key for key in event if key in MOVES]
            pressed = now if moves else pressed
            # what came after the last key of motion was a stop
            if set(event) - {*MOVES, *SCALES} and (not moves or UNKNOWN == event[-1]):
                since = now
        twist = made.twist(now)
        moving = twist is not None and twist.any()
        if moving:
            assert now - pressed < TAP and not locked and not made.holds
            assert since < pressed or since == pressed == now
            assert math.hypot(twist[0], twist[1]) <= LIMITS[0] * (1 + 1e-12)
            assert abs(twist[2]) <= LIMITS[1] * (1 + 1e-12)
    # and nothing moves without keys
    assert made.twist(now + TAP) is None or not made.twist(now + TAP).any()
