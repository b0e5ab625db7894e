# SPDX-License-Identifier: Apache-2.0
"""Experiments, their options and outcomes, and the rows of their tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from c3p_experiments.loop.closed_loop import LoopLog
from c3p_experiments.loop.conditions import Bench


class Row(NamedTuple):
    """
    One row of a table: measured metric, printed value, and acceptance bars.

    Attributes
    ----------
    key : str
        Of the metric, in SI units, nested by dots: ``solve_ms.p99``, ``legs.0.time_s``.
    name : str
        Label.
    unit : str
    scale : float
        From SI to the unit.
    digits : int
        Shown after the point.
    printed : str
        Value in the paper; empty without one.
    bar, stretch : float or None
        Upper limit and stretch goal, SI; see `at_least`.
    bars : mapping
        Controller → its own bar.
    at_least : bool
        `bar` and `stretch` are lower limits.
    scientific : bool
        Shown in scientific notation.
    """

    key: str
    name: str
    unit: str = ''
    scale: float = 1.0
    digits: int = 2
    printed: str = ''
    bar: float | None = None
    stretch: float | None = None
    bars: Mapping[str, float] = {}
    at_least: bool = False
    scientific: bool = False

    def value(self, metrics: Mapping[str, Any]) -> float | None:
        """Return the metric, None where it does not exist."""
        found: Any = metrics
        for part in self.key.split('.'):
            if isinstance(found, list):
                found = found[int(part)] if int(part) < len(found) else None
            else:
                found = None if found is None else found.get(part)
        return None if found is None else float(found)

    def bar_for(self, controller: str) -> float | None:
        """Return the bar for a controller."""
        return self.bars.get(controller, self.bar)


class ExperimentRun(NamedTuple):
    """One run of an experiment: label, log, and facts for its page."""

    label: str
    log: LoopLog
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """
    Result of an experiment.

    Attributes
    ----------
    metrics : dict
        For JSON: keys of `drive_metrics` and those of the experiment; ``reached``: goal reached.
    runs : tuple of ExperimentRun
    """

    metrics: dict[str, Any]
    runs: tuple[ExperimentRun, ...] = field(default=())


@dataclass(frozen=True)
class Experiment:
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


class ModelOptions(NamedTuple):
    """
    Options of experiments with models; each experiment uses those that it supports.

    Attributes
    ----------
    robot : str or None
        Name or path of a parameter file; None is that of the paper.
    seed : int
        Of random numbers.
    duration : float or None, s
        Of a run; None is that of the paper.
    film : str
        ``mp4`` or ``gif`` adds a film; empty does not.
    """

    robot: str | None = None
    seed: int = 0
    duration: float | None = None
    film: str = ''
