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
from c3p_kinematics.calibration.parameters import Prior
from c3p_kinematics.odometry_states import Lasting


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
    jitter : float, s
        Deviation of the stamps.

    Attributes
    ----------
    state : Lasting
        Its `covariance` (3, 3) is that of the error of the pose, floor axes.
    spread : (5n, 5n) array
        Covariance of the parameters in units of the prior; may be that of an estimate.
    cross : (3, 5n) array
        Covariance of the error of the pose with the parameters.
    """

    def __init__(self, robot: CasterRobot, prior: Prior | None, count: float,
                 jitter: float = 0.0) -> None:
        n = robot.count
        self._units = np.zeros(5 * n) if prior is None else prior.deviations(robot)
        self._constants = {'rounding': count / math.sqrt(12.0), 'resolution': count,
                           'jitter': jitter}
        self.spread = np.eye(5 * n)
        self.cross = np.zeros((3, 5 * n))
        self.use(np.zeros(Lasting.size.of(n)), n)

    def use(self, block: Array, n: int) -> None:
        """Keep the state of `n` casters in a `block`, as that of the odometry."""
        self.state = Lasting.of(block, n, **self._constants)
        self.state.units[:] = self._units

    def reset(self) -> None:
        """Start at a pose that is known exactly."""
        state = self.state
        for array in (self.cross, state.covariance, state.pose.block, state.lasting,
                      state.turned, state.changes):
            array[:] = 0.0

    def share(self, spread: Array, cross: Array) -> None:
        """Let both covariances of the parameters be those of an estimate, which learns."""
        self.spread = spread
        self.cross = cross
