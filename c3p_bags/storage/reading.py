# SPDX-License-Identifier: Apache-2.0
"""A recorded message read while it is recorded; one that cannot be read stays as it came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rosbags.typesys.store import Typestore

from c3p_ros.cdr import MOST_BYTES, MessageError


def read_message(types: Typestore, data: bytes, kind: str) -> Any:
    """
    Return a serialised message as an object.

    Parameters
    ----------
    types : Typestore
    data : bytes
    kind : str
        Message type such as ``'nav_msgs/msg/Odometry'``.

    Raises
    ------
    MessageError
        It is too large, or not such a message; text that is not UTF-8 counts as such, although
        the wire carries it.
    """
    if len(data) > MOST_BYTES:
        raise MessageError(f'{len(data)} bytes: read while recording are at most {MOST_BYTES}')
    try:
        return types.deserialize_cdr(data, kind)
    # whatever the bytes happen to mean to the library: its own error is no ValueError
    except Exception as error:
        raise MessageError(f'no {kind}: {error}') from error


class Readers:
    """
    What is computed from messages while they are recorded.

    Parameters
    ----------
    unread : callable
        Takes topic and reason of a message that cannot be read; nothing is computed from it.

    Examples
    --------
    >>> counted = []
    >>> readers = Readers(lambda topic, reason: counted.append(f'{topic}: {reason}'))
    >>> def read(time, data):
    ...     raise MessageError('no Odometry')
    >>> readers.add('/odom', read)
    >>> readers('/odom', 5, b'')
    >>> counted
    ['/odom: no Odometry']
    """

    def __init__(self, unread: Callable[[str, object], None]) -> None:
        """Compute nothing yet."""
        self._unread = unread
        self._of: dict[str, list[Callable[[int, bytes], None]]] = {}

    def add(self, topic: str, read: Callable[[int, bytes], None]) -> None:
        """Call `read` with time (ns) and bytes of every message of `topic`."""
        self._of.setdefault(topic, []).append(read)

    def __call__(self, topic: str, time: int, data: bytes) -> None:
        """Let a message be read by all that want it; what the disk raises is raised."""
        for read in self._of.get(topic, ()):
            try:
                read(time, data)
            except MessageError as error:
                self._unread(topic, error)
