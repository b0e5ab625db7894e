# SPDX-License-Identifier: Apache-2.0
"""
The equations of motion in the papers' own coordinates: all wheel and steering angles.

Platform, n links and n wheels (seven bodies for three casters) have the speeds q̇ = (q̇_x, q̇_s), 2n
of them, of which three are free. A single chain wheel - link - platform gives, with
σ = θ̇_s + ω the yaw rate of its link over ground,

    along its wheel     r² μ_e θ̈_x − κ d² r σ²
    about its contact   d² μ_a σ̇ + κ d² r θ̇_x σ

and the platform ``M_p ν̇ + G_p``. The chains are closed by ``q̇ = J ν``, J = [J_x; J_s], so that
ν = J_f q̇ for every left inverse J_f of J (paper I (5), II (5)), and whatever J_f is chosen

    M_q q̈ + G_q = [τ; 0] + Aᵀλ        A q̇ = 0,  A q̈ = A J̇ν

    M_q = diag(r² μ_e, 0) + Sᵀ diag(d² μ_a) S + J_fᵀ M_p J_f,     S = [0 1] + (1 … 1)ᵀ[0 0 1] J_f

with A, 2n − 3 rows, everything that J cannot do. Projected by J the multipliers vanish and the
reduced form of caster_dynamics.py remains, ``JᵀM_qJ = M``. Without λ six coordinates are free
(wheel_torque_dynamics.py, form 'blocks').

One state at a time; for speed use caster_dynamics.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.casters import batched, steering_jacobian, wheel_jacobian


def check_steering_weight(weight: float) -> None:
    """
    Check that w_s has a left inverse.

    Raises
    ------
    ValueError
        Not finite, or not greater than zero.
    """
    if not 0 < weight < np.inf:
        raise ValueError(f'steering_weight = {weight}: must be finite and greater than zero')


class JointSpace(NamedTuple):
    """
    Inertia, bias and closure of the wheel and steering angles q = (q_x, q_s) at one state.

    Attributes
    ----------
    jacobian : (2n, 3) array
        J = [J_x; J_s] of ``q̇ = J ν``.
    sensed : (3, 2n) array
        J_f = [J_fx J_fs] of ``ν = J_f q̇``, paper I (5).
    twist : (3,) array, m/s and rad/s
        ν = J_f q̇ in ``base_link``.
    drift : (2n,) array, rad/s²
        J̇ν, the joints' accelerations while the components of ν stay: minus g_cs of paper I (7).
    mass : (2n, 2n) array, kg·m²
        M_q, symmetric.
    bias : (2n,) array, N·m
        G_q, centripetal and Coriolis torques of the constrained bodies.
    lagrange_bias : (2n,) array, N·m
        ``d/dt(∂T/∂q̇) − ∂T/∂q − M_q q̈`` of ``T = ½ q̇ᵀM_q q̇``: what Lagrange's equations give if
        q is taken for free coordinates. The constraints do not follow from positions (X and Y
        do not follow from the angles), so this is *not* G_q, not even after projection.
    closure : (2n − 3, 2n) array
        A with orthonormal rows and ``A J = 0``.
    applied : (2n,) array, N·m
        Friction of the casters in these coordinates.
    """

    jacobian: Array
    sensed: Array
    twist: Array
    drift: Array
    mass: Array
    bias: Array
    lagrange_bias: Array
    closure: Array
    applied: Array


def sensed_jacobian(robot: CasterRobot, steering: ArrayLike, steering_weight: float = 1.0
                    ) -> Array:
    """
    Return ``J_f = (J_xᵀJ_x + w_s J_sᵀJ_s)⁻¹ [J_xᵀ  w_s J_sᵀ]``, the left inverse of (5).

    Parameters
    ----------
    robot : CasterRobot
    steering : (n,) array_like, rad
    steering_weight : float, > 0
        w_s, 1 in the papers' reading: all rates in rad/s count alike. For r = d it then is
        ``casters.sensed_forward``.

    Returns
    -------
    (3, 2n) array
        Exists at every steering angle.

    Raises
    ------
    ValueError
        `steering` that is not one state of n finite angles, or a weight that is not positive.
    """
    (angles,) = one_state(robot.count, steering=(steering, robot.count))
    return _left_inverse(_jacobian(robot, angles), _weights(robot, steering_weight))[0]


def joint_space(robot: CasterRobot, steering: ArrayLike, wheel_rate: ArrayLike,
                steering_rate: ArrayLike, steering_weight: float = 1.0) -> JointSpace:
    """
    Return inertia, bias and closure of the wheel and steering angles.

    Parameters
    ----------
    robot : CasterRobot
    steering : (n,) array_like, rad
        q_s.
    wheel_rate, steering_rate : (n,) array_like, rad/s
        q̇_x and q̇_s; ``casters.inverse`` makes a pair that closes the chains.
    steering_weight : float, > 0
        w_s of `sensed_jacobian`. M_q, G_q and λ depend on it, accelerations do not.

    Returns
    -------
    JointSpace

    Raises
    ------
    ValueError
        A vector that is not one state of n finite numbers, or a weight that is not positive.
    """
    n = robot.count
    angles, spin, turn = one_state(n, steering=(steering, n), wheel_rate=(wheel_rate, n),
                                   steering_rate=(steering_rate, n))
    jacobian = _jacobian(robot, angles)
    weights = _weights(robot, steering_weight)
    sensed, normal = _left_inverse(jacobian, weights)
    speeds = np.concatenate([spin, turn])
    twist = sensed @ speeds
    offset = robot.caster_offset
    radius = robot.wheel_radius
    along = radius * (jacobian[:n] @ twist)
    across = -offset * (jacobian[n:] @ twist + twist[2])
    drift = np.concatenate([-turn * across / radius, -turn * along / offset])

    # inertia: wheels along their lines, links about their contacts, the platform
    rolling, axle, kappa = robot.caster_inertia.T
    yaw = np.hstack([np.zeros((n, n)), np.eye(n)]) + sensed[2]
    about = offset**2 * axle
    platform = _platform_mass(robot)
    mass = (np.diag(np.concatenate([radius**2 * rolling, np.zeros(n)]))
            + yaw.T @ (about[:, None] * yaw) + sensed.T @ platform @ sensed)

    # bias: the same bodies at q̈ = 0, where ν̇ = −J_f J̇ν and σ̇ is its third component
    still = -sensed @ drift
    rates = yaw @ speeds
    gyro = kappa * offset**2 * radius
    contact = about * still[2] + gyro * spin * rates
    bias = (np.concatenate([-gyro * rates**2, np.zeros(n)]) + yaw.T @ contact
            + sensed.T @ (platform @ still + _platform_bias(robot, twist)))
    lagrange = _lagrange_bias(robot, angles, speeds, jacobian, sensed, normal, weights)
    closure = np.linalg.qr(jacobian, mode='complete')[0][:, 3:].T
    applied = _friction(robot, spin, turn, rates, yaw)
    return JointSpace(jacobian, sensed, twist, drift, mass, bias, lagrange, closure, applied)


def _jacobian(robot: CasterRobot, steering: ArrayLike) -> Array:
    return np.vstack([wheel_jacobian(robot, steering), steering_jacobian(robot, steering)])


def one_state(count: int, **arrays: tuple[ArrayLike, int]) -> list[Array]:
    """
    Return named vectors, ``name=(value, size)``, of one state, checked as by ``casters.batched``.

    Raises
    ------
    ValueError
        As `batched`, and for leading dimensions: a sweep would lose all but its first state.
    """
    batch, vectors = batched(count, **arrays)
    if batch:
        raise ValueError(f'{", ".join(arrays)}: leading dimensions {batch}: expected one '
                         'state; use caster_dynamics.py for sweeps')
    return [vector[0] for vector in vectors]


def _weights(robot: CasterRobot, steering_weight: float) -> Array:
    check_steering_weight(steering_weight)
    return np.repeat([1.0, steering_weight], robot.count)


def _left_inverse(jacobian: Array, weights: Array) -> tuple[Array, Array]:
    """Return J_f and the inverse of its normal equations."""
    normal = np.linalg.inv(jacobian.T @ (weights[:, None] * jacobian))
    return normal @ (jacobian.T * weights), normal


def _platform_mass(robot: CasterRobot) -> Array:
    m, inertia, cx, cy = robot.platform
    return np.array([[m, 0, -m * cy], [0, m, m * cx],
                     [-m * cy, m * cx, inertia + m * (cx**2 + cy**2)]])


def _platform_bias(robot: CasterRobot, twist: Array) -> Array:
    m, _, cx, cy = robot.platform
    vx, vy, w = twist
    return m * w * np.array([-vy - w * cx, vx - w * cy, cx * vx + cy * vy])


def _lagrange_bias(robot: CasterRobot, steering: Array, speeds: Array, jacobian: Array,
                   sensed: Array, normal: Array, weights: Array) -> Array:
    """Return Ṁ_q q̇ − ½ ∂(q̇ᵀM_q q̇)/∂q by the derivatives of J_f with each steering angle."""
    n = robot.count
    offset = robot.caster_offset
    rolling = jacobian[:n] * robot.wheel_radius[:, None]
    axle = -(jacobian[n:] + [0, 0, 1]) * offset[:, None]
    platform = _platform_mass(robot)
    about = offset**2 * robot.caster_inertia[:, 1]
    yaw = np.hstack([np.zeros((n, n)), np.eye(n)]) + sensed[2]
    beyond = np.eye(2 * n) - jacobian @ sensed
    out = np.zeros(2 * n)
    for k in range(n):
        # dRx/dθ = −Ra and dRa/dθ = Rx, in the two rows of caster k only
        slope = np.zeros((2 * n, 3))
        slope[k] = -axle[k] / robot.wheel_radius[k]
        slope[n + k] = -rolling[k] / offset[k]
        turned = -sensed @ slope @ sensed + normal @ (slope.T * weights) @ beyond
        half = (np.outer(turned[2], about @ yaw)
                + turned.T @ platform @ sensed)
        mass_slope = half + half.T
        out += speeds[n + k] * (mass_slope @ speeds)
        out[n + k] -= 0.5 * speeds @ mass_slope @ speeds
    return out


def _friction(robot: CasterRobot, spin: Array, turn: Array, rates: Array, yaw: Array) -> Array:
    """Return the torques of rolling and pivot friction on the joints, and of scrub on σ."""
    pivot_viscous, pivot_dry, roll_viscous, roll_dry, scrub_dry, smoothing = robot.losses.T
    roll = -roll_viscous * spin - roll_dry * np.tanh(spin / smoothing)
    pivot = -pivot_viscous * turn - pivot_dry * np.tanh(turn / smoothing)
    return np.concatenate([roll, pivot]) - yaw.T @ (scrub_dry * np.tanh(rates / smoothing))
