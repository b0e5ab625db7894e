# SPDX-License-Identifier: Apache-2.0
"""
Dynamics of a vehicle on two driven wheels and one caster, in closed form.

With the rates of the driven wheels θ̇ = (θ̇₁, θ̇₂) and the caster's angle ψ,

    I(ψ) θ̈ + C(ψ, θ̇) θ̇ = τ + γ + δ

which is Saha & Angeles, eqs (22) and (29), with C counted on the left and γ of a slope. In v, the
speed of the middle of the axle, and w, the yaw rate, with s = cos ψ v + c sin ψ w and
u = sin ψ v − c cos ψ w the velocity of the caster's pivot along its wheel and across it (f and e
their rows, ψ̇ = −u/d − w):

    2 T = μ_vv v² + μ_ww w² + μ_e s² + μ_a u²
    force = fᵀ(−μ_e ψ̇ u − κ u²) + eᵀ(μ_a ψ̇ s + κ s u) + m_p a (−w², v w)

The caster is that of a caster robot (caster_dynamics.py); the same equations follow from the
natural orthogonal complement of all five bodies (bodies.py, orthogonal_complement/). ψ is a
state of its own: rates of the driven wheels do not give it back. Leading dimensions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.agv_model import Agv
from c3p_description.model import GRAVITY, Array
from c3p_kinematics.casters import batched
from c3p_multibody.agv import _kernels as kernels

# gravity on level ground in the platform's axes, m/s²
LEVEL = (0.0, 0.0, -GRAVITY)

# the state of the direct dynamics
STATE = ('θ₁', 'θ₂', 'θ̇₁', 'θ̇₂', 'ψ')


def _batch(caster: ArrayLike, **vectors: ArrayLike) -> tuple[tuple[int, ...], list[Array]]:
    """Return the common leading shape, and everything as contiguous (B,) and (B, 2 or 3)."""
    batch, (angles, *rows) = batched(
        1, caster=(np.asarray(caster, float)[..., None], 1),
        **{name: (value, 3 if name == 'gravity' else 2) for name, value in vectors.items()})
    return batch, [angles[:, 0], *rows]


def _mass_and_bias(agv: Agv, caster: Array, rates: Array) -> tuple[Array, Array]:
    """Return I (B, 2, 2) and Cθ̇ (B, 2) of checked states."""
    mass = np.empty((len(caster), 2, 2))
    force = np.empty((len(caster), 2))
    kernels.masses_and_biases(agv.numbers, caster, rates, mass, force)
    return mass, force


def mass_matrix(agv: Agv, caster: ArrayLike) -> Array:
    """
    Return I(ψ) (…, 2, 2), kg·m², the inertia that the driven wheels feel, at angles `caster` (…).

    Symmetric and positive definite. ValueError for an angle that is not finite.

    Examples
    --------
    >>> from c3p_description import load
    >>> mass_matrix(load('agv'), 0.0).round(5)
    array([[0.03435, 0.0019 ],
           [0.0019 , 0.03435]])
    """
    batch, (angles,) = _batch(caster)
    return _mass_and_bias(agv, angles, np.zeros((len(angles), 2)))[0].reshape(*batch, 2, 2)


def bias(agv: Agv, caster: ArrayLike, rates: ArrayLike) -> Array:
    """
    Return C(ψ, θ̇) θ̇ (…, 2), N·m, the torques of centripetal and Coriolis accelerations.

    `caster` (…), rad, and `rates` (…, 2), rad/s. ``θ̇ᵀ(Cθ̇ − ½ İ θ̇) = 0``: no work beyond the
    change of I. ValueError for a wrong size, or a number that is not finite.
    """
    batch, (angles, speeds) = _batch(caster, rates=rates)
    return _mass_and_bias(agv, angles, speeds)[1].reshape(*batch, 2)


def friction_torque(agv: Agv, caster: ArrayLike, rates: ArrayLike) -> Array:
    """
    Return δ, the viscous friction of all four joints as torques on the driven wheels.

    ``δ = −Rᵀ diag(b) R θ̇`` with R the (4, 2) rates of the joints of unit rates of the driven ones.
    Shapes, units and errors as `bias`.
    """
    batch, (angles, speeds) = _batch(caster, rates=rates)
    return _loss(agv, angles, speeds).reshape(*batch, 2)


def _loss(agv: Agv, angles: Array, speeds: Array) -> Array:
    """Return δ (B, 2) of checked states."""
    out = np.empty_like(speeds)
    kernels.frictions(agv.numbers, agv.viscous, angles, speeds, out)
    return out


def gravity_along(slope: float, uphill: float, heading: ArrayLike) -> Array:
    """
    Return gravity (…, 3), m/s², in the platform's axes i, j, k on a plane.

    `slope` ≥ 0 is the angle of the plane and `uphill` the direction of its steepest ascent in the
    plane's axes, `heading` β (…) that of i in the same; all rad.
    """
    away = uphill - np.asarray(heading, float)
    along = -GRAVITY * np.sin(slope)
    return np.stack([along * np.cos(away), along * np.sin(away),
                     np.full_like(away, -GRAVITY * np.cos(slope))], axis=-1)


def gravity_torque(agv: Agv, caster: ArrayLike, gravity: ArrayLike) -> Array:
    """
    Return γ (…, 2), N·m, the weight of all bodies as torques on the driven wheels.

    ``γᵀθ̇ = Σ m gᵀv``, with in v, w and u

        Σ m v = M v j − (m_p a + (m_f + m_w) c) w i − (m_f c_f + m_w d) (u/d) e₃

    `gravity` (…, 3) is in the platform's axes (`gravity_along`), m/s²; its part along k does no
    work. `caster` (…), rad. ValueError for a wrong size, or a number that is not finite.
    """
    batch, (angles, pull) = _batch(caster, gravity=gravity)
    return _weight(agv, angles, pull).reshape(*batch, 2)


def _weight(agv: Agv, angles: Array, gravity: Array) -> Array:
    """Return γ (B, 2) of checked angles (B,) and gravity (B, 3)."""
    (right, ahead), c, s = gravity.T[:2], np.cos(angles), np.sin(angles)
    front = agv.link_mass + agv.wheel_mass
    total = agv.platform_mass + 2.0 * agv.wheel_mass + front
    trail = (agv.link_mass * agv.link_com / agv.caster_offset + agv.wheel_mass) * (
        right * c + ahead * s)
    # per unit of v and of w; u = sin ψ v − c cos ψ w
    speed = total * ahead - trail * s
    turn = -(agv.platform_mass * agv.axle_distance + front * agv.pivot_lever) * right
    turn += trail * agv.pivot_lever * c
    p = -0.5 * agv.wheel_radius
    q = agv.wheel_radius / agv.track
    return np.stack([p * speed + q * turn, p * speed - q * turn], axis=-1)


def inverse_dynamics(agv: Agv, caster: ArrayLike, rates: ArrayLike, accelerations: ArrayLike,
                     gravity: ArrayLike = LEVEL) -> Array:
    """
    Return the motor torques (…, 2), N·m, of a motion, ``τ = I θ̈ + C θ̇ − γ − δ``.

    Between platform and wheel, positive about +i: negative drives forward. `accelerations` (…, 2),
    rad/s²; `gravity` as for `gravity_torque`, by default that of level ground; all else and the
    errors as for `bias`.
    """
    batch, (angles, speeds, rise, pull) = _batch(caster, rates=rates, accelerations=accelerations,
                                                 gravity=gravity)
    mass, force = _mass_and_bias(agv, angles, speeds)
    torque = np.einsum('bij,bj->bi', mass, rise) + force - _weight(agv, angles, pull)
    return (torque - _loss(agv, angles, speeds)).reshape(*batch, 2)


def direct_dynamics(agv: Agv, caster: ArrayLike, rates: ArrayLike, torque: ArrayLike,
                    gravity: ArrayLike = LEVEL) -> Array:
    """
    Return θ̈ (…, 2), rad/s², under motor torques (…, 2), N·m: ``I⁻¹(τ + γ + δ − C θ̇)``.

    `gravity` as for `inverse_dynamics`; all else and the errors as for `bias`.
    """
    batch, (angles, speeds, moments, pull) = _batch(caster, rates=rates, torque=torque,
                                                    gravity=gravity)
    mass, force = _mass_and_bias(agv, angles, speeds)
    known = moments + _loss(agv, angles, speeds) - force + _weight(agv, angles, pull)
    return np.linalg.solve(mass, known[..., None])[..., 0].reshape(*batch, 2)


def kinetic_energy(agv: Agv, caster: ArrayLike, rates: ArrayLike) -> Array:
    """Return ½ θ̇ᵀ I(ψ) θ̇ of all bodies (…), J, spinning wheels included; errors as for `bias`."""
    batch, (angles, speeds) = _batch(caster, rates=rates)
    mass, _ = _mass_and_bias(agv, angles, speeds)
    return 0.5 * np.einsum('bi,bij,bj->b', speeds, mass, speeds).reshape(batch)


def state_rate(agv: Agv, state: ArrayLike, torque: ArrayLike) -> Array:
    """
    Return d/dt of the state (θ₁, θ₂, θ̇₁, θ̇₂, ψ): eq. (30) with the state that it lacks.

    `state` (5,), rad and rad/s, and `torque` (2,), N·m, are not checked: this is the inner loop of
    an integrator.
    """
    out = np.empty(5)
    kernels.state_rate(agv.numbers, agv.viscous, np.asarray(state, float),
                       np.asarray(torque, float), np.empty((2, 2)), np.empty(2), np.empty(2), out)
    return out
