# SPDX-License-Identifier: Apache-2.0
"""Absolute encoders: angles across both ends of the range, zeros, directions, alarms."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from c3p_hardware.canopen.cia406 import (
    AbsoluteAngle,
    EncoderObject,
    OperatingParameters,
    alarm_texts,
    warning_texts,
)

COUNTS = st.sampled_from([1, 2, 7, 360, 4096, 65536, (1 << 20) - 3])


@st.composite
def walks(draw):
    """An encoder, and positions of which none is half a range or more from the next."""
    counts = draw(COUNTS)
    whole = counts * draw(st.sampled_from([1, 2, 16, 4096]))
    assume(whole >= 4)
    most = (whole - 1) // 2
    steps = draw(st.lists(st.integers(-most, most) | st.sampled_from([-most, most]), min_size=1,
                          max_size=30))
    direction = draw(st.sampled_from([1, -1]))
    zero = draw(st.floats(0, whole))
    begin = math.floor(zero) + draw(st.integers(-(whole // 2), whole - whole // 2 - 1))
    return (AbsoluteAngle(counts, whole, direction, zero),
            np.cumsum([begin, *steps], dtype=np.int64))


def close(angle, expected):
    """Equal but for the rounding of one product, relative and at zero."""
    return angle == pytest.approx(expected, rel=1e-14, abs=1e-14)


@given(walks())
def test_the_angle_follows_the_axis_over_both_ends_of_the_range(case):
    axis, positions = case
    for position in positions.tolist():
        raw = position % axis.range
        expected = axis.direction * 2 * math.pi * (position - axis.zero_counts) / axis.counts
        assert close(axis.step(raw), expected)
        assert close(axis.angle, expected) and axis.raw == raw


@given(walks())
def test_it_unwraps_as_numpy_does(case):
    axis, positions = case
    raws = positions % axis.range
    angles = np.array([axis.step(int(raw)) for raw in raws])
    unwrapped = np.unwrap(raws.astype(float), period=axis.range)
    moved = axis.direction * (angles - angles[0]) * axis.counts / (2 * math.pi)
    # numpy and we may count differently only by the rounding of 30 steps of 2³² counts
    assert np.allclose(moved, unwrapped - unwrapped[0], rtol=1e-12, atol=1e-3)


@given(walks())
def test_the_difference_is_the_way_that_the_next_step_goes_and_changes_nothing(case):
    axis, positions = case
    assert axis.difference(int(positions[0] % axis.range)) == 0
    for before, position in zip([positions[0], *positions], positions, strict=False):
        axis.step(int(before % axis.range))
        angle = axis.angle
        assert axis.difference(int(position % axis.range)) == position - before
        assert axis.angle == angle


@given(walks())
def test_the_first_angle_is_nearest_to_the_zero_and_reset_makes_it_first_again(case):
    axis, positions = case
    half = math.pi * axis.range / axis.counts
    for position in positions:
        axis.reset()
        assert axis.angle == 0 and axis.raw is None
        # a count more: the zero may lie between two counts
        assert abs(axis.step(int(position % axis.range))) <= half + 2 * math.pi / axis.counts


@pytest.mark.parametrize('direction', [1, -1])
def test_ten_turns_there_and_fifteen_back(direction):
    axis = AbsoluteAngle(4096, 4096, direction, zero_counts=100)
    for position in range(100, 100 + 10 * 4096 + 1, 128):
        axis.step(position % 4096)
    assert close(axis.angle, direction * 20 * math.pi) and axis.turns == direction * 10
    for position in range(100 + 10 * 4096, 100 - 5 * 4096 - 1, -128):
        axis.step(position % 4096)
    assert close(axis.angle, -direction * 10 * math.pi) and axis.turns == -direction * 5


def test_turns_are_whole_ones_towards_the_zero():
    axis = AbsoluteAngle(100, 1000)
    assert [(axis.step(raw), axis.turns)[1] for raw in (0, 99, 199, 299, 199, 0, 901, 899)] == [
        0, 0, 1, 2, 1, 0, 0, -1]


def test_an_encoder_of_many_turns_keeps_them_over_a_restart():
    axis = AbsoluteAngle(4096, 4096 * 4096)
    assert close(axis.step(3 * 4096), 6 * math.pi)
    axis.reset()
    assert close(axis.step(4096 * 4096 - 4096), -2 * math.pi)


@pytest.mark.parametrize('raw', [-1, 4096, 1 << 31, float('nan')])
def test_a_position_outside_the_range_is_refused_and_changes_nothing(raw):
    axis = AbsoluteAngle(4096, 4096)
    axis.step(7)
    for call in (axis.step, axis.difference):
        with pytest.raises(ValueError, match='must be 0 to 4095; the encoder counts otherwise'):
            call(raw)
    assert axis.raw == 7 and close(axis.angle, 2 * math.pi * 7 / 4096)


@pytest.mark.parametrize('given_, words', [
    (dict(counts=0, range=1), 'counts = 0'), (dict(counts=1.5, range=3), 'counts = 1.5'),
    (dict(counts=math.nan, range=1), 'counts = nan'), (dict(counts=8, range=4), 'range = 4'),
    (dict(counts=8, range=20), 'range = 20: must be a whole number of turns'),
    (dict(counts=8, range=1 << 33), 'range'), (dict(counts=8, range=8, direction=0), 'direction'),
    (dict(counts=8, range=8, zero_counts=math.inf), 'zero_counts = inf')])
def test_an_encoder_that_cannot_be_is_refused(given_, words):
    with pytest.raises(ValueError, match=words):
        AbsoluteAngle(**given_)


def test_the_whole_u32_can_be_a_range():
    axis = AbsoluteAngle(1 << 16, 1 << 32)
    assert [axis.step(raw) > 0 for raw in (1, (1 << 32) - 1, 0, 2)] == [True, False, False, True]


def test_alarms_and_warnings_have_words():
    assert alarm_texts(0) == warning_texts(0) == []
    assert len(alarm_texts(0xFFFF)) == len(warning_texts(0xFFFF)) == 16
    assert [t.split(':')[0] for t in alarm_texts(0x0003)] == ['position error',
                                                              'commissioning diagnostic failed']
    assert 'frequency' in warning_texts(1)[0] and 'battery' in warning_texts(1 << 4)[0]
    assert warning_texts(0x8040) == ['reserved warning (bit 6)',
                                     "manufacturer's warning (bit 15)"]


def test_objects_and_bits_have_the_numbers_of_the_profile():
    numbers = {'OPERATING_PARAMETERS': 0x6000, 'COUNTS_PER_TURN': 0x6001, 'TOTAL_RANGE': 0x6002,
               'PRESET': 0x6003, 'POSITION': 0x6004, 'ALARMS': 0x6503, 'WARNINGS': 0x6505,
               'SERIAL_NUMBER': 0x650B}
    assert {o.name: o.value for o in EncoderObject if o.name in numbers} == numbers
    assert [p.value for p in OperatingParameters] == [1, 2, 4, 8]
    assert OperatingParameters(0b101) == (OperatingParameters.COUNTER_CLOCKWISE
                                          | OperatingParameters.SCALING)
