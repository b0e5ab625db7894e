# SPDX-License-Identifier: Apache-2.0
"""Experiment: true errors and false alarms with the sensors of real robots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import ExperimentRun, Outcome, Row
from c3p_experiments.parallel.workers import Workers, computing
from c3p_experiments.real_sensors.drives import TASKS, TimedCase, TimedDrive, driven, timed_drive
from c3p_experiments.real_sensors.properties import PROPERTIES, REAL, sensors_with

# drives of each task with all properties, and with each alone; first seed of the sensors, and
# seeds for each seed of the conditions
DRIVES = 50
ALONE = 10
FIRST = 20_000
SEEDS = 1000

# rate of the samples, Hz
RATE = 200.0

RUNS = len(TASKS) * (DRIVES + ALONE * (len(PROPERTIES) - 1))

CM: dict[str, Any] = {'unit': 'cm', 'scale': 100.0}


def _rows() -> tuple[Row, ...]:
    rows = [
        Row('real.line.true_error_p90_m', 'real: 4 m line, true final error, p90', bar=0.01,
            stretch=0.005, **CM),
        Row('real.triangle.true_error_p90_m', 'real: triangle, true final error, p90', bar=0.02,
            stretch=0.01, **CM),
        Row('real.line.true_error_max_m', 'real: line, largest', **CM),
        Row('real.triangle.true_error_max_m', 'real: triangle, largest', **CM),
        Row('real.missed', 'real: goals missed', digits=0, bar=0.0),
        Row('real.slip_alarms', 'real: alarms of slip', digits=0, bar=0.0),
        Row('real.fault_alarms', 'real: alarms of faults', digits=0, bar=0.0),
        Row('real.held_ratio', 'real: samples with a held twist', '%', 100.0, digits=3)]
    for name in PROPERTIES:
        if name == REAL:
            continue
        words = name.replace('_', ' ')
        rows += [Row(f'{name}.line.true_error_p90_m', f'{words}: line, p90', **CM),
                 Row(f'{name}.triangle.true_error_p90_m', f'{words}: triangle, p90', **CM),
                 Row(f'{name}.alarms', f'{words}: alarms of slip and faults', digits=0),
                 Row(f'{name}.held_ratio', f'{words}: samples with a held twist', '%', 100.0,
                     digits=3)]
    return tuple(rows)


ROWS = _rows()


def real_sensors(bench: Bench, drives: int = DRIVES, alone: int = ALONE,
                 names: Sequence[str] = PROPERTIES, workers: Workers | None = None) -> Outcome:
    """
    Drive line and triangle with each property of the sensors of real robots.

    Parameters
    ----------
    bench : Bench
        Its sensors are those to which a property is added.
    drives, alone : int
        Number of drives of each task: with all properties, and with each alone.
    names : sequence of str
        Of `PROPERTIES`.
    workers : Workers, optional
        Default: a process for each core.
    """
    found: list[TimedDrive] = []
    with computing(workers or Workers()) as compute:
        for one in compute(timed_drive, timed_cases(bench, drives, alone, names)):
            found.append(one)
            bench.done()
    # results arrive in any order
    found.sort(key=lambda one: (names.index(one.name), one.task, one.seed))
    metrics = {name: summary([one for one in found if one.name == name]) for name in names}
    shown = next(iter(timed_cases(bench, 1, 1, names[-1:])))
    log, _ = driven(shown)
    bench.done()
    reached = metrics[names[-1]]['missed'] == 0
    return Outcome({'reached': reached, 'seeds': [drives, alone], **metrics},
                   (ExperimentRun('', log, {'drives': found, 'names': list(names)}),))


def timed_cases(bench: Bench, drives: int, alone: int, names: Sequence[str]
                ) -> Iterator[TimedCase]:
    """
    Yield the drives of `real_sensors`.

    Parameters
    ----------
    bench : Bench
    drives, alone : int
    names : sequence of str
        As there.
    """
    c = bench.conditions
    first = FIRST + SEEDS * c.seed
    for name in names:
        sensors = sensors_with(name, c.sensors)
        for task in TASKS:
            for seed in range(first, first + (drives if name == REAL else alone)):
                yield TimedCase(c, bench.robot_name, name, sensors, task, seed)


def summary(drives: Sequence[TimedDrive]) -> dict[str, Any]:
    """
    Return the metrics of the drives with one property.

    Alarms are counted in all drives; ``held_ratio`` is the fraction of the samples, at the rate of
    the loop, with a held twist.
    """
    out: dict[str, Any] = {}
    for task in TASKS:
        mine = [one for one in drives if one.task == task]
        for kind in ('true', 'odometry'):
            errors = np.array([getattr(one, f'{kind}_error') for one in mine])
            out.setdefault(task, {}).update({
                f'{kind}_error_p50_m': float(np.median(errors)),
                f'{kind}_error_p90_m': float(np.quantile(errors, 0.9)),
                f'{kind}_error_max_m': float(errors.max())})
        out[task]['drives'] = len(mine)
    time = sum(one.duration for one in drives)
    out['hours'] = time / 3600.0
    for kind in ('slip', 'fault'):
        out[f'{kind}_alarms'] = sum(getattr(one, f'{kind}_alarms') for one in drives)
    out['alarms'] = out['slip_alarms'] + out['fault_alarms']
    out['held'] = sum(one.held for one in drives)
    out['held_ratio'] = out['held'] / max(1, round(time * RATE))
    out['missed'] = sum(not one.reached for one in drives)
    return out
