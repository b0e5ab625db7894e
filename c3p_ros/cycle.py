# SPDX-License-Identifier: Apache-2.0
"""Timing of a control chain: stamps, steps, joined cycles, watchdogs of inputs, durations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from c3p_ros.cdr import MessageError

# a larger step back of the stamps, s, is a restart: a bag that loops, a simulation that was reset,
# a system clock that was set. No network delays a message for as long as the watchdogs wait
RESTART = 0.2

# cycles that may be under way at once; older ones are given up
DEPTH = 16

# for how long a step that was too long stays a warning, in the loop's time, s
SHOWN = 5.0

# bins grow by two per cent from a microsecond to a hundred seconds
SMALLEST = 1e-6
GROWTH = 1.02
BINS = 931


class RepeatedStamp(MessageError):
    """A message with the stamp of the one before; simulators publish them (docs/gazebo.md)."""


class CycleClock:
    """
    Time steps between the stamps of a stream, which must increase.

    Attributes
    ----------
    restarted : bool
        The last accepted stamp began a new time line.
    """

    def __init__(self) -> None:
        """Start without a stamp."""
        self._last: int | None = None
        self.restarted = False

    def accept(self, stamp_ns: int) -> float | None:
        """
        Return the step from the stamp before, s; None for the first of a time line.

        Raises
        ------
        MessageError
            A stamp that goes back a little: out of order.
        RepeatedStamp
            The stamp of the message before.
        """
        last = self._last
        self.restarted = False
        if last is None:
            self._last = stamp_ns
            return None
        step = (stamp_ns - last) * 1e-9
        if step < -RESTART:
            self._last = stamp_ns
            self.restarted = True
            return None
        if stamp_ns == last:
            raise RepeatedStamp('the same stamp again: it must advance with every message')
        if step < 0.0:
            raise MessageError(f'out of order: {-step:.4f} s before the one already used')
        self._last = stamp_ns
        return step


class StampJoin:
    """
    Collects one value per part and stamp; a cycle is complete once, when its last part arrives.

    Every message that one ``joint_states`` message causes carries that message's stamp, and
    between processes they may arrive in any order.

    Parameters
    ----------
    *parts : str

    Examples
    --------
    >>> join = StampJoin('joints', 'odom')
    >>> join.put('odom', 7, 'o') is None
    True
    >>> join.put('joints', 7, 'j')
    ('j', 'o')
    """

    def __init__(self, *parts: str) -> None:
        """Start empty."""
        self._parts = parts
        self._waiting: dict[int, dict[str, Any]] = {}
        self._done = -1

    def put(self, part: str, stamp: int, value: Any) -> tuple[Any, ...] | None:
        """Add a value; return all parts in order when the cycle is complete, else None."""
        if stamp <= self._done:
            if (self._done - stamp) * 1e-9 <= RESTART:
                return None
            # time was set back, or a stamp far ahead was accepted: a new time line
            self.clear()
        cycle = self._waiting.setdefault(stamp, {})
        cycle[part] = value
        if len(cycle) < len(self._parts):
            # the one that waits longest, whatever its stamp: one far ahead would stay for ever
            if len(self._waiting) > DEPTH:
                del self._waiting[next(iter(self._waiting))]
            return None
        # a newer cycle makes the older ones useless
        self._done = stamp
        for old in sorted(self._waiting):
            if old <= stamp:
                del self._waiting[old]
        return tuple(map(cycle.__getitem__, self._parts))

    def clear(self) -> None:
        """Forget everything, also which stamps are past."""
        self._waiting.clear()
        self._done = -1


class Lifeline:
    """
    Watchdog of one input.

    Parameters
    ----------
    timeout : float, s

    Attributes
    ----------
    received : float
        Time of the last message, s; -inf before the first.
    """

    def __init__(self, timeout: float) -> None:
        """Start before the first message."""
        self.timeout = timeout
        self.received = -math.inf

    def beat(self, now: float) -> None:
        """Register a message."""
        self.received = now

    def age(self, now: float) -> float:
        """Return the seconds since the last message, inf before the first."""
        return now - self.received

    def lost(self, now: float) -> bool:
        """Return whether messages came once, and none for longer than the timeout."""
        return self.received > -math.inf and self.age(now) > self.timeout


class Lifelines:
    """
    Watchdogs of the inputs of a chain, all of which answer the first.

    Parameters
    ----------
    *parts : str
        The others answer the first: after a pause of all of them, only the first is lost.
    timeout : float, s

    Attributes
    ----------
    timeout : float, s
        Silence after which a part is lost.
    lack : str
        Missing condition for the use of the first part; empty when it may be used.
    doubt : str
        Reason for which the others must not be used; empty when they may be.

    Examples
    --------
    >>> chain = Lifelines('joint_states', 'odom', timeout=0.2)
    >>> chain.beat('joint_states', 1.0), chain.beat('odom', 1.0), chain.beat('joint_states', 1.3)
    (None, None, None)
    >>> chain.lost(1.3), chain.lost(1.6)
    (['odom'], ['joint_states'])
    """

    def __init__(self, *parts: str, timeout: float) -> None:
        """Start before the first messages."""
        # times of the last messages, s
        self._received = dict.fromkeys(parts, -math.inf)
        self._first = parts[0]
        self.timeout = timeout
        self.lack = ''
        self.doubt = ''

    def set_timeout(self, timeout: float) -> None:
        """Set the timeout, s."""
        self.timeout = timeout

    def surplus(self, reason: str) -> None:
        """Set the reason of a second publisher of the first part; empty clears it."""
        self.lack = f'single publisher of {self._first}' if reason else ''

    def beat(self, part: str, now: float) -> None:
        """Register a message of `part`."""
        self._received[part] = now

    def lost(self, now: float) -> list[str]:
        """Return the lack and the parts that timed out; not those that never came."""
        found = [self.lack] if self.lack else []
        if self.doubt:
            found.append('trusted odometry')
        first = self._received[self._first]
        if first > -math.inf and now - first > self.timeout:
            return [*found, self._first]
        for part, received in self._received.items():
            if received > -math.inf and first - received > self.timeout:
                found.append(part)
        return found

    def ages(self, now: float) -> str:
        """Return a text with the lost parts and the seconds since their last message."""
        return ', '.join(f'{part} {now - self._received[part]:.2f} s'
                         if part in self._received else
                         'see publishers' if part == self.lack else 'see odometry'
                         for part in self.lost(now))


class LatencyHistogram:
    """
    Histogram of latencies in bins of two per cent; the largest is kept exactly.

    Examples
    --------
    >>> latency = LatencyHistogram()
    >>> for k in range(1, 101):
    ...     latency.add(k * 1e-5)
    >>> abs(latency.quantile(0.5) / 5e-4 - 1) < 0.02, round(latency.largest, 9), latency.count
    (True, 0.001, 100)
    """

    def __init__(self) -> None:
        """Start empty."""
        self._bins = np.zeros(BINS, int)
        self.count = 0
        self.largest = 0.0

    def add(self, seconds: float) -> None:
        """Count one latency, s."""
        place = math.ceil(math.log(max(seconds, SMALLEST) / SMALLEST) / math.log(GROWTH))
        self._bins[min(place, BINS - 1)] += 1
        self.count += 1
        self.largest = max(self.largest, seconds)

    def metrics(self, name: str) -> dict[str, str]:
        """Return ``{name}_p50_ms``, ``_p99_ms`` and ``_max_ms`` for diagnostics."""
        return {f'{name}_{key}_ms': f'{1e3 * value:.4f}' for key, value in (
            ('p50', self.quantile(0.5)), ('p99', self.quantile(0.99)), ('max', self.largest))}

    def quantile(self, part: float) -> float:
        """Return the latency that `part` (0 to 1) of all stay below, s; nan when empty."""
        if self.count == 0:
            return math.nan
        place = int(np.searchsorted(np.cumsum(self._bins), part * self.count))
        return min(SMALLEST * GROWTH**place, self.largest)


class StepWatch:
    """
    Counter of control steps, and of those that took longer than their cycle.

    Attributes
    ----------
    count : int
        Steps so far.

    Examples
    --------
    >>> watch = StepWatch()
    >>> watch.add(0.001, 0.005)
    >>> watch.late()
    ''
    >>> watch.add(0.007, 0.005)
    >>> watch.late()
    '7.0 ms for a cycle of 5.0 ms; 1 of 2 steps took too long'
    """

    def __init__(self) -> None:
        """Start without steps."""
        self.count = 0
        self._late = 0
        self._longest = 0.0
        self._time = 0.0
        self._shown_until = 0.0
        self._worst = ''

    def add(self, taken: float, period: float | None) -> None:
        """Count a step of `taken` s in a cycle of `period` s (None if unknown)."""
        self.count += 1
        self._longest = max(self._longest, taken)
        if period is None:
            return
        self._time += period
        if taken > period:
            self._late += 1
            self._shown_until = self._time + SHOWN
            self._worst = f'{1e3 * taken:.1f} ms for a cycle of {1e3 * period:.1f} ms'

    def longest(self) -> float:
        """Return the longest step since the last call, s."""
        longest = self._longest
        self._longest = 0.0
        return longest

    def late(self) -> str:
        """Return a text on steps that took too long lately; empty without any."""
        if self._time >= self._shown_until:
            return ''
        return f'{self._worst}; {self._late} of {self.count} steps took too long'
