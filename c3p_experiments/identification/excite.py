# SPDX-License-Identifier: Apache-2.0
"""Simulated excitation drive for identification, recorded in a bag."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from c3p_bags.runs.run_bag import write_run
from c3p_controller import CONTROLLERS, law_named
from c3p_controller.torque_law import Setpoint
from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import load_casters, robot_description
from c3p_description.reading.parameters import is_robot_name
from c3p_dynamics.freedoms import driven_freedoms
from c3p_dynamics.identification.excitation import Excitation
from c3p_experiments.loop.closed_loop import LoopLog, LoopOptions, run_loop
from c3p_experiments.loop.command_sources import Command
from c3p_experiments.loop.controllers import make_controller
from c3p_kinematics.odometry import OdometryEstimate
from c3p_simulation.make_plant import PlantOptions, make_plant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings


class ExcitationSource:
    """Command source of an `Excitation` around the pose at the start."""

    goal = None

    def __init__(self, excitation: Excitation) -> None:
        """Set the motion."""
        self.excitation = excitation

    def start(self, estimate: OdometryEstimate) -> None:
        """Start at the present estimate."""
        self._begin, self._pose = estimate.time, np.array(estimate.pose)

    def step(self, time: float, estimate: OdometryEstimate) -> Command:
        """Return the command at the sample of `time`, s."""
        since = time - self._begin
        twist = self.excitation.twist(since, self._pose, estimate.pose)
        return Command(Setpoint(twist), since >= self.excitation.duration)


class ExcitedPlant(NamedTuple):
    """
    Plant of a simulated excitation.

    Attributes
    ----------
    description : str, optional
        Default that of the controller.
    kind : str
        ``analytic`` or ``mujoco``.
    sensors : SensorSettings, optional
        Encoders and latency; default those of the C3P.
    seed : int
        Of the sensors and of the start steering.
    """

    description: str | None = None
    kind: str = 'analytic'
    sensors: SensorSettings | None = None
    seed: int = 0


def simulate_excitation(bag: str | Path, robot: str = 'c3p', plant: ExcitedPlant | None = None,
                        controller: str | None = None, excitation: Excitation | None = None,
                        progress: Callable[[float], None] | None = None,
                        stop: Callable[[], bool] = lambda: False) -> LoopLog:
    """
    Drive a simulated robot through an excitation and write the bag.

    Parameters
    ----------
    bag : str or Path
        Directory of the bag; must not exist.
    robot : str
        Description of the controller.
    plant : ExcitedPlant, optional
    controller : str, optional
        As in `controllers.make_controller`; default ``paper``, or ``mpc`` for robots with fewer
        motors than freedoms.
    excitation : Excitation, optional
    progress : callable, optional
        Takes the robot time of each cycle, s.
    stop : callable, optional
        Called in each cycle; True ends the drive, and the bag holds the drive so far.

    Returns
    -------
    LoopLog

    Raises
    ------
    BagError
        The bag exists or cannot be written.
    ModelError, ValueError
        An unknown robot, plant or controller.
    """
    if Path(bag).exists():
        # rejected before the drive
        raise ValueError(f'bag {bag}: exists already; name another place, or remove it')
    excitation = excitation or Excitation()
    model = load_casters(robot)
    controller = controller or _first_law(model)
    plant = plant or ExcitedPlant()
    moves = make_plant(plant.kind, plant.description or robot,
                       PlantOptions(sensors=SensorSettings.ideal()))
    sensed = SensedPlant(moves, plant.sensors, plant.seed, model)
    log = run_loop(sensed, make_controller(controller, model).law, ExcitationSource(excitation),
                   duration=excitation.duration, steering=_start(plant.seed, model.count),
                   stop=lambda _: stop(), options=LoopOptions(progress=progress))
    write_run(log, model, bag, '' if is_robot_name(robot) else robot_description(robot))
    return log


def _first_law(robot: CasterRobot) -> str:
    """Return the first law of the suite for which `robot` has motors enough; mpc needs fewest."""
    freedoms = driven_freedoms(robot)
    return next((name for name in CONTROLLERS if law_named(name).freedoms <= freedoms),
                CONTROLLERS[-1])


def _start(seed: int, count: int) -> Array:
    return np.random.default_rng(seed).uniform(-np.pi, np.pi, count)
