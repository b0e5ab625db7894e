# SPDX-License-Identifier: Apache-2.0
"""
Orders to the drives: torques, or velocities of which the cards make these torques.

In the cyclic synchronous velocity mode a card has a proportional loop, τ = K (θ̇* − θ̇). The target
θ̇* = θ̇ + τ/K gives the torque τ at the measured rate θ̇ (T.Ctrl of paper I). Where τ itself contains
K (θ̇_d − θ̇), as in the papers' fusion, the rate cancels: the card receives θ̇_d + τ_D/K, and closes
the loop at its own pace.
"""

from __future__ import annotations

from typing import NamedTuple

from c3p_hardware.canopen.brake_output import BRAKED_COMMAND, SET_BRAKE
from c3p_hardware.canopen.cia402 import MODE_CSV
from c3p_hardware.canopen.process_data import DRIVE_COMMAND, VELOCITY_COMMAND
from c3p_hardware.devices import Drive
from c3p_hardware.settings import DriveSettings


class Order(NamedTuple):
    """
    Command of a drive: controlword, and torque in permille of its rated torque.

    In the velocity mode the target is `velocity`, counts/s, and `torque` the one that the card
    makes of it; otherwise it is None. `brake` closes (True) or opens its holding brake; None of a
    drive without one.
    """

    controlword: int
    torque: int
    velocity: int | None = None
    brake: bool | None = None

    @property
    def target(self) -> int:
        """Target torque or target velocity."""
        return self.torque if self.velocity is None else self.velocity

    def pack(self) -> bytes:
        """Return the process data."""
        if self.brake is not None:
            return BRAKED_COMMAND.pack(self.controlword, self.target,
                                       SET_BRAKE if self.brake else 0)
        layout = DRIVE_COMMAND if self.velocity is None else VELOCITY_COMMAND
        return layout.pack(self.controlword, self.target)


def target(settings: DriveSettings, torque: float, rate: float) -> tuple[int, int]:
    """
    Return the target of the mode of an axis that gives `torque`, and that torque in permille.

    Parameters
    ----------
    settings : DriveSettings
    torque : float, N·m
        Finite; clipped to the torque limit.
    rate : float, rad/s
        Measured rate of the joint; the target is within the rate limit of the motor.
    """
    if settings.mode != MODE_CSV:
        permille = settings.units.permille(torque, settings.max_permille)
        return permille, permille
    torque = min(max(torque, -settings.torque_limit), settings.torque_limit)
    wanted = rate + torque / settings.velocity_gain
    wanted = min(max(wanted, -settings.rate_limit), settings.rate_limit)
    return settings.units.velocity(wanted), expected(settings, wanted, rate)


def expected(settings: DriveSettings, wanted: float, rate: float) -> int:
    """Return the torque, permille, of the velocity loop at `rate`, both rates in rad/s."""
    torque = settings.velocity_gain * (wanted - rate)
    return settings.units.permille(torque, settings.max_permille)


def driving_order(drive: Drive, word: int, torque: float, rate: float) -> Order:
    """Return the order of `drive`: controlword `word`, `torque`, N·m, at the `rate`, rad/s."""
    aim, permille = target(drive.settings, float(torque), float(rate))
    return Order(word, permille, aim if drive.settings.mode == MODE_CSV else None)


def resting_order(drive: Drive, word: int, rate: float = 0.0) -> Order:
    """Return the order of `drive`, `word` without motion: velocity zero brakes at `rate`."""
    if drive.settings.mode != MODE_CSV:
        return Order(word, 0)
    return Order(word, expected(drive.settings, 0.0, float(rate)), 0)
