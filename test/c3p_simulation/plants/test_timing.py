# SPDX-License-Identifier: Apache-2.0
"""Ages of joints, repeated values, late rates, stamps, batches: what samples state, and when."""

import math
from dataclasses import replace

import numpy as np
import pytest
from robots import C3P

from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings, arrivals, drive_rate
from c3p_simulation.plants.timing import SampleTiming

IDEAL = SensorSettings.ideal()
FREE = replace(C3P, friction=replace(C3P.friction, **dict.fromkeys(
    ('pivot_viscous', 'pivot_coulomb', 'rolling_viscous', 'rolling_coulomb', 'scrub_coulomb'),
    0.0)))
ALONG = {'steering': 0.0, 'twist': (0.0, 0.5, 0.0)}
STILL = np.zeros(3)
# wheel rate of that motion, rad/s
RATE = 0.5 / 0.04


def timed(seed=0, start=ALONG, base=IDEAL, robot=FREE, **timing):
    plant = SensedPlant(AnalyticPlant(robot), replace(base, timing=SampleTiming(**timing)), seed)
    plant.reset(**start)
    return plant


def ages(plant, cycles=2000):
    """Return the age of each wheel in each sample, s, of wheels that turn at a constant rate."""
    return np.array([plant.time - plant.step(STILL, 0.005).wheel_angle / RATE
                     for _ in range(cycles)]) + 0.005


def test_joints_are_read_at_phases_and_periods_of_their_own():
    age = ages(timed(controller_period=0.007, controller_spread=0.2))[10:]
    # up to a period, of 5.6 to 8.4 ms, and a reading of 1 kHz; uniform: period/√12
    assert age.min() > -1e-9 and 0.0055 < age.max() < 0.0095
    np.testing.assert_allclose(age.std(0), 0.007 / math.sqrt(12.0), rtol=0.3)
    # no two wheels are of the same age, and their ages pass each other
    assert (np.abs(np.diff(age, axis=1)).max(0) > 0.003).all()
    # each value is one that the wheel has had: nothing is predicted
    steps = np.diff(age, axis=0)
    assert (steps <= 0.005 + 1e-9).all()


def test_steering_and_wheels_have_controllers_of_their_own():
    start = {'steering': [0.1, 0.2, 0.3], 'twist': (0.3, 0.0, 0.4)}
    plant = timed(start=start, controller_period=0.02)
    lag = []
    for _ in range(200):
        told = plant.step(STILL, 0.005)
        true = plant.plant.sense()
        lag.append(np.concatenate([true.steering - told.steering,
                                   true.wheel_angle - told.wheel_angle]))
    assert (np.abs(lag).max(0) > 1e-4).all()


def test_one_joint_repeats_its_value_and_then_steps_twice():
    plant = timed(repeat_ratio=0.2)
    angle = np.array([plant.step(STILL, 0.005).wheel_angle for _ in range(3000)])
    steps = np.diff(angle, axis=0) / (0.005 * RATE)
    same = np.abs(steps) < 1e-9
    # 9000 draws know a ratio of 0.2 to 0.0042, 4 sigma
    assert same.mean() == pytest.approx(0.2, abs=0.017)
    single = ~same[1:] & same[:-1] & ~np.roll(same, 1, axis=0)[:-1]
    np.testing.assert_allclose(steps[1:][single & (np.arange(len(single)) > 0)[:, None]], 2.0,
                               rtol=1e-6)
    # of one joint, not of the whole sample
    assert same.all(1).mean() < 0.02


def test_rates_are_late_by_the_time_constant_of_their_filter():
    plant = timed(start={}, rate_lag=0.07)
    for _ in range(200):
        told = plant.step([0.4, 0.4, 0.4], 0.005)
    true = plant.plant.sense()
    # a ramp passes a filter of first order late by its time constant, less half a reading
    accel = true.wheel_rate / true.time
    np.testing.assert_allclose((true.wheel_rate - told.wheel_rate) / accel, 0.07, atol=6e-4)
    assert np.array_equal(told.wheel_angle, true.wheel_angle)


def test_stamps_jitter_with_long_tails_and_always_increase():
    plant = timed(stamp_jitter=0.002, stamp_tail=0.012)
    stamps, true = [], []
    for _ in range(6000):
        sample = plant.step(STILL, 0.010)
        stamps.append(sample.time)
        true.append(plant.time)
        assert plant.truth().time == plant.time
    off = np.subtract(stamps, true)
    assert off.std() == pytest.approx(0.002, rel=0.06) and np.abs(off).max() <= 0.012 + 1e-9
    # more than a normal distribution has: 6 sigma of 6000
    assert np.abs(off).max() > 0.008 and abs(off.mean()) < 1.1e-4
    steps = np.diff(stamps)
    assert steps.min() >= 2e-4 - 1e-12 and steps.min() < 2e-3 and steps.max() > 0.016


def test_angles_are_of_the_true_time_whatever_the_stamp_says():
    jittered, exact = timed(stamp_jitter=0.004), timed()
    for _ in range(50):
        one, other = jittered.step(STILL, 0.005), exact.step(STILL, 0.005)
        assert np.array_equal(one.wheel_angle, other.wheel_angle)
        assert one.time != other.time


@pytest.mark.parametrize('drift', [-0.24, 0.24])
def test_a_clock_runs_slow_or_fast(drift):
    plant = timed(clock_drift=drift)
    for _ in range(400):
        sample = plant.step(STILL, 0.005)
    assert plant.time == pytest.approx(2.0)
    assert sample.time == pytest.approx(2.0 * (1.0 + drift))
    assert plant.truth().pose[1] == pytest.approx(1.0)


@pytest.mark.parametrize('step', [1.0, -1.0])
def test_a_clock_is_set_once(step):
    plant = timed(clock_step=step, clock_step_time=1.0, stamp_jitter=1e-4)
    off = np.array([plant.step(STILL, 0.005).time - plant.time for _ in range(400)])
    np.testing.assert_allclose(off, np.where(np.arange(400) >= 199, step, 0.0), atol=3e-3)


def test_samples_arrive_in_batches_each_with_its_own_stamp_and_truth():
    plant = timed(batch=(1, 7))
    sizes, seen = [], []
    for _ in range(3000):
        sample = plant.step(STILL, 0.005)
        batch = arrivals(plant, sample)
        assert (sample is None) == (not batch)
        if not batch:
            continue
        sizes.append(len(batch))
        assert batch[-1].sample is sample is plant.sense() and sample.time == plant.time
        seen += batch
    assert set(sizes) == set(range(1, 8)) and np.mean(sizes) == pytest.approx(4.0, abs=0.4)
    # none is missing, and each truth is that of the time of its sample
    np.testing.assert_allclose(np.diff([one.sample.time for one in seen]), 0.005, atol=1e-9)
    for one in seen:
        assert one.truth.time == one.sample.time
        assert one.truth.pose[1] == pytest.approx(0.5 * one.sample.time)
        np.testing.assert_allclose(one.sample.wheel_angle * 0.04, one.truth.pose[1], atol=1e-9)


def test_a_lost_sample_is_missing_in_its_batch():
    plant = timed(base=replace(IDEAL, dropout=0.3), batch=(3, 3))
    batches = [b for b in (arrivals(plant, plant.step(STILL, 0.005)) for _ in range(600)) if b]
    assert {len(batch) for batch in batches} == {3}
    assert len(batches) == pytest.approx(0.7 * 200, abs=20)


def test_robots_that_state_no_rates_have_them_in_their_drives():
    plant = SensedPlant(AnalyticPlant(FREE), replace(SensorSettings(), rates=False))
    plant.reset(**ALONG)
    for _ in range(100):
        sample = plant.step(STILL, 0.005)
    assert np.isnan(sample.wheel_rate).all() and np.isnan(sample.steering_rate).all()
    assert np.isfinite(sample.wheel_angle).all()
    np.testing.assert_allclose(drive_rate(plant, sample), RATE, atol=0.2)


def test_each_property_of_the_timing_has_its_own_random_numbers():
    alone = timed(seed=3, stamp_jitter=0.002)
    both = timed(seed=3, stamp_jitter=0.002, controller_period=0.007, repeat_ratio=0.1)
    stamps = [(alone.step(STILL, 0.005).time, both.step(STILL, 0.005).time) for _ in range(50)]
    # true times that are sums of readings or of cycles
    assert all(one == pytest.approx(other, abs=1e-12) for one, other in stamps)
    assert timed(seed=4, stamp_jitter=0.002).step(STILL, 0.005).time != stamps[0][0]


@pytest.mark.parametrize(('timing', 'exact'), [
    ({}, True), ({'batch': (1, 7)}, True), ({'rate_lag': 0.06}, True),
    ({'controller_period': 0.01}, False), ({'repeat_ratio': 0.1}, False),
    ({'stamp_jitter': 1e-3}, False), ({'clock_drift': 0.1}, False), ({'clock_step': 1.0}, False)])
def test_timing_states_whether_samples_are_of_the_instant_of_their_stamp(timing, exact):
    assert SampleTiming(**timing).synchronous == exact


@pytest.mark.parametrize(('wrong', 'text'), [
    ({'controller_period': -1.0}, 'controller_period'), ({'rate_lag': math.inf}, 'rate_lag'),
    ({'controller_spread': 1.0}, 'controller_spread'), ({'repeat_ratio': 1.0}, 'repeat_ratio'),
    ({'stamp_jitter': math.nan}, 'stamp_jitter'), ({'stamp_tail': -1.0}, 'stamp_tail'),
    ({'batch': (0, 3)}, 'batch'), ({'batch': (3, 2)}, 'batch'), ({'batch': (1.5, 2)}, 'batch'),
    ({'batch': (3,)}, 'batch'), ({'clock_drift': -1.0}, 'clock_drift'),
    ({'clock_step': math.nan}, 'clock_step'), ({'clock_step_time': -1.0}, 'clock_step_time')])
def test_settings_out_of_range_are_refused_by_name(wrong, text):
    with pytest.raises(ValueError, match=text):
        SampleTiming(**wrong)
