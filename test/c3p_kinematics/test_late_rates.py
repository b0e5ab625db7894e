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
    square, expected, without = [], [], []
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


def test_rates_without_a_lag_stay_as_they_are():
    odometry, error, _ = driven(C3P, lambda rates: rates, 1, replace(SYNCHRONOUS, rate_lag=0.0))
    assert not odometry._state.channels.lag.any()
    measured, again, _ = driven(C3P, lambda rates: rates, 1)
    assert np.abs(measured._state.channels.lag).max() < 0.004
    assert np.sqrt((again**2).mean()) < 1.3 * np.sqrt((error**2).mean()) + 1e-3
