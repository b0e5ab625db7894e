# SPDX-License-Identifier: Apache-2.0
"""
Command interlock: conditions for executing commands, and re-arming after a fault.

After a start or a fault the robot does not move on its own: the interlock is locked until the
chain is complete and a zero command, or silence, was received. Motion then begins with zero
torques, because the drives may have lost commands, too, and require a zero of their own.
"""

from __future__ import annotations

import math

from c3p_description.model import Array

# smaller commands are zero commands, m/s and rad/s
ZERO_COMMAND = 1e-6

# duration of zero torques after an unlock: some cycles, since a queue of one may lose one, s
OPENING = 0.05

# lock of every start
STARTING = 'starting'

# prefix of a lock that ends the goal: its cause is still present when the robot has stopped
STOPPED = 'stopped: '

# such a lock is held for this time after its last cause, s
STOPPED_FOR = 1.0


class CommandInterlock:
    """
    Keeps the newest command and decides whether it may be executed.

    Silence for `command_timeout`, s, unlocks after a fault; a command expires at this age. After
    the start `start_silence`, s, is needed, longer than the discovery of other nodes: a controller
    restarted during a motion would take undiscovered publishers for silence.

    Attributes
    ----------
    lock : str
        Reason for which commands are not executed; empty when unlocked.
    stamp : int, ns
        Of the last command that `active` returned, 0 without one.
    """

    def __init__(self, command_timeout: float, start_silence: float) -> None:
        """Start locked, without a command."""
        self.command_timeout = command_timeout
        self.start_silence = start_silence
        self.lock = STARTING
        self._command: Array | None = None
        self._before: Array | None = None
        self._stamp = 0
        self._stamp_before = 0
        self.stamp = 0
        self._received = 0.0
        self._silent_since: float | None = None
        self._released, self._unlocked, self._stopped = False, -math.inf, -math.inf

    def command(self, twist: Array, now: float, stamp: int = 0) -> None:
        """Receive a command (3,) with its stamp in ns (0 for none) at time `now`, s."""
        # an expired command must not become active again for a cycle
        self._before = None if self.stale(now) else self._command
        self._command = twist
        self._stamp_before = self._stamp
        self._stamp = stamp
        self._received = now
        self._silent_since = None
        # a zero command since the lock counts, also while the chain was incomplete
        self._released |= bool((abs(twist) <= ZERO_COMMAND).all())

    def fault(self, reason: str) -> None:
        """Lock because of `reason`; the first reason stays."""
        if not self.lock:
            self.lock = reason
        self._silent_since = None
        self._released = False

    def stop(self, reason: str, now: float) -> None:
        """Lock at `now`, s, because of `reason`, for STOPPED_FOR at least; ends the goal."""
        self.fault(STOPPED + reason)
        self._stopped = now

    def stale(self, now: float) -> bool:
        """Return whether the command has expired."""
        return self._command is not None and now - self._received > self.command_timeout

    def retune(self, command_timeout: float, start_silence: float) -> None:
        """Replace the times, s."""
        self.command_timeout = command_timeout
        self.start_silence = start_silence

    def silence(self, now: float) -> str:
        """Return a report of expired commands, '' while they arrive."""
        return (f'no command for longer than {self.command_timeout} s: the robot stands'
                if self.stale(now) else '')

    def remedy(self) -> str:
        """Return the lock and its remedy, '' when unlocked."""
        return f'{self.lock}; the robot moves after a zero command or silence' if self.lock else ''

    def rearm(self, now: float) -> None:
        """Unlock, with the chain complete at `now`, after a zero command or silence."""
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
            self.lock = ''
            self._unlocked = now

    def opening(self, now: float) -> bool:
        """Return whether the torques must be zero, so that the drives re-arm."""
        return not self.lock and 0.0 <= now - self._unlocked < OPENING

    def active(self, now: float, cycle: int = 0) -> Array | None:
        """
        Return the command to execute at `now`, None for a stop.

        A command with the stamp of the present `cycle` (ns) is active from the next one on: the
        result must not depend on whether it or the messages of the cycle arrive first.
        """
        self.stamp = 0
        if self.lock or self._command is None or self.stale(now):
            return None
        early = bool(cycle) and self._stamp == cycle
        self.stamp = self._stamp_before if early else self._stamp
        return self._before if early else self._command
