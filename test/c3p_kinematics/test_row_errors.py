# SPDX-License-Identifier: Apache-2.0
"""Errors along and across the wheels, estimated during a drive: weights and covariance."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from robots import C3P, caster_robots

from c3p_kinematics.casters import inverse
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.se2 import integrate

PERIOD = 0.01

# exact stamps and angles; equal weights are those of a robot about which nothing is estimated
LEARNS = OdometrySettings(stamp_jitter=0.0, sample_skew=0.0, wheel_resolution=0.0,
                          steering_resolution=0.0, prior=None)
EQUAL = replace(LEARNS, tyre_creep=0.0, side_slip=0.0)


def drive(robot, seconds=8.0, creep=0.01, seed=0, late=0.0):
    """
    Return times, steering, wheel angles and true end of a line with tyres that creep.

    The creep of each wheel is correlated over a quarter of a second. The wheels of a sample are up
    to `late` [s] old, each by its own time.
    """
    rng = np.random.default_rng(seed)
    n = robot.count
    count = round(seconds / PERIOD)
    times = PERIOD * np.arange(count)
    speed = 0.5 * np.minimum(1.0, np.minimum(times, times[-1] - times) / 0.5)
    steering = np.empty((count, n))
    wheel = np.empty((count, n))
    pose = np.zeros(3)
    # casters that trail a robot driving along +x, nearly
    theta = -0.5 * np.pi + rng.uniform(-0.3, 0.3, n)
    turned = np.zeros(n)
    slip = creep * rng.normal(size=n)
    keep = np.exp(-PERIOD / 0.25)
    for k in range(count):
        steering[k] = theta
        wheel[k] = turned
        twist = np.array([speed[k], 0.0, 0.0])
        middle = theta + 0.5 * PERIOD * inverse(robot, theta, twist)[1]
        rolled, swung, _ = inverse(robot, middle, twist)
        theta = theta + PERIOD * swung
        slip = keep * slip + creep * np.sqrt(1.0 - keep**2) * rng.normal(size=n)
        turned = turned + PERIOD * rolled * (1.0 + slip)
        if k < count - 1:
            pose = integrate(pose, PERIOD * twist)
    if late:
        age = rng.uniform(0.0, late, (count, n))
        wheel = np.column_stack([np.interp(times - age[:, i], times, wheel[:, i])
                                 for i in range(n)])
    return times, steering, wheel, pose


def driven(robot, given, options):
    """Return the odometry after a drive, and its error, x, y and yaw."""
    times, steering, wheel, end = given
    odometry = Odometry(robot, options)
    for sample in zip(times, steering, wheel, strict=True):
        odometry.step(*sample)
    return odometry, odometry.pose - end


def test_creep_of_tyres_costs_less_than_with_equal_weights():
    drives = [drive(C3P, seed=seed) for seed in range(100, 104)]
    errors = {name: np.array([np.hypot(*driven(C3P, one, options)[1][:2]) for one in drives])
              for name, options in (('learns', LEARNS), ('equal', EQUAL))}
    # the rows across are exact here
    assert np.median(errors['learns']) < 0.5 * np.median(errors['equal'])
    assert np.quantile(errors['learns'], 0.9) < 0.5 * np.quantile(errors['equal'], 0.9)


def test_wheels_that_creep_hardly_turn_a_drive_whose_casters_follow():
    # 4 m, no side slip: the steering knows the heading, from the first metre on
    turned = [driven(C3P, drive(C3P, seed=seed), LEARNS)[1][2] for seed in range(100, 112)]
    assert np.sqrt(np.mean(np.square(turned))) < 1e-3


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(caster_robots(min_casters=3), st.integers(0, 2**16))
def test_on_robots_of_any_shape_creep_turns_a_line_less(robot, seed):
    one = drive(robot, seed=seed)
    _, weighted = driven(robot, one, LEARNS)
    _, equal = driven(robot, one, EQUAL)
    # of a single drive either may be better by chance, within a few millimetres per metre
    assert abs(weighted[2]) < abs(equal[2]) + 0.004


@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(caster_robots(), st.integers(0, 2**16))
def test_wheels_that_roll_exactly_keep_their_accuracy(robot, seed):
    one = drive(robot, seed=seed, creep=0.0)
    odometry, error = driven(robot, one, LEARNS)
    # integration by the steering halfway
    assert np.hypot(*error[:2]) < 1e-3
    if robot.count > 2:
        # the prior of 0.01 counts as ten equations, of which 8 s have some hundred
        assert odometry.tyre_errors.creep < 0.006


@pytest.mark.parametrize('creep', [0.005, 0.01, 0.02])
def test_the_creep_is_estimated(creep):
    found = [driven(C3P, drive(C3P, 20.0, creep, seed), LEARNS)[0].tyre_errors.creep
             for seed in range(100, 104)]
    # a mean over the window has 0.86 of the deviation of an instant
    assert np.median(found) == pytest.approx(0.86 * creep, rel=0.3)


def test_joints_of_different_age_do_not_lengthen_the_path():
    # a late wheel makes a short step and then a long one: a weight by the speed of the step, or
    # of those just before, prefers one of them
    errors = [driven(C3P, drive(C3P, seed=seed, creep=0.0, late=0.007),
                     replace(LEARNS, stamp_jitter=0.003, sample_skew=0.003))[1][0]
              for seed in range(100, 104)]
    assert abs(np.mean(errors)) < 0.003


def test_a_wheel_that_slips_teaches_nothing():
    times, steering, wheel, _ = drive(C3P, creep=0.0)
    slips = wheel.copy()
    # spins for a second, much faster than the others
    slips[:, 1] += 10.0 * np.clip(times - 4.0, 0.0, 1.0)
    odometry = Odometry(C3P, LEARNS)
    most = 0.0
    for sample in zip(times, steering, slips, strict=True):
        odometry.step(*sample)
        if sample[0] > 3.9:
            most = max(most, odometry.tyre_errors.creep)
    assert most < 0.01


def test_the_covariance_of_the_pose_contains_the_creep():
    squares = []
    for seed in range(100, 110):
        odometry, error = driven(C3P, drive(C3P, seed=seed), LEARNS)
        covariance = odometry._last.pose_covariance
        squares.append(error @ np.linalg.solve(covariance, error) / 3.0)
    assert 0.1 < np.mean(squares) < 1.5


def test_without_a_prior_the_weights_are_equal():
    odometry, _ = driven(C3P, drive(C3P), EQUAL)
    assert odometry.tyre_errors == (0.0, 0.0)
    assert np.allclose(odometry._state.rows.weight, 1.0, rtol=1e-12)
