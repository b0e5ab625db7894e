# SPDX-License-Identifier: Apache-2.0
"""Velocity experiments: paper I, Fig. 11, and paper II, Figs 6, 7 and 9."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_bags.runs.metrics import align_time
from c3p_bags.runs.smoothness import run_smoothness
from c3p_controller.goals.path import figure_eight as eight
from c3p_description.model import Array
from c3p_experiments.el_shenawy.goals import DWELL, aligned, goal_metrics
from c3p_experiments.el_shenawy.measures import (
    across,
    largest_and_rms,
    off_direction,
    ring_error,
    settled_time,
    solve_metrics,
    torque_rms,
    torque_step,
)
from c3p_experiments.loop.closed_loop import Held, LoopLog
from c3p_experiments.loop.command_sources import FloorVelocitySource, PathSource, TwistSource
from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import ExperimentRun, Outcome
from c3p_kinematics.se2 import to_floor, wrap

# paper I, Fig. 11: m/s along body +Y, rad/s, and the radius that follows, m
EIGHT_SPEED = 0.3
EIGHT_RATE = 0.2
EIGHT_RADIUS = EIGHT_SPEED / EIGHT_RATE

# paper II, Fig. 6: end of the ramp of Vy, m/s and s; steering angles of the second case, rad
RAMP_Y_SPEED = 0.09
RAMP_Y_TIME = 3.2
RAMP_Y_STEERING = np.radians([45.0, -45.0, 90.0])

# paper II, Fig. 7: end of the ramp of Vx, m/s and s
RAMP_X_SPEED = 0.14
RAMP_X_TIME = 15.0

# paper II, Fig. 9: m/s on the floor, and all steering angles, rad
FLIP_VELOCITY = (0.5, 0.5, 0.0)
FLIP_STEERING = np.radians(135.0)

# window for the alignment after the middle of the eight, s
CROSSING_WINDOW = 5.0

# relative error of the mean velocity in the last second that counts as reached
REACHED = 0.1


def velocity_metrics(log: LoopLog, velocity: Callable[[float], ArrayLike], direction: ArrayLike
                     ) -> dict[str, Any]:
    """
    Return the metrics of a run with one commanded velocity over the floor.

    Parameters
    ----------
    log : LoopLog
    velocity : callable
        Command: seconds → Ẋ, Ẏ, ω.
    direction : (2,) array_like
        Of the travel, on the floor.

    Returns
    -------
    dict
        ``align_time_s``: all casters stay within 10° of trailing; ``path_error_*``: cross-track
        from the line through the start; ``velocity_error_*``: true minus commanded velocity;
        ``reached``: aligned, and at the commanded velocity at the end.
    """
    time = log.joints.time
    commanded = np.array([velocity(t) for t in time], float)
    true = to_floor(log.ground_truth.pose[:, 2], log.ground_truth.twist)
    aligned = settled_time(time, off_direction(log, direction))
    last = time > time[-1] - 1.0
    final = true[last].mean(axis=0)[:2]
    target = commanded[last].mean(axis=0)[:2]
    final_speed = np.hypot(*final)
    missed = np.hypot(*(final - target))
    metrics: dict[str, Any] = {
        'reached': bool(aligned is not None and missed <= REACHED * np.hypot(*target)),
        'time_s': None, 'align_time_s': aligned,
        'final_error_m': None, 'final_yaw_error_rad': None,
        'ground_truth_final_error_m': None,
        'ground_truth_final_yaw_error_rad': float(abs(wrap(log.ground_truth.pose[-1, 2])))}
    for prefix, motion in (('', log.odom), ('ground_truth_', log.ground_truth)):
        metrics[f'{prefix}path_error_max_m'], metrics[f'{prefix}path_error_rms_m'] = (
            largest_and_rms(across(motion, direction)))
    error = true - commanded
    metrics.update(
        velocity_error_rms_mps=largest_and_rms(np.hypot(error[:, 0], error[:, 1]))[1],
        final_speed_mps=float(final_speed),
        yaw_max_rad=float(np.abs(log.ground_truth.pose[:, 2]).max()),
        odometry_error_final_m=float(np.hypot(*(log.ground_truth.pose[-1]
                                                - log.odom.pose[-1])[:2])),
        max_wheel_torque_nm=float(np.abs(log.wheel_effort.value).max()),
        rms_wheel_torque_nm=torque_rms(log), max_torque_step_nm=torque_step(log),
        end_time_s=float(time[-1]), **run_smoothness(log), **solve_metrics([log]))
    return metrics


def _velocity(bench: Bench, label: str, velocity: Callable[[float], ArrayLike],
              direction: ArrayLike, duration: float, steering: ArrayLike
              ) -> tuple[dict[str, Any], ExperimentRun]:
    log = bench.run(bench.controller(), FloorVelocitySource(velocity), duration=duration,
                    steering=steering)
    commanded = np.array([velocity(t) for t in log.joints.time], float)
    metrics = velocity_metrics(log, velocity, direction)
    return metrics, ExperimentRun(label, log, {
        'commanded': commanded, 'direction': np.asarray(direction, float), **aligned(metrics)})


def ramp(speed: float, until: float, direction: ArrayLike) -> Callable[[float], Array]:
    """Return a velocity over the floor that rises linearly to `speed` at `until` and stays."""
    unit = np.append(np.asarray(direction, float), 0.0)
    return lambda t: speed * min(t / until, 1.0) * unit


def ramp_y(bench: Bench) -> Outcome:
    """Ramp of the velocity along Y, from trailing and from misaligned casters."""
    command = ramp(RAMP_Y_SPEED, RAMP_Y_TIME, (0.0, 1.0))
    cases = []
    runs = []
    for label, steering in (
            ('0°, 0°, 0°', 0.0),
            ('45°, −45°, 90°', np.resize(RAMP_Y_STEERING, bench.robot.count))):
        metrics, run = _velocity(bench, label, command, (0.0, 1.0), 6.0, steering)
        cases.append({'case': label, **metrics})
        runs.append(run)
    # metrics of the second case, whose casters have to align
    return Outcome({**cases[1], 'reached': all(case['reached'] for case in cases),
                    'cases': cases}, tuple(runs))


def ramp_x(bench: Bench) -> Outcome:
    """Ramp of the velocity along X from steering angles 0, where X is not actuated."""
    metrics, run = _velocity(bench, '', ramp(RAMP_X_SPEED, RAMP_X_TIME, (1.0, 0.0)), (1.0, 0.0),
                             RAMP_X_TIME, 0.0)
    return Outcome(metrics, (run,))


def flip(bench: Bench) -> Outcome:
    """Command 0.5 m/s along X and Y with all casters ahead of their pivots, 135°."""
    metrics, run = _velocity(bench, '', lambda t: FLIP_VELOCITY, FLIP_VELOCITY[:2], 8.0,
                             FLIP_STEERING)
    return Outcome(metrics, (run,))


def _crossing(bench: Bench, log: LoopLog) -> dict[str, Any]:
    """Return the alignment times at the start and at the jump of curvature."""
    right = np.flatnonzero(log.cmd_vel.value[:, 2] < -0.5 * EIGHT_RATE)
    if not len(right):
        return {'align_time_s': None, 'crossing_align_time_s': None}
    middle = float(log.cmd_vel.time[right[0]])
    # exclude the cycle of the jump
    before = middle - 1.5 / bench.conditions.rate
    return {'align_time_s': align_time(log, bench.robot, 0.0, before),
            'crossing_align_time_s': align_time(log, bench.robot, middle,
                                                middle + CROSSING_WINDOW)}


def figure_eight(bench: Bench) -> Outcome:
    """
    Drive a ring to the left and one to the right, along body +Y.

    Path controllers follow the path, others the velocities of the paper.
    """
    controller = bench.controller(EIGHT_SPEED)
    position = controller.position()
    turn = 2.0 * np.pi / EIGHT_RATE
    path = eight(np.zeros(3), EIGHT_RADIUS)
    if hasattr(position, 'set_path'):
        log = bench.run(controller, PathSource(position, path), duration=3.0 * turn,
                        stop=Held(DWELL))
    else:
        log = bench.run(controller, TwistSource(
            lambda t: (0.0, EIGHT_SPEED, EIGHT_RATE if t < turn else -EIGHT_RATE)),
            duration=2.0 * turn)
    end = path.at(np.array([path.length]))[0][0]
    metrics = goal_metrics(bench, log, end)
    centres = [(-EIGHT_RADIUS, 0.0), (EIGHT_RADIUS, 0.0)]
    for prefix, motion in (('', log.odom), ('ground_truth_', log.ground_truth)):
        largest, rms = largest_and_rms(ring_error(motion, centres, EIGHT_RADIUS))
        metrics.update({f'{prefix}ring_error_max_m': largest, f'{prefix}ring_error_rms_m': rms,
                        f'{prefix}path_error_max_m': largest, f'{prefix}path_error_rms_m': rms})
    # without a path the criterion is the distance driven
    length = float(np.hypot(*np.diff(log.ground_truth.pose[:, :2], axis=0).T).sum())
    metrics['length_m'] = length
    metrics.update(_crossing(bench, log))
    if not hasattr(position, 'set_path'):
        metrics['reached'] = bool(length > (1.0 - REACHED) * path.length)
    shape = path.at(np.linspace(0.0, path.length, 400))[0]
    return Outcome(metrics, (ExperimentRun('', log, {'curve': shape, 'centres': centres,
                                                     'radius': EIGHT_RADIUS}),))
