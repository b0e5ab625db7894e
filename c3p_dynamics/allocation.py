# SPDX-License-Identifier: Apache-2.0
"""
Allocation of torques at and near singular poses, with rank and unreached acceleration.

Three wheels control three freedoms, except at a singular pose: there the wheel Jacobian has rank
two, or one, and an acceleration along the lost direction is unreachable until the casters have
turned. The methods differ in what they give up:

``virtual_steering``
    The method of the papers, ``caster_dynamics.inverse_dynamics``: the force is allocated to the
    wheels and to virtual motors in the steering axes, which are then dropped. Never exact, but an
    unreachable side force becomes a yaw moment, which turns the casters out of the singularity.
``least_norm``
    The pseudo-inverse: exact if that is possible, else the smallest torques for the reachable
    part. It commands nothing in a lost direction, and so stays in it; close to a singularity its
    torques grow without bound.
``weighted``
    The acceleration nearest to the requested one that the motors can give within their limits, in
    a metric of the user.
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

# default ρ relative to the squared acceleration per torque of the strongest wheel: a millionth of
# the reachable acceleration is given up, and torques stay small near a lost direction
TORQUE_COST = 1e-6


class Allocation(NamedTuple):
    """
    Torques, and the acceleration that they leave out.

    Attributes
    ----------
    torque : (…, robot.efforts) array, N·m
        Zero where no motor is.
    rank : (…) int array
        Controllable directions of the platform at these steering angles.
    unreached_acceleration : (…, 3) array, m/s² and rad/s²
        Requested minus reached acceleration, both without friction, ``base_link``.
    condition : (…) array, 1
        Largest over smallest singular value of the scaled wheel Jacobian; inf below rank 3.
    unactuated_direction : (…, 3) array
        The uncontrollable twist at rank 2, zeros at rank 3 (``singularity.Singularity``).
    saturated : (…, robot.efforts) bool array
        Motors at or over ``robot.effort_limit``; over it only with methods without limits.
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
    Return torques for an acceleration, with rank and unreached acceleration.

    Friction is not included, as in ``caster_dynamics.inverse_dynamics``; it is compensated by
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
        ``Σ wⱼ (ν̇ requested − ν̇ reached)ⱼ² + ρ |τ|²`` with ``|τ| ≤ robot.effort_limit``. By default
        (1, 1, L²): the acceleration of a point at the distance of the pivots, L.
    torque_cost : float, > 0
        ρ of 'weighted', 1/(N·m)²; by default `TORQUE_COST` of the strongest motor.

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
    angles, nu, requested = vectors
    if method == 'weighted':
        torque = _weighted(robot, vectors, acceleration_weight, torque_cost)
    elif method == 'least_norm':
        torque = inverse_dynamics(robot, angles, nu, requested, 0.0)
    else:
        if virtual_steering_weight == 0:
            raise ValueError("virtual_steering_weight = 0: must be greater than 0; use "
                             "'least_norm' for 0")
        torque = inverse_dynamics(robot, angles, nu, requested, virtual_steering_weight)
    given = np.empty_like(requested)
    kernels.forwards(robot.geometry, robot.caster_inertia, robot.platform, np.zeros((n, 6)),
                     angles, nu, torque, np.zeros_like(nu), given)
    pose = singularity(robot, angles)
    saturated = robot.actuated & (np.abs(torque) >= robot.effort_limit)
    return Allocation(torque.reshape(*batch, -1), pose.rank.reshape(batch),
                      (requested - given).reshape(*batch, 3), pose.condition.reshape(batch),
                      pose.unactuated_direction.reshape(*batch, 3), saturated.reshape(*batch, -1))


def _weighted(robot: CasterRobot, vectors: list[Array], weight: ArrayLike | None,
              torque_cost: float | None) -> Array:
    """Return the torques (B, efforts) of the method 'weighted'."""
    metric = (np.array([1.0, 1.0, length_scale(robot)**2]) if weight is None
              else np.asarray(weight, float))
    if metric.shape != (3,) or not np.all((metric >= 0) & np.isfinite(metric)) or not metric.any():
        raise ValueError(f'acceleration_weight = {metric.tolist()}: must be three numbers, 0 or '
                         'greater, and not all 0')
    if torque_cost is not None and not 0 < torque_cost < np.inf:
        raise ValueError(f'torque_cost = {torque_cost}: must be greater than zero')
    angles, nu, requested = vectors
    limit = np.where(robot.actuated, robot.effort_limit, 0.0)
    torque = np.empty((len(angles), robot.efforts))
    weighted_shares(robot.geometry, robot.caster_inertia, robot.platform,
                    np.zeros((robot.count, 6)), angles, nu, requested, metric,
                    -1.0 if torque_cost is None else torque_cost, TORQUE_COST, limit, torque)
    return torque
