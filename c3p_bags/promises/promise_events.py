# SPDX-License-Identifier: Apache-2.0
"""
Events for the promises, from columns of messages of a bag or of a running robot.

The times of commands and locks are those of their arrival: their stamps may be of another
computer. Messages of several topics may arrive in another order than they were sent in, which the
margins of the judge allow for.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from c3p_controller.stop_promises import (
    COMMAND,
    LOCK,
    MOTOR,
    PASSED,
    SPEED,
    TORQUE,
    StopEvent,
)
from c3p_description.model import Array, CasterRobot

# the mux states that it masks all sources, or no longer does
MASKED = 'masked'

# of equal times: causes before effects
ORDER = {kind: place for place, kind in enumerate(
    (MOTOR, SPEED, LOCK, MASKED, COMMAND, PASSED, TORQUE))}

# smaller torques, in limits, and rates, rad/s, are noise
TORQUE_NOISE = 0.1
RATE_NOISE = 0.5

# the mux passes a command within this time, s; and the order of arrival may be the opposite
PASSES = 0.5
REVERSED = 0.1


class ObservedTopic(NamedTuple):
    """
    Messages of one topic.

    Attributes
    ----------
    kind : str
        Of the events.
    time, value : (k,) arrays
    name : str
        Source or lock.
    """

    kind: str
    time: Array
    value: Array
    name: str = ''


def torque_fractions(torque: Array, robot: CasterRobot) -> Array:
    """Return the largest commanded torque (k,) of torques (k, m), as a fraction of its limit."""
    limit = robot.effort_limit[:torque.shape[1]]
    return np.abs(torque / np.where(limit > 0.0, limit, np.inf)).max(axis=1)


def driving_fractions(wheel_rate: Array, torque: Array, robot: CasterRobot) -> Array:
    """Return the largest torque (k,) that drives a wheel, as a fraction of its limit."""
    torque = torque[:, :robot.count]
    limit = robot.effort_limit[:robot.count]
    share = np.sign(wheel_rate) * torque / np.where(limit > 0.0, limit, np.inf)
    drives = (np.abs(wheel_rate) > RATE_NOISE) & (share > TORQUE_NOISE)
    return np.minimum(np.where(drives, share, 0.0).max(axis=1), 1.0)


def rim_speeds(wheel_rate: Array, robot: CasterRobot) -> Array:
    """
    Return the median speed (k,) of the rims, m/s, as the speed of the robot.

    It takes no odometry, and one wheel that spins or stands does not change it. On the spot the
    robot has the speed of its wheels.
    """
    return np.median(np.abs(wheel_rate) * robot.wheel_radius, axis=1)


def thinned(time: Array, keep: Array, period: float, gap: float) -> Array:
    """
    Return which events (k,) at `time`, s, are enough for a promise.

    Those to `keep` (k,), those before a pause longer than `gap`, s, and of all others one in each
    `period`, s.

    Examples
    --------
    >>> import numpy as np
    >>> thinned(np.array([0.0, 0.01, 0.02, 0.06, 0.07, 0.2]), np.zeros(6, bool), 0.05, 0.1
    ...         ).tolist()
    [True, False, False, True, True, True]
    """
    if not len(time):
        return keep
    first = np.floor(time / period)
    chosen = keep | np.append(True, first[1:] != first[:-1])
    # the next message may be in another batch
    return chosen | np.append(np.diff(time) > gap, True)


def speeds(twist: Array) -> Array:
    """Return the speeds (k,) of twists (k, 3), m/s."""
    return np.hypot(twist[:, 0], twist[:, 1])


def sizes(twist: Array) -> Array:
    """Return the largest component (k,) of twists (k, 3): zero for a command of zero only."""
    return np.abs(twist).max(axis=1)


class CommandMatch:
    """
    Finds the source of a command that a mux has passed unchanged, by its stamp and twist.

    Examples
    --------
    >>> match = CommandMatch()
    >>> match.add('joystick', 1.0, (7, 0.1, 0.0, 0.0))
    >>> match.source(1.01, (7, 0.1, 0.0, 0.0)), match.source(1.01, (8, 0.1, 0.0, 0.0))
    (('joystick', 1.01), ('', 1.01))
    """

    def __init__(self) -> None:
        """Start without commands."""
        self._known: defaultdict[Hashable, list[tuple[float, str]]] = defaultdict(list)

    def add(self, name: str, time: float, key: Hashable) -> None:
        """Take a command of the source `name`, received at `time`, s."""
        insort(self._known[key], (time, name))

    def source(self, time: float, key: Hashable) -> tuple[str, float]:
        """
        Return the source of a command that was passed, and its time behind that source's, s.

        The source is '' where none, or more than one, has sent it.
        """
        known = self._known.get(key, [])
        near = known[bisect_left(known, (time - PASSES, '')):
                     bisect_left(known, (time + REVERSED, ''))]
        names = {name for _, name in near}
        if len(names) != 1:
            return '', time
        # the newest before it, else the first after it
        before = [at for at, _ in near if at <= time]
        return names.pop(), max(time, before[-1] if before else near[0][0])

    def forget(self, before: float) -> None:
        """Drop the commands received before a time, s."""
        for key, known in list(self._known.items()):
            kept = known[bisect_left(known, (before, '')):]
            if kept:
                self._known[key] = kept
            else:
                del self._known[key]


Key = tuple[float, ...]


def keys(stamp: Array, twist: Array) -> list[Key]:
    """Return what identifies each command: its stamp and twist, of (k,) and (k, 3)."""
    return [tuple(row) for row in np.column_stack([stamp, twist]).tolist()]


def passed_event(time: float, key: Key, match: CommandMatch) -> StopEvent:
    """Return the event of a command of ``cmd_vel``, received at `time`, s, with its source."""
    size = max(map(abs, key[1:]))
    name, at = match.source(time, key) if size else ('', time)
    return StopEvent(PASSED, at, name, size)


def plain_events(parts: Iterable[ObservedTopic]) -> Iterator[StopEvent]:
    """Yield the events of messages with one value each; only torques may be nan."""
    for part in parts:
        for at, value in zip(part.time.tolist(), part.value.tolist(), strict=True):
            if part.kind == TORQUE or value == value:
                yield StopEvent(part.kind, at, part.name, value)


def in_order(events: Iterable[StopEvent]) -> Sequence[StopEvent]:
    """Return events by time; of equal times causes before effects."""
    return sorted(events, key=lambda event: (event.at, ORDER[event.kind]))
