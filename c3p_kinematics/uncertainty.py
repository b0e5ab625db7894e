# SPDX-License-Identifier: Apache-2.0
"""
Covariance of pose and twist by errors that last: of lengths and zeros, and of rounded angles.

An error of a radius has the same sign all along a drive: its effect grows with the distance, not
with its root. The joint covariance of pose and parameters is therefore carried along the path,
with its cross terms; when an estimate of the parameters learns, the cross terms learn with it, and
the error that the pose has already stays (docs/calibration.md).
"""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics import _uncertainty_kernels as kernels
from c3p_kinematics.calibration.parameters import Prior


class LastingErrors:
    """
    Joint covariance of a pose, of the parameters of the robot, and of rounded steering angles.

    Parameters
    ----------
    robot : CasterRobot
        Its `geometry` may change while the robot learns.
    prior : Prior or None
        Deviations of the parameters; None if they are exact.
    count : float, rad
        Step of the steering encoders.
    lag : float, s
        Of the joint rates.

    Attributes
    ----------
    spread : (5n, 5n) array
        Covariance of the parameters in units of the prior; may be that of an estimate.
    cross : (3, 5n) array
        Covariance of the error of the pose with that of the parameters, in units of the prior.
    covariance : (3, 3) array
        Of the error of the pose, floor axes.
    """

    def __init__(self, robot: CasterRobot, prior: Prior | None, count: float,
                 lag: float = 0.0) -> None:
        self._robot, self._count, self._lag = robot, count, lag
        self._slow = np.zeros(3)
        n = robot.count
        self._units = np.zeros(5 * n) if prior is None else prior.deviations(robot)
        self._rounding = count / math.sqrt(12.0)
        self.spread = np.eye(5 * n)
        self.cross, self.covariance = np.zeros((3, 5 * n)), np.zeros((3, 3))
        self._slopes, self._rounded = np.zeros((3, 5 * n)), np.zeros((3, n))
        self._of_twist, self._unit_twist = np.zeros((3, 5 * n)), np.zeros((3, n))
        self._lasting, self._turned = np.zeros((3, n)), np.zeros(n)

    def reset(self) -> None:
        """Start at a pose that is known exactly."""
        for array in (self.cross, self.covariance, self._slopes, self._rounded, self._lasting,
                      self._turned, self._slow):
            array[:] = 0.0

    def forget(self) -> None:
        """Drop the cross terms: the parameters are others, and the pose keeps its error."""
        self.cross[:] = 0.0

    def add(self, steering: Array, turn: Array, twist: Array, weight: Array, unit: Array,
            yaw: float, dt: float) -> None:
        """
        Add a step.

        Parameters
        ----------
        steering : (n,) array, rad
            Halfway, with the present zeros.
        turn : (n,) array, rad/s
            Rates of the steering.
        twist : (3,) array
            Fitted, in ``base_link``.
        weight : (n,) array
        unit : (3, 3) array
            Inverse of the normal equations of the fit.
        yaw, dt : float, rad and s
            Heading of the step, and its duration.
        """
        self._turned += np.abs(turn) * dt
        kernels.add_slopes(self._robot.geometry, steering, twist, weight, unit, self._units,
                           self._rounding, yaw, dt, self._slopes, self._rounded)

    def carry(self, dx: float, dy: float) -> None:
        """Carry the covariance along a displacement [m], with the steps that were added."""
        kernels.carry(dx, dy, self._slopes, self._rounded, self._turned, self._count, self.spread,
                      self.covariance, self.cross, self._lasting)

    def of_twist(self, steering: Array, twist: Array, weight: Array, unit: Array, dt: float,
                 late: bool) -> Array:
        """
        Return the covariance (3, 3) of a fitted twist.

        Parameters
        ----------
        steering, twist, weight, unit : arrays
            As of `add`.
        dt : float, s
            Time since the twist before.
        late : bool
            The twist is by rates, which lag.
        """
        self._of_twist[:] = 0.0
        self._unit_twist[:] = 0.0
        out = np.empty((3, 3))
        kernels.add_slopes(self._robot.geometry, steering, twist, weight, unit, self._units,
                           self._rounding, 0.0, 1.0, self._of_twist, self._unit_twist)
        kernels.of_twist(self._of_twist, self._unit_twist, self.spread, twist, dt,
                         self._lag if late else 0.0, self._slow, out)
        return out


class RecentPeak:
    """
    The largest covariance of the last seconds of motion.

    Parameters
    ----------
    value : (3, 3) array
        At the start.
    hold : float, s

    Attributes
    ----------
    value : (3, 3) array
    """

    def __init__(self, value: Array, hold: float) -> None:
        self.value, self._hold, self._time = value, hold, -math.inf

    def step(self, time: float, moved: float, covariance: Array) -> Array:
        """
        Return the largest of the last `hold` seconds, at standstill until `hold` after the stop.

        Parameters
        ----------
        time, moved : float, s
            Now, and of the last motion.
        covariance : (3, 3) array
            Now.
        """
        since = self._time if moved == time else moved
        if time - since > self._hold or _trace(covariance) >= _trace(self.value):
            self.value, self._time = covariance, time
        return self.value

    def set_back(self, time: float) -> None:
        """Let a clock that was set back to `time` [s] not prolong the hold."""
        self._time = min(self._time, time)


def _trace(covariance: Array) -> float:
    item = covariance.item
    return item(0) + item(4) + item(8)
