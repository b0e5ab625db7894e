# SPDX-License-Identifier: Apache-2.0
"""Experiment: is the covariance of the odometry as large as its errors, over many drives."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaincinv

from c3p_description.model import Array, CasterRobot
from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import ExperimentRun, Outcome, Row
from c3p_experiments.self_calibration import drives
from c3p_experiments.self_calibration.draws import ERRORS
from c3p_experiments.self_calibration.drives import CalibrationDrive, minute
from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration.parameters import (
    CalibrationSettings,
    LearningSettings,
    calibrated,
    parameters_of,
)
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.se2 import wrap
from c3p_simulation.plants.floor import FloorPatch
from c3p_simulation.plants.parameter_errors import perturbed

# drives, each with a wrong description of its own; first seed: others serve the development
RUNS = 200
FIRST = 3000

# each drive whose number is divisible by this has oil: number and side of the patches, m, and
# their friction
OILY = 4
PATCHES = 40
SIDE = 0.3
OIL = 0.05

# times of the comparison, per drive
TIMES = 12

# probability that the mean at one time is within the band if the covariance is right
BAND = 0.95

# settings of the contact plant, whose wheels creep less than the defaults allow for
PLANT: dict[str, Any] = {
    'position_variance_per_metre': 4e-7, 'position_variance_per_radian': 1e-7,
    'yaw_variance_per_metre': 3e-7, 'yaw_variance_per_radian': 1e-7,
    'rate_noise_std': 0.001, 'rate_lag': 0.005, 'creep': 0.0,
    'tyre_creep': 0.0, 'side_slip': 0.0}
PLANT_CREEP = 7e-4

KINDS = ('described', 'learned')


def _rows() -> tuple[Row, ...]:
    rows: list[Row] = []
    for kind, name in zip(KINDS, ('described robot', 'robot that learns'), strict=True):
        for part in ('pose', 'twist'):
            rows += [Row(f'{kind}.{part}.{key}', f'{name}, {part}, {text}', digits=2)
                     for key, text in (('mean', 'squared error per expected, mean'),
                                       ('lowest', 'lowest of all times'),
                                       ('highest', 'highest of all times'))]
            rows.append(Row(f'{kind}.{part}.inside_ratio', f'{name}, {part}, times in the band',
                            '%', 100.0, digits=0, bar=BAND, at_least=True))
    return tuple(rows)


ROWS = _rows()


class Consistency(NamedTuple):
    """
    Normalised squared errors per degree of freedom.

    Attributes
    ----------
    time : (t,) array, s
    oily : (runs,) bool array
    squares : (runs, 2, 2, t) array
        Of described and learning odometry, of pose and twist.
    """

    time: Array
    oily: Array
    squares: Array


def consistency(bench: Bench, runs: int = RUNS) -> Outcome:
    """
    Compare errors and covariance of odometry with wrong descriptions over many drives.

    Parameters
    ----------
    bench : Bench
        Its robot is the true one.
    runs : int
        Drives of a minute to random goals. Every fourth is on a floor with oil, on the plant
        `mujoco`.
    """
    first = FIRST + 1000 * bench.conditions.seed
    driven: list[CalibrationDrive] = []
    found: list[Array] = []
    oily: list[bool] = []
    for seed in range(first, first + runs):
        oily.append(seed % OILY == OILY - 1 and bench.conditions.plant == 'mujoco')
        lesson = minute(bench, seed, plant=bench.plant(patches=oil(seed) if oily[-1] else ()))
        driven = driven or [lesson]
        found.append(squares(bench, lesson, seed))
    seen = Consistency(times(), np.array(oily), np.array(found))
    return Outcome({'reached': True, **statistics(seen)}, (
        ExperimentRun('', driven[0].log, {'consistency': seen}),))


def times() -> Array:
    """Return the times (t,) of the comparison, s."""
    return drives.MINUTE * (np.arange(TIMES) + 1.0) / TIMES


def oil(seed: int) -> tuple[FloorPatch, ...]:
    """Return oil patches within the reach of the random drives."""
    half = 0.5 * SIDE
    reach = drives.REACH
    return tuple(FloorPatch((x - half, x + half), (y - half, y + half), OIL) for x, y in
                 np.random.default_rng([9, seed]).uniform(-reach, reach, (PATCHES, 2)))


def squares(bench: Bench, drive: CalibrationDrive, seed: int) -> Array:
    """
    Return the normalised squared errors (2, 2, t) of a drive with a wrong description.

    Parameters
    ----------
    bench : Bench
    drive : CalibrationDrive
        Recorded, of the true robot.
    seed : int
        Of the description, and of the error of the pose at the start.
    """
    off = perturbed(bench.robot, seed, ERRORS)
    zero = bench.robot.steering_zero - off.steering_zero
    described = calibrated(bench.robot, parameters_of(off))
    settings = replace(bench.odometry().settings, **PLANT)
    start = np.random.default_rng(seed).normal(size=3) * np.array([
        settings.initial_position_std, settings.initial_position_std, settings.initial_yaw_std])
    return np.array([_squares(odometry, drive, zero, start)
                     for odometry in _estimators(described, settings)])


def _estimators(described: CasterRobot, settings: OdometrySettings) -> tuple[Odometry, Odometry]:
    learning = LearningSettings(CalibrationSettings(
        wheel_resolution=settings.wheel_resolution,
        steering_resolution=settings.steering_resolution, creep=PLANT_CREEP))
    return Odometry(described, settings), CalibratingOdometry(described, settings, learning)


def _squares(odometry: Odometry, drive: CalibrationDrive, zero: Array, start: Array) -> Array:
    truth = drive.log.ground_truth
    out: list[list[float]] = []
    odometry.reset(truth.pose[0] + start)
    due = times()
    for k, (time, steering, steering_rate, wheel, rate, _) in enumerate(
            zip(*drive.log.joints, strict=True)):
        estimate = odometry.step(time, steering - zero, wheel, rate, steering_rate)
        if len(out) < len(due) and time >= due[len(out)] - 1e-9:
            miss = estimate.pose - truth.pose[k]
            miss[2] = wrap(miss[2])
            out.append([_square(miss, estimate.pose_covariance),
                        _square(estimate.twist - truth.twist[k], estimate.twist_covariance)])
    return np.array(out).T


def _square(miss: Array, covariance: Array) -> float:
    return float(miss @ np.linalg.solve(covariance, miss)) / len(miss)


def band(runs: int) -> tuple[float, float]:
    """Return the limits between which the mean of `runs` is with probability `BAND`."""
    freedoms = 3.0 * runs
    low, high = (2.0 * gammaincinv(0.5 * freedoms, p) / freedoms
                 for p in (0.5 - 0.5 * BAND, 0.5 + 0.5 * BAND))
    return float(low), float(high)


def statistics(seen: Consistency) -> dict[str, Any]:
    """Return the metrics: means over all drives at each time, with and without oil."""
    low, high = band(len(seen.squares))
    out: dict[str, Any] = {'runs': len(seen.squares), 'band': [low, high],
                           'time_s': seen.time.tolist()}
    for row, kind in enumerate(KINDS):
        out[kind] = {}
        for column, part in enumerate(('pose', 'twist')):
            values = seen.squares[:, row, column]
            mean = values.mean(0)
            out[kind][part] = {
                'mean': float(mean.mean()), 'lowest': float(mean.min()),
                'highest': float(mean.max()),
                'inside_ratio': float(np.mean((low <= mean) & (mean <= high))),
                'at_time': mean.tolist(),
                **{name: float(values[some].mean()) if some.any() else math.nan
                   for name, some in (('oil', seen.oily), ('without_oil', ~seen.oily))}}
    return out
