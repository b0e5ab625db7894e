# SPDX-License-Identifier: Apache-2.0
"""Slip of wheels leaves the mean radius in its interval, and that of a single wheel is named."""

from dataclasses import replace

import numpy as np
import pytest
from miscalibrated import WHEEL_STEP, measured, towed_drive, wrong
from robots import C3P

from c3p_description import load
from c3p_description.model import CasterRobot
from c3p_kinematics.calibration.batch import calibrate
from c3p_kinematics.calibration.common_slip import common_slip
from c3p_kinematics.calibration.parameters import (
    CalibrationSettings,
    Prior,
    calibrated,
    parameters_of,
)
from c3p_kinematics.calibration.wheel_slip import slip_notes, slipping_wheel, wheel_slip

ROBOTS = {
    'c3p': C3P,
    'two': CasterRobot.regular(0.30, np.radians([15.0, 190.0]), 0.04, 0.05, 25.0, 2.0),
    'five': CasterRobot.regular(0.28, np.radians([5.0, 80.0, 150.0, 220.0, 300.0]), 0.035, 0.07,
                                35.0, 4.0)}

# factors of the turns of a wheel, less 1, by the size of the slip, in each half second
SLIPS = {
    'both sides': lambda rng, size, count: rng.normal(0.0, size, count),
    'spin': lambda rng, size, count: np.abs(rng.normal(0.0, size, count)),
    'bursts': lambda rng, size, count: 3.0 * size * (rng.random(count) < 0.3),
    'constant': lambda rng, size, count: np.full(count, size)}
SECONDS = 40.0


def slipped(recording, kind, size, wheels, seed):
    """Return a recording whose wheels turn further than they roll."""
    rng = np.random.default_rng(seed)
    half = (recording.time / 0.5).astype(int)
    turned = np.diff(recording.wheel_angle, axis=0, prepend=recording.wheel_angle[:1])
    for wheel in wheels:
        turned[:, wheel] *= 1.0 + SLIPS[kind](rng, size, half[-1] + 1)[half]
    angle = recording.wheel_angle[:1] + np.cumsum(turned, axis=0)
    return recording._replace(wheel_angle=WHEEL_STEP * np.floor(angle / WHEEL_STEP))


def mean_radius(found, errors):
    """Return the error of the mean radius in its standard deviations."""
    n = found.described.count
    true = parameters_of(found.described)[:, 0] + errors[:, 0]
    spread = found.covariance.reshape(n, 5, n, 5)[:, 0, :, 0].sum()
    return (found.parameters[:, 0] - true).sum() / np.sqrt(spread)


@pytest.fixture(scope='module', params=ROBOTS)
def tow(request):
    robot = ROBOTS[request.param]
    return robot, towed_drive(robot, 31, SECONDS, rate=100.0)[0]


@pytest.mark.parametrize('size', [0.02, 0.06])
@pytest.mark.parametrize('kind', SLIPS)
def test_the_mean_radius_is_in_its_interval_while_all_wheels_slip(tow, kind, size):
    robot, recording = tow
    described, errors = wrong(robot, 5)
    found = calibrate(described, [slipped(measured(recording, errors), kind, size,
                                          range(robot.count), 1)])
    assert abs(mean_radius(found, errors)) < 1.96
    if kind == 'constant' and robot.count > 2 and size > 0.03:
        slip, deviation = found.slip
        assert slip == pytest.approx(size, abs=max(0.4 * size, 2.0 * deviation))


@pytest.mark.parametrize('kind', ['both sides', 'spin', 'bursts'])
def test_the_mean_radius_is_in_its_interval_while_some_wheels_slip(tow, kind):
    robot, recording = tow
    described, errors = wrong(robot, 6)
    found = calibrate(described, [slipped(measured(recording, errors), kind, 0.04,
                                          range(robot.count - 1), 2)])
    assert abs(mean_radius(found, errors)) < 1.96


@pytest.mark.parametrize('kind', ['constant', 'spin', 'bursts'])
@pytest.mark.parametrize('size', [0.02, 0.05])
def test_a_radius_that_was_not_known_is_in_its_interval_while_all_wheels_slip(tow, kind, size):
    robot, recording = tow
    errors = np.zeros((robot.count, 5))
    errors[:, 0] = 0.15 * robot.wheel_radius
    described = calibrated(robot, parameters_of(robot) - errors)
    wide = CalibrationSettings(Prior(radius=0.18, zero=np.radians(3.0)))
    found = calibrate(described, [slipped(recording, kind, size, range(robot.count), 3)],
                      settings=wide)
    assert abs(mean_radius(found, errors)) < 1.96
    # without slip the interval is the same, and the radius in it is that of offsets and hips
    straight = calibrate(described, [recording], settings=wide)
    assert abs(mean_radius(straight, errors)) < 1.0
    assert np.abs(straight.change[:, 0] / errors[:, 0] - 1.0).max() < 0.1


def test_without_slip_none_is_an_unknown(tow):
    robot, recording = tow
    for seed in range(4):
        described, errors = wrong(robot, seed)
        found = calibrate(described, [measured(recording, errors)])
        assert found.slip.tolist() == [0.0, 0.0]
        assert abs(mean_radius(found, errors)) < 1.96


def test_data_that_show_nothing_of_the_radii_have_no_slip():
    assert common_slip(np.eye(3), np.ones(3), np.array([100.0]), 1.0, 0.002) == 0.0


def notes(found):
    return slip_notes(found.described, found.wheel_slip, found.change[:, 0],
                      found.prior.reshape(-1, 5)[:, 0])


@pytest.mark.parametrize('kind', SLIPS)
def test_a_wheel_that_slips_alone_is_named(tow, kind):
    robot, recording = tow
    for seed, size in ((11, 0.02), (12, 0.06)):
        described, errors = wrong(robot, seed)
        wheel = seed % robot.count
        found = calibrate(described, [slipped(measured(recording, errors), kind, size, [wheel],
                                              seed)])
        # of two casters a single equation is left, which names no wheel
        if robot.count == 2:
            assert slipping_wheel(found.wheel_slip) is None
            continue
        text, = notes(found)
        assert text.startswith(f'WARNING: {robot.wheel_joints[wheel]} ')
        assert ('all the time' if kind == 'constant' else 'slips by') in text
        # windows do not begin with the slip: their means are smaller
        if kind == 'both sides':
            assert 0.4 * size < found.wheel_slip[wheel, 1] < size


def test_no_wheel_is_named_where_none_or_all_slip(tow):
    robot, recording = tow
    for seed in (20, 21):
        described, errors = wrong(robot, seed)
        drive = measured(recording, errors)
        assert not notes(calibrate(described, [drive]))
        every = slipped(drive, 'both sides', 0.03, range(robot.count), seed)
        assert not notes(calibrate(described, [every]))


def test_names_of_joints_stay_as_they_are():
    robot = replace(C3P, wheel_joints=tuple(f'wheel-joint-{k}' for k in range(3)))
    smaller = np.array([0.0, -0.03, 0.0]) * C3P.wheel_radius
    text, = slip_notes(robot, np.zeros((3, 2)), smaller, 0.003 * C3P.wheel_radius)
    assert f'{robot.wheel_joints[1]} has a radius −3.0 % off, 10 standard deviations' in text


def test_wheels_without_an_encoder_are_not_compared():
    """Their radii stay as described, while those of worn tyres are smaller."""
    robot = replace(C3P, wheel_encoder=[True, True, False])
    smaller = np.array([-0.1, -0.1, 0.0]) * C3P.wheel_radius
    assert slip_notes(robot, np.zeros((3, 2)), smaller, 0.015 * C3P.wheel_radius) == []


def test_a_few_windows_name_no_wheel():
    assert not wheel_slip(np.ones((19, 3)), np.ones((19, 3, 3))).any()
    assert not wheel_slip(np.zeros((50, 3)), np.ones((50, 3, 3))).any()


def test_of_two_wheels_with_encoders_it_is_not_known_which_radius_is_wrong():
    robot = load('amr')
    change = np.zeros(robot.count)
    change[:2] = [0.02, -0.01] * robot.wheel_radius[:2]
    text, = slip_notes(robot, np.zeros((robot.count, 2)), change, np.full(robot.count, 1e-4))
    assert 'the radii of wheel_joint_1 and wheel_joint_2 differ by 3.0 % more' in text
