# SPDX-License-Identifier: Apache-2.0
"""Page of a search: convergence, parameters, and costs of drives and terms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from c3p_experiments.tuning.objective import TERMS, Scenarios
from c3p_experiments.tuning.tune import Tuned
from c3p_plots import style

# line styles of parameters, changed after each round of the palette
DASHES = ('-', '--', ':')

# ratio of largest to smallest cost above which the axis is logarithmic
WIDE = 5.0


def tune_page(scenarios: Scenarios, tuned: Tuned, path: str | Path) -> list[Path]:
    """Draw the page of a search in `scenarios`; write PNG and PDF beside `path`, return both."""
    drives = len(tuned.start.judgements)
    page, grid = style.page(
        f'{scenarios.robot}: {scenarios.controller} tuned on the {scenarios.plant} plant, '
        f'{len(tuned.history)} evaluations of {drives} drive{"" if drives == 1 else "s"}, seed '
        f'{scenarios.seed}',
        [f'cost {tuned.start.cost:.3f} → {tuned.best.cost:.3f}',
         f'in drives outside the search {tuned.start_check:.3f} → {tuned.best_check:.3f}'],
        alert=tuned.best_check > tuned.start_check, size=(12.0, 7.4), rows=2, columns=2)
    _convergence(page.add_subplot(grid[0, 0]), tuned)
    _parameters(page.add_subplot(grid[0, 1]), tuned)
    _drives(page.add_subplot(grid[1, 0]), tuned)
    _terms(page.add_subplot(grid[1, 1]), tuned)
    return style.save(page, path)


def _convergence(axes: Axes, tuned: Tuned) -> None:
    cost = np.array([evaluation.cost for evaluation in tuned.history])
    number = np.arange(1, len(cost) + 1)
    axes.plot(number, cost, 'o', markersize=3, color=style.GREY, alpha=0.7, markeredgewidth=0,
              label='candidate')
    axes.step(number, np.minimum.accumulate(cost), where='post', color=style.SENSED,
              linewidth=1.5, label='best so far')
    axes.plot(1, cost[0], 's', markersize=5, color=style.ALERT, label='start')
    # missed goals spread the costs over orders of magnitude
    if cost.max() > WIDE * cost.min():
        axes.set_yscale('log')
        axes.yaxis.set_major_formatter('{x:g}')
        axes.yaxis.set_minor_formatter('{x:g}')
        axes.tick_params(axis='y', which='minor', labelsize=style.SMALL)
    style.dress(axes, '(a) convergence', 'evaluation', 'cost')
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    style.legend(axes, loc='upper right')


def _parameters(axes: Axes, tuned: Tuned) -> None:
    """Draw the relative position of the best candidate in its ranges over the evaluations."""
    costs = [evaluation.cost for evaluation in tuned.history]
    best = [int(np.argmin(costs[:k + 1])) for k in range(len(costs))]
    number = np.arange(1, len(costs) + 1)
    for k, tunable in enumerate(tuned.tunables):
        fractions = [tunable.fraction(tuned.history[i].values[tunable.name]) for i in best]
        axes.step(number, fractions, where='post', color=style.caster_colour(k), linewidth=1.1,
                  linestyle=DASHES[k // len(style.CASTERS) % len(DASHES)],
                  label=f'{short(tunable.name)}: {tunable.start:.4g} → '
                        f'{tuned.best.values[tunable.name]:.4g}')
    style.dress(axes, '(b) the best candidate in its ranges', 'evaluation',
                'fraction of the range')
    axes.set_ylim(-0.03, 1.03)
    # room for the legend beside the lines
    axes.set_xlim(1, max(2, 1.9 * len(costs)))
    style.legend(axes, loc='center right')


def _drives(axes: Axes, tuned: Tuned) -> None:
    for k, (name, evaluation, colour) in enumerate((
            ('start', tuned.start, style.TRUE), ('best', tuned.best, style.SENSED))):
        costs = [judgement.cost for judgement in evaluation.judgements]
        places = np.arange(len(costs)) + 0.38 * (k - 0.5)
        axes.bar(places, costs, width=0.36, color=colour, label=name)
        for place, judgement in zip(places, evaluation.judgements, strict=True):
            if not judgement.reached:
                axes.text(place, judgement.cost, 'missed', rotation=90, fontsize=style.SMALL,
                          ha='center', va='top', color='white')
    style.dress(axes, '(c) cost of each drive', 'drive', 'cost')
    axes.set_xticks(range(len(tuned.start.judgements)))
    style.headroom(axes, above=0.1)
    style.legend(axes)


def _terms(axes: Axes, tuned: Tuned) -> None:
    """Draw the mean of each term over the drives that reached their goal both times."""
    both = [(a.parts, b.parts) for a, b in zip(tuned.start.judgements, tuned.best.judgements,
                                               strict=True) if a.reached and b.reached]
    names = list(TERMS)
    for k, (name, colour) in enumerate((('start', style.TRUE), ('best', style.SENSED))):
        mean = [float(np.mean([pair[k][term] for pair in both])) if both else 0.0
                for term in names]
        axes.bar(np.arange(len(names)) + 0.38 * (k - 0.5), mean, width=0.36, color=colour,
                 label=name)
    style.dress(axes, '(d) mean of each term, goals reached by both', '', 'cost')
    axes.set_xticks(range(len(names)), names, fontsize=style.LABEL)
    style.legend(axes)


def short(name: str) -> str:
    """
    Return the name of a parameter, without its node where that is unambiguous.

    Examples
    --------
    >>> short('velocity_controller.mpc.yaw_weight'), short('position_controller.yaw_gain')
    ('mpc.yaw_weight', 'position.yaw_gain')
    """
    node, *groups, leaf = name.split('.')
    return '.'.join([*groups, leaf]) if groups else f'{node.removesuffix("_controller")}.{leaf}'
