# SPDX-License-Identifier: Apache-2.0
"""Experiment: stopping distances by speed, load, slope, friction and failed part."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Row, RunsDone
from c3p_experiments.page_curves import save_page
from c3p_experiments.parallel.workers import Workers, computing
from c3p_experiments.stopping.trial import RANDOM, StopTrial, robot_of, stop
from c3p_hardware.stopping import StopCase, reactions
from c3p_plots import style

NAME = 'stopping'
TITLE = 'Stopping distances when a part fails, against their formula'
SOURCE = 'ours'

# cases of the table: m/s, payload per mass of the robot, degrees downhill, µ
SPEEDS = (0.25, 0.5, 1.0)
LOADS = (0.0, 0.5)
SLOPES = (0.0, 3.0)
FRICTIONS = (0.8, 0.4)
TRIALS = 4

# robots with cases drawn at random, on which the formula was not developed: their first number
OTHERS = 12
FIRST = 43_000
# cases of each of them and each part
CASES = 4

# motors that must be left when one has failed
FEWEST = 2

PARTS = tuple(reaction.part for reaction in reactions())
RUNS = (len(SPEEDS) * len(LOADS) * len(SLOPES) * len(FRICTIONS) * len(PARTS) * TRIALS
        + OTHERS * len(PARTS) * CASES)

Job = tuple[str, str, StopCase, int]


def _rows() -> tuple[Row, ...]:
    rows = []
    for name in ('all', 'others', *PARTS):
        rows += [
            Row(f'{name}.stops', f'{name}: stops', digits=0),
            Row(f'{name}.beyond', f'{name}: longer than by the formula', digits=0, bar=0.0),
            Row(f'{name}.ratio_p50', f'{name}: part of the formula, median', '%', 100.0),
            Row(f'{name}.ratio_worst', f'{name}: … worst', '%', 100.0, bar=1.0),
            Row(f'{name}.rolled_on', f'{name}: rolled on, as the formula states', digits=0)]
    return tuple(rows)


ROWS = _rows()


def table_jobs(name: str, trials: int, seed: int) -> Iterator[Job]:
    """Yield the stops of the table of a robot."""
    mass = robot_of(name).total_mass
    number = 100_000 * seed
    for speed, load, slope, friction in product(SPEEDS, LOADS, SLOPES, FRICTIONS):
        case = StopCase(speed, load * mass, math.radians(slope), friction)
        for part, _ in product(PARTS, range(trials)):
            yield name, part, case, number
            number += 1


def other_jobs(seed: int) -> Iterator[Job]:
    """Yield stops of random robots with random cases."""
    found = 0
    number = FIRST + 1000 * seed
    while found < OTHERS:
        number += 1
        robot = robot_of(f'{RANDOM}{number}')
        if int(robot.driven.sum()) < FEWEST or robot.count < FEWEST + 1:
            continue
        found += 1
        draw = np.random.default_rng([40, number])
        for part, k in product(PARTS, range(CASES)):
            case = StopCase(float(draw.uniform(0.1, 1.0)),
                            float(draw.uniform(0.0, 0.5) * robot.total_mass),
                            math.radians(float(draw.uniform(0.0, 3.0))),
                            float(draw.uniform(0.3, 0.9)))
            yield f'{RANDOM}{number}', part, case, 1000 * number + k


def stopping(out: Path, options: Conditions, progress: RunsDone = lambda done: None
             ) -> dict[str, Any]:
    """Carry out the stops, write page and table of the cases into `out`; return the metrics."""
    name = options.robot or 'c3p'
    jobs = [*table_jobs(name, options.trials or TRIALS, options.seed), *other_jobs(options.seed)]
    workers = Workers() if options.workers is None else Workers(options.workers)
    trials: list[StopTrial] = []
    with computing(workers) as compute:
        for one in compute(stop, ((job,) for job in jobs)):
            trials.append(one)
            progress(RUNS * len(trials) / len(jobs))
    trials.sort()
    own = [one for one in trials if one.robot == name]
    metrics = {'all': summary(trials), 'others': summary([
        one for one in trials if one.robot != name]),
        **{part: summary([one for one in trials if one.part == part]) for part in PARTS}}
    return {'reached': metrics['all']['beyond'] == 0, **metrics,
            'conditions': {'robot': name, 'trials': options.trials or TRIALS,
                           'seed': options.seed},
            'cases': cases_of(own), 'files': _page(own, out / NAME)}


def summary(trials: Sequence[StopTrial]) -> dict[str, Any]:
    """Return numbers and ratios of some stops; one that has fallen over is left out."""
    stood = [one for one in trials if not math.isnan(one.distance)]
    ended = [one for one in stood if math.isfinite(one.formula)]
    ratios = np.array([one.distance / one.formula for one in ended])
    return {'stops': len(stood), 'fallen': len(trials) - len(stood),
            'beyond': int(np.sum(ratios > 1.0)), 'rolled_on': len(stood) - len(ended),
            'ratio_p50': float(np.median(ratios)) if len(ratios) else None,
            'ratio_worst': float(ratios.max()) if len(ratios) else None}


def cases_of(trials: Sequence[StopTrial]) -> list[dict[str, Any]]:
    """Return distances [m] of each case and part: p50, p99, worst and formula; None: rolls on."""
    found: dict[tuple[str, StopCase], list[StopTrial]] = {}
    for one in trials:
        found.setdefault((one.part, one.case), []).append(one)
    rows = []
    for (part, case), some in sorted(found.items()):
        ways = np.array([one.distance for one in some])
        rows.append({'part': part, 'speed_mps': case.speed, 'load_kg': case.load,
                     'slope_deg': math.degrees(case.slope), 'friction': case.friction,
                     'p50_m': _plain(float(np.median(ways))),
                     'p99_m': _plain(float(np.quantile(ways, 0.99, method='higher'))),
                     'worst_m': _plain(float(ways.max())), 'formula_m': _plain(some[0].formula)})
    return rows


def _plain(value: float) -> float | None:
    """Return a finite value, None for another."""
    return value if math.isfinite(value) else None


def _page(trials: Sequence[StopTrial], path: Path) -> list[Path]:
    page, grid = style.page(TITLE, [f'{len(trials)} stops of the robot'], size=(7.0, 5.4), rows=1,
                            columns=1)
    axes = page.add_subplot(grid[0, 0])
    for part in PARTS:
        ended = [one for one in trials if one.part == part and math.isfinite(one.distance)
                 and math.isfinite(one.formula)]
        axes.plot([one.formula for one in ended], [one.distance for one in ended], '.',
                  label=part, markersize=4)
    most = max((one.formula for one in trials if math.isfinite(one.formula)), default=1.0)
    axes.plot([0.0, most], [0.0, most], color=style.GREY, linewidth=0.8)
    style.dress(axes, '', 'formula [m]', 'measured [m]')
    style.legend(axes)
    return save_page(page, path)
