# SPDX-License-Identifier: Apache-2.0
"""
Times of alternatives in turns, and the common result of all benchmarks.

Alternatives take turns, so that other work on the computer slows all of them alike; a ratio is the
median of the ratios of single rounds, in which it cancels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class Spread(NamedTuple):
    """Median and quartiles of repeated measurements."""

    median: float
    low: float
    high: float


class Figure(NamedTuple):
    """
    A measured figure beside that of a peer.

    Attributes
    ----------
    name : str
        What is measured.
    unit : str
        Of `ours` and `theirs`; a time, of which less is better.
    ours : Spread
    peer : str
        Name of the peer; empty without one.
    theirs, ratio : Spread, optional
        The peer, and its time divided by ours.
    bar : float, optional
        Least ratio that is aimed at; without a peer the largest time.
    """

    name: str
    unit: str
    ours: Spread
    peer: str = ''
    theirs: Spread | None = None
    ratio: Spread | None = None
    bar: float | None = None

    @property
    def met(self) -> bool | None:
        """Return whether the bar is met; None without one."""
        if self.bar is None:
            return None
        return self.ours.median <= self.bar if self.ratio is None else (
            self.ratio.median >= self.bar)

    def record(self) -> dict[str, Any]:
        """Return the figure for JSON."""
        return {key: value._asdict() if isinstance(value, Spread) else value
                for key, value in self._asdict().items()} | {'met': self.met}


def spread(values: Sequence[float] | np.ndarray) -> Spread:
    """
    Return median and quartiles.

    Examples
    --------
    >>> spread([1.0, 2.0, 3.0, 4.0, 50.0])
    Spread(median=3.0, low=2.0, high=4.0)
    """
    low, middle, high = np.percentile(values, [25, 50, 75]).tolist()
    return Spread(middle, low, high)


def turns(what: Mapping[str, Callable[[int], object]], rounds: int = 41, run: float = 5e-4,
          counts: Mapping[str, int] | None = None,
          clock: Callable[[], float] = time.process_time) -> dict[str, np.ndarray]:
    """
    Return the time of one call of each of `what` in each round, s.

    By default processor time: on a busy computer that of the wall says little.

    A value of `what` makes a number of calls, and returns how many it made unless as many.
    `run` is so short, s, that the machine seldom takes another process in between; `counts` fixes
    the number of calls of some.
    """
    number = dict(counts or {})
    for name, call in what.items():
        # the first call compiles, and may compile again for a view of an array
        call(3)
        if name not in number:
            begin = clock()
            done = call(10) or 10
            number[name] = max(1, int(run * float(done) / (clock() - begin)))
    times = {name: np.zeros(rounds) for name in what}
    for k in range(rounds):
        for name, call in what.items():
            begin = clock()
            done = call(number[name])
            taken = clock() - begin
            times[name][k] = taken / (done if isinstance(done, int) and done else number[name])
    return times


def python(call: Callable[[], object]) -> Callable[[int], None]:
    """Return what makes a number of calls from Python."""
    def run(count: int) -> None:
        for _ in range(count):
            call()
    return run


def beside(name: str, times: Mapping[str, np.ndarray], ours: str, peer: str,
           bar: float | None = None, unit: str = 'µs', title: str = '') -> Figure:
    """
    Return the figure `name` of two of the `times` of `turns`.

    `ours` and `peer` are their keys, `bar` the least ratio, `unit` µs or ms; `title` names the
    peer, default its key.
    """
    scale = {'µs': 1e6, 'ms': 1e3, 'ns': 1e9}[unit]
    a, b = times[ours], times[peer]
    return Figure(name, unit, spread(scale * a), title or peer, spread(scale * b), spread(b / a),
                  bar)
