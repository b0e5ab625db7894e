# SPDX-License-Identifier: Apache-2.0
"""One draw of a campaign, driven: the row of the result file."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from c3p_experiments.campaigns.spec import CampaignSpec, Draw, draw
from c3p_experiments.el_shenawy.goals import drive_figures
from c3p_experiments.loop.closed_loop import Held
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.loop.controllers import Controller
from c3p_experiments.loop.outcome import Experiment, Outcome, Run
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant, shape_of
from c3p_simulation.plants.plant import AnalyticPlant, Plant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings

# begin of the names of columns that tell of the computer, and differ from run to run
CLOCKS = ('solve_', 'elapsed_')

# how long a goal is held before a drive counts as over, s
DWELL = 0.5

# figures that are the same in every row, or of no use in a table
DROPPED = ('goal_pose', 'goal_tolerance_m', 'yaw_tolerance_rad')

MakeController = Callable[[float | None], Controller]

_warm: set[tuple[str, str]] = set()


class Driven(NamedTuple):
    """A draw with the figures of its drive and all that was recorded."""

    draw: Draw
    bench: DrawnBench
    outcome: Outcome


class DrawnBench(Bench):
    """
    A bench whose plant is what was drawn; the controller knows the description only.

    Parameters
    ----------
    spec : CampaignSpec
    drawn : Draw
    make : callable, optional
        Takes a speed or None and returns the controller, in the place of `controllers`' own.
    """

    def __init__(self, spec: CampaignSpec, drawn: Draw, make: MakeController | None = None
                 ) -> None:
        """Take the draw."""
        self.spec, self.drawn, self._make = spec, drawn, make
        contact = spec.plant == 'mujoco'
        super().__init__(Conditions(
            plant=spec.plant, controller=spec.controller, robot=spec.robot,
            friction=drawn.friction if contact else None, latency=spec.known_latency,
            seed=drawn.sensor_seed), spec.robot)

    def plant(self, slope: float = 0.0, slope_direction: float = 0.0) -> Plant:
        """Return a new plant as it was drawn, with sensors; `slope`, `slope_direction` in rad."""
        drawn, spec = self.drawn, self.spec
        if spec.plant == 'analytic':
            if slope:
                return super().plant(slope, slope_direction)
            plant: Plant = AnalyticPlant(drawn.robot)
        else:
            plant = MujocoPlant(drawn.robot, friction=drawn.friction, slope=slope,
                                slope_direction=slope_direction, shape=shape_of(spec.robot))
        return SensedPlant(plant, SensorSettings(
            wheel_counts=drawn.wheel_counts, steering_counts=drawn.steering_counts,
            latency=drawn.latency, wheel_noise=drawn.noise, steering_noise=drawn.noise,
            dropout=spec.dropout), seed=drawn.sensor_seed, model=self.robot)

    def controller(self, speed: float | None = None) -> Controller:
        """Return a new controller, which travels with `speed`, m/s, if that is given."""
        return super().controller(speed) if self._make is None else self._make(speed)

    def _warm_up(self) -> None:
        """Compile once in each process, not once for each draw."""
        key = (self.spec.controller, self.spec.robot)
        if key not in _warm:
            super()._warm_up()
            _warm.add(key)


def simulate(spec: CampaignSpec, index: int, make: MakeController | None = None) -> Driven:
    """
    Return draw `index` of `spec`, driven; equal arguments give equal bits.

    Parameters
    ----------
    spec : CampaignSpec
    index : int
    make : callable, optional
        As in `DrawnBench`.

    Raises
    ------
    ValueError
        What plant or controller refuse: a robot that has fallen over, a torque that is no number.
    """
    drawn = draw(spec, index)
    bench = DrawnBench(spec, drawn, make)
    if spec.experiment:
        return Driven(drawn, bench, experiment_of(spec).run(bench))
    controller = bench.controller()
    log = bench.run(controller, GoalSource(controller.position(), [spec.goal]),
                    duration=spec.timeout, stop=Held(DWELL), steering=drawn.steering)
    return Driven(drawn, bench, Outcome(drive_figures(bench, log, spec.goal),
                                        (Run('', log, {}),)))


def run_draw(spec: CampaignSpec, index: int) -> dict[str, Any]:
    """
    Return the row of draw `index`: what was drawn, and what came of it.

    A draw that raises is a row with the reason in ``failure``.

    Parameters
    ----------
    spec : CampaignSpec
    index : int

    Returns
    -------
    dict
        ``index``, `Draw.parameters`, the figures, ``elapsed_s``, ``failure`` (empty: reached).
    """
    started = time.perf_counter()
    row: dict[str, Any] = {'index': index, **draw(spec, index).parameters()}
    try:
        figures = simulate(spec, index).outcome.figures
        row |= flat({name: value for name, value in figures.items() if name not in DROPPED})
        failure = '' if row['reached'] else missed(row)
    except Exception as error:  # whatever it is, the other draws go on
        row['reached'], failure = False, f'{type(error).__name__}: {error}'
    row['elapsed_s'] = time.perf_counter() - started
    return {**row, 'failure': failure}


def missed(row: Mapping[str, Any]) -> str:
    """Return how far a drive that did not reach its goal came."""
    text = 'missed'
    if row.get('final_error_m') is not None:
        text += f': ends {100 * row["final_error_m"]:.1f} cm'
        if row.get('final_yaw_error_rad') is not None:
            text += f' and {row["final_yaw_error_rad"]:.2f} rad'
        text += ' from the goal'
    return text


def flat(figures: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
    """
    Return the single numbers, truths and texts in nested figures, by joined names.

    Parameters
    ----------
    figures : mapping
    prefix : str
        Of every name.

    Examples
    --------
    >>> flat({'reached': True, 'solve_ms': {'p99': 1.5}, 'goal': [4, 0, 0]})
    {'reached': True, 'solve_ms_p99': 1.5}
    """
    row: dict[str, Any] = {}
    for name, value in figures.items():
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, Mapping):
            row |= flat(value, f'{prefix}{name}_')
        elif isinstance(value, float) and not math.isfinite(value):
            row[prefix + name] = None
        elif value is None or isinstance(value, bool | int | float | str):
            row[prefix + name] = value
    return row


def experiment_of(spec: CampaignSpec) -> Experiment:
    """
    Return the experiment that is the task of `spec`.

    Raises
    ------
    ValueError
        There is none, or its plant cannot do it.
    """
    # imported when asked for: it brings all pages of plots
    from c3p_experiments.catalogue import experiment_for

    return experiment_for(spec.experiment, spec.plant)
