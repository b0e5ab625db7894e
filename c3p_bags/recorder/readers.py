# SPDX-License-Identifier: Apache-2.0
"""Readers of messages during recording; unreadable messages are recorded unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rosbags.typesys.store import Typestore

from c3p_ros.cdr import MOST_BYTES, MessageError


def read_message(types: Typestore, data: bytes, kind: str) -> Any:
    """
    Return a serialised message as an object.

    `kind` is a message type such as ``'nav_msgs/msg/Odometry'``.

    Raises
    ------
    MessageError
        The message is too large, or not of this type; text must be UTF-8.
    """
    if len(data) > MOST_BYTES:
        raise MessageError(f'{len(data)} bytes exceed the limit {MOST_BYTES} of messages that are '
                           'read while recording')
    try:
        return types.deserialize_cdr(data, kind)
    # damaged bytes raise any exception of the library
    except Exception as error:
        raise MessageError(f'no {kind}: {error}') from error


class Readers:
    """
    Readers of messages, by topic.

    Parameters
    ----------
    unread : callable
        Receives topic and reason of an unreadable message.

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
        """Start without readers."""
        self._unread = unread
        self._of: dict[str, list[Callable[[int, bytes], None]]] = {}

    def add(self, topic: str, read: Callable[[int, bytes], None]) -> None:
        """Call `read` with time (ns) and bytes of every message of `topic`."""
        self._of.setdefault(topic, []).append(read)

    def __call__(self, topic: str, time: int, data: bytes) -> None:
        """Pass a message to the readers of its topic; disk errors are raised."""
        for read in self._of.get(topic, ()):
            try:
                read(time, data)
            except MessageError as error:
                self._unread(topic, error)
