# SPDX-License-Identifier: Apache-2.0
"""Drive on the spot with a wiring that was found, and the robot file of what it shows."""

from dataclasses import replace

import numpy as np
import pytest

from c3p_description.model import ModelError
from c3p_description.reading.loader import load_casters
from c3p_experiments.commissioning.measured_robot import (
    joints_of,
    measured_lines,
    measured_metrics,
    measured_robot,
    write_measured,
)
from c3p_experiments.commissioning.small_drive import SmallDrive, SmallDriveSettings
from c3p_experiments.commissioning.wired import everything
from c3p_kinematics.calibration.parameters import parameters_of
from c3p_simulation.make_plant import make_plant
from c3p_simulation.plants.wired_plant import channels_measured, efforts_of

C3P = load_casters('c3p')
STEP = 0.01

# errors of radii, relative, and of zeros, rad
RADII = np.array([0.015, -0.01, 0.0])
ZEROS = np.array([0.02, 0.0, -0.02])


@pytest.fixture(scope='module')
def driven():
    """Return wiring and record of a drive of a robot with other radii and zeros."""
    true = replace(C3P, wheel_radius=C3P.wheel_radius * (1.0 + RADII))
    # without leads and gears of its own the order of channels alone is at random
    wiring = everything(C3P, np.random.default_rng(2))
    plant = make_plant('analytic', true)
    sample = plant.reset(steering=[0.4, -1.0, 2.0])
    drive = SmallDrive(C3P, wiring, np.full(3, 0.5), SmallDriveSettings(
        rounds=1, side=0.25, turn=0.5))
    while True:
        angles = np.r_[sample.steering - ZEROS, sample.wheel_angle]
        orders = drive.step(plant.time, channels_measured(wiring, angles))
        assert not orders.stopped
        if orders.done:
            return wiring, drive.record(), plant.truth()
        sample = plant.step(efforts_of(C3P, wiring, orders.torque), STEP)


def test_a_drive_on_the_spot_is_slow_and_ends_near_its_start(driven):
    wiring, record, truth = driven
    joints = joints_of(record, wiring)
    # by the encoders: 0.12 m/s is the limit of the command
    rates = np.abs(joints.wheel_angle[8:] - joints.wheel_angle[:-8]) / (8 * STEP)
    assert (rates * C3P.wheel_radius).max() < 0.12
    assert np.hypot(*truth.pose[:2]) < 0.1
    torques = efforts_of(C3P, wiring, record.ordered)
    assert torques.shape == (len(record.time), 3) and 0.0 < np.abs(torques).max() <= 0.5


def test_radii_and_zeros_are_found_relative_to_each_other_and_written(driven, tmp_path):
    wiring, record, _ = driven
    found = measured_robot(C3P, wiring, [record], masses=False)
    change = found.calibration.parameters / parameters_of(C3P).clip(1e-9) - 1.0
    # joints alone do not show what is common to all; 0.2 % is two standard deviations
    radii = change[:, 0] - change[:, 0].mean()
    assert radii == pytest.approx(RADII - RADII.mean(), abs=2e-3)
    zeros = found.calibration.change[:, 4]
    assert zeros - zeros.mean() == pytest.approx(ZEROS - ZEROS.mean(), abs=3e-3)
    file, covariance = write_measured(found, 'c3p', tmp_path / 'robot.yaml')
    assert file.read_text().startswith('# Calibrated by c3p commission') and covariance.exists()
    read = load_casters(file)
    assert read.wheel_radius == pytest.approx(found.robot.wheel_radius, rel=1e-6)
    assert read.steering_zero == pytest.approx(found.robot.steering_zero, abs=1e-6)
    assert any(line.startswith('caster 1: radius') for line in measured_lines(found))
    assert measured_metrics(found)['identification'] is None


def test_what_no_lengths_explain_is_not_written(driven, tmp_path):
    wiring, record, _ = driven
    # two wheels taken for each other
    order = wiring.encoder_of[[0, 1, 2, 4, 3, 5]]
    found = measured_robot(C3P, wiring._replace(encoder_of=order), [record])
    assert found.calibration is None and found.robot is C3P
    assert found.notes[0].startswith('lengths and zeros: ')
    with pytest.raises(ModelError, match='nothing was found'):
        write_measured(found, 'c3p', tmp_path / 'robot.yaml')
    assert not list(tmp_path.iterdir())


def test_a_robot_that_is_pushed_away_stops_the_drive():
    drive = SmallDrive(C3P, everything(C3P, np.random.default_rng(1)), np.full(3, 0.3))
    assert not drive.step(0.0, np.zeros(6)).torque.any()
    stopped = drive.step(0.1, np.full(6, 1.0))
    assert 'the wheels move at' in stopped.stopped and not stopped.torque.any()
    bad = SmallDrive(C3P, everything(C3P, np.random.default_rng(1)), np.full(3, 0.3))
    assert 'must be finite' in bad.step(0.0, np.full(6, np.nan)).stopped


def test_without_the_key_the_drive_waits():
    drive = SmallDrive(C3P, everything(C3P, np.random.default_rng(1)), np.full(3, 0.3))
    for k in range(3):
        step = drive.step(0.01 * k, np.zeros(6), held=False)
        assert not step.torque.any() and not step.done and not step.stopped
