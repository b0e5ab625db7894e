# SPDX-License-Identifier: Apache-2.0
"""
Many messages of one type at once, between bytes and arrays. Needs no ROS.

Messages whose texts and counts are equal have every number at the same place (cdr.py). Of a topic
nearly all are so: the same frames, the same joints. Their bytes are the rows of one array, and a
field is some columns of it; where the layout changes, another table begins.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_ros.cdr import LITTLE, Cursor, Layout, MessageError, Slot, aligned, layout_of


class FieldTable(NamedTuple):
    """
    Messages of one layout.

    Attributes
    ----------
    rows : (k,) int array
        Indices of the messages.
    fields : tuple
        As in `cdr.LAYOUTS`: stamps (k,) in ns, a text, a list of texts, doubles (k, m), flags
        (k, 1).
    """

    rows: Array
    fields: tuple[Any, ...]


class Status(NamedTuple):
    """One DiagnosticStatus: name, level (0 OK to 3 STALE), message and values by their keys."""

    name: str
    level: int
    message: str
    values: dict[str, str]


def read_diagnostics(data: bytes) -> tuple[int, list[Status]] | None:
    """
    Return stamp [ns] and statuses of a serialized DiagnosticArray; None where it is not whole.

    Its texts differ from message to message, so that it cannot be a row of a table.
    """
    try:
        cursor = Cursor(data, limited=False)
        seconds, nanoseconds = struct.unpack_from(cursor.order + 'iI', data, cursor.place)
        cursor.place += 8
        cursor.text()
        found = [_status(cursor) for _ in range(cursor.count())]
    except (struct.error, IndexError, MessageError):
        return None
    return seconds * 1_000_000_000 + nanoseconds, found


def read_status(data: bytes) -> Status | None:
    """Return a serialized DiagnosticStatus; None where it is not whole."""
    try:
        return _status(Cursor(data, limited=False))
    except (struct.error, IndexError, MessageError):
        return None


def _status(cursor: Cursor) -> Status:
    text = cursor.text
    count = cursor.count
    level = cursor.data[cursor.place]
    cursor.place = cursor.place + 1
    # behind name and message comes the hardware's identifier
    name = text()
    message = text()
    _ = text()
    # an hour has some ten thousand statuses with the same names and keys
    return Status(sys.intern(name), level, message,
                  {sys.intern(text()): text() for _ in range(count())})


def _column(block: Array, slot: Slot, order: str) -> Array:
    """Return the numbers of a field of messages (k, bytes)."""
    _, place, count = slot
    if slot.kind == 'bool':
        return block[:, place].astype(bool)
    size = 4 if slot.kind == 'stamp' else 8
    part = np.ascontiguousarray(block[:, place:place + size * count])
    if slot.kind == 'double':
        return part.view(f'{order}f8').astype(float).reshape(len(block), count)
    # seconds are signed, nanoseconds are not
    seconds = part[:, :4].copy().view(f'{order}i4').astype(np.int64)
    return (seconds * 1_000_000_000 + part[:, 4:].copy().view(f'{order}u4'))[:, 0]


def _layout(data: bytes, kind: str) -> Layout | None:
    try:
        return layout_of(data, kind, limited=False)
    except MessageError:
        return None


def tables(messages: Sequence[bytes], kind: str) -> Iterator[FieldTable]:
    """
    Yield the messages as tables; those that are cut off or not plain CDR are left out.

    Parameters
    ----------
    messages : sequence of bytes
        Of one type.
    kind : str
        One of `cdr.LAYOUTS`.

    Yields
    ------
    FieldTable
        Together they have every usable message once.

    Examples
    --------
    >>> head = bytes([0, 1, 0, 0])
    >>> data = [head + struct.pack('<d', value) for value in (1.5, 2.5)]
    >>> [table.fields[0].tolist() for table in tables(
    ...     [data[0], b'?', data[1]], 'std_msgs/msg/Float64')]
    [[[1.5], [2.5]]]
    """
    length = np.array([len(data) for data in messages])
    for size in np.unique(length):
        rows = np.flatnonzero(length == size)
        joined = b''.join([messages[k] for k in rows.tolist()])
        block = np.frombuffer(joined, np.uint8).reshape(len(rows), size)
        while len(rows):
            layout = _layout(messages[int(rows[0])], kind)
            alike = np.ones(len(rows), bool)
            if layout is None:
                # only this one is known to be useless
                alike[1:] = False
            else:
                for part in layout.same:
                    alike &= (block[:, part] == block[0, part]).all(axis=1)
                whole = block[alike]
                yield FieldTable(rows[alike], tuple(
                    _column(whole, field, layout.order) if isinstance(field, Slot) else field
                    for field in layout.fields.values()))
            rows = rows[~alike]
            block = block[~alike]


def path_bytes(poses: ArrayLike, frame: str, stamp: int) -> bytes:
    """
    Return a serialized nav_msgs/Path through planar poses, all of one frame and stamp.

    rclpy takes 25 µs for each pose: a thousand would delay other messages by several cycles.

    Parameters
    ----------
    poses : (k, 3) array_like, m and rad
        X, Y, yaw.
    frame : str
    stamp : int, ns
    """
    values = np.reshape(np.asarray(poses, float), (-1, 3))
    name = frame.encode() + b'\0'
    header = (struct.pack('<iII', stamp // 1_000_000_000, stamp % 1_000_000_000, len(name))
              + name)
    data = bytearray(LITTLE + header)
    data += bytes(aligned(len(data), 4) - len(data)) + struct.pack('<I', len(values))
    if not len(values):
        return bytes(data)
    # a pose begins with its header, and its numbers at a multiple of 8; all but the first, which
    # follows the count, begin there as well
    numbers = _numbers(values)
    data += header
    data += bytes(aligned(len(data), 8) - len(data)) + numbers[0].tobytes()
    padded = header + bytes(-len(header) % 8)
    rows = np.empty((len(values) - 1, len(padded) + numbers[0].nbytes), np.uint8)
    rows[:, :len(padded)] = np.frombuffer(padded, np.uint8)
    rows[:, len(padded):] = numbers[1:].view(np.uint8)
    return bytes(data) + rows.tobytes()


def _numbers(poses: np.ndarray) -> np.ndarray:
    """Return position and quaternion (k, 7) of planar poses (k, 3)."""
    out = np.zeros((len(poses), 7), '<f8')
    out[:, :2] = poses[:, :2]
    out[:, 5], out[:, 6] = np.sin(poses[:, 2] / 2), np.cos(poses[:, 2] / 2)
    return out
