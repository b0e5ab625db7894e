# SPDX-License-Identifier: Apache-2.0
"""The clockwork of a control chain: accepted stamps, time steps, and how old an input is."""

from __future__ import annotations

import math

from c3p_ros.messages import MessageError

# time going back by more than this is a restart (a bag that loops, a simulation that was reset)
RESTART = 1.0


class CycleClock:
    """
    Accepts the stamps of a stream that must go forward.

    Attributes
    ----------
    restarted : bool
        The last accepted stamp began a new time line.
    """

    def __init__(self) -> None:
        """Start without a past."""
        self._last: int | None = None
        self.restarted = False

    def accept(self, stamp_ns: int) -> float | None:
        """
        Return the step from the stamp before, s; None for the first of a time line.

        Raises
        ------
        MessageError
            A stamp that repeats or goes back a little: out of order.
        """
        last, self.restarted = self._last, False
        if last is None:
            self._last = stamp_ns
            return None
        step = (stamp_ns - last) * 1e-9
        if step < -RESTART:
            self._last, self.restarted = stamp_ns, True
            return None
        if step <= 0.0:
            raise MessageError(f'out of order: {-step:.4f} s before the one already used')
        self._last = stamp_ns
        return step


class Lifeline:
    """
    When something was last heard of.

    Parameters
    ----------
    timeout : float, s

    Attributes
    ----------
    heard : float
        Time of the last sign of life, s; -inf before the first.
    """

    def __init__(self, timeout: float) -> None:
        """Start unheard."""
        self.timeout = timeout
        self.heard = -math.inf

    def beat(self, now: float) -> None:
        """Take note that it is alive."""
        self.heard = now

    def age(self, now: float) -> float:
        """Return the seconds since it was heard, inf when never."""
        return now - self.heard

    def lost(self, now: float) -> bool:
        """Return whether it was heard once and is silent for longer than the timeout."""
        return self.heard > -math.inf and self.age(now) > self.timeout
