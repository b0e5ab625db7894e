# SPDX-License-Identifier: Apache-2.0
"""Calibration from recorded drives, on robots towed by positions alone with rounded encoders."""

import numpy as np
import pytest
from miscalibrated import measured, towed_drive, wrong
from robots import C3P

from c3p_description.model import CasterRobot
from c3p_kinematics.calibration.batch import calibrate
from c3p_kinematics.calibration.parameters import (
    CalibrationSettings,
    Prior,
    gauge,
    parameters_of,
    without_gauge,
)
from c3p_kinematics.calibration.recording import CalibrationError, JointRecording, cut
from c3p_kinematics.calibration.references import Displacement, MeasuredDistance, chain

# rolling without slip: the error budget of contacts is smaller than on a floor
ROLLING = CalibrationSettings(creep=2e-4)
UNITS = Prior().deviations(C3P)


@pytest.fixture(scope='module')
def tow():
    return towed_drive(C3P)


def missing(found, errors, robot=C3P):
    """Return estimate less truth without the gauge, in units of the prior."""
    units = Prior().deviations(robot)
    return without_gauge(parameters_of(robot), (found.change - errors).ravel(), units) / units


@pytest.mark.parametrize('seed', range(5))
def test_ratios_of_radii_and_differences_of_zeros_are_recovered(tow, seed):
    described, errors = wrong(C3P, seed)
    found = calibrate(described, [measured(tow[0], errors)], settings=ROLLING)
    ratio = found.parameters[:, 0] / C3P.wheel_radius
    assert np.abs(ratio / ratio.mean() - 1).max() < 2e-4
    zeros = found.parameters[:, 4] - errors[:, 4]
    assert np.abs(zeros - zeros.mean()).max() < np.radians(0.02)
    assert found.rms_after < 1.3 < 3.0 < found.rms_before


def test_errors_are_within_their_covariance(tow):
    squares = []
    for seed in range(12):
        described, errors = wrong(C3P, 100 + seed)
        found = calibrate(described, [measured(tow[0], errors)],
                          settings=CalibrationSettings(creep=1e-5))
        miss = (found.change - errors).ravel()
        squares.append(miss @ np.linalg.solve(found.covariance, miss))
    # χ² of 12 · 15 numbers, of uniform errors of one rounding: the mean is near 15
    assert 7.0 < np.mean(squares) < 23.0


def test_joints_alone_leave_the_gauge_at_the_prior(tow):
    described, errors = wrong(C3P, 1)
    found = calibrate(described, [measured(tow[0], errors)], settings=ROLLING)
    directions = gauge(found.parameters) / UNITS[:, None]
    directions /= np.linalg.norm(directions, axis=0)
    # windows add no information on the gauge: 0.2 % of the prior's, by discretisation of steps
    information = np.linalg.inv(found.covariance / np.outer(UNITS, UNITS)) - np.eye(15)
    part = np.einsum('ka,kl,la->a', directions, information, directions)
    assert np.abs(part).max() < 2e-3 < 1e4 < np.linalg.eigvalsh(information)[-1]


def test_a_taped_distance_determines_the_scale(tow):
    recording, poses = tow
    described, errors = wrong(C3P, 2)
    k = int(np.argmax(np.hypot(*(poses - poses[0])[:, :2].T)))
    length = float(np.hypot(*(poses[k] - poses[0])[:2]))
    tape = MeasuredDistance(0, 0.0, float(recording.time[k]), length, 1e-3)
    found = calibrate(described, [measured(recording, errors)], [tape], ROLLING)
    assert found.parameters[:, 0].mean() == pytest.approx(0.04, rel=2.0 * 1e-3 / length)
    assert found.references[0, 1] < 2.0


def test_a_mark_determines_scale_and_heading_and_an_imu_the_yaw(tow):
    recording, poses = tow
    described, errors = wrong(C3P, 3)
    moved = poses[-1] - poses[0]
    c, s = np.cos(poses[0, 2]), np.sin(poses[0, 2])
    pose = (c * moved[0] + s * moved[1], c * moved[1] - s * moved[0], moved[2])
    end = float(recording.time[-1])
    found = calibrate(described, [measured(recording, errors)],
                      [Displacement(0, 0.0, end, pose, (1e-4, 1e-4, 1e-3))], ROLLING)
    # scale and heading within the mark's error over its distance, with that of the drive
    miss = found.change - errors
    assert np.abs(miss[:, 0]).max() < 0.04 * 2e-3
    assert np.abs(miss[:, 4]).max() < 4e-3
    yaw = Displacement(0, 0.0, end, (0.0, 0.0, moved[2]), (np.inf, np.inf, 1e-4))
    by_yaw = calibrate(described, [measured(recording, errors)], [yaw], ROLLING)
    alone = calibrate(described, [measured(recording, errors)], settings=ROLLING)
    # sum of the variances: more is known with it
    assert np.trace(by_yaw.covariance) < np.trace(alone.covariance)


def test_several_recordings_teach_more_than_one(tow):
    described, errors = wrong(C3P, 4)
    one = calibrate(described, [measured(tow[0], errors)], settings=ROLLING)
    two = calibrate(described, [measured(tow[0], errors)] * 2, settings=ROLLING)
    assert np.linalg.slogdet(two.covariance)[1] < np.linalg.slogdet(one.covariance)[1] - 2.0


def test_a_wheel_that_slips_for_a_second_teaches_no_wrong_radius(tow):
    recording, _ = tow
    described, errors = wrong(C3P, 5)
    slipped = measured(recording, errors)
    wheel = slipped.wheel_angle.copy()
    # wheel 2 spins by 0.1 m within a second
    wheel[:, 1] += 2.5 * np.clip(slipped.time - 20.0, 0.0, 1.0)
    found = calibrate(described, [slipped._replace(wheel_angle=wheel)], settings=ROLLING)
    ratio = found.parameters[:, 0] / C3P.wheel_radius
    assert np.abs(ratio / ratio.mean() - 1).max() < 5e-4
    assert found.weights.min() < 0.01


@pytest.mark.parametrize('count', [2, 4, 5])
def test_robots_with_other_numbers_of_casters_are_calibrated(count):
    robot = CasterRobot.regular(0.4, 0.3 + 2 * np.pi * np.arange(count) / count, 0.05, 0.06,
                                30.0, 3.0)
    recording, _ = towed_drive(robot, 1, 20.0)
    described, errors = wrong(robot, 6)
    found = calibrate(described, [measured(recording, errors)], settings=ROLLING)
    before = without_gauge(parameters_of(robot), -errors.ravel(), found.prior) / found.prior
    assert np.linalg.norm(missing(found, errors, robot)) < 0.8 * np.linalg.norm(before)
    assert found.robot.count == count


def test_a_gap_and_a_turn_of_half_a_wheel_end_windows(tow):
    recording, _ = tow
    keep = np.ones(len(recording.time), bool)
    keep[2000:2200] = False
    gapped = JointRecording(*(a[keep] for a in recording))
    pairs = cut(C3P, gapped, 0.24)
    assert not np.any((pairs[:, 0] < 2000) & (pairs[:, 1] >= 2000))
    assert np.any(pairs[:, 0] >= 2000)


def test_motion_by_chained_windows_is_the_true_one(tow):
    recording, poses = tow
    found = calibrate(C3P, [recording], [Displacement(
        0, 0.0, 30.0, (0, 0, 0), (np.inf, np.inf, 1e3))], ROLLING)
    assert found.path > 5.0
    step = np.array([[1.0, 0.0, np.pi / 2], [1.0, 0.0, 0.0]])
    got = chain(step, np.zeros((2, 3, 15)), np.zeros((2, 3, 3)))
    np.testing.assert_allclose(got.pose, [1.0, 1.0, np.pi / 2], atol=1e-15)


@pytest.mark.parametrize(('change', 'named'), [
    ({'time': np.zeros(3)}, 'time of 3 samples'),
    ({'steering': np.full((3, 3), np.nan)}, 'steering'),
    ({'wheel_angle': np.zeros((2, 3))}, 'wheel_angle has shape'),
    ({}, 'no window with motion')])
def test_recordings_that_teach_nothing_are_refused(change, named):
    recording = JointRecording(np.arange(3.0), np.zeros((3, 3)), np.zeros((3, 3)))
    with pytest.raises(CalibrationError, match=named):
        calibrate(C3P, [recording._replace(**change)])


@pytest.mark.parametrize(('reference', 'named'), [
    (MeasuredDistance(1, 0.0, 1.0, 1.0), 'recording 1'),
    (MeasuredDistance(0, 0.0, 1e3, 1.0), '1000'),
    (MeasuredDistance(0, 1.0, 1.0, 1.0), 'no motion')])
def test_references_outside_their_recording_are_refused(tow, reference, named):
    with pytest.raises(CalibrationError, match=named):
        calibrate(C3P, [tow[0]], [reference])


@pytest.mark.parametrize('change', [{'creep': -1.0}, {'wheel_resolution': np.nan},
                                    {'creep': 0.0, 'wheel_resolution': 0.0}])
def test_settings_without_an_error_budget_are_refused(change):
    with pytest.raises(ValueError, match='creep|wheel_resolution'):
        CalibrationSettings(**change)
