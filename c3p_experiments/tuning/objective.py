# SPDX-License-Identifier: Apache-2.0
"""
What a good controller is, as one number: the cost of a set of drives.

A drive that reaches its goal costs

    J = Σ w_k min(x_k/s_k, MOST)

over the terms of `TERMS`: alignment of the casters, path error, final error, final yaw error, time
and torque. A drive that misses costs MOST in every term, and up to as much again by how far it
ends from the goal, half by distance and half by yaw; one that raises costs as much as the worst.
A controller costs the mean of the mean and of the largest of its drives: what helps most robots a
little and breaks one is no gain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from c3p_dynamics.traction import traction_torque
from c3p_experiments.campaigns.draw import simulate
from c3p_experiments.campaigns.spec import RANDOM, CampaignSpec, draw
from c3p_experiments.loop.closed_loop import LoopLog
from c3p_experiments.tuning.controller import make

# term: (figure, its scale, weight)
TERMS = {
    'align': ('align_time_s', 1.0, 1.0),
    'path': ('ground_truth_path_error_max_m', 0.01, 1.0),
    'final': ('ground_truth_final_error_m', 0.01, 1.0),
    'yaw': ('ground_truth_final_yaw_error_rad', 0.05, 0.5),
    'time': ('relative_time', 1.0, 1.0),
    'torque': ('relative_torque', 1.0, 0.5),
}

# no term counts more than so many of its scales
MOST = 20.0

# a drive at this speed without any acceleration has the relative time 1, m/s
SPEED = 0.5

# how far the goals of the scenarios are, m, and how long a drive may take, s
LINE, AROUND, TIMEOUT = 2.0, 1.5, 30.0


@dataclass(frozen=True)
class Scenarios:
    """
    Drives that a controller is judged by.

    Even numbers drive along +X from exactly singular, odd ones in a direction that is drawn, from
    start steering that is drawn. Robot, floor and sensors are draws of a campaign.

    Attributes
    ----------
    controller, plant, robot : str
        As in `CampaignSpec`.
    seed : int
    weights : dict
        Term → weight, of those that do not have their own.
    """

    controller: str = 'mpc'
    plant: str = 'analytic'
    robot: str = 'c3p'
    seed: int = 0
    weights: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse terms that there are not, and weights that cannot be."""
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
        """Return the specification whose draw `number` is scenario `number`."""
        spec = CampaignSpec(self.controller, self.plant, self.robot, seed=self.seed,
                            goal=(LINE, 0.0, 0.0), timeout=TIMEOUT)
        if number % 2 == 0:
            return spec
        random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        direction, yaw = random.uniform(-np.pi, np.pi), random.uniform(-1.0, 1.0)
        return replace(spec, start_steering=RANDOM, goal=(
            AROUND * math.cos(direction), AROUND * math.sin(direction), yaw))


class Judgement(NamedTuple):
    """
    What a drive costs.

    Attributes
    ----------
    cost : float
    parts : dict
        Term → its part of the cost.
    reached : bool
    failure : str
        Why a drive raised; empty otherwise.
    """

    cost: float
    parts: dict[str, float]
    reached: bool
    failure: str


def judge(scenarios: Scenarios, changed: Mapping[str, float], number: int) -> Judgement:
    """
    Return what scenario `number` costs a controller; never raises for what a drive may do.

    Parameters
    ----------
    scenarios : Scenarios
    changed : mapping
        Parameters of the controller, see `controller.make`.
    number : int
    """
    spec = scenarios.spec(number)
    try:
        described = draw(spec, number).described
        driven = simulate(spec, number, lambda speed: make(
            spec.controller, described, spec.known_latency, changed, speed))
    except Exception as error:  # parameters that cannot be, and robots that fall over
        return Judgement(2.0 * MOST * scenarios.total, {}, False,
                         f'{type(error).__name__}: {error}')
    return cost(scenarios, driven.outcome.metrics, driven.outcome.runs[0].log, spec,
                np.minimum(described.torque_limit, traction_torque(described)))


def cost(scenarios: Scenarios, metrics: Mapping[str, Any], log: LoopLog, spec: CampaignSpec,
         torque_limit: np.ndarray) -> Judgement:
    """
    Return what a drive costs.

    Parameters
    ----------
    scenarios : Scenarios
        Has the weights.
    metrics : mapping
        Of `goals.goal_metrics`.
    log : LoopLog
    spec : CampaignSpec
        Has the goal.
    torque_limit : (n,) array, N·m
    """
    length = math.hypot(*spec.goal[:2])
    if not metrics['reached']:
        away = (min(metrics['ground_truth_final_error_m'] / length, 1.0)
                + metrics['ground_truth_final_yaw_error_rad'] / math.pi) / 2.0
        return Judgement(MOST * scenarios.total * (1.0 + away), {}, False, '')
    relative = log.wheel_effort.value / torque_limit
    told = {**metrics, 'relative_time': metrics['time_s'] * SPEED / length,
            'relative_torque': float(np.sqrt(np.mean(np.square(relative))))}
    parts = {}
    for term, (name, scale, _) in TERMS.items():
        # casters that are never aligned are as bad as it gets
        value = MOST if told[name] is None else min(told[name] / scale, MOST)
        parts[term] = scenarios.weight(term) * value
    return Judgement(sum(parts.values()), parts, True, '')


def together(judgements: Sequence[Judgement]) -> float:
    """Return the cost of a controller: the mean of the mean and the largest of its drives."""
    costs = [judgement.cost for judgement in judgements]
    return 0.5 * (sum(costs) / len(costs) + max(costs))
