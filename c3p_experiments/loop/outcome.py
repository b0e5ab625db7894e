# SPDX-License-Identifier: Apache-2.0
"""Experiments, their outcomes, and the rows of their tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from c3p_experiments.loop.closed_loop import LoopLog
from c3p_experiments.loop.conditions import Conditions

# takes the number of runs done, with the fraction of the present one
RunsDone = Callable[[float], None]


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


class Experiment(ABC):
    """
    Common part of the kinds of experiments (`c3p_experiments.kinds`).

    Attributes
    ----------
    name, title : str
    source : str
        Figure of the paper, or ``ours``.
    rows : tuple of Row
        Of the table.
    runs : int
        Number of runs, for the progress bar.
    takes : tuple of str
        Supported options.
    compared : bool
        Part of the tables that compare controllers.
    """

    name: str
    title: str
    source: str
    rows: tuple[Row, ...]
    runs: int
    takes: tuple[str, ...]
    compared: bool = False

    @abstractmethod
    def carry_out(self, conditions: Conditions, out: Path, progress: RunsDone) -> dict[str, Any]:
        """Run it, write its files into the directory `out`; return the metrics for JSON."""

    def place(self, conditions: Conditions) -> str:
        """Return the folder of the results, below that of all experiments; '' for that itself."""
        return ''

    def check(self, conditions: Conditions) -> None:  # noqa: B027 (most support all conditions)
        """Raise ValueError for conditions that are not supported."""

    def check_options(self, given: Iterable[str]) -> None:
        """Raise ValueError, with the supported options, if `given` has others."""
        idle = [f'--{name.replace("_", "-")}' for name in given if name not in self.takes]
        if idle:
            supported = ', '.join(f'--{name.replace("_", "-")}' for name in self.takes) or 'none'
            raise ValueError(f'experiment {self.name} does not support {", ".join(idle)}; '
                             f'supported: {supported}')
