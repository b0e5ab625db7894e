# SPDX-License-Identifier: Apache-2.0
"""
Write the table of docs/real_robots.md, and the sentence of README.md, from `real_sensors`.

From the root of the repository::

    for plant in analytic mujoco; do
        c3p experiment real_sensors --plant $plant --json out/real_sensors_$plant.json
    done
    python scripts/write_real_sensors.py out/real_sensors_*.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from c3p_experiments.real_sensors.experiment import ROWS
from c3p_experiments.real_sensors.properties import PROPERTIES, REAL

ROOT = Path(__file__).parents[1]
PAGE = ROOT / 'docs' / 'real_robots.md'
README = ROOT / 'README.md'
SENTENCE = '<!-- real sensors -->'
BEGIN = '<!-- figures -->'
END = '<!-- end -->'
TASKS = ('line', 'triangle')

Runs = Sequence[Mapping[str, Any]]


def main() -> int:
    """Read the runs and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('files', nargs='+', type=Path, help='written by --json')
    runs = [json.loads(file.read_text('utf-8')) for file in parser.parse_args().files]
    rewrite(PAGE, BEGIN, '\n'.join(['', '', *table(runs), '', *verdicts(runs), '', '']))
    rewrite(README, SENTENCE, sentence(runs))
    return 0


def rewrite(page: Path, begin: str, text: str) -> None:
    """Put `text` between `begin` and the end after it."""
    before, found, after = page.read_text('utf-8').partition(begin)
    assert found, f'{page}: {begin}'
    page.write_text(before + begin + text + END + after.partition(END)[2], 'utf-8')


def sentence(runs: Runs) -> str:
    """Return the errors with all properties of `real`, the worse plant's, and the alarms."""
    line, triangle = (max(run[REAL][task]['true_error_p90_m'] for run in runs) for task in TASKS)
    alarms = sum(run[REAL]['alarms'] for run in runs)
    minutes = sum(60 * run[REAL]['hours'] for run in runs)
    return (f'{100 * line:.1f} cm after 4 m and {100 * triangle:.1f} cm\nafter a triangle of 11 m '
            f'(90 % of {runs[0]["seeds"][0]} drives), {alarms} false alarms in '
            f'{minutes:.0f} minutes')


def table(runs: Runs) -> list[str]:
    """Return the table of the properties, of each plant in turn."""
    heads = ['property']
    for run in runs:
        plant = run['conditions']['plant']
        heads += [f'{plant}: line, p90 / largest [cm]', 'triangle [cm]',
                  'alarms of slip, faults', 'samples held']
    lines = [f'| {" | ".join(heads)} |', '|---' * len(heads) + '|']
    for name in PROPERTIES:
        cells = [name.replace('_', ' ')]
        for run in runs:
            found = run[name]
            cells += [f'{100 * found[task]["true_error_p90_m"]:.2f} / '
                      f'{100 * found[task]["true_error_max_m"]:.2f}' for task in TASKS]
            cells += [f'{found["slip_alarms"]}, {found["fault_alarms"]}', f'{found["held"]}']
        lines.append(f'| {" | ".join(cells)} |')
    return lines


def verdicts(runs: Runs) -> list[str]:
    """Return how far each bar of the profile `real` is met."""
    most, alone = runs[0]['seeds']
    lines = [f'{alone} drives of each task with each property alone, {most} with `real`.', '']
    for run in runs:
        found = run[REAL]
        parts = []
        for task in TASKS:
            bar = next(row.bar for row in ROWS if row.key == f'{REAL}.{task}.true_error_p90_m')
            assert bar is not None
            value = found[task]['true_error_p90_m']
            parts.append(f'{task} {100 * value:.2f} of {100 * bar:g} cm '
                         + ('(met)' if value <= bar else f'(missed, {value / bar:.1f} times)'))
        alarms = found['alarms']
        parts.append(f'{alarms} false alarms in {60 * found["hours"]:.0f} minutes '
                     + ('(met)' if alarms == 0 else '(missed)'))
        lines.append(f'- `{run["conditions"]["plant"]}`, `real`: {"; ".join(parts)}.')
    return lines


if __name__ == '__main__':
    raise SystemExit(main())
