# SPDX-License-Identifier: Apache-2.0
"""
Write the table of docs/commissioning.md from the experiment `commissioning`.

From the root of the repository::

    c3p experiment commissioning --trials 200 --json out/commissioning.json
    python scripts/write_commissioning.py out/commissioning.json

or, without ROS, ``python -m c3p_experiments.commissioning --trials 200 --out out``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / 'docs' / 'commissioning.md'
BEGIN = '<!-- figures -->'
END = '<!-- end -->'

# words and metrics of the columns, with scale and digits
COLUMNS = (
    ('trials', 'trials', 1.0, 0), ('named exactly', 'exact', 1.0, 0),
    ('undecided', 'undecided', 1.0, 0), ('wrong', 'wrong', 1.0, 0),
    ('refused', 'refused', 1.0, 0), ('gear, p99 [%]', 'gear_error_p99', 100.0, 1),
    ('zero, p99 [°]', 'zero_error_p99_rad', 57.29578, 2),
    ('fastest pivot [m/s]', 'fastest_mps', 1.0, 3), ('farthest [m]', 'way_m', 1.0, 2),
    ('time, median [s]', 'time_p50_s', 1.0, 0), ('longest [s]', 'time_s', 1.0, 0))


def main() -> int:
    """Read the runs and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('file', type=Path, help='written by --json')
    metrics = json.loads(parser.parse_args().file.read_text('utf-8'))
    before, found, after = PAGE.read_text('utf-8').partition(BEGIN)
    assert found, f'{PAGE}: {BEGIN}'
    text = '\n'.join(['', '', *table(metrics), '', ''])
    PAGE.write_text(before + BEGIN + text + END + after.partition(END)[2], 'utf-8')
    return 0


def table(metrics: Mapping[str, Any]) -> list[str]:
    """Return the lines of the table: a row for each robot."""
    names = [*metrics['conditions']['robots'].split(', '), 'all']
    rows = [('robot', *(words for words, *_ in COLUMNS)), ('---',) * (len(COLUMNS) + 1)]
    for name in names:
        rows.append((name, *(_cell(metrics[name][key], scale, digits)
                             for _, key, scale, digits in COLUMNS)))
    return ['| ' + ' | '.join(row) + ' |' for row in rows]


def _cell(value: float | None, scale: float, digits: int) -> str:
    return '–' if value is None else f'{scale * value:.{digits}f}'


if __name__ == '__main__':
    raise SystemExit(main())
