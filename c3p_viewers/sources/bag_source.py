# SPDX-License-Identifier: Apache-2.0
"""Moments of a recorded run, at any time of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from c3p_bags.runs.metrics import truth_in_odom
from c3p_bags.runs.run_log import Motion, RunLog, Series, Slip
from c3p_description.model import Array
from c3p_viewers.sources.moment import Moment

# the true path is shown if it ends farther than this from the odometry's, m
APART = 0.02

# largest age of a value at a moment, s: a topic that falls silent is not shown
LASTS = 0.5


class BagSource:
    """
    A run of a robot, read at any time.

    Attributes
    ----------
    log : RunLog
    path, truth : (k, 2) array, m
        The whole path by odometry and the true one, both in the odometry's frame; empty if not
        recorded.

    Examples
    --------
    ::

        source = BagSource(read_run('out/drive/bag', load('c3p')))
        source.at(source.halfway).steering
    """

    def __init__(self, log: RunLog) -> None:
        """Take the run."""
        self.log = log
        self._truth = truth_in_odom(log)
        self.path, self.truth = (np.zeros((0, 2)) if motion is None else motion.pose[:, :2]
                                 for motion in (log.odom, self._truth))

    @property
    def apart(self) -> bool:
        """True if the true path differs visibly from the odometry's."""
        return bool(len(self.path) and len(self.truth)
                    and np.hypot(*(self.path[-1] - self.truth[-1])) > APART)

    @property
    def start(self) -> float:
        """Time of the first joint states, s."""
        return float(self.log.joints.time[0])

    @property
    def end(self) -> float:
        """Time of the last joint states, s."""
        return float(self.log.joints.time[-1])

    @property
    def halfway(self) -> float:
        """Time at which half of the path is driven, s; the middle of a run at standstill."""
        motion = self.log.odom or self._truth
        if motion is not None:
            way = np.concatenate([[0.0], np.cumsum(np.hypot(
                *np.diff(motion.pose[:, :2], axis=0).T))])
            if way[-1] > 0.0:
                return float(motion.time[np.searchsorted(way, way[-1] / 2)])
        return (self.start + self.end) / 2

    def times(self, rate: float) -> Array:
        """Return times from start to end, `rate` of them a second."""
        count = max(1, int((self.end - self.start) * rate) + 1)
        return self.start + np.arange(count) / rate

    def moments(self, rate: float) -> Iterator[Moment]:
        """Yield moments from start to end, `rate` of them a second."""
        for time in self.times(rate):
            yield self.at(time)

    def driven(self, time: float) -> Array:
        """Return the path until `time` by odometry, else the true one, (k, 2), m."""
        motion = self.log.odom or self._truth
        if motion is None:
            return np.zeros((0, 2))
        return motion.pose[motion.time <= time, :2]

    def at(self, time: float) -> Moment:
        """
        Return the robot at a time.

        Parameters
        ----------
        time : float, s
            Before the start or after the end it is the state there.

        Returns
        -------
        Moment
            Positions are interpolated; commands, torques and slip are the newest ones, None if
            they are older than half a second.
        """
        time = float(np.clip(time, self.start, self.end))
        joints = self.log.joints
        odom = self.log.odom
        steering, steering_rate, wheel_angle, wheel_rate = (
            _between(joints.time, value, time) for value in (
                joints.steering, joints.steering_rate, joints.wheel_angle, joints.wheel_rate))
        torque = _newest(self.log.wheel_effort, time)
        if torque is None:
            measured = _between(joints.time, joints.wheel_torque, time)
            torque = measured if np.isfinite(measured).all() else None
        count = len(steering)
        turning = None
        if torque is not None and len(torque) > count:
            torque, turning = torque[:count], torque[count:]
        slip = _slip_at(self.log.slip, time)
        goals = [goal for goal in self.log.goals if goal.time <= time]
        return Moment(
            time, steering, steering_rate, wheel_angle, wheel_rate, pose=_pose(odom, time),
            twist=None if odom is None else _between(odom.time, odom.twist, time),
            truth=_pose(self._truth, time), command=_newest(self.log.cmd_vel, time),
            torque=torque, residual=None if slip is None else slip[0],
            suspect=None if slip is None else slip[1],
            goal=np.array(goals[-1].pose) if goals else None, steering_torque=turning)


def _between(times: Array, values: Array, time: float) -> Array:
    """Return a row of `values` (k, n) between the two samples around `time`."""
    after = int(np.clip(np.searchsorted(times, time), 1, max(1, len(times) - 1)))
    if len(times) == 1:
        return values[0]
    span = times[after] - times[after - 1]
    part = float(np.clip((time - times[after - 1]) / span, 0.0, 1.0)) if span > 0 else 1.0
    return (1.0 - part) * values[after - 1] + part * values[after]


def _pose(motion: Motion | None, time: float) -> Array | None:
    return None if motion is None else _between(motion.time, motion.pose, time)


def _index(times: ArrayLike, time: float) -> int | None:
    """Return the index of the newest sample within `LASTS`, or None."""
    times = np.asarray(times)
    index = int(np.searchsorted(times, time, side='right')) - 1
    return index if index >= 0 and time - times[index] <= LASTS else None


def _newest(series: Series | None, time: float) -> Array | None:
    if series is None or (index := _index(series.time, time)) is None:
        return None
    return series.value[index]


def _slip_at(slip: Slip | None, time: float) -> tuple[Array, int | None] | None:
    """Return the residuals (n, 2) and the suspected wheel, or None."""
    if slip is None or (index := _index(slip.time, time)) is None:
        return None
    named = np.flatnonzero(slip.suspect[index])
    return slip.residual[index], int(named[0]) if len(named) else None
