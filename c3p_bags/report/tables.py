# SPDX-License-Identifier: Apache-2.0
"""HTML tables of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from c3p_bags.report.health import LEVELS, complaints, while_starting
from c3p_bags.report.markup import Markup, html, joined
from c3p_bags.report.motion_panels import wheel_colour, wheel_name
from c3p_bags.report.numbers import first_motion
from c3p_bags.report.run import AnalysedRun
from c3p_bags.report.slip_panels import confidence

# most rows of a table; the others are counted
MOST = 40


# a cell of a table of texts, and of numbers
CELLS = {'td': ('<td>$cell</td>', '<td class="n">$cell</td>'),
         'th': ('<th>$cell</th>', '<th class="n">$cell</th>')}


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Markup:
    """
    Return a table with a `head` and `rows` of texts, or of Markup.

    The first `left` columns are text; the others are numbers.
    """
    def cells(row: Sequence[str], kind: str) -> Markup:
        return joined(html(CELLS[kind][i >= left], cell=cell) for i, cell in enumerate(row))

    body = joined(html('<tr>$cells</tr>', cells=cells(row, 'td')) for row in rows[:MOST])
    return html('<div class="scroll"><table><thead><tr>$head</tr></thead><tbody>$body</tbody>'
                '</table></div>$more', head=cells(head, 'th'), body=body, more=_more(rows))


def _more(rows: Sequence[Sequence[str]]) -> str:
    """Return how many rows a table leaves out, '' if none."""
    return (html('<p class="more">$count more: see figures.json</p>', count=len(rows) - MOST)
            if len(rows) > MOST else '')


def number(value: Any, form: str = '.3g', scale: float = 1.0) -> str:
    """Return a number, or a dash for None."""
    return '–' if value is None else format(scale * value, form)


def percent(fraction: float) -> str:
    """
    Return a fraction in whole percent, with the space of the SI.

    Examples
    --------
    >>> percent(0.7)
    '70 %'
    """
    return f'{100.0 * fraction:.0f} %'


def sentences(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """
    Return a table of texts whose last column is sentences.

    On a phone each row is a paragraph: the other cells with their heads, then the sentence, whole.
    """
    body = joined(html('<tr>$cells<td class="words">$words</td></tr>', words=row[-1], cells=joined(
        html('<td data-head="$head">$cell</td>', head=name, cell=cell)
        for name, cell in zip(head, row[:-1], strict=False))) for row in rows[:MOST])
    return html('<div class="scroll"><table class="told"><thead><tr>$head</tr></thead>'
                '<tbody>$body</tbody></table></div>$more', head=joined(
                    html('<th>$cell</th>', cell=cell) for cell in head), body=body,
                more=_more(rows))


def chip(wheel: int, count: int) -> Markup:
    """Return the name of a wheel of `count`, with its colour."""
    return html('<i class="chip" style="background:$colour"></i>$name',
                colour=wheel_colour(wheel), name=wheel_name(wheel, count))


def slip_table(run: AnalysedRun) -> Markup:
    """Return the slips, the farthest first."""
    if not run.events:
        return Markup()
    reported = {True: 'yes', False: 'no', None: '–'}
    rows = [(chip(e.wheel, run.robot.count), e.kind or '–', f'{e.begin:.2f}',
             f'{e.end - e.begin:.2f}', f'{e.along:+.3f}', f'{e.across:+.3f}',
             f'{1000 * e.distance:.1f}',
             confidence(e.confidence), reported[e.reported])
            for e in sorted(run.events, key=lambda e: -e.distance)]
    return table(('wheel', 'kind', 'from [s]', 'lasted [s]', 'along [m/s]', 'across [m/s]',
                  'slipped [mm]', 'confidence', 'reported by the robot'), rows)


def goal_table(run: AnalysedRun) -> Markup:
    """Return the goals and their metrics."""
    if not run.goals:
        return Markup()
    rows = []
    for k, goal in enumerate(run.goals):
        x, y, yaw = goal['goal_pose']
        rows.append((
            f'{k + 1}', f'{x:.3g} m, {y:.3g} m, {np.degrees(yaw):.3g}° in {goal["frame"]}',
            f'{goal["begin_s"]:.2f}', 'reached' if goal['reached'] else html('<b>missed</b>'),
            number(goal['time_s'], '.2f'), number(goal['align_time_s'], '.2f'),
            number(goal['path_error_max_m'], '.1f', 1000),
            number(goal['final_error_m'], '.1f', 1000),
            number(goal['ground_truth_final_error_m'], '.1f', 1000)))
    return table(('goal', 'pose', 'sent [s]', 'result', 'took [s]', 'aligned after [s]',
                  'off the line [mm]', 'final error [mm]', 'in truth [mm]'), rows, left=2)


def timing_table(run: AnalysedRun) -> Markup:
    """Return the timing of the control loop, as recorded and as reported."""
    t = run.timing
    rows = [('samples', f'{len(run.log.joints.time)} recorded, {t.unrecorded.lost} not recorded, '
             f'{t.lost} missing'),
            ('rate', number(1.0 / t.period if t.period else None, '.5g') + ' Hz'),
            ('longest gap', f'{1000 * t.longest_gap:.3f} ms at {t.longest_gap_time:.2f} s')]
    if run.slip.times is not None:
        rows.append(('sample times', run.slip.times.text(run.robot.steering_joints,
                                                         run.robot.wheel_joints)))
    if t.cycles:
        rows.append(('cycles answered', f'{t.answered} of {t.cycles}'))
    if len(t.latency):
        values = [f'{1000 * float(np.quantile(t.latency, q)):.3f}' for q in (0.5, 0.99, 0.999, 1)]
        rows += [('latency p50 / p99 / p99.9 / max', ' / '.join(values) + ' ms'),
                 ('later than one period', f'{t.late}')]
    reported = t.reported['latency_ms']
    if reported['p50'] is not None:
        rows.append(('latency measured by the robot, p50 / p99 / max', ' / '.join(
            number(reported[k]) for k in ('p50', 'p99', 'max')) + ' ms'))
    if t.reported['overruns'] is not None:
        rows.append(('overruns', f'{t.reported["overruns"]}'))
    return table(('', ''), rows)


def complaint_table(run: AnalysedRun) -> Markup:
    """Return the states other than OK."""
    start = while_starting(run.states, first_motion(run))
    found = complaints(run.states)
    # older recordings have no codes
    coded = any(s.codes for s in found)
    rows = [(f'{s.begin:.2f}', f'{s.end - s.begin:.2f}', level_name(LEVELS[s.level]),
             s.name.removesuffix(': state'), *[s.codes] * coded,
             s.message + (' (start of the node)' if s in start else '')) for s in found]
    return sentences(('from [s]', 'lasted [s]', 'level', 'node', *['codes'] * coded, 'message'),
                     rows) if rows else Markup()


def level_name(text: str, kind: str = '') -> Markup:
    """Return a level of diagnostics in the colour of `kind`, by default its own."""
    return html('<span class="level $kind">$text</span>', kind=kind or text.lower(), text=text)


def topic_table(run: AnalysedRun) -> Markup:
    """Return the topics of the bag with their rates."""
    rows = [(topic, f'{count}', number(count / run.duration if run.duration else None))
            for topic, count in sorted(run.log.messages.items())]
    return table(('topic', 'messages', 'per second'), rows)
