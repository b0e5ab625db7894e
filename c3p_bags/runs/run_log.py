# SPDX-License-Identifier: Apache-2.0
"""
One run of a caster robot as arrays.

Times are seconds since the first ``joint_states``, by the stamps of the messages: a control cycle
is one ``joint_states`` message, and whatever it causes carries its stamp. What has no stamp (goals
as they arrive, diagnostics, the goal flags) is placed by when it was recorded, on the same axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from c3p_bags.runs import mapped
from c3p_bags.runs.clock_steps import ClockStep
from c3p_description.model import Array

if TYPE_CHECKING:
    from c3p_bags.runs.time_axis import TimeAxis


class Joints(NamedTuple):
    """Joint states in the model's convention: time (k,), the others (k, n); rad, rad/s, N·m."""

    time: Array
    steering: Array
    steering_rate: Array
    wheel_angle: Array
    wheel_rate: Array
    wheel_torque: Array


class Motion(NamedTuple):
    """
    Odometry: time (k,), pose (k, 3) in `frame`, twist (k, 3) in `child_frame`.

    Pose is x, y [m] and yaw [rad], continuous over ±π; twist is vx, vy [m/s] and ω [rad/s]; the
    covariances (k, 3, 3) are of these.
    """

    time: Array
    pose: Array
    twist: Array
    pose_covariance: Array
    twist_covariance: Array
    frame: str
    child_frame: str


class Series(NamedTuple):
    """Vectors or numbers over time: time (k,), value (k, …)."""

    time: Array
    value: Array


class Slip(NamedTuple):
    """Wheel slip by the odometry: residual (k, n, 2) along and across [m/s]."""

    time: Array
    residual: Array
    suspect: Array
    confidence: Array


class Goal(NamedTuple):
    """A goal as it arrived: time [s], pose (x, y, yaw) and the frame it is in."""

    time: float
    pose: tuple[float, float, float]
    frame: str


class Health(NamedTuple):
    """One status of one node: level 0 OK, 1 WARN, 2 ERROR, 3 STALE."""

    time: float
    name: str
    level: int
    message: str
    values: Mapping[str, str]


def held(series: Series, time: Array) -> Array:
    """Return for each `time` the newest value of `series`; nan before the first."""
    def taken(part: Array) -> Array:
        index = np.searchsorted(series.time, part, side='right') - 1
        value = series.value[np.maximum(index, 0)].astype(float)
        value[index < 0] = np.nan
        return value

    return mapped.computed(taken, time)


def between(at: Array, time: Array, value: Array) -> Array:
    """
    Return columns `value` (k, m) at rising `time` (k,), linearly interpolated at times `at`.

    Examples
    --------
    >>> between(np.array([0.5, 9.0]), np.arange(3.0), np.array([[0.0], [2.0], [4.0]])).tolist()
    [[1.0], [4.0]]
    """
    if not len(at):
        return np.zeros((0, value.shape[1]))
    # by the samples around alone: an interpolation copies the columns that it is given
    near = slice(max(int(np.searchsorted(time, at.min(), side='right')) - 1, 0),
                 int(np.searchsorted(time, at.max(), side='right')) + 1)
    return np.stack([np.interp(at, time[near], column) for column in value[near].T], axis=-1)


@dataclass(frozen=True, eq=False)
class RunLog:
    """
    One run as arrays; what the bag does not have is None (or empty).

    Attributes
    ----------
    path : Path
    start_ns : int
        Stamp of the first joint states, time zero.
    joints : Joints
    odom, ground_truth : Motion, optional
    commands : dict
        Messages of the mux by topic, placed by their arrival: commands (k, 4) of stamp and twist,
        and locks (k,). Empty without the parameters of a mux.
    cmd_vel, reference_acceleration : Series of (k, 3), optional
        In ``base_link``, m/s, rad/s, m/s², rad/s².
    dynamics_effort, wheel_effort : Series of (k, n), optional, N·m
    goals : tuple of Goal
    slip : Slip, optional
    goal_reached, distance_to_goal : Series of (k,), optional
    diagnostics, results : tuple of Health
        Of the nodes; results of goals, with their ``reason``.
    messages : dict
        Topic → number of messages, of every topic in the bag.
    recorded : dict
        When the recorder had each of the ``joint_states`` and ``wheel_effort`` (k,), s since the
        first joint states, by its own clock.
    not_finite : dict
        Topic → number of messages with a number that is not finite, of topics with any.
    clock_steps : tuple of ClockStep
        Steps of a clock that was set while the bag was recorded; the times are without them.
    axis : TimeAxis, optional
        Gives further columns of the bag their times.
    """

    path: Path
    start_ns: int
    joints: Joints
    odom: Motion | None = None
    ground_truth: Motion | None = None
    cmd_vel: Series | None = None
    reference_acceleration: Series | None = None
    dynamics_effort: Series | None = None
    wheel_effort: Series | None = None
    goals: tuple[Goal, ...] = ()
    slip: Slip | None = None
    goal_reached: Series | None = None
    distance_to_goal: Series | None = None
    diagnostics: tuple[Health, ...] = ()
    results: tuple[Health, ...] = ()
    messages: Mapping[str, int] = field(default_factory=dict)
    recorded: Mapping[str, Array] = field(default_factory=dict)
    not_finite: Mapping[str, int] = field(default_factory=dict)
    commands: Mapping[str, Series] = field(default_factory=dict)
    clock_steps: tuple[ClockStep, ...] = ()
    axis: TimeAxis | None = None

    @property
    def torque(self) -> Series:
        """Return the wheel torques, N·m: commanded ones where they were recorded, else sensed."""
        return self.wheel_effort or Series(self.joints.time, self.joints.wheel_torque)
