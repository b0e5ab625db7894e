# SPDX-License-Identifier: Apache-2.0
"""Catalogue of the experiments with models outside the caster-robot control loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from c3p_experiments.auchter_moore import camber_power
from c3p_experiments.auchter_moore import experiments as rough
from c3p_experiments.el_shenawy import feed_forward, postures, structure
from c3p_experiments.kelly import experiments as constrained
from c3p_experiments.loop.outcome import ModelOptions, Row
from c3p_experiments.loop.report import table_rows, write_report
from c3p_experiments.page_curves import by_kind
from c3p_experiments.saha_angeles import experiment as agv

Progress = Callable[[float], None]


@dataclass(frozen=True)
class ModelExperiment:
    """
    An experiment without a caster robot in a control loop.

    Attributes
    ----------
    name, title : str
    source : str
        Figure of the paper, or ``ours``.
    run : callable
        Takes directory, `ModelOptions` and progress (of `runs`); writes ``NAME.png``, ``.pdf`` and
        ``.csv``, returns the metrics with ``reached`` and ``files``. `completed` adds the rest.
    takes : tuple of str
        Supported options.
    runs : int
        Number of runs, for the progress bar.
    rows : tuple of Row
        Of the table, unless the metrics have one.
    """

    name: str
    title: str
    source: str
    run: Callable[[Path, ModelOptions, Progress], dict[str, Any]]
    takes: tuple[str, ...] = ()
    runs: int = 1
    rows: tuple[Row, ...] = ()


MODELS = {e.name: e for e in (
    ModelExperiment(postures.NAME, postures.TITLE, postures.SOURCE, postures.postures, ('robot',),
                    rows=postures.ROWS),
    ModelExperiment(structure.NAME, structure.TITLE, structure.SOURCE, structure.structure,
                    rows=structure.ROWS),
    ModelExperiment(feed_forward.NAME, feed_forward.TITLE, feed_forward.SOURCE,
                    feed_forward.feed_forward, ('robot',), rows=feed_forward.ROWS),
    ModelExperiment('hill', rough.HILL.title, rough.HILL.source, rough.hill,
                    ('robot', 'duration', 'film'), runs=len(rough.HILL.cases) + 1),
    ModelExperiment('random_terrain', rough.RANDOM.title, rough.RANDOM.source,
                    rough.random_terrain, ('robot', 'seed', 'duration', 'film'),
                    runs=len(rough.RANDOM.cases) + 1),
    ModelExperiment(camber_power.NAME, camber_power.TITLE, camber_power.SOURCE,
                    camber_power.camber_power, ('robot', 'seed', 'duration'),
                    runs=len(camber_power.plan(range(camber_power.SEEDS))),
                    rows=camber_power.ROWS),
    ModelExperiment('agv', agv.AGV.title, agv.AGV.source, agv.agv, ('robot',)),
    *(ModelExperiment(s.name, s.title, s.source, s.run, rows=s.rows)
      for s in constrained.STUDIES),
)}


def check_options(experiment: ModelExperiment, given: Mapping[str, Any]) -> None:
    """
    Reject `given` options (option → value) that an experiment does not support.

    Raises
    ------
    ValueError
        Names the unsupported and the supported options.
    """
    idle = [f'--{name.replace("_", "-")}' for name in given if name not in experiment.takes]
    if idle:
        supported = ', '.join(f'--{name}' for name in experiment.takes) or 'none'
        raise ValueError(f'experiment {experiment.name} does not support {", ".join(idle)}; '
                         f'supported: {supported}')


def run_model(name: str, options: ModelOptions, out: str | Path,
              progress: Progress = lambda done: None) -> dict[str, Any]:
    """
    Run the experiment `name` of `MODELS` with `options`; write its page and table into `out`.

    `progress` takes the number of runs done. Returns the metrics for JSON with ``conditions``,
    ``table`` and ``files``.
    """
    place = Path(out)
    place.mkdir(parents=True, exist_ok=True)
    model = MODELS[name]
    return completed(model, model.run(place, options, progress), place)


def completed(model: ModelExperiment, metrics: Mapping[str, Any], place: Path) -> dict[str, Any]:
    """
    Return the metrics of an experiment with names, conditions, table and files, for JSON.

    ``files`` may be a list: picture, PDF and curves. A missing table is written into the directory
    `place`.
    """
    out = {'experiment': model.name, 'title': model.title, 'source': model.source,
           'conditions': {}, **metrics}
    if 'table' not in out:
        out['table'] = table_rows(model.rows, out)
    if not isinstance(out['files'], dict):
        out['files'] = by_kind(out['files'])
    if 'table' not in out['files']:
        out['files']['table'] = str(write_report(model, out, place / model.name))
    return out
