# SPDX-License-Identifier: Apache-2.0
"""
Model of the tricycle with passive variable camber (PVC): geometry, masses and limits.

Frames: the platform frame {P} is ``base_link``, x forward, y left, z up, its origin in the middle
of the rear axle at the height of the wheel centres. Wheel 1 is in front and steers, wheel 2 is
rear left, wheel 3 rear right; each of these two has a passive camber joint about an axis along x
of the platform. All joint angles are zero when the wheels are upright and point ahead. A wheel is
a torus, the surface of a tube around the centre circle; its axle is along its own y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from c3p_description.model import Array, ArrayField, ModelError

# the joints θ, in the order of the paper
JOINTS = ('steering_joint_1', 'wheel_joint_1', 'camber_joint_2', 'wheel_joint_2',
          'camber_joint_3', 'wheel_joint_3')

_POSITIVE = ('wheelbase', 'half_track', 'wheel_radius', 'tube_radius', 'steering_limit',
             'camber_limit', 'steering_rate_limit', 'drive_rate_limit', 'platform_mass',
             'fork_mass', 'camber_arm_mass', 'wheel_mass')
_ANGLES = ('steering_limit', 'camber_limit')
# a wheel that steers or rolls over by more than this is on its side
_LARGEST_ANGLE = math.pi / 2


@dataclass(frozen=True, eq=False)
class PvcTricycle:
    """
    Tricycle on torus wheels with passive camber of the rear wheels.

    The wheel frames in {P} are, with the steering angle φ, the camber angles γ and the spin
    angles α, ``T_PW1 = Trans(L, 0, 0) Rz(φ) Ry(α₁)`` and
    ``T_PW2,3 = Trans(0, ±(b − e), 0) Rx(γ₂,₃) Trans(0, ±e, 0) Ry(α₂,₃)``.

    Attributes
    ----------
    name : str
    wheelbase : float, m
        L, from the rear axle to the steering axis.
    half_track : float, m
        b, from the middle of the vehicle to a rear wheel centre.
    camber_offset : float, m
        e, distance of the camber axis inboard of the wheel centre; 0 ≤ e < b.
    wheel_radius : float, m
        R, of the centre circle of the tube.
    tube_radius : float, m
        ρ < R, of the tube itself; an upright wheel reaches R + ρ below its centre.
    steering_limit, camber_limit : float, rad
        Largest angle to either side, at most π/2; ``inf`` is not a limit that a wheel can have.
    steering_rate_limit, drive_rate_limit : float, rad/s
        Limits of the motors; ``inf``: no limit.
    platform_mass, fork_mass, camber_arm_mass, wheel_mass : float, kg
        Fork: the steered body. Arm: the body that cambers with one rear wheel.
    platform_com : (3,) array, m
        Centre of mass of the platform alone, in {P}.
    platform_inertia : (3,) array, kg·m²
        Principal moments of the platform about its centre of mass, along x, y, z of {P}.

    Raises
    ------
    ModelError
        Invalid length, mass or limit; the text names the value and the remedy.

    Notes
    -----
    Auchter & Moore print none of these numbers; see ``robots/pvc_tricycle.yaml``.

    Examples
    --------
    >>> tricycle = PvcTricycle('example', 1.2, 0.6, 0.1, 0.25, 0.05)
    >>> tricycle.outer_radius
    0.3
    """

    name: str
    wheelbase: float
    half_track: float
    camber_offset: float
    wheel_radius: float
    tube_radius: float
    steering_limit: float = 1.0
    camber_limit: float = 1.0
    steering_rate_limit: float = math.inf
    drive_rate_limit: float = math.inf
    platform_mass: float = 1.0
    platform_com: ArrayField = (0.0, 0.0, 0.0)
    platform_inertia: ArrayField = (1.0, 1.0, 1.0)
    fork_mass: float = 1.0
    camber_arm_mass: float = 1.0
    wheel_mass: float = 1.0

    def __post_init__(self) -> None:
        """Check every number and freeze it."""
        for name in (*_POSITIVE, 'camber_offset'):
            value = float(getattr(self, name))
            if math.isnan(value) or (math.isinf(value) and not name.endswith('rate_limit')):
                raise ModelError(f'{name} = {value}: must be a finite number')
            if value < 0 or (value == 0 and name in _POSITIVE):
                raise ModelError(f'{name} = {value}: must '
                                 + ('be greater than zero' if name in _POSITIVE
                                    else 'not be negative; zero puts the axis through the wheel'))
            self._set(name, value)
        for name in ('platform_com', 'platform_inertia'):
            self._set(name, self._triple(name))
        self._check_shape()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _triple(self, name: str) -> Array:
        """Return a field of three finite numbers, read-only."""
        values = np.array(getattr(self, name), float)
        if values.shape != (3,) or not np.all(np.isfinite(values)):
            raise ModelError(f'{name} = {values.tolist()}: expected three finite numbers, '
                             'along x, y and z of the platform')
        values.setflags(write=False)
        return values

    def _check_shape(self) -> None:
        """Refuse what fits together in no vehicle."""
        if self.tube_radius >= self.wheel_radius:
            raise ModelError(f'tube_radius = {self.tube_radius}: must be smaller than '
                             f'wheel_radius = {self.wheel_radius}, the radius of the circle in '
                             'the middle of the tube; subtract the tube from the outer radius')
        if self.camber_offset >= self.half_track:
            raise ModelError(f'camber_offset = {self.camber_offset}: must be smaller than '
                             f'half_track = {self.half_track}, or the camber axes change sides')
        if self.half_track <= self.tube_radius:
            raise ModelError(f'half_track = {self.half_track}: must be greater than tube_radius '
                             f'= {self.tube_radius}, or the rear wheels meet')
        for name in _ANGLES:
            if getattr(self, name) > _LARGEST_ANGLE:
                raise ModelError(f'{name} = {getattr(self, name)}: must be at most π/2; give '
                                 'radians')
        moments = np.sort(self.platform_inertia)
        if moments[0] <= 0 or moments[2] > moments[0] + moments[1]:
            raise ModelError(f'platform_inertia = {self.platform_inertia.tolist()}: no body has '
                             'these moments; each must be positive and at most the sum of the '
                             'other two')

    @property
    def outer_radius(self) -> float:
        """R + ρ, height of the wheel centre above flat ground while the wheel is upright, m."""
        return self.wheel_radius + self.tube_radius

    @property
    def wheel_centers(self) -> Array:
        """Wheel centres in {P} at zero angles (3, 3), m."""
        return np.array([[self.wheelbase, 0.0, 0.0], [0.0, self.half_track, 0.0],
                         [0.0, -self.half_track, 0.0]])

    @property
    def wheel_inertia(self) -> Array:
        """
        Moments of a wheel along x, y, z of its frame (3,), kg·m²: a solid torus.

        ``I_y = m (R² + 3ρ²/4)`` about the axle, ``I_x = I_z = m (R²/2 + 5ρ²/8)``.
        """
        across = self.wheel_mass * (self.wheel_radius**2 / 2 + 5 / 8 * self.tube_radius**2)
        spin = self.wheel_mass * (self.wheel_radius**2 + 3 / 4 * self.tube_radius**2)
        return np.array([across, spin, across])

    @property
    def total_mass(self) -> float:
        """Mass of the whole vehicle, kg."""
        return (self.platform_mass + self.fork_mass + 2 * self.camber_arm_mass
                + 3 * self.wheel_mass)
