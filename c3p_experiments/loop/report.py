# SPDX-License-Identifier: Apache-2.0
"""Tables of experiments: measured against printed numbers and bars, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from c3p_experiments.loop.outcome import Experiment, Outcome, Row

# what is said of a figure that has a bar
STRETCH, MET, MISSED = 'stretch', 'met', 'MISSED'

# stands for a figure that a run does not have: mostly a time that did not come
NEVER = 'never'

COLUMNS = ('figure', 'paper', 'bar', 'stretch', 'measured', '')


def table_figures(experiment: Experiment, outcome: Outcome, controller: str
                  ) -> list[dict[str, Any]]:
    """Return the rows of an experiment's table: `table_rows` of its `outcome`."""
    return table_rows(experiment.rows, outcome.figures, controller)


def table_rows(rows: Sequence[Row], figures: Mapping[str, Any], controller: str = ''
               ) -> list[dict[str, Any]]:
    """
    Return the rows of a table, ready for JSON.

    Parameters
    ----------
    rows : sequence of Row
    figures : mapping
    controller : str
        Some bars belong to one controller.

    Returns
    -------
    list of dict
        ``figure``, ``unit``, and in that unit ``printed`` (text), ``bar``, ``stretch``,
        ``measured``; ``digits``, ``at_least`` and ``scientific`` as in the row; ``verdict``:
        stretch, met, MISSED, or empty where there is no bar.
    """
    return [_table_row(row, row.value(figures), row.bar_for(controller)) for row in rows]


def _table_row(row: Row, value: float | None, bar: float | None) -> dict[str, Any]:
    stretch = None if bar is None else row.stretch

    def shown(number: float | None) -> float | None:
        return None if number is None else number * row.scale

    def within(limit: float | None) -> bool:
        return limit is not None and value is not None and (
            value >= limit if row.at_least else value <= limit)

    verdict = '' if bar is None else (
        STRETCH if within(bar) and within(stretch) else MET if within(bar) else MISSED)
    return {'figure': row.name, 'unit': row.unit, 'printed': row.printed, 'bar': shown(bar),
            'stretch': shown(stretch), 'measured': shown(value), 'digits': row.digits,
            'at_least': row.at_least, 'scientific': row.scientific, 'verdict': verdict}


def table_cells(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return the rows of a table as text, in the order of `COLUMNS`."""
    def number(row: Mapping[str, Any], key: str) -> str:
        value, form = row[key], 'e' if row['scientific'] else 'f'
        return '' if value is None else f'{value:.{row["digits"]}{form}}'

    def limit(row: Mapping[str, Any], key: str) -> str:
        sign = '≥' if row['at_least'] else '≤'
        return '' if row[key] is None else f'{sign} {number(row, key)}'

    return [(f'{row["figure"]} [{row["unit"]}]' if row['unit'] else row['figure'],
             row['printed'], limit(row, 'bar'), limit(row, 'stretch'),
             number(row, 'measured') or NEVER, row['verdict']) for row in rows]


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table as Markdown."""
    lines = [COLUMNS, ('---',) * len(COLUMNS), *table_cells(rows)]
    return '\n'.join('| ' + ' | '.join(cells) + ' |' for cells in lines)


def text_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table for the terminal."""
    lines = [COLUMNS, *table_cells(rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    return '\n'.join('  ' + '  '.join(
        cell.ljust(width) if i in (0, 5) else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip()
        for line in lines)


def conditions_text(conditions: Mapping[str, Any]) -> str:
    """Return the conditions of an experiment in one line."""
    if not conditions:
        return 'as printed'
    if 'plant' not in conditions:
        # a model by itself has no loop around it
        return ', '.join(f'{name.replace("_", " ")} {value:g}' if isinstance(value, float)
                         else f'{name} {value}' for name, value in conditions.items())
    parts = [f'plant {conditions["plant"]}', f'controller {conditions["controller"]}',
             f'robot {conditions["robot"]}',
             f'encoders {conditions["wheel_counts"]}/{conditions["steering_counts"]}',
             f'latency {1e3 * conditions["latency"]:g} ms']
    if conditions['friction'] is not None:
        parts.append(f'µ {conditions["friction"]:g}')
    return ', '.join([*parts, f'seed {conditions["seed"]}'])


class Named(Protocol):
    """What a report says of an experiment."""

    name: str
    title: str
    source: str


def write_report(experiment: Named, figures: Mapping[str, Any], base: Path) -> Path:
    """Write the table of an experiment beside its picture `base`.png; return the file."""
    path = base.with_name(base.name + '.md')
    path.write_text(
        f'# {experiment.name}: {experiment.title}\n\n{experiment.source}. '
        f'{conditions_text(figures["conditions"])}. {_verdict(figures)}\n\n'
        f'{markdown_table(figures["table"])}\n\n![{experiment.title}]({base.name}.png)\n',
        encoding='utf-8')
    return path


def write_index(results: Sequence[Mapping[str, Any]], out: Path) -> Path:
    """Write ``index.md`` with every experiment's table; return the file."""
    first = results[0]
    lines = ['# Experiments', '', conditions_text({**first['conditions'], 'robot': 'as named'})
             + '.', '', '| experiment | robot | source | goal | bars |', '|---|---|---|---|---|']
    for figures in results:
        name = figures['experiment']
        lines.append(f'| [{name}]({name}.md) | {figures["conditions"].get("robot", "")} | '
                     f'{figures["source"]} | {"reached" if figures["reached"] else "MISSED"} | '
                     f'{bars_text(figures["table"])} |')
    for figures in results:
        name = figures['experiment']
        lines += ['', f'## {name}: {figures["title"]}', '', _verdict(figures), '',
                  markdown_table(figures['table']), '', f'[![{name}]({name}.png)]({name}.png)']
    path = out / 'index.md'
    path.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    return path


def bars_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many bars of a table are met."""
    verdicts = [row['verdict'] for row in rows if row['verdict']]
    if not verdicts:
        return 'none'
    met = sum(verdict != MISSED for verdict in verdicts)
    stretched = sum(verdict == STRETCH for verdict in verdicts)
    return f'{met} of {len(verdicts)} met, {stretched} stretch'


def _verdict(figures: Mapping[str, Any]) -> str:
    return 'Goal reached.' if figures['reached'] else 'Goal MISSED.'
