# SPDX-License-Identifier: Apache-2.0
"""Driving by hand: a robot moves only while a page repeats the command of one touch."""

import math

import numpy as np
import pytest

from c3p_viewers.dashboard.hand_drive import (
    FASTEST,
    FASTEST_TURN,
    HOLD,
    KNOWN_ENDED,
    ZEROS,
    HandDrive,
)
from c3p_viewers.dashboard.refusal import Refusal


def move(press='a', vx=0.1, vy=0.0, omega=0.0):
    return {'press': press, 'vx': vx, 'vy': vy, 'omega': omega}


def test_a_touch_moves_while_it_is_repeated_then_zeros_then_silence():
    hand = HandDrive()
    assert hand.twist(0.0) is None
    assert hand.move(move(), 0.0) and not hand.move(move(omega=0.3), 0.2)
    np.testing.assert_array_equal(hand.twist(0.2 + HOLD - 0.01), [0.1, 0.0, 0.3])
    np.testing.assert_array_equal(hand.twist(0.2 + HOLD), np.zeros(3))
    np.testing.assert_array_equal(hand.twist(0.2 + HOLD + ZEROS - 0.01), np.zeros(3))
    assert hand.twist(0.2 + HOLD + ZEROS) is None


def test_a_touch_that_was_interrupted_does_not_begin_again():
    hand = HandDrive()
    hand.move(move(), 0.0)
    with pytest.raises(Refusal, match='let go, and press again'):
        hand.move(move(), HOLD)
    assert not hand.press and not np.any(hand.twist(HOLD))
    # the touches of many other pages meanwhile do not make it unknown
    for number in range(KNOWN_ENDED - 1):
        hand.end(1.0, f'other {number}')
    with pytest.raises(Refusal):
        hand.move(move(), 2.0)
    assert hand.move(move('a2'), 2.0)


def test_the_end_of_a_touch_that_arrives_before_its_first_command_counts():
    hand = HandDrive()
    assert not hand.end(0.0, 'a')
    with pytest.raises(Refusal):
        hand.move(move(), 0.01)
    assert hand.twist(0.02) is None


def test_one_page_drives_at_a_time_and_another_cannot_end_it():
    hand = HandDrive()
    hand.move(move(), 0.0)
    with pytest.raises(Refusal, match='another page'):
        hand.move(move('b'), 0.1)
    assert not hand.end(0.1, 'b') and hand.press == 'a'
    assert hand.end(0.1) and not np.any(hand.twist(0.1))


@pytest.mark.parametrize('body', [
    {}, move(vx=None), move(vx='x'), move(press=''), move(press=3), move(press='a' * 61),
    move(vx=math.nan), move(omega=math.inf), move(vx=FASTEST, vy=FASTEST),
    move(omega=1.1 * FASTEST_TURN), move(vx=1e400)])
def test_what_is_no_command_is_refused_and_moves_nothing(body):
    hand = HandDrive()
    with pytest.raises(Refusal):
        hand.move(body, 0.0)
    assert not hand.press and hand.twist(0.0) is None
