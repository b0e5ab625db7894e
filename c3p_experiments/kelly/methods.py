# SPDX-License-Identifier: Apache-2.0
"""
Operations and times of the methods that Kelly's report compares, over the number of joints.

Chains of turning joints in general directions; operations are counted by running each method on
numbers that count, times are those of the same functions compiled.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from c3p_experiments.kelly.crossover import times_of, tree_of
from c3p_experiments.loop.outcome import Row
from c3p_experiments.page_curves import save_page
from c3p_multibody.comparison import METHODS, Operations, operations
from c3p_multibody.comparison.methods import prepared
from c3p_multibody.trees import Tree
from c3p_plots import style

TITLE = 'Operations and times of methods for the dynamics of chains'
SOURCE = 'Kelly, inverse and forward dynamics'
SIZES = (2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24)
# states of a batch
STATES = 32
# n of the table
TABLE = (6, 12)

# as textbooks quote them, for joint axes after Denavit and Hartenberg: multiplications, additions
PRINTED = {'newton_euler': ((150, -48), (131, -48)), 'hollerbach': ((412, -277), (320, -201)),
           'featherstone': ((300, -267), (279, -259))}

ROWS = (Row('crossing_operations', 'operations: Walker-Orin 3 exceeds Featherstone from n =',
            digits=0, printed='12'),
        Row('crossing_time', 'the same by time', digits=0),
        Row('lagrange_over_newton', 'recursive Lagrange over Newton-Euler at n = 6, operations',
            digits=2, printed='2.46'),
        Row('difference', 'largest relative difference between methods', bar=1e-9, digits=1,
            scientific=True))


def printed(name: str, n: int) -> Operations | None:
    """Return the operations of method `name` for `n` joints as quoted; None if not known."""
    if name not in PRINTED:
        return None
    return Operations(*(a * n + b for a, b in PRINTED[name]))


def measure(tree: Tree) -> tuple[dict[str, float], float]:
    """Return time per state of each method, s, and the largest difference between results."""
    states = list(np.random.default_rng(0).uniform(-2, 2, (3, STATES, tree.count)))
    calls = {name: prepared(tree, name, states) for name in METHODS}
    times = times_of([run for run, _ in calls.values()])
    difference = 0.0
    for kind in {method.kind for method in METHODS.values()}:
        first, *others = (out for name, (_, out) in calls.items() if METHODS[name].kind == kind)
        scale = np.abs(first).max(axis=1)
        difference = max(difference, *(float((np.abs(one - first).max(axis=1) / scale).max())
                                       for one in others))
    return {name: t / STATES for name, t in zip(calls, times, strict=True)}, difference


def first_more(more: list[float], less: list[float], sizes: tuple[int, ...]) -> int | None:
    """Return the first of `sizes` from which on `more` exceeds `less` for good, None if never."""
    exceeds = np.array(more) > np.array(less)
    if not exceeds[-1]:
        return None
    return sizes[0 if exceeds.all() else int(np.flatnonzero(~exceeds)[-1]) + 1]


def run_methods(out: Path, sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Count and measure over `sizes`, 6 among them; draw the page in `out`, return metrics."""
    trees = [tree_of(n, False) for n in sizes]
    counts = {name: [operations(tree, name) for tree in trees] for name in METHODS}
    measured = [measure(tree) for tree in trees]
    times = {name: [found[name] for found, _ in measured] for name in METHODS}
    at = sizes.index(6)
    totals = {name: [float(one.total) for one in row] for name, row in counts.items()}
    metrics: dict[str, Any] = {
        'sizes': list(sizes), 'difference': max(difference for _, difference in measured),
        'crossing_operations': first_more(totals['walker_orin_3'], totals['featherstone'], sizes),
        'crossing_time': first_more(times['walker_orin_3'], times['featherstone'], sizes),
        'lagrange_over_newton': totals['hollerbach'][at] / totals['newton_euler'][at],
        'methods': {name: {'multiplications': [one.multiplications for one in counts[name]],
                           'additions': [one.additions for one in counts[name]],
                           'time_s': times[name]} for name in METHODS}}
    metrics['reached'] = metrics['difference'] < ROWS[-1].bar
    metrics['files'] = _page(metrics, sizes, out)
    return metrics


def _page(metrics: dict[str, Any], sizes: tuple[int, ...], out: Path) -> list[Path]:
    page, grid = style.page(TITLE, [
        f'composite bodies need more operations than articulated bodies from '
        f'n = {metrics["crossing_operations"]}, more time from n = {metrics["crossing_time"]}; '
        'Kelly: 12', 'times on this computer, batches of states, one thread'], SOURCE, rows=1,
        columns=3, size=(15.0, 4.8))
    left, middle, right = (page.add_subplot(grid[0, k]) for k in range(3))
    colours = (*style.CASTERS[:6], style.INK)
    for (name, method), colour in zip(METHODS.items(), colours, strict=False):
        row = metrics['methods'][name]
        total = np.add(row['multiplications'], row['additions'])
        dash = '--' if method.kind == 'inverse' else '-'
        for axes, values in ((left, total), (middle, 1e6 * np.array(row['time_s']))):
            axes.loglog(sizes, values, marker='o', markersize=3, linestyle=dash, color=colour,
                        linewidth=style.LINE, label=method.title)
    for axes, title, label in ((left, '(a) operations of one state', 'operations'),
                               (middle, '(b) time of one state', 'time [µs]')):
        style.dress(axes, title, 'number of joints n', label)
        axes.set_xticks(sizes, [str(n) for n in sizes])
        axes.minorticks_off()
    style.legend(left, loc='upper left')
    style.tell_apart(middle)
    right.axis('off')
    right.set_title('(c) multiplications, additions, time', fontsize=style.TITLE, loc='left',
                    fontweight='bold', color=style.INK)
    cells = []
    shown = [n for n in TABLE if n in sizes]
    for name, method in METHODS.items():
        row = metrics['methods'][name]
        for n in shown:
            k = sizes.index(n)
            quoted = printed(name, n)
            short = method.title.split(',')[0].split(' (')[0]
            cells.append([short if n == shown[0] else '', str(n),
                          f'{row["multiplications"][k]} + {row["additions"][k]}',
                          f'{1e6 * row["time_s"][k]:.2f}',
                          '' if quoted is None else f'{quoted[0]} + {quoted[1]}'])
    table = right.table(cells, colLabels=['method', 'n', 'counted', 'µs', 'in print'],
                        colWidths=[0.36, 0.08, 0.25, 0.12, 0.2], loc='upper center',
                        cellLoc='left')
    table.auto_set_font_size(False)
    table.set_fontsize(6.5)
    for cell in table.get_celld().values():
        cell.set_linewidth(0.3)
    return save_page(page, out / 'methods')
