# SPDX-License-Identifier: Apache-2.0
"""The two kinds of experiments: a robot in the control loop, and another model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from c3p_bags.runs.curves import write_curves
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.loop.outcome import Experiment, Outcome, Row, RunsDone
from c3p_experiments.loop.report import table_rows, write_report
from c3p_experiments.page_curves import by_kind

# options of experiments in the control loop
LOOP_OPTIONS = ('plant', 'controller', 'robot', 'friction', 'latency', 'known_latency', 'counts',
                'seed')


@dataclass(frozen=True)
class LoopExperiment(Experiment):
    """
    An experiment with a robot in the control loop.

    Attributes
    ----------
    name, title : str
    source : str
        Figure of the paper, or ``ours``.
    run : callable
        Takes a `Bench`, returns the outcome.
    page : callable
        Writes the page of plots, returns the files.
    rows : tuple of Row
    runs : int
        Number of runs, for the progress bar.
    robot : str
        Default robot.
    plants : tuple of str
        Supported plants.
    compared : bool
        Part of ``all`` and of the tables that compare controllers.
    takes : tuple of str
        Supported options.
    """

    name: str
    title: str
    source: str
    run: Callable[[Bench], Outcome]
    page: Callable[[Outcome, Bench, Experiment, Path], list[Path]]
    rows: tuple[Row, ...]
    runs: int = 1
    robot: str = 'c3p'
    plants: tuple[str, ...] = ('analytic', 'mujoco')
    compared: bool = True
    takes: tuple[str, ...] = LOOP_OPTIONS

    def place(self, conditions: Conditions) -> str:
        """Return the folder of the results, below that of all experiments."""
        return f'{conditions.plant}_{conditions.controller}'

    def check(self, conditions: Conditions) -> None:
        """Raise ValueError for a plant that is not supported."""
        if conditions.plant not in self.plants:
            raise ValueError(f'experiment {self.name}: plant = {conditions.plant}: must be '
                             f'{" or ".join(self.plants)}')

    def carry_out(self, conditions: Conditions, out: Path, progress: RunsDone) -> dict[str, Any]:
        """Run it; write page, table and curves."""
        bench = Bench(conditions, self.robot, progress)
        outcome = self.run(bench)
        base = out / self.name
        files = self.page(outcome, bench, self, base)
        metrics = {'experiment': self.name, 'title': self.title, 'source': self.source,
                   'conditions': bench.describe(), **outcome.metrics,
                   'table': table_rows(self.rows, outcome.metrics, conditions.controller)}
        report = write_report(self, metrics, base)
        curves = write_curves(((run.label, run.log) for run in outcome.runs),
                              base.with_suffix('.csv'))
        metrics['files'] = {'picture': str(files[0]), 'picture_pdf': str(files[1]),
                            'table': str(report), 'curves': str(curves)}
        return metrics


@dataclass(frozen=True)
class ModelExperiment(Experiment):
    """
    An experiment without a caster robot in a control loop.

    Attributes
    ----------
    name, title : str
    source : str
        Figure of the paper, or ``ours``.
    run : callable
        Takes directory, `Conditions` and progress (of `runs`); writes ``NAME.png``, ``.pdf`` and
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
    run: Callable[[Path, Conditions, RunsDone], dict[str, Any]]
    takes: tuple[str, ...] = ()
    runs: int = 1
    rows: tuple[Row, ...] = ()

    def carry_out(self, conditions: Conditions, out: Path, progress: RunsDone) -> dict[str, Any]:
        """Run it; write page and table."""
        out.mkdir(parents=True, exist_ok=True)
        return self.completed(self.run(out, conditions, progress), out)

    def completed(self, metrics: Mapping[str, Any], place: Path) -> dict[str, Any]:
        """
        Return metrics with names, conditions, table and files, for JSON.

        ``files`` may be a list: picture, PDF and curves. A missing table is written into the
        directory `place`.
        """
        out = {'experiment': self.name, 'title': self.title, 'source': self.source,
               'conditions': {}, **metrics}
        if 'table' not in out:
            out['table'] = table_rows(self.rows, out)
        if not isinstance(out['files'], dict):
            out['files'] = by_kind(out['files'])
        if 'table' not in out['files']:
            out['files']['table'] = str(write_report(self, out, place / self.name))
        return out
