# SPDX-License-Identifier: Apache-2.0
"""Calibration of a robot from bags: recordings, references, and result files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.run_log import Motion, RunLog
from c3p_bags.storage.bag import Bag
from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_description.reading.written import replace_text, write_robot
from c3p_description.wheels import believed
from c3p_experiments.calibration.imu import ImuSource, Recorded, turns_by_imu
from c3p_experiments.calibration.report import metrics_of, robot_file
from c3p_experiments.kept_description import kept_description
from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration.explained import explained_calibration
from c3p_kinematics.calibration.kept import kept_name, kept_text
from c3p_kinematics.calibration.parameters import FIELDS, CalibrationSettings
from c3p_kinematics.calibration.recording import CalibrationError, JointRecording
from c3p_kinematics.calibration.references import Displacement, MeasuredDistance, Reference
from c3p_kinematics.odometry import OdometrySettings

# path of the ground truth between two references, m, and its deviations, m and rad
EVERY = 1.0
TRUE_DEVIATION = (0.002, 0.002, 0.002)

# half of the time over which the speed of the ground truth is taken, s
HALF_WINDOW = 0.25

# deviations of a mark on the floor: x, y [m] and yaw [rad]
MARK_DEVIATION = (0.002, 0.002, math.radians(0.5))


class Taped(NamedTuple):
    """
    Outside reference of a whole recording, from its begin to its end.

    Attributes
    ----------
    recording : int
        From 0.
    distance : float or None, m
        Between the two places.
    place : tuple of float or None
        x, y [m] and yaw [rad] of the end as seen from the begin; nan is unknown.
    """

    recording: int
    distance: float | None = None
    place: tuple[float, float, float] | None = None


def recording_of(log: RunLog) -> JointRecording:
    """Return the joints of a run; samples that are not later than all before are left out."""
    time = log.joints.time
    later = np.concatenate([[True], time[1:] > np.maximum.accumulate(time)[:-1]])
    return JointRecording(time[later], log.joints.steering[later], log.joints.wheel_angle[later])


def references_of(robot: CasterRobot, logs: Sequence[RunLog], taped: Sequence[Taped],
                  ground_truth: bool, time_deviation: float = 0.0) -> list[Reference]:
    """
    Return the references of the recorded runs `logs` of a robot.

    They are those of `taped` and, with `ground_truth`, displacements by the ground truth;
    `time_deviation` [s] is that of its times from those of the joints.

    Raises
    ------
    CalibrationError
        A reference of a recording that does not exist, or a run without ground truth.
    """
    found: list[Reference] = []
    for reference in taped:
        if not 0 <= reference.recording < len(logs):
            raise CalibrationError(f'reference of bag {reference.recording + 1}: there are '
                                   f'{len(logs)} bags')
        times = logs[reference.recording].joints.time
        span = (reference.recording, float(times[0]), float(times.max()))
        if reference.distance is not None:
            found.append(MeasuredDistance(*span, reference.distance))
        if reference.place is not None:
            known = np.isfinite(reference.place)
            found.append(Displacement(
                *span, tuple(np.where(known, reference.place, 0.0).tolist()),
                tuple(np.where(known, MARK_DEVIATION, np.inf).tolist())))
    if ground_truth:
        for k, log in enumerate(logs):
            found += _truth(k, log, bool(np.any(believed(robot))), time_deviation)
    return found


def _truth(number: int, log: RunLog, from_begin: bool, time_deviation: float
           ) -> list[Reference]:
    """
    Return displacements by the ground truth, one for each metre.

    They follow each other or, `from_begin`, all begin with the recording: the direction of a robot
    that stands does not depend on the time, and a tyre that slides sideways shows after many
    metres.
    """
    truth = log.ground_truth
    if truth is None:
        raise CalibrationError(f'bag {log.path}: it has no topic ground_truth/odom')
    joints = log.joints.time
    path = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(truth.pose[:, :2], axis=0).T))])
    rows = np.searchsorted(path, np.arange(0.0, path[-1], EVERY))
    if from_begin:
        rows = np.append(rows, len(path) - 1)
    rows = rows[(truth.time[rows] >= joints[0]) & (truth.time[rows] <= joints.max())]
    begins = np.full(len(rows[1:]), rows[0]) if from_begin and len(rows) else rows[:-1]
    found: list[Reference] = []
    for a, b in zip(begins, rows[1:], strict=True):
        # the odometry begins at a joint sample: the truth at the same time
        times = [float(joints[np.argmin(np.abs(joints - truth.time[r]))]) for r in (a, b)]
        pose = [_pose_at(truth, t) for t in times]
        c, s = math.cos(pose[0][2]), math.sin(pose[0][2])
        x, y, yaw = pose[1] - pose[0]
        moved = time_deviation * np.array([_rate_at(truth, t) for t in times])
        along, across, turned = (math.sqrt(own**2 + float(more @ more))
                                 for own, more in zip(TRUE_DEVIATION, moved.T, strict=True))
        found.append(Displacement(number, times[0], times[1],
                                  (c * x + s * y, c * y - s * x, yaw), (along, across, turned)))
    return found


def _pose_at(truth: Motion, time: float) -> Array:
    """Return the pose of a ground truth at a time, (3,)."""
    return np.array([np.interp(time, truth.time, truth.pose[:, j]) for j in range(3)])


def _rate_at(truth: Motion, time: float) -> Array:
    """Return speed (twice, of x and y) and yaw rate of a ground truth at a time, (3,)."""
    change = (_pose_at(truth, time + HALF_WINDOW) - _pose_at(truth, time - HALF_WINDOW))
    speed = math.hypot(change[0], change[1])
    return np.array([speed, speed, abs(change[2])]) / (2.0 * HALF_WINDOW)


def odometry_of(robot: CasterRobot, log: RunLog, parameters: Array | None,
                settings: CalibrationSettings) -> Array:
    """
    Return the poses (k, 3) of the odometry of a run.

    `robot` is the description, `log` the run, `parameters` (n, 5) are used in place of the
    described ones, and `settings` have the resolution of the encoders.
    """
    odometry = CalibratingOdometry(robot, OdometrySettings(
        wheel_resolution=settings.wheel_resolution,
        steering_resolution=settings.steering_resolution))
    if parameters is not None:
        # any estimate, however far from the description
        odometry.calibration.adopt(parameters, limited=False)
        odometry.follow()
    odometry.calibration.frozen = True
    odometry.reset((0.0, 0.0, 0.0) if log.ground_truth is None else log.ground_truth.pose[0])
    joints = log.joints
    return np.array([odometry.step(*row).pose for row in zip(
        joints.time, joints.steering, joints.wheel_angle, joints.wheel_rate,
        joints.steering_rate, strict=True)])


def _recorded(bag: Bag, log: RunLog, joints: JointRecording, poses: Array) -> Recorded:
    """Return a bag with the yaw of its `poses` (k, 3) at the samples of `joints`."""
    at = np.searchsorted(np.maximum.accumulate(log.joints.time), joints.time)
    return Recorded(bag, log, joints, np.unwrap(poses[at, 2]))


class OutsideReferences(NamedTuple):
    """
    References of a calibration besides its joints.

    Attributes
    ----------
    taped : sequence of Taped
        Distances and displacements.
    ground_truth : bool
        Use the topic ``ground_truth/odom`` of all bags.
    imu : ImuSource or None
        Its yaw is a reference of all bags.
    """

    taped: Sequence[Taped] = ()
    ground_truth: bool = False
    imu: ImuSource | None = None


JOINTS_ALONE = OutsideReferences()


def calibrate_bags(bags: Sequence[Bag], robot: str = 'c3p', out: str | Path = 'out/calibrate', *,
                   namespace: str | None = None, outside: OutsideReferences = JOINTS_ALONE,
                   settings: CalibrationSettings | None = None, recorded: bool = False
                   ) -> dict[str, Any]:
    """
    Calibrate a robot from bags; write robot file and page, return the metrics.

    Parameters
    ----------
    bags : sequence of Bag
    robot : str
        Name or path of the description.
    out : str or Path
        Directory for ``calibrated.yaml``, ``calibrate.png`` and ``calibrate.pdf``.
    namespace : str, optional
        Of the robot in the bags; default: the only one.
    outside : OutsideReferences
    settings : CalibrationSettings, optional
    recorded : bool
        A URDF `robot` is the one in the bag, and kept as ``robot.urdf`` beside the robot file.

    Returns
    -------
    dict
        For JSON, SI units; see docs/calibration.md.

    Raises
    ------
    BagError, ModelError, CalibrationError
        No bag, no robot, no motion, or a reference that does not exist.
    UnexplainedError
        The lengths do not explain the drives; nothing is written.
    """
    # plots are imported with the first page
    from c3p_experiments.calibration.page import OdometryPaths, calibration_figure

    taped, ground_truth, imu = outside
    model = load_casters(robot)
    settings = settings or CalibrationSettings()
    logs = [read_run(bag, model, namespace) for bag in bags]
    references = references_of(model, logs, taped, ground_truth, settings.reference_time)
    recordings = [recording_of(log) for log in logs]
    described = [odometry_of(model, log, None, settings) for log in logs]
    measured: dict[str, Any] = {}
    if imu is not None:
        turns, numbers = turns_by_imu(
            imu, [_recorded(*one) for one in zip(bags, logs, recordings, described, strict=True)],
            namespace, max(settings.wheel_resolution, settings.steering_resolution))
        references += turns
        measured = {'imu': {'topic': imu.topic, 'scale_deviation': imu.settings.scale,
                            'bags': numbers}}
    found = explained_calibration(model, recordings, references, settings)
    paths = [OdometryPaths(before, odometry_of(model, log, found.parameters, settings),
                           log.ground_truth)
             for log, before in zip(logs, described, strict=True)]
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    sources = [str(bag) for bag in bags]
    metrics = {'robot': robot, 'bags': sources, **metrics_of(found, len(references)),
               **measured}
    robot = metrics['robot'] = kept_description(robot, out, recorded)
    file = out / 'calibrated.yaml'
    kept = file.with_name(kept_name(file.name))
    write_robot(file, robot_file(found, robot, file, ', '.join(sources)), found.robot, FIELDS)
    replace_text(kept, kept_text(file.name, found.parameters, found.covariance))
    picture, document = calibration_figure(found, paths, out / 'calibrate.png')
    metrics['files'] = {'picture': str(picture), 'picture_pdf': str(document), 'robot': str(file),
                        'covariance': str(kept)}
    return metrics
