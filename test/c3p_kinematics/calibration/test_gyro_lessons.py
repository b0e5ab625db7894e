# SPDX-License-Identifier: Apache-2.0
"""Yaw of a gyro as a reference, on robots towed by positions alone."""

import math

import numpy as np
import pytest
from miscalibrated import STEERING_STEP, WHEEL_STEP, measured, towed_drive, wrong
from robots import C3P

from c3p_kinematics.calibration.batch import calibrate
from c3p_kinematics.calibration.gyro import GyroSettings, turns_of
from c3p_kinematics.calibration.parameters import CalibrationSettings, parameters_of
from c3p_kinematics.calibration.recording import CalibrationError, JointRecording

ROLLING = CalibrationSettings(creep=2e-4)
STEP, STAND, BIAS = max(STEERING_STEP, WHEEL_STEP), 5.0, math.radians(0.4)
FINE = GyroSettings(scale=1e-4, walk=math.radians(0.002))


def stood(recording, poses, scale=0.0, walk=0.0, bias=BIAS, stand=STAND, seed=0):
    """Return a recording with a standstill before it, and its gyro: time and rate."""
    dt = recording.time[1] - recording.time[0]
    count = round(stand / dt)
    joints = [np.vstack([np.repeat(a[:1], count, 0), a]) for a in recording[1:]]
    time = dt * np.arange(count + len(recording.time))
    yaw = np.concatenate([np.full(count, poses[0, 2]), np.unwrap(poses[:, 2])])
    noise = walk / math.sqrt(dt) * np.random.default_rng(seed).normal(size=len(time))
    rate = (1.0 + scale) * np.gradient(yaw, dt) + bias + noise
    return JointRecording(time, *joints), time, rate


@pytest.fixture(scope='module')
def tow():
    return towed_drive(C3P)


def yaw_scale(robot, errors, parameters):
    """Return the relative error of the size of the platform, which scales the yaw."""
    true = parameters_of(robot) + errors
    size = [np.hypot(*(p[:, 2:4] - p[:, 2:4].mean(axis=0)).T).mean() / p[:, 0].mean()
            for p in (parameters, true)]
    return size[0] / size[1] - 1.0


def test_turns_are_those_of_the_gyro_without_its_bias(tow):
    recording, time, rate = stood(*tow, walk=FINE.walk)
    turns, still = turns_of(3, recording, time, rate, STEP, FINE)
    assert turns.recording == 3 and still.duration == pytest.approx(STAND, abs=0.5)
    # four deviations of the bias
    assert abs(still.bias - BIAS) < 4 * still.deviation
    truth = np.concatenate([np.full(round(STAND * 200), tow[1][0, 2]), np.unwrap(tow[1][:, 2])])
    true = [np.diff(np.interp(span, time, truth))[0] for span in turns.spans]
    np.testing.assert_array_less(np.abs(turns.yaw - true),
                                 4 * np.sqrt(np.diag(turns.covariance)))
    assert np.all(np.abs(turns.yaw) >= 0.5)


def test_the_error_of_the_scale_is_one_for_all_turns():
    time = np.linspace(0.0, 45.0, 9001)
    since = np.maximum(time - STAND, 0.0)
    # three reversals, 10 s apart
    moved, rate = since[:, None] * np.ones(3), 0.5 * np.sin(since * math.pi / 10.0)
    turns, _ = turns_of(0, JointRecording(time, moved, moved), time, rate, STEP,
                        GyroSettings(0.01, 1e-9))
    # ∫ of half a period
    np.testing.assert_allclose(turns.yaw, 10.0 / math.pi * np.array([1, -1, 1, -1]), rtol=1e-3)
    size = np.sqrt(np.diag(turns.covariance))
    # fully correlated, with the sign of the turns
    correlation = turns.covariance / np.outer(size, size)
    np.testing.assert_allclose(correlation, np.outer(*[np.sign(turns.yaw)] * 2), atol=0.01)


@pytest.mark.parametrize('seed', range(4))
def test_the_scale_of_the_yaw_becomes_that_of_the_gyro(tow, seed):
    described, errors = wrong(C3P, seed)
    recording, time, rate = stood(*tow, walk=FINE.walk, seed=seed)
    turns, _ = turns_of(0, recording, time, rate, STEP, FINE)
    # a large budget of the contacts: joints alone say little of the yaw
    settings = CalibrationSettings(creep=0.002)
    found = [calibrate(described, [measured(recording, errors)], some, settings).parameters
             for some in ((), (turns,))]
    scale = [abs(yaw_scale(described, errors, p)) for p in found]
    # 0.01 % of the gyro, and the rounding of the encoders over the turns
    assert scale[1] < 5e-4, scale


def test_a_gyro_without_a_known_scale_does_not_move_what_joints_know(tow):
    described, errors = wrong(C3P, 1)
    recording, time, rate = stood(*tow, scale=0.03)
    turns, _ = turns_of(0, recording, time, rate, STEP, GyroSettings(0.05))
    joints = measured(recording, errors)
    alone, both = (calibrate(described, [joints], some, ROLLING) for some in ((), (turns,)))
    change = np.abs(both.parameters - alone.parameters).ravel() / np.sqrt(
        np.diag(alone.covariance))
    assert change.max() < 0.3


@pytest.mark.parametrize('stand', [0.0, 1.0])
def test_without_standstill_the_bias_is_not_known(tow, stand):
    recording, time, rate = stood(*tow, stand=stand)
    with pytest.raises(CalibrationError, match='2 s or more'):
        turns_of(0, recording, time, rate, STEP)


def test_a_drive_straight_on_has_no_turn(tow):
    recording, time, rate = stood(*tow)
    with pytest.raises(CalibrationError, match='no turn'):
        turns_of(0, recording, time, np.full_like(rate, BIAS), STEP)


def test_a_turn_with_lost_samples_is_left_out(tow):
    recording, time, rate = stood(*tow)
    whole, _ = turns_of(0, recording, time, rate, STEP)
    begin, end = whole.spans[0]
    middle = 0.5 * (begin + end)
    kept = np.abs(time - middle) > 0.1
    lost, _ = turns_of(0, recording, time[kept], rate[kept], STEP)
    assert not np.any((lost.spans[:, 0] < middle) & (middle < lost.spans[:, 1]))
