# SPDX-License-Identifier: Apache-2.0
"""
What a drive does against what it was commanded: wheel rates, and torque actual (6077h).

Both are looked at only while the motors hold their wheels: a robot that is pushed by hand has no
overspeed, and a quick stop has torques of its own.

A drive needs a cycle to get a command, has a lag, may have a torque slope and may limit its
current. The torque actual may therefore lie anywhere between the commands of the last `HELD`
seconds; a drive that reports its internal limit (statusword bit 11) may give less; a torque that
comes nearer has time. What remains is a fault after `torque_deviation_time`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence

from c3p_description.model import Array
from c3p_hardware.canopen.cia402 import INTERNAL_LIMIT
from c3p_hardware.devices import RECOVER, Drive, Problem
from c3p_hardware.settings import CardSettings

# how long a command may go on acting after another one was sent, s: a cycle of 100 Hz, the frame
# of the next sample, and the lag of a current loop
HELD = 0.025

# how long a rate must stay above its limit, s: a SYNC that leaves late makes a rate look several
# times too great for some cycles
OVERSPEED_TIME = 0.05

# part of the tolerance by which a deviation must shrink to count as one that comes nearer
NEARER = 0.25


class DriveWatch:
    """
    The memory is the commands of the last moments, and since when each drive deviates.

    Parameters
    ----------
    settings : CardSettings
    drives : sequence of Drive
        Whose samples are compared.
    """

    def __init__(self, settings: CardSettings, drives: Sequence[Drive]) -> None:
        """Know no command yet."""
        self._settings, self._drives = settings, list(drives)
        self._tolerance = [max(1.0, settings.torque_tolerance * d.settings.most_permille)
                           for d in self._drives]
        self.reset()

    def reset(self) -> None:
        """Forget the past: the motors have just been armed, and nothing was commanded before."""
        self._sent: deque[tuple[float, tuple[int, ...]]] = deque()
        self._fast_since = [math.inf] * len(self._drives)
        self._since = [math.inf] * len(self._drives)
        self._least = [math.inf] * len(self._drives)

    def sent(self, torques: Sequence[int], now: float) -> None:
        """Take note of the torques (n,), permille, that are sent at `now`, s."""
        self._sent.append((now, tuple(torques)))
        # the newest that is older than the time still counts: it lasted until the next one
        while len(self._sent) > 1 and self._sent[1][0] < now - HELD:
            self._sent.popleft()

    def problems(self, now: float, wheel_rate: Array) -> Iterator[Problem]:
        """
        Yield what the drives do that they must not.

        Parameters
        ----------
        now : float, s
        wheel_rate : (n,) array, rad/s
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
                drive.name, 'overspeed', f'its wheel turns at {rate:.1f} rad/s, limit '
                f'{limit:.1f} rad/s (overspeed_margin times the wheel rate limit of the '
                'description)', 'look for a wheel that spins, a slope or a second source of '
                f'commands, {RECOVER}')

    def _deviation(self, i: int, drive: Drive, now: float) -> Iterator[Problem]:
        orders = [torques[i] for _, torques in self._sent]
        low, high = min(orders), max(orders)
        if drive.statusword & INTERNAL_LIMIT:
            low, high = min(low, 0), max(high, 0)
        off = max(low - drive.torque, drive.torque - high, 0)
        if off <= self._tolerance[i]:
            self._since[i] = self._least[i] = math.inf
            return
        if off < self._least[i] - NEARER * self._tolerance[i]:
            self._since[i], self._least[i] = now, off
        if now - self._since[i] > self._settings.torque_deviation_time:
            units = drive.settings.units
            yield Problem(
                drive.name, 'torque', f'its torque (6077h) is {units.torque(drive.torque):.3f} '
                f'N·m, commanded {units.torque(orders[-1]):.3f} N·m, for '
                f'{now - self._since[i]:.3f} s (tolerance {self._settings.torque_tolerance:g} of '
                'the torque limit)', 'look for a second source of commands, check current limits, '
                f'torque slope and motor cables, {RECOVER}')
