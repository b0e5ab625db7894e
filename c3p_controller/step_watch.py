# SPDX-License-Identifier: Apache-2.0
"""How long the steps of a control loop take, and whether they fit into its cycles."""

from __future__ import annotations

# a step that was too long stays a warning for this long, in the loop's time, s
SHOWN = 5.0


class StepWatch:
    """
    Keeps count of steps and of those that took longer than their cycle.

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
        self.count, self._late = 0, 0
        self._longest, self._time, self._shown_until = 0.0, 0.0, 0.0
        self._worst = ''

    def add(self, taken: float, period: float | None) -> None:
        """Take note of a step that took `taken` s in a cycle of `period` s, None for unknown."""
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
        longest, self._longest = self._longest, 0.0
        return longest

    def late(self) -> str:
        """Return what took too long in the last seconds, in words; empty when nothing did."""
        if self._time >= self._shown_until:
            return ''
        return f'{self._worst}; {self._late} of {self.count} steps took too long'
