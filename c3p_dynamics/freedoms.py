# SPDX-License-Identifier: Apache-2.0
"""
Freedoms of a caster robot that its motors control: at an instant, and out of a standstill.

**At an instant.** ``M ν̇ = J_xᵀτ + …`` with one row of J_x per driven wheel, and of J_s per
driven steering axis: k motors accelerate the platform in at most k of its three directions. In the
metric of M the reachable ν̇ are the complement of the twists d with ``J d = 0``, because
``dᵀM ν̇ = (J d)ᵀτ``.

**Out of a standstill** the steering turns with the motion, so that further directions d open. With
the fields ``g_a = M⁻¹J_aᵀ`` and their motion of the casters ``J_s g_a`` the symmetric product of
the inputs a and b (Lewis and Murray) is

    ⟨g_a : g_b⟩ = Σ_i ∂g_a/∂θ_i (J_s g_b)_i + ∂g_b/∂θ_i (J_s g_a)_i + Γ(g_a, g_b),
    ν̇ = −½ Γ(ν, ν) without torque

A torque u(t) that returns to where it began moves the platform along d by −½ dᵀM⟨g_a : g_b⟩ times
the mean of ∫u_a ∫u_b: the quadratic form Q with these entries shows what is possible. If it is
indefinite, d opens in both senses; if it is definite, in one sense only; if it is zero, not by a
motion of second order. With one motor Q is a number: it is never indefinite.

Friction is left out: it resists a motion and opens no direction.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot, Friction
from c3p_dynamics._caster_equations import forward_derivatives, packed_model
from c3p_dynamics.caster_dynamics import mass_matrix
from c3p_dynamics.traction import torque_bounds
from c3p_dynamics.wheel_reach import pushed_freedoms
from c3p_kinematics.casters import steering_jacobian, wheel_jacobian
from c3p_kinematics.singularity import SINGULAR_TOLERANCE, length_scale

# postures over which the most freedoms are sought; a random one is regular with probability 1
POSTURES = 8
SEED = 0

# eigenvalues of Q below this fraction of the largest possible entry count as zero
FORM_TOLERANCE = 1e-6

# sums of two lost directions that are tried
DIRECTIONS = 90


class Reachable(NamedTuple):
    """
    Twist accelerations that the motors give in one posture.

    Attributes
    ----------
    rank : int
        Number of independent accelerations, at most the number of motors and 3.
    directions : (rank, 3) array
        Accelerations ν̇ in ``base_link`` that span them, orthonormal in the metric of M.
    lost : (3 - rank, 3) array
        Twists that no motor drives, orthonormal in the same metric and to the `directions`.
    """

    rank: int
    directions: Array
    lost: Array


class Departure(NamedTuple):
    """
    Directions that open when the robot leaves a standstill, at second order.

    Attributes
    ----------
    reachable : Reachable
        What the motors accelerate at the start.
    forms : (3 - rank, k, k) array
        Q of each lost direction, for the torques of the k motors as fractions of their bounds.
    tolerance : float
        Eigenvalues of a form up to this count as zero.
    """

    reachable: Reachable
    forms: Array
    tolerance: float

    def opens(self, weights: ArrayLike) -> tuple[bool, bool]:
        """
        Return whether a lost direction opens in its negative and in its positive sense.

        The direction is the sum of the lost twists with `weights` (3 - rank,).
        """
        form = np.tensordot(np.asarray(weights, float), self.forms, 1)
        values = np.linalg.eigvalsh(form)
        # a motion that returns moves along −Q
        return bool(values[-1] > self.tolerance), bool(values[0] < -self.tolerance)

    @property
    def controllable(self) -> bool:
        """
        Small-time controllability: every lost direction opens in both senses.

        Two lost directions have a half circle of sums; `DIRECTIONS` of them are tried.
        """
        lost = len(self.forms)
        if lost < 2:
            return lost == 0 or all(self.opens([1.0]))
        angles = np.pi / DIRECTIONS * np.arange(DIRECTIONS)
        return lost == 2 and all(all(self.opens([np.cos(a), np.sin(a)])) for a in angles)

    @property
    def closed(self) -> Array:
        """The lost twists (m, 3) that do not open at second order."""
        if not len(self.forms):
            return np.zeros((0, 3))
        left, sigma, _ = np.linalg.svd(self.forms.reshape(len(self.forms), -1))
        small = np.ones(len(self.forms), bool)
        small[:len(sigma)] = sigma <= self.tolerance
        return left.T[small] @ self.reachable.lost


def motors(robot: CasterRobot) -> Array:
    """
    Return the indices, in an effort vector, of the motors that push: on wheels with a load.

    Examples
    --------
    >>> from c3p_description import load
    >>> motors(load('c3p')).tolist()
    [0, 1, 2]
    """
    return np.flatnonzero(torque_bounds(robot) > 0.0)


def driven_freedoms(robot: CasterRobot) -> int:
    """
    Return how many freedoms of the platform the motors accelerate at an instant, 0 to 3.

    It is the rank of a posture in general; singular ones have less (`reachable_accelerations`).

    Examples
    --------
    >>> from dataclasses import replace
    >>> from c3p_description import load
    >>> driven_freedoms(load('c3p'))
    3
    >>> driven_freedoms(replace(load('c3p'), driven=[True, True, False]))
    2
    """
    return _driven_freedoms(robot)


def heading_is_free(robot: CasterRobot) -> bool:
    """
    Return whether casters have fewer motors than freedoms, so that the heading has to be given up.

    Fixed wheels bar a freedom as well, but their robot turns to the headings of its goals.

    Examples
    --------
    >>> from c3p_description import load
    >>> heading_is_free(load('c3p')), heading_is_free(load('amr'))
    (False, False)
    """
    return not robot.other_wheels and driven_freedoms(robot) < 3


@lru_cache(maxsize=64)
def _driven_freedoms(robot: CasterRobot) -> int:
    if robot.other_wheels:
        return pushed_freedoms(robot)
    random = np.random.default_rng(SEED)
    postures = random.uniform(-np.pi, np.pi, (POSTURES, robot.count))
    return max(reachable_accelerations(robot, posture).rank for posture in postures)


def reachable_accelerations(robot: CasterRobot, steering: ArrayLike,
                            tolerance: float = SINGULAR_TOLERANCE) -> Reachable:
    """
    Return the twist accelerations that the motors give at `steering` (n,), rad.

    Singular values of the rows ``[force, lever/L]`` of the motors up to `tolerance` count as zero.
    ValueError unless `steering` has one finite angle per caster.

    Examples
    --------
    >>> from c3p_description import load
    >>> side = reachable_accelerations(load('c3p'), [0.0, 0.0, 0.0])
    >>> side.rank, bool(abs(side.lost[0, 1:]).max() < 1e-12)  # X is lost
    (2, True)
    """
    steering = np.asarray(steering, float)
    rows = _rows(robot, steering)
    # rank by geometry: yaw in units of the size of the robot, about the mean pivot
    x, y = robot.hip_position.mean(axis=0)
    levers = (rows[:, 2] - rows[:, 1] * x + rows[:, 0] * y) / length_scale(robot)
    sigma = np.linalg.svd(np.column_stack([rows[:, :2], levers]), compute_uv=False)
    rank = int(np.sum(sigma > tolerance))
    # with M = LLᵀ the metric is that of z = Lᵀν, where the reachable ż are the rows of J L⁻ᵀ
    lower = np.linalg.cholesky(mass_matrix(robot, steering))
    _, _, basis = np.linalg.svd(np.linalg.solve(lower, rows.T).T)
    twists = np.linalg.solve(lower.T, basis.T).T
    return Reachable(rank, twists[:rank], twists[rank:])


def _rows(robot: CasterRobot, steering: Array) -> Array:
    """Return the directions of force of the motors, a row of zeros if no motor pushes."""
    pushing = motors(robot)
    rows = wheel_jacobian(robot, steering) * robot.wheel_radius[:, None]
    if robot.efforts > robot.count:
        turning = steering_jacobian(robot, steering) * robot.caster_offset[:, None]
        rows = np.concatenate([rows, turning])
    return rows[pushing] if len(pushing) else np.zeros((1, 3))


def departure(robot: CasterRobot, steering: ArrayLike) -> Departure:
    """
    Return what opens when the robot leaves a standstill at `steering` (n,), rad.

    ValueError unless `steering` has one finite angle per caster.

    Examples
    --------
    >>> from c3p_description import load
    >>> departure(load('c3p'), [0.0, 0.0, 0.0]).controllable
    True

    Two casters on one line push along it for ever; nothing opens.

    >>> from c3p_description.model import CasterRobot
    >>> duo = CasterRobot('duo', [(0, 0.25), (0, -0.25)], 0.05, 0.06, 20.0, 0.8, (0.0, 0.0),
    ...                   0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    >>> departure(duo, [0.0, 0.0]).closed.shape
    (2, 3)
    """
    steering = np.asarray(steering, float)
    reachable = reachable_accelerations(robot, steering)
    mass = mass_matrix(robot, steering)
    products, size = symmetric_products(robot, steering)
    forms = np.einsum('dk,kl,abl->dab', reachable.lost, mass, products)
    return Departure(reachable, forms, FORM_TOLERANCE * size)


def symmetric_products(robot: CasterRobot, steering: Array) -> tuple[Array, float]:
    """
    Return ½⟨g_a : g_b⟩ (k, k, 3) of the motors at their bounds, and the size of an entry.

    The size bounds what a form of a unit twist can have, and makes tolerances relative.
    """
    steering = np.asarray(steering, float)
    pushing = motors(robot)
    n = robot.count
    k = len(pushing)
    model = packed_model(robot.geometry, robot.caster_inertia, robot.platform,
                         _frictionless(robot).losses)
    bound = torque_bounds(robot)
    zero = np.zeros(3)
    accel = np.empty(3)
    by_steering = np.empty((3, n))
    by_twist = np.empty((3, 3))
    derivatives = accel, by_steering, by_twist, np.empty((3, robot.efforts))
    turning = steering_jacobian(robot, steering)
    gains = np.empty((k, 3))
    slopes = np.empty((k, 3, n))
    for a, wheel in enumerate(pushing):
        torque = np.where(np.arange(robot.efforts) == wheel, bound, 0.0)
        forward_derivatives(model, steering, zero, torque, zero, derivatives)
        gains[a] = accel
        slopes[a] = by_steering
    products = np.empty((k, k, 3))
    for a in range(k):
        for b in range(k):
            # by_twist at a twist is that of a quadratic form: ν̇(g_a, g_b) = ½ by_twist(g_a) g_b
            forward_derivatives(model, steering, gains[a], np.zeros(robot.efforts), zero,
                                derivatives)
            products[a, b] = 0.5 * (slopes[a] @ (turning @ gains[b])
                                    + slopes[b] @ (turning @ gains[a]) - by_twist @ gains[b])
    lower = np.linalg.cholesky(mass_matrix(robot, steering))
    lengths = np.linalg.norm(gains @ lower, axis=1)
    rate = np.linalg.norm(np.linalg.solve(lower, turning.T), axis=0).max()
    return products, float(lengths.max(initial=0.0))**2 * float(rate)


def _frictionless(robot: CasterRobot) -> CasterRobot:
    return replace(robot, friction=Friction())
