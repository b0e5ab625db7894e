# SPDX-License-Identifier: Apache-2.0
"""Topics as the files of a bag describe them, and the types of their messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from rosbags.interfaces import Qos
from rosbags.rosbag2.metadata import parse_qos
from rosbags.typesys import (
    Stores,
    get_types_from_idl,
    get_types_from_msg,
    get_typestore,
)
from rosbags.typesys.store import Typestore

from c3p_bags.storage.bag_writer import message_types

# serialisation of ROS 2, which is the only one that is read
CDR = 'cdr'

# a clock that goes back by more than this in the order of a file was set, or the file is not in
# the order of time, ns: threads of a recorder differ by milliseconds
LEAP = 1_000_000_000

# begin of each definition in an IDL text of several
IDL_LINE = '=' * 80 + '\n'


class StoredTopic(NamedTuple):
    """
    A topic in one file: name, message type, serialisation, quality of service, and messages.

    `definition` is the text of the type in `language`: ``'ros2msg'`` or ``'ros2idl'``; empty
    without one.
    """

    topic: str
    kind: str
    serialization: str
    qos: tuple[Qos, ...]
    messages: int
    definition: str = ''
    language: str = ''


class StorageFile(Protocol):
    """
    One file of a bag.

    Its topics; the times of its first and last message in the order of the file, and its earliest
    and latest time [ns].
    """

    path: Path
    topics: list[StoredTopic]
    first: int
    last: int
    span: tuple[int, int]

    @property
    def goes_back(self) -> bool:
        """Return whether times of recording fall by more than `LEAP` in the order of the file."""

    @property
    def sortable(self) -> bool:
        """Return whether the messages can be sorted by time within the limit of memory."""

    def messages(self, topics: Iterable[str], start: int | None = None, by_time: bool = True
                 ) -> Iterator[tuple[str, int, bytes]]:
        """Yield topic, time and bytes of messages recorded from `start` on."""


def qos_of(text: object) -> tuple[Qos, ...]:
    """
    Return the quality of service that a file states.

    Raises
    ------
    Exception
        Of the library, where the text is damaged.
    """
    return tuple(parse_qos(text)) if isinstance(text, str) and text.strip() else ()


def types_of(topics: Iterable[StoredTopic]) -> Typestore:
    """
    Return the message types of `topics`: as defined in the bag, else those of the installation.

    Raises
    ------
    Exception
        Of the library, where a definition is damaged.
    """
    topics = list(topics)
    found: dict = {}
    for topic in topics:
        if topic.language == 'ros2msg':
            found.update(get_types_from_msg(topic.definition, topic.kind))
        elif topic.language in ('ros2idl', 'omgidl'):
            for text in topic.definition.split(IDL_LINE):
                # the first line of each names its file
                head, _, rest = text.partition('\n')
                body = rest if head.startswith('IDL: ') else text
                if body.strip():
                    found.update(get_types_from_idl(body))
    if any(topic.kind not in found for topic in topics):
        found = {**message_types().fielddefs, **found}
    store = get_typestore(Stores.EMPTY)
    store.register(found)
    return store
