# SPDX-License-Identifier: Apache-2.0
"""Covariance of pose and twist by wrong parameters: against differences, filters and many runs."""

from dataclasses import replace

import numpy as np
import pytest
from miscalibrated import measured, towed_drive, wrong
from robots import C3P
from scipy.stats import chi2

from c3p_kernels.compiled import kernel
from c3p_kinematics import _uncertainty_kernels as kernels
from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration._online_kernels import fuse
from c3p_kinematics.calibration.parameters import (
    CalibrationSettings,
    LearningSettings,
    Prior,
    calibrated,
    parameters_of,
)
from c3p_kinematics.casters import inverse, sensed_forward
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.odometry_states import Lasting, RigidFit
from c3p_kinematics.se2 import compose, log, wrap
from c3p_kinematics.se2 import inverse as inverse_pose

# of a floor on which wheels roll ideally: what is left is rounding and the description
IDEAL = OdometrySettings(
    position_variance_per_metre=0.0, position_variance_per_radian=0.0, yaw_variance_per_metre=0.0,
    yaw_variance_per_radian=0.0, initial_position_std=1e-4, initial_yaw_std=1e-4,
    rate_noise_std=1e-5, creep=0.0, tyre_creep=0.0, side_slip=0.0)

# runs of the consistency test
RUNS = 24


cut_fit = RigidFit.cut
cut_lasting = Lasting.cut


@kernel
def sloped(motion, block, geometry, yaw, dt):
    """Add the slopes of a RigidFit to those of the pose in a Lasting, both as blocks."""
    lasting = cut_lasting(block, len(geometry))
    kernels.add_slopes(geometry, cut_fit(motion, len(geometry)), lasting, yaw, dt, lasting.pose)


@kernel
def carried(block, dx, dy, spread, cross):
    """Do as `carry`; `block` is one of Lasting of three casters."""
    kernels.carry(dx, dy, cut_lasting(block, 3), spread, cross)


@pytest.fixture(scope='module')
def tow():
    return towed_drive(C3P, 4, 20.0)


def shifted(robot, k, by):
    """Return the robot with another parameter `k`, and the shift (n,) of its steering angles."""
    change = np.zeros(5 * robot.count)
    change[k] = by
    return (calibrated(robot, parameters_of(robot).ravel() + change),
            change.reshape(-1, 5)[:, 4])


@pytest.mark.parametrize('seed', range(3))
def test_slopes_of_the_twist_are_those_by_differences(seed):
    rng = np.random.default_rng(seed)
    robot = replace(C3P, hip_position=C3P.hip_position + rng.normal(0, 0.02, (3, 2)))
    steering, twist = rng.uniform(-3, 3, 3), rng.normal(size=3)
    wheel, turn, _ = inverse(robot, steering, twist)
    motion, lasting = RigidFit.new(3), Lasting.new(3, rounding=2.0)
    motion.steering[:], motion.twist[:], motion.weight[:] = steering, twist, 1.0
    motion.unit[:] = np.linalg.inv(sensed_forward(robot, steering, wheel, turn).information)
    lasting.units[:] = 1.0
    sloped(motion.block, lasting.block, robot.geometry, 0.3, 0.1)
    slopes, rounded = lasting.pose.by_parameter, lasting.pose.by_rounding
    c, s = np.cos(0.3), np.sin(0.3)
    floor = 0.1 * np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    for k in range(15):
        ends = []
        for by in (-1e-6, 1e-6):
            other, zero = shifted(robot, k, by)
            ends.append(sensed_forward(other, steering + zero, wheel, turn).twist)
        np.testing.assert_allclose(slopes[:, k], floor @ (ends[1] - ends[0]) / 2e-6, atol=1e-6)
    # a rounded steering angle has the effect of a wrong zero
    np.testing.assert_allclose(rounded, 2.0 * slopes[:, 4::5], atol=1e-12)


def test_the_pose_moves_with_a_parameter_as_its_cross_covariance_says(tow):
    recording, _ = tow
    settings = replace(IDEAL, steering_resolution=0.0)
    odometry = Odometry(C3P, settings)
    run(odometry, recording)
    units = Prior().deviations(C3P)
    for k in (0, 1, 2, 8, 9):
        poses = []
        for by in (-0.1, 0.1):
            other, zero = shifted(C3P, k, by * units[k])
            seen = recording._replace(steering=recording.steering + zero)
            poses.append(run(Odometry(other, settings), seen)[-1].pose)
        # with P = 1, A is the derivative of the pose by the unknowns; second order is below 5 %
        slope = (poses[1] - poses[0]) / 0.2
        np.testing.assert_allclose(odometry._lasting.cross[:, k], slope,
                                   atol=0.05 * np.abs(slope).max())


def run(odometry, recording, start=(0.0, 0.0, 0.0)):
    odometry.reset(start)
    return [odometry.step(*row) for row in zip(*recording, strict=True)]


def test_carrying_in_parts_is_carrying_the_joint_covariance():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(15, 15))
    spread = root @ root.T
    joint, rounding = np.zeros((18, 18)), 0.0
    joint[3:, 3:] = spread
    lasting, cross = Lasting.new(3, resolution=rounding), np.zeros((3, 15))
    for _ in range(4):
        dx, dy, slopes = *rng.normal(size=2), rng.normal(size=(3, 15))
        full = np.eye(18)
        full[0, 2], full[1, 2], full[:3, 3:] = -dy, dx, slopes
        joint = full @ joint @ full.T
        lasting.pose.by_parameter[:] = slopes
        carried(lasting.block, dx, dy, spread, cross)
    np.testing.assert_allclose(lasting.covariance, joint[:3, :3], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(cross, joint[:3, 3:], rtol=1e-9, atol=1e-9)


def test_learning_leaves_the_error_that_the_pose_has():
    rng = np.random.default_rng(2)
    root = rng.normal(size=(18, 18))
    joint = root @ root.T
    jacobian = np.zeros((3, 18))
    jacobian[:, 3:] = rng.normal(size=(3, 15))
    unknown, spread, cross = np.zeros(15), joint[3:, 3:].copy(), joint[:3, 3:].copy()
    fuse(rng.normal(size=3), jacobian[:, 3:].copy(), unknown, spread, cross, 1e9, 0.0, 1e9)
    innovation = jacobian @ joint @ jacobian.T + np.eye(3)
    gain = joint @ jacobian.T @ np.linalg.inv(innovation)
    gain[:3] = 0.0
    # Joseph's form holds for any gain
    rest = np.eye(18) - gain @ jacobian
    expected = rest @ joint @ rest.T + gain @ gain.T
    np.testing.assert_allclose(spread, expected[3:, 3:], atol=1e-9)
    np.testing.assert_allclose(cross, expected[:3, 3:], atol=1e-9)
    np.testing.assert_allclose(joint[:3, :3], expected[:3, :3], atol=1e-12)


def nees(error, covariance):
    return float(error @ np.linalg.solve(covariance, error))


def band(runs, degrees=3, probability=0.001):
    """Return the two-sided limits of the mean of `runs` values of χ²."""
    return chi2.ppf([probability / 2, 1 - probability / 2], runs * degrees) / runs


@pytest.mark.parametrize('learns', [False, True])
def test_errors_of_pose_and_twist_are_those_of_their_covariance(tow, learns):
    recording, poses = tow
    # the twist is that of the last step, by increments
    step = compose(inverse_pose(poses[:-1]), poses[1:])
    step[:, 2] = wrap(step[:, 2])
    twists = np.array([log(p) for p in step]) / np.diff(recording.time)[:, None]
    values = []
    for seed in range(RUNS):
        described, errors = wrong(C3P, 500 + seed)
        odometry = CalibratingOdometry(described, IDEAL, LearningSettings(
            CalibrationSettings(creep=2e-4))) if learns else Odometry(described, IDEAL)
        estimates = run(odometry, measured(recording, errors), poses[0])
        values.append([])
        for k in range(500, len(poses), 500):
            off, found = estimates[k].pose - poses[k], estimates[k]
            off[2] = wrap(off[2])
            values[-1].append((nees(off, found.pose_covariance),
                               nees(found.twist - twists[k - 1], found.twist_covariance)))
    mean = np.mean(values, axis=0)
    # bands for one time, which all seven must meet; of the twists, whose rounding errors are the
    # same in all runs, for their mean
    low, high = band(RUNS)
    assert np.all((low < mean[:, 0]) & (mean[:, 0] < high)), mean
    assert low < mean[:, 1].mean() < high, mean
