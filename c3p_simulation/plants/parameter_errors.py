# SPDX-License-Identifier: Apache-2.0
"""Seeded random perturbation of model parameters (Monte Carlo)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from c3p_description import wheels
from c3p_description.model import CasterRobot

# perturbed friction coefficients; smoothing is numerical
FRICTION = ('pivot_viscous', 'pivot_coulomb', 'rolling_viscous', 'rolling_coulomb',
            'scrub_coulomb')

# errors relative to the value, below 1
RELATIVE = ('mass', 'friction', 'wheel_radius', 'caster_offset')


@dataclass(frozen=True)
class ParameterErrors:
    """
    Bounds of the errors of model parameters; each error is uniform within ±.

    Attributes
    ----------
    mass : float, relative
        Of each mass and moment of inertia, independently: platform, links and wheels.
    com : float, m
        Of the centre of mass of the platform, in x and in y.
    friction : float, relative
        Of each coefficient of each caster.
    wheel_radius, caster_offset : float, relative
        Of each caster.
    hip_position : float, m
        Of each pivot, in x and in y.
    steering_zero : float, rad
        Of each measured steering angle (`SensedPlant` with ``model=``).
    """

    mass: float = 0.1
    com: float = 0.01
    friction: float = 0.0
    wheel_radius: float = 0.0
    caster_offset: float = 0.0
    hip_position: float = 0.0
    steering_zero: float = 0.0

    def __post_init__(self) -> None:
        """Validate the bounds."""
        for field in fields(self):
            size = getattr(self, field.name)
            limit = 1.0 if field.name in RELATIVE else math.inf
            if not 0 <= size < limit:
                raise ValueError(f'{field.name} = {size}: must be 0 or more'
                                 + (' and below 1, relative to the value'
                                    if limit == 1 else ' and finite'))


def perturbed(robot: CasterRobot, seed: int, errors: ParameterErrors | None = None
              ) -> CasterRobot:
    """
    Return a random robot around the description `robot`.

    ``true = described·(1 + e)`` or ``described + e`` with e uniform within `errors`. Each
    kind of error has its own random stream: a larger bound scales its draws and leaves the others.

    Parameters
    ----------
    robot : CasterRobot
        Description, the model of the controller.
    seed : int
        Equal seeds give equal robots.
    errors : ParameterErrors, optional

    Returns
    -------
    CasterRobot
        Equal to `robot` in parameters without error.

    Examples
    --------
    >>> described = CasterRobot.regular(0.343, [0.5236, 2.618, 4.7124], 0.04, 0.04, 30.0, 3.51)
    >>> true = perturbed(described, seed=1, errors=ParameterErrors(mass=0.1))
    >>> bool(27 <= true.platform_mass <= 33 and true.platform_mass != 30)
    True
    """
    errors = errors or ParameterErrors()
    # wheels on one pivot have one hip, one offset and one steering encoder
    pivot = wheels.first_on_pivot(robot)
    names = [field.name for field in fields(errors)]
    streams = dict(zip(names, np.random.SeedSequence(seed).spawn(len(names)), strict=True))

    def draw(name: str, *shapes: tuple[int, ...]) -> list[np.ndarray]:
        """Return one array of errors for each shape."""
        generator = np.random.default_rng(streams[name])
        return [getattr(errors, name) * generator.uniform(-1, 1, shape) for shape in shapes]

    n = robot.count
    heavy = ('platform_mass', 'platform_inertia', 'link_mass', 'link_inertia', 'wheel_mass',
             'wheel_spin_inertia', 'wheel_yaw_inertia')
    values = {name: getattr(robot, name) * (1 + error) for name, error in zip(
        heavy, draw('mass', (), (), *[(n,)] * 5), strict=True)}
    values['wheel_radius'] = robot.wheel_radius * (1 + draw('wheel_radius', (n,))[0])
    values['caster_offset'] = robot.caster_offset * (1 + draw('caster_offset', (n,))[0][pivot])
    friction = {name: robot.losses[:, k] * (1 + error) for k, (name, error) in enumerate(
        zip(FRICTION, draw('friction', *[(n,)] * len(FRICTION)), strict=True))}
    return replace(
        robot, platform_com=robot.platform_com + draw('com', (2,))[0],
        hip_position=robot.hip_position + draw('hip_position', (n, 2))[0][pivot],
        steering_zero=robot.steering_zero + draw('steering_zero', (n,))[0][pivot],
        friction=replace(robot.friction, **friction), **values)
