# SPDX-License-Identifier: Apache-2.0
"""Page of the experiment: errors of drives and parameters before and after, and the learning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import Experiment, Outcome
from c3p_experiments.loop.report import conditions_text
from c3p_experiments.self_calibration.draws import DrawResult
from c3p_plots import style

BEFORE = style.REFERENCE
AFTER = style.SENSED


def calibration_page(outcome: Outcome, bench: Bench, experiment: Experiment, path: Path
                     ) -> list[Path]:
    """
    Write the page of an `outcome` of the `experiment` on its `bench`.

    `path` has no suffix. Returns the files.
    """
    facts = outcome.runs[0].facts
    draws = facts['draws']
    driven = facts['driven']
    m = outcome.metrics
    page, grid = style.page(experiment.title, [
        conditions_text(bench.describe()), f'{len(draws)} wrong descriptions, {len(driven)} of '
        'others in closed loop (squares)', 'triangle p90 '
        f'{100 * m["triangle_error_p90_m"]["before"]:.1f} → '
        f'{100 * m["triangle_error_p90_m"]["after"]:.2f} cm'], size=(12.0, 7.6), rows=2, columns=3)
    axes = [page.add_subplot(grid[k // 3, k % 3]) for k in range(6)]
    _ends(axes[0], draws, driven, 'line', '(a) end of the 4 m line, true')
    _ends(axes[1], draws, driven, 'triangle', '(b) end of the triangle, true')
    _sorted(axes[2], [[100 * e.path for e in d.triangle] for d in draws],
            '(c) path error of the triangle', 'largest distance [cm]', (3.0, 1.0))
    _sorted(axes[3], [[100 * r for r in d.radius] for d in draws],
            '(d) ratios of radii', 'largest error [%]', (0.05, 0.02))
    _sorted(axes[4], [np.degrees(d.zero).tolist() for d in draws],
            '(e) differences of steering zeros', 'largest error [°]', (0.05, 0.02))
    _curves(axes[5], draws)
    return style.save(page, path)


def _ends(axes: Axes, draws: list[DrawResult], driven: list[DrawResult], field: str,
          title: str) -> None:
    for k, (colour, label) in enumerate(((BEFORE, 'before'), (AFTER, 'after'))):
        for some, marker in ((draws, 'o'), (driven, 's')):
            ends = 100 * np.array([getattr(d, field)[k].end for d in some]).reshape(-1, 2)
            axes.plot(ends[:, 0], ends[:, 1], color=colour, label=label if marker == 'o' else None,
                      marker=marker, markersize=(3.2 if k else 2.6) + (marker == 's'),
                      fillstyle='full' if k else 'none', linestyle='none')
    style.dress(axes, title, 'error along X [cm]', 'error along Y [cm]')
    axes.set_aspect('equal', adjustable='datalim')
    style.legend(axes)


def _sorted(axes: Axes, values: list[list[float]], title: str, label: str,
            bars: tuple[float, float]) -> None:
    table = np.sort(np.array(values), axis=0)
    part = 100 * (np.arange(len(table)) + 1) / len(table)
    for k, (colour, name) in enumerate(((BEFORE, 'before'), (AFTER, 'after'))):
        axes.plot(table[:, k], part, drawstyle='steps-post', color=colour, label=name,
                  linewidth=style.LINE)
    for bar, dash in zip(bars, ('-', ':'), strict=True):
        axes.axvline(bar, color=style.GREY, linewidth=0.8, linestyle=dash)
    axes.set_xscale('log')
    style.dress(axes, title, label, 'draws up to [%]')
    style.legend(axes)


def _curves(axes: Axes, draws: list[DrawResult]) -> None:
    for draw in draws:
        axes.plot(draw.curve[:, 0], 100 * draw.curve[:, 1], color=AFTER, linewidth=0.5, alpha=0.6)
    axes.axhline(0.05, color=style.GREY, linewidth=0.8)
    axes.set_yscale('log')
    style.dress(axes, '(f) ratios of radii while driving', 'time [s]', 'largest error [%]')
