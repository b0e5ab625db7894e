# SPDX-License-Identifier: Apache-2.0
"""The clockwork of a control chain: accepted stamps, time steps, and how old an input is."""

from __future__ import annotations

import math

from c3p_ros.cdr import MessageError

# a larger step back of the stamps, s, is a restart: a bag that loops, a simulation that was reset,
# a system clock that was set. No network delays a message for as long as the watchdogs wait
RESTART = 0.2


class CycleClock:
    """
    Accepts the stamps of a stream that must go forward.

    Attributes
    ----------
    restarted : bool
        The last accepted stamp began a new time line.
    """

    def __init__(self) -> None:
        """Start without a past."""
        self._last: int | None = None
        self.restarted = False

    def accept(self, stamp_ns: int) -> float | None:
        """
        Return the step from the stamp before, s; None for the first of a time line.

        Raises
        ------
        MessageError
            A stamp that repeats or goes back a little: out of order.
        """
        last, self.restarted = self._last, False
        if last is None:
            self._last = stamp_ns
            return None
        step = (stamp_ns - last) * 1e-9
        if step < -RESTART:
            self._last, self.restarted = stamp_ns, True
            return None
        if step <= 0.0:
            raise MessageError(f'out of order: {-step:.4f} s before the one already used')
        self._last = stamp_ns
        return step


class Lifeline:
    """
    When something was last heard of.

    Parameters
    ----------
    timeout : float, s

    Attributes
    ----------
    heard : float
        Time of the last sign of life, s; -inf before the first.
    """

    def __init__(self, timeout: float) -> None:
        """Start unheard."""
        self.timeout = timeout
        self.heard = -math.inf

    def beat(self, now: float) -> None:
        """Take note that it is alive."""
        self.heard = now

    def age(self, now: float) -> float:
        """Return the seconds since it was heard, inf when never."""
        return now - self.heard

    def lost(self, now: float) -> bool:
        """Return whether it was heard once and is silent for longer than the timeout."""
        return self.heard > -math.inf and self.age(now) > self.timeout


class Lifelines:
    """
    The parts of a chain, all of which answer to its first.

    Parameters
    ----------
    *parts : str
        The first is what the others answer to: after a pause of everything they are not to blame.
    timeout : float, s

    Attributes
    ----------
    lack : str
        Why the first part cannot be used although it comes; empty when it can.

    Examples
    --------
    >>> chain = Lifelines('joint_states', 'odom', timeout=0.2)
    >>> chain.beat('joint_states', 1.0), chain.beat('odom', 1.0), chain.beat('joint_states', 1.3)
    (None, None, None)
    >>> chain.lost(1.3), chain.lost(1.6)
    (['odom'], ['joint_states'])
    """

    def __init__(self, *parts: str, timeout: float) -> None:
        """Start with all unheard."""
        self._lines = {part: Lifeline(timeout) for part in parts}
        self._first, self.lack = self._lines[parts[0]], ''

    @property
    def timeout(self) -> float:
        """Silence after which a part is lost, s."""
        return self._first.timeout

    def set_timeout(self, timeout: float) -> None:
        """Take another timeout, s."""
        for line in self._lines.values():
            line.timeout = timeout

    def surplus(self, reason: str) -> None:
        """Take note of `reason`, a second publisher of the first part; empty when it is gone."""
        first = next(iter(self._lines))
        self.lack = f'single publisher of {first}' if reason else ''

    def beat(self, part: str, now: float) -> None:
        """Take note that `part` is alive."""
        self._lines[part].beat(now)

    def lost(self, now: float) -> list[str]:
        """Return the lack and the parts that have stopped coming; none that has never come."""
        lack = [self.lack] if self.lack else []
        if self._first.lost(now):
            return lack + [part for part, line in self._lines.items() if line is self._first]
        return lack + [part for part, line in self._lines.items()
                       if line.lost(self._first.heard)]

    def ages(self, now: float) -> str:
        """Return the lost parts with the seconds since they were heard, in words."""
        return ', '.join(f'{part} {self._lines[part].age(now):.2f} s' if part in self._lines else
                         'see publishers' for part in self.lost(now))
