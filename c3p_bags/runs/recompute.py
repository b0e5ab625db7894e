# SPDX-License-Identifier: Apache-2.0
"""
Odometry computed again from the joint states in a bag, by what the node itself runs.

The same samples through the same object give the same bits. What a bag does not say is found in
the recorded odometry: of a cycle that it has no message for, whether it was refused on that day
(too old by the clock) or only its answer was not recorded; and where the recorded pose jumps,
somebody has set it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from c3p_bags.storage.bags import BagError, read_raw
from c3p_bags.storage.log_fields import joint_reader
from c3p_description.model import Array, CasterRobot
from c3p_kinematics.odometry import OdometryEstimate, OdometrySettings
from c3p_kinematics.odometry_stream import OdometryStream, planar_covariance
from c3p_kinematics.se2 import wrap
from c3p_ros.cdr import MessageError
from c3p_ros.cdr_arrays import tables
from c3p_ros.cycle import CycleClock

JOINT_STATES, ODOMETRY = 'sensor_msgs/msg/JointState', 'nav_msgs/msg/Odometry'

# a pose that differs by more than this from one cycle to the next, against what the wheels have
# done in it, was set, m or rad: no robot of the suite drives it in one cycle of 5 ms
JUMP = 0.01


class Samples(NamedTuple):
    """
    Joint states of a bag as the odometry takes them.

    Attributes
    ----------
    recorded, stamp : (k,) int array, ns
        When they were recorded, and the stamps of their headers.
    angles : (k, 4, n) array
        Steering, steering rate, wheel angle and wheel rate; rad and rad/s.
    """

    recorded: Array
    stamp: Array
    angles: Array


class Recorded(NamedTuple):
    """
    Numbers of the Odometry messages of a bag, as they stand in it.

    Attributes
    ----------
    recorded, stamp : (k,) int array, ns
    numbers : (k, 85) array
        Position and quaternion (7), twist (6), covariance of the pose (36) and of the twist (36).
    """

    recorded: Array
    stamp: Array
    numbers: Array


class Recomputed(NamedTuple):
    """
    Odometry of the samples that were taken, and what became of the others.

    Attributes
    ----------
    recorded, stamp, numbers
        As of `Recorded`; `recorded` are the times of the joint states.
    refused : int
        Samples that were not used on that day, as the recorded odometry tells.
    resets : tuple of int
        Stamps at which the recorded pose was set, ns; the first one is where the bag begins, if
        the robot had driven before.
    """

    recorded: Array
    stamp: Array
    numbers: Array
    refused: int
    resets: tuple[int, ...]


class Agreement(NamedTuple):
    """
    Recomputed against recorded odometry.

    Attributes
    ----------
    compared, identical, same_motion : int
        Messages with the same stamp, those of which all 85 numbers are equal to the last bit, and
        those of which pose and twist are.
    position, yaw, twist : float, m, rad, m/s and rad/s
        Largest differences.
    covariance : float
        Largest difference as a part of the largest recorded number.
    """

    compared: int
    identical: int
    same_motion: int
    position: float
    yaw: float
    twist: float
    covariance: float


def _gather(bag: str | Path, topics: Sequence[str]) -> dict[str, tuple[list[int], list[bytes]]]:
    rows: dict[str, tuple[list[int], list[bytes]]] = {t: ([], []) for t in topics}
    for topic, time, data in read_raw(bag, topics):
        rows[topic][0].append(time)
        rows[topic][1].append(bytes(data))
    return rows


def read_samples(bag: str | Path, robot: CasterRobot, space: str = ''
                 ) -> tuple[Samples, Recorded | None]:
    """
    Return joint states and odometry of the robot in the namespace `space` of a bag.

    Raises
    ------
    BagError
        It cannot be read, or has no joint states of this robot.
    """
    joints, odom = f'{space}/joint_states', f'{space}/odom'
    rows = _gather(bag, [joints, odom])
    found = joint_reader(robot)(JOINT_STATES, rows[joints][1])
    if not found:
        raise BagError(f'bag {bag}: no message on {joints} has the joints '
                       f'{[*robot.steering_joints, *robot.wheel_joints]}')
    places = np.concatenate([f.rows for f in found])
    order = np.argsort(places)
    stamp = np.concatenate([f.stamp for f in found])[order]
    angles = np.stack([np.concatenate([f.values[i] for f in found])[order] for i in range(4)], 1)
    samples = Samples(np.array(rows[joints][0], np.int64)[places[order]], stamp, angles)
    return samples, _recorded(*rows[odom])


def _recorded(times: list[int], data: list[bytes]) -> Recorded | None:
    found = list(tables(data, ODOMETRY))
    if not found:
        return None
    order = np.argsort(np.concatenate([f.rows for f in found]))
    stamp = np.concatenate([f.fields[0] for f in found])[order]
    # fields are stamp, frames, pose, its covariance, twist, its covariance
    numbers = np.concatenate([np.hstack([f.fields[i] for i in (3, 5, 4, 6)]) for f in found])
    return Recorded(np.array(times, np.int64), stamp, numbers[order])


def _numbers(estimate: OdometryEstimate) -> Array:
    """Return the 85 numbers that the node writes into a message."""
    x, y, yaw = estimate.pose
    vx, vy, turn = estimate.twist
    return np.concatenate([
        [x, y, 0.0, 0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw)],
        [vx, vy, 0.0, 0.0, 0.0, turn], planar_covariance(estimate.pose_covariance),
        planar_covariance(estimate.twist_covariance)])


def _pose(numbers: Array) -> Array:
    return np.array([numbers[0], numbers[1], 2.0 * math.atan2(numbers[5], numbers[6])])


def _apart(a: Array, b: Array) -> float:
    """Return how far two steps (x, y, yaw) are apart, m or rad."""
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]), abs(float(wrap(a[2] - b[2]))))


def recompute(samples: Samples, robot: CasterRobot, settings: OdometrySettings | None = None,
              recorded: Recorded | None = None,
              progress: Callable[[float], None] = lambda part: None) -> Recomputed:
    """
    Return the odometry of the samples.

    Parameters
    ----------
    samples : Samples
    robot : CasterRobot
    settings : OdometrySettings, optional
        Those of the node; `odometry_settings` makes them of its parameters.
    recorded : Recorded, optional
        Tells which samples were used on that day and when the pose was set; without it every
        sample is used and the robot starts at the origin.
    progress : callable
        Told the part that is done, 0 to 1.
    """
    run = _Run(OdometryStream(robot, settings), CycleClock(), samples)
    known = {} if recorded is None else dict(zip(recorded.stamp.tolist(), recorded.numbers,
                                                 strict=True))
    resets: list[int] = []
    silent: list[int] = []
    last: tuple[Array, Array] | None = None
    for k, stamp in enumerate(samples.stamp.tolist()):
        if k % 1000 == 0:
            progress(k / len(samples.stamp))
        if known and stamp not in known:
            silent.append(k)
            continue
        # what came before the first odometry was before the node
        if silent and last is not None:
            run = _likelier(run, silent, k, _pose(known[stamp]))
        run.refused += len(silent) if last is None else 0
        silent = []
        estimate = run.step(k)
        if known and estimate is not None:
            then = _pose(known[stamp])
            ours, theirs = last or (np.zeros(3), np.zeros(3))
            if _apart(estimate.pose - ours, then - theirs) > (JUMP if last else 0.0) or (
                    not then.any() and _apart(estimate.pose, then) > 0.0):
                estimate = run.begin_at(k, then)
                resets.append(stamp)
            last = (estimate.pose, then)
    run.refused += len(silent)
    numbers = np.array(run.rows).reshape(-1, 85)
    return Recomputed(samples.recorded[run.kept], samples.stamp[run.kept], numbers, run.refused,
                      tuple(resets))


class _Run:
    """A stream with what it has made; copied where two ways must be tried."""

    def __init__(self, stream: OdometryStream, clock: CycleClock, samples: Samples) -> None:
        self.stream, self.clock, self.samples = stream, clock, samples
        self.kept: list[int] = []
        self.rows: list[Array] = []
        self.refused = 0

    def step(self, k: int) -> OdometryEstimate | None:
        """Take sample k; None where the node would refuse its stamp."""
        try:
            dt = self.clock.accept(int(self.samples.stamp[k]))
        except MessageError:
            self.refused += 1
            return None
        estimate = self.stream.step(dt, *self.samples.angles[k])
        if estimate.accepted:
            self.kept.append(k)
            self.rows.append(_numbers(estimate))
        return estimate

    def begin_at(self, k: int, pose: Array) -> OdometryEstimate:
        """Take sample k again, as the first one after the pose was set."""
        self.stream.reset(pose)
        estimate = self.stream.step(0.0, *self.samples.angles[k])
        self.rows[-1] = _numbers(estimate)
        return estimate

    def fork(self) -> _Run:
        """Return a run that goes another way from here."""
        other = _Run(copy.deepcopy(self.stream), copy.deepcopy(self.clock), self.samples)
        other.kept, other.rows, other.refused = [*self.kept], [*self.rows], self.refused
        return other


def _likelier(run: _Run, silent: Sequence[int], k: int, then: Array) -> _Run:
    """
    Return the run after samples without recorded odometry, before sample k.

    Either the node refused them, or its answers were not recorded: what agrees with the pose
    recorded of sample k.
    """
    used, left = run.fork(), run.fork()
    for j in silent:
        used.step(j)
    after, without = used.fork().step(k), left.step(k)
    if after is not None and (without is None or _apart(after.pose, then) < _apart(
            without.pose, then)):
        return used
    run.refused += len(silent)
    return run


def compare(recomputed: Recomputed, recorded: Recorded) -> Agreement:
    """Return how far recomputed and recorded odometry agree, message by message."""
    _, ours, theirs = np.intersect1d(recomputed.stamp, recorded.stamp, return_indices=True)
    a, b = recomputed.numbers[ours], recorded.numbers[theirs]
    if not len(a):
        return Agreement(0, 0, 0, *[math.nan] * 4)
    apart = np.abs(a - b)
    yaw = np.abs(wrap(2 * np.arctan2(a[:, 5], a[:, 6]) - 2 * np.arctan2(b[:, 5], b[:, 6])))
    planar = planar_covariance(np.ones((3, 3))) == 1.0
    spread = np.concatenate([apart[:, 13:49][:, planar], apart[:, 49:][:, planar]])
    scale = np.concatenate([b[:, 13:49][:, planar], b[:, 49:][:, planar]])
    equal = a == b
    return Agreement(len(a), int(equal.all(axis=1).sum()),
                     int(equal[:, :13].all(axis=1).sum()), float(apart[:, :3].max()),
                     float(yaw.max()), float(apart[:, 7:13].max()),
                     float(spread.max() / np.abs(scale).max()))
