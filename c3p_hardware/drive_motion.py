# SPDX-License-Identifier: Apache-2.0
"""
Motion and voltage of the drives, from the samples of each one alone.

A silent encoder or drive keeps the joints of a cycle incomplete; it must not hide whether the
other wheels turn. Counts that no motor reaches are a jump, not a motion: the rate before them is
held, and the drive is not at rest until its counts have been plausible for `RATE_TIME`. A stop
that begins at a jump is thus compared with the speed of the robot, not with that of the jump.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_hardware.canopen.cia402 import POWERED
from c3p_hardware.devices import Drive
from c3p_hardware.settings import CardSettings

# speed of a wheel at standstill, m/s: 0.2 rad/s of a wheel of 4 cm, some counts per cycle
REST_SPEED = 0.008

# time for which all wheels must be at rest, s
REST_TIME = 0.05

# time over which a rate is measured, s, and counts within it that are noise of a standstill
RATE_TIME = 0.025
JITTER = 2


class DriveMotion:
    """
    Rates of the drives; the memory is their counts of the last `RATE_TIME`.

    Parameters
    ----------
    robot : CasterRobot
    settings : CardSettings
        Its period and plausible rates.
    drives : sequence of Drive
        The driven ones.
    places : (m,) array of int
        Place of each drive's joint among the efforts of the robot.

    Attributes
    ----------
    rate : list of float, rad/s
        Of the joint of each drive; the last one before a jump of its counts.
    lever : list of float, m
        Speed of the contact point, or of a caster about its pivot, per rad/s of the joint.
    """

    def __init__(self, robot: CasterRobot, settings: CardSettings, drives: Sequence[Drive],
                 places: Array) -> None:
        """Start at rest."""
        self._drives, self._period = list(drives), settings.period
        self._limit = [settings.max_wheel_rate if place < robot.count
                       else settings.max_steering_rate for place in places]
        self._jumped_at = [-math.inf] * len(self._drives)
        self.lever = np.concatenate([robot.wheel_radius, robot.caster_offset])[places].tolist()
        self._counts: list[deque[tuple[float, int]]] = [deque() for _ in self._drives]
        self.rate = [0.0] * len(self._drives)
        self._still_since = math.inf

    def step(self, now: float) -> None:
        """Take the counts of the drives that have responded in the cycle at `now`, s."""
        for i, drive in enumerate(self._drives):
            if drive.sampled:
                self._take(i, drive)
            elif now - drive.sampled_at > RATE_TIME:
                # nothing is known of it, also when it responds again
                self._counts[i].clear()
                self.rate[i] = 0.0
        still = self.speed() <= REST_SPEED and not any(map(self._jumps, range(len(self._drives))))
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
        Return the joints that turn or jump and the drives with voltage, as text; empty for none.

        Drives that do not respond are left out: nothing is known about them.
        """
        moving = []
        for i, drive in enumerate(self._drives):
            if not drive.sampled:
                continue
            if self._jumps(i):
                moving.append(f'the counts of {drive.joint} jump')
            elif abs(self.rate[i]) * self.lever[i] > REST_SPEED:
                moving.append(f'{drive.joint} turns at {abs(self.rate[i]):.1f} rad/s')
        return ', '.join([*moving, *(f'{self._drives[i].name} is in '
                                     f'{self._drives[i].state.name}' for i in self.powered())])

    def _jumps(self, i: int) -> bool:
        """Return whether the counts of drive `i` have jumped within `RATE_TIME`."""
        return self._drives[i].sampled_at - self._jumped_at[i] <= RATE_TIME

    def _take(self, i: int, drive: Drive) -> None:
        """Take the newest sample of drive `i`."""
        counts = self._counts[i]
        sample = (drive.sampled_at, drive.position)
        units = drive.settings.units
        while counts and sample[0] - counts[0][0] > RATE_TIME:
            counts.popleft()
        if counts:
            # samples may be received at shorter intervals than they were taken
            dt = max(sample[0] - counts[-1][0], self._period)
            possible = self._limit[i] * dt / units.angle_resolution + JITTER
            if abs(_moved(counts[-1], sample)) > possible:
                self._jumped_at[i] = sample[0]
                counts.clear()
        counts.append(sample)
        span = sample[0] - counts[0][0]
        moved = _moved(counts[0], sample)
        if span > 0.0:
            self.rate[i] = (0.0 if abs(moved) <= JITTER
                            else units.direction * moved * units.angle_resolution / span)


def _moved(before: tuple[float, int], after: tuple[float, int]) -> int:
    """Return the counts between two samples; a position is a signed number of 32 bits."""
    return (after[1] - before[1] + (1 << 31)) % (1 << 32) - (1 << 31)
