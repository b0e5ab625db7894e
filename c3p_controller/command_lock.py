# SPDX-License-Identifier: Apache-2.0
"""
A lock in front of the robot: pressed, released, or not known since the start.

What is not known counts as pressed. A mux that was killed with its e-stop pressed has lost it, and
the publisher that pressed it may be gone. So a start locks until a release has been published, or
an operator has released it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

# `start` of a lock
CLOSED, LATCHED, OPEN = 'closed', 'latched', 'open'
STARTS = (CLOSED, LATCHED, OPEN)


class Lock(NamedTuple):
    """
    A lock, as the parameter file has it.

    Attributes
    ----------
    name : str
    topic : str
    timeout : float, s
        Age at which the last message counts no more and the lock is closed; 0 is never.
    priority : int
        Sources with a lower priority are masked.
    start : str
        CLOSED: closed from the start until a false is published, or it is released. LATCHED: also
        until a false that its publisher has latched before; for a lock with one publisher, since a
        false latched by another may be older than a press. OPEN: open until the first true, so
        that a restart forgets a press. Without effect where `timeout` > 0.
    """

    name: str
    topic: str
    timeout: float
    priority: int
    start: str = CLOSED


class LockState:
    """
    The state of one lock.

    Parameters
    ----------
    given : Lock

    Examples
    --------
    >>> lock = LockState(Lock('e_stop', 'e_stop', 0.0, 255))
    >>> lock.locked(0.0), lock.unknown
    (True, True)
    >>> lock.take(False, 1.0)
    >>> lock.locked(1.0), lock.unknown
    (False, False)
    """

    def __init__(self, given: Lock) -> None:
        """Begin unheard."""
        self.given = given
        self.heard, self.pressed = -math.inf, False
        # a lock with a timeout is closed until it is heard without this
        self.unknown = given.start != OPEN and given.timeout == 0.0

    def take(self, pressed: bool, now: float) -> None:
        """Take a message that has just been published."""
        self.heard, self.pressed, self.unknown = now, pressed, False

    def take_kept(self, pressed: bool, now: float) -> None:
        """
        Take a message that its publisher may have kept (transient local) since any time.

        A kept true always counts. A kept false may be older than a press elsewhere: it counts only
        where the lock begins LATCHED, and before anything else has been heard.
        """
        if self.given.timeout > 0.0:
            # fresh messages are asked for
            self.pressed |= pressed
        elif pressed or (self.given.start == LATCHED and self.heard == -math.inf):
            self.take(pressed, now)

    def release(self) -> bool:
        """Open the lock if its state is not known; return whether it was not."""
        unknown, self.unknown = self.unknown, False
        return unknown

    def expired(self, now: float) -> bool:
        """Return whether a lock with a timeout has not been heard for that time."""
        return 0.0 < self.given.timeout < now - self.heard

    def locked(self, now: float) -> bool:
        """Return whether the lock is closed, for whatever reason."""
        return self.pressed or self.unknown or self.expired(now)
