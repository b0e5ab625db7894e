# SPDX-License-Identifier: Apache-2.0
"""
Limits of MCAP files, checked before a general reader opens them (https://mcap.dev/spec).

A reader must not trust the index at the end of a file, nor unpack chunks to any size. Here the
heads of all chunks are compared with the index, and every packed chunk is unpacked once, up to the
size in its head. What the scan finds is returned as an `McapLayout`, by which the file is read.
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
    STATISTICS,
    records,
)
from c3p_bags.storage.mcap_layout import McapBlock, McapLayout
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


class _Summary(NamedTuple):
    """Index entries of the summary; whether it describes topics, and counts their messages."""

    chunks: list[tuple[int, int, int, tuple[str, int, int]]]
    described: bool
    counted: bool


def check_mcap(file: BinaryIO, size: int, mode: str = '') -> McapLayout:
    """
    Return the layout of an MCAP file; refuse one that exceeds the limits.

    `mode` is ``'message'`` where every message is packed on its own; `size` is that of the file.

    Raises
    ------
    ValueError
        A limit is exceeded; the text names it.
    """
    summary = _index(file, size)
    layout = McapLayout()
    # what no summary states is counted and looked for in the chunks
    look_inside = (not (summary.chunks and summary.described and summary.counted)
                   or mode == 'message')
    places = {}
    total = 0
    # front to back, independent of the index: what a reader could reach is checked
    for place, code, length in _records(file, len(MAGIC), size):
        if code == CHUNK:
            block = places[place] = _chunk(file, place, length)
            total += block.size
            if total > RATIO * size + FREE_BYTES:
                raise ValueError(f'{size} bytes that unpack to more than {total}')
            if block.packing or look_inside:
                data = unpack(block.packing, _content(file, block.place, block.packed),
                              block.size)
                _check_inner(data, mode, layout)
            else:
                layout.unread = True
            layout.blocks.append(block)
        elif code in (SCHEMA, CHANNEL):
            content = _content(file, place + RECORD.size, length)
            _check_record(code, content)
            layout.describe(code, content)
        elif code == MESSAGE:
            head = _content(file, place + RECORD.size, min(length, MESSAGE_HEAD.size))
            layout.add_message(place, RECORD.size + length, head)
            if mode == 'message':
                check_packed(_content(file, place + RECORD.size, length)[MESSAGE_HEAD.size:])
        elif code == STATISTICS:
            layout.state(_content(file, place + RECORD.size, length))
    # sizes in the index must be those of the chunk heads
    for _, _, start, sizes in summary.chunks:
        found = places.get(start)
        if found is None or (found.packing, found.packed, found.size) != sizes:
            raise ValueError(f'an index entry without a chunk at {start}')
    _check_together([(first, last, sizes[2]) for first, last, _, sizes in summary.chunks])
    layout.sortable = _together([(b.first, b.last, b.size) for b in layout.blocks]
                                ) <= MOST_TOGETHER
    return layout


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


def _chunk(file: BinaryIO, place: int, length: int) -> McapBlock:
    """Return where the data of a chunk are, by its head."""
    front = _content(file, place + RECORD.size, min(length, FRONT))
    try:
        first, last, size, checksum, name = CHUNK_HEAD.unpack_from(front)
        begin = CHUNK_HEAD.size + name
        packing = front[CHUNK_HEAD.size:begin].decode('utf-8')
        packed, = struct.unpack_from('<Q', front, begin)
    except (struct.error, UnicodeDecodeError):
        raise ValueError('a chunk without a head') from None
    if begin + 8 + packed > length or size > MOST_BYTES or (not packing and size != packed):
        raise ValueError(f'a chunk of {length} bytes with {packed} of data that unpack to {size}: '
                         f'the limit is {MOST_BYTES}')
    return McapBlock(place + RECORD.size + begin + 8, packed, size, packing, first, last,
                     checksum)


def _check_inner(block: bytes, mode: str, layout: McapLayout) -> None:
    """Check and count what is in a chunk: descriptions of topics, and messages."""
    for code, begin, end in records(block):
        if code == MESSAGE:
            # millions of empty records take a reader as long as millions of messages
            if end - begin < MESSAGE_HEAD.size:
                raise ValueError(f'a message of {end - begin} bytes')
            layout.count(block, begin)
            if mode == 'message':
                check_packed(block[begin + MESSAGE_HEAD.size:end])
        elif code in (SCHEMA, CHANNEL):
            _check_record(code, block[begin:end])
            layout.describe(code, block[begin:end])
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
        The limit is exceeded, or the message is damaged.
    """
    if not isinstance(data, bytes):
        return
    try:
        found = unpack_some('zstd', data, MOST_BYTES + 1)
    # the library has its own exceptions
    except Exception as error:
        raise ValueError(f'a message that cannot be unpacked ({error})') from None
    if len(found) > MOST_BYTES:
        raise ValueError(f'a message that unpacks to more than {MOST_BYTES} bytes')


def _index(file: BinaryIO, size: int) -> _Summary:
    """Return what the summary has, if any."""
    file.seek(max(0, size - TAIL))
    tail = file.read()
    if len(tail) < TAIL or tail[0] != FOOTER:
        return _Summary([], False, False)
    begin, = struct.unpack_from('<Q', tail, RECORD.size)
    found = []
    codes = set()
    if len(MAGIC) <= begin <= size:
        for place, code, length in _records(file, begin, size):
            codes.add(code)
            if code in (SCHEMA, CHANNEL):
                _check_record(code, _content(file, place + RECORD.size, length))
            elif code == CHUNK_INDEX:
                found.append(_indexed(_content(file, place + RECORD.size, length)))
            elif code == FOOTER:
                break
    return _Summary(found, {SCHEMA, CHANNEL} <= codes, STATISTICS in codes)


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
    if _together(spans) > MOST_TOGETHER:
        raise ValueError(f'overlapping chunks of more than {MOST_TOGETHER} bytes together')


def _together(spans: list[tuple[int, int, int]]) -> int:
    """Return the largest number of bytes of overlapping spans: first, last time, and bytes."""
    # sweep over time: sizes are added at the first and removed after the last message of a chunk
    events = sorted([(first, 1, size) for first, _, size in spans]
                    + [(max(first, last), 2, -size) for first, last, size in spans])
    together = 0
    most = 0
    for _, _, size in events:
        together += size
        most = max(most, together)
    return most
