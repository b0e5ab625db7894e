# SPDX-License-Identifier: Apache-2.0
"""
Measure the controllers on the contact plant for the tables of README.md and docs/experiments.md.

Every experiment is run with each controller on the plant ``mujoco``; the tables are between
``<!-- figures: bars -->`` or ``<!-- figures: all -->`` and ``<!-- end -->``. Run from the root of
the repository: ``python scripts/write_figures.py`` (five minutes).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from c3p_experiments.catalogue import EXPERIMENTS

ROOT = Path(__file__).parents[1]
PAGES = ROOT / 'README.md', ROOT / 'docs' / 'experiments.md'
CONTROLLERS = {'mpc': 'mpc', 'closed_form': 'closed form', 'paper': "papers' law"}
BLOCK = re.compile(r'<!-- figures: (\w+) -->\n.*?<!-- end -->', re.DOTALL)

# how long a step takes tells of the computer, and is measured by benchmarks/; how a torque may
# change is a limit of each law
LEFT_OUT = ('step of the law', 'largest change of a torque')

Figures = dict[str, dict[str, Any]]


def measure(folder: Path) -> dict[str, Figures]:
    """Return ``{controller: {experiment: metrics}}``; existing results in `folder` are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for controller in CONTROLLERS:
        path = folder / f'{controller}.json'
        if not path.exists():
            # exit code 1 is a goal that was missed, which the tables show
            done = subprocess.run(
                [sys.executable, '-m', 'c3p_bringup', 'experiment', 'all', '--plant', 'mujoco',
                 '--controller', controller, '--out', folder / controller, '--json', path],
                cwd=ROOT)
            if done.returncode > 1:
                raise SystemExit(f'c3p experiment all --controller {controller}: exit code '
                                 f'{done.returncode}')
        found[controller] = json.loads(path.read_text(encoding='utf-8'))['experiments']
    return found


def rows(measured: dict[str, Figures]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each row of the tables: experiment, and the row of each controller."""
    first = next(iter(measured.values()))
    for name, figures in first.items():
        if name not in EXPERIMENTS:
            # a model by itself, without a controller
            continue
        for k, row in enumerate(figures['table']):
            if not row['figure'].startswith(LEFT_OUT):
                yield name, [of[name]['table'][k] for of in measured.values()]


def shown(row: dict[str, Any]) -> str:
    """Return a measured value; bold if it meets its bar."""
    value, bar = row['measured'], row['bar']
    text = 'never' if value is None else f'{value:.{row["digits"]}f}'
    return f'**{text}**' if bar is not None and value is not None and value <= bar else text


def table(measured: dict[str, Figures], kind: str) -> str:
    """Return the table of the rows that have a ``bar``, or of ``all``."""
    lines = [f'| experiment | metric | printed | bar | {" | ".join(CONTROLLERS.values())} |',
             f'|---|---|---|---|{"---|" * len(CONTROLLERS)}']
    before = ''
    for name, of in rows(measured):
        row = of[0]
        if kind == 'bars' and row['bar'] is None:
            continue
        bar = '' if row['bar'] is None else f'{row["bar"]:g}'
        unit = f' [{row["unit"]}]' if row['unit'] else ''
        lines.append(f'| {"" if name == before else f"`{name}`"} | {row["figure"]}{unit} | '
                     f'{row["printed"]} | {bar} | {" | ".join(map(shown, of))} |')
        before = name
    return '\n'.join(lines)


def rewritten(page: str, measured: dict[str, Figures]) -> str:
    """Return the page with updated tables."""
    return BLOCK.sub(lambda found: f'<!-- figures: {found[1]} -->\n{table(measured, found[1])}\n'
                                   '<!-- end -->', page)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--out', type=Path, default=Path('out/figures'),
                        help='pages and JSON; existing results are used (default: %(default)s)')
    measured = measure(parser.parse_args().out.resolve())
    for page in PAGES:
        page.write_text(rewritten(page.read_text(encoding='utf-8'), measured), encoding='utf-8')


if __name__ == '__main__':
    main()
