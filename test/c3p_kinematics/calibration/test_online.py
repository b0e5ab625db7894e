# SPDX-License-Identifier: Apache-2.0
"""Calibration while driving: agrees with the batch, follows wear, refuses slip, stays bounded."""

import numpy as np
import pytest
from miscalibrated import measured, towed_drive, wrong
from plain_python import compiled_and_plain
from robots import C3P

from c3p_kinematics.calibration import _online_kernels as kernels
from c3p_kinematics.calibration.batch import calibrate
from c3p_kinematics.calibration.online import SelfCalibration
from c3p_kinematics.calibration.parameters import (
    CalibrationSettings,
    LearningSettings,
    Prior,
    parameters_of,
)
from c3p_kinematics.calibration.recent import WITHDRAWN
from c3p_kinematics.calibration.words import lines, relative_to_gauge

ROLLING = CalibrationSettings(creep=2e-4)
FOREVER = LearningSettings(ROLLING, memory=np.inf, least_gain=0.0)


@pytest.fixture(scope='module')
def tow():
    return towed_drive(C3P)[0]


def learn(calibration, recording, good=None):
    steering, wheel = recording.steering, recording.wheel_angle
    for k in range(len(recording.time) - 1):
        calibration.step(0.5 * (steering[k] + steering[k + 1]), wheel[k + 1] - wheel[k],
                         steering[k + 1] - steering[k], good is None or good(recording.time[k]))
    return calibration


def ratio_error(parameters):
    ratio = parameters[:, 0] / C3P.wheel_radius
    return float(np.abs(ratio / ratio.mean() - 1).max())


@pytest.mark.parametrize('seed', range(3))
def test_the_recursive_estimate_is_as_good_as_the_batch(tow, seed):
    described, errors = wrong(C3P, seed)
    got = learn(SelfCalibration(described, FOREVER), measured(tow, errors))
    batch = calibrate(described, [measured(tow, errors)], settings=ROLLING)
    assert ratio_error(got.parameters) < 2e-4
    # the windows are cut at other places: estimates differ within their deviations
    apart = (got.parameters - batch.parameters) / batch.deviation
    assert np.abs(apart).max() < 2.5
    logs = [np.linalg.slogdet(c)[1] for c in (got.covariance, batch.covariance)]
    assert logs[0] == pytest.approx(logs[1], abs=3.0)


def test_an_update_is_that_of_the_textbook():
    rng = np.random.default_rng(0)
    jacobian, value = rng.normal(size=(3, 15)), rng.normal(size=3)
    root = rng.normal(size=(15, 15))
    prior, x = root @ root.T, rng.normal(size=15)
    unknown, covariance = x.copy(), prior.copy()
    verdict, nis, gain = kernels.fuse(value, jacobian, unknown, covariance,
                                      np.zeros((0, 15)), 1e9, 0.0, 1e9)
    innovation = jacobian @ prior @ jacobian.T + np.eye(3)
    kalman = prior @ jacobian.T @ np.linalg.inv(innovation)
    assert verdict == kernels.LEARNED
    np.testing.assert_allclose(unknown, x - kalman @ value, rtol=1e-10)
    np.testing.assert_allclose(covariance, prior - kalman @ jacobian @ prior, atol=1e-11)
    assert nis == pytest.approx(value @ np.linalg.solve(innovation, value))
    assert gain == pytest.approx(0.5 * np.linalg.slogdet(innovation)[1])


def test_slip_that_is_reported_drops_windows_and_slip_that_is_not_contradicts(tow):
    described, errors = wrong(C3P, 5)
    recording = measured(tow, errors)
    wheel = recording.wheel_angle.copy()
    wheel[:, 1] += 2.5 * np.clip(recording.time - 20.0, 0.0, 1.0)
    slipped = recording._replace(wheel_angle=wheel)
    reported = learn(SelfCalibration(described, FOREVER), slipped,
                     lambda time: not 19.9 < time < 21.1)
    # with those before it
    assert reported.dropped == 1 + WITHDRAWN and reported.learned > 30
    assert ratio_error(reported.parameters) < 2e-4
    silent = learn(SelfCalibration(described, FOREVER), slipped)
    assert silent.contradicted >= 1
    assert ratio_error(silent.parameters) < 5e-4


def test_a_straight_drive_without_news_ends_the_learning():
    settings = LearningSettings(ROLLING, memory=np.inf, least_gain=0.01)
    calibration, still = SelfCalibration(C3P, settings), np.zeros(3)
    for _ in range(20000):
        calibration.step(still, np.full(3, 0.25), still)
    assert calibration.windows > 2 * calibration.learned > 10
    # nothing was learned of offsets
    deviation = np.sqrt(np.diag(calibration.covariance)).reshape(3, 5)
    np.testing.assert_allclose(deviation[:, 1], Prior().deviations(C3P).reshape(3, 5)[:, 1])


def test_wear_of_a_tyre_is_followed(tow):
    settings = LearningSettings(ROLLING, memory=500.0)
    calibration = learn(SelfCalibration(C3P, settings), tow)
    for worn in (0.9995, 0.999):
        # 0.1 % less radius: the wheel turns more
        recording = tow._replace(wheel_angle=tow.wheel_angle / [1.0, worn, 1.0])
        for _ in range(6):
            learn(calibration, recording)
    r = calibration.parameters[:, 0]
    assert r[1] / r[[0, 2]].mean() == pytest.approx(0.999, abs=2e-4)


def test_another_tyre_is_learned_as_a_change(tow):
    settings = LearningSettings(ROLLING, memory=np.inf)
    calibration = learn(SelfCalibration(C3P, settings), tow)
    recording = tow._replace(wheel_angle=tow.wheel_angle / [1.0, 0.994, 1.0])
    for _ in range(4):
        learn(calibration, recording)
    assert calibration.changes == 1
    r = calibration.parameters[:, 0]
    assert r[1] / r[[0, 2]].mean() == pytest.approx(0.994, abs=5e-4)


def test_frozen_it_keeps_the_estimate_and_reset_returns_to_the_description(tow):
    described, errors = wrong(C3P, 6)
    calibration = learn(SelfCalibration(described, FOREVER), measured(tow, errors))
    calibration.frozen = True
    kept = calibration.parameters.copy()
    learn(calibration, tow)
    assert np.array_equal(calibration.parameters, kept)
    assert calibration.metrics()['calibration'] == 'frozen'
    np.testing.assert_allclose(calibration.calibrated_robot.wheel_radius, kept[:, 0])
    calibration.reset()
    assert np.array_equal(calibration.parameters, parameters_of(described))


def test_estimates_stay_within_their_limit_and_the_covariance_within_the_prior():
    rng = np.random.default_rng(0)
    calibration = SelfCalibration(C3P, LearningSettings(ROLLING, memory=50.0, most=2.0))
    units = Prior().deviations(C3P)
    for _ in range(20000):
        calibration.step(rng.uniform(-3, 3, 3), rng.normal(size=3), 0.1 * rng.normal(size=3))
    assert np.all(np.abs(calibration.parameters - parameters_of(C3P)).ravel() <= 2.0001 * units)
    values = np.linalg.eigvalsh(calibration.covariance / np.outer(units, units))
    assert 0.0 < values[0] <= values[-1] <= 1.0 + 1e-9


def test_the_gauge_keeps_its_uncertainty_and_is_named(tow):
    described, errors = wrong(C3P, 7)
    calibration = learn(SelfCalibration(described, FOREVER), measured(tow, errors))
    own, common = relative_to_gauge(described, calibration.covariance)
    assert own[:, 0].max() / 0.04 < 3e-4 < 1e-3 < common[0]
    assert common[1] > 1e-3
    text = lines(described, calibration.parameters, calibration.covariance)
    assert set(text) == {'caster 1', 'caster 2', 'caster 3', 'relative to each other',
                         'common to all'}
    assert 'outside reference' in text['common to all']


@pytest.mark.parametrize('change', [{'memory': 0.0}, {'least_gain': -1.0}, {'most': np.nan}])
def test_settings_out_of_range_are_refused(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        LearningSettings(**change)


def test_an_adopted_estimate_is_continued(tow):
    described, errors = wrong(C3P, 3)
    batch = calibrate(described, [measured(tow, errors)], settings=ROLLING)
    calibration = SelfCalibration(described, FOREVER)
    calibration.adopt(batch.parameters, batch.covariance)
    np.testing.assert_allclose(calibration.covariance, batch.covariance, rtol=1e-9)
    learn(calibration, measured(tow, errors))
    assert ratio_error(calibration.parameters) < 2e-4
    assert np.linalg.slogdet(calibration.covariance)[1] < np.linalg.slogdet(batch.covariance)[1]


@pytest.mark.parametrize('parameters', [np.zeros((2, 5)), np.zeros((3, 5)),
                                        np.full((3, 5), np.nan)])
def test_an_estimate_far_from_the_description_is_not_adopted(parameters):
    with pytest.raises(ValueError, match='parameters'):
        SelfCalibration(C3P).adopt(parameters)


PROGRAM = """
import json
import numpy as np
from c3p_description import load
from c3p_kinematics.calibration._window_kernels import compute_windows
from c3p_kinematics.calibration.online import SelfCalibration
from c3p_kinematics.calibration.parameters import parameters_of
robot = load('c3p')
calibration = SelfCalibration(robot)
turn = np.array([0.002, 0.0, -0.001])
for k in range(60):
    calibration.step(k * turn, np.array([0.5, 0.4975, 0.49]), turn, k != 30)
angles = np.arange(60.0)[:, None]
found = compute_windows(parameters_of(robot), angles * turn, angles * [0.1, 0.11, 0.12],
                        np.array([[0, 40], [20, 59]]), np.array([1e-3, 1e-3, 1e-4]))
out = [calibration.parameters, calibration.covariance, calibration.cross, *found,
       [calibration.windows, calibration.learned, calibration.dropped]]
print(json.dumps([np.ravel(part).tolist() for part in out]))
"""


def test_plain_python_learns_what_the_compiled_kernels_do():
    for expected, got in compiled_and_plain(PROGRAM):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)
