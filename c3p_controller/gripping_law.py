# SPDX-License-Identifier: Apache-2.0
"""A torque law under traction control and the watch of divergence."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_controller.divergence import DivergenceWatch
from c3p_controller.limits import TractionControl
from c3p_controller.torque_law import Sensed, Setpoint, TorqueLaw
from c3p_description.model import Array


class GrippingLaw:
    """
    Torque law under traction control and watch of divergence, without a command follower.

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

    def begin(self, sensed: Sensed, dt: float) -> None:
        """Update the slip `dt` seconds after the last torques; hand the limits to the law."""
        self.traction.update(sensed, self.sent, dt)
        self.law.limit = self.traction.limit

    def supervise(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> None:
        """Raise Divergence if the law drives the robot far beyond its setpoint, until it rests."""
        self._watch.step(sensed.steering, sensed.twist, self.sent, setpoint, dt)

    def apply(self, torque: ArrayLike) -> Array:
        """Return the torques of the law within the limits; they are sent now."""
        self.sent = self.traction.apply(torque)
        return self.sent

    def step(self, sensed: Sensed, setpoint: Setpoint, dt: float) -> Array:
        """
        Return the torques, N·m; parameters as in `TorqueLaw.step`.

        Raises Divergence, and TorqueShapeError.
        """
        self.begin(sensed, dt)
        self.supervise(sensed, setpoint, dt)
        return self.apply(self.law.step(sensed, setpoint, dt))

    def prepare(self) -> None:
        """Prepare the next step, as `TorqueLaw.prepare`."""
        self.law.prepare()
