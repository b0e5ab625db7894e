# SPDX-License-Identifier: Apache-2.0
"""The numbers of a report, ready for JSON: SI units, None where a bag does not have them."""

from __future__ import annotations

from typing import Any

import numpy as np

from c3p_bags.report.goals import in_odom
from c3p_bags.report.health import LEVELS, complaints
from c3p_bags.report.motion_panels import odometry_error
from c3p_bags.report.run import Run
from c3p_bags.report.wheel_panels import NEAR
from c3p_bags.runs.metrics import (
    can_figures,
    drive_metrics,
    held,
    latency,
    slip_events,
)
from c3p_description.model import CasterRobot
from c3p_kinematics.singularity import length_scale, singularity

# speed above which the robot drives, m/s or rad/s
MOVING = 0.01

# part of a commanded twist in the weakest direction, and least size of the command, m/s, from
# which a singularity stands in the way
ACROSS, LEAST_ASKED = 0.7, 0.05


def _quantiles(values: np.ndarray) -> dict[str, float] | None:
    if not len(values):
        return None
    return {name: float(np.quantile(values, part))
            for name, part in (('p50', 0.5), ('p99', 0.99), ('p999', 0.999), ('max', 1.0))}


def _largest(value: np.ndarray) -> float | None:
    finite = np.abs(value[np.isfinite(value)])
    return float(finite.max()) if finite.size else None


def slip_numbers(run: Run) -> dict[str, Any]:
    """Return the slips, each and by wheel (``wheel`` from 1 as in joint names; 0 is several)."""
    events = [{
        'wheel': e.wheel + 1, 'joint': run.robot.wheel_joints[e.wheel] if e.wheel >= 0 else None,
        'begin_s': e.begin, 'end_s': e.end, 'peak_s': e.peak_time, 'along_mps': e.along,
        'across_mps': e.across, 'distance_m': e.distance, 'confidence': e.confidence,
        'told_by_robot': e.told} for e in run.events]
    wheels = []
    for wheel in [*range(run.robot.count), -1]:
        mine = [e for e in run.events if e.wheel == wheel]
        wheels.append({
            'wheel': wheel + 1, 'events': len(mine),
            'duration_s': float(sum(e.end - e.begin for e in mine)),
            'distance_m': float(sum(e.distance for e in mine)),
            'largest_mps': max((float(np.hypot(e.along, e.across)) for e in mine), default=0.0)})
    return {'events': events, 'by_wheel': wheels,
            'largest_evidence': float(run.slip.statistic.max() / run.slip.threshold)}


def timing_numbers(run: Run) -> dict[str, Any]:
    """Return what is known of the loop's time."""
    t = run.timing
    took = _quantiles(t.latency)
    return {'rate_hz': 1.0 / t.period if t.period else None, 'samples_lost': t.lost,
            'longest_gap_s': t.longest_gap, 'longest_gap_at_s': t.longest_gap_time,
            'cycles_asked': t.asked, 'cycles_answered': t.answered, 'commands_late': t.late,
            'latency_s': took}


def _odometry(run: Run) -> dict[str, Any]:
    """Return how far odometry is from the truth, and from what the joints give again."""
    off = odometry_error(run)
    again = None
    if run.odom_recorded and len(run.computed.time) == len(run.log.odom.time):
        again = float(np.abs(run.computed.pose[:, :2] - run.log.odom.pose[:, :2]).max())
    return {'recorded': run.odom_recorded,
            'error_max_m': None if off is None or not len(off[1]) else float(off[1].max()),
            'error_final_m': None if off is None or not len(off[1]) else float(off[1][-1]),
            'computed_difference_m': again}


def run_numbers(run: Run, goal_tolerance: float, yaw_tolerance: float) -> dict[str, Any]:
    """
    Return the figures of a bag: those of the drive to the last goal, and of the whole run.

    Parameters
    ----------
    run : Run
    goal_tolerance, yaw_tolerance : float, m and rad

    Returns
    -------
    dict
        The keys of `drive_metrics` (all None that need a goal, where there is none), and
        ``duration_s``, ``distance_m``, ``moving_s``, ``goals``, ``slip``, ``timing``,
        ``singularity``, ``odometry``, ``complaints``.
    """
    odom, log = run.log.odom, run.log
    # of the pose, so that noise of the rates adds nothing; standing still adds none
    way = np.hypot(*np.diff(odom.pose[:, :2], axis=0).T)
    moving = (np.hypot(odom.twist[:, 0], odom.twist[:, 1]) > MOVING) | (
        np.abs(odom.twist[:, 2]) > MOVING)
    step = np.diff(odom.time, append=odom.time[-1])
    told = complaints(run.states)
    return {
        **_drive(run, goal_tolerance, yaw_tolerance),
        'bag': str(log.path), 'robot': run.robot.name, 'duration_s': run.duration,
        'distance_m': float(way.sum()), 'moving_s': float(step[moving].sum()),
        'goals': run.goals, 'slip': slip_numbers(run), 'timing': timing_numbers(run),
        'singularity': {'sigma_min': abs(float(run.sigma.min())),
                        'at_s': float(log.joints.time[int(np.argmin(run.sigma))]),
                        'near_share': float(np.mean(run.sigma < NEAR)),
                        'blocked_s': blocked_time(run)},
        'odometry': _odometry(run),
        'complaints': [{'name': s.name, 'level': LEVELS[s.level], 'message': s.message,
                        'begin_s': s.begin, 'end_s': s.end} for s in told]}


def blocked_time(run: Run) -> float | None:
    """
    Return how long the robot was asked into a direction that its wheels could hardly push, s.

    That is: the measure is below `NEAR`, and of the commanded twist (scaled as the measure is) at
    least `ACROSS` lies in the weakest direction. Straight on with all casters aligned is singular
    too, and blocks nothing. None without ``cmd_vel``.
    """
    log, robot = run.log, run.robot
    if log.cmd_vel is None:
        return None
    weak = np.flatnonzero(run.sigma < NEAR)
    asked = held(log.cmd_vel, log.joints.time[weak])
    lost = singularity(robot, log.joints.steering[weak]).directions[:, 2]
    a, b = (_scaled(robot, twist) for twist in (asked, lost))
    size = np.linalg.norm(a, axis=1)
    part = np.abs(np.sum(a * b, axis=1)) / np.maximum(size, 1e-9)
    return float(np.sum((part > ACROSS) & (size > LEAST_ASKED)) * run.timing.period)


def _scaled(robot: CasterRobot, twist: np.ndarray) -> np.ndarray:
    """Return twists (k, 3) of ``base_link`` as (vx, vy, L ω) at the mean pivot, m/s."""
    x, y = robot.hip_position.mean(axis=0)
    return np.stack([twist[:, 0] - twist[:, 2] * y, twist[:, 1] + twist[:, 2] * x,
                     length_scale(robot) * twist[:, 2]], axis=1)


def _drive(run: Run, goal_tolerance: float, yaw_tolerance: float) -> dict[str, Any]:
    log = run.log
    if log.goals:
        goal = in_odom(log.goals[-1], log.odom)
        return drive_metrics(log, run.robot, goal.pose, goal_tolerance, yaw_tolerance)
    torque = log.joints.wheel_torque if log.wheel_effort is None else log.wheel_effort.value
    off = odometry_error(run)
    can = can_figures(log)
    return {
        **dict.fromkeys(('goal_pose', 'goal_tolerance_m', 'yaw_tolerance_rad', 'reached',
                         'time_s', 'align_time_s', 'path_error_max_m', 'path_error_rms_m',
                         'final_error_m', 'final_yaw_error_rad')),
        'odometry_error_final_m': None if off is None or not len(off[1]) else float(off[1][-1]),
        'max_wheel_torque_nm': _largest(torque),
        'max_speed_mps': _largest(np.hypot(log.odom.twist[:, 0], log.odom.twist[:, 1])),
        **latency(log), 'slip_events': slip_events(log), 'messages': dict(log.messages),
        **({} if can is None else {'can': can})}
