# SPDX-License-Identifier: Apache-2.0
"""Trigger of a flight recorder: a status that becomes an error."""

from __future__ import annotations

from collections.abc import Iterable

ERROR = 2


# most remembered statuses in error: arbitrary names must not fill the memory
MOST_FAILED = 1000


class FaultWatch:
    """
    Detects statuses that become errors.

    A persistent error is reported once, a recurring one again. A status whose first message is an
    error is reported, too: its cause may still be in memory. Errors of the recording node `own`,
    such as a full disk, are ignored.

    Examples
    --------
    >>> watch = FaultWatch('recorder')
    >>> watch.look([('hardware_interface: state', 2, 'drive 1 silent')])
    ['hardware_interface: state: drive 1 silent']
    >>> watch.look([('hardware_interface: state', 2, 'drive 1 silent')])
    []
    """

    def __init__(self, own: str = '') -> None:
        """Start without errors."""
        self._own = own
        self._failed: dict[str, None] = {}

    def look(self, statuses: Iterable[tuple[str, int, str]]) -> list[str]:
        """Return the new errors among (name, level, message) of one DiagnosticArray, as texts."""
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
