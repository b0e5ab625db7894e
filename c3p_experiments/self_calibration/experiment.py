# SPDX-License-Identifier: Apache-2.0
"""Experiment: true errors of drives before and after a robot has calibrated itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import ExperimentRun, Outcome, Row
from c3p_experiments.self_calibration.draws import (
    FIRST,
    DrawResult,
    closed_draw,
    replay_draw,
    taught_drives,
)

# wrong descriptions in replays, drives of a minute among which they take turns, and descriptions
# that are driven in closed loop
DRAWS = 50
LESSONS = 3
CLOSED = 3

# runs in a control loop: line, triangle, two of turns, and lessons; six of each in closed loop
RUNS = 4 + LESSONS + 6 * CLOSED

ROWS = (
    Row('true_error_4m_p90_m.before', '4 m line, true final error, p90, before', 'cm', 100.0),
    Row('true_error_4m_p90_m.after', '4 m line, after a minute and a taped line', 'cm', 100.0,
        bar=0.015, stretch=0.005),
    Row('true_error_4m_by_distance_p90_m.after', '4 m line, only its length taped', 'cm', 100.0,
        bar=0.015, stretch=0.005),
    Row('triangle_error_p90_m.before', 'triangle, true final error, p90, before', 'cm', 100.0),
    Row('triangle_error_p90_m.after', 'triangle, after a minute, joints alone', 'cm', 100.0,
        bar=0.02, stretch=0.007),
    Row('triangle_path_error_p90_m.before', 'triangle, true path error, p90, before', 'cm', 100.0),
    Row('triangle_path_error_p90_m.after', 'triangle, path error after, joints alone', 'cm', 100.0,
        bar=0.03, stretch=0.01),
    Row('radius_error_max_ratio.before', 'ratios of radii, largest error, before', '%', 100.0,
        digits=3),
    Row('radius_error_max_ratio.after', 'ratios of radii, largest error, after', '%', 100.0,
        digits=4, bar=5e-4, stretch=2e-4),
    Row('steering_zero_error_max_rad.before', 'differences of zeros, largest, before', '°',
        57.29578, digits=3),
    Row('steering_zero_error_max_rad.after', 'differences of zeros, largest, after', '°',
        57.29578, digits=4, bar=8.73e-4, stretch=3.49e-4),
    Row('ten_turns_yaw_error_p90_rad.before', 'ten turns on the spot, yaw error, p90, before',
        '°', 57.29578),
    Row('ten_turns_yaw_error_p90_rad.after', 'ten turns, after a minute and ten others on a mark',
        '°', 57.29578, bar=8.73e-3, stretch=1.75e-3),
    Row('closed_loop.triangle_error_max_m.after', 'triangle in closed loop, largest, after', 'cm',
        100.0),
    Row('closed_loop.true_error_4m_max_m.after', '4 m line in closed loop, largest, after', 'cm',
        100.0),
    Row('nees_mean', 'squared error of the parameters by their covariance, per parameter'))


def self_calibration(bench: Bench, draws: int = DRAWS, lessons: int = LESSONS,
                     closed: int = CLOSED) -> Outcome:
    """
    Compare odometry of wrong descriptions before and after a minute of driving.

    Parameters
    ----------
    bench : Bench
    draws : int
        Wrong descriptions. Their odometry is computed on recorded drives: a robot that controls
        its odometry has its error, with the other sign, in its true pose.
    lessons : int
        Drives of a minute, used in turn.
    closed : int
        Descriptions that are driven in closed loop as well.
    """
    line, triangle, minutes, marked, turned = taught_drives(bench, lessons)
    seed = FIRST + 1000 * bench.conditions.seed
    found = [replay_draw(bench, (line, triangle, minutes[k % lessons], marked, turned), seed + k)
             for k in range(draws)]
    driven = [closed_draw(bench, seed + 500 + k) for k in range(closed)]
    metrics = {'reached': all(run.log.ended for run in (line, triangle)), 'draws': draws,
               **statistics(found, 90.0), 'closed_loop': {
                   'draws': closed, **(statistics(driven, 100.0) if driven else {})}}
    return Outcome({**metrics, 'details': [_details(d) for d in found]}, (
        ExperimentRun('line', line.log, {'draws': found, 'driven': driven}),
        ExperimentRun('triangle', triangle.log, {})))


def statistics(draws: Sequence[DrawResult], percent: float) -> dict[str, Any]:
    """Return the metrics of draws: percentiles of errors of drives, largest of parameters."""
    name = 'max' if percent == 100.0 else f'p{percent:g}'

    def both(values: np.ndarray, at: float) -> dict[str, float]:
        return {key: float(np.percentile(values[:, k], at))
                for k, key in enumerate(('before', 'after'))}

    out: dict[str, Any] = {}
    for key, field, part in (('true_error_4m', 'line', 'final'),
                             ('true_error_4m_by_distance', 'line_by_distance', 'final'),
                             ('triangle_error', 'triangle', 'final'),
                             ('triangle_path_error', 'triangle', 'path')):
        values = np.array([[getattr(e, part) for e in getattr(d, field)] for d in draws])
        out[f'{key}_{name}_m'] = both(values, percent)
        out[f'{key}_median_m'] = both(values, 50.0)
    for key, field in (('radius_error', 'radius'), ('steering_zero_error', 'zero')):
        unit = 'ratio' if field == 'radius' else 'rad'
        values = np.array([getattr(d, field) for d in draws])
        out[f'{key}_max_{unit}'] = both(values, 100.0)
        out[f'{key}_median_{unit}'] = both(values, 50.0)
    turns = np.abs(np.array([d.turns for d in draws if d.turns is not None]))
    if len(turns):
        out[f'ten_turns_yaw_error_{name}_rad'] = both(turns, percent)
        out['ten_turns_yaw_error_median_rad'] = both(turns, 50.0)
    return {**out, 'nees_mean': float(np.mean([d.nees for d in draws]))}


def _details(draw: DrawResult) -> dict[str, Any]:
    return {'line_m': [e.final for e in draw.line],
            'line_by_distance_m': [e.final for e in draw.line_by_distance],
            'triangle_m': [e.final for e in draw.triangle],
            'triangle_path_m': [e.path for e in draw.triangle],
            'radius_ratio': list(draw.radius), 'zero_rad': list(draw.zero), 'nees': draw.nees,
            **({} if draw.turns is None else {'ten_turns_rad': list(draw.turns)})}
