# SPDX-License-Identifier: Apache-2.0
"""
Write the tables of docs/stopping.md from a run of the experiment `stopping`.

From the root of the repository::

    c3p experiment stopping --json out/stopping.json
    python scripts/write_stopping.py out/stopping.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from c3p_hardware.stopping import reactions

PAGE = Path(__file__).parents[1] / 'docs' / 'stopping.md'
END = '<!-- end -->'
PARTS = {reaction.part: reaction for reaction in reactions()}
HEAD = ('| speed [m/s] | load [kg] | slope [°] | µ | p50 | p99 | worst | formula |\n'
        '|---|---|---|---|---|---|---|---|')


def main() -> int:
    """Read the run and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('file', type=Path, help='written by --json')
    found = json.loads(parser.parse_args().file.read_text('utf-8'))
    PAGE.write_text(written(PAGE.read_text('utf-8'), found), 'utf-8')
    return 0


def written(text: str, found: Mapping[str, Any]) -> str:
    """Return the page `text` with the tables of a run."""
    for name, lines in (('reactions', parts()), ('check', check(found)),
                        ('distances', distances(found['cases']))):
        before, begin, after = text.partition(f'<!-- {name} -->\n')
        text = '\n'.join([before + begin.rstrip(), '', *lines, '', END + after.partition(END)[2]])
    return text


def parts() -> list[str]:
    """Return the table of the reactions."""
    return ['| failed part | reaction begins after [s] | brake | stop category |',
            '|---|---|---|---|',
            *(f'| {r.part} | {r.time:.3g} | {r.brake} | {r.category} |' for r in PARTS.values())]


def check(found: Mapping[str, Any]) -> list[str]:
    """Return measured against the formula."""
    rows = ['| stops | number | fallen over | rolled on, as stated | beyond the formula | '
            'part of the formula: median | worst |', '|---|---|---|---|---|---|---|']
    for name in ('all', 'others', *PARTS):
        one = found[name]
        rows.append(f'| {name} | {one["stops"]} | {one["fallen"]} | {one["rolled_on"]} | '
                    f'{one["beyond"]} | {percent(one["ratio_p50"])} | '
                    f'{percent(one["ratio_worst"])} |')
    return rows


def distances(cases: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a table of the distances for each part, m."""
    lines = []
    for part, reaction in PARTS.items():
        some = [case for case in cases if case['part'] == part]
        lines += ['', f'### {part.capitalize()}: {reaction.brake}, category {reaction.category}',
                  '', HEAD]
        lines += [f'| {c["speed_mps"]:g} | {c["load_kg"]:.3g} | {c["slope_deg"]:.2g} | '
                  f'{c["friction"]:g} | '
                  + ' | '.join(way(c[key]) for key in ('p50_m', 'p99_m', 'worst_m', 'formula_m'))
                  + ' |' for c in some]
    return lines[1:]


def way(value: float | None) -> str:
    """Return a distance, m."""
    return 'rolls on' if value is None else f'{value:.2f}'


def percent(value: float | None) -> str:
    """Return a ratio as percentage; None for a robot that rolled on against the formula."""
    return 'rolled on' if value is None else f'{100 * value:.0f} %'


if __name__ == '__main__':
    raise SystemExit(main())
