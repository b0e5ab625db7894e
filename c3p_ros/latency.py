# SPDX-License-Identifier: Apache-2.0
"""Latencies of a whole run in a few hundred numbers."""

from __future__ import annotations

import math

import numpy as np

# bins grow by two per cent from a microsecond to a hundred seconds
SMALLEST, GROWTH, BINS = 1e-6, 1.02, 931


class LatencyHistogram:
    """
    Counts latencies in bins of two per cent; the largest is kept exactly.

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

    def figures(self, name: str) -> dict[str, str]:
        """Return ``{name}_p50_ms``, ``_p99_ms`` and ``_max_ms`` for diagnostics."""
        return {f'{name}_{key}_ms': f'{1e3 * value:.4f}' for key, value in (
            ('p50', self.quantile(0.5)), ('p99', self.quantile(0.99)), ('max', self.largest))}

    def quantile(self, part: float) -> float:
        """Return the latency that `part` (0 to 1) of all stay below, s; nan when empty."""
        if self.count == 0:
            return math.nan
        place = int(np.searchsorted(np.cumsum(self._bins), part * self.count))
        return min(SMALLEST * GROWTH**place, self.largest)
