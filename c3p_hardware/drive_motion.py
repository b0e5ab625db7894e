# SPDX-License-Identifier: Apache-2.0
"""
Motion and voltage of the drives, from the samples of each one alone.

A silent encoder or drive keeps the joints of a cycle incomplete; it must not hide whether the
other wheels turn.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_hardware.canopen.cia402 import POWERED
from c3p_hardware.devices import Drive

# speed of a wheel at standstill, m/s: 0.2 rad/s of a wheel of 4 cm, some counts per cycle
REST_SPEED = 0.008

# time for which all wheels must be at rest, s
REST_TIME = 0.05

# time over which a rate is measured, s, and counts within it that are noise of a standstill
RATE_TIME, JITTER = 0.025, 2


class DriveMotion:
    """
    Rates of the drives; the memory is their counts of the last `RATE_TIME`.

    Parameters
    ----------
    robot : CasterRobot
    drives : sequence of Drive
        The driven ones.
    places : (m,) array of int
        Place of each drive's joint among the efforts of the robot.

    Attributes
    ----------
    rate : list of float, rad/s
        Of the joint of each drive.
    lever : list of float, m
        Speed of the contact point, or of a caster about its pivot, per rad/s of the joint.
    """

    def __init__(self, robot: CasterRobot, drives: Sequence[Drive], places: Array) -> None:
        """Start at rest."""
        self._drives = list(drives)
        self.lever = np.concatenate([robot.wheel_radius, robot.caster_offset])[places].tolist()
        self._counts: list[deque[tuple[float, int]]] = [deque() for _ in self._drives]
        self.rate = [0.0] * len(self._drives)
        self._still_since = math.inf

    def step(self, now: float) -> None:
        """Take the counts of the drives that have responded in the cycle at `now`, s."""
        for i, drive in enumerate(self._drives):
            if drive.sampled:
                self.rate[i] = self._rate_of(drive, self._counts[i])
            elif now - drive.sampled_at > RATE_TIME:
                # nothing is known of it, also when it responds again
                self._counts[i].clear()
                self.rate[i] = 0.0
        still = self.speed() <= REST_SPEED
        self._still_since = min(self._still_since, now) if still else math.inf

    def speed(self) -> float:
        """Return the largest speed of a joint with a drive that responds, m/s."""
        return max((abs(rate) * lever for drive, rate, lever in zip(
            self._drives, self.rate, self.lever, strict=True) if drive.sampled), default=0.0)

    def powered(self) -> list[int]:
        """Return the places of the drives that respond and have voltage at their motor."""
        return [i for i, d in enumerate(self._drives) if d.sampled and d.state in POWERED]

    def at_rest(self, now: float) -> bool:
        """Return whether all drives respond, without voltage, and have been still for a while."""
        return (all(d.sampled for d in self._drives) and not self.powered()
                and now - self._still_since > REST_TIME)

    def describe(self) -> str:
        """
        Return the joints that turn and the drives with voltage, as text; empty for neither.

        Drives that do not respond are left out: nothing is known about them.
        """
        turning = [f'{d.joint} turns at {abs(self.rate[i]):.1f} rad/s'
                   for i, d in enumerate(self._drives)
                   if d.sampled and abs(self.rate[i]) * self.lever[i] > REST_SPEED]
        return ', '.join([*turning, *(f'{self._drives[i].name} is in '
                                      f'{self._drives[i].state.name}' for i in self.powered())])

    @staticmethod
    def _rate_of(drive: Drive, counts: deque[tuple[float, int]]) -> float:
        """Return the rate of a joint, rad/s, after its newest sample."""
        counts.append((drive.sampled_at, drive.position))
        while drive.sampled_at - counts[0][0] > RATE_TIME:
            counts.popleft()
        span = counts[-1][0] - counts[0][0]
        # the position is a signed number of 32 bits
        moved = (counts[-1][1] - counts[0][1] + (1 << 31)) % (1 << 32) - (1 << 31)
        if span <= 0.0 or abs(moved) <= JITTER:
            return 0.0
        units = drive.settings.units
        return units.direction * moved * units.angle_resolution / span
