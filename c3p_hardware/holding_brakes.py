# SPDX-License-Identifier: Apache-2.0
"""
Holding brakes on the digital outputs of drives (60FEh:1, bit 0 "set brake", CiA 402-2).

A brake is spring-applied: set, or without supply, it holds the joint. It opens once the drive
reports that its motor has torque, and closes before the torque ends:

    disarm at rest      brake closes ──► `close_time` with torque ──► quick stop, no voltage
    disarm in motion    quick stop ──► brake closes at the end of the ramp ──► no voltage
    fault, voltage off  brake closes in the same cycle
    enable              torque ──► brake opens ──► `open_time` ──► armed

It holds a robot that stands and is not made to stop one that moves. Without this computer the card
itself must close it when its power stage is off.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from c3p_hardware.canopen.cia402 import POWERED, DriveState
from c3p_hardware.devices import Drive
from c3p_hardware.drive_motion import REST_SPEED, DriveMotion
from c3p_hardware.orders import Order
from c3p_hardware.problem import RECOVER, Problem
from c3p_hardware.settings import CardSettings
from c3p_hardware.stop_watch import CREEP_SPEED

# largest speed at which a brake closes while its drive still brakes, m/s
MOST_SPEED = 0.1


class HoldingBrakes:
    """
    Orders of the brakes; the memory is which are closed, and since when.

    Parameters
    ----------
    settings : CardSettings
    drives : sequence of Drive
        The driven ones, with or without a brake.
    motion : DriveMotion

    Attributes
    ----------
    closed : list of bool
        Of each drive.
    """

    def __init__(self, settings: CardSettings, drives: Sequence[Drive], motion: DriveMotion
                 ) -> None:
        """Start closed."""
        self._settings = settings
        self._drives = list(drives)
        self._motion = motion
        self.closed = [True] * len(self._drives)
        self._since = -math.inf
        # the wheels have stood since the brakes closed
        self._rested = True

    def enabled(self) -> bool:
        """Return whether all drives have torque."""
        return all(d.state is DriveState.OPERATION_ENABLED for d in self._drives)

    def step(self, now: float, drives: bool, off: Collection[int] = ()) -> None:
        """
        Close or open the brakes at `now`, s.

        Parameters
        ----------
        now : float, s
        drives : bool
            The robot is, or is about to be, armed; otherwise it must stop.
        off : collection of int
            Drives whose voltage is switched off in this cycle.
        """
        ends = not drives and self._motion.speed() <= self._closing_speed()
        closed = [ends or i in off or drive.state not in POWERED
                  for i, drive in enumerate(self._drives)]
        if closed != self.closed:
            self.closed = closed
            self._since = now
            self._rested = False
        self._rested |= self._motion.speed() <= REST_SPEED

    def open_for_long(self, now: float) -> bool:
        """Return whether all brakes have been open for long enough to drive."""
        return not any(self.closed) and now - self._since >= self._settings.brake_open_time

    def closing(self, now: float) -> bool:
        """Return whether drives that stand must keep their torque until the brakes hold."""
        return (self.enabled() and self._motion.speed() <= REST_SPEED
                and not (all(self.closed)
                         and now - self._since >= self._settings.brake_close_time))

    def problems(self, now: float) -> Iterator[Problem]:
        """Yield closed brakes that do not hold; a push after the standstill does not count."""
        waited = now - self._since
        if (all(self.closed) and not self._rested
                and waited > self._settings.brake_close_time + self._settings.stop_margin
                and self._motion.speed() > CREEP_SPEED):
            yield Problem(
                'robot', 'holding', f'the holding brakes have been closed for {waited:.2f} s, and '
                f'the robot moves at {self._motion.speed():.2f} m/s; the emergency stop (STO) '
                'remains', 'press the emergency stop, then check the brakes, their supply and '
                f'output (60FEh), {RECOVER}')

    def _closing_speed(self) -> float:
        """Return the speed, m/s, from which the ramp of the drives takes `close_time` to zero."""
        ramp = min((d.ramp * lever for d, lever in zip(
            self._drives, self._motion.lever, strict=True) if d.ramp < math.inf), default=0.0)
        return min(max(REST_SPEED, ramp * self._settings.brake_close_time), MOST_SPEED)

    def added(self, orders: Sequence[Order]) -> list[Order]:
        """Return the orders with those of the brakes."""
        return [order._replace(brake=closed) if drive.settings.brake else order
                for order, drive, closed in zip(orders, self._drives, self.closed, strict=True)]
