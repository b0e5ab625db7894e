# SPDX-License-Identifier: Apache-2.0
"""Numbers of a report for JSON: SI units, None where the bag lacks the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from c3p_bags.report.health import LEVELS, complaints, while_starting
from c3p_bags.report.motion_panels import NEAR, odometry_error
from c3p_bags.report.run import STRIDE, AnalysedRun
from c3p_bags.runs import mapped
from c3p_bags.runs.kept_promises import kept_promises
from c3p_bags.runs.metrics import drive_metrics
from c3p_bags.runs.run_log import held
from c3p_description.model import CasterRobot
from c3p_dynamics.freedoms import driven_freedoms
from c3p_kinematics.singularity import length_scale, singularity
from c3p_kinematics.slip_visibility import slip_visibility

# speed above which the robot drives, m/s or rad/s
MOVING = 0.01

# slip that a report is expected to see, m/s
PLAIN_SLIP = 0.1

# fraction of a commanded twist in the weakest direction, and least size of the command, m/s, from
# which a singularity blocks the robot
ACROSS = 0.7
LEAST_COMMAND = 0.05


def _quantiles(values: np.ndarray) -> dict[str, float] | None:
    if not len(values):
        return None
    return {name: float(np.quantile(values, part))
            for name, part in (('p50', 0.5), ('p99', 0.99), ('p999', 0.999), ('max', 1.0))}


def slip_numbers(run: AnalysedRun) -> dict[str, Any]:
    """Return the slips, each and by wheel (``wheel`` from 1 as in joint names; 0 is several)."""
    events = [{
        'wheel': e.wheel + 1, 'joint': run.robot.wheel_joints[e.wheel] if e.wheel >= 0 else None,
        'begin_s': e.begin, 'end_s': e.end, 'peak_s': e.peak_time, 'along_mps': e.along,
        'across_mps': e.across, 'distance_m': e.distance, 'confidence': e.confidence,
        'told_by_robot': e.reported, 'kind': e.kind} for e in run.events]
    wheels = []
    for wheel in [*range(run.robot.count), -1]:
        mine = [e for e in run.events if e.wheel == wheel]
        wheels.append({
            'wheel': wheel + 1, 'events': len(mine),
            'duration_s': float(sum(e.end - e.begin for e in mine)),
            'distance_m': float(sum(e.distance for e in mine)),
            'largest_mps': max((float(np.hypot(e.along, e.across)) for e in mine), default=0.0)})
    return {'events': events, 'by_wheel': wheels,
            **visibility_numbers(run),
            'largest_evidence': float(run.slip.statistic.max() / run.slip.threshold)}


def visibility_numbers(run: AnalysedRun) -> dict[str, Any]:
    """
    Return whether slips of `PLAIN_SLIP` along the rolling direction would have been seen.

    Of the time in motion: ``unseen_share`` without an alarm for some wheel, ``unnamed_share``
    without the name of some wheel (1 with two casters), by wheel ``unseen_by_wheel``. None
    without motion.
    """
    time = run.computed.time
    twist = run.computed.twist
    step = max(1, int(len(time) * STRIDE / max(run.duration, STRIDE)))
    speed = np.hypot(twist[::step, 0], twist[::step, 1]) + length_scale(run.robot) * np.abs(
        twist[::step, 2])
    some = np.flatnonzero(speed > MOVING) * step
    if not len(some):
        return {'unseen_share': None, 'unnamed_share': None, 'unseen_by_wheel': None}
    # by parts: each posture takes matrices of 2n × 2n
    found = [slip_visibility(run.robot, run.log.joints.steering[part], twist[part])
             for part in np.split(some, range(mapped.ROWS, len(some), mapped.ROWS))]
    unseen = np.concatenate([part.seen > PLAIN_SLIP for part in found])
    unnamed = np.concatenate([part.named > PLAIN_SLIP for part in found])
    return {'unseen_share': float(unseen.any(axis=1).mean()),
            'unnamed_share': float(unnamed.any(axis=1).mean()),
            'unseen_by_wheel': unseen.mean(axis=0).tolist()}


def timing_numbers(run: AnalysedRun) -> dict[str, Any]:
    """Return the timing of the control loop."""
    t = run.timing
    took = _quantiles(t.latency)
    return {'rate_hz': 1.0 / t.period if t.period else None, 'samples_lost': t.lost,
            'samples_unrecorded': t.unrecorded.lost,
            'odometry_unrecorded': run.odometry_lost, 'longest_gap_s': t.longest_gap,
            'longest_gap_at_s': t.longest_gap_time,
            'cycles_asked': t.cycles, 'cycles_answered': t.answered, 'commands_late': t.late,
            'latency_s': took}


def _odometry(run: AnalysedRun) -> dict[str, Any]:
    """Return the errors of the odometry against the truth, and against its recomputation."""
    off = odometry_error(run)
    again = None
    if run.odom_recorded and len(run.computed.time) == len(run.odom.time):
        again = float(mapped.computed(
            lambda ours, theirs: np.abs(ours[:, :2] - theirs[:, :2]).max(keepdims=True),
            run.computed.pose, run.odom.pose).max())
    return {'recorded': run.odom_recorded,
            'error_max_m': None if off is None or not len(off[1]) else float(off[1].max()),
            'error_final_m': None if off is None or not len(off[1]) else float(off[1][-1]),
            'computed_difference_m': again}


def run_numbers(run: AnalysedRun) -> dict[str, Any]:
    """
    Return the numbers of a bag: of the drive to the last goal, and of the whole run.

    The keys of `drive_metrics`, and ``duration_s``, ``distance_m``, ``moving_s``, ``goals``,
    ``slip``, ``timing``, ``singularity``, ``odometry``, ``clock_steps``, ``remarks``,
    ``complaints``, ``judged_promises``, ``broken_promises``.
    """
    odom = run.odom
    log = run.log
    promises = kept_promises(log, run.robot, run.judged)
    # from the pose: noise of the rates and standstill add nothing
    way = mapped.computed(lambda before, after: np.hypot(*(after[:, :2] - before[:, :2]).T),
                          odom.pose[:-1], odom.pose[1:])
    step = np.diff(odom.time, append=odom.time[-1])
    moving = mapped.computed(lambda twist, passed: passed[_moving(twist)], odom.twist, step)
    return {
        **drive_metrics(log, run.robot, run.goals[-1]['goal_pose'] if run.goals else None,
                        run.goal_tolerance, run.yaw_tolerance),
        'bag': str(log.path), 'robot': run.robot.name, 'duration_s': run.duration,
        'distance_m': float(way.sum()), 'moving_s': float(moving.sum()),
        'goals': run.goals, 'slip': slip_numbers(run), 'timing': timing_numbers(run),
        'singularity': {'sigma_min': abs(float(run.sigma.min())),
                        'at_s': float(log.joints.time[int(np.argmin(run.sigma))]),
                        'near_share': float(np.mean(run.sigma < NEAR)),
                        'blocked_s': blocked_time(run),
                        # unknown for wheels that the equations of motion do not have
                        'freedoms': None if run.robot.other_wheels
                        else driven_freedoms(run.robot)},
        'odometry': _odometry(run),
        'clock_steps': [{'at_s': step.time, 'by_s': step.by, 'certain': step.certain}
                        for step in log.clock_steps],
        'remarks': list(run.remarks),
        'complaints': _complaints(run),
        'judged_promises': list(promises.judged),
        'broken_promises': [{'promise': one.promise, 'at_s': one.time, 'evidence': one.evidence,
                             'count': one.events} for one in promises.broken]}


def _complaints(run: AnalysedRun) -> list[dict[str, Any]]:
    start = while_starting(run.states, first_motion(run))
    return [{'name': s.name, 'level': LEVELS[s.level], 'message': s.message, 'begin_s': s.begin,
             'end_s': s.end, 'codes': s.codes.split(), 'while_starting': s in start}
            for s in complaints(run.states)]


def first_motion(run: AnalysedRun) -> float:
    """Return the time of the first motion by odometry, s; inf without motion."""
    odom = run.odom
    moving = np.flatnonzero(mapped.computed(_moving, odom.twist))
    return float(odom.time[moving[0]]) if len(moving) else float('inf')


def _moving(twist: np.ndarray) -> np.ndarray:
    return (np.hypot(twist[:, 0], twist[:, 1]) > MOVING) | (np.abs(twist[:, 2]) > MOVING)


def blocked_time(run: AnalysedRun) -> float | None:
    """
    Return the time during which commands point into a direction without wheel force, s.

    The measure is below `NEAR`, and at least the fraction `ACROSS` of the commanded twist (scaled
    as the measure is) is in the weakest direction. Driving straight with all casters aligned is
    singular too, and blocks nothing. None without ``cmd_vel``.
    """
    log = run.log
    robot = run.robot
    if log.cmd_vel is None:
        return None
    weak = np.flatnonzero(run.sigma < NEAR)
    command = held(log.cmd_vel, log.joints.time[weak])
    # the direction of the smallest singular value; its sign is arbitrary
    lost = singularity(robot, log.joints.steering[weak]).directions[:, 2]
    a, b = (_scaled(robot, twist) for twist in (command, lost))
    size = np.linalg.norm(a, axis=1)
    part = np.abs(np.sum(a * b, axis=1)) / np.maximum(size, 1e-9)
    return float(np.sum((part > ACROSS) & (size > LEAST_COMMAND)) * run.timing.period)


def _scaled(robot: CasterRobot, twist: np.ndarray) -> np.ndarray:
    """Return twists (k, 3) of ``base_link`` as (vx, vy, L ω) at the mean pivot, m/s."""
    x, y = robot.hip_position.mean(axis=0)
    return np.stack([twist[:, 0] - twist[:, 2] * y, twist[:, 1] + twist[:, 2] * x,
                     length_scale(robot) * twist[:, 2]], axis=1)
