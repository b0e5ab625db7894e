# SPDX-License-Identifier: Apache-2.0
"""Reason for a missed goal, in one line, from the faults, locks and results of the nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from c3p_bringup.nodes import CHAIN, ROBOTS

REACHED = 'reached'

# nodes without which the robot does not move; a recorder may fail
MOVING = {*CHAIN, *(name for names in ROBOTS.values() for name in names)}

# errors after which a drive cannot reach its goal: motors remain off until `recover`, and the
# pose remains unknown
FINAL = re.compile(r'(motors|pose): ')

# between the conditions of a node in its text
BETWEEN = re.compile(r'; (?=[\w~/]+(?: refused| not published)?: )')

# any other error, and a lock, ends a drive after this time, s: the nodes continue after a pause
PERSISTS = 5.0


class DriveStory:
    """
    Faults, locks and end of a goal, with their robot times.

    Attributes
    ----------
    ended : str
        Reason of the position controller for the end of the goal; empty while driving or reached.
    fault : str
        Fault that ends the drive, set by `look`; empty without one.

    Examples
    --------
    >>> story = DriveStory()
    >>> story.goal(10.0)
    >>> story.lock(12.4, 'nothing to answer for 0.25 s')
    >>> story.end(24.0, 'no progress', 'no progress: no progress for 10.0 s (progress_timeout)')
    >>> story.missed({'overruns': 935}, 60.0, 3.1)
    'no progress for 10.0 s (progress_timeout), 14.0 s after the goal, 3.100 m away; \
locked after 2.4 s: nothing to answer for 0.25 s; 935 overruns'
    >>> story.error(12.5, 'hardware_interface', 'motors: drive 11 does not respond')
    >>> story.look(12.6)
    True
    >>> story.missed({'reached': False}, 60.0, 3.1)[:66]
    'hardware_interface: motors: drive 11 does not respond, 2.5 s after'
    """

    def __init__(self) -> None:
        """Start without a goal."""
        self._forget()

    def _forget(self) -> None:
        self._begin = 0.0
        self._end = 0.0
        self.ended = ''
        self._fault_time = 0.0
        self.fault = ''
        self._locks: list[tuple[float, str]] = []
        # begin of the present error of each node, and its text; the same of the lock
        self._errors: dict[str, tuple[float, str]] = {}
        self._locked: tuple[float, str] | None = None

    def goal(self, time: float) -> None:
        """Start with a goal sent at `time`, s."""
        self._forget()
        self._begin = time

    def lock(self, time: float, reason: str) -> None:
        """Record a lock of the velocity controller at `time`, s; empty: released."""
        if not reason:
            self._locked = None
            return
        self._locks.append((time - self._begin, reason))
        self._locked = self._locked or (time, reason)

    def error(self, time: float, node: str, text: str) -> None:
        """Record the error of a `node` at `time`, s, from its diagnostics; empty: recovered."""
        if node not in MOVING:
            return
        if not text:
            self._errors.pop(node, None)
            return
        since, before = self._errors.get(node, (time, cause_of(text)))
        # the first is the cause of others
        self._errors[node] = (since, cause_of(text) if FINAL.match(cause_of(text)) else before)

    def look(self, now: float) -> bool:
        """Return whether a fault ends the drive at robot time `now`, s, which sets `fault`."""
        if self.fault:
            return True
        found = [(since, f'{node}: {text}') for node, (since, text) in self._errors.items()
                 if FINAL.match(text) or now - since >= PERSISTS]
        if self._locked is not None and now - self._locked[0] >= PERSISTS:
            found.append((self._locked[0], f'locked: {self._locked[1]}'))
        if found:
            since, self.fault = min(found)
            self._fault_time = since - self._begin
        return bool(found)

    def end(self, time: float, reason: str, message: str) -> None:
        """Record the end of the goal at `time`, s, from ``~/result``."""
        if reason != REACHED:
            self._end, self.ended = time - self._begin, message.removeprefix(f'{reason}: ')

    def missed(self, metrics: Mapping[str, Any], timeout: float, distance: float | None) -> str:
        """
        Return the reason for the missed goal, in one line; empty where it is reached.

        A drive that a fault has ended has not reached it. `metrics` are those of the drive,
        `timeout`, s, is its limit, `distance`, m, what remains.
        """
        left = '' if distance is None else f', {distance:.3f} m away'
        if self.fault:
            return f'{self.fault}, {self._fault_time:.1f} s after the goal{left}'
        if metrics.get('reached'):
            return ''
        parts = [f'{self.ended}, {self._end:.1f} s after the goal{left}' if self.ended else
                 f'not held within {timeout:g} s of robot time (--timeout){left}']
        if self._locks:
            time, reason = self._locks[0]
            often = f'locked {len(self._locks)} times, first' if len(self._locks) > 1 else 'locked'
            parts.append(f'{often} after {time:.1f} s: {reason}')
        if (overruns := metrics.get('overruns')) is not None:
            parts.append(f'{overruns} overruns')
        return '; '.join(parts)


def cause_of(text: str) -> str:
    """
    Return the condition of a node's error that ends a drive, else the first one.

    Examples
    --------
    >>> cause_of('joint_states: none for 0.3 s; motors: drive 11; call ~/recover; late: encoder 2')
    'motors: drive 11; call ~/recover'
    """
    conditions = BETWEEN.split(text)
    return next(filter(FINAL.match, conditions), conditions[0])


def distinct(texts: Iterable[str]) -> list[str]:
    """
    Return the distinct texts: of those that begin alike, the first.

    Texts begin alike if they differ only in numbers, up to the first semicolon.

    Examples
    --------
    >>> distinct(['no odom 0.21 s', 'no odom 0.44 s; no command', 'no torque'])
    ['no odom 0.21 s', 'no torque']
    """
    found: dict[str, str] = {}
    for text in texts:
        found.setdefault(re.sub(r'\d+(\.\d+)?', '#', text.split('; ')[0]), text)
    return [*found.values()]
