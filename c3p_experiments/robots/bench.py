# SPDX-License-Identifier: Apache-2.0
"""Test bench of a robot that is a model, with goals within its ability."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from c3p_controller import law_named
from c3p_description.model import CasterRobot
from c3p_description.settings import computed
from c3p_experiments.loop.conditions import Bench, Conditions
from c3p_experiments.loop.controllers import Controller, make_controller


class RobotBench(Bench):
    """
    Bench of one robot on one plant.

    Parameters
    ----------
    robot : CasterRobot
    conditions : Conditions
    shape_from : str or Path, optional
        Parameter file with the heights of the robot, for the plant mujoco.
    progress : callable, optional
        Takes the number of runs done, with the fraction of the present one.
    """

    def __init__(self, robot: CasterRobot, conditions: Conditions,
                 shape_from: str | Path | None = None,
                 progress: Callable[[float], None] | None = None) -> None:
        """Take the robot, which is not loaded, and start without a run that compiles."""
        self.conditions, self.robot, self.robot_name = conditions, robot, robot.name
        self._described = robot
        self._shape_from = shape_from
        self._progress = progress
        self._done = 0
        self.gains: Mapping[str, float] = {}

    def controller(self, speed: float | None = None) -> Controller:
        """Return a new controller with the gains of this bench."""
        made = make_controller(self.conditions.controller, self.robot,
                               latency=self.conditions.assumed_latency)
        position = law_named(made.name).position
        kept = {name: value for name, value in self.gains.items()
                if name in position.Settings.__dataclass_fields__}
        if speed is not None:
            kept['speed'] = speed
        return made._replace(position=lambda: position.make(
            computed(position.Settings(), **kept), self.robot))
