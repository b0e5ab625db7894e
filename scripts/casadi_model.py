# SPDX-License-Identifier: Apache-2.0
"""Equations of motion of a caster robot in CasADi, independent of c3p_dynamics."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import CasterRobot


def motion(robot: CasterRobot, losses: ArrayLike) -> Any:
    """
    Return the time derivative of the state, rolling without slip, as a CasADi function.

    Parameters
    ----------
    robot : CasterRobot
    losses : (n, 6) array_like
        Friction, packed as `CasterRobot.losses`; a controller's model may be softer.

    Returns
    -------
    casadi.Function
        ``(x, tau, wrench) → ẋ`` with x = [X, Y, φ, vx, vy, ω, θ_s], (6 + n,): pose on the floor,
        twist in ``base_link``, steering angles; tau (n,) N·m; wrench (3,) from outside, N and N·m.
    """
    n = robot.count
    (m, inertia, cx, cy), losses = robot.platform, np.asarray(losses, float)
    x, tau, wrench = ca.SX.sym('x', 6 + n), ca.SX.sym('t', n), ca.SX.sym('w', 3)
    phi, nu, theta = x[2], x[3:6], x[6:]
    w = nu[2]
    mass = ca.SX(np.array([[m, 0, -m * cy], [0, m, m * cx],
                           [-m * cy, m * cx, inertia + m * (cx**2 + cy**2)]]))
    force = wrench - m * ca.vertcat(-w * nu[1] - w**2 * cx, w * nu[0] - w**2 * cy,
                                    w * (cx * nu[0] + cy * nu[1]))
    turns = []
    for i in range(n):
        # the rows of all casters are measured: their factors are 1
        hx, hy, d, r = robot.geometry[i, :4]
        me, ma, kappa = robot.caster_inertia[i]
        c, s = ca.cos(theta[i]), ca.sin(theta[i])
        rx, ra = ca.horzcat(-s, c, s * hy + c * hx), ca.horzcat(c, s, s * hx - c * hy)
        along, across = rx @ nu, ra @ nu
        contact = -across / d
        turn = contact - w
        pv, pc, rv, rc, sc, smooth = losses[i]
        roll = -rv * along / r - rc * ca.tanh(along / r / smooth)
        pivot = -pv * turn - pc * ca.tanh(turn / smooth)
        scrub = -sc * ca.tanh(contact / smooth)
        mass += me * rx.T @ rx + ma * ra.T @ ra
        force += rx.T * ((tau[i] + roll) / r + me * turn * across + kappa * across**2)
        force += ra.T * (-(pivot + scrub) / d - ma * turn * along - kappa * along * across)
        force -= ca.vertcat(0, 0, pivot)
        turns.append(turn)
    cp, sp = ca.cos(phi), ca.sin(phi)
    rate = ca.vertcat(cp * nu[0] - sp * nu[1], sp * nu[0] + cp * nu[1], w,
                      ca.solve(mass, force), *turns)
    return ca.Function('rate', [x, tau, wrench], [rate], ['x', 'tau', 'wrench'], ['rate'])
