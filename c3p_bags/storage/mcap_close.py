# SPDX-License-Identifier: Apache-2.0
"""
Truncated MCAP files, closed after their last sound record (https://mcap.dev/spec).

Of a chunk that is truncated, or damaged and not compressed, the messages before the damage are
kept.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO
from zlib import crc32

from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.mcap import (
    CHANNEL,
    CHUNK,
    CHUNK_HEAD,
    DATA_END,
    FOOTER,
    HEADER,
    MAGIC,
    MESSAGE,
    MESSAGE_HEAD,
    RECORD,
    SCHEMA,
)
from c3p_bags.storage.unpacking import MOST_BYTES, unpack_some

# an end without summary and checksum
END = RECORD.pack(DATA_END, 4) + bytes(4) + RECORD.pack(FOOTER, 20) + bytes(20) + MAGIC

# records of a bag
KEPT = (HEADER, SCHEMA, CHANNEL, MESSAGE, CHUNK)

# last opcode of the specification; zero and higher ones are damage
LAST = 0x0F


def _unpacked(packing: bytes, data: bytes, size: int) -> bytes | None:
    """Return the records of a chunk up to its truncation; None for a damaged one."""
    try:
        return unpack_some(packing.decode('utf-8'), data, min(size, MOST_BYTES) + 1)
    # each library has its own exceptions
    except Exception:
        return None


def _whole_records(block: bytes, begins: int, ends: int) -> tuple[int, list[int]]:
    """
    Return the end of the last sound record of a chunk, and the times of its messages, ns.

    Bytes that are not a record, such as zeros, or a message with a time outside of the chunk's,
    indicate damage that begins earlier: the record before them is dropped.
    """
    place = 0
    found: list[tuple[int, int | None]] = []
    while place + RECORD.size <= len(block):
        code, length = RECORD.unpack_from(block, place)
        begin = place + RECORD.size
        time = None
        if begin + length > len(block) and code in (SCHEMA, CHANNEL, MESSAGE):
            break
        if code == MESSAGE and length >= MESSAGE_HEAD.size:
            time = MESSAGE_HEAD.unpack_from(block, begin)[2]
        if code not in (SCHEMA, CHANNEL, MESSAGE) or (
                time is not None and not begins <= time <= ends):
            del found[-1:]
            break
        place = begin + length
        found.append((place, time))
    return (found[-1][0] if found else 0), [time for _, time in found if time is not None]


def _sound_chunk(content: bytes, whole: bool) -> tuple[bytes, int]:
    """
    Return a chunk of the readable messages in a record, and the number of lost bytes.

    `whole` is False for a record that is truncated by its surroundings.
    """
    if len(content) < CHUNK_HEAD.size:
        return b'', len(content)
    begins, ends, size, checksum, length = CHUNK_HEAD.unpack_from(content)
    begin = CHUNK_HEAD.size + length
    packing = content[CHUNK_HEAD.size:begin]
    data = content[begin + 8:]
    block = _unpacked(packing, data, size) if whole else None
    if block is not None and len(block) == size:
        # a wrong checksum does not locate the damage
        if checksum and crc32(block) != checksum:
            return b'', len(content)
        if _whole_records(block, begins, ends)[0] == size:
            return content, 0
    # zeros after a truncation would unpack into messages of zeros
    block = _unpacked(packing, data.rstrip(b'\0'), size) or b''
    end, times = _whole_records(block, begins, ends)
    if not times:
        return b'', len(content)
    return (CHUNK_HEAD.pack(min(times), max(times), end, 0, 0) + struct.pack('<Q', end)
            + block[:end]), max(len(data) - end, 0)


def _records(source: BinaryIO, size: int) -> Iterator[tuple[int, bytes, bool, int]]:
    """Yield opcode, content, a flag for complete ones, and the bytes in the file."""
    while (left := size - source.tell() - RECORD.size) >= 0:
        code, length = RECORD.unpack(source.read(RECORD.size))
        if code in (DATA_END, FOOTER):
            source.seek(size)
            return
        if not 0 < code <= LAST:
            source.seek(-RECORD.size, os.SEEK_CUR)
            return
        there = min(length, left)
        # attachments and records beyond the limits of readers are skipped
        read = code in KEPT and length <= MOST_BYTES
        content = source.read(there) if read else b''
        if not read:
            source.seek(there, os.SEEK_CUR)
        # after a loss of power the file system may have replaced unwritten bytes by zeros, also
        # those of the last record
        behind = source.read(1)
        source.seek(-len(behind), os.SEEK_CUR)
        sound = (read or code not in KEPT) and there == length and behind != b'\0'
        yield code, content, sound, there


def _described(source: BinaryIO, size: int) -> bytes:
    """Return the descriptions of topics in the summary, if any: a chunk may be lost."""
    source.seek(max(size - len(END), 0))
    tail = source.read()
    if not tail.endswith(MAGIC) or tail[-37:-28] != RECORD.pack(FOOTER, 20):
        return b''
    begin, = struct.unpack('<Q', tail[-28:-20])
    if not max(len(MAGIC), size - MOST_BYTES) < begin < size:
        return b''
    source.seek(begin)
    summary = source.read()
    kept = b''
    place = 0
    while place + RECORD.size <= len(summary):
        code, length = RECORD.unpack_from(summary, place)
        end = place + RECORD.size + length
        if code in (SCHEMA, CHANNEL):
            kept += summary[place:end]
        place = end
    return kept


def close_mcap(source: BinaryIO, target: BinaryIO) -> int:
    """
    Copy the sound records of an MCAP file into a complete file without an index.

    Returns the number of damaged bytes of the source that are not copied, 0 for a complete file.

    Raises
    ------
    BagError
        The source does not begin as an MCAP file.
    """
    size = os.fstat(source.fileno()).st_size
    lost = 0
    if source.read(len(MAGIC)) != MAGIC:
        raise BagError(f'{source.name}: is not an MCAP file')
    described = _described(source, size)
    source.seek(len(MAGIC))
    target.write(MAGIC)
    for code, content, whole, there in _records(source, size):
        if code == CHUNK:
            content, missing = _sound_chunk(content, whole) if content else (b'', there)
            lost += missing
            whole = bool(content)
        elif not whole:
            lost += there
        if whole and code in KEPT:
            target.write(RECORD.pack(code, len(content)) + content)
        if code == HEADER:
            target.write(described)
    target.write(END)
    return lost + size - source.tell()
