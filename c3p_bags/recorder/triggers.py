# SPDX-License-Identifier: Apache-2.0
"""When a flight recorder keeps what it holds: a status that has become an error."""

from __future__ import annotations

from collections.abc import Iterable

ERROR = 2


# statuses in error that are remembered, so that made-up names do not fill the memory
MOST_FAILED = 1000


class FaultWatch:
    """
    Sees statuses become errors.

    An error that stays is told once; one that comes back after it was gone is told again. A status
    whose first word is an error already is told, too: what went before it may still be held.

    Parameters
    ----------
    own : str
        Name of the node that records: its own troubles, such as a full disk, are no reason.

    Examples
    --------
    >>> watch = FaultWatch('recorder')
    >>> watch.look([('hardware_interface: state', 2, 'drive 1 silent')])
    ['hardware_interface: state: drive 1 silent']
    >>> watch.look([('hardware_interface: state', 2, 'drive 1 silent')])
    []
    """

    def __init__(self, own: str = '') -> None:
        """Start with everything well."""
        self._own = own
        self._failed: dict[str, None] = {}

    def look(self, statuses: Iterable[tuple[str, int, str]]) -> list[str]:
        """
        Return what has become an error, in words.

        Parameters
        ----------
        statuses : iterable of (name, level, message)
            Of one DiagnosticArray.
        """
        found = []
        for name, level, message in statuses:
            if self._own and name.split(':')[0] == self._own:
                continue
            if level != ERROR:
                self._failed.pop(name, None)
            elif name not in self._failed:
                self._failed[name] = None
                if len(self._failed) > MOST_FAILED:
                    del self._failed[next(iter(self._failed))]
                found.append(f'{name}: {message}')
        return found
