# SPDX-License-Identifier: Apache-2.0
"""
Vehicle on two driven wheels and a caster on a circle: sweep, joints, caster, in closed form.

The middle of the driven axle runs on a circle of radius R with its centre to the left (on −i), so
that ``v = R β̇`` and ``ω = β̇``. The sweep is a polynomial of fifth order that starts and ends at
rest and without acceleration, ``β = B (10 s³ − 15 s⁴ + 6 s⁵)`` with s = t/T: with B = 2π and
T = 60 s the coefficients that Saha & Angeles print.

The caster's equation depends on β alone, ``dψ/dβ = (c cos ψ − R sin ψ)/d − 1``. With
``ρ = √(R² + c²)``, ``χ = atan2(c, R)`` and ``x = ψ − χ`` it is ``dx/dβ = −(1 + (ρ/d) sin x)``, a
Riccati equation in tan(x/2) with constant coefficients, solved exactly here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.agv_model import Agv
from c3p_description.model import Array
from c3p_multibody.agv.kinematics import caster_rates


class Sweep(NamedTuple):
    """The sweep angle with its first two derivatives: rad, rad/s, rad/s²; (…) arrays."""

    angle: Array
    rate: Array
    acceleration: Array


class JointPath(NamedTuple):
    """
    The joints along the path.

    Attributes
    ----------
    angles, rates, accelerations : (…, 2) arrays
        Of the driven wheels, rad, rad/s, rad/s²; the angles start at zero.
    caster, caster_rate : (…) arrays
        ψ and ψ̇, rad and rad/s.
    """

    angles: Array
    rates: Array
    accelerations: Array
    caster: Array
    caster_rate: Array


@dataclass(frozen=True)
class Circle:
    """
    A drive on a circle, from rest to rest.

    Attributes
    ----------
    radius : float, m
        R, of the middle of the driven axle. Positive drives forward (along j), negative backward.
        Not printed in the paper; 1 m is assumed.
    duration : float, s
        T.
    angle : float, rad
        B, swept in all.
    caster_start : float or None, rad
        ψ at the start; None is the angle of a steady turn, to which the caster tends.

    Raises
    ------
    ValueError
        A number that is not finite, a duration that is not positive.

    Examples
    --------
    >>> circle = Circle()
    >>> round(float(circle.sweep(30.0).angle / math.pi), 12)
    1.0
    """

    radius: float = 1.0
    duration: float = 60.0
    angle: float = 2 * math.pi
    caster_start: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ('radius', 'duration', 'angle', 'caster_start'):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise ValueError(f'{name} = {value}: must be finite')
        if self.duration <= 0:
            raise ValueError(f'duration = {self.duration}: must be greater than zero')

    @property
    def coefficients(self) -> Array:
        """``a₀ … a₅`` of β(t) (6,), rad/sⁱ."""
        parts = np.array([0.0, 0.0, 0.0, 10.0, -15.0, 6.0])
        return self.angle * parts / self.duration ** np.arange(6)

    def sweep(self, time: ArrayLike) -> Sweep:
        """Return β, β̇ and β̈ at `time` (…), s; held at the ends outside the drive."""
        s = np.clip(np.asarray(time, float) / self.duration, 0.0, 1.0)
        rest = s * (1 - s)
        return Sweep(self.angle * s**3 * (10 - s * (15 - 6 * s)),
                     self.angle * 30 * rest**2 / self.duration,
                     self.angle * 60 * rest * (1 - 2 * s) / self.duration**2)


def steady_caster(agv: Agv, radius: float) -> float:
    """
    Return the stable angle ψ of the caster in a steady turn, rad.

    ``c cos ψ − R sin ψ = d``, the stable one of the two: ``ψ = χ − asin(d/ρ)``. R = `radius` [m]
    of the middle of the axle, turning left; negative for backward driving.

    Raises
    ------
    ValueError
        The circle of the pivot is not wider than the caster's offset: no steady angle exists.

    Examples
    --------
    >>> agv = Agv('example', 0.4, 0.05, 0.101, 0.202, 0.025)
    >>> round(steady_caster(agv, 1.0), 4)
    0.2703
    """
    reach = math.hypot(radius, agv.pivot_lever)
    if reach <= agv.caster_offset:
        raise ValueError(f'radius = {radius}: the pivot runs on a circle of {reach:.3g} m, which '
                         f'must be wider than caster_offset = {agv.caster_offset} m')
    return math.atan2(agv.pivot_lever, radius) - math.asin(agv.caster_offset / reach)


def caster_on_circle(agv: Agv, radius: float, angle: ArrayLike, start: float) -> Array:
    """
    Return ψ after sweeping `angle` ≥ 0 from ψ = `start`.

    With p = ρ/d and the roots ``z± = −p ± √(p² − 1)`` of z² + 2pz + 1, z = tan(x/2) follows
    ``(z − z₊)/(z − z₋) = q₀ exp(−√(p² − 1) β)``: the caster falls into the steady turn
    exponentially, and at a start exactly on the unstable angle it stays there. `angle` (…) is the
    sweep β since the start; ψ (…) is continuous, not wrapped. `radius` and errors as in
    `steady_caster`.
    """
    fall, sine, sine_fall, cosine, cosine_fall, offset = caster_constants(agv, radius, start)
    decay = np.exp(-fall * np.asarray(angle, float))
    return 2 * np.arctan2(sine + sine_fall * decay, cosine + cosine_fall * decay) + offset


def caster_constants(agv: Agv, radius: float, start: float) -> Array:
    """
    Return the numbers (6,) of `caster_on_circle`, for kernels.

    ``[k, A, A′, B, B′, ψ₀]`` with ``ψ = 2 atan2(A + A′E, B + B′E) + ψ₀``, E = exp(−kβ).
    """
    steady_caster(agv, radius)
    reach = math.hypot(radius, agv.pivot_lever) / agv.caster_offset
    turn = math.atan2(agv.pivot_lever, radius)
    fall = math.sqrt(reach**2 - 1)
    # z₋ of the unstable angle; the product of the roots is 1, and z₊ alone would cancel
    unstable = -reach - fall
    stable = 1 / unstable
    # x in (−π, π]; whole turns are put back at the end
    x = start - turn
    whole = 2 * math.pi * math.ceil((x - math.pi) / (2 * math.pi))
    half = (x - whole) / 2
    # q = near/away: kept as a pair, so that neither end of the scale divides by zero
    away = math.sin(half) - unstable * math.cos(half)
    near = math.sin(half) - stable * math.cos(half)
    # away < 0 only for x between −π and the unstable angle: there x runs down through −π
    sign, down = (1.0, 0.0) if away >= 0 else (-1.0, 2 * math.pi)
    return np.array([fall, sign * stable * away, -sign * unstable * near, sign * away,
                     -sign * near, turn + whole - down])


def caster_start(agv: Agv, circle: Circle) -> float:
    """Return ψ of the `agv` at the start of the `circle`, rad."""
    if circle.caster_start is None:
        return steady_caster(agv, circle.radius)
    return circle.caster_start


def joint_path(agv: Agv, circle: Circle, time: ArrayLike) -> JointPath:
    """
    Return angles, rates and accelerations of the joints on the circle.

    ``θ₁,₂ = (−R ± l/2) β/r`` at `time` (…), s, from a consistent twist; ψ and errors by
    `caster_on_circle`.

    Examples
    --------
    >>> agv = Agv('example', 0.4, 0.05, 0.101, 0.202, 0.025)
    >>> np.round(joint_path(agv, Circle(), 60.0).angles / math.pi, 12)
    array([-32., -48.])
    """
    sweep = circle.sweep(time)
    ratio = (-circle.radius + np.array([0.5, -0.5]) * agv.track) / agv.wheel_radius
    rates = sweep.rate[..., None] * ratio
    caster = caster_on_circle(agv, circle.radius, sweep.angle, caster_start(agv, circle))
    return JointPath(sweep.angle[..., None] * ratio, rates, sweep.acceleration[..., None] * ratio,
                     caster, caster_rates(agv, caster, rates)[..., 1])


def floor_path(agv: Agv, circle: Circle, angle: ArrayLike) -> tuple[Array, Array]:
    """
    Return the positions (…, 2) of the axle's middle and of C after the sweep `angle` (…), m.

    The centre of the circle is the origin, and at angle 0 the axle is on X: the middle of the axle
    at ``R (cos β, sin β)``, C at a distance a before it, along ``(−sin β, cos β)``.
    """
    c, s = np.cos(angle), np.sin(angle)
    axle = circle.radius * np.stack([c, s], axis=-1)
    return axle, axle + agv.axle_distance * np.stack([-s, c], axis=-1)
