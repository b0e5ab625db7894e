# SPDX-License-Identifier: Apache-2.0
"""
Studies beside the experiments: what they consist of, and what they have in common.

A study has cases, each a function of a seed that returns figures in the units of its table. As
with experiments, write_figures.py runs each case with each seed and keeps the values in
docs/figures.json. A cell of a table names study (or controller), case (or experiment) and figure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from c3p_bags.runs.smoothness import run_smoothness
from c3p_controller.goals.path import figure_eight as eight_path
from c3p_controller.gripping_law import GrippingLaw
from c3p_controller.limits import TractionControl
from c3p_controller.predictive.controller import PredictiveController, PredictiveSettings
from c3p_description.model import CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_experiments.el_shenawy.goals import DWELL
from c3p_experiments.el_shenawy.measures import largest_and_rms, ring_error
from c3p_experiments.loop.closed_loop import Held, LoopLog
from c3p_experiments.loop.command_sources import PathSource
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.loop.controllers import Controller
from c3p_experiments.robots.bench import RobotBench

Figures = dict[str, float | None]
Case = Callable[[int], Figures]


class Cell(NamedTuple):
    """Figures of a table's cell: study or controller, case or experiment, figure, and how."""

    study: str
    case: str
    figure: str
    digits: int = 2
    # middle: median / worst; p90; count: how often, 'k of n known'; sum; mean; root: of the mean;
    # seeds: how many
    kind: str = 'middle'


class Study(NamedTuple):
    """Cases, number of seeds, and the table: header, rows of text and cells."""

    cases: Mapping[str, Case]
    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    seeds: int = 15
    # cases without anything random: seed 0 alone
    single: Collection[str] = ()
    # directory with files from elsewhere; '': it was not given, and nothing is run
    needs: str | None = None


PLANTS = ('analytic', 'mujoco')


class Tuned(RobotBench):
    """Bench of the predictive controller with other settings."""

    def __init__(self, robot: str | CasterRobot, conditions: Conditions, **settings: Any) -> None:
        """Load the robot, if it is a name."""
        named = isinstance(robot, str)
        super().__init__(load_casters(robot) if named else robot, conditions)
        self._described, self.settings = robot, settings

    def controller(self, speed: float | None = None) -> Controller:
        """Return a new controller with the settings of this bench."""
        made = super().controller(speed)
        law = PredictiveController(self.robot, PredictiveSettings(
            **{'latency': self.conditions.assumed_latency, **self.settings}))
        return made._replace(law=GrippingLaw(law, TractionControl(self.robot)))


def shown(found: Mapping[str, Any], **names: tuple[str, float]) -> Figures:
    """Return metrics by their name in a table, scaled."""
    return {name: None if found[key] is None else found[key] * scale
            for name, (key, scale) in names.items()}


# the figure eight of the experiment, m and m/s
EIGHT_RADIUS, EIGHT_SPEED = 1.5, 0.3
SMOOTH = {'variation': ('torque_variation_nm_per_s', 1.0), 'jerk': ('jerk_rms_mps3', 1.0),
          'ripple': ('yaw_rate_ripple_rms_radps', 1.0)}


def eight(bench: Bench, duration: float = 150.0) -> tuple[LoopLog, Figures]:
    """Drive the figure eight of the experiment; return smoothness, true ring error and time."""
    controller = bench.controller(EIGHT_SPEED)
    log = bench.run(controller, PathSource(controller.position(), eight_path(
        np.zeros(3), EIGHT_RADIUS)), duration=duration, stop=Held(DWELL))
    ring, _ = largest_and_rms(ring_error(
        log.ground_truth, [(-EIGHT_RADIUS, 0.0), (EIGHT_RADIUS, 0.0)], EIGHT_RADIUS))
    arrived = log.ended and not log.fault
    return log, {**shown(run_smoothness(log), **SMOOTH), 'ring': 100.0 * ring,
                 'time': float(log.joints.time[-1]) if arrived else None}
