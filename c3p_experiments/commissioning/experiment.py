# SPDX-License-Identifier: Apache-2.0
"""Experiment: random wirings of robots on the contact plant, and what is found of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from c3p_experiments.commissioning.afterwards import (
    STANDING,
    Afterwards,
    afterwards,
    afterwards_summary,
    failed_afterwards,
)
from c3p_experiments.commissioning.trial import (
    EXACT,
    REFUSED,
    UNDECIDED,
    WRONG,
    WiringTrial,
    failed_trial,
    trial,
)
from c3p_experiments.commissioning.wired import ROBOTS
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Row, RunsDone
from c3p_experiments.page_curves import save_page
from c3p_experiments.parallel.workers import Workers, computing
from c3p_plots import style

NAME = 'commissioning'
TITLE = 'Wiring found by small motions: orders, signs, zeros, gears and leads drawn at random'
SOURCE = 'ours'

# trials of each robot, and its first seed: others serve the development
TRIALS = 4
FIRST = 100_000
SEEDS = 10_000

# trials for each triangle with what was found, and the first seed of these
PER_TRIANGLE = 4
FIRST_TRIANGLE = 700_000

RUNS = TRIALS * len(ROBOTS)

VERDICTS = (EXACT, UNDECIDED, WRONG, REFUSED)


def _rows() -> tuple[Row, ...]:
    rows = []
    for name in ('all', *ROBOTS):
        words = name.replace('_', ' ')
        rows += [
            Row(f'{name}.exact_ratio', f'{words}: named exactly', '%', 100.0, bar=0.999,
                at_least=True),
            Row(f'{name}.wrong', f'{words}: named wrongly', digits=0, bar=0.0),
            Row(f'{name}.undecided', f'{words}: left undecided, the right one among those listed',
                digits=0),
            Row(f'{name}.refused', f'{words}: refused', digits=0)]
    return (*rows,
            Row('all.gear_error_p99', 'gears, largest error, p99', '%', 100.0),
            Row('all.zero_error_p99_rad', 'zeros, largest error, p99', '°', 57.29578),
            Row('all.fastest_mps', 'fastest pivot', 'm/s', digits=3, bar=0.12),
            Row('all.way_m', 'largest distance from the start', 'm', digits=3, bar=0.5),
            Row('all.time_s', 'longest time', 's', digits=1, bar=90.0),
            Row('all.time_p50_s', 'time, median', 's', digits=1),
            Row('afterwards.measured_error_p90_m', 'afterwards: triangle, true final error, p90',
                'cm', 100.0, bar=0.01),
            Row('afterwards.wired_error_p90_m', 'the same with the wiring alone mended', 'cm',
                100.0),
            Row('afterwards.exact_error_p90_m', 'the same with the true robot', 'cm', 100.0))


ROWS = _rows()


def cases(names: Sequence[str], trials: int, seed: int) -> Iterator[tuple[str, int]]:
    """Yield robots and seeds, the robots in turn."""
    for k in range(trials):
        for name in names:
            yield name, FIRST + SEEDS * seed + k


def commissioning(out: Path, options: Conditions, progress: RunsDone = lambda done: None
                  ) -> dict[str, Any]:
    """Carry out the trials, write page and list of trials into `out`; return the metrics."""
    names = ROBOTS if options.robot is None else (options.robot,)
    trials = options.trials or TRIALS
    workers = Workers() if options.workers is None else Workers(options.workers)
    found: list[WiringTrial] = []
    with computing(workers) as compute:
        for one in compute(trial, cases(names, trials, options.seed), lost=failed_trial):
            found.append(one)
            progress(RUNS * len(found) / (trials * len(names)))
        driven: list[Afterwards] = list(compute(
            afterwards, [(name, FIRST_TRIANGLE + SEEDS * options.seed + k)
                         for k in range(trials // PER_TRIANGLE)
                         for name in names if name in STANDING],
            lost=failed_afterwards))
    found.sort(key=lambda one: (names.index(one.robot), one.seed))
    metrics = {name: summary([one for one in found if name in ('all', one.robot)])
               for name in ('all', *names)}
    metrics['afterwards'] = afterwards_summary(driven)
    files = _page(found, metrics, out / NAME)
    return {'reached': metrics['all'][WRONG] == 0, **metrics, 'files': files,
            'conditions': {'trials': trials, 'robots': ', '.join(names), 'seed': options.seed,
                           'sensors': 'real'},
            'details': [{key: _plain(value) for key, value in one._asdict().items()}
                        for one in found if one.verdict != EXACT]}


def _plain(value: Any) -> Any:
    """Return a value for JSON, None for nan."""
    return None if isinstance(value, float) and np.isnan(value) else value


def summary(trials: Sequence[WiringTrial]) -> dict[str, Any]:
    """
    Return the metrics of some trials.

    Numbers of the verdicts after the pushes by hand, and ``before_`` of those before; ratio of the
    exact ones, percentiles of the errors of gears and zeros where orders and signs are right, and
    the largest speed, way and time.
    """
    counts = Counter(one.verdict for one in trials)
    before = Counter(one.before for one in trials)
    gears = np.array([one.gear_error for one in trials if np.isfinite(one.gear_error)])
    zeros = np.array([one.zero_error for one in trials if np.isfinite(one.zero_error)])
    times = np.array([one.time for one in trials])
    return {'trials': len(trials), **{v: counts[v] for v in VERDICTS},
            **{f'before_{v}': before[v] for v in VERDICTS},
            'exact_ratio': counts[EXACT] / len(trials),
            'gear_error_p99': float(np.quantile(gears, 0.99)) if len(gears) else None,
            'zero_error_p99_rad': float(np.quantile(zeros, 0.99)) if len(zeros) else None,
            'fastest_mps': max(one.fastest for one in trials),
            'way_m': max(one.way for one in trials),
            'time_s': float(times.max()), 'time_p50_s': float(np.median(times)),
            'stops': sum(bool(one.text) for one in trials)}


def _page(trials: Sequence[WiringTrial], metrics: dict[str, Any], path: Path) -> list[Path]:
    every = metrics['all']
    sheet, grid = style.page('Wiring found by small motions', [
        f'{every["trials"]} trials', f'{every[EXACT]} named exactly',
        f'{every[UNDECIDED]} undecided, {every[WRONG]} wrong, {every[REFUSED]} refused'],
        size=(12.0, 6.4), rows=2, columns=3)
    panels = (('gear_error', 100.0, '(a) gears', 'largest error [%]'),
              ('zero_error', 57.29578, '(b) zeros', 'largest error [°]'),
              ('probability', 1.0, '(c) probability', 'of what is found'),
              ('fastest', 1.0, '(d) fastest pivot', 'speed [m/s]'),
              ('way', 1.0, '(e) distance from the start', 'largest [m]'),
              ('time', 1.0, '(f) time of the motions', 'time [s]'))
    for k, (field, scale, title, label) in enumerate(panels):
        axes = sheet.add_subplot(grid[k // 3, k % 3])
        _sorted(axes, trials, field, scale)
        style.dress(axes, title, label, 'trials up to [%]')
        if k == 0:
            style.legend(axes)
    return save_page(sheet, path)


def _sorted(axes: Axes, trials: Sequence[WiringTrial], field: str, scale: float) -> None:
    for name in dict.fromkeys(one.robot for one in trials):
        values = np.sort([scale * getattr(one, field) for one in trials if one.robot == name])
        values = values[np.isfinite(values)]
        axes.plot(values, 100.0 * (np.arange(len(values)) + 1) / max(1, len(values)),
                  drawstyle='steps-post', label=name.replace('_', ' '), linewidth=style.LINE)
