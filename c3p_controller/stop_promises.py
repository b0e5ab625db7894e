# SPDX-License-Identifier: Apache-2.0
"""
Promises of the stop chain as predicates over what is seen: messages, orders, motion.

Each promise is one class, with the text of its row in docs/safety.md and the kinds of events that
it needs. The enumeration of all states (c3p_experiments/stop_chain) and the check of a bag use the
same objects. A promise remembers moments and flags alone, so that its state is finite: an age
beyond the `horizon` makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from c3p_controller.command_lock import COPY_DELAY, Lock
from c3p_controller.twist_mux import Input

# kinds of events
COMMAND = 'command'
PASSED = 'passed'
LOCK = 'lock'
UNHEARD = 'unheard'
RELEASE = 'release'
START = 'start'
BACK = 'back'
TORQUE = 'torque'
MOTOR = 'motor'
LOCKED = 'locked'
UNLOCKED = 'unlocked'
FOLLOWS = 'follows'
TOUCH = 'touch'
LET_GO = 'let go'
SPEED = 'speed'

# a robot below this speed stands, m/s
STANDS = 0.05

# beyond a threshold, s; moments in the future, after a step of the clock, are brought this near
BEYOND = 0.25
AHEAD = 0.5

# torque above its limit that is rounding of a message, as a fraction
ROUNDING = 1e-3


class StopEvent(NamedTuple):
    """
    Observation `at` a time, s, of the source, lock or node `name`.

    The `value` of a command, of a torque (in limits of the robot) or a speed (m/s) is its size; of
    a lock, 1 if it is pressed. What is not `sure` came best effort, so that it may be a late copy;
    of a torque, it was sent and perhaps not received.
    """

    kind: str
    at: float
    name: str = ''
    value: float = 0.0
    sure: bool = True


class Promise:
    """
    Predicate over events.

    Attributes
    ----------
    identity : str
        Stable name, for reports.
    text : str
        Its row in docs/safety.md.
    needs : tuple of str
        Kinds of events without which it is not judged.
    moments, flags : dict
        What it remembers: times, s, and yes or no.
    horizons : dict, s
        Older moments make no difference.
    """

    identity = ''
    text = ''
    needs: tuple[str, ...] = ()

    def __init__(self) -> None:
        """Begin without events."""
        self.moments: dict[str, float] = {}
        self.horizons: dict[str, float] = {}
        self.flags: dict[str, bool] = {}

    def see(self, event: StopEvent) -> str:
        """Take an event; return the evidence of a broken promise, '' without one."""
        raise NotImplementedError

    def state(self, now: float) -> tuple[tuple[float, ...], tuple[bool, ...]]:
        """Return the ages, up to the horizons, and the flags."""
        most = self.horizons
        return (tuple([max(-AHEAD, min(now - moment, most[name]))
                       for name, moment in self.moments.items()]), tuple(self.flags.values()))

    def restore(self, state: tuple[tuple[float, ...], tuple[bool, ...]], now: float) -> None:
        """Become what `state` describes, at `now`."""
        for name, age in zip(self.moments, state[0], strict=True):
            self.moments[name] = now - age
        for name, flag in zip(self.flags, state[1], strict=True):
            self.flags[name] = flag


class LockMemory(Promise):
    """
    State of one lock by its messages; the promises of locks read it, and it comes before them.

    `masks` are the sources that it masks; '' is a command whose source is not known.
    """

    needs = (LOCK,)

    def __init__(self, lock: Lock, masks: Sequence[str]) -> None:
        """Begin with an unknown state."""
        super().__init__()
        self.lock = lock
        self.masks = frozenset(masks)
        self.moments = {'secured': -math.inf, 'heard': -math.inf}
        self.horizons = {'secured': COPY_DELAY,
                         'heard': lock.timeout + BEYOND if lock.timeout else 0.0}
        self.flags = {'pressed': False, 'unknown': lock.timeout == 0.0, 'unheard': False}
        # when it was pressed, and when its state was lost, for the evidence
        self.since = -math.inf
        self.lost = -math.inf

    def see(self, event: StopEvent) -> str:
        """Take a message of the lock; it breaks no promise."""
        flags = self.flags
        if event.name == self.lock.name and event.kind == LOCK:
            self._heard(event)
        elif event.name == self.lock.name and event.kind == UNHEARD:
            flags['unheard'] = bool(event.value)
            flags['unknown'] |= flags['unheard']
            self.lost = event.at
        elif event.kind == RELEASE:
            flags['unknown'] &= flags['unheard']
        elif event.kind == START:
            flags['unheard'] = flags['pressed'] = False
            flags['unknown'] = self.lock.timeout == 0.0
            self.lost = event.at
            self.moments = dict.fromkeys(self.moments, -math.inf)
        elif event.kind == BACK:
            # of a lock with a timeout only the next message opens
            self.moments['heard'] = -math.inf
        return ''

    def _heard(self, event: StopEvent) -> None:
        """Take a message of the lock."""
        moments = self.moments
        if event.value:
            if not self.flags['pressed']:
                self.since = event.at
            if event.sure:
                moments['secured'] = event.at
        elif not event.sure and 0.0 <= event.at - moments['secured'] < COPY_DELAY:
            # perhaps the late copy of a message before the press
            return
        self.flags['pressed'] = bool(event.value)
        self.flags['unknown'] = False
        moments['heard'] = event.at

    def moved(self, event: StopEvent) -> bool:
        """Return whether `event` is a motion command that this lock should mask."""
        return event.kind == PASSED and bool(event.value) and event.name in self.masks

    def expired(self, now: float) -> bool:
        """Return whether a lock with a timeout has been silent for longer."""
        return 0.0 < self.lock.timeout < now - self.moments['heard']

    def closed(self, now: float) -> bool:
        """Return whether it should be closed, for any reason."""
        return any(self.flags.values()) or self.expired(now)


class LockPromise(Promise):
    """A promise that reads a `watch`; a command may pass for `grace`, s, after its lock closed."""

    def __init__(self, watch: LockMemory, grace: float = 0.0) -> None:
        """Remember nothing: the watch does."""
        super().__init__()
        self.watch = watch
        self.grace = grace


class LockStops(LockPromise):
    """No motion command passes a lock that was pressed."""

    identity = 'lock-stops'
    text = 'a lock stops the active source'
    needs = (LOCK, PASSED)

    def see(self, event: StopEvent) -> str:
        """Take an event; return the evidence of a broken promise."""
        watch = self.watch
        if (watch.flags['pressed'] and watch.moved(event)
                and (not self.grace or event.at - watch.since > self.grace)):
            return (f'a command of {event.value:.3g} passed although {watch.lock.name} was '
                    'pressed')
        return ''


class UnknownCloses(LockPromise):
    """No motion command passes before a lock is received, or while it has an unheard publisher."""

    identity = 'unknown-closes'
    text = 'a lock with unknown state is closed'
    needs = (LOCK, PASSED, START)

    def see(self, event: StopEvent) -> str:
        """Take an event; return the evidence of a broken promise."""
        flags = self.watch.flags
        if ((flags['unknown'] or flags['unheard']) and self.watch.moved(event)
                and (not self.grace or event.at - self.watch.lost > self.grace)):
            return (f'a command of {event.value:.3g} passed while {self.watch.lock.name} was '
                    'unknown')
        return ''


class SilenceCloses(LockPromise):
    """No motion command passes a lock with a timeout that is not received in time."""

    identity = 'silence-closes'
    text = 'a lock with a timeout closes when its publisher terminates'
    needs = (LOCK, PASSED)

    def see(self, event: StopEvent) -> str:
        """Take an event; return the evidence of a broken promise."""
        if self.watch.expired(event.at - self.grace) and self.watch.moved(event):
            return (f'a command of {event.value:.3g} passed although {self.watch.lock.name} was '
                    'not received in time')
        return ''


class NoResume(Promise):
    """After a lock or a higher source a source moves only after a zero or silence of its own."""

    identity = 'no-resume'
    text = ('no source resumes automatically after a lock, or after a source of higher priority')
    needs = (COMMAND, PASSED, LOCK, START)

    def __init__(self, source: Input, above: Sequence[str], locks: Sequence[LockMemory],
                 grace: float = 0.0) -> None:
        """
        Watch `source`, below the sources `above`, masked by `locks` that it reads.

        With a `grace`, s, a zero so long before a lock opens may have come after it, and what
        passes while a lock is closed is left to the promises of the lock.
        """
        super().__init__()
        self.source = source
        self.grace = grace
        self.rested = -math.inf
        self.above = frozenset(above)
        self.locks = [lock for lock in locks if source.name in lock.masks]
        self.horizons = {'restless': source.timeout + BEYOND}
        # begin of the present silence
        self.moments = {'restless': 0.0}
        # released by a zero or silence; the last command was a zero
        self.flags = {'released': False, 'zero': False}

    def masked(self, now: float) -> bool:
        """Return whether a lock is closed for any reason."""
        return any(lock.closed(now) for lock in self.locks)

    def see(self, event: StopEvent) -> str:
        """Take an event, after the locks have; return the evidence of a broken promise."""
        flags = self.flags
        now = event.at
        if event.kind in (START, BACK) or self.masked(now):
            flags['released'] = flags['zero'] = False
            self.moments['restless'] = now
        elif (now - self.moments['restless'] > self.source.timeout
              or now - self.rested < self.grace):
            flags['released'] = True
        if event.kind == COMMAND and event.name == self.source.name:
            flags['zero'] = not event.value
            self.rested = -math.inf if event.value else now
            if event.value:
                self.moments['restless'] = now
            elif not self.masked(now):
                flags['released'] = True
        elif event.kind == PASSED and event.name in self.above and not flags['zero']:
            flags['released'] = False
        elif (event.kind == PASSED and event.value and event.name == self.source.name
                and not flags['released'] and not (self.grace and self.masked(now))):
            return f'{self.source.name} moves the robot without a zero or silence before'
        return ''
