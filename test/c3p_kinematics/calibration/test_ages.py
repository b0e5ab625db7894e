# SPDX-License-Identifier: Apache-2.0
"""Joints of one sample with different ages, which are estimated with the lengths."""

import numpy as np
import pytest
from miscalibrated import measured, towed_drive, wrong
from robots import C3P

from c3p_description.model import CasterRobot
from c3p_kinematics.calibration.batch import calibrate
from c3p_kinematics.calibration.parameters import CalibrationSettings, parameters_of
from c3p_kinematics.calibration.recording import at_one_instant

FOUR = CasterRobot.regular(0.35, np.radians([20.0, 100.0, 170.0, 290.0]), 0.045, 0.06, 30.0, 3.0)
AGED = CalibrationSettings(skew=3e-3)


@pytest.fixture(scope='module', params=['c3p', 'four'])
def case(request):
    """Return a robot and the recording of a drive with all joints of one instant."""
    robot = {'c3p': C3P, 'four': FOUR}[request.param]
    return robot, towed_drive(robot, 7, 40.0, rate=100.0)[0]


def aged(recording, ages):
    """Return the recording of encoders with these ages; the inverse of the estimate's step."""
    return at_one_instant(recording, -ages)


def square(found, described, errors):
    """Return the squared error of the lengths per degree of freedom, by the covariance."""
    miss = (parameters_of(described) + errors - found.parameters).ravel()
    return miss @ np.linalg.solve(found.covariance, miss) / miss.size


def ratio_error(found, robot):
    ratio = found.parameters[:, 0] / robot.wheel_radius
    return np.abs(ratio / ratio.mean() - 1.0).max()


@pytest.mark.parametrize('seed', range(3))
def test_ages_of_joints_are_found_and_do_not_spoil_the_lengths(case, seed):
    robot, recording = case
    described, errors = wrong(robot, 200 + seed)
    ages = np.random.default_rng(seed).uniform(0.0, 0.007, 2 * robot.count)
    seen = aged(measured(recording, errors), ages)
    found = calibrate(described, [seen], settings=AGED)
    # no joint shows an age that all have in common
    apart = found.ages[:, 0] - ages
    assert np.abs(apart - apart.mean()).max() < 1e-3
    blind = calibrate(described, [seen])
    assert ratio_error(found, robot) < 2.5e-4
    assert found.rms_after < 0.4 * blind.rms_after
    assert square(found, described, errors) < min(1.5, 0.6 * square(blind, described, errors))


def test_joints_of_one_instant_lose_nothing_by_it(case):
    robot, recording = case
    described, errors = wrong(robot, 205)
    seen = measured(recording, errors)
    plain = calibrate(described, [seen])
    found = calibrate(described, [seen], settings=AGED)
    assert len(plain.ages) == 0
    assert np.ptp(found.ages[:, 0]) < 1.5e-3
    assert ratio_error(found, robot) < ratio_error(plain, robot) + 1e-4
    assert np.all(found.deviation < 1.5 * plain.deviation)


@pytest.mark.parametrize('skew', [-1e-3, np.inf, np.nan])
def test_a_skew_that_is_no_deviation_is_refused(skew):
    with pytest.raises(ValueError, match='skew'):
        CalibrationSettings(skew=skew)
