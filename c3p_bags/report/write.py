# SPDX-License-Identifier: Apache-2.0
"""Report of one bag or two, written as files: page, plots and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from c3p_bags.report.compare import differences
from c3p_bags.report.curves import write_curves
from c3p_bags.report.drive_page import drive_figure
from c3p_bags.report.live import motion, panels
from c3p_bags.report.markup import Markup
from c3p_bags.report.numbers import run_numbers
from c3p_bags.report.page import SECTIONS, html_page
from c3p_bags.report.run import AnalysedRun, read
from c3p_bags.report.sheet import png, svg
from c3p_bags.report.summary import answers
from c3p_bags.runs.json_text import json_text
from c3p_bags.runs.run_log import RunLog
from c3p_bags.storage.bag import Bag
from c3p_description.model import CasterRobot


def report(bags: Sequence[Path], out: Path, *, robot: str | None = None,
           namespace: str | None = None, zone: tuple[float | None, float | None] = (None, None),
           csv: bool = False, progress: Callable[[str], None] = lambda what: None,
           reading: Callable[[float], object] = lambda part: None) -> dict[str, Any]:
    """
    Write the report of a bag, or of two side by side.

    Parameters
    ----------
    bags : sequence of Path
        One or two.
    out : Path
        Directory for ``report.html``, ``figures.json`` and a PNG of each section; with one bag
        that has a goal also ``drive.png`` and ``drive.pdf``.
    robot : str, optional
        Name or path; default that of each bag.
    namespace : str, optional
        Of the robot; default the only one in the bag.
    zone : tuple of float, m and rad, or None
        Distance and yaw error at which the goal counts as reached; None: as of `run.goal_zone`.
    csv : bool
        Also write ``curves.csv``, of two bags ``curves_a.csv`` and ``curves_b.csv``.
    progress : callable
        Receives the name of each step at its begin.
    reading : callable
        Receives the fraction of a bag that is read and evaluated, 0 to 1.

    Returns
    -------
    dict
        Of one bag: `run_numbers`; of two: ``a``, ``b`` and ``differences``. With ``files``, and
        ``answers``: a list of Answer for each bag.

    Raises
    ------
    BagError
        A bag cannot be read, has an unknown robot, or has no joint states of this robot.
    ValueError
        More than two bags.
    """
    if not 1 <= len(bags) <= 2:
        raise ValueError(f'{len(bags)} bags: a report is of one bag, or of two side by side')
    runs = []
    for path in bags:
        progress(f'reading {path}')
        with Bag(path) as bag:
            runs.append(read(bag, robot, namespace, *zone, reading))
        runs[-1].give_back()
    numbers = [run_numbers(run) for run in runs]
    for run in runs:
        run.give_back()
    out.mkdir(parents=True, exist_ok=True)
    files = {'report': str(out / 'report.html'), 'figures': str(out / 'figures.json')}
    pictures, live = _pictures(runs, out, files, progress)
    if len(runs) == 1 and numbers[0]['goal_pose'] is not None:
        progress('drawing drive')
        files |= write_drive(runs[0].log, runs[0].robot, numbers[0], out)
    for run, end in zip(runs if csv else (), ('',) if len(runs) == 1 else ('_a', '_b'),
                        strict=False):
        files[f'curves{end}'] = str(write_curves(run, out / f'curves{end}.csv'))
    progress('writing the page')
    summaries = [answers(run, found) for run, found in zip(runs, numbers, strict=True)]
    page = html_page(runs, numbers, summaries, pictures, live)
    (out / 'report.html').write_text(page, encoding='utf-8')
    found = ({**numbers[0]} if len(runs) == 1 else
             {'a': numbers[0], 'b': numbers[1], 'differences': differences(*numbers)})
    (out / 'figures.json').write_text(json_text(found), encoding='utf-8')
    return {**found, 'files': files, 'answers': summaries}


def write_drive(log: RunLog, robot: CasterRobot, metrics: Mapping[str, Any], out: Path,
                **how: Callable[[Figure, Path], list[Path]]) -> dict[str, str]:
    """
    Write ``drive.png`` and ``drive.pdf``, the page of a drive to a goal; return their paths.

    `metrics` are those of `drive_metrics` for `log` and `robot`; `out` is created if missing.
    `how` is passed to `drive_figure`.
    """
    picture, document = drive_figure(log, robot, metrics, out / 'drive.png', **how)
    return {'picture': str(picture), 'picture_pdf': str(document)}


def _pictures(runs: Sequence[AnalysedRun], out: Path, files: dict[str, str],
              progress: Callable[[str], None]) -> tuple[dict[str, Markup], dict[str, Any]]:
    """
    Draw every section; return them as SVG by anchor, and the data of their interactive plots.

    Their PNGs are added to `files`.
    """
    found = {}
    plotted = {}
    store: dict[str, int] = {}
    texts: list[str] = []
    for section in SECTIONS:
        progress(f'drawing {section.title.lower()}')
        page = section.picture(runs)
        if page is None:
            continue
        if shown := panels(page, store, texts):
            plotted[section.anchor] = shown
        found[section.anchor] = svg(page, section.anchor, f'{section.title}: diagrams')
        files[section.anchor] = str(png(page, out / f'{section.anchor}.png'))
        # each section uses other columns
        for run in runs:
            run.give_back()
    return found, {'sections': plotted, 'times': texts, 'runs': [motion(run) for run in runs]}
