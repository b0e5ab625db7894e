# SPDX-License-Identifier: Apache-2.0
"""Unpacking of compressed parts of bags up to a limit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, BinaryIO
from zlib import crc32

# largest unpacked chunk or message: rosbag2 writes chunks of about 1 MB, but does not split
# messages
MOST_BYTES = 100_000_000
# bytes of a stream that are read at a time
PIECE = 1 << 20


def _decompressor(packing: str) -> Any:
    """Return a decompressor of one frame."""
    if packing == 'lz4':
        from lz4.frame import LZ4FrameDecompressor

        return LZ4FrameDecompressor()
    if packing != 'zstd':
        raise ValueError(f'compression {packing[:20]!r}: only lz4 and zstd are supported')
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor
    else:
        from backports.zstd import ZstdDecompressor
    return ZstdDecompressor()


def unpack_some(packing: str, data: bytes, most: int) -> bytes:
    """
    Return the first unpacked bytes, at most `most`.

    `packing` is ``''``, ``'lz4'`` or ``'zstd'``; `data` has one frame or several, of which the
    last may be truncated.

    Raises
    ------
    ValueError
        Another compression.
    Exception
        Of the library, where the data are damaged.
    """
    if packing == '':
        return data[:most]
    found = b''
    while data and len(found) < most:
        undo = _decompressor(packing)
        found += bytes(undo.decompress(data, max_length=most - len(found)))
        if not undo.eof:
            break
        data = undo.unused_data or b''
    return found


def unpack(packing: str, data: bytes, size: int, checksum: int = 0) -> bytes:
    """
    Return unpacked data of exactly `size` bytes; parameters as for `unpack_some`.

    `checksum` is their CRC-32; 0: not known. Damaged data may well unpack, to other numbers.

    Raises
    ------
    ValueError
        Another size, more than 100 MB, another compression, damaged data, or another checksum.
    """
    if size > MOST_BYTES:
        raise ValueError(f'a chunk of {size} bytes exceeds the limit {MOST_BYTES}')
    try:
        found = unpack_some(packing, data, size + 1)
    # each library has its own exceptions
    except Exception as error:
        raise ValueError(f'a chunk that cannot be unpacked ({error})') from None
    if len(found) != size:
        more = 'more than ' if len(found) > size else ''
        raise ValueError(f'a chunk of {size} bytes that unpacks to {more}'
                         f'{min(len(found), size)}')
    if checksum and crc32(found) != checksum:
        raise ValueError(f'a chunk of {size} bytes whose checksum is wrong: it is damaged')
    return found


def unpack_stream(source: BinaryIO, most: int, packing: str = 'zstd') -> Iterator[bytes]:
    """
    Yield the unpacked parts of a file packed as a whole, at most `most` bytes of `source`.

    Raises
    ------
    ValueError
        The limit is exceeded, or the data are damaged.
    """
    undo = _decompressor(packing)
    total = 0
    left = b''
    while left or (left := source.read(PIECE)):
        try:
            piece = bytes(undo.decompress(left, max_length=PIECE))
        # each library has its own exceptions
        except Exception as error:
            raise ValueError(f'cannot be unpacked ({error})') from None
        total += len(piece)
        if total > most:
            raise ValueError(f'unpacks to more than {most} bytes; unpack it before, such as by '
                             '`zstd -d`')
        yield piece
        if undo.eof:
            left = undo.unused_data or b''
            undo = _decompressor(packing)
        else:
            # the decompressor may hold output that needs no further input
            left = b''
            while not undo.needs_input and not undo.eof:
                piece = bytes(undo.decompress(b'', max_length=PIECE))
                total += len(piece)
                if total > most:
                    raise ValueError(f'unpacks to more than {most} bytes')
                yield piece
            if undo.eof:
                left = undo.unused_data or b''
                undo = _decompressor(packing)
