# SPDX-License-Identifier: Apache-2.0
"""One draw of a campaign: simulation and row of the result file."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from c3p_experiments.campaigns.spec import CampaignSpec, Draw, draw
from c3p_experiments.el_shenawy.goals import goal_metrics
from c3p_experiments.kinds import LoopExperiment
from c3p_experiments.loop.closed_loop import Held
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.loop.controllers import Controller
from c3p_experiments.loop.outcome import ExperimentRun, Outcome
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant, shape_of
from c3p_simulation.plants.floor import FloorPatch
from c3p_simulation.plants.plant import Plant
from c3p_simulation.plants.sensors import SensedPlant
from c3p_simulation.plants.wheel_plant import analytic_plant
from c3p_simulation.sensor_files import read_sensors

# prefixes of columns that depend on the computer and differ from run to run
CLOCKS = ('solve_', 'elapsed_')

# duration at the goal that ends a drive, s
DWELL = 0.5

# metrics without use in a table: equal in every row
DROPPED = ('goal_pose', 'goal_tolerance_m', 'yaw_tolerance_rad')

MakeController = Callable[[float | None], Controller]

_warm: set[tuple[str, str]] = set()


class DrivenDraw(NamedTuple):
    """A simulated draw: metrics and logs."""

    draw: Draw
    bench: DrawnBench
    outcome: Outcome


class DrawnBench(Bench):
    """
    Bench with the drawn plant; the controller has the described model.

    Parameters
    ----------
    spec : CampaignSpec
    drawn : Draw
    make : callable, optional
        Takes a speed or None and returns the controller; replaces `make_controller`.
    """

    def __init__(self, spec: CampaignSpec, drawn: Draw, make: MakeController | None = None
                 ) -> None:
        """Make the bench of a draw."""
        self.spec = spec
        self.drawn = drawn
        self._make = make
        contact = spec.plant == 'mujoco'
        super().__init__(Conditions(
            plant=spec.plant, controller=spec.controller, robot=spec.robot,
            friction=drawn.friction if contact else None, latency=spec.known_latency,
            seed=drawn.sensor_seed, sensor_profile=spec.sensors), spec.robot)

    def plant(self, slope: float = 0.0, slope_direction: float = 0.0,
              patches: tuple[FloorPatch, ...] = ()) -> Plant:
        """Return a new plant of the draw with sensors; arguments as `Bench.plant`."""
        drawn = self.drawn
        spec = self.spec
        if drawn.friction is None:
            if slope or patches:
                return super().plant(slope, slope_direction, patches)
            plant: Plant = analytic_plant(drawn.robot)
        else:
            plant = MujocoPlant(drawn.robot, friction=drawn.friction, slope=slope,
                                slope_direction=slope_direction, patches=patches,
                                shape=shape_of(spec.robot))
        sensors = replace(
            read_sensors(spec.sensors), wheel_counts=drawn.wheel_counts,
            steering_counts=drawn.steering_counts, latency=drawn.latency, wheel_noise=drawn.noise,
            steering_noise=drawn.noise, dropout=spec.dropout)
        return SensedPlant(plant, sensors, seed=drawn.sensor_seed, model=self.robot)

    def controller(self, speed: float | None = None) -> Controller:
        """Return a new controller with travel speed `speed`, m/s, or its default."""
        return super().controller(speed) if self._make is None else self._make(speed)

    def _warm_up(self) -> None:
        """Compile once per process."""
        key = (self.spec.controller, self.spec.robot)
        if key not in _warm:
            super()._warm_up()
            _warm.add(key)


def simulate(spec: CampaignSpec, index: int, make: MakeController | None = None) -> DrivenDraw:
    """
    Simulate draw `index` of `spec`, with controllers of `make`; equal arguments give equal bits.

    Raises
    ------
    ValueError
        As plant and controller: a robot that has fallen over, a torque that is not finite.
    """
    drawn = draw(spec, index)
    bench = DrawnBench(spec, drawn, make)
    if spec.experiment:
        return DrivenDraw(drawn, bench, experiment_of(spec).run(bench))
    controller = bench.controller()
    log = bench.run(controller, GoalSource(controller.position(), [spec.goal]),
                    duration=spec.timeout, stop=Held(DWELL), steering=drawn.steering)
    return DrivenDraw(drawn, bench, Outcome(goal_metrics(bench, log, spec.goal),
                                            (ExperimentRun('', log, {}),)))


def run_draw(spec: CampaignSpec, index: int) -> dict[str, Any]:
    """
    Return the row of draw `index`: drawn quantities and metrics.

    It holds ``index``, `Draw.parameters`, the metrics, ``elapsed_s`` and ``failure``: empty, or
    the reason of a missed goal or the text of an error.
    """
    started = time.perf_counter()
    row: dict[str, Any] = {'index': index, **draw(spec, index).parameters()}
    try:
        metrics = simulate(spec, index).outcome.metrics
        row |= flat({name: value for name, value in metrics.items() if name not in DROPPED})
        failure = '' if row['reached'] else missed(row)
    except Exception as error:  # one failed draw must not end the campaign
        row['reached'], failure = False, f'{type(error).__name__}: {error}'
    row['elapsed_s'] = time.perf_counter() - started
    return {**row, 'failure': failure}


def missed(row: Mapping[str, Any]) -> str:
    """Return the text of a missed goal with the final errors."""
    text = 'missed'
    if row.get('final_error_m') is not None:
        text += f': ends {100 * row["final_error_m"]:.1f} cm'
        if row.get('final_yaw_error_rad') is not None:
            text += f' and {row["final_yaw_error_rad"]:.2f} rad'
        text += ' from the goal'
    return text


def flat(metrics: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
    """
    Return the scalars of nested `metrics` by joined names, each with a `prefix`.

    Examples
    --------
    >>> flat({'reached': True, 'solve_ms': {'p99': 1.5}, 'goal': [4, 0, 0]})
    {'reached': True, 'solve_ms_p99': 1.5}
    """
    row: dict[str, Any] = {}
    for name, value in metrics.items():
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, Mapping):
            row |= flat(value, f'{prefix}{name}_')
        elif isinstance(value, float) and not math.isfinite(value):
            row[prefix + name] = None
        elif value is None or isinstance(value, bool | int | float | str):
            row[prefix + name] = value
    return row


def experiment_of(spec: CampaignSpec) -> LoopExperiment:
    """
    Return the experiment of `spec`.

    Raises
    ------
    ValueError
        As `catalogue.experiment_for`.
    """
    # imported on demand: the catalogue imports all pages of plots
    from c3p_experiments.catalogue import experiment_for

    return experiment_for(spec.experiment, spec.plant)
