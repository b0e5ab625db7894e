# SPDX-License-Identifier: Apache-2.0
"""Calibration of robots with fixed wheels, wheels without offset, and joints without encoders."""

from dataclasses import replace

import numpy as np
import pytest
from wheel_drives import drive, wander

from c3p_description import load
from c3p_description.model import ModelError
from c3p_kinematics.calibration import _window_kernels as kernels
from c3p_kinematics.calibration.batch import calibrate
from c3p_kinematics.calibration.online import SelfCalibration
from c3p_kinematics.calibration.parameters import (
    MOUNTED,
    CalibrationSettings,
    Prior,
    calibrated,
    gauge,
    parameters_of,
    redundant_rows,
)
from c3p_kinematics.calibration.recording import JointRecording
from c3p_kinematics.calibration.references import Displacement
from c3p_kinematics.calibration.words import lines

TRICYCLE = load('tricycle_agv')
SWERVE = load('swerve')
# three modules, a caster of which the steering alone is measured, and a fixed wheel
MIX = replace(SWERVE, name='mix',
              hip_position=[[0.3, 0.3], [0.3, -0.3], [-0.3, 0.3], [0.0, -0.3]],
              caster_offset=[0.0, 0.0, 0.03, 0.0], steered=[True, True, False, False],
              fixed=[False, False, False, True], wheel_encoder=[True, True, False, True],
              steering_zero=[0.0, 0.0, 0.0, -np.pi / 2])
# modules whose wheels stand beside their pivots, and casters of that kind
BESIDE = replace(SWERVE, name='beside', lateral_offset=[0.045, -0.045, -0.045, 0.045],
                 caster_offset=[0.0, 0.0, 0.03, 0.0], wheel_encoder=[True, True, True, False])
DRIVES = [(TRICYCLE, 0.0), (SWERVE, 0.2), (MIX, 0.0), (BESIDE, 0.2)]
AHEAD = -0.5 * np.pi
WIDE = Prior(radius=0.05, offset=0.05, hip=0.01, zero=np.radians(3.0))


def recording(robot, seed, duration=40.0, rate=100.0, sideways=0.0):
    ride = drive(robot, wander(seed, sideways=sideways), duration, rate, AHEAD)
    return ride, JointRecording(ride.time, ride.steering, ride.wheel)


def references(ride, number, every):
    """Return the true displacements over each `every` samples."""
    found = []
    for a in range(0, len(ride.time) - every, every):
        b = a + every
        c, s = np.cos(ride.pose[a, 2]), np.sin(ride.pose[a, 2])
        x, y, yaw = ride.pose[b] - ride.pose[a]
        found.append(Displacement(number, ride.time[a], ride.time[b],
                                  (c * x + s * y, c * y - s * x, yaw), (1e-3, 1e-3, 1e-3)))
    return found


def compute(robot, parameters, ride, cut):
    return kernels.compute_windows(
        np.ascontiguousarray(parameters), ride.steering, ride.wheel, np.array(cut),
        np.array([1e-3, 1e-3, 2e-3]), robot.geometry[:, 4:])


@pytest.mark.parametrize(('robot', 'sideways'), DRIVES)
def test_a_window_without_slip_has_no_residual_and_the_true_motion(robot, sideways):
    ride, _ = recording(robot, 1, 4.0, 200.0, sideways)
    begin, end = 100, 400
    value, _, step, *_, travel = compute(robot, parameters_of(robot), ride, [[begin, end]])
    c, s = np.cos(ride.pose[begin, 2]), np.sin(ride.pose[begin, 2])
    x, y, yaw = ride.pose[end] - ride.pose[begin]
    assert travel[0] > 0.1
    np.testing.assert_allclose(step[0], [c * x + s * y, c * y - s * x, yaw], atol=3e-4)
    # in units of deviations, which are 1 ‰ of the path and more
    assert np.abs(value).max() < 0.1


@pytest.mark.parametrize(('robot', 'sideways'), DRIVES)
def test_derivatives_of_the_motion_are_those_of_differences(robot, sideways):
    ride, _ = recording(robot, 2, 4.0, 200.0, sideways)
    cut = [[100, 200], [200, 350]]
    parameters = parameters_of(robot)
    _, _, _, of, *_ = compute(robot, parameters, ride, cut)
    for k in range(parameters.size):
        change = np.zeros(parameters.size)
        change[k] = 1e-6
        above, below = (compute(robot, parameters + sign * change.reshape(parameters.shape),
                                ride, cut) for sign in (1, -1))
        # a wheel without encoder rolls as the others say, whose derivative by the parameters is of
        # second order in the turn within a window
        np.testing.assert_allclose((above[2] - below[2]) / 2e-6, of[:, :, k],
                                   atol=0.02 * np.abs(of).max())


def test_windows_do_not_observe_the_gauge_of_a_swerve_drive():
    ride, _ = recording(SWERVE, 3, 6.0, 500.0, 0.2)
    parameters = parameters_of(SWERVE)
    _, jacobian, *_ = compute(SWERVE, parameters, ride, [[100, 1500]])
    directions = gauge(parameters) / np.linalg.norm(gauge(parameters), axis=0)
    assert np.abs(jacobian[0] @ directions).max() < 1e-3 * np.abs(jacobian).max()


def test_rank_of_a_mix_is_that_of_its_redundant_rows():
    assert [redundant_rows(robot) for robot in (TRICYCLE, SWERVE, MIX, load('c3p'))] == [
        1, 5, 4, 3]
    ride, _ = recording(MIX, 4, 6.0, 200.0)
    _, jacobian, *_ = compute(MIX, parameters_of(MIX), ride, [[100, 500]])
    singular = np.linalg.svd(jacobian[0], compute_uv=False)
    assert np.sum(singular > 1e-9 * singular[0]) == redundant_rows(MIX)


def test_a_tricycle_is_calibrated_by_a_reference():
    described = TRICYCLE
    true = replace(described, wheel_radius=0.0325 * 0.987, steering_zero=described.steering_zero
                   + np.radians([-1.2, 0.0, 0.0]),
                   hip_position=described.hip_position + [[0.007, 0.0], [0, 0], [0, 0]])
    rides, outside = [], []
    for k in range(3):
        ride, _ = recording(true, 10 + k)
        # the encoder is at its old zero
        measured = ride.steering - np.where(true.fixed, 0.0, np.radians(-1.2))
        rides.append(JointRecording(ride.time, measured, ride.wheel * [1, 0, 0]))
        outside += references(ride, k, 500)
    found = calibrate(described, rides, outside, CalibrationSettings(
        WIDE, wheel_resolution=1e-3, steering_resolution=1e-3))
    change = found.change
    assert change[0, 0] / 0.0325 == pytest.approx(-0.013, abs=1e-3)
    assert change[0, 4] == pytest.approx(np.radians(-1.2), abs=np.radians(0.1))
    wheelbase = change[0, 2] - change[1:, 2].mean()
    assert wheelbase == pytest.approx(0.007, abs=1e-3)
    # what is exact or shows nowhere stays
    np.testing.assert_array_equal(change[:, 1], 0.0)
    np.testing.assert_allclose(change[1:, 0], 0.0, atol=1e-6)
    assert found.robot.other_wheels == described.other_wheels
    text = lines(described, found.parameters, found.covariance)
    assert 'radius −1.3' in text['caster 1'] and 'offset' not in text['caster 1']
    assert 'radius' not in text['caster 2']


def test_radii_and_zeros_of_a_swerve_drive_relative_to_each_other_need_no_reference():
    true = replace(SWERVE, wheel_radius=0.0508 * np.array([1.01, 0.99, 1.0, 1.0]))
    _, joints = recording(true, 5, 60.0, sideways=0.2)
    shift = np.radians([0.0, 0.0, 1.0, 0.0])
    joints = joints._replace(steering=joints.steering - shift)
    found = calibrate(SWERVE, [joints], (), CalibrationSettings(
        WIDE, wheel_resolution=1e-3, steering_resolution=1e-3))
    radius = found.parameters[:, 0]
    np.testing.assert_allclose(radius / radius.mean(), [1.01, 0.99, 1.0, 1.0], atol=1e-3)
    zero = found.parameters[:, 4]
    assert zero[2] - np.delete(zero, 2).mean() == pytest.approx(np.radians(1.0), abs=2e-3)


def test_a_fixed_wheel_is_known_as_well_as_its_mounting():
    units = WIDE.deviations(TRICYCLE).reshape(3, 5)
    np.testing.assert_allclose(units[:, 4], [np.radians(3.0), MOUNTED, MOUNTED])
    # and better than by hand, if the user says so
    assert Prior(zero=1e-4).deviations(TRICYCLE)[9] == 1e-4


def test_learning_while_driving_accepts_its_own_estimate_of_any_wheels():
    for robot in (TRICYCLE, SWERVE, MIX):
        learning = SelfCalibration(robot)
        learning.adopt(learning.parameters, learning.covariance)
        assert np.all(np.isfinite(learning.covariance))
        ride, joints = recording(robot, 6, 10.0)
        for k in range(1, len(ride.time)):
            learning.step(0.5 * (joints.steering[k] + joints.steering[k - 1]),
                          joints.wheel_angle[k] - joints.wheel_angle[k - 1],
                          joints.steering[k] - joints.steering[k - 1])
        assert learning.windows > 5 and learning.contradicted == 0
        same = calibrated(robot, learning.parameters)
        np.testing.assert_array_equal(same.caster_offset[robot.caster_offset == 0.0], 0.0)


def test_modules_with_wheels_beside_their_pivots_are_calibrated():
    described = replace(SWERVE, name='beside', lateral_offset=[0.045, -0.045, -0.045, 0.045])
    off = np.radians([0.8, -1.0, 0.5, 0.3])
    true = replace(described, wheel_radius=described.wheel_radius * [0.99, 1.01, 1.0, 1.005],
                   steering_zero=described.steering_zero + off)
    rides, outside = [], []
    for k in range(3):
        ride, _ = recording(true, 20 + k, sideways=0.2)
        rides.append(JointRecording(ride.time, ride.steering - off, ride.wheel))
        outside += references(ride, k, 500)
    found = calibrate(described, rides, outside, CalibrationSettings(
        WIDE, wheel_resolution=1e-3, steering_resolution=1e-3))
    np.testing.assert_allclose(found.change[:, 4], off, atol=np.radians(0.1))
    np.testing.assert_allclose(found.change[:, 0] / described.wheel_radius,
                               [-0.01, 0.01, 0.0, 0.005], atol=1e-3)


def test_two_wheels_on_a_pivot_are_refused_by_name():
    twins = replace(MIX, hip_position=[[0.3, 0.3], [0.3, 0.3], [-0.3, 0.3], [0.0, -0.3]],
                    lateral_offset=[0.05, -0.05, 0.0, 0.0], steering_joints=())
    with pytest.raises(ModelError, match='wheels 1, 2 are in pairs .*odometry, report'):
        SelfCalibration(twins)
