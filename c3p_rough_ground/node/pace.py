# SPDX-License-Identifier: Apache-2.0
"""Fixed-rate thread with absolute deadlines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from c3p_simulation.worker import Worker

# longest delay that is made up for, s, and most periods in one call, which bound its duration
LONGEST_DELAY = 1.0
MOST_PERIODS = 100


class TerrainPace(Worker):
    """
    Calls `advance` once per period; after a delay, once for all due periods.

    Parameters
    ----------
    period : float, s
        In real time.
    advance : callable
        Takes the number of periods to advance, and the number of skipped periods before them.
    alive : callable
        Returns False to end.

    Attributes
    ----------
    overruns : int
        Number of periods that started late.
    """

    def __init__(self, period: float, advance: Callable[[int, int], None],
                 alive: Callable[[], bool] = lambda: True) -> None:
        """Create the thread without starting it."""
        super().__init__('pace', self._keep)
        self._period = period
        self._advance = advance
        self._alive = alive
        self.overruns = 0

    def _keep(self, stopping: threading.Event) -> None:
        deadline = time.monotonic()
        while not stopping.is_set() and self._alive():
            missed = max(0, int((time.monotonic() - deadline) / self._period))
            made_up = min(missed, int(LONGEST_DELAY / self._period), MOST_PERIODS)
            self.overruns += missed
            self._advance(1 + made_up, missed - made_up)
            deadline += (1 + missed) * self._period
            stopping.wait(max(0.0, deadline - time.monotonic()))
