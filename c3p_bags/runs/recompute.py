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
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs import mapped, unknown_weights
from c3p_bags.runs.agreement import agreement
from c3p_bags.runs.columns import read_columns
from c3p_bags.runs.losses import gaps, last_rows, usual_step
from c3p_bags.runs.odometry_inputs import GyroFeed, Samples
from c3p_bags.runs.publishers import refuse_two_publishers
from c3p_bags.runs.run_bag import finite_rows, odometry_numbers
from c3p_bags.runs.unusable_joints import unusable_joints
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.log_fields import Reader, TopicRows, joint_reader
from c3p_description.model import Array, CasterRobot
from c3p_kinematics.odometry import Odometry, OdometryEstimate, OdometrySettings
from c3p_kinematics.se2 import compose, inverse, wrap
from c3p_ros.cdr import MessageError
from c3p_ros.cdr_arrays import tables
from c3p_ros.cycle import CycleClock

ODOMETRY = 'nav_msgs/msg/Odometry'

# a step of the recorded pose that differs from the odometry by more than this was set, m or rad:
# no robot of the suite drives it in one cycle of 5 ms
JUMP = 0.01

# after missing samples the memory of slip may differ for this time, ns: an alarm ends half a
# second after its evidence, and a held twist after a second
SETTLED = 1_000_000_000

# missing time in which slip may have begun unseen, ns: the persistence of evidence before an alarm
UNSEEN = 20_000_000

# place of the yaw's variance among the numbers of an Odometry message: it grows until the pose is
# set
YAW_VARIANCE = 13 + 35


class RecordedOdometry(NamedTuple):
    """
    Odometry messages of a bag: times of recording and stamps (k,) [ns], and numbers (k, 85).

    Position and quaternion (7), twist (6), covariance of the pose (36) and of the twist (36).
    """

    recorded: Array
    stamp: Array
    numbers: Array


class Recomputed(NamedTuple):
    """
    Odometry of the accepted samples, and how it was begun and resumed.

    Attributes
    ----------
    recorded, stamp, numbers
        As of `RecordedOdometry`; `recorded` are the times of the joint states.
    refused : int
        Samples that the node rejected, by the recorded odometry.
    unused : int
        Samples before the first and after the last recorded odometry.
    resets : tuple of int
        Stamps at which the recorded pose was set, ns.
    resumed : bool
        The first recorded pose is not zero: the recording began during a run, and so does the
        odometry.
    left_out : tuple of int
        Stamps at which the odometry begins anew at the recorded pose, ns: samples before them are
        missing, so that the message cannot be compared.
    limit : (k, 2) array
        Difference of the pose, and of the twist, that counts as equal, SI units: larger after
        missing samples, see unknown_weights.py.
    """

    recorded: Array
    stamp: Array
    numbers: Array
    refused: int
    unused: int
    resets: tuple[int, ...]
    resumed: bool
    left_out: tuple[int, ...]
    limit: Array


def read_samples(bag: Bag, robot: CasterRobot, space: str = '',
                 progress: Callable[[float], object] = lambda part: None
                 ) -> tuple[Samples, RecordedOdometry | None]:
    """
    Return joint states and odometry of the robot in the namespace `space` of a bag.

    `progress` receives the fraction of the messages read, 0 to 1.

    Raises
    ------
    BagError
        The bag cannot be read, or has no joint states of this robot.
    """
    joints, odom = f'{space}/joint_states', f'{space}/odom'
    found = read_columns(bag, {joints: _angles(joint_reader(robot)), odom: _every_number},
                         progress)
    if joints not in found or not len(found[joints].recorded):
        raise unusable_joints(bag, joints, robot)
    column = found[joints]
    refuse_two_publishers(bag, joints, column.stamp, column.values[0][:, ::2].swapaxes(0, 1))
    odometry = found.get(odom)
    return (Samples(column.recorded, column.stamp, column.values[0]),
            None if odometry is None else RecordedOdometry(*odometry[:2], odometry.values[0]))


def _angles(reader: Reader) -> Reader:
    """Return a reader of angles and rates (k, 4, n) from one of joint states."""
    def read(kind: str, data: Sequence[bytes]) -> list[TopicRows]:
        return [TopicRows(found.rows, found.stamp, (np.stack(found.values[:4], 1),))
                for found in reader(kind, data)]
    return read


def _every_number(kind: str, data: Sequence[bytes]) -> list[TopicRows]:
    """Return the 85 numbers of Odometry messages, also those that are not finite."""
    # fields are stamp, frames, pose, its covariance, twist, its covariance
    found = tables(data, kind) if kind == ODOMETRY else ()
    return [TopicRows(t.rows, t.fields[0], (np.hstack([t.fields[i] for i in (3, 5, 4, 6)]),))
            for t in found]


def _pose(numbers: Array) -> Array:
    """Return the pose (x, y, yaw) in the numbers of an Odometry message."""
    return np.array([numbers[0], numbers[1], 2.0 * math.atan2(numbers[5], numbers[6])])


def _apart(a: Array, b: Array) -> float:
    """Return the largest difference of two steps (x, y, yaw), m or rad."""
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]), abs(float(wrap(a[2] - b[2]))))


def recompute(samples: Samples, robot: CasterRobot, settings: OdometrySettings | None = None,
              recorded: RecordedOdometry | None = None,
              progress: Callable[[float], None] = lambda part: None) -> Recomputed:
    """
    Return the odometry of the samples.

    The `settings` default to those of the odometry. `recorded` decides which samples were used,
    when the pose was set, and where the odometry begins anew after missing samples; without it
    every sample is used and the robot starts at the origin. `progress` receives the fraction done,
    0 to 1.
    """
    run = _OdometryRun(Odometry(robot, settings), CycleClock(), samples)
    # rows of the recorded odometry of each sample, -1 without any
    row: Array | None = None
    numbers: Array | None = None
    gap = np.zeros(len(samples.stamp), bool)
    if recorded is not None and len(recorded.stamp):
        row, numbers = finite_rows(last_rows(samples.stamp, recorded.stamp), recorded.numbers)
        gap = gaps(samples.stamp, recorded.stamp)
        # samples before the first one in the bag
        if any(recorded.stamp.min() < samples.stamp[:1]):
            run.spread = unknown_weights.MISSING
    resets: list[int] = []
    left_out: list[int] = []
    silent: list[int] = []
    unused, resumed = 0, False
    last: tuple[Array, Array] | None = None
    for k in range(len(samples.stamp)):
        if k % mapped.ROWS == 0:
            progress(k / len(samples.stamp))
            run.put_away()
            mapped.give_back(samples.angles, numbers)
        # without recorded odometry a sample is decided together with the next recorded one
        if row is not None and row[k] < 0:
            silent.append(k)
            continue
        stamp = int(samples.stamp[k])
        theirs = None if row is None or numbers is None else numbers[row[k]]
        # what is missing before this sample may have been used by the node
        before = bool(silent) or bool(gap[k])
        # samples before the first odometry precede the node
        if silent and last is not None and theirs is not None:
            before = before or bool(gap[silent].any())
            run = _likelier(run, silent, k, _pose(theirs))
        unused += len(silent) if last is None else 0
        silent = []
        if before and theirs is not None:
            run.spread = max(run.spread, unknown_weights.MISSING)
        if run.step(k) and theirs is not None:
            then = _pose(theirs)
            if before and last is not None:
                run.miss(k)
            lost = before and last is not None and not run.agrees(theirs)
            unsettled = lost or run.unsettled(stamp)
            if last is None:
                resumed = bool(then.any() or _apart(run.pose, then) > 0.0)
                if resumed:
                    run.spread = unknown_weights.RESUMED
                    run.begin_at(k, then)
            elif _was_set(run.pose, then, last, theirs, unsettled):
                run.begin_at(k, then)
                resets.append(stamp)
            elif unsettled:
                if lost or not run.agrees(theirs):
                    left_out.append(stamp)
                # differences below the limit would add up
                if not run.equals(theirs):
                    run.move_to(then)
            elif (run.spread != unknown_weights.COMPLETE and not run.equals(theirs)
                  and run.agrees(theirs)):
                run.follow(then)
            last = (run.pose, theirs)
    kept, numbers, limit = run.finished()
    return Recomputed(samples.recorded[kept], samples.stamp[kept], numbers, run.refused,
                      unused + len(silent), tuple(resets), resumed, tuple(left_out), limit)


def _was_set(ours: Array, theirs: Array, last: tuple[Array, Array], numbers: Array,
             unsettled: bool) -> bool:
    """
    Return whether the recorded pose was set: it jumps, or is zero.

    `last` has the poses computed and the numbers recorded before. Where samples are missing the
    computed pose may jump, too; then the recorded covariance must fall, which otherwise grows.
    """
    # steps are compared, not poses: an offset from an earlier reset persists
    jump = _apart(ours - last[0], theirs - _pose(last[1])) > JUMP or (
        not theirs.any() and _apart(ours, theirs) > 0.0)
    return jump and (not unsettled or bool(numbers[YAW_VARIANCE] < last[1][YAW_VARIANCE]))


class _OdometryRun:
    """An odometry stream with its output; forked where two alternatives are compared."""

    def __init__(self, stream: Odometry, clock: CycleClock, samples: Samples) -> None:
        self.stream, self.clock, self.samples = stream, clock, samples
        self._feed = GyroFeed(samples)
        self._usual = 1e-9 * usual_step(samples.stamp)
        # samples used and their rows: the newest, and those before, which do not change any more
        self.kept: list[int] = []
        self.rows: list[Array] = []
        self.limits: list[tuple[float, float]] = []
        self._done = mapped.GrowingRows(), mapped.GrowingRows(), mapped.GrowingRows()
        # of unknown_weights.py, once the weights of the wheels depend on samples that are missing
        self.spread = unknown_weights.COMPLETE
        self.refused = 0
        # where the frame of the stream is: at the origin until samples are missing
        self.origin: Array | None = None
        # stamp of the last slip evidence; stamps until which the memory of slip may lack samples,
        # and until which it matters, ns
        self._slip = self._unsure = self._unsettled = -math.inf
        # and until which the change of the rates does, ns
        self._late = -math.inf

    def step(self, k: int) -> bool:
        """Process sample k; return whether the node would have accepted it."""
        stamp = int(self.samples.stamp[k])
        try:
            dt = self.clock.accept(stamp)
        except MessageError:
            self.refused += 1
            return False
        estimate = self._step(dt, k)
        if estimate.accepted:
            self.kept.append(k)
            self.rows.append(self._numbers(estimate))
            self.limits.append(self._limits(estimate, stamp))
            if unknown_weights.doubtful(estimate):
                self._slip = stamp
                if stamp < self._unsure:
                    self._unsure = self._unsettled = stamp + SETTLED
        return estimate.accepted

    def put_away(self) -> None:
        """Move all rows but the last to those that do not change; forks must be given up."""
        if len(self.rows) > 1:
            now: tuple[list[Any], ...] = (self.kept, self.rows, self.limits)
            for done, some in zip(self._done, now, strict=True):
                done.append(np.array(some[:-1]))
                del some[:-1]

    def finished(self) -> tuple[Array, Array, Array]:
        """Return indices (m,), numbers (m, 85), limits (m, 2) of the samples; ends the run."""
        for done, some in zip(self._done, (
                np.array(self.kept, np.int64), np.reshape(self.rows, (-1, 85)),
                np.reshape(self.limits, (-1, 2))), strict=True):
            done.append(some)
        kept, numbers, limits = (done.array() for done in self._done)
        return kept, numbers, limits

    def _step(self, dt: float | None, k: int) -> OdometryEstimate:
        self._feed.give(self.stream.gyro, k)
        steering, steering_rate, angle, rate = self.samples.angles[k]
        return self.stream.step_by(dt, steering, angle, rate, steering_rate)

    def _numbers(self, estimate: OdometryEstimate) -> Array:
        """Return the 85 numbers of the Odometry message."""
        pose = estimate.pose if self.origin is None else compose(self.origin, estimate.pose)
        return odometry_numbers(pose, estimate.twist, estimate.pose_covariance,
                                estimate.twist_covariance)

    def _limits(self, estimate: OdometryEstimate, stamp: int) -> tuple[float, float]:
        return unknown_weights.limits(self.stream, estimate, self.spread, stamp < self._late,
                                      self._usual)

    @property
    def pose(self) -> Array:
        """Last pose (3,)."""
        return _pose(self.rows[-1])

    def begin_at(self, k: int, pose: Array) -> None:
        """Process sample k again, as the first one after the pose was set."""
        self.stream.reset(pose)
        self.origin = None
        estimate = self._step(0.0, k)
        self.rows[-1] = self._numbers(estimate)
        self.limits[-1] = self._limits(estimate, int(self.samples.stamp[k]))

    def follow(self, pose: Array) -> None:
        """Begin the next step at `pose`."""
        self.origin = compose(pose, inverse(self.stream.pose))

    def move_to(self, pose: Array) -> None:
        """Resume at `pose`; the estimate of slip continues."""
        self.follow(pose)
        self.rows[-1] = np.concatenate([odometry_numbers(
            pose, np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3)))[:7], self.rows[-1][7:]])

    def miss(self, k: int) -> None:
        """Register that samples are missing before sample k."""
        now, before = (int(self.samples.stamp[j]) for j in (k, k - 1))
        self._unsure = now + SETTLED
        self._late = now + unknown_weights.FORGOTTEN
        if now - self._slip < SETTLED or now - before > UNSEEN:
            self._unsettled = self._unsure

    def agrees(self, numbers: Array) -> bool:
        """Return whether pose and twist are those of recorded `numbers`."""
        return agreement(self.rows[-1][None], numbers[None], np.array([self.limits[-1]])
                         ).close > 0

    def equals(self, numbers: Array) -> bool:
        """Return whether pose and twist are those of recorded `numbers` to the last bit."""
        return bool(np.array_equal(self.rows[-1][:13], numbers[:13]))

    def unsettled(self, stamp: int) -> bool:
        """Return whether the weights of the wheels may depend on samples that are missing."""
        return stamp < self._unsettled

    def fork(self) -> _OdometryRun:
        """Return an independent copy."""
        other = copy.copy(self)
        other._feed = copy.copy(self._feed)
        other.stream, other.clock = copy.deepcopy(self.stream), copy.deepcopy(self.clock)
        other.kept, other.rows = [*self.kept], [*self.rows]
        other.limits = [*self.limits]
        return other


def _likelier(run: _OdometryRun, silent: Sequence[int], k: int, then: Array) -> _OdometryRun:
    """
    Return the run after samples without recorded odometry, before sample k.

    Either the node rejected them, or its messages were not recorded: the alternative closer to the
    recorded pose of sample k.
    """
    used, left = run.fork(), run.fork()
    for j in silent:
        used.step(j)
    # the next sample shows which
    after, without = used.fork(), left
    accepted = after.step(k), without.step(k)
    if accepted[0] and (not accepted[1] or _apart(after.pose, then) < _apart(
            without.pose, then)):
        return used
    run.refused += len(silent)
    return run
