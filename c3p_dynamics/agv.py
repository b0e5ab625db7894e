# SPDX-License-Identifier: Apache-2.0
"""
Dynamics of a vehicle on two driven wheels and one caster, in closed form.

With the rates of the driven wheels θ̇ = (θ̇₁, θ̇₂) and the caster's angle ψ,

    I(ψ) θ̈ + C(ψ, θ̇) θ̇ = τ + δ

which is Saha & Angeles, eq. (29), with C counted on the left. In v, the speed of the middle of the
axle, and w, the yaw rate, with s = cos ψ v + c sin ψ w and u = sin ψ v − c cos ψ w the velocity of
the caster's pivot along its wheel and across it (f and e their rows, ψ̇ = −u/d − w):

    2 T = μ_vv v² + μ_ww w² + μ_e s² + μ_a u²
    force = fᵀ(−μ_e ψ̇ u − κ u²) + eᵀ(μ_a ψ̇ s + κ s u) + m_p a (−w², v w)

The caster is that of a caster robot (caster_dynamics.py); the same equations follow from the
natural orthogonal complement of all five bodies (agv_bodies.py, orthogonal_complement/). ψ is a
state of its own: rates of the driven wheels do not give it back. Leading dimensions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.agv_model import Agv
from c3p_description.model import Array
from c3p_dynamics import _agv_kernels as kernels
from c3p_kinematics.casters import batched

# the state of the direct dynamics
STATE = ('θ₁', 'θ₂', 'θ̇₁', 'θ̇₂', 'ψ')


def _batch(caster: ArrayLike, **vectors: ArrayLike) -> tuple[tuple[int, ...], list[Array]]:
    """Return the common leading shape, and everything as contiguous (B,) and (B, 2)."""
    batch, (angles, *rows) = batched(1, caster=(np.asarray(caster, float)[..., None], 1),
                                     **{name: (value, 2) for name, value in vectors.items()})
    return batch, [angles[:, 0], *rows]


def _mass_and_bias(agv: Agv, caster: Array, rates: Array) -> tuple[Array, Array]:
    """Return I (B, 2, 2) and Cθ̇ (B, 2) of checked states."""
    mass, force = np.empty((len(caster), 2, 2)), np.empty((len(caster), 2))
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
    out = np.empty_like(speeds)
    kernels.frictions(agv.numbers, agv.viscous, angles, speeds, out)
    return out.reshape(*batch, 2)


def inverse_dynamics(agv: Agv, caster: ArrayLike, rates: ArrayLike, accelerations: ArrayLike
                     ) -> Array:
    """
    Return the motor torques (…, 2), N·m, of a motion, ``τ = I θ̈ + C θ̇ − δ``.

    Between platform and wheel, positive about +i: negative drives forward. `accelerations` (…, 2),
    rad/s²; all else and the errors as for `bias`.
    """
    batch, (angles, speeds, rise) = _batch(caster, rates=rates, accelerations=accelerations)
    mass, force = _mass_and_bias(agv, angles, speeds)
    torque = np.einsum('bij,bj->bi', mass, rise) + force
    return torque.reshape(*batch, 2) - friction_torque(agv, caster, rates)


def direct_dynamics(agv: Agv, caster: ArrayLike, rates: ArrayLike, torque: ArrayLike) -> Array:
    """
    Return θ̈ (…, 2), rad/s², under motor torques (…, 2), N·m: ``I⁻¹(τ + δ − C θ̇)``.

    All else and the errors as for `bias`.
    """
    batch, (angles, speeds, moments) = _batch(caster, rates=rates, torque=torque)
    mass, force = _mass_and_bias(agv, angles, speeds)
    loss = np.empty_like(speeds)
    kernels.frictions(agv.numbers, agv.viscous, angles, speeds, loss)
    return np.linalg.solve(mass, (moments + loss - force)[..., None])[..., 0].reshape(*batch, 2)


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
