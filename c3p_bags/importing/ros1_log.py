# SPDX-License-Identifier: Apache-2.0
"""Bags of ROS 1: fields of messages as columns, and messages that ROS 2 has as well."""

from __future__ import annotations

import bz2
import dataclasses
import re
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import merge
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.interfaces import Connection
from rosbags.rosbag1 import Reader
from rosbags.typesys import Stores, get_typestore

from c3p_bags.importing.mapping import TimeMapping
from c3p_bags.importing.tables import Events, LogTable, held, times_of
from c3p_bags.runs.clock_steps import find_steps
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.mcap_limits import FREE_BYTES, RATIO
from c3p_bags.storage.recording_order import exchanged
from c3p_bags.storage.stored_topics import LEAP
from c3p_bags.storage.unpacking import MOST_BYTES, unpack_some
from c3p_description.texts import one_line

MAGIC = b'#ROSBAG V2.0\n'
CHUNK = 5

# messages that are copied without a mapping, if their topics are those of a robot
COPIED = ('sensor_msgs/msg/JointState', 'nav_msgs/msg/Odometry', 'sensor_msgs/msg/Imu',
          'geometry_msgs/msg/TwistStamped', 'geometry_msgs/msg/Twist',
          'geometry_msgs/msg/PoseStamped', 'std_msgs/msg/String')

# a part of a path: field, and in brackets place or name
PART = re.compile(r'(\w+)(?:\[([^\]]*)\])?$')


class Ros1Log:
    """
    A bag of ROS 1.

    Attributes
    ----------
    path : Path
    kinds : dict of str to str
        Type of each topic.
    remarks : tuple of str

    Raises
    ------
    BagError
        Not a bag of ROS 1 (version 2.0), damaged, or above a limit.
    """

    def __init__(self, path: Path) -> None:
        """Check and open."""
        self.path = path
        try:
            _check(path)
            self._reader = AnyReader([path] if path.suffix == '.bag' else [_renamed(path)],
                                     default_typestore=get_typestore(Stores.ROS1_NOETIC))
            self._reader.open()
        except BagError:
            raise
        # damaged bytes raise any exception of the library
        except Exception as error:
            raise BagError(f'{path}: cannot be read: {one_line(error)}; `rosbag reindex` mends a '
                           'bag that was cut off') from error
        self.kinds = {c.topic: c.msgtype for c in self._reader.connections}
        reader, = self._reader.readers
        self._order = _file_order(reader) if isinstance(reader, Reader) else None
        self.remarks = () if self._order is None else (
            f'the clock of the recorder was set back {self._order.steps} times: times of '
            'recording continue those before',)

    def messages(self, topics: Sequence[str]) -> Iterator[tuple[str, int, Any]]:
        """
        Yield topic, time of recording [ns] and message.

        Raises
        ------
        BagError
            The bag is damaged.
        """
        wanted = [c for c in self._reader.connections if c.topic in topics]
        try:
            rows = () if not wanted else self._reader.messages(wanted) if (
                self._order is None) else self._order.messages(topics)
            for connection, time, data in rows:
                yield connection.topic, time, self._reader.deserialize(data, connection.msgtype)
        # damaged bytes raise any exception of the library
        except Exception as error:
            raise BagError(f'{self.path}: cannot be read: {one_line(error)}') from error

    def table(self, columns: Sequence[str], time: TimeMapping, summed: Collection[str] = ()
              ) -> LogTable:
        """
        Return the newest values of columns ``TOPIC#FIELD``, at the messages of the first topic.

        Of `summed` the sums of their records.

        A field is a path such as ``pose.pose.position.x`` or ``position[3]``; in messages with
        names ``position[left_wheel]``. The times are the stamps of the messages, of those
        without a stamp the times of recording; or those of the column of times.

        Raises
        ------
        BagError
            A topic or a field is missing, or has no number.
        """
        wanted = [*columns, *([time.column] if time.column else [])]
        paths: dict[str, list[tuple[str, str]]] = {}
        for column in wanted:
            topic, mark, field = column.partition('#')
            if not mark or topic not in self.kinds:
                raise BagError(f'{self.path}: no column {column!r}: must be TOPIC#FIELD, with a '
                               f'topic of {", ".join(sorted(self.kinds))[:400]}')
            paths.setdefault(topic, []).append((column, field))
        rows: dict[str, list[tuple[float, float, float]]] = {column: [] for column in wanted}
        for number, (topic, recorded, message) in enumerate(self.messages(list(paths))):
            stamp = 1e-9 * _stamp(message, recorded)
            for column, field in paths[topic]:
                value = self._value(message, field, column, number)
                rows[column].append((stamp, 1e-9 * recorded, value))
        tables = {column: np.array(found).reshape(-1, 3) for column, found in rows.items()}
        # the clock of the stamps was set while that of the recorder was not
        back = any((find_steps(np.rint(1e9 * found[:, 0]).astype(np.int64)).by < 0).any()
                   for found in tables.values())
        remarks = ('the clock of the stamps was set back: the times of recording are used',) if (
            back) else ()
        events = {column: Events(found[:, int(back)], found[:, 2])
                  for column, found in tables.items()}
        events |= {column: events[column]._replace(value=np.cumsum(events[column].value))
                   for column in summed}
        first = events[columns[0]]
        if time.column:
            stamps = held({'time': events[time.column]}, first.time)['time']
            return LogTable(times_of(stamps, time), held(
                {c: events[c] for c in columns}, first.time), remarks)
        order = np.argsort(first.time, kind='stable')
        at = first.time[order]
        return LogTable(at + time.offset, held({c: Events(
            *(part[np.argsort(events[c].time, kind='stable')] for part in events[c]))
            for c in columns}, at), remarks)

    def _value(self, message: Any, field: str, column: str, number: int) -> float:
        """Return the number at a path in a message."""
        found = message
        for part in field.split('.'):
            match = PART.match(part)
            name, place = match.groups() if match else (part, None)
            inside = getattr(found, name, None) if match and not name.startswith('_') else None
            if inside is None:
                known = ', '.join(getattr(found, '__dataclass_fields__', {}))
                raise BagError(f'{self.path}, message {number}: {column!r}: no field {part!r}; it '
                               f'has {known or "none"}')
            if place is not None:
                inside = self._element(found, inside, place, column, number)
            found = inside
        if isinstance(found, (bool, int, float, np.number, np.bool_)):
            return float(found)
        raise BagError(f'{self.path}, message {number}: {column!r} is not a number; name an '
                       'element in brackets, or a field in it')

    def _element(self, message: Any, values: Any, place: str, column: str, number: int) -> Any:
        """Return an element by its place, or by its name among the names of the message."""
        names = list(getattr(message, 'name', ()))
        index = names.index(place) if place in names else (
            int(place) if place.isdecimal() else None)
        if index is None or index >= len(values):
            raise BagError(f'{self.path}, message {number}: {column!r}: no element {place!r} of '
                           f'{len(values)}; the names are {", ".join(map(str, names))[:300]}')
        return values[index]


def _stamp(message: Any, recorded: int) -> int:
    """Return the stamp of a message in ns, else the time of its recording."""
    stamp = getattr(getattr(message, 'header', None), 'stamp', None)
    if stamp is None:
        return recorded
    return int(stamp.sec) * 10**9 + int(stamp.nanosec) or recorded


def copied(message: Any, types: Mapping[str, type]) -> Any:
    """
    Return a message of ROS 1 made of the classes of ROS 2, whose headers have no counter.

    Raises
    ------
    KeyError
        ROS 2 has no such type.
    """
    kind = message.__msgtype__
    fields = {}
    for field in dataclasses.fields(types[kind]):
        name = field.name
        value = getattr(message, name)
        if hasattr(value, '__msgtype__'):
            value = copied(value, types)
        elif isinstance(value, list):
            value = [copied(one, types) if hasattr(one, '__msgtype__') else one for one in value]
        fields[name] = value
    return types[kind](**fields)


def _renamed(path: Path) -> Path:
    raise BagError(f'{path}: a bag of ROS 1 whose name does not end in .bag; rename it')


class FileOrder(NamedTuple):
    """
    Messages of a bag in the order of its file.

    Attributes
    ----------
    reader : Reader
    places : dict of int to list
        By connection: place of each message in this order, and a time of recording that rises.
    steps : int
        Times that the clock was set back.
    """

    reader: Reader
    places: Mapping[int, list[tuple[int, int]]]
    steps: int

    def messages(self, topics: Collection[str]) -> Iterator[tuple[Connection, int, bytes]]:
        """Yield connection, time of recording [ns] and bytes of messages."""
        rows = [zip(self.places[one.id], self.reader.messages([one]), strict=True)
                for one in self.reader.connections if one.topic in topics]
        for (_, time), (connection, _, data) in merge(*rows, key=lambda row: row[0][0]):
            yield connection, time, data


def _file_order(reader: Reader) -> FileOrder | None:
    """
    Return the order of the file of a bag whose clock was set back, None for others.

    A reader sorts by the times of recording, and would mix what was recorded before and after the
    step. The index has the places in the file.
    """
    entries = sorted((entry.chunk_pos, entry.offset, entry.time, connection)
                     for connection, some in reader.indexes.items() for entry in some)
    time = np.array([entry[2] for entry in entries], np.int64)
    step = np.diff(time)
    back = step < -LEAP
    if not back.any() or exchanged(time):
        return None
    forward = step[step > 0]
    usual = int(np.median(forward)) if len(forward) else 0
    even = time - np.append(0, np.cumsum(np.where(back, step - usual, 0)))
    places: dict[int, list[tuple[int, int]]] = {connection: [] for connection in reader.indexes}
    for place, entry in enumerate(entries):
        places[entry[3]].append((place, int(even[place])))
    for some in reader.indexes.values():
        some.sort(key=lambda entry: (entry.chunk_pos, entry.offset))
    return FileOrder(reader, places, int(back.sum()))


def _check(path: Path) -> None:
    """Refuse chunks that unpack to more than the limits."""
    size = path.stat().st_size
    total = 0
    with path.open('rb') as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise BagError(f'{path}: is not a bag of ROS 1, version 2.0')
        place = len(MAGIC)
        while place + 4 <= size:
            file.seek(place)
            head = file.read(4)
            length, = struct.unpack('<I', head)
            if length > MOST_BYTES or place + 8 + length > size:
                raise ValueError(f'a record at byte {place} ends after the file')
            header = file.read(length)
            count, = struct.unpack('<I', file.read(4))
            if count > MOST_BYTES or place + 8 + length + count > size:
                raise ValueError(f'a record of {count} bytes at byte {place}')
            if b'op=' + bytes([CHUNK]) in header:
                total += _unpacked(header, file.read(count), place)
                if total > RATIO * size + FREE_BYTES:
                    raise ValueError(f'{size} bytes that unpack to more than {total}')
            place += 8 + length + count


def _unpacked(header: bytes, data: bytes, place: int) -> int:
    """Return the size of a chunk, which must be the one that it states."""
    found = re.search(rb'size=(....)', header, re.DOTALL)
    stated = struct.unpack('<I', found[1])[0] if found else 0
    if stated > MOST_BYTES:
        raise ValueError(f'a chunk of {stated} bytes at byte {place} exceeds the limit '
                         f'{MOST_BYTES}')
    if b'compression=bz2' in header:
        size = len(bz2.BZ2Decompressor().decompress(data, stated + 1))
    else:
        packing = 'lz4' if b'compression=lz4' in header else ''
        size = len(unpack_some(packing, data, stated + 1))
    if size > stated:
        raise ValueError(f'a chunk at byte {place} that unpacks to more than the {stated} bytes '
                         'that it states')
    return size
