# SPDX-License-Identifier: Apache-2.0
"""Times of the joints in a sample, measured from the drive, reported, and taken into account."""

from dataclasses import replace

import numpy as np
import pytest
from miscalibrated import STEERING_STEP, WHEEL_STEP, towed_drive
from robots import C3P

from c3p_description.model import CasterRobot
from c3p_kinematics import joint_times
from c3p_kinematics._age_kernels import DRIFT
from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration.parameters import Prior, parameters_of
from c3p_kinematics.calibration.recording import at_one_instant
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.se2 import compose, inverse

FOUR = CasterRobot.regular(0.35, np.radians([20.0, 100.0, 170.0, 290.0]), 0.045, 0.06, 30.0, 3.0)
FIVE = CasterRobot.regular(0.4, np.radians([0.0, 70.0, 150.0, 220.0, 290.0]), 0.03, 0.05, 30.0,
                           3.0)
ROBOTS = {'c3p': C3P, 'four': FOUR, 'five': FIVE}
RATE = 200.0
FINE = 1000.0


@pytest.fixture(scope='module', params=ROBOTS)
def fine(request):
    """Return a robot, and continuous angles and poses of a drive at a high rate."""
    robot = ROBOTS[request.param]
    return robot, *towed_drive(robot, 5, 40.0, rate=FINE, rounded=False)


def sampled(fine, ages, changing=0.0):
    """
    Return stamps, rounded angles and poses of encoders with `ages` (2n,), s.

    Each age changes from sample to sample, uniformly by up to `changing`. The poses are of the
    mean age: no joint shows an age that all have in common.
    """
    robot, recording, poses = fine
    seen = at_one_instant(recording, -ages)
    time = np.arange(0.05, recording.time[-1], 1.0 / RATE)
    draw = np.random.default_rng(3)
    angles = [np.interp(time - changing * draw.uniform(-0.5, 0.5, len(time)), recording.time, row)
              for row in np.hstack([seen.steering, seen.wheel_angle]).T]
    steering = STEERING_STEP * np.round(np.column_stack(angles[:robot.count]) / STEERING_STEP)
    wheel = WHEEL_STEP * np.floor(np.column_stack(angles[robot.count:]) / WHEEL_STEP)
    there = np.column_stack([np.interp(time - ages.mean(), recording.time, row)
                             for row in poses.T])
    return time, steering, wheel, there


def drawn(robot, seed, largest=0.01):
    return np.random.default_rng(seed).uniform(0.0, largest, 2 * robot.count)


def driven(odometry, samples, rates=None):
    """Return error of the second half, m, and whether there was an alarm."""
    time, steering, wheel, there = samples
    half = len(time) // 2
    alarm = False
    for k in range(len(time)):
        more = () if rates is None else (rates[k, 1], rates[k, 0])
        found = odometry.step(time[k], steering[k], wheel[k], *more)
        alarm = alarm or found.slip.slipping or found.faults.alarm
        if k == half:
            middle = found.pose
    went = compose(inverse(middle), found.pose)
    true = compose(inverse(there[half]), there[-1])
    return float(np.hypot(*compose(inverse(true), went)[:2])), alarm


@pytest.mark.parametrize('seed', range(2))
def test_ages_of_joints_are_measured_within_their_deviation(fine, seed):
    robot = fine[0]
    ages = drawn(robot, seed)
    odometry = Odometry(robot)
    _, alarm = driven(odometry, sampled(fine, ages))
    times = odometry.times
    off = times.age.ravel() - (ages - ages.mean())
    assert np.sqrt(np.mean(off**2)) < 0.8e-3
    assert np.all(np.abs(off) < 2.5 * times.deviation.ravel())
    apart, deviation = times.apart
    assert abs(apart - np.ptp(ages)) < 2.5 * deviation
    assert not alarm


@pytest.mark.parametrize('seed', range(2))
def test_a_drive_with_joints_of_different_ages_ends_as_one_without(fine, seed):
    robot = fine[0]
    samples = sampled(fine, drawn(robot, seed))
    blind = Odometry(robot, OdometrySettings(sample_skew=0.0))
    before, _ = driven(blind, samples)
    after, alarm = driven(Odometry(robot), samples)
    # 8 m: some millimetres
    assert after < max(0.5 * before, 0.004)
    assert not alarm


def test_joints_of_one_instant_are_left_as_they_are(fine):
    robot = fine[0]
    samples = sampled(fine, np.zeros(2 * robot.count))
    odometry = Odometry(robot)
    driven(odometry, samples)
    assert not odometry._state.times.applied.any()
    assert odometry.times.changing < 1e-3
    assert np.sqrt(np.mean(odometry.times.age**2)) < 0.7e-3


def test_times_that_change_are_measured_and_not_taken_for_ages(fine):
    robot = fine[0]
    samples = sampled(fine, np.zeros(2 * robot.count), changing=0.007)
    odometry = Odometry(robot)
    _, alarm = driven(odometry, samples)
    # a uniform distribution over 7 ms
    assert odometry.times.changing == pytest.approx(0.007 / np.sqrt(12.0), rel=0.25)
    assert not odometry._state.times.applied.any()
    assert not alarm


def test_the_monitors_have_the_measured_skew_within_half_and_double_of_that_set(fine):
    robot = fine[0]
    for changing, least, most in ((0.0, 0.5, 0.5), (0.007, 0.7, 1.2), (0.04, 2.0, 2.0)):
        odometry = Odometry(robot)
        assert odometry._state.slip.skew[0] == odometry.settings.sample_skew
        driven(odometry, sampled(fine, np.zeros(2 * robot.count), changing))
        part = odometry._state.slip.skew[0] / odometry.settings.sample_skew
        assert least - 1e-9 <= part <= most + 1e-9
        assert odometry._state.faults.skew[0] == odometry._state.slip.skew[0]


def test_nothing_is_measured_of_drives_that_are_read_at_one_instant(fine):
    robot = fine[0]
    odometry = Odometry(robot, OdometrySettings(stamp_jitter=0.0, sample_skew=0.0))
    driven(odometry, sampled(fine, drawn(robot, 0)))
    assert odometry.times is None
    assert odometry._state.slip.skew[0] == 0.0


def test_lengths_are_not_learned_from_joints_of_different_ages(fine):
    robot = fine[0]
    samples = sampled(fine, drawn(robot, 1))
    errors = []
    for skew in (0.0, 0.0025):
        odometry = CalibratingOdometry(robot, OdometrySettings(sample_skew=skew))
        driven(odometry, samples)
        ratio = odometry.calibration.parameters[:, 0] / robot.wheel_radius
        errors.append(np.abs(ratio / ratio.mean() - 1.0).max())
    # of five wheels each has a small part: a tenth of the prior, 0.3 %, is not told from noise
    assert errors[1] < max(errors[0], 3e-4)


def test_a_calibration_is_as_uncertain_as_unknown_ages_make_it(fine):
    robot = fine[0]
    squares = []
    for seed in range(3):
        odometry = CalibratingOdometry(robot)
        driven(odometry, sampled(fine, drawn(robot, seed)))
        learned = odometry.calibration
        wrong = (learned.parameters - parameters_of(robot)).ravel() / Prior().deviations(robot)
        squares.append(wrong @ np.linalg.solve(learned.spread, wrong) / len(wrong))
    # the description is right: what is learned is noise, and that of the ages would be 0.7
    assert np.mean(squares) < 0.45


def test_a_wrong_description_is_not_taken_for_ages(fine):
    robot = fine[0]
    n = robot.count
    samples = sampled(fine, np.zeros(2 * n))
    wrong = replace(robot, wheel_radius=robot.wheel_radius * np.linspace(0.99, 1.01, n))
    odometry = Odometry(wrong)
    steering = samples[1] + np.radians(0.5) * (-1.0) ** np.arange(n)
    driven(odometry, (samples[0], steering, *samples[2:]))
    assert np.sqrt(np.mean(odometry.times.age**2)) < 1.2e-3


def test_repeats_jitter_and_late_rates_are_reported(fine):
    robot, recording, _ = fine
    n = robot.count
    time, steering, wheel, there = sampled(fine, np.zeros(2 * n))
    rates = np.stack([np.column_stack([np.interp(time - 0.03, recording.time, np.gradient(
        row, recording.time)) for row in angles.T])
        for angles in (recording.steering, recording.wheel_angle)], axis=1)
    draw = np.random.default_rng(1)
    again = draw.uniform(size=len(time)) < 0.05
    again[0] = False
    wheel[again, 1] = wheel[np.flatnonzero(again) - 1, 1]
    stamps = np.sort(time + 0.001 * draw.standard_normal(len(time)))
    odometry = Odometry(robot)
    driven(odometry, (stamps, steering, wheel, there), rates)
    times = odometry.times
    assert times.jitter == pytest.approx(0.001, rel=0.25)
    assert times.lag == pytest.approx(0.03, rel=0.2)
    assert times.repeats[1, 1] == pytest.approx(0.05, abs=0.02)
    assert np.delete(times.repeats.ravel(), n + 1).max() < 0.005
    text = times.text(robot.steering_joints, robot.wheel_joints)
    assert text.startswith('joints are up to ')
    assert f'are repeated, rates are {1e3 * times.lag:.0f} ms late' in text
    assert f'angles of {robot.wheel_joints[1]}' in text


def test_the_calibration_keeps_the_ages_over_a_reset(fine):
    robot = fine[0]
    odometry = CalibratingOdometry(robot)
    driven(odometry, sampled(fine, drawn(robot, 0)))
    known = odometry.times
    odometry.reset()
    np.testing.assert_array_equal(odometry.times.age, known.age)
    assert not odometry._state.times.shift.any()
    plain = Odometry(robot)
    driven(plain, sampled(fine, drawn(robot, 0)))
    plain.reset()
    assert plain.times is None
    assert plain._state.times.skew[0] == plain.settings.sample_skew


def test_other_lengths_are_no_longer_unknown(fine):
    robot = fine[0]
    odometry = Odometry(robot)
    driven(odometry, sampled(fine, drawn(robot, 0)))
    state = odometry._state.times
    before = np.column_stack([robot.wheel_radius, robot.caster_offset, robot.hip_position,
                              np.zeros(robot.count)])
    after = before * [1.002, 0.99, 1.0, 1.0, 1.0]
    right = state.right.copy()
    unknown = state.unknown.copy()
    known = whole(state.information)
    joint_times.follow_lengths(state, before, after)
    n = robot.count
    change = unknown - state.unknown
    np.testing.assert_allclose(change[3 * n:4 * n], 0.1, rtol=1e-9)
    np.testing.assert_allclose(change[4 * n:], -0.2, rtol=1e-9)
    # I' is the inverse of I⁻¹ + D² δ δᵀ, though I alone may have none: (1 + D² I δ δᵀ) I' = I
    grown = np.eye(5 * n) + DRIFT**2 * known @ np.outer(change, change)
    np.testing.assert_allclose(grown @ whole(state.information), known, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(grown @ state.right, right - known @ change, rtol=1e-6, atol=1e-6)


def whole(lower):
    """Return the symmetric matrix of which the lower half is kept."""
    return np.tril(lower) + np.tril(lower, -1).T
