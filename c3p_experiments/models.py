# SPDX-License-Identifier: Apache-2.0
"""Experiments with other models than a robot on casters in a control loop, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from c3p_experiments.auchter_moore import experiments as rough
from c3p_experiments.kelly import experiments as constrained
from c3p_experiments.loop.model_options import ModelOptions
from c3p_experiments.loop.outcome import Row
from c3p_experiments.loop.report import table_rows, write_report
from c3p_experiments.saha_angeles import experiment as agv

Progress = Callable[[float], None]


@dataclass(frozen=True)
class ModelExperiment:
    """
    An experiment that is no drive of a robot on casters.

    Attributes
    ----------
    name, title : str
    source : str
        Where it is printed, or ``ours``.
    run : callable
        Takes directory, `ModelOptions` and progress (a part of `runs`); writes ``NAME.png`` and
        ``.pdf`` and returns the figures with ``reached`` and ``files``. What else
        `catalogue.run_experiment` has is added where it is missing.
    takes : tuple of str
        The options that mean something to it.
    runs : int
        How many runs it takes, for the progress bar.
    rows : tuple of Row
        Of the table, unless the figures have one.
    """

    name: str
    title: str
    source: str
    run: Callable[[Path, ModelOptions, Progress], dict[str, Any]]
    takes: tuple[str, ...] = ()
    runs: int = 1
    rows: tuple[Row, ...] = ()


MODELS = {e.name: e for e in (
    ModelExperiment('hill', rough.HILL.title, rough.HILL.source, rough.hill,
                    ('robot', 'duration', 'film'), runs=len(rough.HILL.cases) + 1),
    ModelExperiment('random_terrain', rough.RANDOM.title, rough.RANDOM.source,
                    rough.random_terrain, ('robot', 'seed', 'duration', 'film'),
                    runs=len(rough.RANDOM.cases) + 1),
    ModelExperiment('agv', agv.AGV.title, agv.AGV.source, agv.agv, ('robot',)),
    *(ModelExperiment(s.name, s.title, s.source, s.run, rows=s.rows)
      for s in constrained.STUDIES),
)}


def check_options(experiment: ModelExperiment, given: Mapping[str, Any]) -> None:
    """
    Refuse options that mean nothing to an experiment.

    Parameters
    ----------
    experiment : ModelExperiment
    given : mapping
        Option → value, of those that were given.

    Raises
    ------
    ValueError
        Names the options, and those that there are.
    """
    idle = [f'--{name}' for name in given if name not in experiment.takes]
    if idle:
        there = ', '.join(f'--{name}' for name in experiment.takes) or 'none'
        raise ValueError(f'experiment {experiment.name}: {", ".join(idle)} '
                         f'{"means" if len(idle) == 1 else "mean"} nothing to it, which is no '
                         f'drive in a control loop; leave out what is none of its options: '
                         f'{there}')


def run_model(name: str, options: ModelOptions, out: str | Path,
              progress: Progress = lambda done: None) -> dict[str, Any]:
    """
    Do an experiment with a model; write its page and its table.

    Parameters
    ----------
    name : str
        One of `MODELS`.
    options : ModelOptions
    out : str or Path
        Directory for ``NAME.png``, ``.pdf`` and ``.md``.
    progress : callable
        Takes the number of runs done, with a part of the present one.

    Returns
    -------
    dict
        The figures, ready for JSON, with ``conditions``, ``table`` and ``files``.
    """
    place = Path(out)
    place.mkdir(parents=True, exist_ok=True)
    model = MODELS[name]
    return completed(model, model.run(place, options, progress), place)


def completed(model: ModelExperiment, figures: Mapping[str, Any], place: Path) -> dict[str, Any]:
    """
    Return the figures of an experiment with names, conditions, table and files, ready for JSON.

    Parameters
    ----------
    model : ModelExperiment
    figures : mapping
        Files may be a list: picture and PDF.
    place : Path
        Directory where a table goes that is not written yet.
    """
    out = {'experiment': model.name, 'title': model.title, 'source': model.source,
           'conditions': {}, **figures}
    if 'table' not in out:
        out['table'] = table_rows(model.rows, out)
    if not isinstance(out['files'], dict):
        out['files'] = dict(zip(('picture', 'picture_pdf'), map(str, out['files']), strict=False))
    if 'table' not in out['files']:
        out['files']['table'] = str(write_report(model, out, place / model.name))
    return out
