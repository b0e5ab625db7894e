# SPDX-License-Identifier: Apache-2.0
"""Page of the experiment: operating curves, times, names, and the pose with a drifting encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import Experiment, Outcome
from c3p_experiments.loop.report import conditions_text
from c3p_experiments.slip_faults.experiment import SOON
from c3p_experiments.slip_faults.poses import DRIFTING, PoseErrors
from c3p_experiments.slip_faults.quiet_driving import LIMITS
from c3p_experiments.slip_faults.scoring import LABELS, FaultCase
from c3p_plots import style

BEFORE = style.REFERENCE
AFTER = style.SENSED

# least rate of false alarms that is drawn, 1/h, for none; least time, and that for never, s
NONE = 0.3
AT_ONCE = 1e-3
NEVER = 4.0
# least error of the pose that is drawn, cm
LEAST = 1e-2


def faults_page(outcome: Outcome, bench: Bench, experiment: Experiment, path: Path) -> list[Path]:
    """
    Write the page of an `outcome` of the `experiment` on its `bench`.

    `path` has no suffix. Returns the files.
    """
    facts = outcome.runs[0].facts
    m = outcome.metrics
    cases: Sequence[FaultCase] = facts['cases']
    page, grid = style.page(experiment.title, [
        conditions_text(bench.describe()), f'{len(cases)} faults of {len(m["robots"])} robots, '
        f'{m["hours"]:.2g} h without in {m["quiet_drives"]} distinct drives; wrong descriptions'],
        size=(12.0, 11.5), rows=3, columns=2)
    axes = [page.add_subplot(grid[k // 2, k % 2]) for k in range(6)]
    _curves(axes[0], m)
    _times(axes[1], cases)
    _names(axes[2], cases)
    _pose(axes[3], facts['drifted'])
    axes[3].axvspan(0.0, DRIFTING, color=style.GREY, alpha=0.2, linewidth=0)
    style.dress(axes[3], '(d) odometry while a steering encoder drifts, 2 rad/s for 2 s',
                'time [s]', 'error of position [cm]')
    _pose(axes[4], facts['stuck'])
    style.dress(axes[4], '(e) odometry after a wheel encoder has stuck',
                'time [s]', 'error of position [cm]')
    _margins(axes[5], facts['largest'])
    return style.save(page, path)


def _curves(axes: Axes, metrics: dict) -> None:
    roc = metrics['roc']
    at = int(np.argmin(np.abs(np.log(LIMITS))))
    for curve, colour, label in ((roc['before'], BEFORE, 'slip monitor'),
                                 (roc, AFTER, 'fault monitor')):
        rate = np.maximum(curve['false_alarms_per_hour'], NONE)
        found = 100.0 * np.array(curve['found_ratio'])
        axes.plot(rate, found, '.-', color=colour, label=label, linewidth=style.LINE,
                  markersize=4)
        axes.plot(rate[at], found[at], 'o', color=colour, markersize=9, fillstyle='none')
    axes.set_xscale('log')
    axes.set_xticks([NONE, 1.0, 10.0, 100.0], ['none', '1', '10', '100'])
    style.dress(axes, f'(a) found within {1e3 * SOON:.0f} ms; circle: limit in use',
                'false alarms [1/h]', 'faults found [%]')
    style.legend(axes)


def _times(axes: Axes, cases: Sequence[FaultCase]) -> None:
    kinds = list(dict.fromkeys(case.kind for case in cases))
    for row, kind in enumerate(kinds):
        mine = [case for case in cases if case.kind == kind]
        for shift, colour, field in ((-0.15, AFTER, 'found'), (0.15, BEFORE, 'named_after')):
            times = np.minimum([getattr(case, field) for case in mine], NEVER)
            above = field == 'found'
            axes.plot(np.maximum(times, AT_ONCE), np.full(len(mine), row + shift), '|',
                      color=colour, alpha=0.6, markersize=6 if above else 4,
                      label=('found (above)' if above else 'named (below)')
                      if row == 0 else None)
    axes.axvline(SOON, color=style.GREY, linewidth=0.8)
    axes.set_xscale('log')
    axes.set_xticks([AT_ONCE, 0.01, 0.1, 1.0, NEVER],
                    [rf'$\leq${AT_ONCE:g}', '0.01', '0.1', '1', 'never'])
    axes.invert_yaxis()
    style.dress(axes, '(b) time until found and named', 'time [s]', '')
    # in two lines, within the gap between the panels
    axes.set_yticks(range(len(kinds)), [kind.replace(' encoder ', '\n') for kind in kinds],
                    fontsize=7)
    style.legend(axes)


def _names(axes: Axes, cases: Sequence[FaultCase]) -> None:
    kinds = list(dict.fromkeys(case.kind for case in cases))
    table = np.zeros((len(kinds), len(LABELS) + 2))
    for case in cases:
        column = (len(LABELS) + 1 if case.named < 0 else case.named if case.wheel
                  else len(LABELS))
        table[kinds.index(case.kind), column] += 1
    part = table / table.sum(1, keepdims=True)
    axes.imshow(part, cmap='Blues', vmin=0.0, vmax=1.4, aspect='auto')
    for (row, column), count in np.ndenumerate(table):
        if count:
            axes.text(column, row, f'{count:.0f}', ha='center', va='center', fontsize=8)
    # in two lines, within the left margin of the page
    axes.set_yticks(range(len(kinds)), [kind.replace(' encoder ', '\n') for kind in kinds],
                    fontsize=7)
    axes.set_xticks(range(len(LABELS) + 2), [
        *(label.replace(' encoder', '').replace(' ', '\n') for label in LABELS), 'wrong\nwheel',
        'not dis-\ntinguished'], fontsize=7)
    axes.set_title('(c) first name with 95 % confidence, by fault', loc='left',
                   fontsize=9, fontweight='bold')


def _pose(axes: Axes, errors: PoseErrors) -> None:
    for values, colour, label in ((errors.before, BEFORE, 'without fault monitor'),
                                  (errors.after, AFTER, 'with fault monitor')):
        for row, error in enumerate(values):
            axes.plot(errors.time, np.maximum(100.0 * error, LEAST), color=colour,
                      label=label if row == 0 else None, linewidth=0.7, alpha=0.7)
    axes.set_yscale('log')
    style.clip_below(axes, LEAST)
    style.legend(axes)


def _margins(axes: Axes, largest: Sequence[float]) -> None:
    axes.plot(np.sort(largest), np.arange(1, len(largest) + 1), color=AFTER,
              drawstyle='steps-post', linewidth=style.LINE)
    axes.axvline(1.0, color=style.GREY, linewidth=0.8)
    axes.set_xscale('log')
    style.dress(axes, '(f) drives without a fault; line: limit in use',
                'largest statistic over the alarm limit', 'drives up to it')
