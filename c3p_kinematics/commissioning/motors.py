# SPDX-License-Identifier: Apache-2.0
"""
Search over orders and leads of the motors, from torques and the motion they have caused.

With the encoders' wiring the motion ν of the platform is known, and with it the rates J_k ν of all
joints. In a window of length T the torques and the friction change the momentum,

    Σ_m s_m (∫τ_m dt) J_k(m)ᵀ = μ M Δν + T Σ_j f_j J_jᵀ sgn(q̇_j),    μ ≈ 1, f_j ≥ 0,

with the joint k(m) and the sign s_m of motor channel m, the mass matrix M of the description and
friction f of wheels, pivots and tyres. μ and f are linear unknowns; what they leave of the
left-hand side is the residual of a hypothesis. A motor that pushes at another wheel gives another
force and moment, and power of the wrong sign.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.commissioning.assignment import WiringRecord, joint_of_motors

# relative standard deviation of the described mass
MASS_DEVIATION = 0.3

# a joint with a smaller rate may stand, rad/s
STANDING = 0.05

# windows that last longer, by their median, begin with a standing robot
SLOWEST = 2.0

# orders of motors are all tried up to this number of wirings; beyond it the best grow, motor by
# motor
MOST_WIRINGS = 4000

# relative error of force and moment by friction that is not as modelled
MODEL_ERROR = 0.05


class MotorWirings(NamedTuple):
    """
    H wirings of the motors, the best first.

    Attributes
    ----------
    joint : (H, m) ndarray of int
        Joint that each motor channel turns.
    leads : (H, m) ndarray
    squares : (H,) ndarray
        Sum of squares of the residuals, by the square sum of the torques.
    equations : int
    """

    joint: Array
    leads: Array
    squares: Array
    equations: int


class MotionWindows(NamedTuple):
    """
    Motion in W windows by the encoders' wiring.

    Attributes
    ----------
    begin, end : (W,) ndarray of int
        Samples of the record.
    steering : (W, n) ndarray, rad
        Mean angles.
    displacement : (W, 3) ndarray, m and rad
        In ``base_link``.
    """

    begin: Array
    end: Array
    steering: Array
    displacement: Array


def joint_jacobians(robot: CasterRobot, steering: Array) -> tuple[Array, Array]:
    """
    Return rates by the twist: of steering axes and wheels (W, 2n, 3), of contacts (W, n, 3).

    A wheel without offset has no rate of steering by a motion: its rows are 0.
    """
    hips = robot.hip_position
    e = np.stack([-np.sin(steering), np.cos(steering)], axis=-1)
    a = np.stack([np.cos(steering), np.sin(steering)], axis=-1)
    along = np.concatenate([e, (e[..., 1] * hips[:, 0] - e[..., 0] * hips[:, 1])[..., None]], -1)
    across = np.concatenate([a, (a[..., 1] * hips[:, 0] - a[..., 0] * hips[:, 1])[..., None]], -1)
    trails = robot.caster_offset > 0
    offset = np.where(trails, robot.caster_offset, 1.0)[:, None]
    contact = np.where(trails[:, None], -across / offset, 0.0)
    turn = np.array([0.0, 0.0, 1.0])
    axes = np.where(trails[:, None], contact - turn, 0.0)
    wheels = (along + robot.lateral_offset[:, None] * contact) / robot.wheel_radius[:, None]
    return np.concatenate([axes, wheels], axis=1), contact


def mass_matrix(robot: CasterRobot) -> Array:
    """Return the mass matrix (3, 3) of the robot, with the casters as points at their pivots."""
    extra = robot.link_mass + robot.wheel_mass
    hips = robot.hip_position
    mass = robot.total_mass
    first = robot.platform_mass * robot.platform_com + extra @ hips
    inertia = (robot.platform_inertia + robot.platform_mass * robot.platform_com
               @ robot.platform_com + float(extra @ (hips ** 2).sum(1)))
    return np.array([[mass, 0.0, -first[1]], [0.0, mass, first[0]],
                     [-first[1], first[0], inertia]])


def _accelerations(times: Array, windows: MotionWindows) -> Array:
    """Return the change of the twist (W, 3) in each window, from its neighbours."""
    begin = times[windows.begin]
    end = times[windows.end]
    twist = windows.displacement / (end - begin)[:, None]
    middle = 0.5 * (begin + end)
    change = np.zeros_like(twist)
    for w in range(len(twist)):
        near = [v for v in (w - 1, w, w + 1) if 0 <= v < len(twist)
                and abs(v - w) <= 1 and (windows.begin[max(v, w)] == windows.end[min(v, w)]
                                         or v == w)]
        if len(near) > 1:
            first = near[0]
            last = near[-1]
            change[w] = ((twist[last] - twist[first]) / (middle[last] - middle[first])
                         * (end[w] - begin[w]))
    return change


class _Equations(NamedTuple):
    """Impulses (3W, m, 2n) of motors at joints, columns of the unknowns, and motors that push."""

    impulse: Array
    mass: Array
    friction: Array
    active: Array


def _equations(robot: CasterRobot, record: WiringRecord, windows: MotionWindows) -> _Equations:
    times = record.time
    count = len(windows.begin)
    jacobian, contact = joint_jacobians(robot, windows.steering)
    rows = np.diff(times, append=times[-1])
    impulses = np.vstack([np.zeros(record.ordered.shape[1]),
                          np.cumsum(record.ordered * rows[:, None], axis=0)])
    pushed = impulses[windows.end] - impulses[windows.begin]
    length = times[windows.end] - times[windows.begin]
    # a moment is compared with forces at the pivots
    arm = np.array([1.0, 1.0, 1.0 / np.sqrt((robot.hip_position ** 2).sum(1).mean())])
    impulse = np.einsum('wm,wji->wimj', pushed, jacobian) * arm[:, None, None]
    mass = _accelerations(times, windows) @ mass_matrix(robot).T * arm
    twist = windows.displacement / length[:, None]
    n = robot.count
    rates = jacobian @ twist[:, :, None]
    sense = np.tanh(rates[..., 0] / STANDING)
    turning = np.tanh((contact @ twist[:, :, None])[..., 0] / STANDING)
    kinds = (np.einsum('wj,wji->wi', sense[:, n:], jacobian[:, n:]),
             np.einsum('wj,wji->wi', sense[:, :n], jacobian[:, :n]),
             np.einsum('wj,wji->wi', turning, contact))
    friction = np.stack(kinds, axis=-1) * length[:, None, None] * arm[:, None]
    limit = robot.effort_limit[robot.actuated]
    active = np.abs(pushed) > 1e-3 * limit * length[:, None]
    # before a joint moves its friction is what it must be, not that of motion
    active &= (length < SLOWEST * np.median(length))[:, None]
    return _Equations(impulse.reshape(3 * count, *impulse.shape[2:]), mass.reshape(-1, 1),
                      friction.reshape(3 * count, -1), np.repeat(active, 3, axis=0))


def _left(equations: _Equations, left: Array, rows: Array) -> float:
    """Return the squares that mass and friction leave of the left-hand side (3W,)."""
    y = left[rows]
    total = float(y @ y)
    if total == 0.0:
        return 0.0
    # the mass is that of the description, about; frictions are not negative
    columns = np.column_stack([equations.mass[rows], equations.friction[rows]])
    weight = MODEL_ERROR * np.sqrt(total) / MASS_DEVIATION
    # unknown μ ≥ 0 with its expectation as an equation of its own
    a = np.vstack([columns, np.eye(1, columns.shape[1]) * weight])
    b = np.append(y, weight)
    return nnls(a, b)[1] ** 2


def search_motors(robot: CasterRobot, record: WiringRecord, windows: MotionWindows,
                  kept: int = 300) -> MotorWirings:
    """
    Return wirings of the motors by their residuals, the best first.

    Parameters
    ----------
    robot : CasterRobot
    record : WiringRecord
    windows : MotionWindows
    kept : int
        Wirings that are compared by all motions, of those that are best by the motions of single
        motors.
    """
    equations = _equations(robot, record, windows)
    described = joint_of_motors(robot)
    motors = len(described)
    n = robot.count
    alone = equations.active.sum(1) == 1
    cost = np.full((motors, 2 * n, 2), np.inf)
    for m in range(motors):
        own = np.logical_and(alone, equations.active[:, m])
        for k in described[(described >= n) == (described[m] >= n)]:
            for s, sign in enumerate((1.0, -1.0)):
                cost[m, k, s] = _left(equations, sign * equations.impulse[:, m, k], own)
    joints, leads = _best_by_sum(cost, described, n, kept)
    squares = np.empty(len(joints))
    rows = np.flatnonzero(equations.active.any(1))
    for h, (joint, sign) in enumerate(zip(joints, leads, strict=True)):
        left = equations.impulse[:, np.arange(motors), joint] @ sign
        squares[h] = _left(equations, left, rows) / max(float(left[rows] @ left[rows]), 1e-30)
    order = np.argsort(squares, kind='stable')
    return MotorWirings(joints[order], leads[order], squares[order], len(rows))


def _best_by_sum(cost: Array, described: Array, wheels_from: int, kept: int
                 ) -> tuple[Array, Array]:
    """Return joints and signs (H, m) of the `kept` least sums of costs (m, 2n, 2)."""
    grown: list[tuple[float, tuple[int, ...], tuple[float, ...]]] = [(0.0, (), ())]
    for m in range(len(cost)):
        more = []
        for value, joints, signs in grown:
            for k in described[(described >= wheels_from) == (described[m] >= wheels_from)]:
                if int(k) in joints:
                    continue
                more += [(value + cost[m, k, s], (*joints, int(k)), (*signs, sign))
                         for s, sign in enumerate((1.0, -1.0))]
        grown = sorted(more)[:max(kept, MOST_WIRINGS)]
    best = grown[:kept]
    return np.array([b[1] for b in best]), np.array([b[2] for b in best])
