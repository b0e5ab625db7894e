# SPDX-License-Identifier: Apache-2.0
"""Angles from counts across both ends of the range, and rates from angles."""

import math
import struct

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.signal import cont2discrete, dlsim

from c3p_hardware.canopen.process_data import DriveUnits
from c3p_hardware.joint_angles import AbsoluteAngle, RateTracker, WheelAngle
from c3p_hardware.settings import EncoderSettings
from c3p_simulation.plants import _sensor_kernels

CARD = DriveUnits(rated_torque=0.11, gear_ratio=14.0, efficiency=0.8, counts=2000)
UNITS = st.builds(DriveUnits, st.floats(1e-3, 50), st.floats(0.5, 200), st.floats(0.2, 1),
                  st.integers(1, 1 << 20), st.sampled_from([1, -1]))


class Axis(AbsoluteAngle):
    """An angle with the settings of its encoder."""

    def __init__(self, settings):
        super().__init__(settings)
        self.counts, self.range = settings.counts, settings.range
        self.direction, self.zero = settings.direction, settings.zero


def axis_of(counts, whole, direction=1, zero=0):
    """Return the axis of an encoder with `counts` per turn that wraps after `whole`."""
    return Axis(EncoderSettings(11, 'axis', counts, whole, direction, zero))


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
    return (axis_of(counts, whole, direction, zero),
            np.cumsum([begin, *steps], dtype=np.int64))


def close(angle, expected):
    """Equal but for the rounding of one product, relative and at zero."""
    return angle == pytest.approx(expected, rel=1e-14, abs=1e-14)


@given(walks())
def test_the_angle_follows_the_axis_over_both_ends_of_the_range(case):
    axis, positions = case
    for position in positions.tolist():
        raw = position % axis.range
        expected = axis.direction * 2 * math.pi * (position - axis.zero) / axis.counts
        assert close(axis.step(raw), expected)
        assert close(axis.angle, expected)


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
def test_the_first_angle_is_nearest_to_the_zero(case):
    axis, positions = case
    half = math.pi * axis.range / axis.counts
    # a count more: the zero may be between two counts
    assert abs(axis.step(int(positions[0] % axis.range))) <= half + 2 * math.pi / axis.counts


@pytest.mark.parametrize('direction', [1, -1])
def test_ten_turns_there_and_fifteen_back(direction):
    axis = axis_of(4096, 4096, direction, 100)
    for position in range(100, 100 + 10 * 4096 + 1, 128):
        axis.step(position % 4096)
    assert close(axis.angle, direction * 20 * math.pi)
    for position in range(100 + 10 * 4096, 100 - 5 * 4096 - 1, -128):
        axis.step(position % 4096)
    assert close(axis.angle, -direction * 10 * math.pi)


def test_an_encoder_of_many_turns_keeps_them_over_a_restart():
    assert close(axis_of(4096, 4096 * 4096).step(3 * 4096), 6 * math.pi)
    assert close(axis_of(4096, 4096 * 4096).step(4096 * 4096 - 4096), -2 * math.pi)


@pytest.mark.parametrize('raw', [-1, 4096, 1 << 31, float('nan')])
def test_a_position_outside_the_range_is_refused_and_changes_nothing(raw):
    axis = axis_of(4096, 4096)
    axis.step(7)
    for call in (axis.step, axis.difference):
        with pytest.raises(ValueError, match='must be 0 to 4095; the encoder has other counts'):
            call(raw)
    assert close(axis.angle, 2 * math.pi * 7 / 4096)


def test_the_whole_u32_can_be_a_range():
    axis = axis_of(1 << 16, 1 << 32)
    assert [axis.step(raw) > 0 for raw in (1, (1 << 32) - 1, 0, 2)] == [True, False, False, True]


def wrapped(position):
    """Return what a signed 32-bit object holds of a position."""
    return struct.unpack('<i', struct.pack('<I', position & 0xFFFFFFFF))[0]


@given(UNITS, st.integers(-(1 << 31), (1 << 31) - 1),
       st.lists(st.integers(-(1 << 31), (1 << 31) - 1), max_size=20))
def test_the_wheel_angle_follows_over_both_ends_of_32_bits(units, begin, steps):
    wheel, position = WheelAngle(units), begin
    wheel.step(wrapped(position))
    for step in steps:
        position += step
        assert wheel.difference(wrapped(position)) == step
        assert wheel.step(wrapped(position)) == units.angle(position) == wheel.angle


def test_a_drive_that_starts_again_does_not_move_the_wheel():
    wheel = WheelAngle(CARD)
    wheel.step(-10)
    before = wheel.step(5000)
    assert wheel.resume(3) == before
    assert wheel.step(28003) == pytest.approx(before + 2 * math.pi, rel=1e-14)
    # a second time, and over the end of 32 bits
    assert wheel.resume((1 << 31) - 1) == wheel.angle
    assert wheel.step(-(1 << 31)) == CARD.angle(5000 + 28000 + 1)


def test_the_first_position_of_a_drive_is_its_angle():
    assert WheelAngle(CARD).resume(28000) == pytest.approx(2 * math.pi, rel=1e-14)


# rates

BANDWIDTH = 40.0


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=60), st.floats(1e-4, 0.1))
def test_rates_are_those_of_the_simulated_cards(angles, dt):
    tracker = RateTracker(BANDWIDTH, 1)
    z = math.exp(-2 * math.pi * BANDWIDTH * dt)
    # quantum so fine that the kernel tells the angle itself
    fine, half = np.array([1e-12]), np.array([0.5])
    rate = np.zeros(1)
    loops = _sensor_kernels.EncoderLoops(fine, np.array([angles[0]]), rate, np.array([angles[0]]))
    tracker.step([angles[0]], dt)
    for angle in angles[1:]:
        _sensor_kernels.read_encoders(np.array([angle]), np.zeros(1), half, dt, z, tuple(loops))
        # a quantum, a few roundings of 100 rad, over dt
        assert tracker.step([angle], dt) == pytest.approx(rate, rel=1e-9, abs=1e-10 / dt)


def test_it_answers_as_the_continuous_loop_of_two_equal_poles():
    """Oracle: s ω²/(s + ω)², which the loop is when cycles are short."""
    dt, w = 1e-5, 2 * math.pi * BANDWIDTH
    t = np.arange(2000) * dt
    angle = np.sin(60 * t) * np.exp(-20 * t)
    tracker = RateTracker(BANDWIDTH, 1)
    rates = np.array([tracker.step([a], dt)[0] for a in angle])
    system = cont2discrete(([w * w, 0], [1, 2 * w, w * w]), dt, method='bilinear')
    _, peer = dlsim((system[0].ravel(), system[1], dt), angle)
    # a cycle of delay between the two: relative w·dt = 0.25 % of the greatest rate
    assert np.abs(rates - peer.ravel()).max() < 0.003 * np.abs(rates).max()


def test_a_constant_rate_has_no_error_even_when_cycles_are_uneven():
    rate = np.array([3.0, -20.0, 0.0, 1e-3, 7.0, 0.1])
    tracker, t = RateTracker(BANDWIDTH, 6), 0.0
    rng = np.random.default_rng(3)
    for dt in rng.uniform(0.001, 0.02, 200):
        t += dt
        tracked_rate = tracker.step(5.0 + rate * t, dt)
    assert tracked_rate == pytest.approx(rate, rel=1e-9, abs=1e-9)


def test_the_lag_is_that_of_the_equation():
    tracker, dt, accel = RateTracker(BANDWIDTH, 1), 1e-4, 2.0
    for k in range(3000):
        tracked_rate = tracker.step([0.5 * accel * (k * dt) ** 2], dt)
    # 1/(π f) of the continuous loop; cycles add at most one
    assert accel * (k * dt) - tracked_rate[0] == pytest.approx(accel / (math.pi * BANDWIDTH),
                                                       abs=accel * dt)


def test_after_a_long_pause_the_rate_is_the_mean_of_the_pause():
    tracker = RateTracker(BANDWIDTH, 1)
    tracker.step([0.0], None)
    for k in range(1, 100):
        tracker.step([0.05 * k], 0.005)
    assert tracker.rate[0] == pytest.approx(10.0)
    # e^(-2π 40 · 1) is nothing
    assert tracker.step([0.05 * 99 + 0.7], 1.0)[0] == pytest.approx(0.7, rel=1e-12)


def test_counts_at_rest_give_a_rate_that_is_small_and_a_start_gives_none():
    tracker = RateTracker(BANDWIDTH, 2)
    assert tracker.step([12.0, -3.0], None).tolist() == [0.0, 0.0]
    assert tracker.step([12.0, -3.0], 0.005).tolist() == [0.0, 0.0]


def test_rates_that_were_given_do_not_change_later():
    tracker = RateTracker(BANDWIDTH, 1)
    tracker.step([0.0], None)
    first = tracker.step([1.0], 0.005)
    kept = first.copy()
    tracker.step([2.0], 0.005)
    assert first.tolist() == kept.tolist()


@pytest.mark.parametrize('angle, dt, words', [
    ([0.0], 0.005, 'shape'), ([0.0, 0.0], 0.0, 'dt = 0'), ([0.0, 0.0], -1.0, 'dt = -1'),
    ([0.0, 0.0], math.nan, 'dt = nan'), ([0.0, 0.0], None, 'dt = None')])
def test_a_step_that_cannot_be_is_refused(angle, dt, words):
    tracker = RateTracker(BANDWIDTH, 2)
    tracker.step([0.0, 0.0], None)
    with pytest.raises(ValueError, match=words):
        tracker.step(angle, dt)


@pytest.mark.parametrize('bandwidth', [0.0, -1.0, math.nan, math.inf])
def test_a_bandwidth_that_cannot_be_is_refused(bandwidth):
    with pytest.raises(ValueError, match='bandwidth'):
        RateTracker(bandwidth, 1)
