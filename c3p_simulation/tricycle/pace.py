# SPDX-License-Identifier: Apache-2.0
"""Time that goes on at a fixed rate, in a thread with an absolute deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

# delay after which time is let go instead of being made up for, s, and periods made up for in one
# call, so that who waits for it to end waits for a moment only
LONGEST_DELAY, MOST_PERIODS = 1.0, 100


class Pace:
    """
    Calls `advance` once a period; after a delay once for all the periods that are due.

    Parameters
    ----------
    period : float, s
        Of real time.
    advance : callable
        Takes the number of periods to move on by, and how many before them are let go.
    alive : callable
        Tells whether to go on.

    Attributes
    ----------
    overruns : int
        Periods that were not begun in time.
    """

    def __init__(self, period: float, advance: Callable[[int, int], None],
                 alive: Callable[[], bool] = lambda: True) -> None:
        """Do nothing yet."""
        self._period, self._advance, self._alive = period, advance, alive
        self._over, self._failure = threading.Event(), None
        self._thread = threading.Thread(target=self._keep, name='pace', daemon=True)
        self.overruns = 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; what is under way finishes."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def check(self) -> None:
        """Raise what `advance` raised, in the thread that asks."""
        if self._failure is not None:
            raise self._failure

    def _keep(self) -> None:
        deadline = time.monotonic()
        while not self._over.is_set() and self._alive():
            missed = max(0, int((time.monotonic() - deadline) / self._period))
            made_up = min(missed, int(LONGEST_DELAY / self._period), MOST_PERIODS)
            self.overruns += missed
            try:
                self._advance(1 + made_up, missed - made_up)
            except Exception as error:
                # raised again by `check`: without this thread time stands still
                self._failure = error
                return
            deadline += (1 + missed) * self._period
            self._over.wait(max(0.0, deadline - time.monotonic()))
