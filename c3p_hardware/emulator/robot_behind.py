# SPDX-License-Identifier: Apache-2.0
"""What moves when emulated cards turn their motors: any plant that looks like this."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot


class TrueJoints(Protocol):
    """True joints (n,) of the model, rad and rad/s; angles are not wrapped."""

    @property
    def steering(self) -> Array:
        """θ_s."""

    @property
    def steering_rate(self) -> Array:
        """θ̇_s."""

    @property
    def wheel_angle(self) -> Array:
        """θ_x."""

    @property
    def wheel_rate(self) -> Array:
        """θ̇_x."""


class RobotBehind(Protocol):
    """A robot that takes wheel torques, as the plants of the simulation do."""

    @property
    def robot(self) -> CasterRobot:
        """The model that moves."""

    def sense(self) -> TrueJoints:
        """Return the joints now."""

    def step(self, wheel_torque: ArrayLike, dt: float) -> TrueJoints:
        """Hold `wheel_torque` (n,) N·m for `dt` seconds and return the joints afterwards."""

    def truth(self) -> Any:
        """Return where the robot is."""
