# SPDX-License-Identifier: Apache-2.0
"""Accelerations that a law has sent, and when they act: from a delay after their samples on."""

from __future__ import annotations

import math
from collections.abc import Iterator

from c3p_description.model import Array


class SentAccelerations:
    """
    Memory of what was sent and still matters.

    Times are relative to the last sample. An acceleration acts from `delay` seconds after its
    sample until the next one does.

    Examples
    --------
    >>> import numpy as np
    >>> sent = SentAccelerations()
    >>> sent.send(np.array([1.0]), 0.01)
    >>> sent.advance(0.005)
    >>> [(begin, end) for begin, end, _ in sent.during(-0.005, 0.01, 0.01)]
    [(0.005, 0.01)]
    """

    def __init__(self) -> None:
        """Start with nothing."""
        self._ages: list[tuple[float, Array]] = []

    def advance(self, dt: float) -> None:
        """Move to a sample `dt` seconds after the last one."""
        self._ages = [(age + dt, accel) for age, accel in self._ages]

    def send(self, accel: Array, delay: float) -> None:
        """Add what is sent at this sample; what no longer acts is forgotten."""
        acting = [k for k, (age, _) in enumerate(self._ages) if age >= delay]
        self._ages = [*self._ages[acting[-1] if acting else 0:], (0.0, accel)]

    def during(self, begin: float, end: float, delay: float
               ) -> Iterator[tuple[float, float, Array]]:
        """Yield begin, end and acceleration of each part of a time with a known one."""
        for k, (age, accel) in enumerate(self._ages):
            following = self._ages[k + 1][0] if k + 1 < len(self._ages) else -math.inf
            since = max(begin, delay - age)
            until = min(end, delay - following)
            if until > since:
                yield since, until, accel
