# SPDX-License-Identifier: Apache-2.0
"""
Kinematics of a vehicle on two driven wheels and one caster.

Axes i (right), j (forward), k (up) of the platform, origin in its centre of mass C. The twist is
(ẋ, ẏ, ω): the velocity of C along i and j, and the yaw rate. With the speed v of the middle of the
driven axle along j,

    v = ẏ = −r (θ̇₁ + θ̇₂)/2      ω = r (θ̇₁ − θ̇₂)/l      ẋ = −a ω

so only *consistent* twists with ``ẋ = −a ω`` are possible. A negative rate rolls forward. The
pivot of the caster is c = a + b before the driven axle and moves with (−c ω, v) along i and j:

    θ̇₃ = −(v cos ψ + c ω sin ψ)/r      ψ̇ = (c ω cos ψ − v sin ψ)/d − ω

Saha & Angeles, eqs (1)-(8) and (23)-(26), derived again (docs/papers/saha_angeles.md). Leading
dimensions broadcast; all functions raise ValueError for a wrong last dimension or a number that
is not finite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.agv_model import Agv
from c3p_description.model import Array

# sideways speed of the driven wheels per speed of a twist up to which it counts as consistent:
# rounding of the caller
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
    Return T′_p (3, 2), the twist of unit rates of the driven wheels: ``(ẋ, ẏ, ω) = T′_p θ̇_a``.

    ``T′_p = (r/l) [[−a, a], [−l/2, −l/2], [1, −1]]``: eq. (6b), rows reordered.

    Examples
    --------
    >>> import numpy as np
    >>> agv = Agv('example', 0.4, 0.05, 0.101, 0.202, 0.025)
    >>> np.round(platform_map(agv) @ [-20, -20], 12)  # both wheels roll forward
    array([0., 1., 0.])
    """
    l = agv.track
    r = agv.wheel_radius
    a = agv.axle_distance
    return r / l * np.array([[-a, a], [-l / 2, -l / 2], [1.0, -1.0]])


def consistent_twist(agv: Agv, speed: ArrayLike, yaw_rate: ArrayLike) -> Array:
    """Return the twist (−a ω, v, ω) (…, 3) of C for the `speed` v of the axle's middle and ω."""
    v, w = np.broadcast_arrays(np.asarray(speed, float), np.asarray(yaw_rate, float))
    return np.stack([-agv.axle_distance * w, v, w], axis=-1)


def rates_to_twist(agv: Agv, rates: ArrayLike) -> Array:
    """Return the twist (ẋ, ẏ, ω) (…, 3) of C for the `rates` (θ̇₁, θ̇₂) (…, 2), eq. (6a)."""
    return _vector('rates', rates, 2) @ platform_map(agv).T


def twist_to_rates(agv: Agv, twist: ArrayLike) -> Array:
    """
    Return the rates (θ̇₁, θ̇₂) of a consistent twist.

    ``θ̇₁,₂ = (−ẏ ± ω l/2)/r``. Inverse of `rates_to_twist`; no norm is involved, so no unit.

    `twist` (…, 3) is that of C, m/s and rad/s; the rates are (…, 2), rad/s. ValueError where the
    driven wheels would slip sideways (ẋ ≠ −a ω): `consistent_twist` returns one that does not.

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
    """Return the wheels' rates of a checked (…, 3) vector; `size` is that of its terms."""
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

    Its norm adds rad²/s² to the squares of lengths per second: for an inconsistent `twist` (…, 3)
    the rates (…, 2) depend on the unit of length, and with millimetres the vehicle hardly turns.
    For a consistent twist they equal `twist_to_rates`. `length_unit` [m] is that of the norm: 1
    for metres as in the paper, 1e-3 for millimetres.

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
    prints as the 6 × 2 matrix. `rates` and `accelerations` are (…, 2), the result (…, 3).
    """
    x, y, w = np.moveaxis(rates_to_twist(agv, rates), -1, 0)
    turning = np.stack([-w * y, w * x, np.zeros_like(w)], axis=-1)
    return _vector('accelerations', accelerations, 2) @ platform_map(agv).T + turning


def acceleration_to_accelerations(agv: Agv, rates: ArrayLike, acceleration: ArrayLike) -> Array:
    """
    Return (θ̈₁, θ̈₂) for an inertial `acceleration` of C and ω̇, eq. (7d) with T′ and its inverse.

    The inverse of `rates_to_acceleration` at given `rates`; ValueError where the wheels would slip
    sideways.
    """
    turning = rates_to_acceleration(agv, rates, np.zeros(2))
    given = _vector('acceleration', acceleration, 3)
    # the difference may be all rounding
    size = np.maximum(np.abs(given).max(axis=-1), np.abs(turning).max(axis=-1))
    return _wheels(agv, 'acceleration', given - turning, size)


def pose_rate(agv: Agv, heading: ArrayLike, rates: ArrayLike) -> Array:
    """
    Return (Ẋ, Ẏ, β̇) of C in fixed axes, eqs (8).

    ``Ẋ = ẋ cos β − ẏ sin β``, ``Ẏ = ẋ sin β + ẏ cos β``: a change of components, whereas the
    nonholonomic constraints are ``ẋ = −a ω`` and wheels without spin. `heading` is β from the
    fixed X to i, `rates` (…, 2) those of the driven wheels.
    """
    x, y, w = np.moveaxis(rates_to_twist(agv, rates), -1, 0)
    c, s = np.cos(heading), np.sin(heading)
    return np.stack(np.broadcast_arrays(x * c - y * s, x * s + y * c, w), axis=-1)


def caster_jacobians(agv: Agv, caster: ArrayLike) -> tuple[Array, Array]:
    """
    Return J_a and J_u of the closure ``J_a θ̇_a + J_u θ̇_u = 0``, eq. (25b), θ̇_u = (θ̇₃, ψ̇).

    Along i and j, the velocity of O₃ from the platform minus that from rolling of wheel 3, for ψ =
    `caster` (…). Both are (…, 2, 2), m; ``det J_u = −r d``: never singular.
    """
    psi = np.asarray(caster, float)
    r = agv.wheel_radius
    d = agv.caster_offset
    lever = agv.pivot_lever
    e = np.stack([np.cos(psi), np.sin(psi)], axis=-1)
    f = np.stack([-np.sin(psi), np.cos(psi)], axis=-1)
    # speed and yaw rate of unit rates
    speed = platform_map(agv)[1]
    yaw = platform_map(agv)[2]
    pivot = np.stack([-lever * yaw, speed])
    # v_O3 = v_A3 + (ω + ψ̇) d e₃, and v_O3 = −r θ̇₃ f₃
    return (pivot + d * e[..., :, None] * yaw,
            np.stack([r * f, d * e], axis=-1))


def caster_map(agv: Agv, caster: ArrayLike) -> Array:
    """Return ``−J_u⁻¹ J_a`` (…, 2, 2): (θ̇₃, ψ̇) of unit rates of the driven wheels, eq. (26)."""
    active, passive = caster_jacobians(agv, caster)
    return -np.linalg.solve(passive, active)


def caster_rates(agv: Agv, caster: ArrayLike, rates: ArrayLike) -> Array:
    """
    Return (θ̇₃, ψ̇) (…, 2) at ψ = `caster` (…) for the `rates` (…, 2) of the driven wheels.

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
