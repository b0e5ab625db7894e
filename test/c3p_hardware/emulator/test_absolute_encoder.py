# SPDX-License-Identifier: Apache-2.0
"""The emulated encoder: what it tells is where the shaft stands, whatever its parameters."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from c3p_hardware.emulator.absolute_encoder import REVERSED, SCALED, AbsoluteEncoder, EncoderCard

angles = st.floats(-100.0, 100.0)
encoders = st.builds(
    lambda counts, zero, direction, parameters: (
        AbsoluteEncoder(EncoderCard(counts, 1, zero, direction)), parameters),
    st.sampled_from([360, 4096, 65536]), st.integers(0, 5000), st.sampled_from([1, -1]),
    st.sampled_from([0, REVERSED, SCALED, SCALED | REVERSED]))


@given(encoders, angles)
def test_the_position_is_the_angle_in_counts(made, angle):
    encoder, encoder.parameters = made
    encoder.sense(0.0)
    zero = encoder.position
    encoder.sense(angle)
    counts = encoder.card.counts
    assert 0 <= encoder.position < counts
    sign = encoder.card.direction * (-1 if encoder.parameters & REVERSED else 1)
    told = sign * (encoder.position - zero) / counts * 2 * math.pi
    # half a count, and the rounding of 100 rad
    assert abs(math.remainder(told - angle, 2 * math.pi)) <= math.pi / counts * (1 + 1e-6) + 1e-12


@given(encoders, angles, st.integers(0, 359))
def test_a_preset_is_what_it_tells_from_now_on(made, angle, value):
    encoder, encoder.parameters = made
    encoder.sense(angle)
    before = encoder.position
    encoder.preset(value)
    assert encoder.position == value
    assert (before + encoder.offset) % encoder.card.counts == value
    with pytest.raises(ValueError, match='must be 0 to'):
        encoder.preset(encoder.card.counts)


def test_scaling_changes_resolution_and_range():
    encoder = AbsoluteEncoder(EncoderCard(counts=4096, turns=16))
    encoder.steps, encoder.range = 360, 720
    encoder.sense(2 * math.pi * 2.25)
    assert encoder.position == 90
    encoder.parameters = 0
    assert encoder.position == 2 * 4096 + 1024


def test_a_stuck_encoder_stays_and_a_jump_shifts_it():
    encoder = AbsoluteEncoder(EncoderCard())
    encoder.stuck = True
    encoder.sense(1.0)
    assert encoder.position == 0
    encoder.stuck, encoder.jump = False, 512
    encoder.sense(0.0)
    assert encoder.position == 512


@pytest.mark.parametrize('name, value', [('counts', 0), ('turns', 1.5), ('direction', 0)])
def test_cards_that_cannot_be_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        EncoderCard(**{name: value})
