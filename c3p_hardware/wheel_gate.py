# SPDX-License-Identifier: Apache-2.0
"""
The last check between a wheel command and a motor.

Every torque passes here, in the simulation as on the robot. A command that stops coming makes the
wheels brake, as a drive does that loses its master, and stays off until a zero command has been
seen: a controller that comes back in the middle of a motion does not move the robot by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.traction import traction_torque


@dataclass(frozen=True)
class GateSettings:
    """
    Limits of the gate.

    Attributes
    ----------
    command_timeout : float, s
        Age at which a command is no longer used.
    stop_damping : float, N·m·s/rad
        Braking torque per wheel rate once a command has been lost; 0 lets the wheels coast.
    """

    command_timeout: float = 0.2
    stop_damping: float = 0.1

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        if not self.command_timeout > 0:
            raise ValueError(f'command_timeout = {self.command_timeout}: must be greater than '
                             'zero; a drive without a timeout never stops')
        if not self.stop_damping >= 0:
            raise ValueError(f'stop_damping = {self.stop_damping}: must not be negative')


class WheelGate:
    """
    Passes fresh torques within the limits; brakes when they stop coming.

    Parameters
    ----------
    robot : CasterRobot
        Gives the torque limits and which wheels have motors.
    settings : GateSettings

    Attributes
    ----------
    open : bool
    reason : str
        Why it is closed; empty while it is open.
    held : str
        Why not even a zero command opens it; empty when one does.
    """

    def __init__(self, robot: CasterRobot, settings: GateSettings) -> None:
        """Start closed: the first command must be zero."""
        self.robot = robot
        self.settings = settings
        self.open = False
        self.reason, self.held = 'no wheel command yet', ''
        self._torque = np.zeros(robot.count)
        # a brake that is stronger than the tyres locks the wheels
        self._grip = traction_torque(robot)
        self._received = -np.inf

    def command(self, torque: Array, now: float) -> None:
        """
        Take a command at time `now`.

        Parameters
        ----------
        torque : (n,) array, N·m
            Finite; a zero command opens a closed gate.
        now : float, s
            Any steady clock, the same as `torque_at` gets.

        Raises
        ------
        ValueError
            A torque of the wrong size or not finite: the gate keeps what it had.
        """
        torque = np.array(torque, float)  # a copy: what was checked is what is used
        if torque.shape != (self.robot.count,) or not np.all(np.isfinite(torque)):
            raise ValueError(f'wheel torque = {torque.tolist()}: must be {self.robot.count} '
                             'finite numbers')
        if not self.open and not self.held and not np.any(torque):
            self.open, self.reason = True, ''
        self._torque, self._received = torque, now

    def newest(self, now: float) -> tuple[Array, float]:
        """Return the newest command (n,) N·m and its age at `now`, s (inf before the first)."""
        return self._torque, now - self._received

    def close(self, reason: str) -> None:
        """Brake from now on, until a zero command comes."""
        if self.open:
            self.open, self.reason = False, reason

    def hold(self, reason: str) -> None:
        """Brake because of `reason`, past any zero command, until it is empty and one comes."""
        self.held = reason
        if reason:
            self.open, self.reason = False, reason

    def torque_at(self, now: float, wheel_rate: Array) -> Array:
        """
        Return what the motors shall give at time `now`, (n,) N·m.

        Parameters
        ----------
        now : float, s
        wheel_rate : (n,) array, rad/s
            Measured θ̇_x, for braking.
        """
        age = now - self._received
        if self.open and age > self.settings.command_timeout:
            self.close(f'wheel command is {age:.3f} s old, at most '
                       f'{self.settings.command_timeout:.3f} s')
        if self.open:
            torque = self._torque
        else:
            torque = np.clip(-self.settings.stop_damping * wheel_rate, -self._grip, self._grip)
        limit = self.robot.torque_limit
        return np.where(self.robot.driven, np.clip(torque, -limit, limit), 0.0)
