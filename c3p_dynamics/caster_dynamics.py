# SPDX-License-Identifier: Apache-2.0
"""
Closed-chain dynamics of a caster robot, reduced to the three freedoms of its platform.

Seven bodies (for three casters) are tied by the rolling constraints; with the twist
ν = (vx, vy, ω) in ``base_link`` as speeds, Euler-Lagrange projected on the constraints gives

    M(θ_s) ν̇ + G(θ_s, ν) = J_xᵀ (τ + τ_rolling) + J_sᵀ (τ_s + τ_pivot) + J_cᵀ τ_scrub

    M = M_platform + Σ μ_e RxᵀRx + μ_a RaᵀRa
    G = G_platform + Σ Rxᵀ(−μ_e θ̇_s u − κ u²) + Raᵀ(μ_a θ̇_s s + κ s u)

with s = Rx ν, u = Ra ν, θ̇_s = −u/d − ω, and μ_e, μ_a, κ as CasterRobot.caster_inertia. Papers I
and II, eqs (8)-(18), with the three dependent coordinates removed: the papers treat wheel and
steering angles as independent, which they are not (docs/papers/el_shenawy.md).

Leading dimensions broadcast: ``steering`` (…, n) with ``twist`` (…, 3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_dynamics import _caster_batch_kernels as kernels
from c3p_dynamics._caster_equations import numbers_of
from c3p_dynamics._caster_inverse_kernels import inverses, packed_inverse
from c3p_dynamics.inverse_dynamics_parameters import SharingSettings
from c3p_dynamics.traction import steering_motors
from c3p_kinematics.casters import batched

# weight w_s of the virtual steering motors: 1 is the papers' reading and realises 54 % of a yaw
# acceleration with parallel casters of the papers' robot; 0.1 gives 92 %, 0.01 gives 99 %
VIRTUAL_STEERING_WEIGHT: float = SharingSettings.virtual_steering_weight

# singular values of J_x below this fraction of the largest are zero in the least-norm allocation
RANK_TOLERANCE = 1e-9


def _mass_and_bias(robot: CasterRobot, angles: Array, nu: Array) -> tuple[Array, Array]:
    """Return M (B, 3, 3) and G (B, 3) of vectors that `batched` has checked."""
    mass = np.empty((len(angles), 3, 3))
    bias = np.empty((len(angles), 3))
    kernels.masses_and_biases(numbers_of(robot), angles, nu, mass, bias)
    return mass, bias


def mass_matrix(robot: CasterRobot, steering: ArrayLike) -> Array:
    """
    Return M(θ_s), the inertia in terms of the platform's twist.

    Parameters
    ----------
    robot : CasterRobot
    steering : (…, n) array_like, rad

    Returns
    -------
    (…, 3, 3) array, kg, kg·m and kg·m²
        Symmetric and positive definite.

    Raises
    ------
    ValueError
        `steering` does not have one finite angle per caster.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_description.model import CasterRobot
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51,
    ...                             wheel_mass=0.5)
    >>> round(float(mass_matrix(robot, [0, 0, 0])[1, 1]), 3)  # wheels roll along Y: 30 + 3·0.5
    31.5
    """
    batch, (angles,) = batched(robot.count, steering=(steering, robot.count))
    return _mass_and_bias(robot, angles, np.zeros((len(angles), 3)))[0].reshape(*batch, 3, 3)


def bias(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike) -> Array:
    """
    Return G(θ_s, ν), the centripetal and Coriolis forces.

    Parameters
    ----------
    robot : CasterRobot
    steering : (…, n) array_like, rad
    twist : (…, 3) array_like
        ν, ``base_link``.

    Returns
    -------
    (…, 3) array, N, N, N·m
        Does no work beyond the change of M: ``νᵀ(G − ½ Ṁ ν) = 0``.

    Raises
    ------
    ValueError
        A vector of the wrong size, or a number that is not finite; the text names it.
    """
    batch, (angles, nu) = batched(robot.count, steering=(steering, robot.count), twist=(twist, 3))
    return _mass_and_bias(robot, angles, nu)[1].reshape(*batch, 3)


def inverse_dynamics(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike, accel: ArrayLike,
                     virtual_steering_weight: float = VIRTUAL_STEERING_WEIGHT) -> Array:
    """
    Return the torques for an acceleration of the platform, without friction.

    The force ``F = M ν̇ + G`` is allocated to the wheel motors and as many *virtual* motors in the
    steering axes, ``min |τ_x|² + |τ_s|²/w_s`` subject to ``J_xᵀτ_x + J_sᵀτ_s = F``, and the
    virtual torques are dropped; each motor first drives its own rolling mass:

        τ = r²μ_e θ̈_x + J_x A⁻¹ (F − J_xᵀ r²μ_e θ̈_x),   A = J_xᵀJ_x + w_s J_sᵀJ_s

    That is papers I (10)-(12) and II (16)-(18) read consistently for w_s = 1. Away from
    singularities w_s → 0 gives the exact inverse, with an error proportional to w_s; at random
    steering angles of the papers' robot half of all demands are realised by 54 % or more with
    w_s = 1, 83 % with 0.1, 97 % with 0.01. At a singularity no torque accelerates the robot in
    the uncontrollable direction at once. With w_s > 0 a force F in that direction becomes a yaw
    moment of about −d F, which turns the casters out of the singularity, the sooner the smaller
    w_s. With w_s = 0 (the pseudo-inverse) the torque is 0 and an exact singularity is never left:
    see docs/papers/el_shenawy.md and the tests of singular starts.

    A steering axis with a motor takes its torque in the place of a virtual one, with the weight
    ``traction.steering_motors``. Where the motors reach every acceleration at any steering angles
    (``singularity.always_actuated``) there are no virtual motors, and the inverse is exact.

    Parameters
    ----------
    robot : CasterRobot
    steering : (…, n) array_like, rad
    twist, accel : (…, 3) array_like
        ν and ν̇ (component derivative), ``base_link``.
    virtual_steering_weight : float, ≥ 0 and finite
        w_s; smaller is more exact and takes more torque close to singularities.

    Returns
    -------
    (…, robot.efforts) array, N·m
        Zero where no motor is; see `unreached_acceleration`.

    Raises
    ------
    ValueError
        A vector of the wrong size, a number that is not finite, or a negative weight.
    """
    check_virtual_steering_weight(virtual_steering_weight)
    n = robot.count
    batch, (angles, nu, nudot) = batched(n, steering=(steering, n), twist=(twist, 3),
                                         accel=(accel, 3))
    torque = np.empty((len(angles), robot.efforts))
    inverses(inverse_pack(robot, virtual_steering_weight), angles, nu, nudot, torque)
    return torque.reshape(*batch, robot.efforts)


def inverse_pack(robot: CasterRobot, virtual_steering_weight: float) -> Array:
    """Return the block of an InverseState for a robot and w_s, at rest."""
    motors = steering_motors(robot)
    block: Array = packed_inverse(numbers_of(robot), robot.driven, motors.weight, motors.spanned,
                                  float(virtual_steering_weight), RANK_TOLERANCE)
    return block


def check_virtual_steering_weight(weight: float) -> None:
    """
    Check w_s.

    Raises
    ------
    ValueError
        Not finite, or negative.
    """
    if not 0 <= weight < np.inf:
        raise ValueError(f'virtual_steering_weight = {weight}: must be 0 (pseudo-inverse) or '
                         'greater, and finite')


def forward_dynamics(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike,
                     wheel_torque: ArrayLike) -> Array:
    """
    Return ν̇ that the torques cause, with the friction of ``robot.friction``.

    Parameters
    ----------
    robot : CasterRobot
    steering : (…, n) array_like, rad
    twist : (…, 3) array_like
        ν, ``base_link``.
    wheel_torque : (…, robot.efforts) array_like, N·m
        τ, of the wheels and, with steering motors, of the steering axes behind; a torque where no
        motor is counts as an external one.

    Returns
    -------
    (…, 3) array, m/s², rad/s²
        The component derivative ν̇ in ``base_link``.

    Raises
    ------
    ValueError
        A vector of the wrong size, or a number that is not finite; the text names it.
    """
    n = robot.count
    batch, (angles, nu, torque) = batched(n, steering=(steering, n), twist=(twist, 3),
                                          wheel_torque=(wheel_torque, robot.efforts))
    accel = np.empty((len(angles), 3))
    kernels.forwards(numbers_of(robot), angles, nu, torque, np.zeros_like(nu), accel)
    return accel.reshape(*batch, 3)


def unreached_acceleration(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike,
                           accel: ArrayLike, wheel_torque: ArrayLike) -> Array:
    """
    Return the part of `accel` that `wheel_torque` does not reach, friction included.

    ``ν̇ − forward_dynamics(τ)``: shapes, units and errors as `forward_dynamics`.
    """
    batch, (requested,) = batched(robot.count, accel=(accel, 3))
    return requested.reshape(*batch, 3) - forward_dynamics(robot, steering, twist, wheel_torque)


def kinetic_energy(robot: CasterRobot, steering: ArrayLike, twist: ArrayLike) -> Array:
    """
    Return ½ νᵀ M(θ_s) ν of the whole robot, wheels spinning included, (…) array in joule.

    Raises
    ------
    ValueError
        A vector of the wrong size, or a number that is not finite; the text names it.
    """
    batch, (angles, nu) = batched(robot.count, steering=(steering, robot.count), twist=(twist, 3))
    mass, _ = _mass_and_bias(robot, angles, nu)
    return 0.5 * np.einsum('bi,bij,bj->b', nu, mass, nu).reshape(batch)
