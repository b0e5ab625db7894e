# SPDX-License-Identifier: Apache-2.0
"""
Priority multiplexer of velocity commands with locks and release-before-resume.

The rules are those of ros-teleop's twist_mux (docs/teleop.md): of the active sources, with a
message within their timeout and not masked by a lock, the one with the highest priority drives. In
twist_mux a masked source resumes as soon as it is unmasked. Here it must first be released: by a
zero command, or by silence for its timeout. The same holds for a source after a command of one
with a higher priority.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from c3p_controller.command_lock import STARTS, Lock, LockState

# range of priorities; a lock with the highest masks every source with less
LOWEST = 1
HIGHEST = 255

# duration of zero commands after a lock has masked the driving source: some, since a queue of one
# may lose one, s
HALT = 0.1


class Input(NamedTuple):
    """
    Source of commands, with a `priority` from LOWEST to HIGHEST.

    At the age of `timeout`, s, its last message expires.
    """

    name: str
    topic: str
    timeout: float
    priority: int


class _Source:
    """State of a source."""

    def __init__(self, given: Input) -> None:
        self.given = given
        # time of the last message; begin of the present silence; whether it is released
        self.received, self.restless, self.armed = -math.inf, -math.inf, False

    def alive(self, now: float) -> bool:
        return now - self.received <= self.given.timeout


class TwistMux:
    """
    Priority multiplexer: decides for each command whether it is forwarded.

    Of `sources` with the same priority the first drives. Times are in seconds of one clock. When
    it goes back, as in a restarted simulation, every source must be released again, and locks stay
    closed. With `resume` a masked source resumes automatically, as with twist_mux. Silence does
    not release before `start_silence`, s, since the start: a publisher may not have been
    discovered yet.

    Raises
    ------
    ValueError
        Duplicate names or topics, an invalid priority or timeout.
    """

    def __init__(self, sources: Sequence[Input], locks: Sequence[Lock], now: float, *,
                 resume: bool = False, start_silence: float = 0.0) -> None:
        """Start without messages; every source must be released first."""
        _check(sources, locks)
        self.resume = resume
        self._start_silence = start_silence
        self._sources = {given.name: _Source(given) for given in sources}
        self._locks = {given.name: LockState(given) for given in locks}
        # enabling devices of each source
        self._devices: dict[str, list[LockState]] = {}
        for lock in self._locks.values():
            if lock.given.source:
                self._devices.setdefault(lock.given.source, []).append(lock)
        # source that moves the robot; end of the zero commands
        self._moves: _Source | None = None
        self._begin(now)

    def _begin(self, now: float) -> None:
        """Forget the commands before `now`, but not the locks."""
        self._newest, self._opens, self._halt_end = now, now + self._start_silence, -math.inf
        for source in self._sources.values():
            source.received = -math.inf
            source.restless = now
            source.armed = False
        for lock in self._locks.values():
            lock.forget_age()

    def lock(self, name: str, locked: bool, now: float, *, kept: bool = False,
             best_effort: bool = False) -> None:
        """
        Process a message of the lock `name` at `now`, s: `locked`, or not.

        `kept` is true if the publisher latched it for late subscribers (transient local), and
        `best_effort` if it may be the copy of one that was received reliably.
        """
        # an expired lock has masked all sources until now
        self.look(now)
        lock = self._locks[name]
        take = lock.take_kept if kept else lock.take_best_effort if best_effort else lock.take
        take(locked, now)
        self.look(now)

    def set_unheard(self, name: str, unheard: bool, now: float) -> None:
        """
        Process whether the lock `name` has a publisher that is not received, at `now`, s.

        The lock is closed as long as it has; its state is unknown afterwards.
        """
        self.look(now)
        self._locks[name].set_unheard(unheard)
        self.look(now)

    def release(self, now: float) -> tuple[str, ...]:
        """
        Open the locks whose state is unknown; return their names.

        A lock that is pressed or expired, or that has an unheard publisher, stays closed.
        """
        # masked until now
        self.look(now)
        return tuple(name for name, lock in self._locks.items() if lock.release())

    def command(self, name: str, neutral: bool, now: float) -> bool:
        """Process a command of source `name`, zero if `neutral`; return if it is forwarded."""
        self.look(now)
        source = self._sources[name]
        source.received = now
        if not neutral:
            source.restless = now
        if self._masked(source, now):
            return False
        source.armed |= neutral
        if self._first(now) is not source:
            # a command that was not forwarded must not be forwarded later, either
            source.armed &= neutral
            return False
        self._override(source)
        passed = source.armed or self.resume
        if passed:
            self._moves = None if neutral else source
        return passed

    def look(self, now: float) -> None:
        """Update at `now`: masked sources must be released again, silent ones are released."""
        if now < self._newest:
            self._begin(now)
        self._newest = now
        for source in self._sources.values():
            if self._masked(source, now):
                source.armed = False
                source.restless = now
            elif now >= self._opens and now - source.restless > source.given.timeout:
                source.armed = True
        if self._moves and self._masked(self._moves, now):
            self._moves = None
            self._halt_end = now + HALT

    def halting(self, now: float) -> bool:
        """Return whether zeros must be sent, after a lock has masked the driving source."""
        return now < self._halt_end and not self.driving(now)

    def lock_priority(self, now: float) -> int:
        """Return the priority below which sources are masked, 0 without a lock."""
        return max((lock.given.priority for lock in self._locks.values()
                    if not lock.given.source and lock.locked(now)), default=0)

    def locked(self, now: float) -> bool:
        """Return whether every source is masked."""
        return all(self._masked(source, now) for source in self._sources.values())

    def locks(self, now: float) -> tuple[str, ...]:
        """Return the names of the closed locks."""
        return tuple(name for name, lock in self._locks.items()
                     if not lock.given.source and lock.locked(now))

    def disabled(self, now: float) -> tuple[str, ...]:
        """Return the names of the active sources whose enabling device is not held."""
        return tuple(name for name, devices in self._devices.items()
                     if self._sources[name].alive(now) and any(
                         device.locked(now) for device in devices))

    def unknown(self) -> tuple[str, ...]:
        """Return the names of the locks that `release` opens: their state is unknown."""
        return tuple(name for name, lock in self._locks.items()
                     if lock.unknown and not lock.unheard)

    def unheard(self) -> tuple[str, ...]:
        """Return the names of the locks with a publisher that is not received."""
        return tuple(name for name, lock in self._locks.items() if lock.unheard)

    def driving(self, now: float) -> str:
        """Return the name of the source whose commands are forwarded, '' without one."""
        first = self._first(now)
        return first.given.name if first and (first.armed or self.resume) else ''

    def waiting(self, now: float) -> tuple[str, ...]:
        """Return the names of the active sources that must be released first."""
        return tuple(name for name, source in self._sources.items()
                     if source.alive(now) and not source.armed and not self.resume)

    def _override(self, first: _Source) -> None:
        """Let all other sources be released again whose last command was not zero."""
        for source in self._sources.values():
            if source is not first and source.received <= source.restless:
                source.armed = False

    def _masked(self, source: _Source, now: float) -> bool:
        name = source.given.name
        return source.given.priority < self.lock_priority(now) or (
            name in self._devices and any(one.locked(now) for one in self._devices[name]))

    def _first(self, now: float) -> _Source | None:
        active = [source for source in self._sources.values()
                 if source.alive(now) and not self._masked(source, now)]
        # max returns the first of equals
        return max(active, key=lambda source: source.given.priority, default=None)


def _check(sources: Sequence[Input], locks: Sequence[Lock]) -> None:
    if not sources:
        raise ValueError('no topics: name at least one source of commands')
    inputs: tuple[Input | Lock, ...] = (*sources, *locks)
    for given in inputs:
        if not LOWEST <= given.priority <= HIGHEST:
            raise ValueError(f'priority of {given.name} = {given.priority}: must be {LOWEST} to '
                             f'{HIGHEST}')
        if not (math.isfinite(given.timeout) and given.timeout >= 0.0):
            raise ValueError(f'timeout of {given.name} = {given.timeout}: must be 0 or more '
                             'seconds')
    for given in sources:
        if given.timeout == 0.0:
            raise ValueError(f'timeout of {given.name} = 0: a source that never expires would '
                             'mask the others for ever; name the seconds')
    known = {given.name for given in sources}
    for lock in locks:
        if lock.source and lock.source not in known:
            raise ValueError(f'source of {lock.name} = {lock.source!r}: must be one of '
                             f'{", ".join(sorted(known))}')
        if lock.source and lock.timeout == 0.0:
            raise ValueError(f'timeout of {lock.name} = 0: an enabling device must be received '
                             'again and again; name the seconds')
        if lock.start not in STARTS:
            raise ValueError(f'start of {lock.name} = {lock.start!r}: must be one of '
                             f'{", ".join(STARTS)}')
    for key in ('name', 'topic'):
        names = [getattr(given, key) for given in (*sources, *locks)]
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise ValueError(f'{key} {", ".join(doubled)}: named more than once')
