# SPDX-License-Identifier: Apache-2.0
"""Angles and rates of joints without an encoder, and velocities without the factors of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_description.wheels import ROLLING_SLIP, believed

# length over which the slip angle of a tyre persists, m: that of its relaxation on an uneven floor
SLIP_LENGTH = 0.05


class MeasuredJoints:
    """
    Values in place of the joints that have no encoder.

    The angle of a fixed wheel is its `steering_zero`; other joints without an encoder have zeros,
    which no row of measurement contains.

    Parameters
    ----------
    robot : CasterRobot

    Attributes
    ----------
    complete : bool
        True if every joint is measured.

    Examples
    --------
    >>> from c3p_description import load
    >>> joints = MeasuredJoints(load('tricycle_agv'))
    >>> steering, wheel = joints.angles(np.array([0.2, np.nan, np.nan]), np.array([3.0, 0, 0]))
    >>> steering.round(3).tolist()
    [0.2, -1.571, -1.571]
    """

    def __init__(self, robot: CasterRobot) -> None:
        steers = robot.steering_encoder & ~robot.fixed
        self.complete = bool(np.all(steers & robot.wheel_encoder))
        # equal factors of the rows, as of casters, need no division
        self._whole = bool(np.all(robot.rows == 1.0))
        self._steers = steers
        self._rolls = robot.wheel_encoder
        self._factors = np.where(robot.rows == 0.0, np.inf, robot.rows)
        self._described = np.where(robot.fixed, robot.steering_zero, 0.0)
        self._fixed = robot.fixed
        self._still = self._described

    def turn_fixed(self, angle: Array) -> None:
        """Turn the fixed wheels by `angle` (n,) from their described angles, rad."""
        self._still = self._described + np.where(self._fixed, angle, 0.0)

    def angles(self, steering: Array, wheel: ArrayLike) -> tuple[Array, Array]:
        """Return steering and wheel angles (…, n) with what stands for those not measured, rad."""
        return (np.where(self._steers, steering, self._still), np.where(self._rolls, wheel, 0.0))

    def rates(self, wheel: ArrayLike, steering: ArrayLike) -> tuple[Array, Array]:
        """Return wheel and steering rates (…, n) with 0 for those not measured, rad/s."""
        return np.where(self._rolls, wheel, 0.0), np.where(self._steers, steering, 0.0)

    def velocities(self, residual: Array) -> Array:
        """Return a copy of residuals (…, n, 2) in m/s: without the factors of their rows."""
        return residual.copy() if self._whole else residual / self._factors


def tyre_variance(robot: CasterRobot) -> float:
    """
    Return the variance of the path in a row of unit factor per metre, by slipping tyres, m²/m.

    A slip angle persists over `SLIP_LENGTH`, so that its integral grows as a random walk. Zero for
    casters, whose rows are measurements.
    """
    return 2.0 * SLIP_LENGTH * ROLLING_SLIP**2 if np.any(believed(robot)) else 0.0
