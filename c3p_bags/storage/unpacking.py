# SPDX-License-Identifier: Apache-2.0
"""Compressed parts of bags, unpacked up to a size that is known before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

# of a chunk or a message when it is unpacked: rosbag2 writes chunks of about 1 MB, but
# splits no message
MOST_BYTES = 100_000_000
# of a stream that is read at a time
PIECE = 1 << 20


def _decompressor(packing: str) -> Any:
    """Return what unpacks one frame."""
    if packing == 'lz4':
        from lz4.frame import LZ4FrameDecompressor

        return LZ4FrameDecompressor()
    if packing != 'zstd':
        raise ValueError(f'compression {packing[:20]!r}: only lz4 and zstd are known')
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor
    else:
        from backports.zstd import ZstdDecompressor
    return ZstdDecompressor()


def unpack_some(packing: str, data: bytes, most: int) -> bytes:
    """
    Return the beginning of what is packed, at most `most` bytes.

    Parameters
    ----------
    packing : str
        ``''``, ``'lz4'`` or ``'zstd'``.
    data : bytes
        One frame or several; the last one may be cut.
    most : int

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


def unpack(packing: str, data: bytes, size: int) -> bytes:
    """
    Return what is packed, which must have the size that is told beside it.

    Parameters
    ----------
    packing, data
        As for `unpack_some`.
    size : int

    Raises
    ------
    ValueError
        Another size, more than 100 MB, another compression, or damaged data.
    """
    if size > MOST_BYTES:
        raise ValueError(f'a chunk of {size} bytes, at most {MOST_BYTES} are read')
    try:
        found = unpack_some(packing, data, size + 1)
    # each of the packages has exceptions of its own
    except Exception as error:
        raise ValueError(f'a chunk that cannot be unpacked ({error})') from None
    if len(found) != size:
        more = 'more than ' if len(found) > size else ''
        raise ValueError(f'a chunk of {size} bytes that unpacks to {more}'
                         f'{min(len(found), size)}')
    return found


def unpack_stream(source: BinaryIO, most: int) -> Iterator[bytes]:
    """
    Yield the pieces of a file that was packed by zstd as a whole.

    Parameters
    ----------
    source : binary file
    most : int
        Bytes altogether.

    Raises
    ------
    ValueError
        There are more, or the data are damaged.
    """
    undo, total, left = _decompressor('zstd'), 0, b''
    while left or (left := source.read(PIECE)):
        try:
            piece = bytes(undo.decompress(left, max_length=PIECE))
        # of the package's own kind
        except Exception as error:
            raise ValueError(f'it cannot be unpacked ({error})') from None
        total += len(piece)
        if total > most:
            raise ValueError(f'it unpacks to more than {most} bytes; unpack it yourself, such as '
                             'by `zstd -d`')
        yield piece
        if undo.eof:
            left, undo = undo.unused_data, _decompressor('zstd')
        else:
            # what waits inside comes without new data
            left = b''
            while not undo.needs_input and not undo.eof:
                piece = bytes(undo.decompress(b'', max_length=PIECE))
                total += len(piece)
                if total > most:
                    raise ValueError(f'it unpacks to more than {most} bytes')
                yield piece
            if undo.eof:
                left, undo = undo.unused_data, _decompressor('zstd')
