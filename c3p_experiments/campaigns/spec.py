# SPDX-License-Identifier: Apache-2.0
"""Specification of a campaign, and its draws as pure functions of it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_simulation.plants.parameter_errors import ParameterErrors, perturbed

Range = tuple[float, float]

# each quantity has its own random stream, by its index here: a changed range leaves the draws of
# other quantities. Append new names at the end
STREAMS = ('robot', 'friction', 'pivot', 'scrub', 'rolling', 'latency', 'wheel_counts',
           'steering_counts', 'noise', 'sensor_seed', 'steering')

# value of start_steering that draws it
RANDOM = 'random'

# friction coefficients that each factor scales
FACTORS = {'pivot': ('pivot_viscous', 'pivot_coulomb'), 'scrub': ('scrub_coulomb',),
           'rolling': ('rolling_viscous', 'rolling_coulomb')}


@dataclass(frozen=True)
class CampaignSpec:
    """
    Complete specification of the draws of a campaign.

    Draws change the plant only: the controller keeps the described model, `known_latency` and the
    default encoder counts.

    Attributes
    ----------
    controller, plant, robot : str
        Name of a law; ``mujoco`` or ``analytic``; name or path of the description.
    experiment : str
        Name of an experiment; empty drives to `goal`.
    goal : (3,) tuple, m and rad
    start_steering : tuple of float or 'random', rad
        One for all casters or one each; random is uniform in ±π, independent per caster.
    seed : int
    timeout : float, s
        Robot time after which a drive to `goal` counts as missed.
    mass, com, wheel_radius, caster_offset, hip_position, steering_zero : float
        Bounds of the model errors, see `ParameterErrors`.
    friction : range
        μ between tyres and ground, contact plant only.
    pivot, scrub, rolling : range
        Factor on this friction of all casters.
    latency : range, s
        Of the whole loop.
    noise : range, counts
        Standard deviation of the noise of all encoders.
    wheel_counts, steering_counts : tuple of int
        Candidates, counts per turn.
    dropout : float
        Probability of a lost sample per cycle; not drawn.
    known_latency : float, s
        Latency in the model of the controller.
    sensors : str
        Profile or YAML file of the sensors (`read_sensors`), whose counts, noise, latency and
        dropout are replaced by those above.
    """

    controller: str = 'mpc'
    plant: str = 'mujoco'
    robot: str = 'c3p'
    experiment: str = ''
    goal: tuple[float, float, float] = (4.0, 0.0, 0.0)
    start_steering: tuple[float, ...] | str = (0.0,)
    seed: int = 0
    timeout: float = 30.0
    mass: float = 0.1
    com: float = 0.01
    wheel_radius: float = 0.0
    caster_offset: float = 0.0
    hip_position: float = 0.0
    steering_zero: float = 0.0
    friction: Range = (0.5, 0.9)
    pivot: Range = (0.5, 1.5)
    scrub: Range = (0.5, 1.5)
    rolling: Range = (0.5, 1.5)
    latency: Range = (0.0, 0.020)
    noise: Range = (0.0, 1.0)
    wheel_counts: tuple[int, ...] = (1000, 2000, 4000)
    steering_counts: tuple[int, ...] = (2048, 4096, 8192)
    dropout: float = 0.0
    known_latency: float = 0.010
    sensors: str = 'encoders'

    def __post_init__(self) -> None:
        """Validate the specification."""
        # imported on demand: the command line reads the defaults without loading controllers
        from c3p_controller import law_names
        from c3p_simulation.make_plant import PLANTS
        from c3p_simulation.sensor_files import read_sensors

        for name, known in (('controller', law_names()), ('plant', PLANTS)):
            if getattr(self, name) not in known:
                raise ValueError(f'{name} = {getattr(self, name)}: must be one of '
                                 f'{", ".join(known)}')
        for field in fields(self):
            if field.type == 'Range':
                self._check_range(field.name)
        if not (self.friction[0] > 0 or self.plant == 'analytic'):
            raise ValueError(f'friction = {self.friction}: must be greater than zero')
        if len(self.goal) != 3 or not all(map(math.isfinite, self.goal)):
            raise ValueError(f'goal = {self.goal}: must be three finite numbers, x, y and yaw')
        if self.seed < 0:
            raise ValueError(f'seed = {self.seed}: must be 0 or more')
        if not 0 < self.timeout < math.inf:
            raise ValueError(f'timeout = {self.timeout}: must be a positive number of seconds')
        for name in ('wheel_counts', 'steering_counts'):
            if not getattr(self, name):
                raise ValueError(f'{name}: must name one number of counts or more')
        if isinstance(self.start_steering, str) and self.start_steering != RANDOM:
            raise ValueError(f'start_steering = {self.start_steering}: must be angles or {RANDOM}')
        if self.experiment and (self.start_steering != (0.0,) or self.goal != (4.0, 0.0, 0.0)):
            raise ValueError(f'experiment = {self.experiment}: has goals and start steering of '
                             'its own; leave those out')
        # raise for invalid bounds of errors, and for unknown sensors
        _ = self.errors
        read_sensors(self.sensors)

    def _check_range(self, name: str) -> None:
        low, high = getattr(self, name)
        if not 0 <= low <= high < math.inf:
            raise ValueError(f'{name} = {low} {high}: must be two finite numbers, not negative, '
                             'the larger one last')

    @property
    def errors(self) -> ParameterErrors:
        """Bounds of the model errors."""
        return ParameterErrors(**{f.name: getattr(self, f.name) for f in fields(ParameterErrors)
                                  if f.name != 'friction'}, friction=0.0)

    def plain(self) -> dict[str, Any]:
        """Return all fields in JSON types."""
        return {name: list(value) if isinstance(value, tuple) else value
                for name, value in asdict(self).items()}


@dataclass(frozen=True, eq=False)
class Draw:
    """
    Robot, floor and sensors of one draw.

    Attributes
    ----------
    index : int
    described, robot : CasterRobot
        Model of the controller, and of the plant.
    friction : float
        μ; None on the analytic plant.
    factors : dict
        Of pivot, scrub and rolling friction.
    latency : float, s
    wheel_counts, steering_counts : int, 1/turn
    noise : float, counts
    sensor_seed : int
    steering : (n,) array, rad
        At the start.
    """

    index: int
    described: CasterRobot
    robot: CasterRobot
    friction: float | None
    factors: dict[str, float]
    latency: float
    wheel_counts: int
    steering_counts: int
    noise: float
    sensor_seed: int
    steering: Array

    def parameters(self) -> dict[str, float | int | None]:
        """Return all drawn quantities by name, SI units."""
        robot = self.robot
        described = self.described
        shown: dict[str, float | int | None] = {
            'platform_mass_kg': robot.platform_mass,
            'platform_inertia_kgm2': robot.platform_inertia,
            'com_x_m': float(robot.platform_com[0] - described.platform_com[0]),
            'com_y_m': float(robot.platform_com[1] - described.platform_com[1])}
        per_caster = {'link_mass_{}_kg': robot.link_mass, 'link_inertia_{}_kgm2':
                      robot.link_inertia, 'wheel_mass_{}_kg': robot.wheel_mass,
                      'wheel_spin_inertia_{}_kgm2': robot.wheel_spin_inertia,
                      'wheel_yaw_inertia_{}_kgm2': robot.wheel_yaw_inertia,
                      'wheel_radius_{}_m': robot.wheel_radius,
                      'caster_offset_{}_m': robot.caster_offset,
                      'hip_x_{}_m': robot.hip_position[:, 0],
                      'hip_y_{}_m': robot.hip_position[:, 1],
                      'steering_zero_{}_rad': robot.steering_zero,
                      'start_steering_{}_rad': self.steering}
        for name, values in per_caster.items():
            shown |= {name.format(i + 1): float(value) for i, value in enumerate(values)}
        shown['friction'] = self.friction
        shown |= {f'{name}_factor': value for name, value in self.factors.items()}
        return {**shown, 'latency_s': self.latency, 'wheel_counts': self.wheel_counts,
                'steering_counts': self.steering_counts, 'noise_counts': self.noise,
                'sensor_seed': self.sensor_seed}


def draw(spec: CampaignSpec, index: int) -> Draw:
    """
    Return draw number `index`, a pure function of its arguments.

    Examples
    --------
    >>> one, again = draw(CampaignSpec(), 7), draw(CampaignSpec(), 7)
    >>> one.parameters() == again.parameters()
    True
    """
    streams = {name: np.random.SeedSequence(spec.seed, spawn_key=(index, k))
               for k, name in enumerate(STREAMS)}

    def uniform(name: str) -> float:
        return float(np.random.default_rng(streams[name]).uniform(*getattr(spec, name)))

    def choice(name: str) -> int:
        return int(np.random.default_rng(streams[name]).choice(getattr(spec, name)))

    described = _described(spec.robot)
    factors = {name: uniform(name) for name in FACTORS}
    worn: dict[str, Any] = {
        name: factor * np.asarray(getattr(described.friction, name), float)
        for kind, factor in factors.items() for name in FACTORS[kind]}
    robot = perturbed(replace(described, friction=replace(described.friction, **worn)),
                      _seed(streams['robot']), spec.errors)
    if isinstance(spec.start_steering, str):
        steering = np.random.default_rng(streams['steering']).uniform(-np.pi, np.pi, robot.count)
    else:
        steering = _start(spec.start_steering, robot.count)
    return Draw(index, described, robot,
                uniform('friction') if spec.plant == 'mujoco' else None, factors,
                uniform('latency'), choice('wheel_counts'), choice('steering_counts'),
                uniform('noise'), _seed(streams['sensor_seed']), steering)


@cache
def _described(name: str) -> CasterRobot:
    # read once per process: draws must not change with the file during a campaign
    return load_casters(name)


def _seed(stream: np.random.SeedSequence) -> int:
    return int(stream.generate_state(1)[0])


def _start(angles: tuple[float, ...], count: int) -> Array:
    if len(angles) not in (1, count):
        raise ValueError(f'start_steering has {len(angles)} angles: must have 1, or {count}, one '
                         'for each caster')
    return np.array(np.broadcast_to(angles, (count,)), float)
