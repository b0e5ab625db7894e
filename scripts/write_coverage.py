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
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / 'QUALITY_DECLARATION.md'
DATA = ROOT / 'out' / 'coverage'
BLOCK = re.compile(r'<!-- coverage -->\n.*?<!-- end -->', re.DOTALL)


class Counted(NamedTuple):
    """Statements of the files of a package, and those that no test has run."""

    statements: int
    missed: int

    @property
    def percent(self) -> float:
        """Fraction of the statements that tests have run, %."""
        return 100.0 * (self.statements - self.missed) / self.statements


def measured() -> dict[str, Mapping[str, int]]:
    """Return {file: summary} of all data in out/coverage."""
    with tempfile.TemporaryDirectory() as folder:
        combined, report = Path(folder) / 'data', Path(folder) / 'report.json'
        coverage = [sys.executable, '-m', 'coverage']
        subprocess.run([*coverage, 'combine', '--keep', '--quiet', f'--data-file={combined}',
                        *map(str, data_files())], cwd=ROOT, check=True)
        subprocess.run([*coverage, 'json', '--quiet', f'--data-file={combined}', '-o',
                        str(report)], cwd=ROOT, check=True)
        files = json.loads(report.read_text(encoding='utf-8'))['files']
    return {name: entry['summary'] for name, entry in files.items()}


def data_files() -> list[Path]:
    """Return the data of every process that was measured."""
    found = sorted(path for path in DATA.glob('*') if path.suffix not in ('.log', '.json')
                   and path.is_file() and path.read_bytes()[:6] == b'SQLite')
    if not found:
        raise SystemExit(f'no data in {DATA}: bash scripts/run_tests.sh --coverage')
    return found


def packages(files: Mapping[str, Mapping[str, int]]) -> dict[str, Counted]:
    """
    Return the sums of each package, and of all as ``together``.

    Examples
    --------
    >>> one = {'num_statements': 10, 'missing_lines': 1}
    >>> packages({'c3p_a/x.py': one, 'c3p_a/b/y.py': one})['c3p_a'].percent
    90.0
    """
    sums: dict[str, Counted] = {}
    for name, summary in sorted(files.items()):
        for package in (Path(name).parts[0], 'together'):
            before = sums.get(package, Counted(0, 0))
            sums[package] = Counted(before.statements + summary['num_statements'],
                                    before.missed + summary['missing_lines'])
    return {name: sums[name] for name in sorted(sums, key=lambda n: (n == 'together', n))}


def table(sums: Mapping[str, Counted]) -> str:
    """Return the table of the declaration."""
    rows = [f'| `{name}` | {counted.statements} | {counted.percent:.1f} |'
            for name, counted in sums.items() if name != 'together']
    whole = sums['together']
    return '\n'.join(['| package | statements | run by tests [%] |', '|---|---|---|', *rows,
                      f'| together | {whole.statements} | {whole.percent:.1f} |'])


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
    text = f'{table(packages(measured()))}\n\nMeasured with Python {version}: {arguments.tests}.'
    if arguments.print:
        print(text)
    else:
        PAGE.write_text(rewritten(PAGE.read_text(encoding='utf-8'), text), encoding='utf-8')


if __name__ == '__main__':
    main()
