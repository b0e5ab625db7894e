# SPDX-License-Identifier: Apache-2.0
"""Content of an MCAP file as a scan found it: blocks of messages, topics and their counts."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from c3p_bags.storage.mcap import CHANNEL, MESSAGE_HEAD

# messages outside of chunks are read in blocks of at most this size, bytes
BLOCK_BYTES = 1_000_000

# number of messages, of schemas, channels, attachments, metadata and chunks, first and last time
STATISTICS_HEAD = struct.Struct('<QHIIIIQQ')


class McapBlock(NamedTuple):
    """
    Records that are read together: those of a chunk, or messages outside of chunks.

    Where they begin in the file, stored and unpacked size, compression (``''``, ``'lz4'``,
    ``'zstd'``), the times of the first and the last message [ns], as the file states them, and the
    CRC-32 of the unpacked records (0: not stated).
    """

    place: int
    packed: int
    size: int
    packing: str
    first: int
    last: int
    checksum: int = 0


class McapSchema(NamedTuple):
    """Name of a message type, encoding of its definition, and the definition."""

    name: str
    encoding: str
    text: str


class McapChannel(NamedTuple):
    """Topic, number of its schema, encoding of its messages, and its metadata."""

    topic: str
    schema: int
    encoding: str
    metadata: dict[str, str]


def _text(content: bytes, place: int) -> tuple[str, int]:
    """Return the text at a place, and where it ends."""
    length, = struct.unpack_from('<I', content, place)
    end = place + 4 + length
    if end > len(content):
        raise ValueError(f'a text of {length} bytes in a record of {len(content)}')
    return content[place + 4:end].decode('utf-8', 'replace'), end


@dataclass
class McapLayout:
    """
    Layout of an MCAP file.

    Attributes
    ----------
    blocks : list of McapBlock
        In the order of the file.
    schemas : dict of int to McapSchema
    channels : dict of int to McapChannel
    counts : Counter
        Messages by channel, of the blocks that were read.
    stated : Counter or None
        The same by the statistics of the file.
    unread : bool
        Some blocks were not read.
    sortable : bool
        So few blocks overlap in time that their messages can be sorted in memory.
    """

    blocks: list[McapBlock] = field(default_factory=list)
    schemas: dict[int, McapSchema] = field(default_factory=dict)
    channels: dict[int, McapChannel] = field(default_factory=dict)
    counts: Counter[int] = field(default_factory=Counter)
    stated: Counter[int] | None = None
    unread: bool = False
    sortable: bool = True

    def messages_of(self, channel: int) -> int:
        """Return the number of messages of a channel: counted, or stated where not all is read."""
        known = self.stated if self.unread and self.stated is not None else self.counts
        return known[channel]

    def describe(self, code: int, content: bytes) -> None:
        """
        Take a schema or a channel.

        Raises
        ------
        ValueError
            The record is damaged.
        """
        try:
            number, = struct.unpack_from('<H', content)
            if code == CHANNEL:
                schema, = struct.unpack_from('<H', content, 2)
                topic, place = _text(content, 4)
                encoding, place = _text(content, place)
                self.channels[number] = McapChannel(topic, schema, encoding,
                                                _pairs(content, place))
            else:
                name, place = _text(content, 2)
                encoding, place = _text(content, place)
                self.schemas[number] = McapSchema(name, encoding, _text(content, place)[0])
        except struct.error:
            raise ValueError('a damaged description of a topic') from None

    def count(self, block: bytes, begin: int) -> None:
        """Count a message whose content begins there in a block."""
        self.counts[block[begin] | block[begin + 1] << 8] += 1

    def add_message(self, place: int, length: int, head: bytes) -> None:
        """Take a message outside of chunks: where its record is, its length, and its head."""
        if len(head) < MESSAGE_HEAD.size:
            raise ValueError(f'a message of {len(head)} bytes')
        self.count(head, 0)
        time = MESSAGE_HEAD.unpack(head)[2]
        last = self.blocks[-1] if self.blocks else None
        # consecutive ones form a block
        if (last is not None and not last.packing and last.place + last.packed == place
                and last.packed + length <= BLOCK_BYTES):
            size = last.packed + length
            self.blocks[-1] = McapBlock(last.place, size, size, '', min(last.first, time),
                                    max(last.last, time))
        else:
            self.blocks.append(McapBlock(place, length, length, '', time, time))

    def state(self, content: bytes) -> None:
        """Take the statistics of the file, unless they are damaged."""
        try:
            length, = struct.unpack_from('<I', content, STATISTICS_HEAD.size)
            begin = STATISTICS_HEAD.size + 4
            self.stated = Counter(dict(struct.iter_unpack('<HQ', content[begin:begin + length])))
        except struct.error:
            self.stated = None


def _pairs(content: bytes, place: int) -> dict[str, str]:
    """Return texts by name, from a place on."""
    length, = struct.unpack_from('<I', content, place)
    place += 4
    end = min(place + length, len(content))
    found = {}
    while place < end:
        key, place = _text(content, place)
        found[key], place = _text(content, place)
    return found
