# SPDX-License-Identifier: Apache-2.0
"""The HTML page of a report: one self-contained file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import Any

from c3p_bags.report.compare import difference_table
from c3p_bags.report.run import Run
from c3p_bags.report.sections import SECTIONS, Section
from c3p_bags.report.summary import Answer
from c3p_bags.report.tables import topic_table


def _cards(found: Sequence[Answer]) -> str:
    cards = ''.join(
        f'<a class="answer {a.verdict}" href="#{a.anchor}"><small>{escape(a.question)}</small>'
        f'<strong>{escape(a.answer)}</strong><span>{escape(a.detail)}</span></a>' for a in found)
    return f'<div class=answers>{cards}</div>'


def _facts(run: Run, numbers: Mapping[str, Any]) -> str:
    when = ''
    if run.by_clock:
        time = datetime.fromtimestamp(run.log.start_ns * 1e-9, timezone.utc)
        when = f'{time:%Y-%m-%d %H:%M:%S} UTC, '
    return (f'{when}robot {escape(run.robot.name)}, {run.duration:.1f} s, '
            f'{numbers["distance_m"]:.2f} m driven'
            + ('' if run.by_clock else ', stamps of simulated time'))


def _tables(section: Section, runs: Sequence[Run]) -> str:
    if section.table is None:
        return ''
    found = [section.table(run) for run in runs]
    if len(runs) == 1 or not any(found):
        return ''.join(found)
    parts = ''.join(f'<div><h3>{"AB"[k]}: {escape(run.name)}</h3>'
                    f'{text or "<p class=about>nothing to list</p>"}</div>'
                    for k, (run, text) in enumerate(zip(runs, found, strict=True)))
    return f'<div class=two>{parts}</div>'


def _section(section: Section, picture: str | None, runs: Sequence[Run]) -> str:
    return (f'<section id={section.anchor}><h2>{escape(section.title)}</h2>'
            f'<p class=about>{escape(section.text)}</p><figure>{picture or ""}</figure>'
            f'{_tables(section, runs)}</section>')


def html_page(runs: Sequence[Run], numbers: Sequence[Mapping[str, Any]],
              summaries: Sequence[Sequence[Answer]], pictures: Mapping[str, str]) -> str:
    """
    Return the HTML of one run, or of two side by side.

    `numbers` (of `run_numbers`) and `summaries` (of `summary.answers`) are those of each of the
    `runs`; `pictures` maps the anchor of a section to its figure as SVG.
    """
    style = Path(__file__).with_name('page.css').read_text(encoding='utf-8')
    title = ' against '.join(run.name for run in runs)
    shown = [s for s in SECTIONS if s.anchor in pictures]
    links = ''.join(f'<a href="#{s.anchor}">{escape(s.title)}</a>' for s in shown)
    top = []
    for k, (run, found, found_answers) in enumerate(zip(
            runs, numbers, summaries, strict=True)):
        if len(runs) > 1:
            top.append(f'<h2 class=run>{"AB"[k]}: {escape(run.name)}</h2>'
                       f'<p class=sub>{_facts(run, found)}</p>')
        top.append(_cards(found_answers))
    body = ''.join(_section(s, pictures[s.anchor], runs) for s in shown)
    differences = (f'<section id=differences><h2>Differences</h2>{difference_table(numbers)}'
                   '</section>' if len(runs) > 1 else '')
    topics = ''.join(f'<section><details><summary>Topics of {escape(run.name)}</summary>'
                     f'{topic_table(run)}</details></section>' for run in runs)
    facts = f'<p class=sub>{_facts(runs[0], numbers[0])}</p>' if len(runs) == 1 else ''
    links = ('<a href="#differences">Differences</a>' if differences else '') + links
    return (
        '<!DOCTYPE html><html lang=en><head><meta charset=utf-8>'
        '<meta name=viewport content="width=device-width,initial-scale=1">'
        f'<title>{escape(title)}: report</title><style>{style}</style></head><body>'
        f'<header><div><h1>{escape(title)}</h1>{facts}</div></header>'
        f'<nav><div>{links}</div></nav><main>{"".join(top)}{differences}{body}{topics}'
        '<footer>All times are seconds since the first joint states, by the stamps of the '
        'messages. Written by <code>c3p report</code>; figures.json has the same numbers.'
        '</footer></main></body></html>\n')
