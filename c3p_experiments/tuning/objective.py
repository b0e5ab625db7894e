# SPDX-License-Identifier: Apache-2.0
"""
Objective of the tuning: the cost of a set of drives.

A drive that reaches its goal costs

    J = Σ w_k min(x_k/s_k, MOST)

over the terms of `TERMS`: alignment of the casters, path error, final error, final yaw error, time
and torque. A missed goal costs MOST in every term, and up to as much again in proportion to the
final distance and yaw error, half each; a drive that raises costs as much as the worst miss. A
controller costs the average of the mean and the maximum of its drives, so that small gains of most
robots cannot outweigh the failure of one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from c3p_dynamics.traction import torque_bounds
from c3p_experiments.campaigns.draw import simulate
from c3p_experiments.campaigns.spec import RANDOM, CampaignSpec, draw
from c3p_experiments.loop.closed_loop import LoopLog
from c3p_experiments.tuning.controller import make

# term: (metric, scale, weight)
TERMS = {
    'align': ('align_time_s', 1.0, 1.0),
    'path': ('ground_truth_path_error_max_m', 0.01, 1.0),
    'final': ('ground_truth_final_error_m', 0.01, 1.0),
    'yaw': ('ground_truth_final_yaw_error_rad', 0.05, 0.5),
    'time': ('relative_time', 1.0, 1.0),
    'torque': ('relative_torque', 1.0, 0.5),
}

# limit of a term, in scales
MOST = 20.0

# speed of relative time 1, m/s: a drive without acceleration
SPEED = 0.5

# distances of the goals of the scenarios, m, and longest drive, s
LINE = 2.0
AROUND = 1.5
TIMEOUT = 30.0


@dataclass(frozen=True)
class Scenarios:
    """
    Set of drives that evaluates a controller.

    Even scenarios drive along +X from exactly singular steering, odd ones in a random direction
    from random steering. Robot, floor and sensors are draws of a campaign.

    Attributes
    ----------
    controller, plant, robot : str
        As in `CampaignSpec`.
    seed : int
    weights : dict
        Term → weight, of terms that differ from the default.
    """

    controller: str = 'mpc'
    plant: str = 'analytic'
    robot: str = 'c3p'
    seed: int = 0
    weights: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Validate terms, weights and specification."""
        for name, weight in self.weights.items():
            if name not in TERMS:
                raise ValueError(f'objective {name}: must be one of {", ".join(TERMS)}')
            if not 0 <= weight < math.inf:
                raise ValueError(f'objective {name} = {weight}: must be a number, 0 or more')
        if self.total == 0.0:
            raise ValueError('objective: one term at least must have a weight')
        _ = self.spec(0)

    def weight(self, term: str) -> float:
        """Return the weight of a term."""
        return self.weights.get(term, TERMS[term][2])

    @property
    def total(self) -> float:
        """Sum of all weights."""
        return sum(map(self.weight, TERMS))

    def spec(self, number: int) -> CampaignSpec:
        """Return the specification of scenario `number`: its draw of the same number."""
        spec = CampaignSpec(self.controller, self.plant, self.robot, seed=self.seed,
                            goal=(LINE, 0.0, 0.0), timeout=TIMEOUT)
        if number % 2 == 0:
            return spec
        random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        direction = random.uniform(-np.pi, np.pi)
        yaw = random.uniform(-1.0, 1.0)
        return replace(spec, start_steering=RANDOM, goal=(
            AROUND * math.cos(direction), AROUND * math.sin(direction), yaw))


class Judgement(NamedTuple):
    """
    Cost of a drive.

    Attributes
    ----------
    cost : float
    parts : dict
        Term → contribution to the cost.
    reached : bool
    failure : str
        Error of a drive that raised; empty otherwise.
    """

    cost: float
    parts: dict[str, float]
    reached: bool
    failure: str


def judge(scenarios: Scenarios, changed: Mapping[str, float], number: int) -> Judgement:
    """
    Return the cost of scenario `number` with `changed` parameters, as for `controller.make`.

    Errors of the drive become the worst cost.
    """
    spec = scenarios.spec(number)
    try:
        described = draw(spec, number).described
        driven = simulate(spec, number, lambda speed: make(
            spec.controller, described, spec.known_latency, changed, speed))
    except Exception as error:  # invalid parameters and robots that fall over
        return Judgement(2.0 * MOST * scenarios.total, {}, False,
                         f'{type(error).__name__}: {error}')
    bound = torque_bounds(described)
    return cost(scenarios, driven.outcome.metrics, driven.outcome.runs[0].log, spec,
                np.where(bound > 0.0, bound, np.inf))


def cost(scenarios: Scenarios, metrics: Mapping[str, Any], log: LoopLog, spec: CampaignSpec,
         torque_limit: np.ndarray) -> Judgement:
    """
    Return the cost of a drive.

    `metrics` are those of `goals.goal_metrics` and `log` its run towards the goal of `spec`;
    `scenarios` have the weights, `torque_limit` (efforts,) in N·m scales the torques.
    """
    length = math.hypot(*spec.goal[:2])
    if not metrics['reached']:
        away = (min(metrics['ground_truth_final_error_m'] / length, 1.0)
                + metrics['ground_truth_final_yaw_error_rad'] / math.pi) / 2.0
        return Judgement(MOST * scenarios.total * (1.0 + away), {}, False, '')
    relative = log.wheel_effort.value / torque_limit
    values = {**metrics, 'relative_time': metrics['time_s'] * SPEED / length,
              'relative_torque': float(np.sqrt(np.mean(np.square(relative))))}
    parts = {}
    for term, (name, scale, _) in TERMS.items():
        # casters that never align have no time
        value = MOST if values[name] is None else min(values[name] / scale, MOST)
        parts[term] = scenarios.weight(term) * value
    return Judgement(sum(parts.values()), parts, True, '')


def together(judgements: Sequence[Judgement]) -> float:
    """Return the cost of a controller: the average of mean and maximum of its drives."""
    costs = [judgement.cost for judgement in judgements]
    return 0.5 * (sum(costs) / len(costs) + max(costs))
