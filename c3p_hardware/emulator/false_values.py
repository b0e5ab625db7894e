# SPDX-License-Identifier: Apache-2.0
"""What a drive with a broken sensor tells in the place of its position and its torque."""

from __future__ import annotations

from collections.abc import Callable

# kind of fault: told position of the true one, the one when the fault began, and its value
COUNTS: dict[str, Callable[[int, int, int], int]] = {
    'counts_jump': lambda true, begin, value: true + value,
    'counts_stuck': lambda true, begin, value: begin,
    'counts_negated': lambda true, begin, value: 2 * begin - true,
}


class FalseValues:
    """
    Position (6064h) and torque actual (6077h) as a drive tells them.

    >>> told = FalseValues()
    >>> told.position(5)
    5
    >>> told.begin('counts_negated', 0, 5)
    >>> told.position(7)
    3
    >>> told.end('counts_negated')
    >>> told.position(7)
    7
    """

    def __init__(self) -> None:
        """Tell the truth."""
        self._counts: dict[str, tuple[int, int]] = {}
        self._torque: int | None = None

    def begin(self, kind: str, value: int, position: int) -> None:
        """Begin a fault of this kind at a position; other kinds change nothing."""
        if kind in COUNTS:
            self._counts[kind] = position, value
        elif kind == 'wrong_torque':
            self._torque = value

    def end(self, kind: str) -> None:
        """End a fault."""
        self._counts.pop(kind, None)
        if kind == 'wrong_torque':
            self._torque = None

    def position(self, true: int) -> int:
        """Return the position that is told, a signed number of 32 bits."""
        for kind, (begin, value) in self._counts.items():
            true = COUNTS[kind](true, begin, value)
        return (true + (1 << 31)) % (1 << 32) - (1 << 31)

    def torque(self, true: int) -> int:
        """Return the torque that is told, permille."""
        return true if self._torque is None else max(-32768, min(32767, self._torque))
