# SPDX-License-Identifier: Apache-2.0
"""The twist by rates that lag behind the angles: its lag is measured, and it says how well."""

from dataclasses import replace

import numpy as np
import pytest
from gyro_drives import C3P, roll, twists

from c3p_experiments.robots.random_robots import random_robot
from c3p_kinematics.odometry import Odometry, OdometrySettings

PERIOD = 0.005
SYNCHRONOUS = OdometrySettings(stamp_jitter=0.0, sample_skew=0.0, prior=None)
ROBOTS = {'c3p': C3P, **{f'random {k}': random_robot(900 + k) for k in range(3)}}


def filtered(rates, lag):
    """Return the rates (k, n) behind a filter of first order."""
    out = rates.copy()
    for k in range(1, len(out)):
        middle = 0.5 * (rates[k] + rates[k - 1])
        out[k] = out[k - 1] - np.expm1(-PERIOD / lag) * (middle - out[k - 1])
    return out


def delayed(rates, lag):
    """Return the rates (k, n) of `lag` seconds before."""
    steps = round(lag / PERIOD)
    return np.concatenate([np.repeat(rates[:1], steps, axis=0), rates[:len(rates) - steps]])


def driven(robot, late, seed, settings=SYNCHRONOUS):
    """Return the odometry, and errors and covariances of its twist over a drive."""
    time, true = twists(12.0, seed, stand=0.5)
    drive = roll(robot, time, true, parts=1)
    wheel_rate = late(drive.wheel_rate)
    steering_rate = late(drive.steering_rate)
    odometry = Odometry(robot, settings)
    found = [odometry.step(time[k], drive.steering[k], drive.wheel[k], wheel_rate[k],
                           steering_rate[k]) for k in range(len(time))]
    return (odometry, np.array([e.twist for e in found]) - drive.twist,
            np.array([e.twist_covariance for e in found]))


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize(('kind', 'lag'), [(filtered, 0.06), (filtered, 0.02), (delayed, 0.03)])
def test_the_lag_of_the_rates_is_measured(name, kind, lag):
    odometry, _, _ = driven(ROBOTS[name], lambda rates: kind(rates, lag), 0)
    channels = odometry._state.channels
    assert np.all(np.abs(channels.lag - lag) < 0.02 * lag + 3.0 * channels.lag_deviation)
    assert np.all(channels.lag_deviation < 0.002)


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize(('kind', 'lag'), [(filtered, 0.06), (delayed, 0.03)])
def test_the_twist_is_not_late_and_states_its_error(name, kind, lag):
    robot = ROBOTS[name]
    square = []
    expected = []
    without = []
    for seed in range(4):
        _, error, covariance = driven(robot, lambda rates: kind(rates, lag), seed)
        late = driven(robot, lambda rates: kind(rates, lag), seed,
                      replace(SYNCHRONOUS, rate_lag=0.0))[1]
        square.append(np.einsum('ki,ki->k', error, np.linalg.solve(covariance, error[..., None])[
            ..., 0]).mean() / 3)
        expected.append((error**2).mean())
        without.append((late**2).mean())
    # of casters that swing round, the rates change faster than their change is known
    assert np.mean(expected) < np.mean(without) / 3.0
    assert np.mean(square) < 2.0


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('settings', [SYNCHRONOUS, OdometrySettings(wheel_resolution=0.003)])
def test_rates_that_do_not_lag_are_taken_to_the_last_bit(name, settings):
    robot = ROBOTS[name]
    measured, error, _ = driven(robot, lambda rates: rates, 1, settings)
    without, exact, _ = driven(robot, lambda rates: rates, 1, replace(settings, rate_lag=0.0))
    assert measured.rate_lag.lag == without.rate_lag.lag == 0.0
    # that it is zero is known, within a tenth of a millisecond or two
    assert measured.rate_lag.known and measured.rate_lag.deviation < 2e-4
    np.testing.assert_array_equal(error, exact)


@pytest.mark.parametrize('name', ROBOTS)
def test_noise_is_not_taken_for_a_lag(name):
    random = np.random.default_rng(7)

    def noisy(rates):
        return rates + random.normal(0.0, 0.1, rates.shape)

    odometry, _, _ = driven(ROBOTS[name], noisy, 2)
    lag = odometry.rate_lag
    assert lag.lag <= 3.0 * lag.deviation < 0.005


def test_a_lag_is_not_applied_before_it_shows():
    time, true = twists(4.0, 0, stand=0.5)
    drive = roll(C3P, time, true, parts=1)
    rates = [filtered(rate, 0.06) for rate in (drive.wheel_rate, drive.steering_rate)]
    odometry = Odometry(C3P, SYNCHRONOUS)
    usual = Odometry(C3P, replace(SYNCHRONOUS, rate_lag=0.0))
    before = 0
    for k in range(len(time)):
        sample = (time[k], drive.steering[k], drive.wheel[k], rates[0][k], rates[1][k])
        one, other = odometry.step(*sample), usual.step(*sample)
        if odometry.rate_lag.lag == 0.0:
            np.testing.assert_array_equal(one.twist, other.twist)
            before += 1
    # it stands for 100 samples, and the lag shows within half a second of motion
    assert 100 < before < 200
    lag = odometry.rate_lag
    assert abs(lag.lag - 0.06) < 0.002 + 3.0 * lag.deviation


@pytest.mark.parametrize('missing', [1, 100])
@pytest.mark.parametrize('begin', [900, 1200, 1500])
def test_rates_that_were_missing_have_not_changed_at_once(begin, missing):
    """The first rate after them would else be carried on by their whole change."""
    time, true = twists(12.0, 1, stand=0.5)
    drive = roll(C3P, time, true, parts=1)
    rates = np.array([filtered(rate, 0.06) for rate in (drive.wheel_rate, drive.steering_rate)])
    gone = rates.copy()
    gone[:, begin:begin + missing] = np.nan
    after = slice(begin + missing, begin + missing + 30)
    error = []
    for wheel_rate, steering_rate in (rates, gone):
        odometry = Odometry(C3P, SYNCHRONOUS)
        twist = np.array([odometry.step(time[k], drive.steering[k], drive.wheel[k], wheel_rate[k],
                                        steering_rate[k]).twist for k in range(after.stop)])
        error.append(np.abs(twist - drive.twist[:after.stop])[after].max())
    # the change is low-passed over 20 ms, in which the twist is as late as the rates
    assert error[1] < error[0] + 0.15


def test_a_lag_stays_known_at_standstill():
    time, true = twists(8.0, 0, stand=0.5)
    drive = roll(C3P, time, true, parts=1)
    rates = [filtered(rate, 0.06) for rate in (drive.wheel_rate, drive.steering_rate)]
    odometry = Odometry(C3P, SYNCHRONOUS)
    for k in range(len(time)):
        odometry.step(time[k], drive.steering[k], drive.wheel[k], rates[0][k], rates[1][k])
    found = []
    # the window has faded after 2 s; the memory of the lag is one minute of motion
    for k in range(12_000):
        odometry.step(time[-1] + PERIOD * (k + 1), drive.steering[-1], drive.wheel[-1],
                      np.zeros(3), np.zeros(3))
        if k in (400, 11_999):
            found.append(odometry.rate_lag)
    assert found[0].lag > 0.05 and found[0].known
    assert found[1][:3] == found[0][:3]
    assert found[1].change == pytest.approx(0.0, abs=1e-9)
