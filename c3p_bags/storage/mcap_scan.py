# SPDX-License-Identifier: Apache-2.0
"""
MCAP files from front to back, as bytes, a chunk at a time.

A general reader follows the file's index, sorts what it finds and makes an object of each message;
for the 700 000 messages of ten minutes that takes longer than everything that is computed of them.
Here a chunk is one loop over its records (https://mcap.dev/spec).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from c3p_bags.storage.bags import LATEST, BagError
from c3p_bags.storage.unpacking import MOST_BYTES, unpack
from c3p_description.model import Array
from c3p_description.texts import one_line

MAGIC = b'\x89MCAP0\r\n'

# opcodes of the records that matter; others are passed over
HEADER, FOOTER, SCHEMA, CHANNEL = 0x01, 0x02, 0x03, 0x04
MESSAGE, CHUNK, DATA_END = 0x05, 0x06, 0x0F

RECORD = struct.Struct('<BQ')
MESSAGE_HEAD = struct.Struct('<HIQQ')
CHUNK_HEAD = struct.Struct('<QQQII')

# messages of a topic that are handed over together: few enough that all batches stay small
# beside the arrays that they become
BATCH = 4096


# bytes of a topic that wait at most to be handed over
WAITING_BYTES = 20_000_000


class Batch(NamedTuple):
    """
    Some messages of one topic, in their order.

    Attributes
    ----------
    topic : str
    time : (k,) int array, ns
        When they were recorded.
    data : list of bytes
        Serialised (CDR with its header of four bytes).
    """

    topic: str
    time: Array
    data: list[bytes]


def _channel(record: bytes) -> tuple[int, str]:
    """Return number and topic of a channel."""
    number, _, length = struct.unpack_from('<HHI', record)
    return number, record[8:8 + length].decode('utf-8')


class _Collector:
    """Sorts the messages of chunks by topic."""

    def __init__(self, topics: Collection[str]) -> None:
        self._topics = topics
        self._channels: dict[int, tuple[list[int], list[bytes]]] = {}
        self._rows: dict[str, tuple[list[int], list[bytes]]] = {}
        self._waiting = 0

    def messages(self, block: bytes) -> None:
        place, end, channels = 0, len(block), self._channels
        while place < end:
            code, length = RECORD.unpack_from(block, place)
            begin = place + RECORD.size
            place = begin + length
            if code == MESSAGE:
                number, _, time, _ = MESSAGE_HEAD.unpack_from(block, begin)
                rows = channels.get(number)
                if rows is not None:
                    rows[0].append(time)
                    rows[1].append(block[begin + MESSAGE_HEAD.size:place])
                    self._waiting += length
            elif code == CHANNEL:
                number, topic = _channel(block[begin:place])
                if topic in self._topics:
                    channels[number] = self._rows.setdefault(topic, ([], []))

    def take(self, least: int) -> Iterator[Batch]:
        """Give away the topics of which at least so many messages have come, or all of them."""
        if self._waiting > WAITING_BYTES:
            least, self._waiting = 1, 0
        for topic, (times, data) in self._rows.items():
            if len(times) >= least:
                if max(times) > LATEST:
                    raise ValueError(f'a message on {topic} of the time {max(times)} ns')
                yield Batch(topic, np.array(times, np.int64), data[:])
                times.clear()
                data.clear()


def _records(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield opcode and content of the records on the file's own level."""
    size = os.fstat(file.fileno()).st_size
    while head := file.read(RECORD.size):
        code, length = RECORD.unpack(head)
        if code in (FOOTER, DATA_END):
            return
        left = size - file.tell()
        if length > left:
            raise struct.error(f'a record of {length} bytes ends after {left}')
        if code in (CHANNEL, MESSAGE, CHUNK):
            if length > MOST_BYTES:
                raise struct.error(f'a record of {length} bytes, at most {MOST_BYTES} are read')
            yield code, file.read(length)
        else:
            file.seek(length, os.SEEK_CUR)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield the records of a file together as they are stored, those of chunks unpacked."""
    for code, content in _records(file):
        if code == CHUNK:
            *_, size, _, length = CHUNK_HEAD.unpack_from(content)
            begin = CHUNK_HEAD.size + length
            packing = content[CHUNK_HEAD.size:begin].decode('utf-8')
            # behind the name stands the size of the records, 8 bytes
            yield unpack(packing, content[begin + 8:], size)
        else:
            yield RECORD.pack(code, len(content)) + content


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file behind its first bytes; a damaged one shows itself by what its bytes mean."""
    try:
        with path.open('rb') as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise BagError(f'bag {path}: is no MCAP file')
            yield file
    except BagError:
        raise
    except (OSError, struct.error, OverflowError, ValueError) as error:
        raise BagError(f'bag {path}: cannot be read: {one_line(error)}') from error


def scan_mcap(path: Path, topics: Collection[str], batch: int = BATCH) -> Iterator[Batch]:
    """
    Yield the messages of some topics of one MCAP file.

    Parameters
    ----------
    path : Path
        The file.
    topics : collection of str
    batch : int
        At least so many messages together, except at the end.

    Yields
    ------
    Batch
        Those of one topic are in the order of the file.

    Raises
    ------
    BagError
        It is no MCAP file, is cut off, or its chunks are compressed in an unknown way.
    """
    collector = _Collector(topics)
    with _opened(path) as file:
        for block in _blocks(file):
            collector.messages(block)
            yield from collector.take(batch)
        yield from collector.take(1)


def walk_mcap(path: Path) -> Iterator[tuple[str, int, bytes]]:
    """
    Yield topic, time (ns) and bytes of every message of one MCAP file, in the file's order.

    Messages of a channel that is described nowhere before are left out.

    Raises
    ------
    BagError
        As `scan_mcap`.
    """
    topics: dict[int, str] = {}
    with _opened(path) as file:
        for block in _blocks(file):
            place = 0
            while place < len(block):
                code, length = RECORD.unpack_from(block, place)
                begin = place + RECORD.size
                place = begin + length
                if code == CHANNEL:
                    number, topic = _channel(block[begin:place])
                    topics[number] = topic
                elif code == MESSAGE:
                    number, _, time, _ = MESSAGE_HEAD.unpack_from(block, begin)
                    if number in topics:
                        yield topics[number], time, block[begin + MESSAGE_HEAD.size:place]
