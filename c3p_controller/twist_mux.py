# SPDX-License-Identifier: Apache-2.0
"""
Whose command the robot follows: sources with priorities, locks, and who has to let go first.

The rules of ros-teleop's twist_mux (docs/teleop.md has them beside its source): of the sources
that were heard within their timeout and that no lock masks, the one with the highest priority
drives. twist_mux lets a source that was kept out go on by itself as soon as nothing is in its way.
Here it is kept out until it has let go: it has to show zero, or silence for its timeout, first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from c3p_controller.command_lock import STARTS, Lock, LockState

# of priorities; a lock with the highest masks every source with less
LOWEST, HIGHEST = 1, 255

# zero commands after a lock has taken the robot from whoever drove it: some, since a queue of one
# may lose one, s
HALT = 0.1


class Input(NamedTuple):
    """
    A source of commands.

    Attributes
    ----------
    name : str
    topic : str
    timeout : float, s
        Age at which the last message counts no more.
    priority : int
        LOWEST to HIGHEST.
    """

    name: str
    topic: str
    timeout: float
    priority: int


class _Source:
    """What is known of a source."""

    def __init__(self, given: Input) -> None:
        self.given = given
        # when it was heard last; since when it could have been silent; whether it has let go
        self.heard, self.restless, self.armed = -math.inf, -math.inf, False

    def alive(self, now: float) -> bool:
        return now - self.heard <= self.given.timeout


class TwistMux:
    """
    Decides for each command whether it is passed on.

    Times are in seconds of one clock. When it goes back, as that of a simulation that begins anew,
    every source has to let go, and what is locked stays so.

    Parameters
    ----------
    sources : sequence of Input
        Of sources with the same priority the first counts.
    locks : sequence of Lock
        Closed from the start unless `start` says otherwise.
    now : float, s
    resume : bool
        A source that was kept out goes on by itself, as with twist_mux.
    start_silence : float, s
        No silence counts as letting go before this time has passed since the start: whoever sends
        commands may not have been discovered yet.

    Raises
    ------
    ValueError
        Names or topics twice, a priority or a timeout that means nothing.
    """

    def __init__(self, sources: Sequence[Input], locks: Sequence[Lock], now: float, *,
                 resume: bool = False, start_silence: float = 0.0) -> None:
        """Start with nobody heard; every source has to let go first."""
        _check(sources, locks)
        self.resume, self._start_silence = resume, start_silence
        self._sources = {given.name: _Source(given) for given in sources}
        self._locks = {given.name: LockState(given) for given in locks}
        # whose command moves the robot, and until when it is told to stand
        self._moves: _Source | None = None
        self._begin(now)

    def _begin(self, now: float) -> None:
        """Forget what was heard before `now`, but no lock."""
        self._newest, self._opens, self._halt_end = now, now + self._start_silence, -math.inf
        for source in self._sources.values():
            source.heard, source.restless, source.armed = -math.inf, now, False
        for lock in self._locks.values():
            lock.heard = min(lock.heard, now)

    def lock(self, name: str, locked: bool, now: float, *, kept: bool = False) -> None:
        """
        Take a message of the lock `name`.

        Parameters
        ----------
        name : str
        locked : bool
        now : float, s
        kept : bool
            The publisher may have kept the message for late subscribers (transient local).
        """
        # a lock that had expired has kept everybody out until now
        self.look(now)
        lock = self._locks[name]
        (lock.take_kept if kept else lock.take)(locked, now)
        self.look(now)

    def release(self, now: float) -> tuple[str, ...]:
        """
        Open the locks whose state has not been heard since the start; return their names.

        A lock that is pressed, or that has expired, stays closed.
        """
        # masked until now
        self.look(now)
        return tuple(name for name, lock in self._locks.items() if lock.release())

    def command(self, name: str, neutral: bool, now: float) -> bool:
        """
        Take a command; return whether it is to be passed on.

        Parameters
        ----------
        name : str
            Of the source.
        neutral : bool
            Whether the command is zero.
        now : float, s
        """
        self.look(now)
        source = self._sources[name]
        source.heard = now
        if not neutral:
            source.restless = now
        if self._masked(source, now):
            return False
        source.armed |= neutral
        if self._first(now) is not source:
            # what could not be followed must not be followed later, either
            source.armed &= neutral
            return False
        passed = source.armed or self.resume
        if passed:
            self._moves = None if neutral else source
        return passed

    def look(self, now: float) -> None:
        """Take note of the time: who is masked has to let go again, who is silent has let go."""
        if now < self._newest:
            self._begin(now)
        self._newest = now
        for source in self._sources.values():
            if self._masked(source, now):
                source.armed, source.restless = False, now
            elif now >= self._opens and now - source.restless > source.given.timeout:
                source.armed = True
        if self._moves and self._masked(self._moves, now):
            self._moves, self._halt_end = None, now + HALT

    def halting(self, now: float) -> bool:
        """Return whether zero is to be sent, since a lock has stopped who drove."""
        return now < self._halt_end and not self.driving(now)

    def lock_priority(self, now: float) -> int:
        """Return below which priority sources are masked, 0 without a lock."""
        return max((lock.given.priority for lock in self._locks.values() if lock.locked(now)),
                   default=0)

    def locked(self, now: float) -> bool:
        """Return whether every source is masked."""
        return all(self._masked(source, now) for source in self._sources.values())

    def locks(self, now: float) -> tuple[str, ...]:
        """Return the names of the locks that are closed."""
        return tuple(name for name, lock in self._locks.items() if lock.locked(now))

    def unknown(self) -> tuple[str, ...]:
        """Return the names of the locks whose state has not been heard since the start."""
        return tuple(name for name, lock in self._locks.items() if lock.unknown)

    def driving(self, now: float) -> str:
        """Return the name of the source whose commands are passed on, '' for none."""
        first = self._first(now)
        return first.given.name if first and (first.armed or self.resume) else ''

    def waiting(self, now: float) -> tuple[str, ...]:
        """Return the names of the sources that send, and have to let go first."""
        return tuple(name for name, source in self._sources.items()
                     if source.alive(now) and not source.armed and not self.resume)

    def _masked(self, source: _Source, now: float) -> bool:
        return source.given.priority < self.lock_priority(now)

    def _first(self, now: float) -> _Source | None:
        heard = [source for source in self._sources.values()
                 if source.alive(now) and not self._masked(source, now)]
        # of equals max returns the first
        return max(heard, key=lambda source: source.given.priority, default=None)


def _check(sources: Sequence[Input], locks: Sequence[Lock]) -> None:
    if not sources:
        raise ValueError('no topics: name at least one source of commands')
    for given in (*sources, *locks):
        if not LOWEST <= given.priority <= HIGHEST:
            raise ValueError(f'priority of {given.name} = {given.priority}: must be {LOWEST} to '
                             f'{HIGHEST}')
        if not (math.isfinite(given.timeout) and given.timeout >= 0.0):
            raise ValueError(f'timeout of {given.name} = {given.timeout}: must be 0 or more '
                             'seconds')
    for given in sources:
        if given.timeout == 0.0:
            raise ValueError(f'timeout of {given.name} = 0: a source that is never too old would '
                             'keep the others out for ever; name the seconds')
    for lock in locks:
        if lock.start not in STARTS:
            raise ValueError(f'start of {lock.name} = {lock.start!r}: must be one of '
                             f'{", ".join(STARTS)}')
    for what in ('name', 'topic'):
        names = [getattr(given, what) for given in (*sources, *locks)]
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise ValueError(f'{what} {", ".join(doubled)}: named more than once')
