# SPDX-License-Identifier: Apache-2.0
"""
Whether an MCAP file can be read without running away.

A general reader believes the index at the end of a file, and unpacks chunks to whatever they hold.
Here the heads of all chunks are compared with the index, and what is packed is unpacked once, up
to the size that its head tells (https://mcap.dev/spec).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from c3p_bags.storage.text_limits import MOST_DEFINITION, MOST_QOS, check_packed, check_qos
from c3p_bags.storage.unpacking import MOST_BYTES, unpack

# of everything that is unpacked of a file: times its size, and beside that
RATIO, FREE_BYTES = 100, 64_000_000
# of the chunks that a reader has in memory at one time
MOST_TOGETHER = 2 * MOST_BYTES

MAGIC = b'\x89MCAP0\r\n'
HEAD, CHUNK_HEAD = struct.Struct('<BQ'), struct.Struct('<QQQII')
MESSAGE_HEAD = 22
FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, CHUNK_INDEX = 0x02, 0x03, 0x04, 0x05, 0x06, 0x08
# of a footer with the magic behind it, and what is read of a chunk to know its head
TAIL, FRONT = 37, 120
QOS = b'offered_qos_profiles'


class _Chunk(NamedTuple):
    """Compression, packed and unpacked size of a chunk, and where its data begin in the record."""

    packing: str
    packed: int
    size: int
    begin: int


def check_mcap(path: Path, mode: str = '') -> None:
    """
    Refuse a file that stands for more than is read.

    Parameters
    ----------
    path : Path
    mode : str
        ``'message'`` where every message is packed by itself.

    Raises
    ------
    ValueError
        With what there is too much of.
    """
    size = path.stat().st_size
    with path.open('rb') as file:
        indexed, described = _index(file, size)
        # without a summary a reader looks for the descriptions of topics in the chunks
        look_inside = not (indexed and described) or mode == 'message'
        chunks, total = {}, 0
        for place, code, length in _records(file, len(MAGIC), size):
            if code == CHUNK:
                chunk = chunks[place] = _chunk(file, place, length)
                total += chunk.size
                if total > RATIO * size + FREE_BYTES:
                    raise ValueError(f'{size} bytes that unpack to more than {total}')
                if chunk.packing or look_inside:
                    data = unpack(chunk.packing, _content(
                        file, place + HEAD.size + chunk.begin, chunk.packed), chunk.size)
                    _check_inner(data, mode)
            elif code in (SCHEMA, CHANNEL) or (code == MESSAGE and mode == 'message'):
                _check_record(code, _content(file, place + HEAD.size, length))
    for _, _, start, told in indexed:
        found = chunks.get(start)
        if found is None or found[:3] != told:
            raise ValueError(f'an index of a chunk at {start} that is not there')
    _check_together([(first, last, told[2]) for first, last, _, told in indexed])


def _records(file: BinaryIO, place: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield place, opcode and length of the records that are whole."""
    while place + HEAD.size <= size:
        file.seek(place)
        code, length = HEAD.unpack(file.read(HEAD.size))
        if place + HEAD.size + length > size:
            return
        yield place, code, length
        place += HEAD.size + length


def _content(file: BinaryIO, place: int, length: int) -> bytes:
    if length > MOST_BYTES:
        raise ValueError(f'a record of {length} bytes, at most {MOST_BYTES} are read')
    file.seek(place)
    return file.read(length)


def _chunk(file: BinaryIO, place: int, length: int) -> _Chunk:
    """Return what the head of a chunk tells."""
    front = _content(file, place + HEAD.size, min(length, FRONT))
    try:
        *_, size, _, name = CHUNK_HEAD.unpack_from(front)
        begin = CHUNK_HEAD.size + name
        packing = front[CHUNK_HEAD.size:begin].decode('utf-8')
        packed, = struct.unpack_from('<Q', front, begin)
    except (struct.error, UnicodeDecodeError):
        raise ValueError('a chunk without a head') from None
    if begin + 8 + packed > length or size > MOST_BYTES or (not packing and size != packed):
        raise ValueError(f'a chunk of {length} bytes with {packed} of data that unpack to {size}; '
                         f'at most {MOST_BYTES} are read')
    return _Chunk(packing, packed, size, begin + 8)


def _check_inner(data: bytes, mode: str) -> None:
    """Check the descriptions of topics in a chunk, and messages that are packed."""
    place, packed = 0, mode == 'message'
    while place + HEAD.size <= len(data):
        code, length = HEAD.unpack_from(data, place)
        place += HEAD.size
        if code == MESSAGE:
            # millions of empty records take a reader as long as millions of messages
            if length < MESSAGE_HEAD:
                raise ValueError(f'a message of {length} bytes')
            if packed:
                _check_record(code, data[place:place + length])
        elif code in (SCHEMA, CHANNEL):
            _check_record(code, data[place:place + length])
        else:
            raise ValueError(f'a chunk with a record of kind {code}')
        place += length


def _check_record(code: int, content: bytes) -> None:
    """Refuse a definition or a quality of service that is too long, a message that is a bomb."""
    if code == MESSAGE:
        check_packed(content[MESSAGE_HEAD:])
    elif code == SCHEMA and len(content) > MOST_DEFINITION:
        raise ValueError(f'a definition of {len(content)} bytes, at most {MOST_DEFINITION} are '
                         'read')
    elif code == CHANNEL:
        if len(content) > 2 * MOST_QOS:
            raise ValueError(f'a topic described by {len(content)} bytes')
        # every one of the pairs of length and text, as a reader takes them
        begin = content.find(QOS)
        while begin >= 0:
            length = int.from_bytes(content[begin + len(QOS):begin + len(QOS) + 4], 'little')
            text = content[begin + len(QOS) + 4:begin + len(QOS) + 4 + length]
            check_qos(text.decode('utf-8', 'replace'))
            begin = content.find(QOS, begin + 1)


def _index(file: BinaryIO, size: int
           ) -> tuple[list[tuple[int, int, int, tuple[str, int, int]]], bool]:
    """Return the chunks that the summary names, and whether it describes topics."""
    file.seek(max(0, size - TAIL))
    tail = file.read()
    if len(tail) < TAIL or tail[0] != FOOTER:
        return [], False
    begin, = struct.unpack_from('<Q', tail, HEAD.size)
    found, described = [], False
    if len(MAGIC) <= begin <= size:
        for place, code, length in _records(file, begin, size):
            if code in (SCHEMA, CHANNEL):
                described = described or code == SCHEMA
                _check_record(code, _content(file, place + HEAD.size, length))
            elif code == CHUNK_INDEX:
                found.append(_indexed(_content(file, place + HEAD.size, length)))
            elif code == FOOTER:
                break
    return found, described


def _indexed(content: bytes) -> tuple[int, int, int, tuple[str, int, int]]:
    """Return times and place of a chunk, and its compression with both sizes."""
    try:
        first, last, start, _, offsets = struct.unpack_from('<QQQQI', content)
        begin = 36 + offsets + 12
        name, = struct.unpack_from('<I', content, begin - 4)
        packing = content[begin:begin + name].decode('utf-8')
        packed, unpacked = struct.unpack_from('<QQ', content, begin + name)
    except (struct.error, UnicodeDecodeError):
        raise ValueError('an index of a chunk that cannot be read') from None
    return first, last, start, (packing, packed, unpacked)


def _check_together(spans: list[tuple[int, int, int]]) -> None:
    """Refuse chunks of one time, which a reader has in memory together."""
    events = sorted([(first, 1, size) for first, _, size in spans]
                    + [(max(first, last), 2, -size) for first, last, size in spans])
    together = 0
    for _, _, size in events:
        together += size
        if together > MOST_TOGETHER:
            raise ValueError(f'chunks of one time of more than {MOST_TOGETHER} bytes together')
