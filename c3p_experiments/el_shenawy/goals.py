# SPDX-License-Identifier: Apache-2.0
"""Goal experiments: paper I, Figs 9 and 10, and ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_bags.runs.metrics import drive_metrics, entry_time
from c3p_bags.runs.run_log import Motion
from c3p_bags.runs.smoothness import KEYS as SMOOTHNESS
from c3p_experiments.el_shenawy.measures import (
    first_aligned,
    leg_metrics,
    solve_metrics,
    torque_rms,
    torque_step,
)
from c3p_experiments.loop.closed_loop import Held, LoopLog, Push
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import ExperimentRun, Outcome
from c3p_simulation.plants.floor import FloorPatch

# the goal zone of the papers, m, and ours in yaw, rad
ZONE = 0.05
YAW_ZONE = 0.15

# settled: distance from the goal, m
SETTLED = 0.005

# standstill speed, m/s
STANDSTILL = 0.01

# duration at the goal that ends a run, s
DWELL = 0.5

# steering of casters after a drive along +X, rad
TRAILING = -np.pi / 2

# paper I, Fig. 10: P1, P2, P3 and back, m and rad
TRIANGLE = ((0.0, 0.0, 0.0), (0.0, 3.5, 0.0), (3.0, 3.5, 0.0), (0.0, 0.0, 0.0))

# goals all around: number and distance, m
DRIVES = 36
REACH = 2.0

# pushes during the drive: lateral, yaw, from ahead
PUSHES = (Push(2.0, (0.0, 40.0), 0.0, 0.2), Push(4.0, (0.0, 0.0), 8.0, 0.2),
          Push(6.0, (-40.0, 0.0), 0.0, 0.3))

# the ground falls to the robot's right, rad
SLOPE = np.radians(4.0)
SLOPE_DIRECTION = -np.pi / 2

# oil on the track of one wheel: X range, width, m; µ
OIL = (-0.1, 0.4)
OIL_WIDTH = 0.1
OIL_FRICTION = 0.05

# metrics of `drive_metrics` that only drives with nodes have
DROPPED = ('latency_ms', 'cycles', 'overruns', 'messages')


def goal_metrics(bench: Bench, log: LoopLog, goal: ArrayLike) -> dict[str, Any]:
    """Return the metrics of a drive to one goal: those of ``c3p drive`` and of experiments."""
    metrics = drive_metrics(log, bench.robot, goal, ZONE, YAW_ZONE)
    for name in DROPPED:
        metrics.pop(name)
    settled = entry_time(log.odom, goal, 0.0, SETTLED, np.inf)
    speed = np.hypot(*log.odom.twist[log.odom.time > log.odom.time[-1] - DWELL, :2].T)
    return {**metrics, 'reached': metrics['reached'] and not log.fault, 'fault': log.fault,
            'settled_time_s': settled, 'end_time_s': float(log.joints.time[-1]),
            'first_aligned_s': first_aligned(log, bench.robot),
            'overshoot_m': overshoot(log.ground_truth, goal),
            'stands': bool((speed < STANDSTILL).all()), 'max_torque_step_nm': torque_step(log),
            'rms_wheel_torque_nm': torque_rms(log), **solve_metrics([log])}


def overshoot(motion: Motion, goal: ArrayLike) -> float:
    """Return the largest overshoot past `goal` along the line from the start, m."""
    goal = np.asarray(goal, float)[:2]
    line = goal - motion.pose[0, :2]
    length = float(np.hypot(*line))
    if length == 0.0:
        return 0.0
    return max(0.0, float(((motion.pose[:, :2] - goal) @ line).max()) / length)


def _drive(bench: Bench, goal: ArrayLike, *, duration: float = 40.0, **options: Any
           ) -> tuple[dict[str, Any], ExperimentRun]:
    controller = bench.controller()
    log = bench.run(controller, GoalSource(controller.position(), [goal]), duration=duration,
                    stop=Held(DWELL), **options)
    metrics = goal_metrics(bench, log, goal)
    return metrics, ExperimentRun('', log, {'points': [(0.0, 0.0, 0.0), goal], **aligned(metrics)})


def aligned(metrics: dict[str, Any]) -> dict[str, list[float]]:
    """Return the fact of the alignment time, empty for casters aligned from the start."""
    return {'aligned': [metrics['align_time_s']]} if metrics['align_time_s'] else {}


def _single(bench: Bench, goal: ArrayLike, **options: Any) -> Outcome:
    metrics, run = _drive(bench, goal, **options)
    return Outcome(metrics, (run,))


def line(bench: Bench) -> Outcome:
    """Drive 4 m along +X from steering angles exactly 0, where X is not actuated."""
    return _single(bench, (4.0, 0.0, 0.0))


def spin(bench: Bench) -> Outcome:
    """Turn by half a turn in place, casters parallel."""
    return _single(bench, (0.0, 0.0, np.pi))


def sideways(bench: Bench) -> Outcome:
    """Drive 2 m along +Y, casters trailing as after a drive along +X: singular."""
    return _single(bench, (0.0, 2.0, 0.0), steering=TRAILING)


def goal_behind(bench: Bench) -> Outcome:
    """Drive 2 m back against trailing casters: every caster must flip."""
    return _single(bench, (-2.0, 0.0, 0.0), steering=TRAILING)


def pushes(bench: Bench) -> Outcome:
    """Drive 4 m with pushes: lateral, yaw, from ahead."""
    metrics, run = _drive(bench, (4.0, 0.0, 0.0), pushes=PUSHES)
    return Outcome(metrics, (run._replace(facts={**run.facts, 'pushes': PUSHES}),))


def slope(bench: Bench) -> Outcome:
    """Drive 4 m across a slope, from exactly singular."""
    return _single(bench, (4.0, 0.0, 0.0), plant=bench.plant(SLOPE, SLOPE_DIRECTION))


def oil_patch(bench: Bench) -> Outcome:
    """Drive 4 m along +X, the last wheel accelerating on oil; check the slip isolation."""
    wheel = bench.robot.count - 1
    y = float(bench.robot.hip_position[wheel, 1])
    oil = FloorPatch(OIL, (y - 0.5 * OIL_WIDTH, y + 0.5 * OIL_WIDTH), OIL_FRICTION)
    outcome = _single(bench, (4.0, 0.0, 0.0), plant=bench.plant(patches=(oil,)),
                      steering=TRAILING)
    slip = outcome.runs[0].log.slip
    named = np.flatnonzero(slip.suspect.any(axis=0))
    first = float(slip.time[slip.suspect[:, wheel]].min()) if wheel in named else None
    return replace(outcome, metrics={
        **outcome.metrics, 'wheel_on_oil': wheel + 1, 'wheels_named': (named + 1).tolist(),
        'others_named': int(np.count_nonzero(named != wheel)), 'named_time_s': first})


def triangle(bench: Bench) -> Outcome:
    """Drive a triangle of 11 m with a stop at each corner."""
    controller = bench.controller()
    source = GoalSource(controller.position(), TRIANGLE[1:], dwell=0.2)
    log = bench.run(controller, source, duration=100.0, stop=Held(DWELL))
    metrics = goal_metrics(bench, log, TRIANGLE[-1])
    legs = leg_metrics(log, bench.robot, TRIANGLE, source.times, ZONE)
    done = len(legs) == len(TRIANGLE) - 1
    metrics.update(
        reached=done and all(leg['reached'] for leg in legs), legs=legs,
        length_m=_length(TRIANGLE),
        time_s=source.times[-1] + legs[-1]['time_s'] if done and legs[-1]['reached'] else None,
        align_time_s=_worst(legs, 'align_time_s'))
    for prefix in ('', 'ground_truth_'):
        for name in ('path_error_max_m', 'path_error_rms_m'):
            metrics[prefix + name] = _worst(legs, prefix + name)
    facts = {'points': TRIANGLE, 'times': source.times, 'aligned': [
        start + leg['align_time_s'] for start, leg in zip([0.0, *source.times], legs,
                                                          strict=False)
        if leg['align_time_s']]}
    return Outcome(metrics, (ExperimentRun('', log, facts),))


def steerings(bench: Bench) -> Outcome:
    """Drive to goals all around, each from random steering angles."""
    random = np.random.default_rng(bench.conditions.seed)
    drives = []
    runs = []
    for number in range(DRIVES):
        angle = 2.0 * np.pi * number / DRIVES
        goal = (REACH * np.cos(angle), REACH * np.sin(angle), 0.0)
        start = random.uniform(-np.pi, np.pi, bench.robot.count)
        metrics, run = _drive(bench, goal, duration=25.0, steering=start)
        drives.append({'start_steering_rad': start.tolist(), **metrics})
        runs.append(run)
    return Outcome(steerings_metrics(drives, [run.log for run in runs]), tuple(runs))


def steerings_metrics(drives: Sequence[dict[str, Any]], logs: Sequence[LoopLog]
                      ) -> dict[str, Any]:
    """Return the joint metrics of many drives: largest errors and quantiles of times."""
    reached = [drive['reached'] for drive in drives]
    aligned = [np.inf if drive['align_time_s'] is None else drive['align_time_s']
               for drive in drives]
    p50, p90 = np.percentile(aligned, [50, 90], method='inverted_cdf')
    worst = {name: _worst(drives, name) for name in (
        'time_s', 'align_time_s', 'path_error_max_m', 'path_error_rms_m', 'final_error_m',
        'final_yaw_error_rad', 'ground_truth_path_error_max_m', 'ground_truth_path_error_rms_m',
        'ground_truth_final_error_m', 'ground_truth_final_yaw_error_rad',
        'odometry_error_final_m', 'max_wheel_torque_nm', 'max_speed_mps',
        'rms_wheel_torque_nm', 'max_torque_step_nm')}
    # a short drive may have no steady command: the worst of the others
    for name in SMOOTHNESS:
        worst[name] = max((d[name] for d in drives if d.get(name) is not None), default=None)
    return {'reached': all(reached), **worst, 'drives_reached': sum(reached),
            'drives_missed': len(reached) - sum(reached),
            'align_time_p50_s': float(p50) if np.isfinite(p50) else None,
            'align_time_p90_s': float(p90) if np.isfinite(p90) else None,
            **solve_metrics(logs), 'drives': list(drives)}


def _worst(parts: Sequence[dict[str, Any]], name: str) -> float | None:
    """Return the largest of a metric, None where a value is missing."""
    values = [part[name] for part in parts]
    return None if not values or None in values else max(values)


def _length(points: Sequence[ArrayLike]) -> float:
    return float(np.hypot(*np.diff(np.asarray(points)[:, :2], axis=0).T).sum())
