# SPDX-License-Identifier: Apache-2.0
"""Odometry that calibrates itself, on towed robots with wrong descriptions."""

import time

import numpy as np
import pytest
from miscalibrated import STEERING_STEP, measured, towed_drive, wrong
from robots import C3P

from c3p_kernels.compiled import COMPILED
from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration.parameters import (
    CalibrationSettings,
    LearningSettings,
    parameters_of,
)
from c3p_kinematics.odometry import Odometry
from c3p_kinematics.se2 import compose, inverse

ROLLING = LearningSettings(CalibrationSettings(creep=2e-4))


@pytest.fixture(scope='module')
def tow():
    return towed_drive(C3P, 3)


def run(odometry, recording):
    return np.array([odometry.step(*row).pose for row in zip(*recording, strict=True)])


def moved(poses):
    return compose(inverse(poses[0]), poses[-1])


def test_the_pose_after_learning_is_closer_to_the_truth(tow):
    recording, poses = tow
    true = moved(poses)
    before, after = [], []
    for seed in range(6):
        described, errors = wrong(C3P, seed)
        seen = measured(recording, errors)
        before.append(np.hypot(*(moved(run(Odometry(described), seen)) - true)[:2]))
        odometry = CalibratingOdometry(described, learning=ROLLING)
        run(odometry, seen)
        odometry.reset()
        after.append(np.hypot(*(moved(run(odometry, seen)) - true)[:2]))
    # scale and heading stay; with them the rest
    assert np.mean(after) < 0.5 * np.mean(before)


def test_frozen_and_untaught_it_is_the_odometry_bit_by_bit(tow):
    odometry = CalibratingOdometry(C3P)
    odometry.calibration.frozen = True
    assert np.array_equal(run(odometry, tow[0]), run(Odometry(C3P), tow[0]))
    assert np.array_equal(odometry.robot.geometry, C3P.geometry)


def test_an_update_moves_neither_the_pose_nor_the_description(tow):
    described, errors = wrong(C3P, 2)
    geometry = described.geometry.copy()
    odometry = CalibratingOdometry(described, learning=ROLLING)
    poses, learned = [], []
    for row in zip(*measured(tow[0], errors), strict=True):
        poses.append(odometry.step(*row).pose)
        learned.append(odometry.calibration.learned)
    steps = np.hypot(*np.diff(np.array(poses)[:, :2], axis=0).T)
    # 0.6 m/s for 5 ms, with rounding of the encoders
    assert learned[-1] > 10 and steps.max() < 0.005
    assert np.array_equal(described.geometry, geometry)


def test_a_reset_keeps_what_was_learned_and_forget_does_not(tow):
    described, errors = wrong(C3P, 2)
    odometry = CalibratingOdometry(described, learning=ROLLING)
    run(odometry, measured(tow[0], errors))
    kept = odometry.robot.geometry.copy()
    odometry.reset()
    assert np.array_equal(odometry.robot.geometry, kept)
    odometry.forget()
    np.testing.assert_array_equal(odometry.robot.geometry, described.geometry)
    assert np.array_equal(odometry.calibration.parameters, parameters_of(described))


def test_warm_up_teaches_nothing(tow):
    odometry = CalibratingOdometry(C3P)
    odometry.warm_up()
    assert odometry.calibration.windows == 0 and not odometry.calibration.frozen
    assert np.array_equal(odometry.robot.geometry, C3P.geometry)


def test_a_spinning_wheel_teaches_no_wrong_radius(tow):
    recording, _ = tow
    odometry = CalibratingOdometry(C3P, learning=ROLLING)
    wheel = recording.wheel_angle.copy()
    wheel[:, 0] += 8.0 * np.clip(recording.time - 20.0, 0.0, 1.0)
    run(odometry, recording._replace(wheel_angle=wheel))
    assert odometry.calibration.dropped >= 1
    ratio = odometry.calibration.parameters[:, 0] / 0.04
    assert np.abs(ratio / ratio.mean() - 1).max() < 3e-4


def test_gaps_and_implausible_samples_teach_nothing_wrong(tow):
    recording, _ = tow
    odometry = CalibratingOdometry(C3P, learning=ROLLING)
    for k, row in enumerate(zip(*recording, strict=True)):
        if 2000 < k < 2400:
            continue
        odometry.step(*row)
        if k % 500 == 0:
            assert not odometry.step(row[0], row[1], np.full(3, np.nan)).accepted
    ratio = odometry.calibration.parameters[:, 0] / 0.04
    assert np.abs(ratio / ratio.mean() - 1).max() < 2e-4
    zeros = odometry.calibration.parameters[:, 4]
    assert np.abs(zeros - zeros.mean()).max() < STEERING_STEP


@pytest.mark.skipif(not COMPILED, reason='needs numba')
def test_learning_costs_less_than_the_odometry_itself(tow):
    recording, times = tow[0], []
    for odometry in (Odometry(C3P), CalibratingOdometry(C3P)):
        odometry.warm_up()
        begin = time.process_time()
        run(odometry, recording)
        times.append((time.process_time() - begin) / len(recording.time))
    assert times[1] < 2.0 * times[0] + 60e-6
