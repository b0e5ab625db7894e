# SPDX-License-Identifier: Apache-2.0
"""Encoders, motor cards and the delay of the loop, around the analytic plant."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plant_cases import BRISK
from robots import C3P

from c3p_simulation.plants.plant import AnalyticPlant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

# as far as they can be told apart: nothing but what is named
IDEAL = SensorSettings.ideal()
PARTS = ('steering', 'steering_rate', 'wheel_angle', 'wheel_rate')


def sensed(settings=IDEAL, seed=0, start=BRISK, robot=C3P, **more):
    result = SensedPlant(AnalyticPlant(robot), settings, seed, **more)
    result.reset(**start)
    return result


def waves(k):
    return 0.3 * np.sin(0.03 * k + np.arange(3))


def drive(plant, cycles=200, dt=0.005):
    """Return the newest sample of each cycle of a drive as an array, one row per cycle."""
    return np.array([np.concatenate([*(plant.step(waves(k), dt) or plant.sense())[1:]])
                     for k in range(cycles)])


def test_ideal_sensors_change_nothing():
    plain = AnalyticPlant(C3P)
    plain.reset(**BRISK)
    assert np.array_equal(drive(sensed()), drive(plain))


def test_truth_passes_through_and_stamps_are_true():
    ours = sensed(SensorSettings())
    sample = ours.step([0.1, 0.2, 0.3], 0.005)
    assert sample.time == ours.time == ours.plant.time == pytest.approx(0.005)
    assert np.array_equal(ours.truth().pose, ours.plant.truth().pose)
    assert ours.robot is C3P and ours.sense() is sample


# --- encoders -------------------------------------------------------------------------------

@settings(max_examples=15)
@given(st.integers(100, 100_000), st.integers(100, 100_000), st.integers(0, 1000))
def test_angles_are_whole_counts_next_to_the_true_ones(wheel_counts, steering_counts, seed):
    ours = sensed(SensorSettings(wheel_counts, steering_counts), seed)
    for k in range(20):
        told, true = ours.step(waves(k), 0.005), ours.plant.sense()
        for name, counts, most in (('steering', steering_counts, 0.5),
                                   ('wheel_angle', wheel_counts, 1.0)):
            count = 2 * math.pi / counts
            angle = getattr(told, name)
            # rounding of the quotient, at 1e5 counts a turn
            np.testing.assert_allclose(angle / count, np.round(angle / count), atol=1e-8)
            assert np.abs(angle - getattr(true, name)).max() <= most * count * (1 + 1e-8)


def test_wheel_angles_begin_at_zero_and_steering_where_it_stands():
    sample = sensed(SensorSettings()).sense()
    assert not sample.wheel_angle.any()
    np.testing.assert_allclose(sample.steering, BRISK['steering'], atol=math.pi / 4096)


def test_seeds_shift_the_counts_of_wheels():
    one, other = (drive(sensed(SensorSettings(), seed)) for seed in (1, 2))
    assert not np.array_equal(one, other) and np.abs(one - other).max() < 1.0


def test_rates_have_no_error_at_constant_rate_and_little_noise():
    # straight along +Y with aligned wheels: no rate changes
    ours = sensed(SensorSettings(), start={'steering': 0.0, 'twist': (0, 0.3, 0)})
    rates = np.array([ours.step([0, 0, 0], 0.005).wheel_rate for _ in range(800)])
    error = rates[100:] - 0.3 / 0.04
    # rounding to 2000 counts through 40 Hz: 0.04 rad/s measured, 1.6 mm/s of the contact point
    assert abs(error.mean()) < 0.005 and error.std() < 0.06 and np.abs(error).max() < 0.2


@pytest.mark.parametrize('bandwidth', [20.0, 80.0])
def test_rates_lag_by_what_the_equation_says(bandwidth):
    # fine counts, and a torque that accelerates steadily along +Y from rest
    settings = SensorSettings(10**8, 10**8, latency=0.0, rate_bandwidth=bandwidth)
    ours = sensed(settings, start={})
    for _ in range(200):
        told = ours.step([0.4, 0.4, 0.4], 0.005)
    true = ours.plant.sense()
    accel = true.wheel_rate / true.time
    # 1/(πf) of a continuous loop; sampling at 1 kHz changes it by half a sample
    np.testing.assert_allclose((true.wheel_rate - told.wheel_rate) / accel,
                               1 / (math.pi * bandwidth), atol=6e-4)


def test_rates_do_not_depend_on_the_cycle():
    # readings at 1 kHz whether told 200 or 50 times a second
    fast, slow = sensed(SensorSettings(latency=0.0)), sensed(SensorSettings(latency=0.0))
    for _ in range(40):
        quick = [fast.step([0.2, -0.1, 0.3], 0.005) for _ in range(4)][-1]
        lazy = slow.step([0.2, -0.1, 0.3], 0.020)
    for name in PARTS:
        np.testing.assert_allclose(getattr(quick, name), getattr(lazy, name), atol=1e-9)


def test_noise_is_of_the_size_asked_for_and_of_its_seed():
    settings = SensorSettings(steering_noise=3.0, wheel_noise=2.0, latency=0.0)
    ours = sensed(settings, start={'steering': 0.0, 'twist': (0, 0, 0)})
    told = [ours.step([0, 0, 0], 0.005) for _ in range(1000)]
    for name, counts, size in (('steering', 4096, 3.0), ('wheel_angle', 2000, 2.0)):
        noise = np.array([getattr(s, name) for s in told]) * counts / (2 * math.pi)
        # with the variance 1/12 of the rounding; 3000 draws know a deviation to 1.3 %, 4 sigma
        assert noise.std() == pytest.approx(math.hypot(size, 12**-0.5), rel=0.06)
    assert np.array_equal(drive(sensed(settings, 3)), drive(sensed(settings, 3)))
    assert not np.array_equal(drive(sensed(settings, 3)), drive(sensed(settings, 4)))


def test_a_wrong_zero_of_the_steering_is_told_as_the_model_would_read_it():
    true = replace(C3P, steering_zero=[0.01, -0.02, 0.03])
    ours = sensed(robot=true, model=C3P)
    # the encoder gives the joint position θ_s − zero, of which the model makes θ_s with its own
    np.testing.assert_allclose(ours.sense().steering - ours.plant.sense().steering,
                               [-0.01, 0.02, -0.03], atol=1e-15)


# --- delay ----------------------------------------------------------------------------------

@settings(max_examples=30)
@given(st.floats(0, 0.05), st.sampled_from([0.005, 0.02, 1 / 300]))
def test_torques_reach_the_wheels_after_the_latency(latency, dt):
    ours, cycles = sensed(replace(IDEAL, latency=latency), robot=replace(C3P, torque_limit=5)), 15
    drive(ours, cycles, dt)
    # by hand: torque k from k·dt + latency on, whatever the cycles
    plain = AnalyticPlant(replace(C3P, torque_limit=5))
    plain.reset(**BRISK)
    times = [min(k * dt + latency, cycles * dt) for k in range(cycles)] + [cycles * dt]
    torques = [np.zeros(3), *map(waves, range(cycles))]
    for torque, begin, end in zip(torques, [0.0, *times], times, strict=False):
        if end - begin > 1e-9:
            plain.step(torque, end - begin)
    # other substeps of the integration; and 1 ns of a delay is no delay
    np.testing.assert_allclose(ours.truth().pose, plain.truth().pose, atol=1e-7)
    np.testing.assert_allclose(ours.sense().wheel_rate, plain.sense().wheel_rate, atol=1e-6)


def test_the_torque_told_is_the_one_that_acts():
    ours = sensed(replace(IDEAL, latency=0.010))
    told = [ours.step([0.1 * k] * 3, 0.005).wheel_torque[0] for k in range(5)]
    # sent at 0 arrives at 10 ms, so it acts from the third cycle on
    assert told == pytest.approx([0.0, 0.0, 0.0, 0.1, 0.2])
    assert ours.reset().wheel_torque.tolist() == [0, 0, 0]
    assert not ours.step([0, 0, 0], 0.02).wheel_rate.any()


# --- dropouts -------------------------------------------------------------------------------

def test_a_lost_sample_is_none_and_the_newest_one_stays():
    ours = sensed(SensorSettings(dropout=0.3), seed=1)
    newest, lost = ours.sense(), []
    for k in range(2000):
        sample = ours.step(waves(k), 0.005)
        lost.append(sample is None)
        if sample is not None:
            # a sample is never late: it has the time of the plant
            assert newest.time < sample.time == ours.time
            newest = sample
        assert ours.sense() is newest
    # standard deviation of the mean 0.01; 4 sigma
    assert np.mean(lost) == pytest.approx(0.3, abs=0.041)


def test_noise_and_dropouts_do_not_mix():
    def lost(**more):
        ours = sensed(SensorSettings(dropout=0.2, **more), seed=5)
        return [ours.step(waves(k), 0.005) is None for k in range(100)]

    assert lost() == lost(wheel_noise=5.0)
    # and the motion does not depend on what is told
    quiet, noisy = (sensed(SensorSettings(wheel_noise=n, dropout=n / 10)) for n in (0, 3))
    drive(quiet), drive(noisy)
    assert np.array_equal(quiet.truth().pose, noisy.truth().pose)


def test_new_properties_leave_the_streams_of_phases_noise_and_dropouts():
    # recorded figures depend on them: the first three of the seed, in this order
    phase, noise, dropout = map(np.random.default_rng, np.random.SeedSequence(5).spawn(3))
    settings = SensorSettings(wheel_counts=100, wheel_noise=1.0, dropout=0.2, latency=0.0)
    ours = sensed(settings, seed=5, start={'steering': 0.0, 'twist': (0, 0, 0)})
    start = phase.uniform(size=3)
    # one draw at the start, and five readings in a cycle
    noise.standard_normal((1, 6))
    for _ in range(50):
        drawn = noise.standard_normal((5, 6))[-1]
        sample = ours.step([0, 0, 0], 0.005)
        assert (sample is None) == (dropout.uniform() < 0.2)
        if sample is not None:
            counts = sample.wheel_angle * 100 / (2 * math.pi)
            np.testing.assert_allclose(counts, np.floor(start + drawn[3:]), atol=1e-9)


def test_reset_begins_again_with_the_same_draws():
    ours = sensed(SensorSettings(wheel_noise=1.0, dropout=0.1), seed=2)
    first = drive(ours)
    ours.reset(**BRISK)
    assert np.array_equal(first, drive(ours))


# --- input ----------------------------------------------------------------------------------

@pytest.mark.parametrize('wrong', [
    {'sample_rate': 0.0}, {'sample_rate': math.inf}, {'wheel_noise': 1.0, 'wheel_counts': 0}])
def test_settings_that_cannot_be_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SensorSettings(**wrong)


@pytest.mark.parametrize(('call', 'text'), [
    (lambda p: p.step([0, np.nan, 0], 0.01), 'wheel_joint_2'),
    (lambda p: p.step([0, 0], 0.01), 'wheel_torque'), (lambda p: p.step([0, 0, 0], -1), 'dt'),
    (lambda p: p.push((1, np.nan), 0, 1), 'moment')])
def test_wrong_input_is_refused_and_changes_nothing(call, text):
    ours = sensed(SensorSettings())
    with pytest.raises(ValueError, match=text):
        call(ours)
    assert ours.time == 0.0 and not ours.step([0, 0, 0], 0.005).wheel_torque.any()
