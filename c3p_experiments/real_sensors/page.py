# SPDX-License-Identifier: Apache-2.0
"""Page of the experiment: true errors and alarms, by property of the sensors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import Experiment, Outcome
from c3p_experiments.loop.report import conditions_text
from c3p_experiments.real_sensors.drives import TASKS, TimedDrive
from c3p_experiments.real_sensors.experiment import ROWS
from c3p_experiments.real_sensors.properties import REAL
from c3p_plots import style

# least error and number of alarms that are drawn, cm and 1
LEAST = 1e-2
NONE = 0.5


def real_sensors_page(outcome: Outcome, bench: Bench, experiment: Experiment, path: Path
                      ) -> list[Path]:
    """
    Write the page of an `outcome` of the `experiment` on its `bench`.

    `path` has no suffix. Returns the files.
    """
    facts = outcome.runs[0].facts
    drives: Sequence[TimedDrive] = facts['drives']
    names: Sequence[str] = facts['names']
    most, alone = outcome.metrics['seeds']
    page, grid = style.page(experiment.title, [
        conditions_text(bench.describe()), f'{alone} drives of each task with each property '
        f'alone, {most} with all'], size=(12.0, 6.4), rows=1, columns=3)
    bars = {row.key: row.bar for row in ROWS if row.bar}
    for column, task in enumerate(TASKS):
        axes = page.add_subplot(grid[0, column])
        _errors(axes, [one for one in drives if one.task == task], names)
        axes.axvline(100.0 * bars[f'{REAL}.{task}.true_error_p90_m'], color=style.GREY,
                     linewidth=0.8)
        style.dress(axes, f'({"ab"[column]}) {task}; dot: p90, grey: its bar',
                    'true final error [cm]', '')
        _label(axes, names)
    axes = page.add_subplot(grid[0, 2])
    for shift, colour, field, label in (
            (-0.2, style.SENSED, 'slip_alarms', 'slip'),
            (0.0, style.REFERENCE, 'fault_alarms', 'faults'),
            (0.2, style.GREY, 'held', 'samples with a held twist')):
        count = [outcome.metrics[name][field] for name in names]
        axes.barh(np.arange(len(names)) + shift, np.maximum(count, NONE), height=0.18,
                  color=colour, label=label)
    axes.set_xscale('log')
    axes.set_xlim(left=NONE)
    style.dress(axes, '(c) alarms, false but for lost counts', 'number', '')
    _label(axes, names)
    style.legend(axes)
    return style.save(page, path)


def _errors(axes: Axes, drives: Sequence[TimedDrive], names: Sequence[str]) -> None:
    for row, name in enumerate(names):
        errors = np.maximum([100.0 * one.true_error for one in drives if one.name == name], LEAST)
        axes.plot(errors, np.full(len(errors), row), '|', color=style.SENSED, alpha=0.6,
                  markersize=8)
        axes.plot(np.quantile(errors, 0.9), row, 'o', color=style.REFERENCE, markersize=5)
    axes.set_xscale('log')


def _label(axes: Axes, names: Sequence[str]) -> None:
    # in two lines, within the left margin of the page
    axes.set_yticks(range(len(names)), [name.replace('_', '\n') for name in names], fontsize=7)
    axes.invert_yaxis()
