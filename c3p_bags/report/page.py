# SPDX-License-Identifier: Apache-2.0
"""The HTML page of a report: sections with plots and tables, in one self-contained file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from c3p_bags.report import loop_panels as loop
from c3p_bags.report import motion_panels as motion
from c3p_bags.report import slip_panels as slip
from c3p_bags.report import tables, web
from c3p_bags.report.compare import difference_sentences, difference_table
from c3p_bags.report.markup import Markup, html, joined
from c3p_bags.report.path import corners
from c3p_bags.report.run import AnalysedRun
from c3p_bags.report.sheet import Panel, figure
from c3p_bags.report.slip_answer import Answer
from c3p_bags.report.tables import topic_table

# height of the path panel, inches: lowest, highest
PATH_HEIGHT = (2.6, 6.0)

# the section whose picture is drawn by the page, with the robot at the cursor
MAP = 'way'

# slips shown in detail
LOOKS = 3

# of a page with interactive plots: its own scripts run, and nothing is loaded
POLICY = Markup('<meta http-equiv="Content-Security-Policy" content="'
                "default-src 'none'; style-src 'unsafe-inline'; "
                "script-src 'unsafe-inline'; img-src data:\">")


class Section(NamedTuple):
    """
    A section of the page; `text` explains content and method.

    `picture` returns the Figure of the runs, None without data; `table` the HTML of a run's table.
    """

    anchor: str
    title: str
    text: str
    picture: Callable[[Sequence[AnalysedRun]], Figure | None]
    table: Callable[[AnalysedRun], Markup] | None = None


def _path(runs: Sequence[AnalysedRun]) -> Figure:
    """Draw the paths, in a panel as high as they are within limits."""
    places = np.vstack([corners(r.odom) for r in runs]
                       + [np.array([g['goal_pose'][:2]]) for r in runs for g in r.goals])
    margin = 2.4 * max(np.abs(r.robot.hip_position).max() for r in runs)
    size = np.ptp(places, axis=0) + margin
    width = 9.2 if len(runs) == 1 else 6.4
    height = float(np.clip(width * size[1] / size[0], *PATH_HEIGHT))
    page = figure([Panel(motion.draw_path, height, timed=False, shared=False)], runs)
    if len(runs) > 1:
        # the same floor in both, as wide and as high as the panels: metres are equal in both axes
        middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
        for axes in page.axes:
            box = np.asarray(axes.get_position().size) * page.get_size_inches()
            half = 0.55 * float((size / box).max()) * box
            axes.set_aspect('auto')
            axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
            axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    return page


def _rows(*panels: Panel) -> Callable[[Sequence[AnalysedRun]], Figure]:
    """Return a function that draws these panels, one below the other."""
    return lambda runs: figure(panels, runs)


def _looks(runs: Sequence[AnalysedRun]) -> Figure | None:
    events = sorted(runs[0].events, key=lambda e: -e.distance)[:LOOKS]
    if not events or len(runs) > 1:
        return None
    return slip.close_looks(runs[0], sorted(events))


def _loop(runs: Sequence[AnalysedRun]) -> Figure:
    known = any(len(r.timing.latency) for r in runs)
    return figure([*([Panel(loop.draw_latency, 1.4)] if known else []),
                   Panel(loop.draw_cycles, 1.2)], runs)


def _latency(runs: Sequence[AnalysedRun]) -> Figure | None:
    if not any(len(r.timing.latency) for r in runs):
        return None
    return figure([Panel(loop.draw_latency_histogram, 1.8, timed=False)], runs)


def _nodes(runs: Sequence[AnalysedRun]) -> Figure:
    return figure([Panel(loop.draw_states, max(loop.states_height(r) for r in runs),
                         shared=False)], runs,
                  margin=1.45)


def _wheels(runs: Sequence[AnalysedRun]) -> Figure:
    steering = [Panel(partial(motion.draw_torque, steering=True), 1.8)]
    measure = [] if all(r.robot.other_wheels for r in runs) else [Panel(motion.draw_measure, 1.4)]
    return figure([Panel(motion.draw_steering, 2.0), *measure,
                   Panel(motion.draw_torque, 1.8),
                   *(steering if any(r.robot.steered.any() for r in runs) else [])], runs)


SECTIONS = (
    Section('slip', 'Slip', 'The casters measure the motion of a rigid platform redundantly; a '
            'wheel that contradicts the others slips. Recomputed from the joint states at their '
            'full rate. Bars: from the rise of the evidence χ² until the slip has decayed to a '
            'tenth, with the confidence that it was this wheel; pale below 90 %. Small marks '
            'below a bar: the robot reported the slip, for up to half a second longer.',
            _rows(Panel(slip.draw_timeline, 1.5, shared=False), Panel(slip.draw_speed, 1.7),
                  Panel(slip.draw_evidence, 1.5)), tables.slip_table),
    Section('looks', 'The largest slips', 'In the order of time. Along is the rolling '
            'direction. A wheel above the dashed line spins faster than the platform moves; below '
            'the line it is dragged.', _looks),
    Section('way', 'Path', 'In the frame of the odometry. Ground truth is the broad line below '
            'the odometry; broad segments in the colour of a wheel are its slips.',
            _path, tables.goal_table),
    Section('errors', 'Odometry and goal', 'Distance of the odometry from ground truth and from '
            'the current goal.', _rows(Panel(motion.draw_errors, 2.2))),
    Section('motion', 'Velocities', 'In the frame of the robot. Lines keep the largest and the '
            'smallest sample of each interval, so that every peak is visible.',
            _rows(*(Panel(partial(motion.draw_velocity, which=k), 1.5) for k in range(3)))),
    Section('wheels', 'Steering and torques', 'σ_min is the smallest singular value of the scaled '
            'wheel Jacobian: at 0 the rolling lines of all driven wheels are parallel or meet in '
            'one point, and the robot cannot be accelerated in one direction.',
            _wheels),
    Section('loop', 'Timing', 'One cycle is one joint_states message; its wheel command carries '
            'the same stamp. The latency is the time between their arrivals at the recorder. It '
            'is unknown in simulated time, which does not advance within a cycle.', _loop,
            tables.timing_table),
    Section('latency', 'Latency', 'Number of commands by latency; logarithmic axes show the few '
            'late ones.', _latency),
    Section('nodes', 'Diagnostics', 'Level of each node over time; the table lists all states '
            'other than OK.',
            _nodes, tables.complaint_table),
)


def cards(found: Sequence[Answer]) -> Markup:
    """Return the answers at the top of a page as HTML."""
    shown = joined(html(
        '<a class="answer $verdict" href="#$anchor"><small>$question</small>'
        '<strong>$answer</strong><span>$detail</span></a>', verdict=a.verdict, anchor=a.anchor,
        question=a.question, answer=a.answer, detail=a.detail) for a in found)
    return html('<div class="answers">$shown</div>', shown=shown)


def link_to(anchor: str, title: str) -> Markup:
    """Return a link to a section of the page."""
    return html('<a href="#$anchor">$title</a>', anchor=anchor, title=title)


def _facts(run: AnalysedRun, numbers: Mapping[str, Any]) -> Markup:
    when = ''
    if run.by_clock:
        time = datetime.fromtimestamp(run.log.start_ns * 1e-9, timezone.utc)
        when = f'{time:%Y-%m-%d %H:%M:%S} UTC, '
    return html('<p class="sub">$facts</p>', facts=(
        f'{when}robot {run.robot.name}, {run.duration:.1f} s, {numbers["distance_m"]:.2f} m driven'
        + ('' if run.by_clock else ', stamps of simulated time')))


def _tables(section: Section, runs: Sequence[AnalysedRun]) -> Markup:
    if section.table is None:
        return Markup()
    found = [section.table(run) for run in runs]
    if len(runs) == 1 or not any(found):
        return joined(found)
    nothing = html('<p class="about">nothing to list</p>')
    parts = joined(html('<div><h3>$letter: $name</h3>$table</div>', letter='AB'[k], name=run.name,
                        table=text or nothing)
                   for k, (run, text) in enumerate(zip(runs, found, strict=True)))
    return html('<div class="two">$parts</div>', parts=parts)


def _section(section: Section, picture: Markup | None, runs: Sequence[AnalysedRun],
             live: bool) -> Markup:
    # the picture remains for paper, and for browsers without scripts
    plots = Markup() if not live else html('<div class="live map"></div>') if (
        section.anchor == MAP) else html('<div class="live" data-of="$anchor"></div>',
                                         anchor=section.anchor)
    return html('<section id="$anchor"><h2>$title</h2><p class="about">$text</p>$plots'
                '<figure class="$still">$picture</figure>$tables</section>',
                anchor=section.anchor, title=section.title, text=section.text, plots=plots,
                still='still' if live else '', picture=picture or '',
                tables=_tables(section, runs))


def html_page(runs: Sequence[AnalysedRun], numbers: Sequence[Mapping[str, Any]],
              summaries: Sequence[Sequence[Answer]], pictures: Mapping[str, Markup],
              live: Mapping[str, Any] | None = None) -> Markup:
    """
    Return the HTML of one run, or of two side by side.

    `numbers` (of `run_numbers`) and `summaries` (of `summary.answers`) are those of each of the
    `runs`; `pictures` maps the anchor of a section to its figure as SVG, and `live` has the data
    of the interactive plots: ``sections`` by anchor, ``times`` and ``runs``.
    """
    title = ' against '.join(run.name for run in runs)
    shown = [s for s in SECTIONS if s.anchor in pictures]
    links = joined(link_to(s.anchor, s.title) for s in shown)
    top: list[Markup] = []
    for k, (run, found, found_answers) in enumerate(zip(
            runs, numbers, summaries, strict=True)):
        if len(runs) > 1:
            top += [html('<h2 class="run">$letter: $name</h2>', letter='AB'[k], name=run.name),
                    _facts(run, found)]
        top.append(cards(found_answers))
    plotted = (live or {}).get('sections', {})
    body = joined(_section(s, pictures[s.anchor], runs, s.anchor in plotted or (
        bool(plotted) and s.anchor == MAP)) for s in shown)
    differences = Markup()
    if len(runs) > 1:
        words = joined(html('<li>$text</li>', text=text)
                       for text in difference_sentences(numbers))
        differences = html('<section id="differences"><h2>Differences</h2><ul>$words</ul>$table'
                           '</section>', words=words, table=difference_table(numbers))
        links = joined([link_to('differences', 'Differences'), links])
    topics = joined(html('<section><details><summary>Topics of $name</summary>$table</details>'
                         '</section>', name=run.name, table=topic_table(run)) for run in runs)
    facts = _facts(runs[0], numbers[0]) if len(runs) == 1 else Markup()
    return document(
        f'{title}: report', title, facts, links, joined([*top, differences, body, topics]),
        html('All times are seconds since the first joint states, by the stamps of the messages. '
             'Written by <code>c3p report</code>; figures.json has the same numbers.'), live)


def document(name: str, title: str, facts: Markup, links: Markup, body: Markup, footer: Markup,
             live: Mapping[str, Any] | None = None) -> Markup:
    """
    Return a self-contained HTML page in the style of the reports.

    `name` is that of the window; `title` is text; `facts` below it, `links` of its sections,
    `body` and `footer` are HTML; `live` the data of interactive plots, if any.
    """
    style = Path(__file__).with_name('page.css').read_text(encoding='utf-8')
    scripts = Markup()
    policy = Markup()
    if live and live['sections']:
        style += web.read_text(web.STYLE) + web.read_text('plots.css')
        scripts = web.library(f'const REPORT={web.as_json(live)};', web.read_text('report.js'))
        policy = POLICY
    return html(
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '$policy<title>$name</title><style>$style</style></head><body>'
        '<header><div><h1>$title</h1>$facts</div></header>'
        '<nav><div>$links</div></nav><main>$body'
        '<footer>$footer</footer></main>$scripts</body></html>\n',
        policy=policy, name=name, style=Markup(style), title=title, facts=facts, links=links,
        body=body, footer=footer, scripts=scripts)
