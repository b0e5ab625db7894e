# SPDX-License-Identifier: Apache-2.0
"""
Records of MCAP files, as bytes, a chunk at a time (https://mcap.dev/spec).

A general reader makes an object of each message; for the 700 000 messages of ten minutes that
takes longer than everything that is computed from them.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from c3p_bags.storage.unpacking import MOST_BYTES, unpack

MAGIC = b'\x89MCAP0\r\n'

# opcodes of the records that are read; all others are skipped
HEADER, FOOTER, SCHEMA, CHANNEL = 0x01, 0x02, 0x03, 0x04
MESSAGE = 0x05
CHUNK = 0x06
CHUNK_INDEX = 0x08
STATISTICS = 0x0B
DATA_END = 0x0F

# opcode and length of a record
RECORD = struct.Struct('<BQ')
# channel, sequence, log time, publish time
MESSAGE_HEAD = struct.Struct('<HIQQ')
# first time, last time, unpacked size, checksum, length of the compression's name
CHUNK_HEAD = struct.Struct('<QQQII')


def records(block: bytes) -> Iterator[tuple[int, int, int]]:
    """
    Yield opcode, begin and end of the content of each record in a block.

    Raises
    ------
    ValueError
        The head of a record is cut off.
    """
    place = 0
    size = len(block)
    head = RECORD.size
    unpack_head = RECORD.unpack_from
    while place < size:
        if size - place < head:
            raise ValueError(f'a record of {size - place} bytes without a head')
        code, length = unpack_head(block, place)
        begin = place + head
        place = begin + length
        yield code, begin, place


def _top_records(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield opcode and content of the channels, messages and chunks on the file's top level."""
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
                raise struct.error(f'a record of {length} bytes exceeds the limit {MOST_BYTES}')
            yield code, file.read(length)
        else:
            file.seek(length, os.SEEK_CUR)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield blocks of records as they are stored, those of chunks unpacked."""
    for code, content in _top_records(file):
        if code == CHUNK:
            *_, size, checksum, length = CHUNK_HEAD.unpack_from(content)
            begin = CHUNK_HEAD.size + length
            packing = content[CHUNK_HEAD.size:begin].decode('utf-8')
            # 8 bytes after the name hold the size of the packed records
            yield unpack(packing, content[begin + 8:], size, checksum)
        else:
            yield RECORD.pack(code, len(content)) + content


def topic_of(content: bytes) -> tuple[int, str]:
    """Return number and topic of a channel; struct.error if it is damaged."""
    number, _, length = struct.unpack_from('<HHI', content)
    return number, content[8:8 + length].decode('utf-8', 'replace')


def messages_of_block(block: bytes, channels: dict[int, str],
                      topics: Collection[str] | None = None) -> Iterator[tuple[str, int, bytes]]:
    """
    Yield topic, time (ns) and bytes of the messages in a block of unpacked records.

    Parameters
    ----------
    block : bytes
    channels : dict
        Topic of each known channel; those that the block describes are added.
    topics : collection of str, optional
        Of the channels that are added; default all.
    """
    unpack_head = MESSAGE_HEAD.unpack_from
    head = MESSAGE_HEAD.size
    for code, begin, end in records(block):
        # messages are frequent, channels rare
        if code == MESSAGE:
            number, _, time, _ = unpack_head(block, begin)
            if number in channels:
                yield channels[number], time, block[begin + head:end]
        elif code == CHANNEL:
            number, topic = topic_of(block[begin:end])
            if topics is None or topic in topics:
                channels[number] = topic


def read_mcap(path: Path, topics: Collection[str] | None = None
              ) -> Iterator[tuple[str, int, bytes]]:
    """
    Yield topic, time (ns) and bytes of the messages of one MCAP file, in the file's order.

    Messages of a channel that no earlier record describes are left out. `topics` selects some;
    default all.

    Raises
    ------
    ValueError
        Not an MCAP file, cut off, or compressed in an unknown way.
    OSError
        The file cannot be read.
    """
    channels: dict[int, str] = {}
    try:
        with path.open('rb') as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError('not an MCAP file')
            for block in _blocks(file):
                yield from messages_of_block(block, channels, topics)
    except (struct.error, OverflowError) as error:
        raise ValueError(f'{error}') from error
