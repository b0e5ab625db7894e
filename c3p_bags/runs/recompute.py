# SPDX-License-Identifier: Apache-2.0
"""
Odometry recomputed from the joint states of a bag, with the odometry of the node.

The same samples through the same object give the same bits. The recorded odometry resolves what
the samples leave open: whether the node rejected a sample (too old by its clock) or only its
odometry message is missing; and at jumps of the recorded pose, that the pose was set.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from c3p_bags.runs.columns import read_columns
from c3p_bags.runs.run_bag import odometry_numbers
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.log_fields import Rows, joint_reader
from c3p_description.model import Array, CasterRobot
from c3p_kinematics.odometry import Odometry, OdometryEstimate, OdometrySettings, planar_covariance
from c3p_kinematics.se2 import wrap
from c3p_ros.cdr import MessageError
from c3p_ros.cdr_arrays import tables
from c3p_ros.cycle import CycleClock

ODOMETRY = 'nav_msgs/msg/Odometry'

# a step of the recorded pose that differs from the odometry by more than this was set, m or rad:
# no robot of the suite drives it in one cycle of 5 ms
JUMP = 0.01


class Samples(NamedTuple):
    """
    Joint states of a bag as inputs of the odometry.

    Times of recording and stamps (k,) [ns]; steering, steering rate, wheel angle and wheel rate
    (k, 4, n) [rad and rad/s].
    """

    recorded: Array
    stamp: Array
    angles: Array


class Recorded(NamedTuple):
    """
    Odometry messages of a bag: times of recording and stamps (k,) [ns], and numbers (k, 85).

    Position and quaternion (7), twist (6), covariance of the pose (36) and of the twist (36).
    """

    recorded: Array
    stamp: Array
    numbers: Array


class Recomputed(NamedTuple):
    """
    Odometry of the accepted samples, and the number of rejected ones.

    Attributes
    ----------
    recorded, stamp, numbers
        As of `Recorded`; `recorded` are the times of the joint states.
    refused : int
        Samples that the node rejected, by the recorded odometry.
    resets : tuple of int
        Stamps at which the recorded pose was set, ns; the first one is the begin of the bag if the
        robot had driven before.
    """

    recorded: Array
    stamp: Array
    numbers: Array
    refused: int
    resets: tuple[int, ...]


class Agreement(NamedTuple):
    """
    Recomputed against recorded odometry.

    Numbers of messages with the same stamp, of those with all 85 numbers equal to the last bit,
    and of those with equal pose and twist. Largest differences [m, rad, m/s and rad/s]; that of
    the covariance as a fraction of the largest recorded number.
    """

    compared: int
    identical: int
    same_motion: int
    position: float
    yaw: float
    twist: float
    covariance: float


def read_samples(bag: Bag, robot: CasterRobot, space: str = ''
                 ) -> tuple[Samples, Recorded | None]:
    """
    Return joint states and odometry of the robot in the namespace `space` of a bag.

    Raises
    ------
    BagError
        The bag cannot be read, or has no joint states of this robot.
    """
    joints, odom = f'{space}/joint_states', f'{space}/odom'
    found = read_columns(bag, {joints: joint_reader(robot), odom: _every_number})
    if joints not in found:
        raise BagError(f'bag {bag}: no message on {joints} has the joints '
                       f'{[*robot.steering_joints, *robot.wheel_joints]}')
    recorded, stamp, values = found[joints]
    odometry = found.get(odom)
    return (Samples(recorded, stamp, np.stack(values[:4], 1)),
            None if odometry is None else Recorded(odometry.recorded, odometry.stamp,
                                                   odometry.values[0]))


def _every_number(kind: str, data: Sequence[bytes]) -> list[Rows]:
    """Return the 85 numbers of Odometry messages, also those that are not finite."""
    # fields are stamp, frames, pose, its covariance, twist, its covariance
    found = tables(data, kind) if kind == ODOMETRY else ()
    return [Rows(t.rows, t.fields[0], (np.hstack([t.fields[i] for i in (3, 5, 4, 6)]),))
            for t in found]


def _numbers(estimate: OdometryEstimate) -> Array:
    """Return the 85 numbers of the Odometry message."""
    return odometry_numbers(estimate.pose, estimate.twist, estimate.pose_covariance,
                            estimate.twist_covariance)


def _pose(numbers: Array) -> Array:
    return np.array([numbers[0], numbers[1], 2.0 * math.atan2(numbers[5], numbers[6])])


def _apart(a: Array, b: Array) -> float:
    """Return the largest difference of two steps (x, y, yaw), m or rad."""
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]), abs(float(wrap(a[2] - b[2]))))


def recompute(samples: Samples, robot: CasterRobot, settings: OdometrySettings | None = None,
              recorded: Recorded | None = None,
              progress: Callable[[float], None] = lambda part: None) -> Recomputed:
    """
    Return the odometry of the samples.

    The `settings` default to those of the odometry. `recorded` decides which samples were used and
    when the pose was set; without it every sample is used and the robot starts at the origin.
    `progress` receives the fraction done, 0 to 1.
    """
    run = _Run(Odometry(robot, settings), CycleClock(), samples)
    known = {} if recorded is None else dict(zip(recorded.stamp.tolist(), recorded.numbers,
                                                 strict=True))
    resets: list[int] = []
    silent: list[int] = []
    last: tuple[Array, Array] | None = None
    for k, stamp in enumerate(samples.stamp.tolist()):
        if k % 1000 == 0:
            progress(k / len(samples.stamp))
        # without recorded odometry a sample is decided together with the next recorded one
        if known and stamp not in known:
            silent.append(k)
            continue
        # samples before the first odometry precede the node
        if silent and last is not None:
            run = _likelier(run, silent, k, _pose(known[stamp]))
        run.refused += len(silent) if last is None else 0
        silent = []
        estimate = run.step(k)
        if known and estimate is not None:
            then = _pose(known[stamp])
            # steps are compared, not poses: an offset from an earlier reset persists
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
    """An odometry stream with its output; forked where two alternatives are compared."""

    def __init__(self, stream: Odometry, clock: CycleClock, samples: Samples) -> None:
        self.stream, self.clock, self.samples = stream, clock, samples
        self.kept: list[int] = []
        self.rows: list[Array] = []
        self.refused = 0

    def step(self, k: int) -> OdometryEstimate | None:
        """Process sample k; None where the node would reject its stamp."""
        try:
            dt = self.clock.accept(int(self.samples.stamp[k]))
        except MessageError:
            self.refused += 1
            return None
        estimate = self._step(dt, k)
        if estimate.accepted:
            self.kept.append(k)
            self.rows.append(_numbers(estimate))
        return estimate

    def _step(self, dt: float, k: int) -> OdometryEstimate:
        steering, steering_rate, angle, rate = self.samples.angles[k]
        return self.stream.step_by(dt, steering, angle, rate, steering_rate)

    def begin_at(self, k: int, pose: Array) -> OdometryEstimate:
        """Process sample k again, as the first one after the pose was set."""
        self.stream.reset(pose)
        estimate = self._step(0.0, k)
        self.rows[-1] = _numbers(estimate)
        return estimate

    def fork(self) -> _Run:
        """Return an independent copy."""
        other = _Run(copy.deepcopy(self.stream), copy.deepcopy(self.clock), self.samples)
        other.kept, other.rows, other.refused = [*self.kept], [*self.rows], self.refused
        return other


def _likelier(run: _Run, silent: Sequence[int], k: int, then: Array) -> _Run:
    """
    Return the run after samples without recorded odometry, before sample k.

    Either the node rejected them, or its messages were not recorded: the alternative closer to the
    recorded pose of sample k.
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
    """Return the agreement of recomputed and recorded odometry, message by message."""
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
