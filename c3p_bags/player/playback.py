# SPDX-License-Identifier: Apache-2.0
"""Selection and timing of played messages, without ROS."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from c3p_bags.storage.bag import RawMessage
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.stored_topics import LEAP

# topics that command a robot or enable it, by the last part of their names
MOVING = ('commands', 'dynamics_effort', 'e_stop', 'goal', 'goal_pose', 'goal_update',
          'initialpose', 'joint_commands', 'reference_acceleration', 'reference_trajectory',
          'set_pose', 'wheel_effort')
# or its begin: cmd_vel, cmd_vel_keyboard, …
VELOCITY = 'cmd_vel'

# topics of every node, played only if selected by name: a played event changes no parameter
PRIVATE = ('/parameter_events',)

CLOCK = '/clock'

# time without messages that is not waited for, ns
PAUSE = 60_000_000_000

# most counted messages: an hour of a robot, eight bytes each
MOST_COUNTED = 10_000_000


class Selection(NamedTuple):
    """Topics of a bag: played ones, and commands that are muted."""

    played: tuple[str, ...]
    muted: tuple[str, ...]


def commands(topic: str) -> bool:
    """
    Return True for a topic that commands a robot.

    Examples
    --------
    >>> commands('/robot_1/cmd_vel_keyboard'), commands('/odom')
    (True, False)
    """
    last = topic.rsplit('/', 1)[-1]
    return last in MOVING or last.startswith(VELOCITY)


def select(topics: Iterable[str], only: Collection[str] = (), with_commands: bool = False
           ) -> Selection:
    """
    Return the played and the muted topics of a bag.

    Parameters
    ----------
    topics : iterable of str
    only : collection of str
        Selected topics; empty selects all but those of every node.
    with_commands : bool
        Play commands, too.

    Raises
    ------
    BagError
        A selected topic is not in the bag.
    """
    topics = sorted(topics)
    if missing := sorted(set(only) - set(topics)):
        raise BagError(f'topics {missing}: not in the bag, which has {topics}')
    some = [t for t in topics if (t in only if only else t not in PRIVATE)]
    muted = () if with_commands else tuple(t for t in some if commands(t))
    return Selection(tuple(t for t in some if t not in muted), muted)


class PlaybackPace:
    """
    Mapping of recorded time to real time, with pauses; `rate` is recorded per real time.

    Examples
    --------
    >>> pace = PlaybackPace(10.0)
    >>> pace.begin(5_000_000_000, 100.0)
    >>> pace.due(6_000_000_000)
    100.1
    >>> pace.pause(100.05)
    >>> pace.resume(103.05)
    >>> round(pace.due(6_000_000_000), 9)
    103.1
    """

    def __init__(self, rate: float) -> None:
        """Begin at recorded time zero."""
        self._rate = rate
        self._bag = 0
        self._real = 0.0
        self._paused: float | None = None

    @property
    def paused(self) -> bool:
        """Return True during a pause."""
        return self._paused is not None

    def begin(self, time: int, now: float) -> None:
        """Set recorded `time` [ns] to `now` [s]; a pause continues."""
        self._bag = time
        self._real = now
        if self._paused is not None:
            self._paused = now

    def due(self, time: int) -> float:
        """Return the real time of recorded `time` [ns], s, without further pauses."""
        return self._real + (time - self._bag) * 1e-9 / self._rate

    def pause(self, now: float) -> None:
        """Pause at `now` [s]."""
        if self._paused is None:
            self._paused = now

    def resume(self, now: float) -> None:
        """Resume at `now` [s]; all due times shift by the pause."""
        if self._paused is not None:
            self._real += now - self._paused
            self._paused = None


class PlaybackWindow(NamedTuple):
    """Part of a recording: from `offset` [s] after its first message, for `duration` [s]."""

    offset: float = 0.0
    duration: float = 0.0

    def cut(self, messages: Iterable[RawMessage], latched: Collection[str]
            ) -> Iterator[RawMessage]:
        """
        Yield the messages of the window.

        Earlier latched messages come first, at the time of the begin: fixed frames and
        descriptions are recorded once. A duration of zero has no end.
        """
        first = None
        before = []
        for message in messages:
            first = message.time if first is None else first
            begin = first + int(1e9 * self.offset)
            if message.time < begin:
                if message.topic in latched:
                    before.append(message._replace(time=begin))
                continue
            if self.duration and message.time > begin + int(1e9 * self.duration):
                break
            yield from before
            before = []
            yield message


class LeapFree:
    """
    Recorded messages without leaps of the clock that was set, and without long pauses.

    Attributes
    ----------
    shift : int, ns
        Recorded time of the newest message minus the time under which it is played.
    leaps : list of int, ns
        Those of the longest pass up to now, in their order.

    Examples
    --------
    >>> free = LeapFree()
    >>> some = [RawMessage('/a', time * 10**9, b'') for time in (0, 1, 5000, 5001, 3, 4)]
    >>> [message.time // 10**9 for message in free.play(some)], free.shift // 10**9
    ([0, 1, 1, 2, 2, 3], 1)
    """

    def __init__(self) -> None:
        """Begin without a shift."""
        self.shift = 0
        self.leaps: list[int] = []

    def play(self, messages: Iterable[RawMessage]) -> Iterator[RawMessage]:
        """Yield the messages with even times."""
        self.shift = 0
        last = None
        count = 0
        for message in messages:
            if last is not None and not -LEAP < message.time - last < PAUSE:
                # what is after the leap follows at once
                self.shift += message.time - last
                count += 1
                if count > len(self.leaps):
                    self.leaps.append(message.time - last)
            last = message.time
            yield message._replace(time=message.time - self.shift) if self.shift else message


def with_clock(messages: Iterable[RawMessage], rate: float) -> Iterator[RawMessage]:
    """
    Yield the messages with ticks of a clock at `rate` [Hz] of recorded time; 0 for no clock.

    A tick has the topic ``/clock`` and no bytes; the first precedes the first message.
    """
    period = int(1e9 / rate) if rate else 0
    tick = None
    for message in messages:
        if period:
            tick = message.time if tick is None else tick
            while tick <= message.time:
                yield RawMessage(CLOCK, tick, b'')
                tick += period
        yield message


class Lateness:
    """Delays of messages beyond their due times, s."""

    def __init__(self) -> None:
        """Start without messages."""
        self._late = array('d')

    def add(self, late: float) -> None:
        """Count one message, up to `MOST_COUNTED`."""
        if len(self._late) < MOST_COUNTED:
            self._late.append(late)

    def quantiles(self) -> Mapping[str, float]:
        """Return median, 99th percentile and largest, s; nothing without messages."""
        if not self._late:
            return {}
        values = np.frombuffer(self._late)
        return {'p50': float(np.percentile(values, 50)), 'p99': float(np.percentile(values, 99)),
                'max': float(values.max())}
