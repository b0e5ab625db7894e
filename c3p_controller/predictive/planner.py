# SPDX-License-Identifier: Apache-2.0
"""
Planner of the predictive law: its state, the kernels of a cycle, and the first plan.

From standstill, and after a stall, several first guesses compete: in each round all are improved,
two per cycle, and the better half continues. The best becomes the plan, which each later solution
shifts and improves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from c3p_controller.predictive import _predictive_step as kernels
from c3p_controller.predictive.states import PredictiveState
from c3p_description.model import Array

# iterations of the competition of first guesses: per round, and rounds
ROUND_ITERATIONS, ROUNDS, GUESSES_PER_CYCLE = 3, 3, 2


class CycleSteps(NamedTuple):
    """Kernels of _predictive_step.py that differ by the sizes of the robot."""

    drive: Callable[..., None]
    solve: Callable[..., None]
    prepare: Callable[..., None]


ANY_SIZE = CycleSteps(kernels.drive_step, kernels.solve_step, kernels.prepare_step)
USUAL_SIZE = CycleSteps(kernels.drive_usual_step, kernels.solve_usual_step,
                        kernels.prepare_usual_step)


class Planner:
    """
    Plans and follows; the memory is the plan, and the competition of first guesses.

    Attributes
    ----------
    state : PredictiveState
    steps : CycleSteps
    """

    def __init__(self, state: PredictiveState, model: tuple[Array, ...]) -> None:
        """Start without a plan, for the `model` of `packed_model`."""
        self.state = state
        self.sizes = state.values
        usual = len(state.steering) == len(state.torque) == kernels.USUAL
        self.steps = USUAL_SIZE if usual else ANY_SIZE
        self._model = model
        self.forget()

    def forget(self) -> None:
        """Forget the competition, and the plan."""
        self._guesses: list[tuple[float, Array]] = []
        self._turn = 0
        self._round = 0
        self.state.ready[0] = 0.0

    def compete(self, make: Callable[[], list[Array]]) -> None:
        """Improve the first guesses that `make` returns, two per cycle; the best is the plan."""
        if not self._guesses:
            self._guesses = [(np.inf, guess) for guess in make()]
            self._round = 0
            self._turn = 0
        for _ in range(min(GUESSES_PER_CYCLE, len(self._guesses) - self._turn)):
            torques = self._guesses[self._turn][1]
            self._guesses[self._turn] = self._improved(torques), torques
            self._turn += 1
        if self._turn < len(self._guesses):
            return
        # the better half continues
        self._guesses.sort(key=lambda guess: guess[0])
        self._round += 1
        self._turn = 0
        self._guesses = self._guesses[:max(1, len(self._guesses) // 2)]
        if self._round >= ROUNDS or len(self._guesses) == 1:
            self._improved(self._guesses[0][1])
            self._guesses = []
            self.state.ready[0] = 1.0
            self.state.fresh[0] = 1.0

    def _improved(self, torques: Array) -> float:
        """Improve the torques of a guess in place; return their cost."""
        plan = self.state.plan
        plan.torques[:] = torques
        self.steps.solve(self.state.block, self.sizes, self._model, ROUND_ITERATIONS)
        torques[:] = plan.torques
        return float(plan.cost[0])
