# SPDX-License-Identifier: Apache-2.0
"""What of a bag is played and when; the node adds topics and a clock."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.messages import RawMessage

# what moves a robot, or sets it free to move: the last part of a topic's name
MOVING = ('commands', 'dynamics_effort', 'e_stop', 'goal', 'goal_pose', 'goal_update',
          'initialpose', 'joint_commands', 'reference_acceleration', 'reference_trajectory',
          'set_pose', 'wheel_effort')
# and what it begins with: cmd_vel, cmd_vel_keyboard, …
VELOCITY = 'cmd_vel'

# topics of every node, played only when they are asked for by name: parameters have not changed
# because a bag says so
PRIVATE = ('/parameter_events',)

CLOCK = '/clock'

# an hour of a robot; eight bytes each
MOST_COUNTED = 10_000_000


class Selection(NamedTuple):
    """Topics of a bag: those that are played, and those that are muted because they command."""

    played: tuple[str, ...]
    muted: tuple[str, ...]


def commands(topic: str) -> bool:
    """
    Return whether a robot that hears `topic` may move.

    Examples
    --------
    >>> commands('/robot_1/cmd_vel_keyboard'), commands('/odom')
    (True, False)
    """
    last = topic.rsplit('/', 1)[-1]
    return last in MOVING or last.startswith(VELOCITY)


def select(topics: Iterable[str], wanted: Collection[str] = (), with_commands: bool = False
           ) -> Selection:
    """
    Return what is played of the topics of a bag.

    Parameters
    ----------
    topics : iterable of str
    wanted : collection of str
        Only these; empty means all but what every node has for itself.
    with_commands : bool
        Whether what moves a robot is played, too.

    Raises
    ------
    BagError
        A wanted topic is not in the bag.
    """
    topics = sorted(topics)
    if missing := sorted(set(wanted) - set(topics)):
        raise BagError(f'topics {missing}: not in the bag, which has {topics}')
    some = [t for t in topics if (t in wanted if wanted else t not in PRIVATE)]
    muted = () if with_commands else tuple(t for t in some if commands(t))
    return Selection(tuple(t for t in some if t not in muted), muted)


class Pace:
    """
    When a moment of the recording is due.

    Parameters
    ----------
    rate : float
        Recorded time per real time.

    Examples
    --------
    >>> pace = Pace(10.0)
    >>> pace.begin(5_000_000_000, 100.0)
    >>> pace.due(6_000_000_000)
    100.1
    >>> pace.pause(100.05)
    >>> pace.resume(103.05)
    >>> round(pace.due(6_000_000_000), 9)
    103.1
    """

    def __init__(self, rate: float) -> None:
        """Begin with nothing due."""
        self._rate = rate
        self._bag, self._real, self._paused = 0, 0.0, None

    @property
    def paused(self) -> bool:
        """Whether time stands still."""
        return self._paused is not None

    def begin(self, time: int, now: float) -> None:
        """Let recorded `time` [ns] be `now` [s]; a pause goes on."""
        self._bag, self._real = time, now
        if self._paused is not None:
            self._paused = now

    def due(self, time: int) -> float:
        """Return when recorded `time` [ns] is, s, as long as there is no pause."""
        return self._real + (time - self._bag) * 1e-9 / self._rate

    def pause(self, now: float) -> None:
        """Stand still from `now` [s] on."""
        if self._paused is None:
            self._paused = now

    def resume(self, now: float) -> None:
        """Go on at `now` [s]; what was due in between is due that much later."""
        if self._paused is not None:
            self._real += now - self._paused
            self._paused = None


class Window(NamedTuple):
    """Part of a recording: from `offset` [s] after its first message, for `duration` [s]."""

    offset: float = 0.0
    duration: float = 0.0

    def cut(self, messages: Iterable[RawMessage], latched: Collection[str]
            ) -> Iterator[RawMessage]:
        """
        Yield the messages of the window.

        What is latched from before its beginning comes first, at the time of the beginning:
        fixed frames and descriptions are recorded once. A duration of zero has no end.
        """
        first, before = None, []
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


def with_clock(messages: Iterable[RawMessage], rate: float) -> Iterator[RawMessage]:
    """
    Yield the messages, and between them the times at which a clock is to tick.

    Parameters
    ----------
    messages : iterable of RawMessage
    rate : float, Hz
        Of recorded time; 0 for no clock.

    Yields
    ------
    RawMessage
        A tick has the topic ``/clock`` and no bytes; the first comes before the first message.
    """
    period, tick = (int(1e9 / rate) if rate else 0), None
    for message in messages:
        if period:
            tick = message.time if tick is None else tick
            while tick <= message.time:
                yield RawMessage(CLOCK, tick, b'')
                tick += period
        yield message


class Lateness:
    """How much later than due messages went out, s."""

    def __init__(self) -> None:
        """Start without any."""
        self._late = array('d')

    def add(self, late: float) -> None:
        """Count one message; what a loop plays for hours is not counted any more."""
        if len(self._late) < MOST_COUNTED:
            self._late.append(late)

    def quantiles(self) -> Mapping[str, float]:
        """Return median, 99th percentile and largest, s; nothing without messages."""
        if not self._late:
            return {}
        values = np.frombuffer(self._late)
        return {'p50': float(np.percentile(values, 50)), 'p99': float(np.percentile(values, 99)),
                'max': float(values.max())}
