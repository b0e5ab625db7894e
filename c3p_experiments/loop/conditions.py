# SPDX-License-Identifier: Apache-2.0
"""Conditions of an experiment: plant, sensors and controller; and the bench for its runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from c3p_controller import law_names
from c3p_controller.command_follower import WARM_STEERING
from c3p_description.model import CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_experiments.loop.closed_loop import (
    LoopLog,
    LoopOptions,
    Push,
    run_loop,
    sensed_odometry,
)
from c3p_experiments.loop.command_sources import Source, TwistSource
from c3p_experiments.loop.controllers import Controller, make_controller
from c3p_kinematics.odometry import Odometry
from c3p_simulation.make_plant import PLANTS, PlantOptions, make_plant
from c3p_simulation.plants.floor import FloorPatch
from c3p_simulation.plants.plant import Plant
from c3p_simulation.plants.sensors import SensorSettings
from c3p_simulation.plants.wheel_plant import analytic_plant
from c3p_simulation.sensor_files import ENCODERS, read_sensors

# default of µ between tyres and ground
FRICTION = 0.8


@dataclass(frozen=True)
class Conditions:
    """
    Conditions of an experiment.

    Attributes
    ----------
    plant : str
        ``analytic`` (rolling without slip) or ``mujoco`` (tyres in contact).
    controller : str
        Name of a law.
    robot : str or None
        Name or path of the description; None for that of the paper.
    friction : float or None
        μ between tyres and ground, contact plant only; None is `FRICTION`.
    latency : float, s
        Of the whole loop.
    known_latency : float or None, s
        That the controller assumes; None is `latency`.
    wheel_counts, steering_counts : int
        Encoder counts per turn; 0 is ideal.
    sensor_profile : str
        Name of `PROFILES` or path of a YAML file, for all settings of the sensors but latency and
        counts.
    seed : int
        Of all random numbers.
    rate, command_rate : float, Hz
        Of the torque law, and of the command source.
    duration : float or None, s
        Of a run of a model outside the control loop; None is that of the paper.
    film : str
        ``mp4`` or ``gif`` adds a film of such a run; empty does not.
    trials : int or None
        Trials of each robot, commissioning only; None is that of the experiment.
    workers : int or None
        Processes that compute them; None is one per core.
    """

    plant: str = 'analytic'
    controller: str = 'mpc'
    robot: str | None = None
    friction: float | None = None
    latency: float = 0.010
    known_latency: float | None = None
    wheel_counts: int = 2000
    steering_counts: int = 4096
    seed: int = 0
    rate: float = 200.0
    command_rate: float = 50.0
    duration: float | None = None
    film: str = ''
    trials: int | None = None
    workers: int | None = None
    sensor_profile: str = ENCODERS

    def __post_init__(self) -> None:
        """Validate the conditions."""
        for name, known in (('plant', PLANTS), ('controller', law_names())):
            if getattr(self, name) not in known:
                raise ValueError(f'{name} = {getattr(self, name)}: must be one of '
                                 f'{", ".join(known)}')
        if self.seed < 0:
            raise ValueError(f'seed = {self.seed}: must be 0 or more')
        if self.known_latency is not None and not 0.0 <= self.known_latency < 1.0:
            raise ValueError(f'known_latency = {self.known_latency}: must be from 0 to below 1 s')
        # raises for invalid counts or latency
        _ = self.sensors
        if self.friction is not None and self.plant == 'analytic':
            raise ValueError(f'friction = {self.friction}: wheels of the analytic plant never '
                             'slip; leave it out, or choose the plant mujoco')

    @property
    def assumed_latency(self) -> float:
        """Latency in the model of the controller, s."""
        return self.latency if self.known_latency is None else self.known_latency

    @property
    def sensors(self) -> SensorSettings:
        """Sensors and latency of the plant."""
        return replace(read_sensors(self.sensor_profile), wheel_counts=self.wheel_counts,
                       steering_counts=self.steering_counts, latency=self.latency)


class Bench:
    """
    Test bench: makes plant, controller and runs of one experiment under its conditions.

    Parameters
    ----------
    conditions : Conditions
    robot : str
        Name or path, unless given by the conditions.
    progress : callable, optional
        Takes the number of runs done, with the fraction of the present one.
    """

    def __init__(self, conditions: Conditions, robot: str,
                 progress: Callable[[float], None] | None = None) -> None:
        """Load the robot."""
        self.conditions = conditions
        self.robot_name = conditions.robot or robot
        self.robot = load_casters(self.robot_name)
        # description of the plant, and of its heights
        self._described: CasterRobot | str = self.robot_name
        self._shape_from: str | Path | None = None
        self._progress = progress
        self._done = 0
        self._warm_up()

    def describe(self) -> dict[str, Any]:
        """Return the conditions, ready for JSON."""
        shown = asdict(self.conditions)
        for name in ('duration', 'film'):
            del shown[name]
        shown['robot'] = self.robot_name
        if self.conditions.plant == 'mujoco' and shown['friction'] is None:
            shown['friction'] = FRICTION
        # without it where nothing was chosen, as in the files of earlier versions
        if self.conditions.sensor_profile == ENCODERS:
            del shown['sensor_profile']
        return shown

    def plant(self, slope: float = 0.0, slope_direction: float = 0.0,
              patches: tuple[FloorPatch, ...] = ()) -> Plant:
        """
        Return a new plant with its sensors.

        Parameters
        ----------
        slope, slope_direction : float, rad
        patches : tuple of FloorPatch
            See `plants.PlantOptions`.

        Raises
        ------
        ValueError
            Slope or patch with the analytic plant.
        """
        c = self.conditions
        return make_plant(c.plant, self._described, PlantOptions(
            friction=FRICTION if c.friction is None else c.friction, slope=slope,
            slope_direction=slope_direction, patches=patches, seed=c.seed,
            sensors=c.sensors), self._shape_from)

    def controller(self, speed: float | None = None) -> Controller:
        """Return a new controller with travel speed `speed`, m/s, or its default."""
        return make_controller(self.conditions.controller, self.robot,
                               latency=self.conditions.assumed_latency, speed=speed)

    def odometry(self) -> Odometry:
        """Return new odometry with the resolution of the encoders."""
        c = self.conditions
        return Odometry(self.robot, sensed_odometry((c.wheel_counts, c.steering_counts),
                                                    c.sensors.timing))

    def run(self, controller: Controller, source: Source, *, duration: float,
            plant: Plant | None = None, odometry: Odometry | None = None,
            pushes: Sequence[Push] = (), **further: Any) -> LoopLog:
        """
        Do one run.

        Parameters
        ----------
        controller : Controller
        source : Source
        duration : float, s
        plant : Plant, optional
            Default: a new one on level ground.
        odometry : Odometry, optional
            Default: a new one.
        pushes : sequence of Push
        **further
            Other arguments of `closed_loop.run_loop`.
        """
        done = self._done

        def progress(seconds: float) -> None:
            if self._progress is not None:
                self._progress(done + min(seconds / duration, 1.0))

        options = LoopOptions(self.conditions.rate, self.conditions.command_rate, pushes=pushes,
                              progress=progress)
        log = run_loop(self.plant() if plant is None else plant, controller.law, source,
                       duration=duration, options=options,
                       odometry=self.odometry() if odometry is None else odometry, **further)
        self._done = done
        self.done()
        return log

    def done(self) -> None:
        """Count a run that was done without `run`."""
        self._done += 1
        if self._progress is not None:
            self._progress(float(self._done))

    def _warm_up(self) -> None:
        """Compile the kernels, so that solve times do not include it."""
        run_loop(analytic_plant(self.robot), self.controller().law,
                 TwistSource(lambda t: (0.3, 0.0, 0.0)), duration=0.3,
                 odometry=self.odometry(), steering=WARM_STEERING,
                 options=LoopOptions(self.conditions.rate))
