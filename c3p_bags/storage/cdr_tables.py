# SPDX-License-Identifier: Apache-2.0
"""
Many messages of one type at once: their bytes as the rows of a table, their fields as its columns.

Messages whose strings and counts are equal have every number at the same place (plain CDR: each
value aligned to its size, counted from behind the four bytes of the header). Of a topic nearly all
are so: the same frames, the same joints. They lie under each other as one array, and a field is
a slice of it; where the layout changes, another table begins.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import Array

HEADER = 4

# what stands in a message, in order: 'stamp', 'text', 'texts', 'doubles' (a sequence), a number of
# doubles, or 'bool'
Form = tuple[str | int, ...]
FORMS: dict[str, Form] = {
    'sensor_msgs/msg/JointState': ('stamp', 'text', 'texts', 'doubles', 'doubles', 'doubles'),
    'nav_msgs/msg/Odometry': ('stamp', 'text', 'text', 7, 36, 6, 36),
    'geometry_msgs/msg/TwistStamped': ('stamp', 'text', 6),
    'geometry_msgs/msg/Twist': (6,),
    'geometry_msgs/msg/AccelStamped': ('stamp', 'text', 6),
    'geometry_msgs/msg/PoseStamped': ('stamp', 'text', 7),
    'std_msgs/msg/Bool': ('bool',),
    'std_msgs/msg/Float64': (1,),
}


class Table(NamedTuple):
    """
    Messages of one layout.

    Attributes
    ----------
    rows : (k,) int array
        Which of the messages.
    fields : tuple
        As in the form: stamps (k,) in ns, a text, a tuple of texts, doubles (k, m), flags (k,).
    """

    rows: Array
    fields: tuple[Any, ...]


class _Layout(NamedTuple):
    """Where the fields of a message are: texts as they read, numbers as (kind, place, count)."""

    fields: list[Any]
    # what must be the same in every message of this layout, as slices of bytes
    same: list[slice]
    size: int


def _aligned(place: int, size: int) -> int:
    return place + (HEADER - place) % size


class _Walker:
    """Goes through one message and notes where things are."""

    def __init__(self, data: bytes) -> None:
        if len(data) < HEADER or data[0] != 0 or data[1] not in (0, 1):
            raise ValueError(f'not plain CDR: it begins with {data[:HEADER].hex()}')
        self.data, self.order = data, '<' if data[1] else '>'
        self.place, self.same = HEADER, [slice(0, 2)]

    def count(self) -> int:
        begin = _aligned(self.place, 4)
        value, = struct.unpack_from(self.order + 'I', self.data, begin)
        self.place = begin + 4
        self.same.append(slice(begin, self.place))
        return value

    def text(self) -> str:
        length = self.count()
        begin, self.place = self.place, self.place + length
        self.same.append(slice(begin, self.place))
        return self.data[begin:self.place - 1].decode('utf-8', 'replace')

    def numbers(self, kind: str, size: int, count: int) -> tuple[str, int, int]:
        begin = _aligned(self.place, size) if count else self.place
        self.place = begin + size * count
        return kind, begin, count

    def field(self, form: str | int) -> Any:
        if form == 'stamp':
            return self.numbers('stamp', 4, 2)
        if form == 'text':
            return self.text()
        if form == 'texts':
            return tuple(self.text() for _ in range(min(self.count(), len(self.data))))
        if form == 'bool':
            return self.numbers('bool', 1, 1)
        return self.numbers('double', 8, self.count() if form == 'doubles' else form)


def _layout(data: bytes, form: Form) -> _Layout | None:
    """Return the layout of a message; None where it is not whole."""
    try:
        walker = _Walker(data)
        fields = [walker.field(part) for part in form]
    except (struct.error, ValueError):
        return None
    return _Layout(fields, walker.same, walker.place) if walker.place <= len(data) else None


class Status(NamedTuple):
    """One DiagnosticStatus: name, level (0 OK to 3 STALE), message and values by their keys."""

    name: str
    level: int
    message: str
    values: dict[str, str]


def read_diagnostics(data: bytes) -> tuple[int, list[Status]] | None:
    """
    Return stamp [ns] and statuses of a serialised DiagnosticArray; None where it is not whole.

    Its texts differ from message to message, so that it is no row of a table.
    """
    if len(data) < HEADER or data[0] != 0 or data[1] not in (0, 1):
        return None
    order = '<' if data[1] else '>'
    word = struct.Struct(order + 'I').unpack_from
    place = HEADER + 8

    def count() -> int:
        nonlocal place
        begin = place + (HEADER - place) % 4
        place = begin + 4
        return word(data, begin)[0]

    def text() -> str:
        nonlocal place
        length = count()
        begin, place = place, place + length
        if place > len(data):
            raise struct.error('cut off')
        return data[begin:place - 1].decode('utf-8', 'replace')

    try:
        seconds, nanoseconds = struct.unpack_from(order + 'iI', data, HEADER)
        text()
        found = []
        for _ in range(count()):
            level, place = data[place], place + 1
            # behind name and message comes the hardware's identifier
            name, message, _ = text(), text(), text()
            found.append(Status(name, level, message, {text(): text() for _ in range(count())}))
    except (struct.error, IndexError):
        return None
    return seconds * 1_000_000_000 + nanoseconds, found


def _columns(block: Array, layout: _Layout, order: str) -> tuple[Any, ...]:
    """Return the fields of a block of messages (k, bytes)."""
    def column(field: Any) -> Any:
        kind, place, count = field
        if kind == 'bool':
            return block[:, place].astype(bool)
        size = 4 if kind == 'stamp' else 8
        part = np.ascontiguousarray(block[:, place:place + size * count])
        if kind == 'double':
            return part.view(f'{order}f8').astype(float).reshape(len(block), count)
        # seconds are signed, nanoseconds are not
        seconds = part[:, :4].copy().view(f'{order}i4').astype(np.int64)
        return (seconds * 1_000_000_000 + part[:, 4:].copy().view(f'{order}u4'))[:, 0]

    def told(field: Any) -> bool:
        return isinstance(field, str) or all(isinstance(part, str) for part in field)

    return tuple(f if told(f) else column(f) for f in layout.fields)


def tables(messages: Sequence[bytes], form: Form) -> Iterator[Table]:
    """
    Yield the messages as tables; those that are cut off or not plain CDR are left out.

    Parameters
    ----------
    messages : sequence of bytes
        Of one type.
    form : tuple
        Of `FORMS`.

    Yields
    ------
    Table
        Together they have every usable message once.

    Examples
    --------
    >>> head = bytes([0, 1, 0, 0])
    >>> data = [head + struct.pack('<d', value) for value in (1.5, 2.5)]
    >>> [table.fields[0].tolist() for table in tables([data[0], b'?', data[1]], (1,))]
    [[[1.5], [2.5]]]
    """
    length = np.array([len(data) for data in messages])
    for size in np.unique(length):
        rows = np.flatnonzero(length == size)
        block = np.frombuffer(b''.join([messages[k] for k in rows]), np.uint8)
        block = block.reshape(len(rows), size)
        while len(rows):
            layout = _layout(messages[rows[0]], form)
            alike = np.ones(len(rows), bool)
            if layout is None:
                # only this one is known to be useless
                alike[1:] = False
            else:
                for part in layout.same:
                    alike &= (block[:, part] == block[0, part]).all(axis=1)
                order = '<' if messages[rows[0]][1] else '>'
                yield Table(rows[alike], _columns(block[alike], layout, order))
            rows, block = rows[~alike], block[~alike]
