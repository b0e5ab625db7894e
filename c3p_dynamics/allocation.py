# SPDX-License-Identifier: Apache-2.0
"""
What the wheel torques do when they cannot do everything, said with the result.

Three wheels move three freedoms, but not at a singular pose: there the wheel Jacobian has rank
two, or one, and an acceleration along the lost direction is out of reach until the casters have
turned. Each way to choose torques gives up something else:

``virtual_steering``
    The papers' way, ``caster_dynamics.inverse_dynamics``: the force is shared over the wheels and
    virtual motors in the steering axes, which are then dropped. Never exact, but a side force that
    cannot be given becomes a yaw moment, which turns the casters out of the singularity.
``least_norm``
    The pseudo-inverse: exact where that is possible, the smallest torques that give the rest
    where it is not. It asks for nothing in a lost direction, and so stays in it; close to a
    singularity its torques grow without bound.
``weighted``
    The acceleration nearest to the one asked for that the motors can give within their limits, in
    a metric of the user's: what cannot be had is given up where it counts least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_dynamics import _caster_batch_kernels as kernels
from c3p_dynamics._caster_batch_kernels import weighted_shares
from c3p_dynamics.caster_dynamics import VIRTUAL_STEERING_WEIGHT, inverse_dynamics
from c3p_kinematics.casters import batched
from c3p_kinematics.singularity import length_scale, singularity

METHODS = ('virtual_steering', 'least_norm', 'weighted')

# default ρ as a part of the strongest wheel's squared acceleration per torque: a millionth of what
# could be given is given up, and torques stay small where a direction is all but lost
TORQUE_COST = 1e-6


class Allocation(NamedTuple):
    """
    Wheel torques, and what they leave undone.

    Attributes
    ----------
    torque : (…, n) array, N·m
        Zero for casters that are not driven.
    rank : (…) int array
        Directions of the platform that the driven wheels can push at these steering angles.
    unreached_acceleration : (…, 3) array, m/s² and rad/s²
        What was asked for minus what `torque` gives, both without friction, ``base_link``.
    condition : (…) array, 1
        Largest over smallest singular value of the scaled wheel Jacobian; inf below rank 3.
    unactuated_direction : (…, 3) array
        The twist that no wheel can push, where the rank is 2; zeros where it is 3
        (``singularity.Singularity``).
    saturated : (…, n) bool array
        Wheels at or over ``robot.torque_limit``; over it only with the methods that know no
        limits.
    """

    torque: Array
    rank: Array
    unreached_acceleration: Array
    condition: Array
    unactuated_direction: Array
    saturated: Array


def allocate(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike, accel: ArrayLike,
             method: str = 'virtual_steering', *,
             virtual_steering_weight: float = VIRTUAL_STEERING_WEIGHT,
             acceleration_weight: ArrayLike | None = None,
             torque_cost: float | None = None) -> Allocation:
    """
    Return wheel torques for an acceleration of the platform, with rank and what is out of reach.

    Friction is left out, as in ``caster_dynamics.inverse_dynamics``; compensate it by
    ``friction.friction_compensation``.

    Parameters
    ----------
    robot : CasterRobot
    steering : (…, n) array_like, rad
    twist, accel : (…, 3) array_like
        ν and ν̇ (component derivative), ``base_link``.
    method : str
        One of `METHODS`.
    virtual_steering_weight : float, > 0
        w_s of 'virtual_steering'.
    acceleration_weight : (3,) array_like, ≥ 0
        w of 'weighted', for (v̇x, v̇y, ω̇), in s⁴/m² and s⁴/rad², not all 0: it minimises
        ``Σ wⱼ (ν̇ asked − ν̇ given)ⱼ² + ρ |τ|²`` with ``|τ| ≤ robot.torque_limit``. By default
        (1, 1, L²): the acceleration of a point at the distance of the pivots, L.
    torque_cost : float, > 0
        ρ of 'weighted', 1/(N·m)²; by default `TORQUE_COST` of the strongest wheel.

    Returns
    -------
    Allocation

    Raises
    ------
    ValueError
        A vector of the wrong size, a number that is not finite, an unknown method, a weight out of
        range.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_description.model import CasterRobot
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> aligned = allocate(robot, [0, 0, 0], [0, 0, 0], [0.5, 0.2, 0], 'least_norm')
    >>> int(aligned.rank), aligned.unreached_acceleration.round(9) + 0.0  # X is out of reach
    (2, array([0.5, 0. , 0. ]))
    """
    if method not in METHODS:
        raise ValueError(f'method = {method!r}: must be one of {METHODS}')
    n = robot.count
    batch, vectors = batched(n, steering=(steering, n), twist=(twist, 3), accel=(accel, 3))
    angles, nu, asked = vectors
    if method == 'weighted':
        torque = _weighted(robot, vectors, acceleration_weight, torque_cost)
    elif method == 'least_norm':
        torque = inverse_dynamics(robot, angles, nu, asked, 0.0)
    else:
        if virtual_steering_weight == 0:
            raise ValueError("virtual_steering_weight = 0: must be greater than 0; the method "
                             "'least_norm' is what 0 means")
        torque = inverse_dynamics(robot, angles, nu, asked, virtual_steering_weight)
    given = np.empty_like(asked)
    kernels.forwards(robot.geometry, robot.caster_inertia, robot.platform, np.zeros((n, 6)),
                     angles, nu, torque, np.zeros_like(nu), given)
    pose = singularity(robot, angles)
    saturated = robot.driven & (np.abs(torque) >= robot.torque_limit)
    return Allocation(torque.reshape(*batch, n), pose.rank.reshape(batch),
                      (asked - given).reshape(*batch, 3), pose.condition.reshape(batch),
                      pose.unactuated_direction.reshape(*batch, 3), saturated.reshape(*batch, n))


def _weighted(robot: CasterRobot, vectors: list[Array], weight: ArrayLike | None,
              torque_cost: float | None) -> Array:
    """Return the torques (B, n) of the method 'weighted'."""
    metric = (np.array([1.0, 1.0, length_scale(robot)**2]) if weight is None
              else np.asarray(weight, float))
    if metric.shape != (3,) or not np.all((metric >= 0) & np.isfinite(metric)) or not metric.any():
        raise ValueError(f'acceleration_weight = {weight}: must be three numbers, 0 or greater, '
                         'and not all 0')
    if torque_cost is not None and not 0 < torque_cost < np.inf:
        raise ValueError(f'torque_cost = {torque_cost}: must be greater than zero')
    angles, nu, asked = vectors
    limit = np.where(robot.driven, robot.torque_limit, 0.0)
    torque = np.empty_like(angles)
    weighted_shares(robot.geometry, robot.caster_inertia, robot.platform,
                    np.zeros((robot.count, 6)), angles, nu, asked, metric,
                    -1.0 if torque_cost is None else torque_cost, TORQUE_COST, limit, torque)
    return torque
