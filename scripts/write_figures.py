# SPDX-License-Identifier: Apache-2.0
"""
Measure the controllers on the contact plant for the tables of README.md and of docs.

Every experiment is run with each controller and each seed on the plant ``mujoco``; a seed sets the
phases of the encoders and the start steerings. So are the studies of figure_studies.py, for tables
of other pages. The values of all runs are in docs/figures.json. From it the tables between ``<!--
figures: bars -->``, ``<!-- figures: all -->`` or ``<!-- figures: STUDY -->`` and ``<!-- end -->``
are written as median and worst, as is the text between ``<!-- figure: CONTROLLER/EXPERIMENT/ROW
-->`` or ``<!-- figure: STUDY/CASE/FIGURE -->`` and ``<!-- end -->``. Run from the root of the
repository::

    python scripts/write_figures.py                        # what is missing, and the tables
    python scripts/write_figures.py --again --workers 4    # everything anew
    python scripts/write_figures.py --experiments line --studies circles   # a part of it
    python scripts/write_figures.py --seeds 0              # only the tables

The repository does not contain descriptions of other robots: `published` is run only with the
directory of their URDF files in the environment variable C3P_DESCRIPTIONS.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import re
import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from figure_studies import STUDIES
from figure_study import Cell

from c3p_controller import BUILT_IN, law_named
from c3p_experiments.catalogue import EXPERIMENTS
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.loop.outcome import Row
from c3p_experiments.loop.report import NEVER

ROOT = Path(__file__).parents[1]
PAGES = ROOT / 'README.md', ROOT / 'docs' / 'experiments.md'
OTHERS = tuple(ROOT / 'docs' / f'{name}.md' for name in (
    'controllers', 'fewer_motors', 'limits', 'predictive', 'real_robots', 'robots',
    'slip_and_faults', 'traction', 'papers/el_shenawy'))
DATA = ROOT / 'docs' / 'figures.json'
# laws of the suite: heading of their column, the default law first
CONTROLLERS = {name: law_named(name).title or name for name in reversed(BUILT_IN)}
COMPARED = [name for name, experiment in EXPERIMENTS.items() if experiment.compared]
BLOCK = re.compile(r'<!-- figures: (\w+) -->\n.*?<!-- end -->', re.DOTALL)
INLINE = re.compile(r'(<!-- figure: (\w+)/(\w+)/([^>]+) -->).*?(<!-- end -->)', re.DOTALL)

# seeds of an experiment, and of those with more
SEEDS, MORE_SEEDS = 15, {('mpc', 'slope'): 50}

# the time of a step depends on the computer, and is measured by benchmarks/; the change of a
# torque is limited by each law
LEFT_OUT = ('step of the law', 'largest change of a torque')

# packages that a figure depends on
PACKAGES = 'numpy', 'scipy', 'numba', 'mujoco-core'

# cell of an experiment without runs
MISSING = 'not measured'

# digits of a figure that are kept
DIGITS = 6

# controller or study → experiment or case → seed, as text → figure → value in the unit of its row;
# None: never
Runs = dict[str, dict[str, dict[str, dict[str, float | None]]]]


class Task(NamedTuple):
    """One run: controller or study, experiment or case, and seed."""

    controller: str
    experiment: str
    seed: int


def rows_of(name: str) -> list[Row]:
    """Return the rows of an experiment that are in the tables."""
    return [row for row in EXPERIMENTS[name].rows if not row.name.startswith(LEFT_OUT)]


def measure(task: Task) -> dict[str, float | None]:
    """Return the values of one run."""
    if task.controller in STUDIES:
        of = STUDIES[task.controller].cases[task.experiment](task.seed)
        return {name: value if value is None else kept(value) for name, value in of.items()}
    experiment = EXPERIMENTS[task.experiment]
    conditions = Conditions(plant='mujoco', controller=task.controller, seed=task.seed)
    metrics = experiment.run(Bench(conditions, experiment.robot)).metrics
    found = {}
    for row in rows_of(task.experiment):
        value = row.value(metrics)
        found[row.name] = None if value is None else kept(value * row.scale)
    return found


def kept(value: float) -> float:
    """Return a value with the digits that are kept."""
    return float(f'{value:.{DIGITS}g}')


def versions() -> dict[str, str]:
    """Return the versions that the values depend on."""
    return {'python': platform.python_version(), 'machine': platform.machine(),
            **{name: version(name) for name in PACKAGES}}


def missing(runs: Runs, tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks without all values in `runs`."""
    def done(task: Task) -> bool:
        of = runs.get(task.controller, {}).get(task.experiment, {}).get(str(task.seed), {})
        if task.controller in STUDIES:
            return bool(of)
        return all(row.name in of for row in rows_of(task.experiment))

    return [task for task in tasks if not done(task)]


def complete(data: dict[str, Any], tasks: Sequence[Task], workers: int) -> None:
    """Run `tasks` in processes; keep `data` in `DATA` after each, so that nothing runs twice."""
    with ProcessPoolExecutor(workers) as pool:
        waiting = {pool.submit(measure, task): task for task in tasks}
        for number, done in enumerate(as_completed(waiting), 1):
            task = waiting[done]
            of = data['runs'].setdefault(task.controller, {}).setdefault(task.experiment, {})
            of[str(task.seed)] = done.result()
            write(data)
            print(f'{number} of {len(tasks)}: {" ".join(map(str, task))}', flush=True)


def write(data: dict[str, Any]) -> None:
    """Write the data, seeds in order and one run a line."""
    lines = ['{', f'"versions": {json.dumps(data["versions"])},', '"runs": {']
    for i, controller in enumerate(sorted(data['runs'])):
        of, end = data['runs'][controller], '' if i + 1 == len(data['runs']) else ','
        lines.append(f' {json.dumps(controller)}: {{')
        order = STUDIES[controller].cases if controller in STUDIES else EXPERIMENTS
        names = [name for name in order if name in of]
        for name in names:
            seeds = sorted(of[name], key=int)
            lines.append(f'  {json.dumps(name, ensure_ascii=False)}: {{')
            lines += [f'   "{seed}": {json.dumps(of[name][seed], ensure_ascii=False)}'
                      + ('' if seed == seeds[-1] else ',') for seed in seeds]
            lines.append('  }' if name == names[-1] else '  },')
        lines.append(f' }}{end}')
    part = DATA.with_suffix('.part')
    part.write_text('\n'.join([*lines, '}', '}']) + '\n', encoding='utf-8')
    part.replace(DATA)


def read() -> dict[str, Any]:
    """Return the data; empty without a file."""
    if not DATA.exists():
        return {'versions': versions(), 'runs': {}}
    return json.loads(DATA.read_text(encoding='utf-8'))


def middle_and_last(values: Sequence[float | None], digits: int, at_least: bool = False
                    ) -> tuple[str, float]:
    """Return median and worst as text, one where they are equal, and the worst."""
    never = -math.inf if at_least else math.inf
    known = [never if value is None else value for value in values]
    worst = min(known) if at_least else max(known)

    middle, last = (shown_or_never(value, digits) for value in (statistics.median(known), worst))
    return middle if middle == last else f'{middle} / {last}', worst


def summary(values: Sequence[float | None], row: Row, controller: str) -> str:
    """Return median and worst; bold where the worst meets the bar, that is every value."""
    text, worst = middle_and_last(values, row.digits, row.at_least)
    limit = row.bar_for(controller)
    if limit is None or math.isinf(worst):
        return text
    # a value on its bar is not outside by rounding
    limit = kept(limit * row.scale)
    return f'**{text}**' if (worst >= limit if row.at_least else worst <= limit) else text


def cell_text(cell: str | Cell, runs: Runs) -> str:
    """Return the text of a cell of a study."""
    if isinstance(cell, str):
        return cell
    seeds = runs.get(cell.study, {}).get(cell.case, {})
    if not seeds:
        return MISSING
    values = [run[cell.figure] for run in seeds.values()]
    if cell.kind == 'seeds':
        return str(len(values))
    if cell.kind == 'sum':
        return f'{math.fsum(value for value in values if value is not None):.{cell.digits}f}'
    if cell.kind in ('mean', 'root'):
        mean = statistics.fmean(value for value in values if value is not None)
        return f'{math.sqrt(mean) if cell.kind == "root" else mean:.{cell.digits}f}'
    if cell.kind == 'count':
        known = [bool(value) for value in values if value is not None]
        return f'{sum(known)} of {len(known)}'
    if cell.kind == 'p90':
        return shown_or_never(quantile([math.inf if value is None else value
                                        for value in values], 0.9), cell.digits)
    return middle_and_last(values, cell.digits)[0]


def quantile(values: Sequence[float], part: float) -> float:
    """Return the value that `part` of the values do not exceed, interpolated."""
    ranked = sorted(values)
    place = part * (len(ranked) - 1)
    below = math.floor(place)
    rest = place - below
    # an infinite one counts as soon as it has a part
    return ranked[below] + (rest * (ranked[below + 1] - ranked[below]) if rest else 0.0)


def shown_or_never(value: float, digits: int) -> str:
    """Return a value as text, or that it never occurred."""
    return f'{value:.{digits}f}' if math.isfinite(value) else NEVER


def entries(runs: Runs) -> Iterator[tuple[str, Row, str, list[str]]]:
    """Yield each row of the tables: experiment, row, seeds of the controllers, their cells."""
    for name in COMPARED:
        found = [runs.get(controller, {}).get(name, {}) for controller in CONTROLLERS]
        counts = dict.fromkeys(len(seeds) for seeds in found)
        for row in rows_of(name):
            yield name, row, ', '.join(map(str, counts)), [
                summary([run[row.name] for run in seeds.values()], row, controller)
                if seeds else MISSING
                for controller, seeds in zip(CONTROLLERS, found, strict=True)]


def table(runs: Runs, kind: str) -> str:
    """Return the table of the rows that have a ``bar``, or of ``all``, or of a study."""
    if kind in STUDIES:
        study = STUDIES[kind]
        return '\n'.join([f'| {" | ".join(study.header)} |', f'|{"---|" * len(study.header)}',
                          *(f'| {" | ".join(cell_text(cell, runs) for cell in row)} |'
                            for row in study.rows)])
    lines = ['| experiment | seeds | metric | printed | bar | '
             f'{" | ".join(CONTROLLERS.values())} |', f'|{"---|" * (5 + len(CONTROLLERS))}']
    before = ''
    for name, row, seeds, cells in entries(runs):
        limit = row.bar_for('mpc')
        if kind == 'bars' and limit is None:
            continue
        bar = '' if limit is None else f'{limit * row.scale:g}'
        unit = f' [{row.unit}]' if row.unit else ''
        first = ('', '') if name == before else (f'`{name}`', seeds)
        lines.append(f'| {first[0]} | {first[1]} | {row.name}{unit} | {row.printed} | {bar} | '
                     f'{" | ".join(cells)} |')
        before = name
    return '\n'.join(lines)


def phrase(controller: str, experiment: str, name: str, runs: Runs) -> str:
    """Return median and worst of a row of an experiment, or of a cell of a study."""
    if controller in STUDIES:
        cell, = (cell for row in STUDIES[controller].rows for cell in row
                 if isinstance(cell, Cell) and (cell.case, cell.figure) == (experiment, name))
        return cell_text(cell, runs)
    row, = (row for row in EXPERIMENTS[experiment].rows if row.name == name)
    values = [run[name] for run in runs[controller][experiment].values()]
    return middle_and_last(values, row.digits, row.at_least)[0]


def rewritten(page: str, runs: Runs) -> str:
    """Return the page with updated tables and figures in its text."""
    page = BLOCK.sub(lambda found: f'<!-- figures: {found[1]} -->\n{table(runs, found[1])}\n'
                                   '<!-- end -->', page)
    return INLINE.sub(lambda found: f'{found[1]}{phrase(*found.group(2, 3, 4), runs)}{found[5]}',
                      page)


def tasks_of(options: argparse.Namespace) -> list[Task]:
    """Return the runs of the options: of experiments seed by seed, then of each study."""
    def seeds(of: int) -> int:
        return of if options.seeds is None else min(of, options.seeds)

    tasks = [Task(controller, name, seed) for seed in range(max(SEEDS, *MORE_SEEDS.values()))
             for controller in options.controllers for name in options.experiments
             if seed < seeds(MORE_SEEDS.get((controller, name), SEEDS))]
    return tasks + [
        Task(name, case, seed) for name in options.studies if STUDIES[name].needs != ''
        for seed in range(seeds(STUDIES[name].seeds))
        for case in STUDIES[name].cases if seed == 0 or case not in STUDIES[name].single]


def main() -> None:
    """Measure what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--seeds', type=int, metavar='N',
                        help=f'at most seeds 0 to N − 1 (default: {SEEDS} or more)')
    parser.add_argument('--workers', type=int, default=1, metavar='N', help='processes')
    parser.add_argument('--experiments', nargs='*', choices=COMPARED, default=COMPARED,
                        metavar='NAME', help='only these')
    parser.add_argument('--studies', nargs='*', choices=STUDIES, default=[*STUDIES],
                        metavar='NAME', help='only these')
    parser.add_argument('--controllers', nargs='+', choices=CONTROLLERS, default=[*CONTROLLERS],
                        metavar='NAME', help='only these')
    parser.add_argument('--again', action='store_true', help='forget the runs that are there')
    options = parser.parse_args()
    data = {'versions': versions(), 'runs': {}} if options.again else read()
    todo = missing(data['runs'], tasks_of(options))
    if todo and data['versions'] != versions():
        raise SystemExit(f'{DATA.name}: measured with {data["versions"]}, here are {versions()}: '
                         'use --again, since figures of several versions do not mix')
    if todo:
        complete(data, todo, options.workers)
    for page in (*PAGES, *OTHERS):
        page.write_text(rewritten(page.read_text(encoding='utf-8'), data['runs']),
                        encoding='utf-8')


if __name__ == '__main__':
    main()
