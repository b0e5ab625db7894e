# SPDX-License-Identifier: Apache-2.0
"""
Equations of motion for the closed-form law: the kernel of c3p_dynamics, as plain numbers.

The law works on a handful of 3-vectors per cycle, where tuples of floats cost a tenth of what
small numpy arrays cost.
"""

from __future__ import annotations

from typing import NamedTuple

from c3p_description.model import CasterRobot
from c3p_dynamics._caster_equations import ANGLE, COS, RATE, packed_model, terms

# a row (x, y, yaw) of a Jacobian, or a vector of that kind
Row = tuple[float, float, float]


class Motion(NamedTuple):
    """
    Terms of the equations of motion in one state.

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
        Everything but the torques: ``M ν̇ = J_xᵀ τ + J_sᵀ τ_s + force``.
    turning : list of (3,) rows
        J_s of the steering axes; empty without steering motors.
    """

    rolling: list[Row]
    axle: list[Row]
    along: list[float]
    steering_rate: list[float]
    inverse_mass: tuple[float, ...]
    mass: tuple[float, ...]
    force: Row
    turning: list[Row]


class ScalarModel:
    """
    The equations of motion of one robot, in and out by plain numbers.

    Parameters
    ----------
    robot : CasterRobot
    friction_smoothing : float, rad/s
        Rate over which dry friction changes its sign.

    Attributes
    ----------
    casters : list of (x, y, d)
        Pivots and caster offsets, m.
    sticking : float, N
        Force across parallel casters that their dry friction holds.
    """

    def __init__(self, robot: CasterRobot, friction_smoothing: float) -> None:
        """Pack the robot for the kernel."""
        self.count, self._powered = robot.count, robot.efforts > robot.count
        losses = robot.losses.copy()
        losses[:, 5] = friction_smoothing
        self.casters = robot.geometry[:, :3].tolist()
        self.sticking = float(((losses[:, 1] + losses[:, 4]) / robot.caster_offset).sum())
        self._model = packed_model(robot.geometry, robot.caster_inertia, robot.platform, losses)
        self._angles = self._model[2][:, ANGLE]
        self._columns = self._model[2][:, COS:RATE + 1]

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
        self._angles[:] = steering
        mass, inverse, force = terms(self._model, *map(float, twist), *map(float, wrench))
        rolling, axle, along, rates, turning = [], [], [], [], []
        columns = self._columns.tolist()
        for (x, y, d), (c, s, speed, _, rate) in zip(self.casters, columns, strict=True):
            rolling.append((-s, c, c * x + s * y))
            axle.append((c, s, s * x - c * y))
            along.append(speed)
            rates.append(rate)
            if self._powered:
                turning.append((-c / d, -s / d, (c * y - s * x) / d - 1.0))
        return Motion(rolling, axle, along, rates, inverse, mass, force, turning)


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
