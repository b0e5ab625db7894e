# SPDX-License-Identifier: Apache-2.0
"""Drives of the experiment: a line, the triangle, a minute of any driving, and turns."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.run_log import Motion
from c3p_description.model import Array
from c3p_experiments.el_shenawy.goals import DWELL, TRIANGLE
from c3p_experiments.el_shenawy.measures import path_error
from c3p_experiments.loop.closed_loop import Held, LoopLog
from c3p_experiments.loop.command_sources import GoalSource, TwistSource
from c3p_experiments.loop.conditions import Bench
from c3p_kinematics.calibration.recording import JointRecording

# goal of the line, m
LINE = (4.0, 0.0, 0.0)

# duration of the drive that teaches, s; its goals are within so far of the start, m
MINUTE = 60.0
REACH = 3.0

# largest distance of a goal from the one before, m and rad
LEG = 2.0
TURN = 3.0

# turns on the spot: those that are judged, and those that end on a mark; their yaw rate, rad/s,
# and its rise time, s
TURNS = 10
MARKED_TURNS = 10
YAW_RATE = 1.0
RISE = 1.0


class CalibrationDrive(NamedTuple):
    """A drive: its log, its points, and the end times of all legs but the last."""

    log: LoopLog
    points: tuple[tuple[float, ...], ...]
    times: tuple[float, ...]

    @property
    def recording(self) -> JointRecording:
        """The joint angles."""
        joints = self.log.joints
        return JointRecording(joints.time, joints.steering, joints.wheel_angle)


class Errors(NamedTuple):
    """True errors of a drive: at its end, and the largest distance from its path, m."""

    final: float
    path: float
    end: tuple[float, float]


def line(bench: Bench, **options: Any) -> CalibrationDrive:
    """Drive 4 m along +X from steering angles 0."""
    return _drive(bench, (LINE,), 40.0, **options)


def triangle(bench: Bench, **options: Any) -> CalibrationDrive:
    """Drive the triangle of paper I, Fig. 10."""
    return _drive(bench, TRIANGLE[1:], 100.0, **options)


def minute(bench: Bench, seed: int, **options: Any) -> CalibrationDrive:
    """Drive to random goals for a minute."""
    rng = np.random.default_rng(seed)
    goals = []
    place = np.zeros(2)
    # a goal takes more than two seconds
    for _ in range(30):
        place = np.clip(place + rng.uniform(-LEG, LEG, 2), -REACH, REACH)
        goals.append((*place.tolist(), float(rng.uniform(-TURN, TURN))))
    return _drive(bench, tuple(goals), MINUTE, **options)


def turns(bench: Bench, count: float) -> CalibrationDrive:
    """Turn on the spot `count` times, by the odometry of a right description."""
    held = 2.0 * math.pi * count / YAW_RATE

    def twist(time: float) -> tuple[float, float, float]:
        return 0.0, 0.0, YAW_RATE * min(1.0, time / RISE, max(0.0, (held + RISE - time) / RISE))

    log = bench.run(bench.controller(), TwistSource(twist), duration=held + 2.0 * RISE)
    return CalibrationDrive(log, ((0.0, 0.0, 0.0),) * 2, ())


def _drive(bench: Bench, goals: tuple[tuple[float, ...], ...], duration: float, **options: Any
           ) -> CalibrationDrive:
    controller = bench.controller()
    source = GoalSource(controller.position(), list(goals), dwell=0.2)
    log = bench.run(controller, source, duration=duration, stop=Held(DWELL), **options)
    return CalibrationDrive(log, ((0.0, 0.0, 0.0), *goals), tuple(source.times))


def errors_of(drive: CalibrationDrive, truth: Motion) -> Errors:
    """Return the true errors of a drive along its points, with `truth` for its ground truth."""
    end = truth.pose[-1, :2] - np.array(drive.points[-1])[:2]
    away = path_error(truth, {'points': drive.points, 'times': drive.times})
    return Errors(float(np.hypot(*end)), float(away.max()), (float(end[0]), float(end[1])))


def mirrored(truth: Motion, sensed: Array) -> Motion:
    """
    Return the motion of a robot that holds `sensed` poses where this one holds its true poses.

    A robot that controls its odometry has the opposite error of odometry in its true pose, to the
    first order.
    """
    return truth._replace(pose=2.0 * truth.pose - sensed)
