# SPDX-License-Identifier: Apache-2.0
"""Draws of the experiment: wrong descriptions, calibrated and compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_bags.runs.run_log import Joints, Motion
from c3p_description.model import Array, CasterRobot
from c3p_experiments.loop.conditions import Bench
from c3p_experiments.self_calibration import drives as known
from c3p_experiments.self_calibration.drives import (
    LINE,
    CalibrationDrive,
    Errors,
    errors_of,
    line,
    minute,
    mirrored,
    triangle,
    turns,
)
from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration.batch import calibrate
from c3p_kinematics.calibration.parameters import calibrated, parameters_of
from c3p_kinematics.calibration.references import Displacement, MeasuredDistance
from c3p_kinematics.odometry import OdometrySettings
from c3p_kinematics.se2 import compose, inverse
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.parameter_errors import ParameterErrors, perturbed
from c3p_simulation.plants.plant import Plant

# bounds of the uniform errors of a description; nothing else is wrong
ERRORS = ParameterErrors(mass=0.0, com=0.0, wheel_radius=0.0052, caster_offset=0.035,
                         hip_position=0.003, steering_zero=math.radians(0.52))

# standard deviation of a place by tape measure, m
TAPE = 0.002

# standard deviation of the turn between two marks on the floor, rad
MARK = math.radians(0.2)

# first seed of the draws: others serve the development
FIRST = 50_000


class DrawResult(NamedTuple):
    """
    Result of one draw; errors of a drive before and after.

    Attributes
    ----------
    line, line_by_distance : tuple of Errors
        After a minute of driving and a line whose end is taped, or whose length only is taped.
    triangle : tuple of Errors
        After a minute of driving, joints alone.
    radius, zero : tuple of float
        Largest error of a ratio of radii to their mean [1], and of a zero to their mean [rad].
    curve : (k, 2) array
        Time [s] and error of the ratios during the minute.
    nees : float
        Normalised squared error of the parameters by their covariance, per parameter.
    turns : tuple of float or None, rad
        Error of the yaw over turns on the spot, before, and after a minute of driving and turns
        that end on a mark; None of draws in closed loop.
    """

    line: tuple[Errors, Errors]
    line_by_distance: tuple[Errors, Errors]
    triangle: tuple[Errors, Errors]
    radius: tuple[float, float]
    zero: tuple[float, float]
    curve: Array
    nees: float
    turns: tuple[float, float] | None = None


def radius_error(parameters: Array, true: Array) -> float:
    """Return the largest error of a radius relative to the mean radius."""
    ratio = parameters[:, 0] / true[:, 0]
    return float(np.abs(ratio / ratio.mean() - 1.0).max())


def zero_error(parameters: Array, true: Array) -> float:
    """Return the largest error of a steering zero relative to the mean zero, rad."""
    off = parameters[:, 4] - true[:, 4]
    return float(np.abs(off - off.mean()).max())


def tape(drive: CalibrationDrive, seed: int, number: int) -> tuple[Displacement, MeasuredDistance]:
    """Return the end of a drive by tape measure: its place, and its distance only."""
    truth = drive.log.ground_truth.pose
    end = float(drive.log.joints.time[-1])
    moved = compose(inverse(truth[0]), truth[-1])[:2]
    off = TAPE * np.random.default_rng(seed).normal(size=3)
    place = moved + off[:2]
    return (Displacement(number, 0.0, end, (float(place[0]), float(place[1]), 0.0),
                         (TAPE, TAPE, math.inf)),
            MeasuredDistance(number, 0.0, end, float(np.hypot(*moved)) + float(off[2]), TAPE))


def mark(drive: CalibrationDrive, seed: int, number: int) -> Displacement:
    """Return the whole turn of a drive by marks on the floor."""
    yaw = drive.log.ground_truth.pose[:, 2]
    time = drive.log.joints.time
    off = MARK * np.random.default_rng([seed, 1]).normal()
    return Displacement(number, float(time[0]), float(time[-1]),
                        (0.0, 0.0, float(yaw[-1] - yaw[0] + off)), (math.inf, math.inf, MARK))


class _Learner:
    """Odometry of one described robot, and what is learned."""

    def __init__(self, described: CasterRobot, settings: OdometrySettings) -> None:
        self.described = described
        self.settings = settings

    def odometry(self, parameters: Array | None = None) -> CalibratingOdometry:
        """Return odometry with fixed `parameters`; with None it learns."""
        odometry = CalibratingOdometry(self.described, self.settings)
        if parameters is not None:
            odometry.adopt(parameters)
            odometry.calibration.frozen = True
        return odometry


def replayed(odometry: CalibratingOdometry, drive: CalibrationDrive, zero: Array,
             true: Array | None = None
             ) -> tuple[Motion, Array]:
    """
    Return the motion of a robot that drives by `odometry`, and the errors over time.

    The joints of `drive` are measured by encoders with the errors `zero` (n,); with `true`
    parameters the error of the ratios of radii is recorded every second.
    """
    joints: Joints = drive.log.joints
    truth = drive.log.ground_truth
    odometry.reset(truth.pose[0])
    poses = np.empty_like(truth.pose)
    curve: list[tuple[float, float]] = []
    for k, (time, steering, steering_rate, wheel, rate, _) in enumerate(zip(*joints,
                                                                            strict=True)):
        poses[k] = odometry.step(time, steering - zero, wheel, rate, steering_rate).pose
        if true is not None and time >= len(curve):
            curve.append((time, radius_error(odometry.calibration.parameters, true)))
    poses[:, 2] = truth.pose[:, 2] + (poses[:, 2] - truth.pose[:, 2] + np.pi) % (2 * np.pi) - np.pi
    return mirrored(truth, poses), np.array(curve)


def replay_draw(bench: Bench, drives: Sequence[CalibrationDrive], seed: int) -> DrawResult:
    """
    Calibrate a wrong description with recorded drives, and compare them by its odometry.

    Parameters
    ----------
    bench : Bench
        Its robot is the true one.
    drives : sequence of CalibrationDrive
        Line, triangle, minute, turns that end on a mark, and turns that are judged.
    seed : int
    """
    first, round_trip, lesson, marked, turned = drives
    off = perturbed(bench.robot, seed, ERRORS)
    # the described robot is the random one; encoders turn the error of its zero around
    zero = -off.steering_zero + bench.robot.steering_zero
    true = parameters_of(bench.robot)
    true[:, 4] = zero
    described = calibrated(bench.robot, parameters_of(off))
    learner = _Learner(described, bench.odometry().settings)
    before = parameters_of(described)
    pupil = learner.odometry()
    _, curve = replayed(pupil, lesson, zero, true)
    after = pupil.calibration.parameters.copy()
    nees = _nees(pupil, true)
    recordings = [d.recording._replace(steering=d.recording.steering - zero)
                  for d in (lesson, first, marked)]
    settings = pupil.calibration.settings.calibration
    taped = [calibrate(described, recordings[:2], [reference], settings).parameters
             for reference in tape(first, seed, 1)]
    on_mark = calibrate(described, recordings[::2], [mark(marked, seed, 1)], settings).parameters

    def errors(drive: CalibrationDrive, parameters: Array) -> Errors:
        return errors_of(drive, replayed(learner.odometry(parameters), drive, zero)[0])

    def turn_error(parameters: Array) -> float:
        motion = replayed(learner.odometry(parameters), turned, zero)[0]
        return float(motion.pose[-1, 2] - turned.log.ground_truth.pose[-1, 2])

    unlearned = errors(first, before)
    return DrawResult(
        (unlearned, errors(first, taped[0])), (unlearned, errors(first, taped[1])),
        (errors(round_trip, before), errors(round_trip, after)),
        (radius_error(before, true), radius_error(after, true)),
        (zero_error(before, true), zero_error(after, true)), curve, nees,
        (turn_error(before), turn_error(on_mark)))


def taught_triangle(bench: Bench, seed: int) -> tuple[Errors, Errors]:
    """
    Drive a triangle with a wrong description, before and after a minute of learning.

    Closed loop of a described robot and a plant that differs from it by `ERRORS`, as in
    `closed_draw`; joints alone teach.

    Parameters
    ----------
    bench : Bench
    seed : int
        Of the errors, and of the goals of the minute.

    Returns
    -------
    before, after : Errors
        True errors of both triangles, m.
    """
    learner = _Learner(bench.robot, bench.odometry().settings)

    def driven(parameters: Array) -> Errors:
        drive = triangle(bench, plant=_plant(bench, seed), odometry=learner.odometry(parameters))
        return errors_of(drive, drive.log.ground_truth)

    pupil = learner.odometry()
    minute(bench, seed, plant=_plant(bench, seed), odometry=pupil)
    return (driven(parameters_of(bench.robot)),
            driven(pupil.calibration.parameters.copy()))


def closed_draw(bench: Bench, seed: int) -> DrawResult:
    """Drive a wrong robot on the plant in closed loop: before, a minute of learning, after."""
    described = bench.robot
    plant = _plant(bench, seed)
    true = parameters_of(plant.robot)
    true[:, 4] = plant.robot.steering_zero - described.steering_zero
    learner = _Learner(described, bench.odometry().settings)
    before = parameters_of(described)

    def options(parameters: Array | None) -> dict:
        return {'plant': _plant(bench, seed), 'odometry': learner.odometry(parameters)}

    unlearned = line(bench, **options(before))
    loop = triangle(bench, **options(before))
    pupil = learner.odometry()
    lesson = minute(bench, seed, plant=_plant(bench, seed), odometry=pupil)
    after = pupil.calibration.parameters.copy()
    recordings = [lesson.recording, unlearned.recording]
    place, distance = (calibrate(described, recordings, [reference],
                                 pupil.calibration.settings.calibration).parameters
                       for reference in tape(unlearned, seed, 1))

    def errors(drive: CalibrationDrive) -> Errors:
        return errors_of(drive, drive.log.ground_truth)

    first = errors(unlearned)
    return DrawResult(
        (first, errors(line(bench, **options(place)))),
        (first, errors(line(bench, **options(distance)))),
        (errors(loop), errors(triangle(bench, **options(after)))),
        (radius_error(before, true), radius_error(after, true)),
        (zero_error(before, true), zero_error(after, true)), np.zeros((0, 2)),
        _nees(pupil, true))


def _plant(bench: Bench, seed: int) -> Plant:
    c = bench.conditions
    return make_plant(c.plant, bench.robot, PlantOptions(
        friction=0.8 if c.friction is None else c.friction, sensors=c.sensors, errors=ERRORS,
        seed=seed), bench.robot_name)


def _nees(pupil: CalibratingOdometry, true: Array) -> float:
    miss = (pupil.calibration.parameters - true).ravel()
    return float(miss @ np.linalg.solve(pupil.calibration.covariance, miss)) / len(miss)


class Taught(NamedTuple):
    """Drives with a right description: `marked` turns end on a mark, `turned` are judged."""

    line: CalibrationDrive
    triangle: CalibrationDrive
    minutes: list[CalibrationDrive]
    marked: CalibrationDrive
    turned: CalibrationDrive


def taught_drives(bench: Bench, lessons: int) -> Taught:
    """Drive with a right description, for replays: `lessons` minutes, and one of each other."""
    return Taught(line(bench), triangle(bench), [minute(bench, bench.conditions.seed + k)
                                                 for k in range(lessons)],
                  turns(bench, known.MARKED_TURNS), turns(bench, known.TURNS))


__all__ = ['ERRORS', 'LINE', 'DrawResult', 'closed_draw', 'replay_draw', 'taught_drives',
           'taught_triangle']
