# SPDX-License-Identifier: Apache-2.0
"""
Freedoms of a caster robot that its motors control about a steady motion.

A steady motion is a constant twist ν in ``base_link``: a line, a circle, a turn in place. Every
caster then has a constant angle at which it trails. Two questions have different answers:

- Is it *balanced*: are there torques within the bounds for which ν̇ = 0? With fewer motors than
  freedoms mostly not: a circle needs a centripetal force through the centre of mass, and two
  wheels give only forces through the point where their rolling lines meet.
- Can deviations be *corrected*? The deviations z = (pose in the axes of the motion, steering,
  twist) obey ``ż = A z + B τ`` with constant A and B, and the torques of the next T seconds move
  pose and twist within the ellipsoid of the Gramian

      W = ∫₀ᵀ C e^{At} B Bᵀ e^{Aᵀt} Cᵀ dt,   τ in units of its bounds

  Its half axes are lengths in m: `reach`. At rest, and on a straight line for casters without
  inertia, k motors control at most 2k of the six values however long T is: what is left needs a
  motion of second order (freedoms.py). A circle turns the rolling lines over the floor, and then
  two motors correct all six values. Friction is left out of A and B.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm
from scipy.optimize import lsq_linear

from c3p_description.model import Array, CasterRobot, Friction
from c3p_dynamics._caster_equations import caster_model, forward_derivatives
from c3p_dynamics.freedoms import motors
from c3p_dynamics.traction import torque_bounds
from c3p_kinematics.casters import steering_jacobian
from c3p_kinematics.singularity import length_scale

# time in which a deviation is to be corrected, s, and steps of the sum over it
HORIZON = 2.0
STEPS = 200

# half axes of the ellipsoid above this count as controlled, m
LEAST_REACH = 0.01

# acceleration that no torque balances below which a motion counts as balanced, m/s²
BALANCED = 1e-3


class MotionFreedoms(NamedTuple):
    """
    Values that the motors control about a steady motion.

    Attributes
    ----------
    twist : (3,) array
        The motion, m/s and rad/s, ``base_link``.
    steering : (n,) array, rad
        Angles at which the casters trail.
    unbalanced : float, m/s²
        Acceleration that the best torques leave, yaw in units of the size of the robot.
    reach : (6,) array, m
        Half axes of what one horizon of torque corrects in pose and twist, descending; yaw in
        units of the robot's size and speeds times the horizon.
    reach_heading_free : (4,) array, m
        The same without yaw and yaw rate.
    """

    twist: Array
    steering: Array
    unbalanced: float
    reach: Array
    reach_heading_free: Array

    @property
    def balanced(self) -> bool:
        """Torques within the bounds keep the motion."""
        return self.unbalanced <= BALANCED

    @property
    def controlled(self) -> int:
        """Number of values of pose and twist, at most 6, that can be corrected."""
        return int(np.sum(self.reach > LEAST_REACH))

    @property
    def controlled_heading_free(self) -> int:
        """The same of place and velocity alone, at most 4."""
        return int(np.sum(self.reach_heading_free > LEAST_REACH))


def trailing(robot: CasterRobot, twist: ArrayLike) -> Array:
    """
    Return the steering angles (…, n), rad, at which the casters trail a constant `twist` (…, 3).

    The contact then moves along the wheel: ``a·p = −d ω`` with p the velocity of the pivot, and
    ``e·p > 0``. A pivot slower than d ω has no such angle; its axle is then along p. A pivot at
    rest has the angle −90°.

    Examples
    --------
    >>> from c3p_description import load
    >>> np.degrees(trailing(load('c3p'), [1.0, 0.0, 0.0])).round(6).tolist()
    [-90.0, -90.0, -90.0]
    """
    vx, vy, w = np.moveaxis(np.asarray(twist, float)[..., None, :], -1, 0)
    x, y = robot.hip_position.T
    px, py = vx - w * y, vy + w * x
    speed = np.hypot(px, py)
    # a = (cos θ, sin θ) makes the angle γ with p: cos γ = −d ω/|p|, and e, 90° on, has e·p > 0
    part = np.divide(-robot.caster_offset * w, speed, out=np.zeros_like(speed),
                     where=speed > 0.0)
    return np.arctan2(py, px) - np.arccos(np.clip(part, -1.0, 1.0))


def motion_freedoms(robot: CasterRobot, twist: ArrayLike, steering: ArrayLike | None = None,
                    horizon: float = HORIZON, steps: int = STEPS) -> MotionFreedoms:
    """
    Return what the motors control about a steady motion.

    Parameters
    ----------
    robot : CasterRobot
    twist : (3,) array_like
        m/s and rad/s, ``base_link``; zeros for a standstill.
    steering : (n,) array_like, rad, optional
        Default: the angles at which the casters trail.
    horizon : float, s
        Time in which a deviation is to be corrected.
    steps : int
        Steps of the sum over the horizon.

    Raises
    ------
    ValueError
        A number that is not finite, or a horizon that is not positive.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from c3p_description import load
    >>> two = replace(load('c3p'), driven=[True, True, False])
    >>> motion_freedoms(two, [0.0, 0.3, 0.0]).controlled  # on a line: not across it
    4
    >>> motion_freedoms(two, [0.0, 0.3, 0.6]).controlled
    6
    """
    twist = np.asarray(twist, float)
    if twist.shape != (3,) or not np.isfinite(twist).all():
        raise ValueError(f'twist = {twist.tolist()}: must be three finite numbers')
    if not 0.0 < horizon < math.inf:
        raise ValueError(f'horizon = {horizon}: must be a positive number')
    steering = trailing(robot, twist) if steering is None else np.asarray(steering, float)
    free = linear_motion(robot, twist, steering)[2]
    a, b, _ = linear_motion(replace(robot, friction=Friction()), twist, steering)
    pushing = motors(robot)
    size = length_scale(robot)
    scale = np.array([1.0, 1.0, size, horizon, horizon, horizon * size])
    bound = torque_bounds(robot)[pushing]
    # half axes of pose and twist
    rows = _gramian_factor(a, b[:, pushing] * bound, horizon, steps)
    n = robot.count
    kept = np.r_[0:3, 3 + n:6 + n]
    reached = scale[:, None] * rows[kept]
    flat = reached[[0, 1, 3, 4]]
    return MotionFreedoms(twist, steering, _unbalanced(b[3 + n:, pushing], free, bound, size),
                          np.linalg.svd(reached, compute_uv=False),
                          np.linalg.svd(flat, compute_uv=False))


def linear_motion(robot: CasterRobot, twist: Array, steering: Array
                  ) -> tuple[Array, Array, Array]:
    """
    Return A (6 + n, 6 + n), B (6 + n, efforts) and ν̇ (3,) without torque of a steady motion.

    The state of deviations is (X, Y, φ in the axes of the motion, θ_s, vx, vy, ω). The
    derivatives are those at the torques that balance the motion best.
    """
    n = robot.count
    model = caster_model(robot)
    accel = np.empty(3)
    by_steering = np.empty((3, n))
    by_twist = np.empty((3, 3))
    by_torque = np.empty((3, robot.efforts))
    derivatives = accel, by_steering, by_twist, by_torque
    zero = np.zeros(3)
    twist = np.ascontiguousarray(twist, float)
    steering = np.ascontiguousarray(steering, float)
    torque = np.zeros(robot.efforts)
    forward_derivatives(model, steering, twist, torque, zero, derivatives)
    free = accel.copy()
    pushing = motors(robot)
    bound = torque_bounds(robot)
    if len(pushing):
        torque[pushing] = _balancing(by_torque[:, pushing], free, bound[pushing],
                                     length_scale(robot))
    forward_derivatives(model, steering, twist, torque, zero, derivatives)
    a = np.zeros((6 + n, 6 + n))
    b = np.zeros((6 + n, robot.efforts))
    vx, vy, w = twist
    # pose in axes that move with the motion
    a[:3, :3] = [[0.0, w, -vy], [-w, 0.0, vx], [0.0, 0.0, 0.0]]
    a[:3, 3 + n:] = np.eye(3)
    # θ̇_s = J_s(θ_s) ν, ∂θ̇_s/∂θ_s = −s/d
    x, y = robot.hip_position.T
    along = -np.sin(steering) * (vx - w * y) + np.cos(steering) * (vy + w * x)
    a[3:3 + n, 3:3 + n] = np.diag(-along / robot.caster_offset)
    a[3:3 + n, 3 + n:] = steering_jacobian(robot, steering)
    a[3 + n:, 3:3 + n] = by_steering
    a[3 + n:, 3 + n:] = by_twist
    b[3 + n:] = by_torque
    return a, b, free


def _balancing(columns: Array, free: Array, bound: Array, size: float) -> Array:
    """Return the torques within their bounds that come closest to ν̇ = 0."""
    unit = np.array([1.0, 1.0, size])[:, None]
    return lsq_linear(unit * columns * bound, -unit[:, 0] * free, (-1.0, 1.0)).x * bound


def _unbalanced(columns: Array, free: Array, bound: Array, size: float) -> float:
    """Return what is left of ν̇, m/s²."""
    if not columns.shape[1]:
        return float(np.linalg.norm(free * [1.0, 1.0, size]))
    rest = free + columns @ _balancing(columns, free, bound, size)
    return float(np.linalg.norm(rest * [1.0, 1.0, size]))


def _gramian_factor(a: Array, b: Array, horizon: float, steps: int) -> Array:
    """Return F with ``F Fᵀ = T ∫₀ᵀ e^{At} B Bᵀ e^{Aᵀt} dt``: lengths, for torques of unit rms."""
    step = horizon / steps
    # the midpoint rule of the integral
    now = expm(0.5 * step * a) @ b
    advance = expm(step * a)
    columns = []
    for _ in range(steps):
        columns.append(now)
        now = advance @ now
    return np.hstack(columns) * math.sqrt(step * horizon)
