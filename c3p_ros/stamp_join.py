# SPDX-License-Identifier: Apache-2.0
"""Messages of one control cycle, brought together by their stamp."""

from __future__ import annotations

from typing import Any

from c3p_ros.cycle import RESTART

# cycles that may be under way at once; older ones are given up
DEPTH = 16


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
            # time was set back, or a stamp far ahead was believed: a new time line
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
        for old in [s for s in self._waiting if s <= stamp]:
            del self._waiting[old]
        return tuple(cycle[p] for p in self._parts)

    def clear(self) -> None:
        """Forget everything, also which stamps are past."""
        self._waiting.clear()
        self._done = -1
