# SPDX-License-Identifier: Apache-2.0
"""
Motion of a point contact: Montana's equations, with and without slip.

Contact coordinates are η = (u, v, x, y, ψ): (u, v) on the wheel, (x, y) on the ground, and the
angle between the two contact frames. Their origins coincide, their z axes are opposite, and

    R_contG,contW = [[cos ψ, −sin ψ, 0], [−sin ψ, −cos ψ, 0], [0, 0, −1]]

whose upper left part is Rψ. For the wheel's motion relative to the ground, ω and the slip
(vx, vy) of the touching material point, both in contW:

    Mw (u̇, v̇) = (Kw + K*)⁻¹ [(−ωy, ωx) − K* (vx, vy)]          K* = Rψ Kg Rψ
    Mg (ẋ, ẏ) = Rψ (Kw + K*)⁻¹ [(−ωy, ωx) + Kw (vx, vy)]
    ψ̇ = ωz + Tw Mw (u̇, v̇) + Tg Mg (ẋ, ẏ)

Montana, The kinematics of contact and grasp (1988); Auchter and Moore, eq. (3). The paper leaves
K* undefined.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_rough_ground.rolling_contact.surfaces import Surface

# 1/m; a tyre and a ground whose curvatures differ by less than this fit each other over a metre
LEAST_MARGIN = 1e-9


class ContactError(ValueError):
    """A contact that is not one point; the text names the value, the place and the remedy."""


def contact_orientation(psi: float) -> Array:
    """
    Return the axes of contW in contG (3, 3) for `psi` [rad]; the matrix is its own inverse.

    Examples
    --------
    >>> (contact_orientation(0.0) + 0.0).tolist()
    [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]
    """
    c, s = np.cos(psi), np.sin(psi)
    return np.array([[c, -s, 0.0], [-s, -c, 0.0], [0.0, 0.0, -1.0]])


def relative_curvature(wheel: Surface, ground: Surface, eta: ArrayLike) -> Array:
    """
    Return ``Kw + K*``, ``K* = Rψ Kg Rψ`` (2, 2), 1/m, in the axes of contW at `eta` (5,).

    Positive definite where the surfaces part in every direction from the contact point.
    """
    eta = np.asarray(eta, float)
    turn = contact_orientation(eta[4])[:2, :2]
    return wheel.curvature(eta[:2]) + turn @ ground.curvature(eta[2:4]) @ turn


def contact_rates(wheel: Surface, ground: Surface, eta: ArrayLike,
                  relative_angular_velocity: ArrayLike, slip: ArrayLike = (0.0, 0.0)) -> Array:
    """
    Return (u̇, v̇, ẋ, ẏ, ψ̇) of a wheel that rolls, turns and slips on the ground.

    Parameters
    ----------
    wheel, ground : Surface
    eta : (5,) array_like
        u, v, x, y, ψ.
    relative_angular_velocity : (3,) array_like, rad/s
        ω of the wheel relative to the ground, in contW.
    slip : (2,) array_like, m/s
        Velocity of the wheel's touching point relative to the ground, in contW.

    Returns
    -------
    (5,) array

    Raises
    ------
    ContactError
        Kw + K* is not positive definite: the ground is as sharp as the tyre there.

    Examples
    --------
    A tyre that rolls forward at 1 rad/s: u̇ is the spin, and the point moves 0.3 m/s.

    >>> from c3p_rough_ground.rolling_contact import Ground, Torus
    >>> from c3p_rough_ground.terrain import Flat
    >>> eta = [0.0, 0.0, 1.0, 2.0, 0.0]
    >>> rates = contact_rates(Torus(0.25, 0.05), Ground(Flat()), eta, [0.0, -1.0, 0.0])
    >>> (rates.round(12) + 0.0).tolist()
    [1.0, 0.0, 0.3, 0.0, 0.0]
    """
    eta = np.asarray(eta, float)
    slip = np.asarray(slip, float)
    omega = np.asarray(relative_angular_velocity, float)
    turn = contact_orientation(eta[4])[:2, :2]
    curvature = wheel.curvature(eta[:2])
    relative = relative_curvature(wheel, ground, eta)
    _require_point_contact(relative, curvature, eta)

    right = np.array([-omega[1], omega[0]]) - (relative - curvature) @ slip
    on_wheel = np.linalg.solve(relative, right)
    # (Kw + K*)⁻¹ Kw v = v − (Kw + K*)⁻¹ K* v
    on_ground = turn @ (on_wheel + slip)
    spin = (omega[2] + wheel.torsion(eta[:2]) @ on_wheel
            + ground.torsion(eta[2:4]) @ on_ground)
    return np.array([*np.linalg.solve(wheel.metric(eta[:2]), on_wheel),
                     *np.linalg.solve(ground.metric(eta[2:4]), on_ground), spin])


def _require_point_contact(relative: Array, wheel: Array, eta: Array) -> None:
    """Raise unless Kw + K* is positive definite."""
    margin = np.linalg.eigvalsh(relative)[0]
    if margin > LEAST_MARGIN:
        return
    # the tightest hollow of the ground, along the direction that fits the tyre
    hollow = np.linalg.eigvalsh(relative - wheel)[0]
    radius = f'{-1.0 / hollow:.4g} m' if hollow < 0 else 'infinite'
    raise ContactError(
        f'Kw + K* has the eigenvalue {margin:.4g} 1/m at x = {eta[2]:.4g}, y = {eta[3]:.4g} '
        f'(u = {eta[0]:.4g}, v = {eta[1]:.4g} on the wheel): the wheel does not touch the ground '
        f'in one point there, where the hollow of the ground has the radius {radius}; take a '
        'smaller or rounder tyre, or a smoother ground')
