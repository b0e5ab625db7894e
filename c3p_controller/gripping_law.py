# SPDX-License-Identifier: Apache-2.0
"""A torque law under traction control and the watch of divergence."""

from __future__ import annotations

import numpy as np

from c3p_controller.divergence import DivergenceWatch
from c3p_controller.limits import NO_DEMAND, Assessment, Demand, TractionControl
from c3p_controller.torque_law import Sensed, Setpoint, TorqueLaw
from c3p_description.model import Array


class TorqueShapeError(ArithmeticError):
    """Torques of a law that are not one number for each motor of the robot."""


class GrippingLaw:
    """
    Torque law under traction control and watch of divergence: the one place that applies them.

    `sent` (robot.efforts,), N·m, are the last torques.
    """

    def __init__(self, law: TorqueLaw, traction: TractionControl) -> None:
        """Start without torque."""
        self.law = law
        self.traction = traction
        self._watch = DivergenceWatch(traction.robot)
        self.sent = np.zeros(traction.robot.efforts)

    def reset(self, sensed: Sensed | None = None) -> None:
        """Forget the past of the law; the limits of the floor stay."""
        self.law.reset(sensed)
        self._watch.reset()
        self.sent = np.zeros(self.traction.robot.efforts)

    def begin(self, sensed: Sensed, dt: float, command: Array | None = None,
              demand: Demand = NO_DEMAND) -> Assessment:
        """
        Update the slip `dt` seconds after the last torques and hand the limits to the law.

        Returns the assessment of a `command`, as `TractionControl.update`.
        """
        assessed = self.traction.update(sensed, self.sent, dt, command, demand)
        self.law.limit = self.traction.limit
        return assessed

    def supervise(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> None:
        """Raise Divergence if the law drives the robot far beyond its setpoint, until it rests."""
        self._watch.step(sensed.steering, sensed.twist, self.sent, setpoint, dt)

    def apply(self, torque: Array) -> Array:
        """Return the torques of the law within the limits; they are sent now."""
        self.sent = self.traction.apply(torque)
        return self.sent

    def admit(self, torque: Array) -> Array | None:
        """Return `TractionControl.admit` of the torques of the law; they are sent now."""
        admitted = self.traction.admit(torque)
        if admitted is not None:
            self.sent = admitted
        return admitted

    def demand(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """
        Return the torques that the law demands, N·m, without limits.

        Raises
        ------
        TorqueShapeError
            Not one number for each motor: the kernels that follow do not check it.
        """
        torque = np.ascontiguousarray(self.law.step(sensed, setpoint, dt), float)
        if torque.shape != self.traction.bound.shape:
            raise TorqueShapeError(f'torques of the shape {torque.shape}: must be '
                                   f'{self.traction.bound.shape}, one for each motor')
        return torque

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """
        Return the torques, N·m; parameters as in `TorqueLaw.step`.

        Raises Divergence, and TorqueShapeError.
        """
        self.begin(sensed, dt)
        self.supervise(sensed, setpoint, dt)
        return self.apply(self.demand(sensed, setpoint, dt))

    def prepare(self) -> None:
        """Prepare the next step, as `TorqueLaw.prepare`."""
        self.law.prepare()
