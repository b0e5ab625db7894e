# SPDX-License-Identifier: Apache-2.0
"""Reason for a missed goal, in one line, from the locks and results that the nodes publish."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

REACHED = 'reached'


class DriveStory:
    """
    Locks and end of a goal, with their robot times.

    Attributes
    ----------
    ended : str
        Reason of the position controller for the end of the goal; empty while driving or reached.

    Examples
    --------
    >>> story = DriveStory()
    >>> story.goal(10.0)
    >>> story.lock(12.4, 'nothing to answer for 0.25 s')
    >>> story.end(24.0, 'no progress', 'no progress: no progress for 10.0 s (progress_timeout)')
    >>> story.missed({'overruns': 935}, 60.0, 3.1)
    'no progress for 10.0 s (progress_timeout), 14.0 s after the goal, 3.100 m away; \
locked after 2.4 s: nothing to answer for 0.25 s; 935 overruns'
    """

    def __init__(self) -> None:
        """Start without a goal."""
        self._forget()

    def _forget(self) -> None:
        self._begin, self._end, self.ended = 0.0, 0.0, ''
        self._locks: list[tuple[float, str]] = []

    def goal(self, time: float) -> None:
        """Start with a goal sent at `time`, s."""
        self._forget()
        self._begin = time

    def lock(self, time: float, reason: str) -> None:
        """Record a lock of the velocity controller at `time`, s; empty: released."""
        if reason:
            self._locks.append((time - self._begin, reason))

    def end(self, time: float, reason: str, message: str) -> None:
        """Record the end of the goal at `time`, s, from ``~/result``."""
        if reason != REACHED:
            self._end, self.ended = time - self._begin, message.removeprefix(f'{reason}: ')

    def missed(self, metrics: Mapping[str, Any], timeout: float, distance: float | None) -> str:
        """
        Return the reason for the missed goal, in one line.

        `metrics` are those of the drive, `timeout`, s, is its limit, `distance`, m, what remains.
        """
        left = '' if distance is None else f', {distance:.3f} m away'
        parts = [f'{self.ended}, {self._end:.1f} s after the goal{left}' if self.ended else
                 f'not held within {timeout:g} s of robot time (--timeout){left}']
        if self._locks:
            time, reason = self._locks[0]
            often = f'locked {len(self._locks)} times, first' if len(self._locks) > 1 else 'locked'
            parts.append(f'{often} after {time:.1f} s: {reason}')
        if (overruns := metrics.get('overruns')) is not None:
            parts.append(f'{overruns} overruns')
        return '; '.join(parts)


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
