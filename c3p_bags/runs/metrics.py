# SPDX-License-Identifier: Apache-2.0
"""
Metrics of a drive to a goal: time, accuracy, alignment of the casters, effort, latency.

Pure functions of a RunLog; SI units; None where the run does not have what a number needs. Errors
are distances, so never negative. All positions are in the frame of the odometry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_bags.runs import mapped
from c3p_bags.runs.run_log import Motion, RunLog, held
from c3p_bags.runs.smoothness import rms, run_smoothness
from c3p_description.model import Array, CasterRobot
from c3p_description.wheels import shown_axes
from c3p_kinematics.se2 import compose, inverse, wrap
from c3p_kinematics.singularity import always_actuated

# a caster is aligned while its rolling line is this close to the commanded travel of its hip, rad
ALIGNED = np.radians(10.0)

# below this commanded speed of a hip its direction is undefined, m/s
COMMANDED_SPEED = 0.05

# a goal's yaw counts as reached within this, rad, where the caller gives no tolerance
YAW_TOLERANCE = 0.05

LATENCY_KEYS = {'p50': 'latency_p50_ms', 'p99': 'latency_p99_ms', 'max': 'latency_max_ms'}
COUNT_KEYS = ('cycles', 'overruns')
# robot time per real time
PACE_KEY = 'realtime_factor'
# statistics of the bus in the diagnostics of a hardware interface
CAN_KEYS = ('sync_rate_hz', 'bus_load', 'frames_per_s', 'faults', 'missed_cycles')


class Alignment(NamedTuple):
    """Angle (k, n) [rad, 0 to π/2] of rolling line and commanded travel; nan without command."""

    time: Array
    angle: Array


def goal_time(log: RunLog) -> float:
    """Return when the last goal arrived, s; the beginning where no goal was recorded."""
    return log.goals[-1].time if log.goals else 0.0


def truth_in_odom(log: RunLog) -> Motion | None:
    """
    Return the ground truth in the frame of the odometry.

    Where both name the same frame it comes back as it is; a motion capture's own frame is laid on
    the odometry's so that the first poses agree.
    """
    truth = log.ground_truth
    odom = log.odom
    if truth is None or odom is None or truth.frame == odom.frame:
        return truth
    first = max(truth.time[0], odom.time[0])
    there = compose(pose_at(odom, first), inverse(pose_at(truth, first)))
    pose = mapped.computed(lambda part: compose(there, part), truth.pose)
    pose[:, 2] = mapped.unwrapped(pose[:, 2])
    return truth._replace(pose=pose, frame=odom.frame)


def pose_at(motion: Motion, time: float) -> Array:
    """Return the pose at `time`, between samples linearly, (3,)."""
    return np.array([np.interp(time, motion.time, motion.pose[:, i]) for i in range(3)])


def distance_to_segment(points: Array, start: ArrayLike, end: ArrayLike) -> Array:
    """
    Return the distance of points (k, 2) from the segment between two points, m.

    A segment without length is a point, so that turning on the spot has a path error too.
    """
    a = np.asarray(start, float)
    along = np.subtract(end, start)
    square = float(along @ along)
    part = (np.clip((points - a) @ along / square, 0.0, 1.0) if square > 0
            else np.zeros(len(points)))
    return np.hypot(*(points - a - part[:, None] * along).T)


def alignment(log: RunLog, robot: CasterRobot) -> Alignment | None:
    """
    Return the angle between each caster's rolling line and the commanded travel of its hip.

    ``cmd_vel`` moves the hip at m with ``v + ω ẑ×m``; the rolling line e = (−sin θ_s, cos θ_s) has
    no direction, so angles count modulo 180°. It is NaN for wheels whose angle is not measured.
    """
    if log.cmd_vel is None:
        return None
    unknown = np.setdiff1d(np.arange(robot.count), shown_axes(robot))

    def between(twist: Array, steering: Array) -> Array:
        command = hip_velocity(robot, twist)
        line = np.stack([-np.sin(steering), np.cos(steering)], axis=-1)
        across = command[..., 0] * line[..., 1] - command[..., 1] * line[..., 0]
        angle = np.arctan2(np.abs(across), np.abs(np.sum(command * line, axis=-1)))
        angle[~(np.hypot(command[..., 0], command[..., 1]) > COMMANDED_SPEED)] = np.nan
        angle[..., unknown] = np.nan
        return angle

    return Alignment(log.joints.time, mapped.computed(
        between, held(log.cmd_vel, log.joints.time), log.joints.steering))


def hip_velocity(robot: CasterRobot, twist: Array) -> Array:
    """Return the velocity of each hip (k, n, 2) [m/s] in ``base_link`` of body twists (k, 3)."""
    hips = robot.hip_position
    spin = np.stack([-hips[:, 1], hips[:, 0]], axis=-1)
    return twist[:, None, :2] + twist[:, 2, None, None] * spin


def align_time(log: RunLog, robot: CasterRobot, start: float, end: float) -> float | None:
    """
    Return how long after `start` all casters are aligned for good, s.

    0 when they always are, and for casters whose motors reach every acceleration at any steering
    angles: such a robot waits for no caster. None when a caster is not at `end`, when its command
    ends before it is, when there is no ``cmd_vel``, or when no steering angle is measured.
    """
    if not shown_axes(robot).size:
        return None
    if log.cmd_vel is not None and always_actuated(robot) and not robot.other_wheels:
        return 0.0
    found = alignment(log, robot)
    if found is None:
        return None
    window = mapped.where((found.time >= start) & (found.time <= end))
    time = found.time[window]
    angle = found.angle[window]
    # nan, a hip without command, is never out of line
    out = angle > ALIGNED
    if not out.any():
        return 0.0
    last = len(out) - 1 - np.argmax(out[::-1], axis=0)
    for i in np.flatnonzero(out.any(axis=0)):
        # a caster whose command has ended has not aligned
        if not np.isfinite(angle[last[i] + 1:, i]).any():
            return None
    first = int(last[out.any(axis=0)].max()) + 1
    return float(time[first] - start)


def entry_time(motion: Motion, goal: ArrayLike, start: float, tolerance: float,
               yaw_tolerance: float) -> float | None:
    """Return when the goal zone was entered to stay, s; None when the run ends outside."""
    after = mapped.where(motion.time >= start)

    def within(pose: Array) -> Array:
        offset = pose - np.asarray(goal, float)
        return (np.hypot(offset[:, 0], offset[:, 1]) <= tolerance) & (
            np.abs(wrap(offset[:, 2])) <= yaw_tolerance)

    inside = mapped.computed(within, motion.pose[after])
    if not len(inside) or not inside[-1]:
        return None
    outside = np.flatnonzero(~inside)
    return float(motion.time[after][outside[-1] + 1 if len(outside) else 0])


def _errors(motion: Motion | None, goal: Array | None, start: float, end: float, prefix: str
            ) -> dict[str, Any]:
    """
    Return the errors of a motion from `start`, under keys with `prefix`.

    The path counts until `end`, so that standing at the goal does not dilute it; the final errors
    are those of the last sample.
    """
    names = ('path_error_max_m', 'path_error_rms_m', 'final_error_m', 'final_yaw_error_rad')
    values: list[float | None] = [None] * len(names)
    if motion is not None and goal is not None and np.any(
            during := (motion.time >= start) & (motion.time <= end)):
        begin = pose_at(motion, start)
        path = mapped.computed(lambda pose: distance_to_segment(pose[:, :2], begin[:2], goal[:2]),
                               motion.pose[mapped.where(during)])
        last = motion.pose[np.flatnonzero(motion.time >= start)[-1]] - goal
        values = [float(path.max()), rms(path),
                  float(np.hypot(last[0], last[1])), float(abs(wrap(last[2])))]
    return {prefix + name: value for name, value in zip(names, values, strict=True)}


def _largest(value: Array | None) -> float | None:
    """Return the largest finite magnitude, None without one."""
    if value is None:
        return None
    largest = mapped.computed(
        lambda part: np.abs(part[np.isfinite(part)]).max(initial=-1.0, keepdims=True), value)
    return float(largest.max()) if largest.max() >= 0.0 else None


def _number(text: str | None) -> float | None:
    try:
        value = float(text or 'nan')
    except (TypeError, ValueError):
        return None
    return value if np.isfinite(value) else None


def latency(log: RunLog) -> dict[str, Any]:
    """
    Return age of the wheel commands [ms], cycles, overruns and the pace as last reported.

    The pace, robot time per real time, is None without a report: motor cards keep the clock, and
    bags of other recorders lack it.
    """
    values: Mapping[str, str] = {}
    for health in log.diagnostics:
        if all(key in health.values for key in (*LATENCY_KEYS.values(), *COUNT_KEYS)):
            values = health.values
    counts = {key: _number(values.get(key)) for key in COUNT_KEYS}
    return {'latency_ms': {name: _number(values.get(key)) for name, key in LATENCY_KEYS.items()},
            **{key: None if count is None else int(count) for key, count in counts.items()},
            'realtime_factor_achieved': _number(values.get(PACE_KEY))}


def can_metrics(log: RunLog) -> dict[str, float | None] | None:
    """Return the last report of the hardware interface on its bus, None without one."""
    reports = [h.values for h in log.diagnostics if all(key in h.values for key in CAN_KEYS)]
    return {key: _number(reports[-1][key]) for key in CAN_KEYS} if reports else None


def slip_events(log: RunLog) -> int | None:
    """Return how often a wheel began to be suspected of slipping."""
    if log.slip is None:
        return None
    suspect = np.vstack([np.zeros_like(log.slip.suspect[:1]), log.slip.suspect])
    return int(np.sum(suspect[1:] & ~suspect[:-1]))


def missed_because(log: RunLog) -> str | None:
    """Return why and when the last goal ended without being reached; None if not in the run."""
    ends = [h for h in log.results if h.time >= goal_time(log)]
    if not ends or (reason := ends[-1].values.get('reason')) in (None, 'reached'):
        return None
    return (f'{ends[-1].message.removeprefix(f"{reason}: ")}, '
            f'{ends[-1].time - goal_time(log):.1f} s after the goal')


def drive_metrics(log: RunLog, robot: CasterRobot, goal_pose: ArrayLike | None,
                  goal_tolerance: float, yaw_tolerance: float = YAW_TOLERANCE) -> dict[str, Any]:
    """
    Return the numbers of a drive to a goal, ready for JSON.

    Parameters
    ----------
    log : RunLog
    robot : CasterRobot
    goal_pose : (3,) array_like, optional
        x, y [m] and yaw [rad] in the frame of the odometry; None without a goal, then all metrics
        of the goal are None.
    goal_tolerance : float, m
        Radius of the goal zone.
    yaw_tolerance : float, rad
        Largest yaw error inside the zone; ``inf`` for any yaw.

    Returns
    -------
    dict
        The goal and its tolerances; ``reached``: the run ends inside the zone by odometry;
        ``time_s``: from the goal's arrival until the zone is entered to stay; ``align_time_s``:
        until all casters are within 10° of their commanded travel and stay so until the zone (0
        always, None never); ``can``: of the motor cards' bus, where there is one;
        ``path_error_*``: distance from the straight line to the goal, until the zone is entered to
        stay; the same four errors with ``ground_truth_``; those of `smoothness.smoothness`; the
        ``missed``: why and when, of a goal that was not reached, if the nodes published it; the
        others as they are named. None: not in this run.
    """
    start = goal_time(log)
    goal = None if goal_pose is None else np.asarray(goal_pose, float)
    entry = (None if log.odom is None or goal is None else
             entry_time(log.odom, goal, start, goal_tolerance, yaw_tolerance))
    end = np.inf if entry is None else entry
    # drift of the odometry: against the truth at the last common time
    truth = truth_in_odom(log)
    drift = None
    if truth is not None and log.odom is not None:
        last = min(truth.time[-1], log.odom.time[-1])
        gap = pose_at(truth, last) - pose_at(log.odom, last)
        drift = float(np.hypot(gap[0], gap[1]))
    return {
        'goal_pose': None if goal is None else goal.tolist(),
        'goal_tolerance_m': None if goal is None else float(goal_tolerance),
        'yaw_tolerance_rad': (float(yaw_tolerance) if goal is not None
                              and np.isfinite(yaw_tolerance) else None),
        'reached': None if goal is None else entry is not None,
        'time_s': None if entry is None else entry - start,
        'align_time_s': None if goal is None else align_time(log, robot, start, end),
        **_errors(log.odom, goal, start, end, ''),
        **_errors(truth, goal, start, end, 'ground_truth_'),
        'odometry_error_final_m': drift,
        'max_wheel_torque_nm': _largest(log.torque.value[:, :robot.count]),
        'max_speed_mps': None if log.odom is None else _largest(mapped.computed(
            np.hypot, log.odom.twist[:, 0], log.odom.twist[:, 1])),
        **run_smoothness(log, start, entry),
        **latency(log),
        'slip_events': slip_events(log),
        'messages': dict(log.messages),
        **({} if (can := can_metrics(log)) is None else {'can': can}),
        **({'missed': why} if goal is not None and entry is None
           and (why := missed_because(log)) else {}),
    }
