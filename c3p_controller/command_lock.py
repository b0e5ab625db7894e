# SPDX-License-Identifier: Apache-2.0
"""
Lock of the mux: pressed, released, or unknown.

An unknown state counts as pressed: a mux that was killed with its e-stop pressed has lost the
state, and the publisher that pressed it may be gone. A start locks until a release was published,
or an operator has released the lock. A publisher that is not received, because of its message type
or QoS, may press the lock at any time: it closes the lock as long as it exists, and the state is
unknown afterwards.
"""

from __future__ import annotations

import math
from typing import NamedTuple

# `start` of a lock
CLOSED = 'closed'
LATCHED = 'latched'
OPEN = 'open'
STARTS = (CLOSED, LATCHED, OPEN)

# for how long, s, a press that was received reliably outlasts a false that was received best
# effort: it may be the copy of a message that the reliable subscription has received before
COPY_DELAY = 0.2


class Lock(NamedTuple):
    """
    Lock, as in the parameter file: masks sources with a lower `priority`.

    At the age of `timeout`, s, the last message expires and the lock closes; 0 is never. `start`
    is without effect then, else CLOSED: closed from the start until a false is published, or a
    release. LATCHED: a false that its publisher latched before also opens it; for a lock with one
    publisher, since a false latched by another may be older than a press. OPEN: open until the
    first true, so that a restart forgets a press.

    With a `source` it masks this source alone, of any priority: an enabling device, which is
    pressed while its button is not held.
    """

    name: str
    topic: str
    timeout: float
    priority: int
    start: str = CLOSED
    source: str = ''


class LockState:
    """
    State of one lock.

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
        """Start without a message."""
        self.given = given
        # time of the last message, and of the last press that was received reliably, s
        self.received, self._secured = -math.inf, -math.inf
        self.pressed = False
        # whether a publisher exists that is not received
        self.unheard = False
        # a lock with a timeout is closed until its first message anyway
        self.unknown = given.start != OPEN and given.timeout == 0.0

    def take(self, pressed: bool, now: float) -> None:
        """Process a message that was just published."""
        self.received = now
        self.pressed = pressed
        self.unknown = False
        if pressed:
            self._secured = now

    def take_best_effort(self, pressed: bool, now: float) -> None:
        """
        Process a message received best effort on a topic that also has reliable publishers.

        Messages of the latter are received twice. A press always counts; a false does not where it
        may be the late copy of one that a reliable publisher sent before its press. A publisher
        that repeats its state then opens the lock with its next message.
        """
        if pressed or not 0.0 <= now - self._secured < COPY_DELAY:
            self.received = now
            self.pressed = pressed
            self.unknown = False

    def take_kept(self, pressed: bool, now: float) -> None:
        """
        Process a message of any age that its publisher latched (transient local).

        A latched true always counts. A latched false may be older than a press elsewhere: it
        counts only where the lock starts LATCHED, and as the first message.
        """
        if self.given.timeout > 0.0:
            # only fresh messages open it
            self.pressed |= pressed
        elif pressed or (self.given.start == LATCHED and self.received == -math.inf):
            self.take(pressed, now)

    def set_unheard(self, unheard: bool) -> None:
        """Process whether a publisher exists that is not received; it closes the lock."""
        self.unheard = unheard
        self.unknown |= unheard

    def forget_age(self) -> None:
        """Process a clock that went back: of a lock with a timeout only the next message opens."""
        if self.given.timeout > 0.0:
            self.received = -math.inf

    def release(self) -> bool:
        """Open a lock whose state is unknown; return whether it was, and could be opened."""
        released = self.unknown and not self.unheard
        self.unknown &= self.unheard
        return released

    def expired(self, now: float) -> bool:
        """Return whether the timeout of the lock has elapsed."""
        return 0.0 < self.given.timeout < now - self.received

    def locked(self, now: float) -> bool:
        """Return whether the lock is closed, for any reason."""
        return self.pressed or self.unheard or self.unknown or self.expired(now)
