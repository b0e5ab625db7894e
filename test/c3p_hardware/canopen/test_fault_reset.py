# SPDX-License-Identifier: Apache-2.0
"""Resets of a drive's fault: one edge for each request, and only for a request."""

import itertools

import pytest
from obeying_drive import FAULT, REACTION, SOD, UNKNOWN, slave, words_of

from c3p_hardware.canopen.cia402 import FaultReset, Target, controlword


def test_a_reset_makes_one_edge_and_ends_with_the_fault():
    reset = FaultReset()
    assert reset.step(FAULT) is None
    assert words_of(reset, [FAULT, FAULT, FAULT, SOD, SOD]) == [0x00, 0x80, 0x80, None, None]
    assert not reset.active


def test_a_reset_waits_for_the_reaction_to_end():
    reset = FaultReset()
    assert words_of(reset, [REACTION, REACTION, FAULT, SOD]) == [0x00, 0x00, 0x80, None]


def test_a_fault_that_cannot_be_reset_is_given_up():
    reset = FaultReset(cycles=4)
    assert words_of(reset, [FAULT] * 6) == [0x00, 0x80, 0x80, 0x80, None, None]
    assert not reset.active
    # and may be requested again
    assert words_of(reset, [FAULT, FAULT, SOD]) == [0x00, 0x80, None]


def test_a_new_fault_needs_a_new_request():
    reset = FaultReset()
    assert words_of(reset, [FAULT, FAULT, REACTION, FAULT, FAULT]) == [0, 0x80, None, None, None]


def test_a_request_during_a_request_changes_nothing_and_can_be_cancelled():
    reset = FaultReset()
    reset.request()
    assert reset.step(FAULT) == 0x00
    reset.request()
    assert reset.step(FAULT) == 0x80
    reset.cancel()
    assert reset.step(FAULT) is None and not reset.active


def test_without_a_fault_there_is_nothing_to_reset():
    reset = FaultReset()
    assert words_of(reset, [SOD]) == [None]
    # an unknown state is no success
    assert words_of(reset, [UNKNOWN]) == [None]


def test_too_few_cycles_are_refused():
    with pytest.raises(ValueError, match='cycles = 1'):
        FaultReset(cycles=1)


def test_whatever_the_drive_does_a_request_makes_at_most_one_edge_and_ends():
    states = [FAULT, REACTION, SOD, UNKNOWN]
    for story in itertools.product(states, repeat=7):
        reset = FaultReset(cycles=5)
        words = words_of(reset, story)
        assert set(words) <= {None, 0x00, 0x80}
        levels = [0x00, *((w or 0) for w in words)]
        edges = sum(b and not a for a, b in zip(levels, levels[1:], strict=False))
        assert edges == (0x80 in words) and not reset.active
        # low before high, in a word that was really sent
        assert 0x80 not in words or 0x00 in words[:words.index(0x80)]


def test_a_reset_brings_a_drive_out_of_its_fault_though_a_frame_is_lost():
    for lost in range(4):
        reset, state, before = FaultReset(), FAULT, 0x00
        reset.request()
        for cycle in range(6):
            word = reset.step(state)
            word = controlword(state, Target.DISABLED) if word is None else word
            if cycle != lost:
                state, before = slave(state, word, before, stays=False), word
        assert state is SOD
