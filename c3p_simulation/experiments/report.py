# SPDX-License-Identifier: Apache-2.0
"""Tables of experiments: measured against printed numbers and bars, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from c3p_simulation.experiments.outcome import Experiment, Outcome

# what is said of a figure that has a bar
STRETCH, MET, MISSED = 'stretch', 'met', 'MISSED'

# stands for a figure that a run does not have: mostly a time that did not come
NEVER = 'never'

COLUMNS = ('figure', 'paper', 'bar', 'stretch', 'measured', '')


def table_figures(experiment: Experiment, outcome: Outcome, controller: str
                  ) -> list[dict[str, Any]]:
    """
    Return the rows of an experiment's table, ready for JSON.

    Parameters
    ----------
    experiment : Experiment
    outcome : Outcome
    controller : str
        Some bars belong to one controller.

    Returns
    -------
    list of dict
        ``figure``, ``unit``, and in that unit ``printed`` (text), ``bar``, ``stretch``,
        ``measured``; ``verdict``: stretch, met, MISSED, or empty where there is no bar.
    """
    rows = []
    for row in experiment.rows:
        value, bar = row.value(outcome.figures), row.bar_for(controller)
        stretch = None if bar is None else row.stretch

        def shown(number: float | None, scale: float = row.scale) -> float | None:
            return None if number is None else number * scale

        verdict = ''
        if bar is not None:
            verdict = (MISSED if value is None or value > bar else
                       STRETCH if stretch is not None and value <= stretch else MET)
        rows.append({'figure': row.name, 'unit': row.unit, 'printed': row.printed,
                     'bar': shown(bar), 'stretch': shown(stretch), 'measured': shown(value),
                     'digits': row.digits, 'verdict': verdict})
    return rows


def table_cells(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return the rows of a table as text, in the order of `COLUMNS`."""
    def number(row: Mapping[str, Any], key: str) -> str:
        value = row[key]
        return '' if value is None else f'{value:.{row["digits"]}f}'

    return [(f'{row["figure"]} [{row["unit"]}]' if row['unit'] else row['figure'],
             row['printed'], *(f'≤ {number(row, key)}' if row[key] is not None else ''
                               for key in ('bar', 'stretch')),
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
    parts = [f'plant {conditions["plant"]}', f'controller {conditions["controller"]}',
             f'robot {conditions["robot"]}',
             f'encoders {conditions["wheel_counts"]}/{conditions["steering_counts"]}',
             f'latency {1e3 * conditions["latency"]:g} ms']
    if conditions['friction'] is not None:
        parts.append(f'µ {conditions["friction"]:g}')
    return ', '.join([*parts, f'seed {conditions["seed"]}'])


def write_report(experiment: Experiment, figures: Mapping[str, Any], base: Path) -> Path:
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
        lines.append(f'| [{name}]({name}.md) | {figures["conditions"]["robot"]} | '
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
