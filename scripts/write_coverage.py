# SPDX-License-Identifier: Apache-2.0
"""
Write the coverage of each package into QUALITY_DECLARATION.md, from the data of a measurement.

``bash scripts/run_tests.sh --coverage`` measures all tests and ends with this script. For a part:

    python -m coverage run -m pytest test/c3p_kinematics
    python scripts/write_coverage.py --print

The data of all runs in out/coverage are combined; delete the folder before a new measurement.
``--tests FOLDERS`` names what was run, if it was not everything.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import coverage

ROOT = Path(__file__).parents[1]
PAGE = ROOT / 'QUALITY_DECLARATION.md'
DATA = ROOT / 'out' / 'coverage'
BLOCK = re.compile(r'<!-- coverage -->\n.*?<!-- end -->', re.DOTALL)
# functions that run as machine code, which coverage cannot see (c3p_kernels/compiled.py)
COMPILED = r'^\s*@(kernel|inlined|spliced)\b'

Summaries: TypeAlias = Mapping[str, Mapping[str, int]]


class Counted(NamedTuple):
    """Statements of a package, and those that tests have run."""

    statements: int = 0
    run: int = 0

    def plus(self, summary: Mapping[str, int]) -> Counted:
        """Return the sum with a file."""
        return Counted(self.statements + summary['num_statements'],
                       self.run + summary['covered_lines'])

    def minus(self, other: Counted) -> Counted:
        """Return the difference."""
        return Counted(self.statements - other.statements, self.run - other.run)

    def __str__(self) -> str:
        """Return the number of statements and the fraction that tests have run, %."""
        percent = f'{100.0 * self.run / self.statements:.1f}' if self.statements else ''
        return f'{self.statements} | {percent}'


def data_files() -> list[Path]:
    """Return the data of every process that was measured."""
    found = sorted(path for path in DATA.rglob('*')
                   if path.is_file() and path.read_bytes()[:6] == b'SQLite')
    if not found:
        raise SystemExit(f'no data in {DATA}: bash scripts/run_tests.sh --coverage')
    return found


def measured() -> tuple[Summaries, Summaries]:
    """Return {file: summary} of all data in out/coverage: all statements, those not compiled."""
    with tempfile.TemporaryDirectory() as folder:
        found = coverage.Coverage(data_file=f'{folder}/data')
        found.combine(map(str, data_files()), keep=True)
        found.save()
        every = summaries(found, Path(folder) / 'every.json')
        found.exclude(COMPILED)
        return every, summaries(found, Path(folder) / 'without_kernels.json')


def summaries(found: coverage.Coverage, report: Path) -> Summaries:
    """Return the summary of each file."""
    found.json_report(outfile=str(report))
    files = json.loads(report.read_text(encoding='utf-8'))['files']
    return {name: entry['summary'] for name, entry in files.items()}


def packages(files: Summaries) -> dict[str, Counted]:
    """
    Return the sums of each package, and of all as ``together``.

    Examples
    --------
    >>> one = {'num_statements': 10, 'covered_lines': 9}
    >>> packages({'c3p_a/x.py': one, 'c3p_a/b/y.py': one})['c3p_a']
    Counted(statements=20, run=18)
    """
    sums: dict[str, Counted] = {}
    for name, summary in sorted(files.items()):
        for package in (Path(name).parts[0], 'together'):
            sums[package] = sums.get(package, Counted()).plus(summary)
    return {name: sums[name] for name in sorted(sums, key=lambda n: (n == 'together', n))}


def table(every: Mapping[str, Counted], plain: Mapping[str, Counted]) -> str:
    """Return the table of the declaration."""
    rows = ['| package | statements | run [%] | in kernels | run as Python [%] |',
            '|---|---|---|---|---|']
    for name, counted in every.items():
        shown = name if name == 'together' else f'`{name}`'
        rows.append(f'| {shown} | {plain[name]} | {counted.minus(plain[name])} |')
    return '\n'.join(rows)


def rewritten(page: str, text: str) -> str:
    """Return the declaration with this text as its block of coverage."""
    if not BLOCK.search(page):
        raise ValueError(f'{PAGE.name}: no block <!-- coverage --> … <!-- end -->')
    return BLOCK.sub(lambda _: f'<!-- coverage -->\n{text}\n<!-- end -->', page)


def main(given: Iterable[str] | None = None) -> None:
    """Write or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--tests', default='all tests', help='folders of the tests that were run')
    parser.add_argument('--print', action='store_true', help='print the table, write nothing')
    arguments = parser.parse_args(None if given is None else list(given))
    version = '.'.join(map(str, sys.version_info[:2]))
    every, plain = map(packages, measured())
    text = f'{table(every, plain)}\n\nMeasured with Python {version}: {arguments.tests}.'
    if arguments.print:
        print(text)
    else:
        PAGE.write_text(rewritten(PAGE.read_text(encoding='utf-8'), text), encoding='utf-8')


if __name__ == '__main__':
    main()
