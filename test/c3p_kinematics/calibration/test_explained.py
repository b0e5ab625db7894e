# SPDX-License-Identifier: Apache-2.0
"""Recordings that no lengths explain are refused, with the wiring error that explains them."""

import numpy as np
import pytest
from miscalibrated import measured, towed_drive, wrong
from robots import C3P

from c3p_description.model import CasterRobot
from c3p_kinematics.calibration.batch import calibrate
from c3p_kinematics.calibration.explained import explained_calibration
from c3p_kinematics.calibration.parameters import CalibrationSettings, Prior, gauge
from c3p_kinematics.calibration.recording import UnexplainedError
from c3p_kinematics.calibration.wiring import corrected, likely_wirings, usual_wirings

# casters that a reflection does not map onto each other: each wiring error is another motion
IRREGULAR = CasterRobot.regular(0.35, np.radians([20.0, 100.0, 170.0, 290.0]), 0.045, 0.06, 30.0,
                                3.0)
ROBOTS = {'c3p': C3P, 'four': IRREGULAR,
          'two': CasterRobot.regular(0.3, [0.2, 2.9], 0.04, 0.05, 30.0, 3.0)}


@pytest.fixture(scope='module', params=ROBOTS)
def case(request):
    """Return a robot, a wrong description of it, and a recording by encoders with its errors."""
    robot = ROBOTS[request.param]
    recording, _ = towed_drive(robot, 2, 25.0, rate=100.0)
    described, errors = wrong(robot, 7)
    return robot, described, measured(recording, errors)


def slipping(recording, deviation, seed):
    """Return a recording whose wheels slip by another part of their path each half second."""
    rng = np.random.default_rng(seed)
    turned = np.diff(recording.wheel_angle, axis=0)
    part = (recording.time[:-1] / 0.5).astype(int)
    slip = rng.normal(0.0, deviation, (part.max() + 1, turned.shape[1]))
    wheel = np.cumsum(turned * (1.0 + slip[part]), axis=0)
    return recording._replace(wheel_angle=np.vstack([np.zeros((1, wheel.shape[1])), wheel]))


def test_a_drive_that_is_wired_right_is_explained(case):
    _, described, recording = case
    assert explained_calibration(described, [recording]).rms_after < 1.0
    assert not likely_wirings(described, [recording], CalibrationSettings())


def test_each_wiring_error_is_refused_and_named(case):
    _, described, recording = case
    unnamed = []
    for wiring in usual_wirings(described.count):
        # exchanged or reversed twice is right again: the correction is the error
        with pytest.raises(UnexplainedError, match='do not explain these drives') as error:
            explained_calibration(described, [corrected(wiring, recording)])
        if wiring.text() not in f'{error.value}':
            unnamed.append(wiring.text())
    # two casters have one redundant equation: an exchange may look like slip
    assert len(unnamed) <= (1 if described.count == 2 else 0), unnamed


@pytest.mark.parametrize('channel', ['steering', 'wheel_angle'])
def test_a_dead_encoder_is_refused(case, channel):
    _, described, recording = case
    dead = getattr(recording, channel).copy()
    dead[:, 0] = dead[0, 0]
    with pytest.raises(UnexplainedError, match='check'):
        explained_calibration(described, [recording._replace(**{channel: dead})])


def test_a_gear_ratio_that_is_wrong_by_a_tenth_is_refused_with_the_wheel(case):
    _, described, recording = case
    wheel = recording.wheel_angle * np.where(np.arange(described.count) == 1, 1.1, 1.0)
    with pytest.raises(UnexplainedError, match='radius of caster [12] is .* gear ratios'):
        explained_calibration(described, [recording._replace(wheel_angle=wheel)])


def test_another_robot_is_refused():
    recording, _ = towed_drive(C3P, 2, 25.0, rate=100.0)
    other = CasterRobot.regular(0.2, np.radians([90.0, 210.0, 330.0]), 0.05, 0.05, 30.0, 3.0)
    with pytest.raises(UnexplainedError, match='the robot is that of the drives'):
        explained_calibration(other, [recording])


@pytest.mark.parametrize('deviation', [0.005, 0.05])
def test_slip_of_all_wheels_leaves_the_scale_and_widens_the_intervals(case, deviation):
    robot, _, _ = case
    recording, _ = towed_drive(robot, 2, 25.0, rate=100.0)
    squares = []
    for seed in range(4):
        found = calibrate(robot, [slipping(recording, deviation, seed)])
        scale = float((found.parameters[:, 0] / robot.wheel_radius).mean() - 1.0)
        # without an outside reference the scale is that of the description
        assert abs(scale) < 3e-3 * max(1.0, deviation / 0.05)
        assert found.noise >= max(1.0, found.rms_after)
        change = found.change.ravel()
        squares.append(change @ np.linalg.solve(found.covariance, change) / change.size)
    # mean square of the errors in units of their deviations
    assert np.mean(squares) < 2.0


def test_the_prior_alone_determines_the_scale_of_slipping_wheels():
    recording, _ = towed_drive(C3P, 2, 25.0, rate=100.0)
    found = calibrate(C3P, [slipping(recording, 0.05, 1)])
    deviation = Prior().deviations(C3P)
    information = np.linalg.inv(found.covariance / np.outer(deviation, deviation))
    scale = gauge(found.parameters)[:, 0] / deviation
    scale /= np.linalg.norm(scale)
    assert scale @ information @ scale == pytest.approx(1.0, abs=0.02)


def radius_interval(found):
    """Return the error of the mean radius, relative, and half of its 95 % interval."""
    n = found.described.count
    row = np.zeros((n, 5))
    row[:, 0] = 1.0 / found.described.wheel_radius / n
    error = row.ravel() @ found.change.ravel()
    return error, 1.96 * np.sqrt(row.ravel() @ found.covariance @ row.ravel())


WIDE = CalibrationSettings(Prior(radius=0.05, offset=0.1, hip=0.02, zero=np.radians(3.0)))


@pytest.mark.parametrize(('slip', 'settings'), [
    ('each wheel', None), ('to one side', WIDE), ('common', None), ('common', WIDE)],
    ids=['each wheel', 'to one side, wide prior', 'common', 'common, wide prior'])
def test_the_mean_radius_is_within_its_interval_when_wheels_slip_by_a_twentieth(
        case, slip, settings):
    robot, _, _ = case
    recording, _ = towed_drive(robot, 4, 25.0, rate=100.0)
    for seed in range(2):
        turned = np.diff(recording.wheel_angle, axis=0)
        part = np.random.default_rng(seed).normal(0.0, 0.05, (50, robot.count))
        part = {'each wheel': part, 'to one side': np.abs(part),
                'common': np.full_like(part, 0.05)}[slip]
        wheel = np.cumsum(turned * (1.0 + part[(recording.time[:-1] / 0.5).astype(int)]), axis=0)
        found = calibrate(robot, [recording._replace(wheel_angle=np.vstack(
            [np.zeros((1, robot.count)), wheel]))], settings=settings)
        error, half = radius_interval(found)
        assert abs(error) < half
        # the interval of the prior, of radii with offsets and hips: residuals do not narrow it
        prior = (settings or CalibrationSettings()).prior.radius
        assert half > 0.5 * 1.96 * prior / np.sqrt(robot.count)
