# SPDX-License-Identifier: Apache-2.0
"""Overspeed and torque deviation of armed drives."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence

from c3p_description.model import Array
from c3p_hardware.canopen.cia402 import INTERNAL_LIMIT
from c3p_hardware.devices import Drive
from c3p_hardware.problem import RECOVER, Problem
from c3p_hardware.settings import CardSettings

# time for which a command may still act after the next one was sent, s: a cycle of 100 Hz, the
# frame of the next sample, and the lag of a current loop
HELD = 0.025

# time above the limit that is an overspeed, s: a SYNC that leaves late raises the estimated rate
# several times for some cycles
OVERSPEED_TIME = 0.05

# fraction of the tolerance by which a torque deviation must shrink to count as settling
SETTLING = 0.25


class DriveWatch:
    """
    Overspeed and torque deviation of armed drives.

    A disarmed robot that is pushed has no overspeed, and a quick stop has torques of its own:
    both are checked while armed alone.

    A drive receives a command a cycle later, has a lag, may have a torque slope and may limit its
    current. The torque actual (6077h) may therefore be anywhere between the commands of the last
    `HELD` seconds. A drive that reports its internal limit (statusword bit 11) may give less. A
    deviation that settles restarts the clock; any other is a fault after `torque_deviation_time`.

    Parameters
    ----------
    settings : CardSettings
    drives : sequence of Drive
        The driven ones.
    """

    def __init__(self, settings: CardSettings, drives: Sequence[Drive]) -> None:
        """Start without a command."""
        self._settings, self._drives = settings, list(drives)
        self._tolerance = [max(1.0, settings.torque_tolerance * d.settings.max_permille)
                           for d in self._drives]
        self.reset()

    def reset(self) -> None:
        """Drop the history, before arming."""
        self._sent: deque[tuple[float, tuple[int, ...]]] = deque()
        self._fast_since = [math.inf] * len(self._drives)
        self._since = [math.inf] * len(self._drives)
        self._least = [math.inf] * len(self._drives)

    def sent(self, torques: Sequence[int], now: float) -> None:
        """Record the torques (n,), permille, that are sent at `now`, s."""
        self._sent.append((now, tuple(torques)))
        # the newest one beyond the time still counts: it acted until the next one
        while len(self._sent) > 1 and self._sent[1][0] < now - HELD:
            self._sent.popleft()

    def problems(self, now: float, wheel_rate: Array) -> Iterator[Problem]:
        """
        Yield overspeeds and torque deviations.

        Parameters
        ----------
        now : float, s
        wheel_rate : array, rad/s
            Of the joints of the drives.
        """
        for i, drive in enumerate(self._drives):
            if self._settings.overspeed_margin > 0:
                yield from self._overspeed(i, drive, now, float(wheel_rate[i]))
            if self._settings.torque_tolerance > 0 and self._sent and drive.sampled:
                yield from self._deviation(i, drive, now)

    def _overspeed(self, i: int, drive: Drive, now: float, rate: float) -> Iterator[Problem]:
        limit = self._settings.overspeed_margin * drive.settings.rate_limit
        self._fast_since[i] = min(self._fast_since[i], now) if abs(rate) > limit else math.inf
        if now - self._fast_since[i] > OVERSPEED_TIME:
            yield Problem(
                drive.name, 'overspeed', f'its joint turns at {rate:.1f} rad/s, limit '
                f'{limit:.1f} rad/s (overspeed_margin times the rate limit of the '
                'description)', 'look for a wheel that spins, a slope or a second source of '
                f'commands, {RECOVER}')

    def _deviation(self, i: int, drive: Drive, now: float) -> Iterator[Problem]:
        # band of the recent commands, down to zero while the drive limits its current
        commands = [torques[i] for _, torques in self._sent]
        low = min(commands)
        high = max(commands)
        if drive.statusword & INTERNAL_LIMIT:
            low = min(low, 0)
            high = max(high, 0)
        off = max(low - drive.torque, drive.torque - high, 0)
        if off <= self._tolerance[i]:
            self._since[i] = self._least[i] = math.inf
            return
        # the clock starts at the smallest deviation so far
        if off < self._least[i] - SETTLING * self._tolerance[i]:
            self._since[i] = now
            self._least[i] = off
        if now - self._since[i] > self._settings.torque_deviation_time:
            units = drive.settings.units
            yield Problem(
                drive.name, 'torque', f'its torque (6077h) is {units.torque(drive.torque):.3f} '
                f'N·m, commanded {units.torque(commands[-1]):.3f} N·m, for '
                f'{now - self._since[i]:.3f} s (tolerance {self._settings.torque_tolerance:g} of '
                'the torque limit)', 'look for a second source of commands, check current limits, '
                f'torque slope and motor cables, {RECOVER}')
