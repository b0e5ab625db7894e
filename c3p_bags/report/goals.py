# SPDX-License-Identifier: Apache-2.0
"""Metrics of the drive to each goal of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from c3p_bags.runs import mapped
from c3p_bags.runs.metrics import drive_metrics, pose_at
from c3p_bags.runs.run_log import Goal, Motion, RunLog
from c3p_description.model import CasterRobot
from c3p_kinematics.se2 import compose

# metrics of a drive in the table of goals
SHOWN = ('reached', 'time_s', 'align_time_s', 'path_error_max_m', 'path_error_rms_m',
         'final_error_m', 'final_yaw_error_rad', 'ground_truth_final_error_m',
         'max_wheel_torque_nm', 'missed')


def part(log: RunLog, begin: float, end: float) -> RunLog:
    """Return the run between two times [s], with unchanged times; empty parts are None."""
    def cut(found: Any) -> Any:
        if found is None:
            return None
        inside = (found.time >= begin) & (found.time < end)
        rows = mapped.where(inside)
        arrays = [a[rows] if isinstance(a, np.ndarray) else a for a in found]
        return type(found)(*arrays) if inside.any() else None

    return replace(
        log, joints=cut(log.joints) or log.joints, odom=cut(log.odom),
        ground_truth=cut(log.ground_truth), cmd_vel=cut(log.cmd_vel),
        wheel_effort=cut(log.wheel_effort), slip=cut(log.slip),
        goals=tuple(g for g in log.goals if begin <= g.time < end),
        diagnostics=tuple(h for h in log.diagnostics if begin <= h.time < end),
        results=tuple(h for h in log.results if begin <= h.time < end))


def in_odom(goal: Goal, odom: Motion | None) -> Goal:
    """Return a goal in the odometry's frame; a goal in the robot's frame is converted."""
    if odom is None or goal.frame != odom.child_frame:
        return goal
    pose = compose(pose_at(odom, goal.time), np.array(goal.pose))
    return Goal(goal.time, tuple(pose.tolist()), odom.frame)


def goal_metrics(log: RunLog, robot: CasterRobot, goal_tolerance: float, yaw_tolerance: float
                 ) -> list[dict[str, Any]]:
    """
    Return the metrics of the drive to each goal of `log`, until the next one.

    Each has ``goal_pose`` in the odometry's frame, ``begin_s``, ``end_s`` and `SHOWN`, of which
    ``missed`` is the reason that the nodes published, None without. `robot` is the model;
    `goal_tolerance` [m] and `yaw_tolerance` [rad] define the goal zone.
    """
    ends = [g.time for g in log.goals[1:]] + [float('inf')] * bool(log.goals)
    last = float(log.joints.time[-1])
    found = []
    for goal, end in zip(log.goals, ends, strict=True):
        # the sample at the next goal still belongs here
        piece = part(log, goal.time, end)
        there = in_odom(goal, log.odom)
        metrics = drive_metrics(replace(piece, goals=(there,)), robot, there.pose, goal_tolerance,
                                yaw_tolerance)
        found.append({'goal_pose': list(there.pose), 'frame': there.frame, 'begin_s': goal.time,
                      'end_s': min(end, last), **{key: metrics.get(key) for key in SHOWN}})
    return found


