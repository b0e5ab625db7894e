# SPDX-License-Identifier: Apache-2.0
"""
Reachable accelerations: what the wheel torques within their bounds do to a robot at rest.

The torques τ of the motors, |τ_i| ≤ b_i (`traction.torque_bounds`), accelerate the platform by
``ν̇ = ν̇_f + M⁻¹ Jᵀ τ``, with the friction ν̇_f of a motion that has just begun. The set of all ν̇ is
a zonotope. Its extent along one direction, while the other components stay zero, is the solution
of a small linear program.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.caster_dynamics import forward_dynamics
from c3p_dynamics.motion_freedoms import trailing
from c3p_dynamics.traction import torque_bounds
from c3p_dynamics.wheel_reach import aligned_travel
from c3p_kinematics.casters import inverse
from c3p_kinematics.singularity import length_scale

# speed of a motion that has just begun, with the full dry friction: rates of wheels and casters
# far above the smoothing of the friction, as a multiple of it
BEGUN = 20.0


def resistance(robot: CasterRobot, steering: ArrayLike, direction: ArrayLike) -> Array:
    """
    Return the deceleration (3,) by dry friction of a motion along `direction` that begins.

    `steering` (n,), rad; `direction` (3,) of the twist; m/s² and rad/s², ``base_link``.
    """
    wheel, turn, contact = inverse(robot, steering, direction)
    fastest = max(float(np.abs([wheel, turn, contact]).max()), 1e-9)
    smoothing = float(robot.losses[:, 5].max())
    # rates are scaled up to where tanh is one; of the deceleration c + b v + a v² at 1, 2 and 3
    # times this speed the difference 3, −3, 1 leaves c: dry friction
    twist = BEGUN * smoothing / fastest * np.asarray(direction, float)
    slowed = forward_dynamics(robot, steering, np.outer([1.0, 2.0, 3.0], twist),
                              np.zeros(robot.efforts))
    return np.array([3.0, -3.0, 1.0]) @ slowed


def reach(robot: CasterRobot, steering: ArrayLike, direction: ArrayLike) -> float:
    """
    Return the largest acceleration along `direction` from rest, with no other component.

    Parameters
    ----------
    robot : CasterRobot
    steering : (n,) array_like, rad
    direction : (3,) array_like
        Of ν̇ in ``base_link``; its length is the unit of the result: [1, 0, 0] for m/s² along x,
        [0, 0, 1] for rad/s².

    Returns
    -------
    float
        0 where the wheels cannot do it: against friction, or in a singular configuration.

    Examples
    --------
    Across parallel rolling lines nothing is reachable:

    >>> from c3p_description import load
    >>> c3p = load('c3p')
    >>> round(reach(c3p, np.zeros(3), [0, 1, 0]), 3), reach(c3p, np.zeros(3), [1, 0, 0])
    (2.436, 0.0)
    """
    steering = np.asarray(steering, float)
    direction = np.asarray(direction, float)
    push, against = _scaled(robot, steering, direction)
    if not push.size:
        return 0.0
    ahead = _scale(robot) * direction
    size = max(float(np.abs(push).max()), 1e-12)
    k = push.shape[1]
    found = linprog(np.append(np.zeros(k), -1.0), A_eq=np.column_stack([push, -ahead]) / size,
                    b_eq=-against / size, bounds=[(-1.0, 1.0)] * k + [(0.0, None)],
                    method='highs')
    # a program of no solution: friction is stronger than the motors
    largest = float(found.x[-1]) if found.status == 0 else 0.0
    return largest if largest * float(np.abs(ahead).max()) > 1e-6 * size else 0.0


def heading_reach(robot: CasterRobot, steering: ArrayLike, way: ArrayLike) -> float:
    """
    Return the largest yaw acceleration from rest without acceleration along `way`, rad/s².

    The smaller of both senses; across `way` the platform may accelerate, as it does about casters
    that trail. `steering` (n,), rad; `way` (2,) a unit vector in ``base_link``. 0 where friction
    is stronger than the motors.
    """
    steering, (x, y) = np.asarray(steering, float), np.asarray(way, float)
    least = np.inf
    for sense in (1.0, -1.0):
        push, against = _scaled(robot, steering, np.array([0.0, 0.0, sense]))
        if not push.size:
            return 0.0
        size = max(float(np.abs(push).max()), 1e-12)
        along = np.array([x, y, 0.0])
        found = linprog(-sense * push[2] / size, A_eq=[along @ push / size],
                        b_eq=[-along @ against / size], bounds=[(-1.0, 1.0)] * push.shape[1],
                        method='highs')
        most = sense * float(push[2] @ found.x + against[2]) if found.status == 0 else 0.0
        least = min(least, max(most, 0.0) / length_scale(robot))
    return least


def _scale(robot: CasterRobot) -> Array:
    """Return units of ν̇ in which its components are of one size: yaw over the robot's size."""
    return np.array([1.0, 1.0, length_scale(robot)])


def _scaled(robot: CasterRobot, steering: Array, direction: Array) -> tuple[Array, Array]:
    """Return the accelerations (3, k) of the motors at their bounds, and that of friction (3,)."""
    bound = torque_bounds(robot)
    scale = _scale(robot)
    corners = np.diag(bound)[bound > 0.0]
    if not len(corners):
        return np.zeros((3, 0)), np.zeros(3)
    push = forward_dynamics(robot, steering, np.zeros(3), corners).T
    return scale[:, None] * push, scale * resistance(robot, steering, direction)


def turning_mass(robot: CasterRobot) -> float:
    """
    Return Σ I/d² over the mass of the robot: what the casters' yaw inertias I weigh to turn.

    A caster that turns moves its pivot across; its inertia about the steering axis is there a
    mass I/d² along the axle. Casters that trail settle over the distance of d times one plus this
    ratio, and the manoeuvres that turn them need as much more torque.

    Examples
    --------
    >>> from c3p_description import load
    >>> [round(turning_mass(load(name)), 2) for name in ('c3p', 'powered_caster')]
    [0.09, 0.3]
    """
    inertia = robot.link_inertia + robot.wheel_yaw_inertia
    # what does not trail is not turned by the motion
    trails = ~robot.fixed & (robot.caster_offset > 0.0)
    return float(np.sum(inertia[trails] / robot.caster_offset[trails]**2) / robot.total_mass)


class Travel(NamedTuple):
    """
    Accelerations of a robot whose casters trail, over all directions of travel.

    Attributes
    ----------
    direction : (m,) array, rad
        Of travel, from +X of ``base_link``.
    along : (m,) array, m/s²
        Reachable along it, without yaw.
    heading : (m,) array, rad/s²
        Yaw acceleration that corrects the heading there (`heading_reach`).
    turn : (2,) array, rad/s²
        Reachable yaw acceleration about the origin of ``base_link``, left and right.
    """

    direction: Array
    along: Array
    heading: Array
    turn: Array


def travel(robot: CasterRobot, directions: int = 24) -> Travel:
    """Return the reachable accelerations in straight travel and in a turn in place."""
    if robot.other_wheels:
        return Travel(*aligned_travel(robot, directions))
    angles = 2.0 * np.pi / directions * np.arange(directions)
    along = []
    heading = []
    for angle in angles:
        way = np.array([np.cos(angle), np.sin(angle), 0.0])
        steering = trailing(robot, way)
        along.append(reach(robot, steering, way))
        heading.append(heading_reach(robot, steering, way[:2]))
    turn = [reach(robot, trailing(robot, [0.0, 0.0, sign]), [0.0, 0.0, sign])
            for sign in (1.0, -1.0)]
    return Travel(angles, np.array(along), np.array(heading), np.array(turn))
