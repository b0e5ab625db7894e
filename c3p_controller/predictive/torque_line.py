# SPDX-License-Identifier: Apache-2.0
"""Torques on their way: what was sent acts a known time later."""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array


class TorqueLine:
    """
    A delay of torques; the memory is what has been sent and does not act yet.

    Parameters
    ----------
    count : int
        Number of wheels.
    latency : float, s
        From the sample that a torque answers to its effect; 0 or more.

    Examples
    --------
    >>> line = TorqueLine(1, 0.01)
    >>> line.add(np.ones(1))
    >>> [(round(d, 4), float(t[0])) for d, t in line.past(0.015)]
    [(0.01, 0.0), (0.005, 1.0)]
    """

    def __init__(self, count: int, latency: float) -> None:
        """Start with no torque."""
        if not 0.0 <= latency < 1.0:
            raise ValueError(f'latency = {latency}: must be from 0 to below 1 s')
        self.latency = latency
        self._zero = np.zeros(count)
        self.reset()

    def reset(self) -> None:
        """Forget what was sent; no torque acts."""
        # (time from now at which it begins to act, torque); the first acts already
        self._sent: list[tuple[float, Array]] = [(-np.inf, self._zero)]

    def add(self, torque: Array) -> None:
        """Send `torque` now."""
        self._sent.append((self.latency, np.array(torque, float)))

    def past(self, dt: float) -> list[tuple[float, Array]]:
        """Advance the time by `dt`; return what acted meanwhile as (duration, torque)."""
        acted = self._pieces(0.0, dt)
        self._sent = [(begin - dt, torque) for begin, torque in self._sent]
        # all but the last of those that began are over
        while len(self._sent) > 1 and self._sent[1][0] <= 0.0:
            del self._sent[0]
        return acted

    def pending(self) -> list[tuple[float, Array]]:
        """Return what acts from now until a torque sent now would, as (duration, torque)."""
        return self._pieces(0.0, self.latency)

    def _pieces(self, begin: float, end: float) -> list[tuple[float, Array]]:
        pieces = []
        for k, (start, torque) in enumerate(self._sent):
            stop = self._sent[k + 1][0] if k + 1 < len(self._sent) else np.inf
            duration = min(stop, end) - max(start, begin)
            if duration > 1e-9:
                pieces.append((duration, torque))
        return pieces
