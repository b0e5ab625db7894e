# SPDX-License-Identifier: Apache-2.0
"""Newest diagnostics of each name for the live page: bounded, the worst first."""

from __future__ import annotations

from typing import Any, NamedTuple

# a status is shown for so long after its last message, s
SHOWN = 5.0
# names kept, and letters of a name and of a text
MOST = 100
LONGEST_NAME = 120
LONGEST_TEXT = 400
# levels of diagnostic_msgs, the worst first: ERROR, STALE, WARN, OK
WORST_FIRST = (2, 3, 1, 0)


class Shown(NamedTuple):
    """A status and the time of its message, s."""

    time: float
    value: dict[str, Any]


def rank(level: int) -> int:
    """
    Return the place of a level in the list, 0 for the worst; unknown levels are the worst.

    Examples
    --------
    >>> sorted([0, 1, 2, 3], key=rank)
    [2, 3, 1, 0]
    """
    return WORST_FIRST.index(level) if level in WORST_FIRST else 0


def shortened(text: str, most: int) -> str:
    """
    Return a text of at most `most` letters.

    Examples
    --------
    >>> shortened('velocity_controller', 9)
    'velocity…'
    """
    return text if len(text) <= most else f'{text[:most - 1]}…'


class DiagnosticsBoard:
    """
    Newest status of each name.

    Any program may publish any names: at most `MOST` are kept. Where one more comes, the oldest
    of the least severe level is dropped, so that many well nodes do not displace an error.

    Attributes
    ----------
    dropped : int
        Statuses that were dropped.
    """

    def __init__(self) -> None:
        """Begin without a status."""
        self.dropped = 0
        self._shown: dict[str, Shown] = {}

    def put(self, name: str, level: int, text: str, now: float, **more: str) -> None:
        """
        Keep a status.

        Parameters
        ----------
        name, text : str
        level : int
            Of diagnostic_msgs.
        now : float
            Time of the message, s.
        **more : str
            Further values.
        """
        short = shortened(name, LONGEST_NAME)
        self._shown[short] = Shown(now, {
            'name': short.removesuffix(': state'), 'level': level,
            'text': shortened(text, LONGEST_TEXT),
            **{key: shortened(value, LONGEST_NAME) for key, value in more.items()}})
        if len(self._shown) > MOST:
            self._expire(now)
        if len(self._shown) > MOST:
            least = max(self._shown.items(), key=lambda item: (
                rank(item[1].value['level']), -item[1].time))
            del self._shown[least[0]]
            self.dropped += 1

    def age(self, name: str, now: float) -> float | None:
        """Return the age of the last status of a name, s; None without one."""
        found = self._shown.get(name)
        return None if found is None else now - found.time

    def statuses(self, now: float) -> list[dict[str, Any]]:
        """Return the statuses of the last seconds, the worst first, then by name."""
        self._expire(now)
        return sorted((shown.value for shown in self._shown.values()),
                      key=lambda value: (rank(value['level']), value['name']))

    def _expire(self, now: float) -> None:
        self._shown = {name: shown for name, shown in self._shown.items()
                       if now - shown.time <= SHOWN}
