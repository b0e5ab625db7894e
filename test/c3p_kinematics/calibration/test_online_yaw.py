# SPDX-License-Identifier: Apache-2.0
"""A gyro teaches the odometry that calibrates itself; robots towed by positions alone."""

import math

import numpy as np
import pytest
from miscalibrated import measured, towed_drive, wrong
from robots import C3P
from test_gyro_lessons import BIAS, stood, yaw_scale

from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration.gyro import GyroSettings
from c3p_kinematics.calibration.online_yaw import YawLearner

FINE = GyroSettings(scale=2e-4, walk=math.radians(0.002))


@pytest.fixture(scope='module')
def tow():
    return towed_drive(C3P, duration=60.0)


def driven(described, recording, time, rate, settings):
    """Return odometry after a drive, with a gyro if there are `settings`."""
    odometry = CalibratingOdometry(described)
    if settings is not None:
        odometry.yaw = YawLearner(odometry.calibration, settings)
    for k, row in enumerate(zip(recording.time, recording.steering, recording.wheel_angle,
                                strict=True)):
        if settings is not None:
            odometry.yaw.measure(time[k], rate[k])
        odometry.step(*row)
    return odometry


@pytest.mark.parametrize('seed', range(3))
def test_the_scale_of_the_yaw_converges_to_that_of_the_gyro(tow, seed):
    described, errors = wrong(C3P, seed)
    recording, time, rate = stood(*tow, walk=FINE.walk, seed=seed)
    found = driven(described, measured(recording, errors), time, rate, FINE)
    assert found.yaw.learned >= 1
    # four deviations after 3.5 of 5 s of standstill
    assert abs(found.yaw.bias - BIAS) < 4 * FINE.walk / math.sqrt(3.5)
    # a turn of some rad: rounding of 1 mrad, and the bias over half a minute
    assert abs(yaw_scale(described, errors, found.calibration.parameters)) < 1e-3
    # the covariance stays one, and knows what it learned
    assert np.linalg.eigvalsh(found.calibration.covariance).min() > 0.0
    assert 'turns used' in found.yaw.metrics()['imu']


def test_a_gyro_whose_scale_is_unknown_hardly_changes_the_estimate(tow):
    described, errors = wrong(C3P, 1)
    recording, time, rate = stood(*tow, scale=0.02)
    joints = measured(recording, errors)
    alone, both = (driven(described, joints, time, rate, settings)
                   for settings in (None, GyroSettings(0.05)))
    change = np.abs(both.calibration.parameters - alone.calibration.parameters).ravel()
    assert (change / np.sqrt(np.diag(alone.calibration.covariance))).max() < 0.3


def test_many_turns_know_the_scale_no_better_than_the_gyro():
    odometry = CalibratingOdometry(C3P)
    calibration = odometry.calibration
    heading = np.zeros(16)
    # the yaw by joints falls with the size of the platform
    heading[3::5], heading[4::5] = (-C3P.hip_position.T / np.sum(C3P.hip_position**2)) * 3.0
    for _ in range(200):
        heading[0] = 3.0
        calibration.learn_yaw(heading, 3.0, 1e-6, 0.002)
    variance = heading[1:] @ calibration.covariance @ heading[1:] / 9.0
    assert 0.0015 < math.sqrt(variance) < 0.0021


def test_lost_samples_of_the_gyro_begin_a_new_turn(tow):
    described, errors = wrong(C3P, 2)
    recording, time, rate = stood(*tow)
    odometry = CalibratingOdometry(described)
    learner = odometry.yaw = YawLearner(odometry.calibration, FINE)
    joints = measured(recording, errors)
    for k, row in enumerate(zip(*joints, strict=True)):
        # every fifth of a second one sample: never continuous
        if k % 40 == 0:
            learner.measure(time[k], rate[k])
        odometry.step(*row)
    assert learner.learned == 0
