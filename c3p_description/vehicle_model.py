# SPDX-License-Identifier: Apache-2.0
"""Description of a vehicle for rough ground: joints, wheels and what the ground positions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

# surfaces of wheels and the numbers that each takes
SURFACES = {'torus': ('wheel radius', 'tube radius'), 'sphere': ('radius',),
            'ellipsoid': ('radius', 'half width'),
            'cylinder': ('radius', 'half flat', 'edge radius')}
Triple = tuple[float, float, float]


@dataclass(frozen=True)
class VehicleJoint:
    """
    One joint, in the frames of a URDF.

    Attributes
    ----------
    axis : (3,) tuple
    origin : (3,) tuple, m
        Of the joint's frame in its parent's.
    rpy : (3,) tuple, rad
        Of the joint's frame in its parent's: roll, pitch, yaw.
    kind : str
        ``revolute`` or ``prismatic``.
    lower, upper : float, rad or m
    """

    axis: Triple
    origin: Triple = (0.0, 0.0, 0.0)
    rpy: Triple = (0.0, 0.0, 0.0)
    kind: str = 'revolute'
    lower: float = -math.inf
    upper: float = math.inf


@dataclass(frozen=True)
class VehicleWheel:
    """
    One wheel.

    Attributes
    ----------
    joints : tuple of str
        From the platform to the wheel; the last is the spin, about y.
    surface : str
        One of `SURFACES`.
    numbers : tuple of float, m
        Of the surface.
    """

    joints: tuple[str, ...]
    surface: str
    numbers: tuple[float, ...]

    @property
    def outer_radius(self) -> float:
        """Distance of the tread from the axle, m."""
        return sum(self.numbers) if self.surface == 'torus' else self.numbers[0]


@dataclass(frozen=True)
class RoughVehicle:
    """
    A vehicle for rough ground.

    Attributes
    ----------
    name : str
    joints : mapping
        Name → joint, in the order of joint_states.
    wheels : mapping
        Name → wheel.
    settling : tuple of str
        Joints positioned by the ground: rockers.
    camber : tuple of str
        Joints to which a camber gain applies.
    steering : tuple of str
        Joints that cmd_vel steers, within their limits.
    passive : tuple of str
        Joints and spins without a motor: they take the rates that the ground gives them.
    steering_rate_limit, drive_rate_limit : float, rad/s
    """

    name: str
    joints: Mapping[str, VehicleJoint]
    wheels: Mapping[str, VehicleWheel]
    settling: tuple[str, ...] = ()
    camber: tuple[str, ...] = ()
    steering: tuple[str, ...] = ()
    passive: tuple[str, ...] = ()
    steering_rate_limit: float = math.inf
    drive_rate_limit: float = math.inf
    source: str = field(default='', compare=False)

    @property
    def outer_radius(self) -> float:
        """Of the largest wheel, m."""
        return max(wheel.outer_radius for wheel in self.wheels.values())
