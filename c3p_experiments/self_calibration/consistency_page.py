# SPDX-License-Identifier: Apache-2.0
"""Page of the experiment: normalised squared errors over time, with the band of a right one."""

from __future__ import annotations

from pathlib import Path

from c3p_experiments.loop.conditions import Bench
from c3p_experiments.loop.outcome import Experiment, Outcome
from c3p_experiments.loop.report import conditions_text
from c3p_experiments.self_calibration.consistency import KINDS, Consistency
from c3p_plots import style

LOOKS = {'described': (style.REFERENCE, 's-', 'as described'), 'learned': (style.SENSED, 'o-',
                                                                         'learning')}


def consistency_page(outcome: Outcome, bench: Bench, experiment: Experiment, path: Path
                     ) -> list[Path]:
    """
    Write the page of an `outcome` of the `experiment` on its `bench`.

    `path` has no suffix. Returns the files.
    """
    seen: Consistency = outcome.runs[0].facts['consistency']
    low, high = outcome.metrics['band']
    oily = int(seen.oily.sum())
    page, grid = style.page(experiment.title, [
        conditions_text(bench.describe()), f'{len(seen.oily)} drives of {seen.time[-1]:.0f} s, '
        f'each with its own wrong description, {oily} with oil; grey: band of 95 %'],
        size=(12.0, 4.6), rows=1, columns=2)
    for column, part in enumerate(('pose', 'twist')):
        axes = page.add_subplot(grid[0, column])
        axes.axhspan(low, high, color=style.GREY, alpha=0.25, linewidth=0.0)
        axes.axhline(1.0, color=style.GREY, linewidth=0.8)
        for row, kind in enumerate(KINDS):
            colour, mark, label = LOOKS[kind]
            values = seen.squares[:, row, column]
            axes.plot(seen.time, values.mean(0), mark, color=colour, label=label,
                      linewidth=style.LINE, markersize=4)
            if oily:
                axes.plot(seen.time, values[seen.oily].mean(0), ':', color=colour,
                          label=f'{label}, drives with oil alone', linewidth=style.LINE)
        axes.set_ylim(bottom=0.0)
        style.dress(axes, f'({"ab"[column]}) {part}', 'time [s]',
                    'squared error / expected, per degree of freedom')
        style.legend(axes)
    return style.save(page, path)
