# SPDX-License-Identifier: Apache-2.0
"""
Tuning: parameters of a controller found by CMA-ES over a robust set of drives.

The optimiser (`pycma`, N. Hansen) proposes generations of candidates, which drive in parallel, and
receives their costs. No gradient is needed, which contact with the ground does not provide.
The first evaluation is the start, so the result is never worse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_description.reading.how_to_install import how_to_install
from c3p_experiments.parallel.workers import Compute, Workers, WorkersError, computing
from c3p_experiments.tuning.objective import Judgement, Scenarios, judge, together
from c3p_experiments.tuning.parameters import Tunable, Values

# initial standard deviation of the search, as a fraction of each range: small, because ranges span
# two decades and good gains are near each other
SIGMA = 0.08


class Evaluation(NamedTuple):
    """
    A candidate and its cost.

    Attributes
    ----------
    fractions : (d,) array
        Position of each parameter in its range, 0 to 1.
    values : dict
        Full name → value.
    judgements : tuple of Judgement
        One per scenario.
    cost : float
    """

    fractions: Array
    values: Values
    judgements: tuple[Judgement, ...]
    cost: float


@dataclass(frozen=True)
class Tuned:
    """
    Result of a search.

    Attributes
    ----------
    tunables : tuple of Tunable
    history : tuple of Evaluation
        In order; the first is the start.
    start_check, best_check : float
        Costs of start and best in as many scenarios outside the search.
    """

    tunables: tuple[Tunable, ...]
    history: tuple[Evaluation, ...]
    start_check: float
    best_check: float

    @property
    def start(self) -> Evaluation:
        """Evaluation of the start."""
        return self.history[0]

    @property
    def best(self) -> Evaluation:
        """First evaluation of least cost."""
        return min(self.history, key=lambda evaluation: evaluation.cost)


def tune(scenarios: Scenarios, tunables: Sequence[Tunable], *, evaluations: int, count: int,
         fixed: Mapping[str, float] | None = None, workers: Workers | None = None,
         progress: Callable[[int, Evaluation | None], None] | None = None) -> Tuned:
    """
    Search for the parameters of least cost.

    Parameters
    ----------
    scenarios : Scenarios
        Its seed is also that of the search: equal arguments give equal results on any workers.
    tunables : sequence of Tunable
    evaluations : int
        Number of candidates, including the start.
    count : int
        Number of scenarios per candidate.
    fixed : mapping, optional
        Other parameters that differ from their default.
    workers : Workers, optional
    progress : callable, optional
        Takes the number of drives done and the best candidate so far.

    Raises
    ------
    ValueError
        Too few evaluations or scenarios, no parameters, or a start whose drives all raise.
    WorkersError
        pycma is missing, or a drive ends every worker.
    """
    for name, value in (('evaluations', evaluations), ('scenarios', count),
                        ('parameters', len(tunables))):
        if value < 1:
            raise ValueError(f'{name} = {value}: must be 1 or more')
    with computing(workers or Workers()) as compute:
        search = _Search(scenarios, tuple(tunables), dict(fixed or {}), count, compute,
                         progress or (lambda drives, best: None))
        search.run(evaluations)
        return search.result()


class _Search:
    """State of a search: evaluations so far and the parallel map."""

    def __init__(self, scenarios: Scenarios, tunables: tuple[Tunable, ...], fixed: Values,
                 count: int, compute: Compute,
                 progress: Callable[[int, Evaluation | None], None]) -> None:
        self._scenarios = scenarios
        self._tunables = tunables
        self._fixed = fixed
        self._count = count
        self._compute = compute
        self._progress = progress
        self._drives = 0
        self.history: list[Evaluation] = []

    def run(self, evaluations: int) -> None:
        start = np.array([t.fraction(t.start) for t in self._tunables])
        first = self._evaluate([start], [{t.name: t.start for t in self._tunables}])[0]
        if first.judgements[0].failure and all(j.failure for j in first.judgements):
            raise ValueError(f'the start cannot be driven: {first.judgements[0].failure}')
        if evaluations == 1:
            return
        optimiser = _optimiser(start, self._scenarios.seed)
        while len(self.history) < evaluations and not optimiser.stop():
            points = optimiser.ask()
            left = evaluations - len(self.history)
            found = self._evaluate(points[:left], [self._values(z) for z in points[:left]])
            # CMA-ES needs whole generations
            if len(found) == len(points):
                optimiser.tell(points, [evaluation.cost for evaluation in found])

    def result(self) -> Tuned:
        """Return the result; start and best are also evaluated in scenarios outside the search."""
        done = Tuned(self._tunables, tuple(self.history), np.nan, np.nan)
        numbers = range(self._count, 2 * self._count)
        if done.best is done.start:
            ends = 2 * self._judge([done.start.values], numbers)
        else:
            ends = self._judge([done.start.values, done.best.values], numbers)
        return Tuned(done.tunables, done.history, *map(together, ends))

    def _values(self, fractions: Array) -> Values:
        return {t.name: t.value(z) for t, z in zip(self._tunables, fractions, strict=True)}

    def _evaluate(self, points: Sequence[Array], values: Sequence[Values]) -> list[Evaluation]:
        judged = self._judge(values, range(self._count))
        found = [Evaluation(np.asarray(z, float), v, j, together(j))
                 for z, v, j in zip(points, values, judged, strict=True)]
        self.history += found
        self._progress(self._drives, min(self.history, key=lambda e: e.cost))
        return found

    def _judge(self, values: Sequence[Values], numbers: Sequence[int]
               ) -> list[tuple[Judgement, ...]]:
        """Return the judgements of all candidates in all scenarios, computed in any order."""
        tasks = [(self._scenarios, {**self._fixed, **value}, number, (k, number))
                 for k, value in enumerate(values) for number in numbers]
        found: dict[tuple[int, int], Judgement] = {}
        for place, judgement in self._compute(_judge_at, tasks):
            found[place] = judgement
            self._drives += 1
            self._progress(self._drives, min(self.history, key=lambda e: e.cost, default=None))
        return [tuple(found[k, number] for number in numbers) for k in range(len(values))]


def _judge_at(scenarios: Scenarios, changed: Values, number: int, place: tuple[int, int]
              ) -> tuple[tuple[int, int], Judgement]:
    return place, judge(scenarios, changed, number)


def _optimiser(start: Array, seed: int) -> Any:
    """Return CMA-ES in the unit cube."""
    try:
        import cma
    except ImportError as error:
        raise WorkersError(f'tuning needs pycma ({error}); install it with '
                           f'{how_to_install("campaign")}') from None
    # pycma reads seed 0 as the time of day
    return cma.CMAEvolutionStrategy(start, SIGMA, {
        'bounds': [0.0, 1.0], 'seed': seed + 1, 'verbose': -9, 'verb_log': 0})
