# SPDX-License-Identifier: Apache-2.0
"""
The caster of a vehicle on two driven wheels: how it follows.

Its pivot is c = a + b before the driven axle and moves with (−c ω, v) along i and j, which gives

    θ̇₃ = −(v cos ψ + c ω sin ψ)/r      ψ̇ = (c ω cos ψ − v sin ψ)/d − ω

Saha & Angeles, eqs (23)-(26). Leading dimensions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.agv_model import Agv
from c3p_description.model import Array
from c3p_kinematics.agv import platform_map, rates_to_twist


def caster_jacobians(agv: Agv, caster: ArrayLike) -> tuple[Array, Array]:
    """
    Return J_a and J_u of the closure ``J_a θ̇_a + J_u θ̇_u = 0``, eq. (25b), θ̇_u = (θ̇₃, ψ̇).

    Along i and j, the velocity of O₃ from the platform minus that from rolling of wheel 3.

    Parameters
    ----------
    agv : Agv
    caster : (…) array_like, rad
        ψ.

    Returns
    -------
    J_a, J_u : (…, 2, 2) arrays, m
        ``det J_u = −r d``: never singular.
    """
    psi = np.asarray(caster, float)
    r, d, lever = agv.wheel_radius, agv.caster_offset, agv.pivot_lever
    e = np.stack([np.cos(psi), np.sin(psi)], axis=-1)
    f = np.stack([-np.sin(psi), np.cos(psi)], axis=-1)
    # speed and yaw rate of unit rates
    speed, yaw = platform_map(agv)[1], platform_map(agv)[2]
    pivot = np.stack([-lever * yaw, speed])
    # v_O3 = v_A3 + (ω + ψ̇) d e₃, and v_O3 = −r θ̇₃ f₃
    return (pivot + d * e[..., :, None] * yaw,
            np.stack([r * f, d * e], axis=-1))


def caster_map(agv: Agv, caster: ArrayLike) -> Array:
    """
    Return ``−J_u⁻¹ J_a``: rates of the caster of unit rates of the driven wheels, eq. (26).

    Parameters
    ----------
    agv : Agv
    caster : (…) array_like, rad
        ψ.

    Returns
    -------
    (…, 2, 2) array
        Rows θ̇₃ and ψ̇.
    """
    active, passive = caster_jacobians(agv, caster)
    return -np.linalg.solve(passive, active)


def caster_rates(agv: Agv, caster: ArrayLike, rates: ArrayLike) -> Array:
    """
    Return (θ̇₃, ψ̇) that follow from the rates of the driven wheels.

    Parameters
    ----------
    agv : Agv
    caster : (…) array_like, rad
        ψ.
    rates : (…, 2) array_like, rad/s

    Returns
    -------
    (…, 2) array, rad/s

    Raises
    ------
    ValueError
        `rates` has another last dimension, or a number that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> agv = Agv('example', 0.4, 0.05, 0.101, 0.202, 0.025)
    >>> np.round(caster_rates(agv, 0.0, [-20, -20]), 12) + 0.0  # straight ahead it trails
    array([-20.,   0.])
    """
    _, v, w = np.moveaxis(rates_to_twist(agv, rates), -1, 0)
    c, s = np.cos(caster), np.sin(caster)
    lever = agv.pivot_lever
    return np.stack([-(v * c + lever * w * s) / agv.wheel_radius,
                     (lever * w * c - v * s) / agv.caster_offset - w], axis=-1)
