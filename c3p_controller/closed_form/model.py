# SPDX-License-Identifier: Apache-2.0
"""
Equations of motion of a caster robot in plain Python numbers, for computers without a compiler.

The same reduced model as c3p_dynamics (docs/papers/el_shenawy.md), written for one evaluation per
cycle: loops over tuples of floats cost a tenth of what small numpy arrays cost.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from c3p_description.model import CasterRobot

# a row (x, y, yaw) of a Jacobian, or a vector of that kind
Row = tuple[float, float, float]


class Motion(NamedTuple):
    """
    What the equations of motion are made of in one state.

    Attributes
    ----------
    rolling, axle : list of (3,) rows
        Rx and Ra.
    along, steering_rate : list of float
        s = Rx ν, m/s, and θ̇ = −Ra ν/d − ω, rad/s.
    inverse_mass : tuple of 6
        Upper triangle of M⁻¹: xx, xy, xω, yy, yω, ωω.
    mass : tuple of 6
        The same of M.
    force : (3,) row
        Everything but the wheel torques: ``M ν̇ = J_xᵀ τ + force``.
    """

    rolling: list[Row]
    axle: list[Row]
    along: list[float]
    steering_rate: list[float]
    inverse_mass: tuple[float, ...]
    mass: tuple[float, ...]
    force: Row


class ScalarModel:
    """
    The robot's numbers as tuples of floats.

    Parameters
    ----------
    robot : CasterRobot
    friction_smoothing : float, rad/s
        Rate over which dry friction changes its sign.

    Attributes
    ----------
    sticking : float, N
        Force across parallel casters that their dry friction holds.
    """

    def __init__(self, robot: CasterRobot, friction_smoothing: float) -> None:
        """Take the numbers over."""
        self.count = robot.count
        self.smoothing = friction_smoothing
        self.casters = [tuple(map(float, (*g, *m, *f[:5]))) for g, m, f in zip(
            robot.geometry, robot.caster_inertia, robot.losses, strict=True)]
        self.platform = tuple(map(float, robot.platform))
        self.sticking = sum((cp + cs) / d for _, _, d, _, _, _, _, _, cp, _, _, cs in self.casters)

    def motion(self, steering: list[float], twist: Row, wrench: Row) -> Motion:
        """
        Return the equations of motion; all friction of the model is in the force.

        Parameters
        ----------
        steering : list of float, rad
        twist : (3,) row
            ν, ``base_link``.
        wrench : (3,) row
            A further force on the platform, N, N, N·m, ``base_link``.
        """
        vx, vy, w = twist
        m, inertia, cx, cy = self.platform
        xx, xy, xw = m, 0.0, -m * cy
        yy, yw, ww = m, m * cx, inertia + m * (cx * cx + cy * cy)
        fx = wrench[0] + m * w * (vy + w * cx)
        fy = wrench[1] - m * w * (vx - w * cy)
        fw = wrench[2] - m * w * (cx * vx + cy * vy)
        rolling, axle, alongs, rates = [], [], [], []
        smoothing, tanh = self.smoothing, math.tanh
        for caster, angle in zip(self.casters, steering, strict=True):
            px, py, d, r, me, ma, kappa, bp, cp, br, cr, cs = caster
            ax, ay = math.cos(angle), math.sin(angle)
            ez, az = px * ax + py * ay, px * ay - py * ax
            along = ax * vy - ay * vx + ez * w
            across = ax * vx + ay * vy + az * w
            contact = -across / d
            rate = contact - w
            # bias and friction: `push` along the rolling line, `side` along the axle
            pivot = -bp * rate - (cp * tanh(rate / smoothing) if cp else 0.0)
            scrub = -cs * tanh(contact / smoothing) if cs else 0.0
            wheel = along / r
            roll = -br * wheel - (cr * tanh(wheel / smoothing) if cr else 0.0)
            push = roll / r + me * rate * across + kappa * across * across
            side = -(pivot + scrub) / d - ma * rate * along - kappa * along * across
            fx += ax * side - ay * push
            fy += ax * push + ay * side
            fw += ez * push + az * side - pivot
            mex, mey, max_, may = -me * ay, me * ax, ma * ax, ma * ay
            xx += max_ * ax - mex * ay
            xy += max_ * ay + mex * ax
            xw += max_ * az + mex * ez
            yy += may * ay + mey * ax
            yw += may * az + mey * ez
            ww += me * ez * ez + ma * az * az
            rolling.append((-ay, ax, ez))
            axle.append((ax, ay, az))
            alongs.append(along)
            rates.append(rate)
        # the inverse of a symmetric matrix by its cofactors
        c0, c1, c2 = yy * ww - yw * yw, xw * yw - xy * ww, xy * yw - xw * yy
        det = xx * c0 + xy * c1 + xw * c2
        inverse = (c0 / det, c1 / det, c2 / det, (xx * ww - xw * xw) / det,
                   (xy * xw - xx * yw) / det, (xx * yy - xy * xy) / det)
        return Motion(rolling, axle, alongs, rates, inverse, (xx, xy, xw, yy, yw, ww),
                      (fx, fy, fw))


def times(symmetric: tuple[float, ...], row: Row) -> Row:
    """Return the product of a symmetric matrix, as its upper triangle, and a vector."""
    xx, xy, xw, yy, yw, ww = symmetric
    x, y, w = row
    return xx * x + xy * y + xw * w, xy * x + yy * y + yw * w, xw * x + yw * y + ww * w


def cross(first: Row, second: Row) -> Row:
    """Return the vector product of two rows."""
    a, b, c = first
    x, y, z = second
    return b * z - c * y, c * x - a * z, a * y - b * x


def dot(first: Row, second: Row) -> float:
    """Return the scalar product of two rows."""
    return first[0] * second[0] + first[1] * second[1] + first[2] * second[2]
