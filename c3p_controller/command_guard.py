# SPDX-License-Identifier: Apache-2.0
"""
Whether the robot may follow a command now: what is lost, and what it takes to move again.

After a start or a fault nothing moves by itself: the guard stays locked until the chain is whole
and a zero command, or silence, has been seen. What moves then begins with torques of zero, because
the drives may have lost the commands, too, and wait for a zero of their own.
"""

from __future__ import annotations

import math

from c3p_description.model import Array

# commands smaller than this, m/s and rad/s, are a request to stand
ZERO_COMMAND = 1e-6

# torques of zero after an unlock: some cycles, since a queue of one may lose one, s
OPENING = 0.05

# the lock that every guard begins with
STARTING = 'starting'

# what a lock begins with that no goal survives: the cause is still there when the robot stands
STOPPED = 'stopped: '

# such a lock stays for so long after its cause was seen last, s
STOPPED_FOR = 1.0


class CommandGuard:
    """
    Keeps the newest command and says whether it counts.

    Parameters
    ----------
    command_timeout : float, s
        Age at which a command is no longer followed, and silence that unlocks after a fault.
    start_silence : float, s
        Silence that unlocks after the start. Longer, because whoever sends commands may not have
        been discovered yet: a controller that is started again in the middle of a motion would
        take that for silence.

    Attributes
    ----------
    lock : str
        Why no command is followed; empty when one may be.
    stamp : int, ns
        Of the command that `wanted` returned last, 0 for none.
    """

    def __init__(self, command_timeout: float, start_silence: float) -> None:
        """Start locked, without a command."""
        self.command_timeout, self.start_silence = command_timeout, start_silence
        self.lock = STARTING
        self._command: Array | None = None
        self._before: Array | None = None
        self._stamp, self._stamp_before, self.stamp = 0, 0, 0
        self._received = 0.0
        self._silent_since: float | None = None
        self._released, self._unlocked, self._stopped = False, -math.inf, -math.inf

    def command(self, twist: Array, now: float, stamp: int = 0) -> None:
        """Take a command (3,) with its stamp in ns (0 for none) at time `now`, s."""
        # what had gone stale must not come back for a cycle
        self._before, self._command = None if self.stale(now) else self._command, twist
        self._stamp_before, self._stamp, self._received = self._stamp, stamp, now
        self._silent_since = None
        # whoever commands has let go since the lock, also while the chain was not whole yet
        self._released |= bool((abs(twist) <= ZERO_COMMAND).all())

    def fault(self, reason: str) -> None:
        """Lock because of `reason`; the first reason stays."""
        if not self.lock:
            self.lock = reason
        self._silent_since, self._released = None, False

    def stop(self, reason: str, now: float) -> None:
        """Lock at `now`, s, because of `reason`, for STOPPED_FOR at least; no goal survives it."""
        self.fault(STOPPED + reason)
        self._stopped = now

    def stale(self, now: float) -> bool:
        """Return whether there is a command and it is too old."""
        return self._command is not None and now - self._received > self.command_timeout

    def retune(self, command_timeout: float, start_silence: float) -> None:
        """Take other times, s."""
        self.command_timeout, self.start_silence = command_timeout, start_silence

    def silence(self, now: float) -> str:
        """Return a line about commands that have stopped coming, '' while they come."""
        return (f'no command for longer than {self.command_timeout} s: the robot stands'
                if self.stale(now) else '')

    def remedy(self) -> str:
        """Return the lock and what opens it, '' when there is no lock."""
        return f'{self.lock}; the robot moves after a zero command or silence' if self.lock else ''

    def age(self, now: float) -> float:
        """Return the age of the newest command, s."""
        return now - self._received

    def healthy(self, now: float) -> None:
        """Unlock, with the chain whole at `now`, when a zero command or silence allows it."""
        if not self.lock or 0.0 <= now - self._stopped < STOPPED_FOR:
            return
        if self._command is None or self.stale(now):
            needed = self.start_silence if self.lock == STARTING else self.command_timeout
            if self._silent_since is None:
                self._silent_since = now
            quiet = now - self._silent_since >= needed
        else:
            quiet = self._released
        if quiet:
            self.lock, self._unlocked = '', now

    def opening(self, now: float) -> bool:
        """Return whether the torques shall be zero, so that the drives follow again."""
        return not self.lock and 0.0 <= now - self._unlocked < OPENING

    def wanted(self, now: float, cycle: int = 0) -> Array | None:
        """
        Return the command to follow at `now`, None for "come to rest".

        A command that carries the stamp of the present `cycle` (ns) counts from the next one on:
        whether it or the cycle's own messages arrive first is chance, and must not matter.
        """
        self.stamp = 0
        if self.lock or self._command is None or self.stale(now):
            return None
        early = bool(cycle) and self._stamp == cycle
        self.stamp = self._stamp_before if early else self._stamp
        return self._before if early else self._command
