# SPDX-License-Identifier: Apache-2.0
"""
Model of the three-wheeled vehicle (AGV) of Saha & Angeles: geometry and inertias.

Axes: i to the right, j forward, k up, fixed to the platform with their origin in its centre of
mass C. Wheels 1 (left) and 2 (right) are driven and stand on one axle, a behind C; wheel 3 is
in front on a passive caster. Angles of wheels 1 and 2 count about i, that of wheel 3
about its own axle e₃, so that a *negative* rate rolls forward; ψ turns the caster about k, and at
ψ = 0 it trails when the vehicle drives forward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from c3p_description.model import Array, ArrayField, ModelError

# the joints, driven ones first: θ₁, θ₂, θ₃, ψ
JOINTS = ('wheel_joint_1', 'wheel_joint_2', 'wheel_joint_3', 'caster_joint')

_POSITIVE = ('track', 'wheel_radius', 'pivot_distance', 'caster_offset', 'platform_mass',
             'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia')
_NOT_NEGATIVE = ('axle_distance', 'platform_height', 'link_mass', 'link_inertia')
# moments of inertia are rounded when printed; a flat disc reaches this limit exactly
_MOMENT_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Agv:
    """
    A platform on two driven wheels and one caster: two freedoms.

    ``O₁,₂ = C ∓ (l/2) i − a j`` are the centres of the driven wheels, ``A₃ = C + b j`` is the
    caster's pivot, ``O₃ = A₃ − d f₃`` the centre of its wheel, with
    ``e₃ = cos ψ i + sin ψ j`` along its axle and ``f₃ = −sin ψ i + cos ψ j``.

    Attributes
    ----------
    name : str
    track : float, m
        l, between the centres of the driven wheels.
    wheel_radius : float, m
        r, of all three wheels.
    axle_distance : float, m
        a ≥ 0, from the driven axle forward to C.
    pivot_distance : float, m
        b, from C forward to the caster's pivot.
    caster_offset : float, m
        d, from the pivot back to the axle of wheel 3.
    platform_height : float, m
        h, underside of the platform above the floor; only wheel loads depend on it.
    platform_mass : float, kg
    platform_inertia : (3,) array, kg·m²
        Along i, j, k about C.
    wheel_mass : float, kg
        Of each of the three wheels.
    wheel_spin_inertia, wheel_yaw_inertia : float, kg·m²
        About the axle, and about a diameter.
    link_mass, link_com, link_inertia : float, kg, m, kg·m²
        The caster's fork: mass, how far its centre of mass trails the pivot, inertia about its
        own vertical axis.
    viscous : (4,) array, N·m·s/rad
        Of the joints θ₁, θ₂, θ₃, ψ.
    drive_torque, drive_rate : float, N·m and rad/s
        What a motor can give at its wheel; ``inf`` means no limit.

    Raises
    ------
    ModelError
        Invalid length, mass or inertia; the text names the value and the remedy.

    Examples
    --------
    >>> agv = Agv('example', 0.4, 0.05, 0.101, 0.202, 0.025)
    >>> round(agv.pivot_lever, 3)
    0.303
    """

    name: str
    track: float
    wheel_radius: float
    axle_distance: float
    pivot_distance: float
    caster_offset: float
    platform_height: float = 0.1
    platform_mass: float = 1.0
    platform_inertia: ArrayField = (1.0, 1.0, 1.0)
    wheel_mass: float = 1.0
    wheel_spin_inertia: float = 1.0
    wheel_yaw_inertia: float = 1.0
    link_mass: float = 0.0
    link_com: float = 0.0
    link_inertia: float = 0.0
    viscous: ArrayField = 0.0
    drive_torque: float = math.inf
    drive_rate: float = math.inf

    def __post_init__(self) -> None:
        """Check every number and freeze it."""
        for name in (*_POSITIVE, *_NOT_NEGATIVE, 'link_com'):
            value = float(getattr(self, name))
            if not math.isfinite(value):
                raise ModelError(f'{name} = {value}: must be a finite number')
            if name != 'link_com' and (value < 0 or (value == 0 and name in _POSITIVE)):
                raise ModelError(f'{name} = {value}: must '
                                 + ('be greater than zero' if name in _POSITIVE
                                    else 'not be negative'))
            self._set(name, value)
        for name in ('drive_torque', 'drive_rate'):
            value = float(getattr(self, name))
            if not value > 0:
                raise ModelError(f'{name} = {value}: must be greater than zero; inf: no limit')
            self._set(name, value)
        self._set('platform_inertia', self._numbers('platform_inertia', 3))
        self._set('viscous', self._numbers('viscous', 4))
        self._check_moments()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _numbers(self, name: str, count: int) -> Array:
        """Return `count` finite numbers that are not negative, read-only; one stands for all."""
        given = np.asarray(getattr(self, name), float)
        if given.shape not in ((), (count,)) or not np.all(np.isfinite(given)):
            raise ModelError(f'{name} = {given.tolist()}: expected {count} finite numbers')
        values = np.array(np.broadcast_to(given, (count,)))
        if np.any(values < 0):
            raise ModelError(f'{name} = {values.tolist()}: must not be negative')
        values.setflags(write=False)
        return values

    def _check_moments(self) -> None:
        """Refuse moments of inertia that no body has."""
        low, middle, high = np.sort(self.platform_inertia)
        if low <= 0 or high > (low + middle) * (1 + _MOMENT_TOLERANCE):
            raise ModelError(f'platform_inertia = {self.platform_inertia.tolist()}: no body has '
                             'these moments; each must be positive and at most the sum of the '
                             'other two')
        if self.wheel_spin_inertia > 2 * self.wheel_yaw_inertia * (1 + _MOMENT_TOLERANCE):
            raise ModelError(f'wheel_spin_inertia = {self.wheel_spin_inertia}: must be at most '
                             f'twice wheel_yaw_inertia = {self.wheel_yaw_inertia}, which a flat '
                             'disc has')

    @property
    def pivot_lever(self) -> float:
        """``c = a + b``, from the driven axle forward to the caster's pivot, m."""
        return self.axle_distance + self.pivot_distance

    @property
    def platform_size(self) -> Array:
        """
        Sides along i, j, k of the solid box with the platform's mass and moments (3,), m.

        ``s_i² = 6 (I_j + I_k − I_i)/m``.
        """
        moments = self.platform_inertia
        return np.sqrt(6 * np.maximum(moments.sum() - 2 * moments, 0.0) / self.platform_mass)

    @property
    def centre_height(self) -> float:
        """Height of C above the floor when the platform is that box, m."""
        return self.platform_height + float(self.platform_size[2]) / 2

    @property
    def total_mass(self) -> float:
        """Mass of the whole vehicle, kg."""
        return self.platform_mass + 3 * self.wheel_mass + self.link_mass

    @cached_property
    def numbers(self) -> Array:
        """
        Parameters of the compiled equations (11,): geometry and inertias.

        ``[l, r, a, c, d, μ_vv, μ_ww, m_p a, μ_e, μ_a, κ]``: with v the speed of the middle of
        the axle along j and w the yaw rate, platform and driven wheels have the energy
        ½ (μ_vv v² + μ_ww w²) and the caster ½ (μ_e s² + μ_a u²), where s and u are the velocity
        of its pivot along f₃ and e₃.
        """
        l = self.track
        r = self.wheel_radius
        a = self.axle_distance
        d = self.caster_offset
        # effective mass of a rolling wheel along its path
        rolling = self.wheel_mass + self.wheel_spin_inertia / r**2
        ahead = 1.0 - self.link_com / d
        values = np.array([
            l, r, a, self.pivot_lever, d,
            self.platform_mass + 2 * rolling,
            self.platform_inertia[2] + self.platform_mass * a**2 + rolling * l**2 / 2
            + 2 * self.wheel_yaw_inertia,
            self.platform_mass * a,
            rolling + self.link_mass,
            self.link_mass * ahead**2 + (self.link_inertia + self.wheel_yaw_inertia) / d**2,
            self.link_mass * ahead / d])
        values.setflags(write=False)
        return values
