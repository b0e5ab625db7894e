# SPDX-License-Identifier: Apache-2.0
"""Robots that are not quite as their description says: drawn around it, by seed."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from c3p_description.model import CasterRobot

# what counts as friction: smoothing is numerical
FRICTION = ('pivot_viscous', 'pivot_coulomb', 'rolling_viscous', 'rolling_coulomb',
            'scrub_coulomb')

# which of the errors are shares of the value, and how large a share may be
RELATIVE = ('mass', 'friction', 'wheel_radius', 'caster_offset')


@dataclass(frozen=True)
class ParameterErrors:
    """
    How far a real robot may be from its description; every error is uniform within ±.

    Attributes
    ----------
    mass : float, share
        Of each mass and, drawn anew, of each moment of inertia: platform, and each link and wheel
        by itself.
    com : float, m
        Of the centre of mass of the platform, in x and in y.
    friction : float, share
        Of each coefficient of each caster.
    wheel_radius, caster_offset : float, share
        Of each caster.
    hip_position : float, m
        Of each pivot, in x and in y.
    steering_zero : float, rad
        Of each steering angle as encoders tell it (`SensedPlant` with ``model=``).
    """

    mass: float = 0.1
    com: float = 0.01
    friction: float = 0.0
    wheel_radius: float = 0.0
    caster_offset: float = 0.0
    hip_position: float = 0.0
    steering_zero: float = 0.0

    def __post_init__(self) -> None:
        """Refuse sizes that cannot be."""
        for field in fields(self):
            size = getattr(self, field.name)
            limit = 1.0 if field.name in RELATIVE else math.inf
            if not 0 <= size < limit:
                raise ValueError(f'{field.name} = {size}: must be 0 or more'
                                 + (' and below 1, a share of the value'
                                    if limit == 1 else ' and finite'))


def perturbed(robot: CasterRobot, seed: int, errors: ParameterErrors | None = None
              ) -> CasterRobot:
    """
    Return the robot that stands in the laboratory where `robot` is described.

    ``true = described·(1 + e)`` or ``described + e`` with e uniform within the sizes of `errors`.
    Each kind of error has a stream of its own: a larger one leaves the draws of the others, and
    scales its own.

    Parameters
    ----------
    robot : CasterRobot
        As described, and as the controller knows it.
    seed : int
        Equal seeds give equal robots.
    errors : ParameterErrors, optional

    Returns
    -------
    CasterRobot
        Equal to `robot` in everything that has no error.

    Examples
    --------
    >>> described = CasterRobot.regular(0.343, [0.5236, 2.618, 4.7124], 0.04, 0.04, 30.0, 3.51)
    >>> true = perturbed(described, seed=1, errors=ParameterErrors(mass=0.1))
    >>> bool(27 <= true.platform_mass <= 33 and true.platform_mass != 30)
    True
    """
    errors = errors or ParameterErrors()
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
    for name in ('wheel_radius', 'caster_offset'):
        values[name] = getattr(robot, name) * (1 + draw(name, (n,))[0])
    friction = {name: robot.losses[:, k] * (1 + error) for k, (name, error) in enumerate(
        zip(FRICTION, draw('friction', *[(n,)] * len(FRICTION)), strict=True))}
    return replace(
        robot, platform_com=robot.platform_com + draw('com', (2,))[0],
        hip_position=robot.hip_position + draw('hip_position', (n, 2))[0],
        steering_zero=robot.steering_zero + draw('steering_zero', (n,))[0],
        friction=replace(robot.friction, **friction), **values)
