# SPDX-License-Identifier: Apache-2.0
"""
Write the tables of docs/slip_and_faults.md from runs of the experiment `slip_faults`.

Each run takes some minutes. For the seeds of the page, from the root of the repository::

    for seed in 7 8 9 10 11 12; do
        c3p experiment slip_faults --plant mujoco --seed $seed --json out/slip_faults_$seed.json
    done
    python scripts/write_slip_faults.py out/slip_faults_*.json

A figure is the median of the seeds and the worst of them; counts are those of all seeds together.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from c3p_experiments.loop.outcome import Row
from c3p_experiments.slip_faults.experiment import ROWS

PAGE = Path(__file__).parents[1] / 'docs' / 'slip_and_faults.md'
END = '<!-- end -->'

# experiments whose figures do not belong together have another value in one of these
COMMON = ('plant', 'controller', 'robot', 'friction', 'latency', 'wheel_counts',
          'steering_counts', 'sensor_profile')

Runs = Sequence[Mapping[str, Any]]


def main() -> int:
    """Read the runs and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('files', nargs='+', type=Path, help='written by --json')
    runs = [json.loads(file.read_text('utf-8')) for file in parser.parse_args().files]
    if len({tuple(run['conditions'].get(name) for name in COMMON) for run in runs}) > 1:
        parser.error(f'the runs differ in one of {", ".join(COMMON)}')
    text = PAGE.read_text('utf-8')
    for name, lines in (('seeds', [sentence(runs)]), ('figures', figures(runs)),
                        ('kinds', kinds(runs))):
        begin = f'<!-- {name} -->\n'
        before, found, after = text.partition(begin)
        assert found, f'{PAGE}: {begin}'
        text = '\n'.join([before + begin.rstrip(), *lines, END + after.partition(END)[2]])
    PAGE.write_text(text, 'utf-8')
    return 0


def sentence(runs: Runs) -> str:
    """Return what was run."""
    seeds = sorted(run['conditions']['seed'] for run in runs)
    fallen = sum(run.get('fallen_drives', 0) for run in runs)
    drives = sum(run['quiet_drives'] for run in runs)
    alarms = sum(run['false_alarms_per_hour'] * run['hours'] for run in runs)
    return (f'{"Seeds" if len(seeds) > 1 else "Seed"} {", ".join(map(str, seeds))}: '
            f'{sum(run["faults"] for run in runs)} faults, '
            f'{sum(run["missed"] for run in runs)} of them missed; {alarms:.0f} false alarms in '
            f'{sum(run["hours"] for run in runs):.1f} h without faults of {drives} drives, not '
            f'counting {fallen} in which a random robot fell over.')


def figures(runs: Runs) -> list[str]:
    """Return the table of the metrics of all runs."""
    lines = ['| figure | bar | median of the seeds | worst |', '|---|---|---|---|']
    for row in ROWS:
        values = [value for run in runs if (value := row.value(run)) is not None]
        if values:
            worst = min(values) if better_when_large(row) else max(values)
            lines.append(f'| {row.name}{f" [{row.unit}]" if row.unit else ""} | '
                         f'{"" if row.bar is None else limit(row)} | '
                         f'{shown(row, statistics.median(values))} | {shown(row, worst)} |')
    return lines


def better_when_large(row: Row) -> bool:
    """Return whether a large value is the good one."""
    return row.at_least or row.key.endswith(('in_time_ratio', 'named_ratio'))


def limit(row: Row) -> str:
    """Return the bar of a row."""
    assert row.bar is not None
    return f'{"≥" if row.at_least else "≤"} {row.bar * row.scale:g}'


def shown(row: Row, value: float) -> str:
    """Return a value in the unit of its row, bold where it meets the bar."""
    text = f'{value * row.scale:.{row.digits}f}'
    if row.bar is None:
        return text
    return f'**{text}**' if (value >= row.bar if row.at_least else value <= row.bar) else text


def kinds(runs: Runs) -> list[str]:
    """Return the table of the kinds of faults, of all runs together."""
    lines = ['| fault | number | found within 100 ms [%] | named [%] | right wheel, of these [%] '
             '| right name [%] |', '|---|---|---|---|---|---|']
    for kind in runs[0]['kinds']:
        found = [run['kinds'][kind] for run in runs if kind in run['kinds']]
        count = [each['faults'] for each in found]
        named = [each['faults'] * each['named_ratio'] for each in found]
        cells = [ratio(found, 'found_in_time_ratio', count), ratio(found, 'named_ratio', count),
                 ratio(found, 'right_wheel_ratio', named), ratio(found, 'right_name_ratio', named)]
        lines.append(f'| {kind} | {sum(count)} | {" | ".join(cells)} |')
    return lines


def ratio(found: Runs, key: str, weight: Sequence[float]) -> str:
    """Return the mean of a ratio, weighted by the number of cases, in percent."""
    known = [(each[key], w) for each, w in zip(found, weight, strict=True)
             if each[key] is not None and w > 0]
    total = sum(w for _, w in known)
    return f'{100.0 * sum(value * w for value, w in known) / total:.1f}' if total else ''


if __name__ == '__main__':
    raise SystemExit(main())
