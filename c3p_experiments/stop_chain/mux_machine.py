# SPDX-License-Identifier: Apache-2.0
"""The mux and its locks as a machine: commands, silence, locks, restarts, steps of the clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from c3p_controller import stop_promises as seen
from c3p_controller.command_lock import CLOSED, LATCHED, Lock
from c3p_controller.stop_promises import Promise, StopEvent
from c3p_controller.twist_mux import Input, TwistMux

# the grid of time, s: exact in binary
TICK = 0.25
# older moments make no difference, and those further in the future are brought this near, ticks
OLDEST = 3
AHEAD = -2

HIGH = Input('joystick', 'cmd_vel_joystick', 0.5, 100)
LOW = Input('navigation', 'cmd_vel_navigation', 0.5, 10)
STOP = Lock('e_stop', 'e_stop', 0.0, 255)
PAUSE = Lock('pause', 'pause', 0.5, 50)

COMMANDS = tuple(f'{source.name} {what}' for source in (HIGH, LOW) for what in ('zero', 'moves'))
LOCKS = ('e_stop pressed', 'e_stop released', 'e_stop pressed, best effort',
         'e_stop released, best effort', 'e_stop pressed, latched', 'e_stop released, latched',
         'e_stop has an unheard publisher', 'e_stop has no unheard publisher', '~/release')
PAUSES = ('pause closed', 'pause open', 'pause closed, latched', 'pause open, latched')
TIMES = ('time passes', 'a long time passes', 'time goes back a little', 'time goes back',
         'mux restarts')


class MuxMachine:
    """
    Two sources, an e-stop without and a pause with a timeout, which masks the lower source.

    Parameters
    ----------
    start : str
        Of the e-stop, CLOSED or LATCHED.
    start_silence : float, s
    """

    events = (*COMMANDS, *LOCKS, *PAUSES, *TIMES)

    def __init__(self, start: str = CLOSED, start_silence: float = 0.5) -> None:
        """Start the mux at 0 s."""
        self.stop = STOP._replace(start=start)
        self.start_silence = start_silence
        self.now = 0.0
        self.begin()

    def begin(self) -> Sequence[StopEvent]:
        """Start the mux anew; its parts are kept at hand, to be restored fast."""
        self.mux = TwistMux((HIGH, LOW), (self.stop, PAUSE), self.now,
                            start_silence=self.start_silence)
        self._sources = list(self.mux._sources.values())
        self._locks = list(self.mux._locks.values())
        return (StopEvent(seen.START, self.now, 'mux'),)

    def state(self) -> tuple[Any, ...]:
        """Return what the mux remembers, in ticks before now."""
        mux = self.mux
        now = self.now
        mover = -1 if mux._moves is None else self._sources.index(mux._moves)
        parts: list[Any] = [mover, min(_ticks(now - mux._opens), 0)]
        for source in self._sources:
            received = _ticks(now - source.received)
            restless = _ticks(now - source.restless)
            # of two old moments their order counts
            if received == restless == OLDEST and source.received > source.restless:
                restless += 1
            parts += (received, restless, source.armed)
        for lock in self._locks:
            # the first message is another one than a very old one
            first = lock.received == -math.inf
            received = _ticks(now - lock.received) if lock.given.timeout else 0
            # a copy is doubted for less than a tick
            parts += (first, received, min(_ticks(now - lock._secured), 1), lock.pressed,
                      lock.unheard, lock.unknown)
        return tuple(parts)

    def restore(self, state: tuple[Any, ...]) -> None:
        """Let the mux remember `state`, at 0 s."""
        mux = self.mux
        self.now = mux._newest = 0.0
        mover = state[0]
        mux._moves = None if mover < 0 else self._sources[mover]
        mux._opens = -TICK * state[1]
        place = 2
        for source in self._sources:
            source.received = -TICK * state[place]
            source.restless = -TICK * state[place + 1]
            source.armed = state[place + 2]
            place += 3
        for lock in self._locks:
            lock.received = -math.inf if state[place] else -TICK * state[place + 1]
            lock._secured = -TICK * state[place + 2]
            lock.pressed = state[place + 3]
            lock.unheard = state[place + 4]
            lock.unknown = state[place + 5]
            place += 6

    def step(self, event: str) -> Sequence[StopEvent]:
        """Let `event` happen."""
        if event in COMMANDS:
            return self._command(*event.split(' '))
        if event in TIMES:
            return self._time(event)
        return self._lock(event)

    def _command(self, name: str, what: str) -> Sequence[StopEvent]:
        size = float(what == 'moves')
        found = [StopEvent(seen.COMMAND, self.now, name, size)]
        if self.mux.command(name, what == 'zero', self.now):
            found.append(StopEvent(seen.PASSED, self.now, name, size))
        return found

    def _time(self, event: str) -> Sequence[StopEvent]:
        if event == 'mux restarts':
            return self.begin()
        self.now += {'time passes': TICK, 'a long time passes': 2 * OLDEST * TICK,
                     'time goes back a little': -TICK, 'time goes back': -100.0}[event]
        back = event.startswith('time goes back')
        self.mux.look(self.now)
        return (StopEvent(seen.BACK if back else 'look', self.now),)

    def _lock(self, event: str) -> Sequence[StopEvent]:
        name, _, what = event.partition(' ')
        if event == '~/release':
            self.mux.release(self.now)
            return (StopEvent(seen.RELEASE, self.now),)
        if 'unheard' in event:
            unheard = 'has an' in event
            self.mux.set_unheard(name, unheard, self.now)
            return (StopEvent(seen.UNHEARD, self.now, name, float(unheard)),)
        pressed = what.startswith(('pressed', 'closed'))
        latched = what.endswith('latched')
        best_effort = what.endswith('best effort')
        first = self._locks[0].received == -math.inf
        self.mux.lock(name, pressed, self.now, kept=latched, best_effort=best_effort)
        counts = pressed or (first and self.stop.start == LATCHED)
        if latched and (name == PAUSE.name or not counts):
            # opens nothing; a latched true of a lock with a timeout is not a fresh message
            return (StopEvent('look', self.now),)
        return (StopEvent(seen.LOCK, self.now, name, float(pressed), not best_effort),)


def _ticks(age: float) -> int:
    """Return an age on the grid, within what makes a difference."""
    return round(min(max(age / TICK, AHEAD), OLDEST))


def mux_promises() -> list[Promise]:
    """Return the promises of the mux, after the watches of the locks, which they read."""
    stop = seen.LockMemory(STOP, ('', HIGH.name, LOW.name))
    pause = seen.LockMemory(PAUSE, (LOW.name,))
    locks = (stop, pause)
    return [*locks, seen.LockStops(stop), seen.UnknownCloses(stop), seen.LockStops(pause),
            seen.SilenceCloses(pause), seen.NoResume(HIGH, (), locks),
            seen.NoResume(LOW, (HIGH.name,), locks)]
