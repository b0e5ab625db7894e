# SPDX-License-Identifier: Apache-2.0
"""
Samples that arrive in bunches: an adapter, or its driver, hands frames over now and then.

A device that answers each SYNC, but whose samples come together after cycles without one, is well;
its samples are as old as the bunch is long, and between bunches no torque may be sent. A USB
adapter with a latency of 16 ms makes bunches of three at 200 Hz.
"""

from __future__ import annotations

from collections.abc import Sequence

from c3p_hardware.devices import Device
from c3p_hardware.problem import RECOVER, Problem

# bunches, less cycles with a single sample, that are a pattern
ENOUGH = 3


class BunchWatch:
    """
    Count of the bunches of each device.

    Parameters
    ----------
    devices : sequence of Device
    period : float, s
        Of a cycle.
    missed_cycles : int
        Cycles without a sample that are allowed: shorter bunches do no harm.

    Attributes
    ----------
    late : bool
        A device sent no sample in the last cycle: of those that come now, the first may be old.
    problem : Problem or None
        The bunches as a fault, until `begin`.
    """

    def __init__(self, devices: Sequence[Device], period: float, missed_cycles: int) -> None:
        """Start without a bunch."""
        self._devices = list(devices)
        self._period = period
        self._most = missed_cycles + 1
        self.begin()

    def begin(self) -> None:
        """Forget what was, after a configuration."""
        self._samples = [device.samples for device in self._devices]
        self._without = [0] * len(self._devices)
        self._bunches = [0] * len(self._devices)
        self._longest = 0
        self.late = False
        self.problem: Problem | None = None

    def step(self) -> None:
        """Count the samples of the cycle that ends; at a SYNC."""
        self.late = grown = False
        for i, device in enumerate(self._devices):
            came = device.samples - self._samples[i]
            self._samples[i] = device.samples
            if came == 0:
                self._without[i] += 1
                self.late = True
                continue
            # a bunch has the samples that were missing; more are those of a second device
            if self._most < came <= self._without[i] + 1:
                self._bunches[i] += 1
                self._longest = max(self._longest, came)
                grown = True
            elif came == 1:
                self._bunches[i] = max(0, self._bunches[i] - 1)
            self._without[i] = 0
        if grown and self.problem is None:
            self.problem = self._found()

    def _found(self) -> Problem | None:
        """Return the bunches as a fault, None without them."""
        found = [device.name for device, bunches in zip(self._devices, self._bunches, strict=True)
                 if bunches >= ENOUGH]
        if not found:
            return None
        whose = ('all devices' if len(found) == len(self._devices) else ', '.join(found))
        return Problem('bus', 'bunches', f'samples of {whose} arrive in bunches of up to '
                       f'{self._longest}, {1e3 * self._longest * self._period:.0f} ms apart: the '
                       'CAN adapter or its driver holds frames back',
                       'set its latency to 1 ms (FTDI: latency_timer in sysfs), use an adapter '
                       f'with SocketCAN, or lower `rate`, {RECOVER}', True)
