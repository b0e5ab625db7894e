# SPDX-License-Identifier: Apache-2.0
"""What an experiment is, what it gives, and the rows of its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from c3p_experiments.loop.closed_loop import LoopLog
from c3p_experiments.loop.conditions import Bench


class Row(NamedTuple):
    """
    One row of a table: a figure, what is printed, and what is wanted.

    Attributes
    ----------
    key : str
        Of the figure, in SI units; a dot goes into a part: ``solve_ms.p99``, ``legs.0.time_s``.
    name : str
        For the reader.
    unit : str
    scale : float
        From SI to the unit.
    digits : int
        Shown after the point.
    printed : str
        In the paper; empty for none.
    bar, stretch : float or None
        At most this much, SI; see `at_least`.
    bars : mapping
        Controller → a bar of its own.
    at_least : bool
        `bar` and `stretch` are to be exceeded.
    scientific : bool
        Shown as a power of ten.
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

    def value(self, figures: Mapping[str, Any]) -> float | None:
        """Return the figure, None where it does not exist."""
        found: Any = figures
        for part in self.key.split('.'):
            if isinstance(found, list):
                found = found[int(part)] if int(part) < len(found) else None
            else:
                found = None if found is None else found.get(part)
        return None if found is None else float(found)

    def bar_for(self, controller: str) -> float | None:
        """Return the bar for a controller."""
        return self.bars.get(controller, self.bar)


class Run(NamedTuple):
    """One run of an experiment: what it is called, its log, and what its page needs to know."""

    label: str
    log: LoopLog
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """
    What an experiment gave.

    Attributes
    ----------
    figures : dict
        Ready for JSON; keys as those of `metrics.drive_metrics`, and the experiment's own.
        ``reached``: the robot did what was asked.
    runs : tuple of Run
    """

    figures: dict[str, Any]
    runs: tuple[Run, ...] = field(default=())


@dataclass(frozen=True)
class Experiment:
    """
    An experiment.

    Attributes
    ----------
    name, title : str
    source : str
        Where it is printed, or ``ours``.
    run : callable
        Does it on a `Bench`.
    page : callable
        Writes the page of plots of an outcome; returns the files.
    rows : tuple of Row
    runs : int
        How many runs it takes, for the progress bar.
    robot : str
        The robot of the paper.
    plants : tuple of str
        Where it can be done.
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
