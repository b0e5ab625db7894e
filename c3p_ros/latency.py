# SPDX-License-Identifier: Apache-2.0
"""Durations of a run: histogram of latencies, and steps that exceed their cycle."""

from __future__ import annotations

import math

import numpy as np

# for how long a step that was too long stays a warning, in the loop's time, s
SHOWN = 5.0

# bins grow by two per cent from a microsecond to a hundred seconds
SMALLEST, GROWTH, BINS = 1e-6, 1.02, 931


class LatencyHistogram:
    """
    Histogram of latencies in bins of two per cent; the largest is kept exactly.

    Examples
    --------
    >>> latency = LatencyHistogram()
    >>> for k in range(1, 101):
    ...     latency.add(k * 1e-5)
    >>> abs(latency.quantile(0.5) / 5e-4 - 1) < 0.02, round(latency.largest, 9), latency.count
    (True, 0.001, 100)
    """

    def __init__(self) -> None:
        """Start empty."""
        self._bins = np.zeros(BINS, int)
        self.count = 0
        self.largest = 0.0

    def add(self, seconds: float) -> None:
        """Count one latency, s."""
        place = math.ceil(math.log(max(seconds, SMALLEST) / SMALLEST) / math.log(GROWTH))
        self._bins[min(place, BINS - 1)] += 1
        self.count += 1
        self.largest = max(self.largest, seconds)

    def metrics(self, name: str) -> dict[str, str]:
        """Return ``{name}_p50_ms``, ``_p99_ms`` and ``_max_ms`` for diagnostics."""
        return {f'{name}_{key}_ms': f'{1e3 * value:.4f}' for key, value in (
            ('p50', self.quantile(0.5)), ('p99', self.quantile(0.99)), ('max', self.largest))}

    def quantile(self, part: float) -> float:
        """Return the latency that `part` (0 to 1) of all stay below, s; nan when empty."""
        if self.count == 0:
            return math.nan
        place = int(np.searchsorted(np.cumsum(self._bins), part * self.count))
        return min(SMALLEST * GROWTH**place, self.largest)


class StepWatch:
    """
    Counter of control steps, and of those that took longer than their cycle.

    Attributes
    ----------
    count : int
        Steps so far.

    Examples
    --------
    >>> watch = StepWatch()
    >>> watch.add(0.001, 0.005)
    >>> watch.late()
    ''
    >>> watch.add(0.007, 0.005)
    >>> watch.late()
    '7.0 ms for a cycle of 5.0 ms; 1 of 2 steps took too long'
    """

    def __init__(self) -> None:
        """Start without steps."""
        self.count, self._late = 0, 0
        self._longest, self._time, self._shown_until = 0.0, 0.0, 0.0
        self._worst = ''

    def add(self, taken: float, period: float | None) -> None:
        """Count a step of `taken` s in a cycle of `period` s (None if unknown)."""
        self.count += 1
        self._longest = max(self._longest, taken)
        if period is None:
            return
        self._time += period
        if taken > period:
            self._late += 1
            self._shown_until = self._time + SHOWN
            self._worst = f'{1e3 * taken:.1f} ms for a cycle of {1e3 * period:.1f} ms'

    def longest(self) -> float:
        """Return the longest step since the last call, s."""
        longest, self._longest = self._longest, 0.0
        return longest

    def late(self) -> str:
        """Return a text on steps that took too long lately; empty without any."""
        if self._time >= self._shown_until:
            return ''
        return f'{self._worst}; {self._late} of {self.count} steps took too long'
