# SPDX-License-Identifier: Apache-2.0
"""
Measure the controllers on the contact plant for the tables of README.md and docs/experiments.md.

Every experiment is run with each controller and each seed on the plant ``mujoco``; a seed sets the
phases of the encoders and the start steerings. The values of all runs are in docs/figures.json,
from which the tables between ``<!-- figures: bars -->`` or ``<!-- figures: all -->`` and
``<!-- end -->`` are written as median and worst. Run from the root of the repository::

    python scripts/write_figures.py                        # what is missing, and the tables
    python scripts/write_figures.py --again --workers 4    # everything anew
    python scripts/write_figures.py --seeds 40 --experiments slope
    python scripts/write_figures.py --seeds 0              # only the tables
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

from c3p_experiments.catalogue import EXPERIMENTS
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.loop.outcome import Row
from c3p_experiments.loop.report import NEVER

ROOT = Path(__file__).parents[1]
PAGES = ROOT / 'README.md', ROOT / 'docs' / 'experiments.md'
DATA = ROOT / 'docs' / 'figures.json'
CONTROLLERS = {'mpc': 'mpc', 'paper': "papers' law"}
COMPARED = [name for name, experiment in EXPERIMENTS.items() if experiment.compared]
BLOCK = re.compile(r'<!-- figures: (\w+) -->\n.*?<!-- end -->', re.DOTALL)

# how long a step takes tells of the computer, and is measured by benchmarks/; how a torque may
# change is a limit of each law
LEFT_OUT = ('step of the law', 'largest change of a torque')

# packages that a figure depends on
PACKAGES = 'numpy', 'scipy', 'numba', 'mujoco'

# cell of an experiment without runs
MISSING = 'not measured'

# digits of a figure that are kept
DIGITS = 6

# controller → experiment → seed, as text → figure → value in the unit of its row; None: never
Runs = dict[str, dict[str, dict[str, dict[str, float | None]]]]


class Task(NamedTuple):
    """One run: controller, experiment and seed."""

    controller: str
    experiment: str
    seed: int


def rows_of(name: str) -> list[Row]:
    """Return the rows of an experiment that are in the tables."""
    return [row for row in EXPERIMENTS[name].rows if not row.name.startswith(LEFT_OUT)]


def measure(task: Task) -> dict[str, float | None]:
    """Return the values of one run."""
    experiment = EXPERIMENTS[task.experiment]
    conditions = Conditions(plant='mujoco', controller=task.controller, seed=task.seed)
    metrics = experiment.run(Bench(conditions, experiment.robot)).metrics
    found = {}
    for row in rows_of(task.experiment):
        value = row.value(metrics)
        found[row.name] = None if value is None else float(f'{value * row.scale:.{DIGITS}g}')
    return found


def versions() -> dict[str, str]:
    """Return the versions that the values depend on."""
    return {'python': platform.python_version(), 'machine': platform.machine(),
            **{name: version(name) for name in PACKAGES}}


def missing(runs: Runs, tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks without all values in `runs`."""
    return [task for task in tasks if any(
        row.name not in runs.get(task.controller, {}).get(task.experiment, {}).get(
            str(task.seed), {}) for row in rows_of(task.experiment))]


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
        names = [name for name in EXPERIMENTS if name in of]
        for name in names:
            seeds = sorted(of[name], key=int)
            lines.append(f'  {json.dumps(name)}: {{')
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


def summary(values: Sequence[float | None], row: Row, controller: str) -> str:
    """Return median and worst; bold where the worst meets the bar, that is every value."""
    never = -math.inf if row.at_least else math.inf
    known = [never if value is None else value for value in values]
    worst = min(known) if row.at_least else max(known)

    def shown(value: float) -> str:
        return NEVER if math.isinf(value) else f'{value:.{row.digits}f}'

    middle, last = shown(statistics.median(known)), shown(worst)
    text = middle if middle == last else f'{middle} / {last}'
    limit = row.bar_for(controller)
    if limit is None or math.isinf(worst):
        return text
    # a value on its bar is not outside by rounding
    limit = float(f'{limit * row.scale:.{DIGITS}g}')
    return f'**{text}**' if (worst >= limit if row.at_least else worst <= limit) else text


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
    """Return the table of the rows that have a ``bar``, or of ``all``."""
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


def rewritten(page: str, runs: Runs) -> str:
    """Return the page with updated tables."""
    return BLOCK.sub(lambda found: f'<!-- figures: {found[1]} -->\n{table(runs, found[1])}\n'
                                   '<!-- end -->', page)


def main() -> None:
    """Measure what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--seeds', type=int, default=15, metavar='N',
                        help='seeds 0 to N − 1 (default: %(default)s)')
    parser.add_argument('--workers', type=int, default=1, metavar='N', help='processes')
    parser.add_argument('--experiments', nargs='+', choices=COMPARED, default=COMPARED,
                        metavar='NAME', help='only these')
    parser.add_argument('--controllers', nargs='+', choices=CONTROLLERS, default=[*CONTROLLERS],
                        metavar='NAME', help='only these')
    parser.add_argument('--again', action='store_true', help='forget the runs that are there')
    options = parser.parse_args()
    data = {'versions': versions(), 'runs': {}} if options.again else read()
    tasks = [Task(controller, name, seed) for seed in range(options.seeds)
             for controller in options.controllers for name in options.experiments]
    todo = missing(data['runs'], tasks)
    if todo and data['versions'] != versions():
        raise SystemExit(f'{DATA.name}: measured with {data["versions"]}, here are {versions()}: '
                         'use --again, since figures of several versions do not mix')
    if todo:
        complete(data, todo, options.workers)
    for page in PAGES:
        page.write_text(rewritten(page.read_text(encoding='utf-8'), data['runs']),
                        encoding='utf-8')


if __name__ == '__main__':
    main()
