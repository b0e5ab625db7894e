# SPDX-License-Identifier: Apache-2.0
"""
Limits of MCAP files, checked before a general reader opens them (https://mcap.dev/spec).

A general reader trusts the index at the end of a file, and unpacks chunks to any size. Here the
heads of all chunks are compared with the index, and every packed chunk is unpacked once, up to the
size in its head.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from c3p_bags.storage.mcap import (
    CHANNEL,
    CHUNK,
    CHUNK_HEAD,
    CHUNK_INDEX,
    FOOTER,
    MAGIC,
    MESSAGE,
    MESSAGE_HEAD,
    RECORD,
    SCHEMA,
    records,
)
from c3p_bags.storage.unpacking import MOST_BYTES, unpack, unpack_some
from c3p_description.reading.yaml_files import YamlFileError, parse_yaml

# bytes of a file when unpacked: times its size, and a constant
RATIO = 100
FREE_BYTES = 64_000_000
# bytes of the chunks that a reader holds at one time
MOST_TOGETHER = 2 * MOST_BYTES
# characters of a message definition, and of the quality of service of a topic
MOST_DEFINITION = 200_000
MOST_QOS = 20_000

# bytes of a footer with the magic behind it, and those read of a chunk for its head
TAIL = 37
FRONT = 120
QOS = b'offered_qos_profiles'


class _Chunk(NamedTuple):
    """Compression, packed and unpacked size of a chunk, and where its data begin in the record."""

    packing: str
    packed: int
    size: int
    begin: int


def check_mcap(file: BinaryIO, size: int, mode: str = '') -> None:
    """
    Refuse an MCAP file that exceeds the limits.

    `mode` is ``'message'`` where every message is packed on its own; `size` is that of the file.

    Raises
    ------
    ValueError
        A limit is exceeded; the text names it.
    """
    indexed, described = _index(file, size)
    # without a summary a reader looks for the descriptions of topics in the chunks
    look_inside = not (indexed and described) or mode == 'message'
    chunks = {}
    total = 0
    # front to back, independent of the index: what a reader could reach is checked
    for place, code, length in _records(file, len(MAGIC), size):
        if code == CHUNK:
            chunk = chunks[place] = _chunk(file, place, length)
            total += chunk.size
            if total > RATIO * size + FREE_BYTES:
                raise ValueError(f'{size} bytes that unpack to more than {total}')
            if chunk.packing or look_inside:
                data = unpack(chunk.packing, _content(
                    file, place + RECORD.size + chunk.begin, chunk.packed), chunk.size)
                _check_inner(data, mode)
        elif code in (SCHEMA, CHANNEL):
            _check_record(code, _content(file, place + RECORD.size, length))
        elif code == MESSAGE and mode == 'message':
            check_packed(_content(file, place + RECORD.size, length)[MESSAGE_HEAD.size:])
    # a reader trusts sizes in the index, so they must be those of the chunk heads
    for _, _, start, head in indexed:
        found = chunks.get(start)
        if found is None or found[:3] != head:
            raise ValueError(f'an index entry without a chunk at {start}')
    _check_together([(first, last, head[2]) for first, last, _, head in indexed])


def _records(file: BinaryIO, place: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield place, opcode and length of the complete records on the file's top level."""
    while place + RECORD.size <= size:
        file.seek(place)
        code, length = RECORD.unpack(file.read(RECORD.size))
        if place + RECORD.size + length > size:
            return
        yield place, code, length
        place += RECORD.size + length


def _content(file: BinaryIO, place: int, length: int) -> bytes:
    if length > MOST_BYTES:
        raise ValueError(f'a record of {length} bytes exceeds the limit {MOST_BYTES}')
    file.seek(place)
    return file.read(length)


def _chunk(file: BinaryIO, place: int, length: int) -> _Chunk:
    """Return the head of a chunk."""
    front = _content(file, place + RECORD.size, min(length, FRONT))
    try:
        *_, size, _, name = CHUNK_HEAD.unpack_from(front)
        begin = CHUNK_HEAD.size + name
        packing = front[CHUNK_HEAD.size:begin].decode('utf-8')
        packed, = struct.unpack_from('<Q', front, begin)
    except (struct.error, UnicodeDecodeError):
        raise ValueError('a chunk without a head') from None
    if begin + 8 + packed > length or size > MOST_BYTES or (not packing and size != packed):
        raise ValueError(f'a chunk of {length} bytes with {packed} of data that unpack to {size}: '
                         f'the limit is {MOST_BYTES}')
    return _Chunk(packing, packed, size, begin + 8)


def _check_inner(block: bytes, mode: str) -> None:
    """Check the descriptions of topics in a chunk, and messages that are packed."""
    for code, begin, end in records(block):
        if code == MESSAGE:
            # millions of empty records take a reader as long as millions of messages
            if end - begin < MESSAGE_HEAD.size:
                raise ValueError(f'a message of {end - begin} bytes')
            if mode == 'message':
                check_packed(block[begin + MESSAGE_HEAD.size:end])
        elif code in (SCHEMA, CHANNEL):
            _check_record(code, block[begin:end])
        else:
            raise ValueError(f'a chunk with a record of kind {code}')


def _check_record(code: int, content: bytes) -> None:
    """Refuse a message definition or a quality of service that is too long."""
    if code == SCHEMA and len(content) > MOST_DEFINITION:
        raise ValueError(f'a definition of {len(content)} bytes exceeds the limit '
                         f'{MOST_DEFINITION}')
    if code == CHANNEL:
        if len(content) > 2 * MOST_QOS:
            raise ValueError(f'a topic described by {len(content)} bytes')
        # every pair of length and text, as a reader takes them
        begin = content.find(QOS)
        while begin >= 0:
            length = int.from_bytes(content[begin + len(QOS):begin + len(QOS) + 4], 'little')
            text = content[begin + len(QOS) + 4:begin + len(QOS) + 4 + length]
            check_qos(text.decode('utf-8', 'replace'))
            begin = content.find(QOS, begin + 1)


def check_qos(text: Any) -> None:
    """
    Refuse a quality of service whose YAML expands beyond the limits; only a `text` is checked.

    Raises
    ------
    ValueError
        A limit is exceeded; the text names it.
    """
    if not isinstance(text, str):
        return
    if len(text) > MOST_QOS:
        raise ValueError(f'a quality of service of {len(text)} characters')
    try:
        parse_yaml(text)
    except YamlFileError as error:
        raise ValueError(f'the quality of service of a topic: {error}') from None


def check_packed(data: Any) -> None:
    """
    Refuse a packed message of more than `MOST_BYTES`; `data` other than bytes is not checked.

    Raises
    ------
    ValueError
        The limit is exceeded.
    """
    if isinstance(data, bytes) and len(unpack_some('zstd', data, MOST_BYTES + 1)) > MOST_BYTES:
        raise ValueError(f'a message that unpacks to more than {MOST_BYTES} bytes')


def _index(file: BinaryIO, size: int
           ) -> tuple[list[tuple[int, int, int, tuple[str, int, int]]], bool]:
    """Return the index entries of the summary, and whether it describes topics."""
    file.seek(max(0, size - TAIL))
    tail = file.read()
    if len(tail) < TAIL or tail[0] != FOOTER:
        return [], False
    begin, = struct.unpack_from('<Q', tail, RECORD.size)
    found = []
    described = False
    if len(MAGIC) <= begin <= size:
        for place, code, length in _records(file, begin, size):
            if code in (SCHEMA, CHANNEL):
                described = described or code == SCHEMA
                _check_record(code, _content(file, place + RECORD.size, length))
            elif code == CHUNK_INDEX:
                found.append(_indexed(_content(file, place + RECORD.size, length)))
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
        raise ValueError('a damaged index entry of a chunk') from None
    return first, last, start, (packing, packed, unpacked)


def _check_together(spans: list[tuple[int, int, int]]) -> None:
    """Refuse overlapping chunks that together exceed the limit: a reader holds all of them."""
    # sweep over time: sizes are added at the first and removed after the last message of a chunk
    events = sorted([(first, 1, size) for first, _, size in spans]
                    + [(max(first, last), 2, -size) for first, last, size in spans])
    together = 0
    for _, _, size in events:
        together += size
        if together > MOST_TOGETHER:
            raise ValueError(f'overlapping chunks of more than {MOST_TOGETHER} bytes together')
