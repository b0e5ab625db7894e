# SPDX-License-Identifier: Apache-2.0
"""
Last check between a wheel command and a motor, in the simulation as on the robot.

After a command timeout the wheels brake, as those of a drive without its master, and steering
motors let go, so that the casters trail. The gate then
stays closed until a zero command: a controller that returns in the middle of a motion does not
move the robot.
"""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.traction import traction_torque
from c3p_hardware.ros2_control_bridge_parameters import GateSettings

# reason of a gate at the start
NO_COMMAND = 'no wheel command yet'


class WheelGate:
    """
    Passes recent torques within the limits; brakes after a timeout.

    Parameters
    ----------
    robot : CasterRobot
        For torque limits and driven wheels.
    settings : GateSettings

    Attributes
    ----------
    open : bool
    reason : str
        Reason of a closed gate; empty while it is open.
    held : str
        Reason because of which a zero command does not open the gate; empty without one.
    """

    def __init__(self, robot: CasterRobot, settings: GateSettings) -> None:
        """Start closed: the first command must be zero."""
        self.robot = robot
        self.settings = settings
        self.open = False
        self.reason = NO_COMMAND
        self.held = ''
        self._torque = np.zeros(robot.efforts)
        # a brake that is stronger than the tyres locks the wheels
        self._grip = traction_torque(robot)
        self._received = -np.inf

    def command(self, torque: Array, now: float) -> None:
        """
        Take a command at time `now`.

        Parameters
        ----------
        torque : (robot.efforts,) array, N·m
            Finite; a zero command opens a closed gate.
        now : float, s
            On any steady clock, the one of `torque_at`.

        Raises
        ------
        ValueError
            A torque of the wrong size or not finite: the gate keeps the previous one.
        """
        # a copy, so that the checked values are the used ones
        torque = np.array(torque, float)
        if torque.shape != (self.robot.efforts,) or not np.isfinite(torque).all():
            raise ValueError(f'wheel torque = {torque.tolist()}: must be {self.robot.efforts} '
                             'finite numbers')
        if not self.open and not self.held and not torque.any():
            self.open = True
            self.reason = ''
        self._torque = torque
        self._received = now

    def newest(self, now: float) -> tuple[Array, float]:
        """Return the newest command, N·m, and its age at `now`, s (inf before the first)."""
        return self._torque, now - self._received

    def close(self, reason: str) -> None:
        """Brake from now on, until a zero command comes."""
        if self.open:
            self.open = False
            self.reason = reason

    def hold(self, reason: str) -> None:
        """Brake because of `reason`; empty ends it, and a zero command then opens the gate."""
        self.held = reason
        if reason:
            self.open = False
            self.reason = reason

    def torque_at(self, now: float, wheel_rate: Array) -> Array:
        """
        Return the motor torques at time `now`, (robot.efforts,) N·m.

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
            torque = np.zeros(self.robot.efforts)
            torque[:self.robot.count] = np.clip(-self.settings.stop_damping * wheel_rate,
                                                -self._grip, self._grip)
        limit = self.robot.effort_limit
        return np.where(self.robot.actuated, np.clip(torque, -limit, limit), 0.0)
