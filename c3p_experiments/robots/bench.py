# SPDX-License-Identifier: Apache-2.0
"""Test bench of a robot that is a model, with goals within its ability."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from c3p_controller.controllers import TABLE
from c3p_description.model import CasterRobot
from c3p_experiments.loop.conditions import FRICTION, Bench, Conditions
from c3p_experiments.loop.controllers import Controller, make_controller
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.floor import FloorPatch
from c3p_simulation.plants.plant import Plant


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
        """Take the robot and compile what is not compiled."""
        self.conditions, self.robot, self.robot_name = conditions, robot, robot.name
        self._shape_from, self._progress, self._done = shape_from, progress, 0
        self.gains: Mapping[str, float] = {}

    def plant(self, slope: float = 0.0, slope_direction: float = 0.0,
              patches: tuple[FloorPatch, ...] = ()) -> Plant:
        """Return a new plant of the robot; see `Bench.plant`."""
        c = self.conditions
        return make_plant(c.plant, self.robot, PlantOptions(
            friction=FRICTION if c.friction is None else c.friction, slope=slope,
            slope_direction=slope_direction, patches=patches, seed=c.seed,
            sensors=c.sensors), self._shape_from)

    def controller(self, speed: float | None = None) -> Controller:
        """Return a new controller with the gains of this bench."""
        made = make_controller(self.conditions.controller, self.robot,
                               latency=self.conditions.latency)
        entry = TABLE[made.name]
        kept = {name: value for name, value in self.gains.items()
                if name in entry.gains.__dataclass_fields__}
        if speed is not None:
            kept['speed'] = speed
        return made._replace(position=lambda: entry.position(entry.gains(**kept)))
