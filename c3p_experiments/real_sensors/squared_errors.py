# SPDX-License-Identifier: Apache-2.0
"""Errors of pose and twist against their covariance, in drives with sensors of real robots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_experiments.loop.closed_loop import LoopLog, timed_odometry
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.real_sensors.drives import TimedCase, driven
from c3p_experiments.slip_faults.named_faults import wrongly_described
from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration.parameters import CalibrationSettings, LearningSettings
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.se2 import wrap

# times of a drive at which errors are taken, evenly over it
TIMES = 12


class SquaredErrors(NamedTuple):
    """
    Means over a drive.

    Attributes
    ----------
    pose, twist : float
        Squared error per expected one and degree of freedom (NEES); 1 is consistent.
    along, across : float, m²/s²
        Squared error of the twist, x and y in ``base_link``.
    """

    pose: float
    twist: float
    along: float
    across: float


def squared_errors(plant: str, task: str, seed: int) -> tuple[SquaredErrors, SquaredErrors]:
    """
    Return the errors in a drive of the C3P with `real` sensors and a wrong description.

    The drive is controlled by the right description, and both odometries repeat its samples, one
    as it is described and one that learns.

    Parameters
    ----------
    plant : str
    task : str
        Of `drives.TASKS`.
    seed : int
        Of the sensors and of the description.

    Returns
    -------
    tuple of SquaredErrors
        Described and learning.
    """
    conditions = Conditions(plant=plant, seed=seed, sensor_profile='real')
    sensors = conditions.sensors
    log, odometry = driven(TimedCase(conditions, 'c3p', 'real', sensors, task, seed))
    robot, zero = wrongly_described(odometry.robot, seed)
    steps = (2.0 * np.pi / sensors.wheel_counts, 2.0 * np.pi / sensors.steering_counts)
    settings = OdometrySettings(wheel_resolution=steps[0], steering_resolution=steps[1],
                                **timed_odometry(sensors.timing))
    learning = LearningSettings(CalibrationSettings(
        wheel_resolution=steps[0], steering_resolution=steps[1]))
    start = np.random.default_rng([13, seed]).normal(size=3) * np.array([
        settings.initial_position_std, settings.initial_position_std, settings.initial_yaw_std])
    described, learned = (_repeated(one, log, zero, start) for one in (
        Odometry(robot, settings), CalibratingOdometry(robot, settings, learning)))
    return described, learned


def _repeated(odometry: Odometry, log: LoopLog, zero: Array, start: Array) -> SquaredErrors:
    """Return the errors of an odometry that begins with an error `start` (3,) of its pose."""
    truth = log.ground_truth
    joints = log.joints
    odometry.reset(truth.pose[0] + start)
    due = np.linspace(0, len(joints.time) - 1, TIMES + 1).round().astype(int)[1:]
    found = []
    for k, time in enumerate(joints.time):
        estimate = odometry.step(time, joints.steering[k] + zero, joints.wheel_angle[k],
                                 joints.wheel_rate[k], joints.steering_rate[k])
        if k in due:
            miss = estimate.pose - truth.pose[k]
            miss[2] = wrap(miss[2])
            off = estimate.twist - truth.twist[k]
            found.append((_square(miss, estimate.pose_covariance),
                          _square(off, estimate.twist_covariance), off[0]**2, off[1]**2))
    return SquaredErrors(*(float(mean) for mean in np.mean(found, 0)))


def _square(miss: Array, covariance: Array) -> float:
    """Return the squared error per expected one and degree of freedom."""
    return float(miss @ np.linalg.solve(covariance, miss)) / len(miss)
