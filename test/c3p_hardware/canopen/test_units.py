# SPDX-License-Identifier: Apache-2.0
"""Permille and counts at the wheel, and rates from angles."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import cont2discrete, dlsim

from c3p_hardware.canopen.units import DriveUnits, RateTracker, WheelAngle
from c3p_simulation.plants import _sensor_kernels

# of the emulated cards
CARD = DriveUnits(rated_torque=0.11, gear_ratio=14.0, efficiency=0.8, counts=2000)
UNITS = st.builds(DriveUnits, st.floats(1e-3, 50), st.floats(0.5, 200), st.floats(0.2, 1),
                  st.integers(1, 1 << 20), st.sampled_from([1, -1]))


def test_the_numbers_of_the_emulated_cards():
    assert CARD.torque(1000) == pytest.approx(1.232, rel=1e-14)
    assert CARD.counts_per_wheel_turn == 28000
    assert CARD.angle(28000) == pytest.approx(2 * math.pi, rel=1e-14)
    assert CARD.torque_resolution == pytest.approx(1.232e-3, rel=1e-14)
    assert CARD.angle_resolution == pytest.approx(2 * math.pi / 28000, rel=1e-14)
    assert CARD.max_permille(1.2) == 974


@given(UNITS, st.integers(-1000, 1000))
def test_a_torque_of_whole_permille_comes_back(units, permille):
    assert units.permille(units.torque(permille)) == permille


@given(UNITS, st.floats(-1, 1), st.integers(0, 3000))
def test_a_torque_is_rounded_towards_zero_and_clipped(units, share, most):
    torque = 1.5 * share * units.torque_resolution * max(most, 1)
    permille = units.permille(torque, most)
    given_ = units.torque(permille)
    assert isinstance(permille, int) and abs(permille) <= most
    # never more than asked but for the rounding of a permille, and never the other way
    assert abs(given_) <= abs(torque) + 1e-5 * units.torque_resolution and given_ * torque >= 0
    if abs(permille) < most:
        assert abs(torque) - abs(given_) < units.torque_resolution


@given(UNITS, st.floats(0, 1e4))
def test_the_limit_is_the_most_that_does_not_exceed_it(units, limit):
    most = units.max_permille(limit)
    # a millionth of a permille is rounding
    assert abs(units.torque(most)) <= limit + 2e-6 * units.torque_resolution
    assert most == 32767 or abs(units.torque(most + 1)) > limit
    assert abs(units.permille(math.copysign(limit, -1), most)) <= most


def test_even_a_huge_torque_is_clipped():
    assert CARD.permille(1e300) == 1000 and CARD.permille(-1e300, 250) == -250
    assert CARD.max_permille(math.inf) == 32767


@pytest.mark.parametrize('torque', [math.nan, math.inf, -math.inf])
def test_a_torque_that_is_not_finite_is_refused(torque):
    with pytest.raises(ValueError, match='wheel torque = '):
        CARD.permille(torque)


@pytest.mark.parametrize('limit', [-1.0, math.nan])
def test_a_limit_that_cannot_be_is_refused(limit):
    with pytest.raises(ValueError, match='torque limit'):
        CARD.max_permille(limit)


@pytest.mark.parametrize('name, value', [
    ('rated_torque', 0.0), ('rated_torque', math.inf), ('gear_ratio', -14.0),
    ('efficiency', 0.0), ('efficiency', 1.1), ('efficiency', math.nan), ('counts', 0),
    ('counts', 0.5), ('counts', math.nan), ('direction', 2)])
def test_units_that_cannot_be_are_refused(name, value):
    given_ = dict(rated_torque=0.11, gear_ratio=14.0, efficiency=0.8, counts=2000, direction=1)
    with pytest.raises(ValueError, match=f'{name} = '):
        DriveUnits(**given_ | {name: value})


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
    wheel.reset()
    assert wheel.angle == 0 and wheel.step(7) == CARD.angle(7)


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
    told, rate, tracked = np.array([angles[0]]), np.zeros(1), np.array([angles[0]])
    tracker.step([angles[0]], dt)
    for angle in angles[1:]:
        _sensor_kernels.read_encoders(np.array([angle]), np.zeros(1), fine, half, dt, z, told,
                                      rate, tracked)
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
        told = tracker.step(5.0 + rate * t, dt)
    assert told == pytest.approx(rate, rel=1e-9, abs=1e-9)


def test_the_lag_is_that_of_the_equation():
    tracker, dt, accel = RateTracker(BANDWIDTH, 1), 1e-4, 2.0
    for k in range(3000):
        told = tracker.step([0.5 * accel * (k * dt) ** 2], dt)
    # 1/(π f) of the continuous loop; cycles add at most one
    assert accel * (k * dt) - told[0] == pytest.approx(accel / (math.pi * BANDWIDTH),
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
    tracker.reset()
    assert tracker.step([0.0, 0.0], 0.005).tolist() == [0.0, 0.0]


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
