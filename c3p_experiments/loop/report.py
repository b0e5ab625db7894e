# SPDX-License-Identifier: Apache-2.0
"""Tables of experiments as text and Markdown: measured values, printed values and bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from c3p_experiments.loop.outcome import Row

# verdicts of a metric with a bar
STRETCH = 'stretch'
MET = 'met'
MISSED = 'MISSED'

# text for a metric that does not exist, mostly the time of an event that did not occur
NEVER = 'never'

# of conditions, as ends of their names
UNITS = ('m', 's', 'rad', 'kg')

# as shown; the keys of the JSON are those of `table_rows`
COLUMNS = ('metric', 'paper', 'limit', 'target', 'measured', '')
# verdicts as shown: one that is met needs no word
SHOWN = {STRETCH: 'target met', MET: '', MISSED: 'MISSED'}


def table_rows(rows: Sequence[Row], metrics: Mapping[str, Any], controller: str = ''
               ) -> list[dict[str, Any]]:
    """
    Return the rows of a table of `metrics` for JSON, with the bars of a `controller`.

    Each has ``figure``, ``unit``, and in that unit ``printed`` (text), ``bar``, ``stretch``,
    ``measured``; ``digits``, ``at_least`` and ``scientific`` as in the row; ``verdict``: stretch,
    met, MISSED, or empty without a bar.
    """
    return [_table_row(row, row.value(metrics), row.bar_for(controller)) for row in rows]


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
        value = row[key]
        form = 'e' if row['scientific'] else 'f'
        return '' if value is None else f'{value:.{row["digits"]}{form}}'

    def limit(row: Mapping[str, Any], key: str) -> str:
        sign = '≥' if row['at_least'] else '≤'
        return '' if row[key] is None else f'{sign} {number(row, key)}'

    return [(f'{row["figure"]} [{row["unit"]}]' if row['unit'] else row['figure'],
             row['printed'], limit(row, 'bar'), limit(row, 'stretch'),
             number(row, 'measured') or NEVER, SHOWN.get(row['verdict'], ''))
            for row in rows]


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
        # a model without a control loop
        return ', '.join(_condition(*named) for named in conditions.items())
    parts = [f'plant {conditions["plant"]}', f'controller {conditions["controller"]}',
             f'robot {conditions["robot"]}',
             f'encoders {conditions["wheel_counts"]}/{conditions["steering_counts"]}',
             f'latency {1e3 * conditions["latency"]:g} ms']
    if conditions.get('known_latency') is not None:
        parts[-1] += f' (assumed {1e3 * conditions["known_latency"]:g} ms)'
    if conditions.get('sensor_profile'):
        parts.append(f'sensors {conditions["sensor_profile"]}')
    if conditions['friction'] is not None:
        parts.append(f'µ {conditions["friction"]:g}')
    return ', '.join([*parts, f'seed {conditions["seed"]}'])


def verdict(metrics: Mapping[str, Any]) -> str:
    """Return the result as text: of the goal, or of the checks of a model without a loop."""
    what, good, bad = (('goal', 'reached', 'MISSED') if 'plant' in metrics['conditions']
                       else ('checks', 'passed', 'FAILED'))
    return f'{what} {good if metrics["reached"] else bad}'


def _condition(name: str, value: Any) -> str:
    """Return a condition as text; `name` ends in its unit, if it has one."""
    text = f'{value:g}' if isinstance(value, float) else f'{value}'
    words, _, unit = name.rpartition('_')
    if unit not in UNITS or not words:
        return f'{name.replace("_", " ")} {text}'
    return f'{words.replace("_", " ")} {text} {unit}'


class Named(Protocol):
    """Names of an experiment in a report."""

    @property
    def name(self) -> str:
        """Name on the command line."""

    @property
    def title(self) -> str:
        """Title of the page."""

    @property
    def source(self) -> str:
        """Figure of the paper, or ``ours``."""


def write_report(experiment: Named, metrics: Mapping[str, Any], base: Path) -> Path:
    """Write the table of an experiment beside its picture `base`.png; return the file."""
    path = base.with_name(base.name + '.md')
    path.write_text(
        f'# {experiment.name}: {experiment.title}\n\n{experiment.source}. '
        f'{conditions_text(metrics["conditions"])}. {_sentence(metrics)}\n\n'
        f'{markdown_table(metrics["table"])}\n\n![{experiment.title}]({base.name}.png)\n',
        encoding='utf-8')
    return path


def write_index(results: Sequence[Mapping[str, Any]], out: Path) -> Path:
    """Write ``index.md`` with every experiment's table; return the file."""
    first = results[0]
    lines = ['# Experiments', '', conditions_text({**first['conditions'], 'robot': 'as named'})
             + '.', '', '| experiment | robot | source | result | bars |', '|---|---|---|---|---|']
    for metrics in results:
        name = metrics['experiment']
        lines.append(f'| [{name}]({name}.md) | {metrics["conditions"].get("robot", "")} | '
                     f'{metrics["source"]} | {verdict(metrics)} | '
                     f'{bars_text(metrics["table"])} |')
    for metrics in results:
        name = metrics['experiment']
        lines += ['', f'## {name}: {metrics["title"]}', '', _sentence(metrics), '',
                  markdown_table(metrics['table']), '', f'[![{name}]({name}.png)]({name}.png)']
    path = out / 'index.md'
    path.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    return path


def bars_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the number of bars of a table that are met, as text."""
    verdicts = [row['verdict'] for row in rows if row['verdict']]
    if not verdicts:
        return 'none'
    met = sum(verdict != MISSED for verdict in verdicts)
    stretched = sum(verdict == STRETCH for verdict in verdicts)
    return f'{met} of {len(verdicts)} limits met, {stretched} targets'


def _sentence(metrics: Mapping[str, Any]) -> str:
    """Return the `verdict` as a sentence."""
    text = verdict(metrics)
    return f'{text[0].upper()}{text[1:]}.'
