# SPDX-License-Identifier: Apache-2.0
"""
Kinematics of a vehicle on two driven wheels and one caster.

Axes i (right), j (forward), k (up) of the platform, origin in its centre of mass C. The twist is
(ẋ, ẏ, ω): the velocity of C along i and j, and the yaw rate. With the speed v of the middle of the
driven axle along j,

    v = ẏ = −r (θ̇₁ + θ̇₂)/2      ω = r (θ̇₁ − θ̇₂)/l      ẋ = −a ω

so only twists with ``ẋ = −a ω`` are possible: *consistent* ones. A negative rate rolls forward.
Saha & Angeles, eqs (1)-(8), derived again (docs/papers/saha_angeles.md); agv_caster.py has the
caster. Leading dimensions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.agv_model import Agv
from c3p_description.model import Array

# a twist counts as consistent up to this sideways speed of the driven wheels, as a share of the
# twist's own speeds: the rounding of whoever computed it
CONSISTENT = 1e-9


def _vector(name: str, value: ArrayLike, last: int) -> Array:
    """Return `value` as floats with this last dimension, all finite."""
    vector = np.asarray(value, float)
    if vector.ndim == 0 or vector.shape[-1] != last:
        raise ValueError(f'{name} has shape {vector.shape}: the last dimension must be {last}')
    if not np.all(np.isfinite(vector)):
        raise ValueError(f'{name} = {vector.tolist()}: every number must be finite')
    return vector


def platform_map(agv: Agv) -> Array:
    """
    Return T′_p, the twist of unit rates of the driven wheels: ``(ẋ, ẏ, ω) = T′_p θ̇_a``.

    ``T′_p = (r/l) [[−a, a], [−l/2, −l/2], [1, −1]]``: eq. (6b), rows in our order.

    Examples
    --------
    >>> import numpy as np
    >>> agv = Agv('example', 0.4, 0.05, 0.101, 0.202, 0.025)
    >>> np.round(platform_map(agv) @ [-20, -20], 12)  # both wheels roll forward
    array([0., 1., 0.])
    """
    l, r, a = agv.track, agv.wheel_radius, agv.axle_distance
    return r / l * np.array([[-a, a], [-l / 2, -l / 2], [1.0, -1.0]])


def consistent_twist(agv: Agv, speed: ArrayLike, yaw_rate: ArrayLike) -> Array:
    """
    Return the twist (−a ω, v, ω) of C for a `speed` v of the middle of the axle and ω.

    Parameters
    ----------
    agv : Agv
    speed : (…) array_like, m/s
    yaw_rate : (…) array_like, rad/s

    Returns
    -------
    (…, 3) array, m/s and rad/s
    """
    v, w = np.broadcast_arrays(np.asarray(speed, float), np.asarray(yaw_rate, float))
    return np.stack([-agv.axle_distance * w, v, w], axis=-1)


def rates_to_twist(agv: Agv, rates: ArrayLike) -> Array:
    """
    Return the twist (ẋ, ẏ, ω) of C for the rates (θ̇₁, θ̇₂), eq. (6a).

    Parameters
    ----------
    agv : Agv
    rates : (…, 2) array_like, rad/s

    Returns
    -------
    (…, 3) array, m/s and rad/s

    Raises
    ------
    ValueError
        `rates` has another last dimension, or a number that is not finite.
    """
    return _vector('rates', rates, 2) @ platform_map(agv).T


def twist_to_rates(agv: Agv, twist: ArrayLike) -> Array:
    """
    Return the rates (θ̇₁, θ̇₂) of a consistent twist.

    ``θ̇₁,₂ = (−ẏ ± ω l/2)/r``. Inverse of `rates_to_twist`; no norm is involved, so no unit.

    Parameters
    ----------
    agv : Agv
    twist : (…, 3) array_like
        (ẋ, ẏ, ω) of C with ẋ = −a ω, m/s and rad/s.

    Returns
    -------
    (…, 2) array, rad/s

    Raises
    ------
    ValueError
        The driven wheels would slip sideways (ẋ ≠ −a ω): `consistent_twist` makes one that does
        not; or a wrong size, or a number that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> agv = Agv('example', 0.4, 0.05, 0.101, 0.202, 0.025)
    >>> np.round(twist_to_rates(agv, consistent_twist(agv, 0.5, 0.5)), 12)
    array([ -8., -12.])
    """
    nu = _vector('twist', twist, 3)
    return _wheels(agv, 'twist', nu, np.abs(nu).max(axis=-1))


def _wheels(agv: Agv, name: str, vector: Array, size: Array) -> Array:
    """Return the wheels' rates of a checked (…, 3) vector; `size` is what it is made of."""
    x, y, w = np.moveaxis(vector, -1, 0)
    slip = x + agv.axle_distance * w
    if np.any(np.abs(slip) > CONSISTENT * size):
        raise ValueError(f'{name} = {vector.tolist()}: the driven wheels would slip sideways, '
                         f'with {np.abs(slip).max():.3g}; the first must be −a times the third, '
                         'see consistent_twist')
    half = w * agv.track / 2
    return np.stack([-y + half, -y - half], axis=-1) / agv.wheel_radius


def least_squares_rates(agv: Agv, twist: ArrayLike, length_unit: float = 1.0) -> Array:
    """
    Return the rates by the generalized inverse as printed, ``(T′ᵀT′)⁻¹T′ᵀ t′``, eq. (6c).

    Its norm adds rad²/s² to the squares of lengths per second: for a twist that is not
    consistent the answer depends on the unit of length, and with millimetres the vehicle hardly
    turns. For a consistent twist it equals `twist_to_rates`, whatever the unit.

    Parameters
    ----------
    agv : Agv
    twist : (…, 3) array_like
        (ẋ, ẏ, ω) of C, m/s and rad/s.
    length_unit : float, m
        In which lengths enter the norm; 1 for metres as in the paper, 1e-3 for millimetres.

    Returns
    -------
    (…, 2) array, rad/s

    Raises
    ------
    ValueError
        A wrong size, a number that is not finite, or a unit that is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> agv = Agv('example', 0.4, 0.05, 0.101, 0.202, 0.025)
    >>> sideways = [0.0, 0.5, 0.5]  # C, not the axle, on the tangent
    >>> np.round(least_squares_rates(agv, sideways), 3)
    array([ -8.02, -11.98])
    >>> np.round(least_squares_rates(agv, sideways, 1e-3), 3)
    array([-10., -10.])
    """
    if not 0 < length_unit < np.inf:
        raise ValueError(f'length_unit = {length_unit}: must be positive and finite, in metres')
    scale = np.array([1 / length_unit, 1 / length_unit, 1.0])
    inverse = np.linalg.pinv(scale[:, None] * platform_map(agv))
    return (_vector('twist', twist, 3) * scale) @ inverse.T


def rates_to_acceleration(agv: Agv, rates: ArrayLike, accelerations: ArrayLike) -> Array:
    """
    Return the inertial acceleration of C along i and j, and ω̇: ``T′θ̈ + W T′θ̇``, eq. (7).

    ``W = [[0, −ω, 0], [ω, 0, 0], [0, 0, 0]]`` turns with the axes; T′ throughout, which (7c)
    prints as the 6 × 2 matrix.

    Parameters
    ----------
    agv : Agv
    rates, accelerations : (…, 2) array_like, rad/s and rad/s²

    Returns
    -------
    (…, 3) array, m/s² and rad/s²

    Raises
    ------
    ValueError
        A wrong size, or a number that is not finite.
    """
    x, y, w = np.moveaxis(rates_to_twist(agv, rates), -1, 0)
    turning = np.stack([-w * y, w * x, np.zeros_like(w)], axis=-1)
    return _vector('accelerations', accelerations, 2) @ platform_map(agv).T + turning


def acceleration_to_accelerations(agv: Agv, rates: ArrayLike, acceleration: ArrayLike) -> Array:
    """
    Return (θ̈₁, θ̈₂) for an inertial acceleration of C and ω̇, eq. (7d) with T′ and its inverse.

    Parameters
    ----------
    agv : Agv
    rates : (…, 2) array_like, rad/s
    acceleration : (…, 3) array_like, m/s² and rad/s²
        Along i and j, and ω̇, as from `rates_to_acceleration`.

    Returns
    -------
    (…, 2) array, rad/s²

    Raises
    ------
    ValueError
        The wheels would slip sideways; or a wrong size, or a number that is not finite.
    """
    turning = rates_to_acceleration(agv, rates, np.zeros(2))
    given = _vector('acceleration', acceleration, 3)
    # the difference may be all rounding
    size = np.maximum(np.abs(given).max(axis=-1), np.abs(turning).max(axis=-1))
    return _wheels(agv, 'acceleration', given - turning, size)


def pose_rate(agv: Agv, heading: ArrayLike, rates: ArrayLike) -> Array:
    """
    Return (Ẋ, Ẏ, β̇) of C in fixed axes, eqs (8).

    ``Ẋ = ẋ cos β − ẏ sin β``, ``Ẏ = ẋ sin β + ẏ cos β``. These turn components; the nonholonomic
    constraint is ``ẋ = −a ω`` and that the wheels do not spin.

    Parameters
    ----------
    agv : Agv
    heading : (…) array_like, rad
        β, from the fixed X to i.
    rates : (…, 2) array_like, rad/s

    Returns
    -------
    (…, 3) array, m/s and rad/s
    """
    x, y, w = np.moveaxis(rates_to_twist(agv, rates), -1, 0)
    c, s = np.cos(heading), np.sin(heading)
    return np.stack(np.broadcast_arrays(x * c - y * s, x * s + y * c, w), axis=-1)
