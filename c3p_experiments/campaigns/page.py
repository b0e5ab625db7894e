# SPDX-License-Identifier: Apache-2.0
"""Page of a campaign: distributions of outcomes and their correlations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import PercentFormatter

from c3p_experiments.campaigns.spec import CampaignSpec
from c3p_experiments.campaigns.summary import EFFECTS, LEAST_DRAWS, OUTCOMES
from c3p_experiments.campaigns.table import Table
from c3p_plots import style

# panels of distributions: title, outcomes with the names of their lines
DISTRIBUTIONS = (
    ('(a) final error', (('final_error_m', 'own odometry'),
                         ('ground_truth_final_error_m', 'true'))),
    ('(b) path error, true', (('ground_truth_path_error_max_m', 'largest'),
                              ('ground_truth_path_error_rms_m', 'rms'))),
    ('(c) time until casters are aligned', (('align_time_s', ''),)),
    ('(d) time of the drive', (('time_s', 'to the goal zone'),
                               ('settled_time_s', 'to within 5 mm'))),
    ('(e) final yaw error', (('final_yaw_error_rad', 'own odometry'),
                             ('ground_truth_final_yaw_error_rad', 'true'))),
)

# panels of correlations
CORRELATIONS = (('(f) true final error depends on', 'ground_truth_final_error_m'),
                ('(g) true path error depends on', 'ground_truth_path_error_max_m'))

# number of parameters shown
SHOWN = 9

# panels of single draws: effects over their most correlated parameter
SCATTERS = (('(h)', 'ground_truth_path_error_max_m'), ('(i)', 'align_time_s'))

COLOURS = (style.SENSED, style.TRUE)


def campaign_page(spec: CampaignSpec, table: Table, summary: Mapping[str, Any],
                  path: str | Path) -> list[Path]:
    """
    Draw the page of `table` with its `summary` by `summarise`; write PNG and PDF beside `path`.

    `spec` is the specification of the campaign. Returns the two files.
    """
    few = not any(summary['correlations'][effect] for effect in EFFECTS)
    page, grid = _page(spec, summary, rows=2 if few else 3)
    panels = [page.add_subplot(grid[k // 3, k % 3]) for k in range(6 if few else 9)]
    for axes, (title, outcomes) in zip(panels[:5], DISTRIBUTIONS, strict=True):
        _distribution(axes, table, title, outcomes)
    if few:
        _without_correlations(panels[5], len(table))
        return style.save(page, path)
    for axes, (title, effect) in zip(panels[5:7], CORRELATIONS, strict=True):
        _correlation(axes, title, effect, summary)
    for axes, (letter, effect) in zip(panels[7:], SCATTERS, strict=True):
        _scatter(axes, letter, effect, table, summary)
    return style.save(page, path)


def _page(spec: CampaignSpec, summary: Mapping[str, Any], rows: int) -> tuple[Figure, GridSpec]:
    """Return the page with its headline, and the grid of its panels in `rows`."""
    low, high = summary['reached_interval']
    task = spec.experiment or f'drive to ({spec.goal[0]:g} m, {spec.goal[1]:g} m, ' \
                              f'{np.degrees(spec.goal[2]):.3g}°)'
    return style.page(
        f'{spec.robot}: {task}, {spec.controller} on the {spec.plant} plant, '
        f'{summary["draws"]} draws, seed {spec.seed}',
        [f'{summary["reached"]} of {summary["draws"]} reached the goal: '
         f'{100 * summary["reached_fraction"]:.1f} %',
         f'95 % interval {100 * low:.1f} to {100 * high:.1f} %'],
        alert=summary['reached'] < summary['draws'], size=(12.0, 9.2 if rows == 3 else 6.6),
        rows=rows, hspace=0.38, wspace=0.28)


def _without_correlations(axes: Axes, draws: int) -> None:
    """Write why the panels of correlations are left out."""
    axes.axis('off')
    why = (f'with {LEAST_DRAWS} draws and more; these are {draws}' if draws < LEAST_DRAWS else
           'only of outcomes that differ from draw to draw')
    style.absent(axes, f'correlations with the drawn parameters:\n{why}')


def _distribution(axes: Axes, table: Table, title: str,
                  outcomes: Sequence[tuple[str, str]]) -> None:
    """Draw cumulative distributions over all draws; missing values keep them below 100 %."""
    unit = ''
    drawn = False
    for (name, label), colour in zip(outcomes, COLOURS, strict=False):
        _, scale, unit = OUTCOMES[name]
        values = np.sort(scale * table.column(name))
        values = values[np.isfinite(values)]
        if not len(values):
            continue
        fraction = np.arange(1, len(values) + 1) / len(table)
        axes.step(np.append(values[:1], values), np.append(0.0, fraction), where='post',
                  color=colour, linewidth=1.4, label=label or None)
        drawn = True
    if not drawn:
        style.absent(axes, 'not in these draws')
    style.dress(axes, title, f'at most [{unit}]', 'fraction of draws')
    for level in (0.5, 0.9, 0.99):
        axes.axhline(level, color=style.GREY, linewidth=0.6, linestyle=':')
    axes.set_ylim(0.0, 1.02)
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 0.9, 1.0])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    style.legend(axes, loc='lower right')


def _correlation(axes: Axes, title: str, effect: str, summary: Mapping[str, Any]) -> None:
    found = list(summary['correlations'][effect].items())[:SHOWN][::-1]
    style.dress(axes, title, "Spearman's ρ (grey: insignificant)", '')
    axes.set_yticks([])
    if not found:
        style.absent(axes, 'too few draws')
        return
    least = summary['correlation_by_chance']
    axes.axvspan(-least, least, color='#eeeeee', linewidth=0, zorder=0)
    edge = max(1.15 * max(abs(rho) for _, rho in found), 1.6 * least)
    for place, (name, rho) in enumerate(found):
        axes.barh(place, rho, height=0.62, color=style.SENSED if abs(rho) > least else '#b5c7d3')
        # on the side opposite to the bar
        axes.text(-math.copysign(0.02 * edge, rho), place, plain(name), fontsize=style.SMALL,
                  va='center', ha='right' if rho > 0 else 'left')
    axes.axvline(0.0, color='#333333', linewidth=0.7)
    axes.set_xlim(-edge, edge)


def _scatter(axes: Axes, letter: str, effect: str, table: Table,
             summary: Mapping[str, Any]) -> None:
    title, scale, unit = OUTCOMES[effect]
    found = summary['correlations'][effect]
    cause = next(iter(found), None)
    if cause is None:
        style.dress(axes, f'{letter} {title}', '', '')
        style.absent(axes, 'too few draws')
        return
    x, y = table.column(cause), scale * table.column(effect)
    reached = table.column('reached') > 0.0
    axes.plot(x[reached], y[reached], 'o', markersize=3.2, alpha=0.7, color=style.SENSED,
              markeredgewidth=0)
    if not reached.all():
        axes.plot(x[~reached], y[~reached], 'x', markersize=5, color=style.ALERT, label='missed')
    style.dress(axes, f'{letter} {title}', f'{plain(cause)}   (ρ = {found[cause]:+.2f})',
                f'[{unit}]')
    # wheel inertias are small numbers
    axes.ticklabel_format(axis='x', scilimits=(-3, 4))
    axes.xaxis.get_offset_text().set_fontsize(style.SMALL)
    style.legend(axes)


def plain(name: str) -> str:
    """
    Return the label of a column.

    Examples
    --------
    >>> plain('link_mass_2_kg'), plain('latency_s'), plain('com_x_m')
    ('link mass 2 [kg]', 'latency [s]', 'com x [m]')
    """
    units = {'kg': 'kg', 'kgm2': 'kg m²', 'm': 'm', 's': 's', 'rad': 'rad', 'nm': 'N·m'}
    words = name.split('_')
    if words[-1] in units and len(words) > 1:
        return f'{" ".join(words[:-1])} [{units[words[-1]]}]'
    return ' '.join(words)
