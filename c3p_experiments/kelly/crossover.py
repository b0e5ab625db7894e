# SPDX-License-Identifier: Apache-2.0
"""
Forward dynamics of trees by two methods over the number of joints n, and where they cross.

Composite bodies with Cholesky's factors take O(n³) operations (Walker and Orin), articulated
bodies O(n) (Featherstone). Kelly: the former "is more efficient than the Featherstone for values
of n less than twelve".
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_experiments.loop.outcome import Row
from c3p_experiments.page_curves import save_page
from c3p_multibody.trees import (
    Body,
    Joint,
    Tree,
    aba_into,
    aba_workspace,
    composite_workspace,
    forward_composite_into,
)
from c3p_plots import style

TITLE = 'Composite against articulated bodies over the number of joints'
SOURCE = 'Kelly, forward dynamics'

SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48)

# where the operations cross, in print
PRINTED = 12

# repetitions, taken in turns; bytes of the inertia matrices of a batch, that it fits a cache
ROUNDS = 41
BATCH = 2**17

ROWS = (Row('serial.crossing', 'chain: articulated bodies are faster from n =', digits=0,
            printed='12, by operations'),
        Row('branched.crossing', 'binary tree: the same', digits=0),
        Row('serial.ratio_at_12', 'chain of 12: time of composite over articulated bodies'),
        Row('branched.ratio_at_12', 'binary tree of 12: the same'),
        Row('difference', 'largest relative difference of the accelerations', bar=1e-9, digits=1,
            scientific=True))


class CrossoverCurve(NamedTuple):
    """Times per state, s, of both methods (k,), and their largest relative difference."""

    composite: list[float]
    articulated: list[float]
    difference: float


def tree_of(count: int, branched: bool) -> Tree:
    """Return a chain of `count` turning joints, or a tree in which each body carries two."""
    rng = np.random.default_rng(count)
    joints = [Joint(f'j{k}', axis=rng.normal(size=3), translation=rng.uniform(-0.3, 0.3, 3))
              for k in range(count)]
    bodies = [Body(f'b{k}', rng.uniform(0.5, 2.0), rng.uniform(-0.2, 0.2, 3),
                   np.diag(rng.uniform(0.02, 0.03, 3))) for k in range(count)]
    lower = [(k - 1) // 2 if branched and k else k - 1 for k in range(count)]
    return Tree.from_connection(lower, joints, bodies)


def measure(branched: bool, sizes: tuple[int, ...] = SIZES) -> CrossoverCurve:
    """Return the median times over `sizes` of chains, or of trees if `branched`."""
    composite, articulated, differences = zip(
        *(_measure(tree_of(n, branched)) for n in sizes), strict=True)
    return CrossoverCurve(list(composite), list(articulated), max(differences))


def _measure(tree: Tree) -> tuple[float, float, float]:
    """Return both times per state, s, and the relative difference of the accelerations."""
    n = tree.count
    rows = max(8, BATCH // (8 * n * n))
    q, rate, torque = np.random.default_rng(0).uniform(-2, 2, (3, rows, n))
    none = np.zeros((rows, 0, 6))
    one = np.empty((rows, n))
    other = np.empty((rows, n))
    works = composite_workspace(tree, rows), aba_workspace(tree)
    composite, articulated = times_of([
        lambda: forward_composite_into(tree, works[0], q, rate, torque, none, one),
        lambda: aba_into(tree, works[1], q, rate, torque, none, other)])
    difference = np.abs(one - other).max(axis=1) / np.abs(other).max(axis=1)
    return composite / rows, articulated / rows, float(difference.max())


def crossing(curve: CrossoverCurve, sizes: tuple[int, ...] = SIZES) -> int | None:
    """Return the first of `sizes` from which on articulated bodies are faster; None if never."""
    faster = np.array(curve.articulated) < np.array(curve.composite)
    if not faster[-1]:
        return None
    return sizes[int(np.flatnonzero(~faster)[-1]) + 1 if not faster.all() else 0]


def run_crossover(out: Path, sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Measure both curves over `sizes`, 12 among them; draw the page in `out`, return metrics."""
    curves = {'serial': measure(False, sizes), 'branched': measure(True, sizes)}
    at = sizes.index(PRINTED)
    metrics: dict[str, Any] = {
        name: {'crossing': crossing(curve, sizes), 'sizes': list(sizes),
               'composite_s': curve.composite, 'articulated_s': curve.articulated,
               'ratio_at_12': curve.composite[at] / curve.articulated[at]}
        for name, curve in curves.items()}
    metrics['difference'] = max(curve.difference for curve in curves.values())
    metrics['reached'] = metrics['difference'] < ROWS[-1].bar
    metrics['files'] = _page(curves, metrics, out)
    return metrics


def _page(curves: dict[str, CrossoverCurve], metrics: dict[str, Any], out: Path) -> list[Path]:
    sizes = metrics['serial']['sizes']
    serial = metrics['serial']['crossing']
    branched = metrics['branched']['crossing']
    page, grid = style.page(TITLE, [
        f'articulated bodies are faster from n = {serial} (chain) and {branched} (binary tree)',
        'times on this computer, batches of states, one thread'], SOURCE, rows=1, columns=2,
        size=(12.0, 4.6))
    times = page.add_subplot(grid[0, 0])
    ratios = page.add_subplot(grid[0, 1])
    for (name, curve), dash in zip(curves.items(), ('-', '--'), strict=True):
        text = 'chain' if name == 'serial' else 'binary tree'
        for values, method, colour in ((curve.composite, 'composite bodies', style.SENSED),
                                       (curve.articulated, 'articulated bodies', style.TRUE)):
            times.loglog(sizes, 1e6 * np.array(values), marker='o', markersize=3, linestyle=dash,
                         color=colour, linewidth=style.LINE, label=f'{method}, {text}')
        ratios.semilogx(sizes, np.array(curve.composite) / curve.articulated, marker='o',
                        markersize=3, linestyle=dash, color=style.INK, linewidth=style.LINE,
                        label=text)
    ratios.axhline(1.0, color=style.GREY, linewidth=0.8)
    ratios.axvline(PRINTED, color=style.ALERT, linestyle=':', linewidth=1.2,
                   label='Kelly: n = 12, by operations')
    for axes, title, label in (
            (times, '(a) time per state', 'time [µs]'),
            (ratios, '(b) composite over articulated bodies', 'ratio of times')):
        style.dress(axes, title, 'number of joints n', label)
        axes.set_xticks(sizes, [str(n) for n in sizes])
        axes.minorticks_off()
        style.legend(axes, loc='upper left')
    return save_page(page, out / 'crossover')


def times_of(calls: list[Callable[[], object]]) -> list[float]:
    """Return the median time of each of `calls`, s, taken in turns."""
    taken: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(ROUNDS):
        for call, found in zip(calls, taken, strict=True):
            start = time.perf_counter()
            call()
            found.append(time.perf_counter() - start)
    return [float(np.median(found)) for found in taken]
