# SPDX-License-Identifier: Apache-2.0
"""
The natural orthogonal complement: equations of motion of any set of constrained rigid bodies.

p bodies have twists t = (ω₁, ċ₁, …, ω_p, ċ_p): angular velocity, and velocity of the centre of
mass. The constraints are linear, A t = 0, and n independent speeds θ̇ give t = T θ̇. Then A T = 0:
T is an orthogonal complement of A, and Tᵀ removes the wrenches Aᵀλ of the constraints from
Newton's and Euler's equations M ṫ + W M t = w:

    I θ̈ + C θ̇ = Tᵀ w      I = Tᵀ M T      C = Tᵀ (M Ṫ + W M T)

with M = diag(I_k, m_k 1) and W = diag(ω_k ×, 0). Angeles & Lee; Saha & Angeles, eqs (10)-(22),
with C counted on the left.

Axes: every 3-vector may be given in any axes that do not turn, also those which a body has at this
moment; Ṫ is the derivative of T in such axes (`inertial_rate` makes it from components in turning
axes). Componentwise in axes that turn with a body W would need ω × in its second block too, which
eq. (12b) does not print. Inertias are about the centres of mass, in the same axes as the twists.
Leading dimensions broadcast.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array

# tolerance of symmetric and positive semi-definite inertias: fraction of the largest entry
_INERTIA_TOLERANCE = 1e-9


class Bodies(NamedTuple):
    """
    Masses and inertias.

    Attributes
    ----------
    mass : (p,) array, kg
    inertia : (…, p, 3, 3) array, kg·m²
        About the centres of mass, in the axes of the twists.
    """

    mass: Array
    inertia: Array


class Reduced(NamedTuple):
    """
    The equations that are left, ``I θ̈ + C θ̇ = Tᵀ w``.

    Attributes
    ----------
    inertia : (…, n, n) array
        I = TᵀMT.
    convective : (…, n, n) array
        C = Tᵀ(MṪ + WMT); ``θ̇ᵀ(İ − 2C)θ̇ = 0``.
    """

    inertia: Array
    convective: Array


def bodies(mass: ArrayLike, inertia: ArrayLike) -> Bodies:
    """
    Return checked masses (p,), kg, and inertias (…, p, 3, 3), kg·m².

    ValueError names the row of a wrong shape, a negative mass, or an inertia that is not symmetric
    and positive semi-definite.
    """
    m = np.asarray(mass, float)
    tensor = np.asarray(inertia, float)
    if m.ndim != 1 or tensor.shape[-3:] != (len(m), 3, 3):
        raise ValueError(f'mass has shape {m.shape} and inertia {tensor.shape}: expected (p,) and '
                         '(…, p, 3, 3)')
    for k in range(len(m)):
        own = tensor[..., k, :, :]
        if not (np.isfinite(m[k]) and m[k] >= 0):
            raise ValueError(f'mass[{k}] = {m[k]}: must be finite and not negative')
        size = _INERTIA_TOLERANCE * (np.abs(own).max() + 1e-300)
        if not (np.all(np.isfinite(own)) and np.abs(own - np.swapaxes(own, -1, -2)).max() <= size
                and np.linalg.eigvalsh(own).min() >= -size):
            raise ValueError(f'inertia[{k}] = {own.tolist()}: must be finite, symmetric and '
                             'positive semi-definite')
    return Bodies(m, tensor)


def twist_map(angular: ArrayLike, linear: ArrayLike) -> Array:
    """
    Return T (…, 6p, n) from its parts: t = T θ̇.

    `angular` and `linear` (…, p, 3, n) are the angular velocity of each body, and the velocity of
    its centre of mass, of unit speeds. For each body three rows of ω, then three of ċ; the
    derivative Ṫ is put together the same way.
    """
    pair = np.stack(np.broadcast_arrays(np.asarray(angular, float), np.asarray(linear, float)),
                    axis=-3)
    return pair.reshape(*pair.shape[:-4], -1, pair.shape[-1])


def inertial_rate(vectors: ArrayLike, rates: ArrayLike, turning: ArrayLike) -> Array:
    """
    Return the derivative, in axes that do not turn, of vectors given in axes that do.

    ``ẋ = (component derivative) + Ω × x`` for components `vectors` of n vectors and their
    derivatives `rates`, (…, 3, n), in axes with the angular velocity `turning` Ω (3,), rad/s.
    """
    x = np.asarray(vectors, float)
    turned = np.swapaxes(np.cross(np.asarray(turning, float), np.swapaxes(x, -1, -2)), -1, -2)
    return np.asarray(rates, float) + turned


def _parts(bodies: Bodies, matrix: ArrayLike, name: str) -> tuple[Array, Array]:
    """Return the angular and linear parts (…, p, 3, n) of a (…, 6p, n) matrix."""
    rows = np.asarray(matrix, float)
    count = len(bodies.mass)
    if rows.ndim < 2 or rows.shape[-2] != 6 * count:
        raise ValueError(f'{name} has shape {rows.shape}: expected (…, {6 * count}, n), six rows '
                         f'for each of {count} bodies')
    split = rows.reshape(*rows.shape[:-2], count, 2, 3, rows.shape[-1])
    return split[..., 0, :, :], split[..., 1, :, :]


def reduce(bodies: Bodies, twist: ArrayLike, twist_rate: ArrayLike, speeds: ArrayLike) -> Reduced:
    """
    Return I = TᵀMT and C = Tᵀ(MṪ + WMT).

    Parameters
    ----------
    bodies : Bodies
    twist : (…, 6p, n) array_like
        T, see `twist_map`.
    twist_rate : (…, 6p, n) array_like
        Ṫ at these speeds, in axes that do not turn.
    speeds : (…, n) array_like
        θ̇; the angular velocities in W are those of T θ̇.

    Returns
    -------
    Reduced

    Raises
    ------
    ValueError
        Matrices or speeds of the wrong shape.

    Examples
    --------
    A pendulum: a point of 2 kg on a rod of 0.5 m.

    >>> import numpy as np
    >>> point = bodies([2.0], np.zeros((1, 3, 3)))
    >>> T = twist_map([[[0.0], [0.0], [1.0]]], [[[0.0], [0.5], [0.0]]])
    >>> float(reduce(point, T, np.zeros((6, 1)), [3.0]).inertia[0, 0])
    0.5
    """
    angular, linear = _parts(bodies, twist, 'twist')
    angular_rate, linear_rate = _parts(bodies, twist_rate, 'twist_rate')
    given = np.asarray(speeds, float)
    if given.ndim == 0 or given.shape[-1] != angular.shape[-1]:
        raise ValueError(f'speeds has shape {given.shape}: the last dimension must be '
                         f'{angular.shape[-1]}, one for each column of T')
    weight = bodies.mass[:, None, None]
    momentum = bodies.inertia @ angular
    omega = np.einsum('...pin,...n->...pi', angular, given)
    # ω × of each column of I ω
    gyroscopic = np.cross(omega[..., None, :], np.swapaxes(momentum, -1, -2))
    turned = bodies.inertia @ angular_rate + np.swapaxes(gyroscopic, -1, -2)
    inertia = _dot(angular, momentum) + _dot(linear, weight * linear)
    return Reduced(inertia, _dot(angular, turned) + _dot(linear, weight * linear_rate))


def _dot(left: Array, right: Array) -> Array:
    """Return ``Σ_p leftᵀ right`` (…, n, n) of (…, p, 3, n) parts."""
    return np.einsum('...pin,...pim->...nm', left, right)


class Assembly(NamedTuple):
    """
    Bodies with their twists in one state.

    Attributes
    ----------
    bodies : Bodies
    twist, twist_rate : (6p, n) array
        T and Ṫ, in the platform's axes at this moment.
    speeds : (n,) array
    """

    bodies: Bodies
    twist: Array
    twist_rate: Array
    speeds: Array

    def reduced(self) -> Reduced:
        """Return I and C of this state."""
        return reduce(*self)


def generalized_mass(bodies: Bodies) -> Array:
    """Return M = diag(I₁, m₁ 1, …) of `bodies`, (…, 6p, 6p) in kg and kg·m², eq. (14a)."""
    count = len(bodies.mass)
    out = np.zeros((*bodies.inertia.shape[:-3], 6 * count, 6 * count))
    for k in range(count):
        out[..., 6*k:6*k + 3, 6*k:6*k + 3] = bodies.inertia[..., k, :, :]
        out[..., 6*k + 3:6*k + 6, 6*k + 3:6*k + 6] = bodies.mass[k] * np.eye(3)
    return out


def generalized_angular_velocity(twists: ArrayLike) -> Array:
    """
    Return W = diag(ω₁ ×, 0, …) (…, 6p, 6p), rad/s, eq. (14b), of `twists` t (…, 6p).

    For axes that do not turn; the zero blocks are right only there.
    """
    t = np.asarray(twists, float)
    out = np.zeros((*t.shape, t.shape[-1]))
    for k in range(0, t.shape[-1], 6):
        x, y, z = np.moveaxis(t[..., k:k + 3], -1, 0)
        out[..., k, k + 1] = -z
        out[..., k + 1, k] = z
        out[..., k, k + 2] = y
        out[..., k + 2, k] = -y
        out[..., k + 1, k + 2] = -x
        out[..., k + 2, k + 1] = x
    return out


def constraint_wrench(bodies: Bodies, twist: ArrayLike, twist_rate: ArrayLike, speeds: ArrayLike,
                      accelerations: ArrayLike, external: ArrayLike) -> Array:
    """
    Return what the constraints must give, ``w^C = M ṫ + W M t − w^E`` (6p,), eq. (15).

    `twist` T and `twist_rate` Ṫ are (6p, n), `speeds` θ̇ and `accelerations` θ̈ (n,), `external`
    w^E (6p,), N·m and N: weight, motors and dissipation on each body, moment then force. ``Tᵀ w^C
    = 0`` when θ̈ solves the equations of motion of the `bodies`.
    """
    t = np.asarray(twist, float) @ speeds
    t_rate = np.asarray(twist, float) @ accelerations + np.asarray(twist_rate, float) @ speeds
    mass = generalized_mass(bodies)
    return (mass @ t_rate + generalized_angular_velocity(t) @ mass @ t
            - np.asarray(external, float))
