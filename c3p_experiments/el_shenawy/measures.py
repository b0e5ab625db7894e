# SPDX-License-Identifier: Apache-2.0
"""Measures of experiments beyond the metrics of a drive to one goal; pure functions of a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_bags.runs.metrics import (
    ALIGNED,
    align_time,
    alignment,
    distance_to_segment,
    entry_time,
)
from c3p_bags.runs.run_log import Motion
from c3p_description.model import Array, CasterRobot
from c3p_experiments.loop.closed_loop import LoopLog
from c3p_kinematics.se2 import wrap


def off_direction(log: LoopLog, direction: ArrayLike) -> Array:
    """
    Return the angle of each caster from trailing in travel along `direction`, (k, n), rad.

    0 trails, π/2 is across, π is ahead of the pivot: with e = (−sin θ_s,
    cos θ_s) turned by the true yaw, the angle between e and the direction.

    Parameters
    ----------
    log : LoopLog
    direction : (2,) array_like
        On the floor.
    """
    x, y = np.asarray(direction, float)
    angle = log.joints.steering + log.ground_truth.pose[:, 2:3]
    e = np.stack([-np.sin(angle), np.cos(angle)])
    return np.abs(np.arctan2(e[0] * y - e[1] * x, e[0] * x + e[1] * y))


def settled_time(time: Array, off: Array, limit: float = ALIGNED) -> float | None:
    """
    Return the time after which all columns of `off` (k, n) stay within `limit`, in `time` (k,), s.

    0 if always within; None if outside at the end.
    """
    out = np.flatnonzero((off > limit).any(axis=1))
    if not len(out):
        return 0.0
    return float(time[out[-1] + 1]) if out[-1] + 1 < len(time) else None


def first_aligned(log: LoopLog, robot: CasterRobot) -> float | None:
    """
    Return the first time at which all commanded casters are within 10° of alignment, s.

    `metrics.align_time` is the time of lasting alignment, which corrections at the goal may delay.
    """
    found = alignment(log, robot)
    if found is None:
        return None
    commanded = np.isfinite(found.angle)
    aligned = commanded.any(axis=1) & ((found.angle <= ALIGNED) | ~commanded).all(axis=1)
    return float(found.time[np.argmax(aligned)]) if aligned.any() else None


def across(motion: Motion, direction: ArrayLike) -> Array:
    """Return the distance (k,) from the line through the start along `direction` (2,), m."""
    x, y = np.asarray(direction, float) / np.hypot(*np.asarray(direction, float))
    moved = motion.pose[:, :2] - motion.pose[0, :2]
    return x * moved[:, 1] - y * moved[:, 0]


def ring_error(motion: Motion, centres: ArrayLike, radius: float) -> Array:
    """Return the distance (k,) from the nearest circle around `centres` (m, 2) of `radius`, m."""
    gap = motion.pose[:, None, :2] - np.asarray(centres, float)
    return np.abs(np.hypot(gap[..., 0], gap[..., 1]) - radius).min(axis=1)


def largest_and_rms(error: Array) -> tuple[float, float]:
    """Return the largest magnitude and the root mean square of `error`."""
    return float(np.abs(error).max()), float(np.sqrt(np.mean(np.square(error))))


def leg_metrics(log: LoopLog, robot: CasterRobot, points: Sequence[ArrayLike],
                times: Sequence[float], tolerance: float) -> list[dict[str, Any]]:
    """
    Return the metrics of each leg of a drive from point to point.

    Parameters
    ----------
    log : LoopLog
    robot : CasterRobot
    points : sequence of (3,) array_like
        Start and goals.
    times : sequence of float, s
        End of each leg but the last.
    tolerance : float, m
        Radius of the goal zone.
    """
    legs = []
    ends = [*times, np.inf]
    for number, goal in enumerate(points[1:]):
        if number > len(times):
            break  # not reached in this run
        goal = np.asarray(goal, float)
        start = times[number - 1] if number else 0.0
        window = (log.odom.time >= start) & (log.odom.time <= ends[number])
        odom, truth = (Motion(m.time[window], m.pose[window], *m[2:])
                       for m in (log.odom, log.ground_truth))
        entry = entry_time(odom, goal, start, tolerance, np.inf)
        leg: dict[str, Any] = {
            'goal_pose': goal.tolist(), 'reached': entry is not None,
            'time_s': None if entry is None else entry - start,
            'align_time_s': align_time(log, robot, start, np.inf if entry is None else entry)}
        for prefix, motion in (('', odom), ('ground_truth_', truth)):
            # from the previous goal: its final error counts as path error
            path = distance_to_segment(motion.pose[:, :2], np.asarray(points[number])[:2],
                                       goal[:2])
            leg[f'{prefix}path_error_max_m'], leg[f'{prefix}path_error_rms_m'] = (
                largest_and_rms(path))
            last = motion.pose[-1] - goal
            leg[f'{prefix}final_error_m'] = float(np.hypot(last[0], last[1]))
            leg[f'{prefix}final_yaw_error_rad'] = float(abs(wrap(last[2])))
        legs.append(leg)
    return legs


def solve_metrics(logs: Sequence[LoopLog]) -> dict[str, dict[str, float]]:
    """
    Return p50, p99 and maximum of the step time of the law on this computer, ms.

    ``solve_ms`` is wall time, ``solve_cpu_ms`` processor time without other programs.
    """
    metrics = {}
    for name, field in (('solve_ms', 'solve_time'), ('solve_cpu_ms', 'solve_cpu')):
        steps = 1e3 * np.concatenate([getattr(log, field) for log in logs])
        metrics[name] = {'p50': float(np.percentile(steps, 50)),
                         'p99': float(np.percentile(steps, 99)), 'max': float(steps.max())}
    return metrics


def path_error(motion: Motion, facts: Mapping[str, Any]) -> Array:
    """
    Return the distance (k,) from the desired path, m.

    Parameters
    ----------
    motion : Motion
    facts : mapping
        ``centres`` and ``radius`` of rings, the ``direction`` of a line, or the ``points`` of
        straight legs with the end ``times`` of each but the last.
    """
    if 'centres' in facts:
        return ring_error(motion, facts['centres'], facts['radius'])
    if 'direction' in facts:
        return np.abs(across(motion, facts['direction']))
    points = np.asarray(facts['points'], float)[:, :2]
    leg = np.searchsorted(np.asarray(facts.get('times', ())), motion.time, side='left')
    error = np.empty(len(motion.time))
    for number in np.unique(leg):
        here = leg == number
        error[here] = distance_to_segment(motion.pose[here, :2], points[number],
                                          points[number + 1])
    return error


def torque_rms(log: LoopLog) -> float:
    """Return the root mean square of all wheel torques of a run, N·m, as a measure of heating."""
    return float(np.sqrt(np.mean(np.square(log.wheel_effort.value))))


def torque_step(log: LoopLog) -> float:
    """Return the largest change of a wheel torque from one cycle to the next, N·m."""
    return float(np.abs(np.diff(log.wheel_effort.value, axis=0)).max(initial=0.0))
