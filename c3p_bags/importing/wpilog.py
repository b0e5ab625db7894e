# SPDX-License-Identifier: Apache-2.0
"""
WPILOG files of robots with WPILib (its data log format, version 1.0).

A header of 12 bytes and an extra text; then records: a byte with the lengths of the three fields
behind it (number of the entry, size, time in µs), and the payload. WpiEntry 0 has control records,
which name the entries and their types. Entries are logged when they change. A column is an entry,
a value of an array, or a number in a struct (wpi_struct.py): ``/Drive/Positions[0].angle``.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from c3p_bags.importing.mapping import TimeMapping
from c3p_bags.importing.tables import Events, LogTable, held, times_of
from c3p_bags.importing.wpi_struct import PackedNumber, SchemaError, StructSchemas
from c3p_bags.storage.bag_writer import BagError
from c3p_description.model import Array

MAGIC = b'WPILOG'
HEAD = struct.Struct('<HI')
START = 0

# bytes of a record, of a schema, and of all records that are kept
MOST_BYTES = 100_000_000
MOST_SCHEMA = 100_000
MOST_KEPT = 2_000_000_000

# what follows an entry in the name of a column: [K] of an array, and members of a struct
PART = re.compile(r'(?:\[(\d{1,6})\])?((?:\.[^.\[\]]+(?:\[\d{1,9}\])?)*)')

# types of entries as numpy reads them, and the sizes of their values
TYPES = {'boolean': PackedNumber(0, '?', 1), 'int64': PackedNumber(0, '<i8', 8),
         'float': PackedNumber(0, '<f4', 4), 'double': PackedNumber(0, '<f8', 8)}
STRUCT = 'struct:'
SCHEMA = 'structschema'


class WpiRecord(NamedTuple):
    """Record: place in the file, number of its entry, time [µs], and payload."""

    place: int
    entry: int
    time: int
    data: bytes


class WpiEntry(NamedTuple):
    """Name and type of an entry."""

    name: str
    kind: str


class WpiColumn(NamedTuple):
    """Column: its entry, place in each array (None: all values), and the number in a value."""

    entry: str
    element: int | None
    number: PackedNumber


class WpiLog:
    """
    A WPILOG file.

    A record that the file cuts off ends it, as a loss of power does.

    Raises
    ------
    BagError
        Not a WPILOG file, or damaged.
    """

    def __init__(self, path: Path) -> None:
        """Read the names of all entries."""
        self.path = path
        self._kind: dict[str, str] = {}
        schemas = {}
        for name, record in self._records(()):
            if len(record.data) > MOST_SCHEMA:
                raise self._wrong(record.place, f'a schema of {len(record.data)} bytes; the limit '
                                  f'is {MOST_SCHEMA}')
            schemas[name.rpartition(STRUCT)[2]] = record.data.decode('utf-8', 'replace')
        self._schemas = StructSchemas(schemas)

    def _wrong(self, place: int, text: str) -> BagError:
        return BagError(f'{self.path}, record at byte {place}: {text}')

    def _records(self, names: Sequence[str]) -> Iterator[tuple[str, WpiRecord]]:
        """Yield the records of entries of these names, and the schemas of structs."""
        entries: dict[int, WpiEntry] = {}
        for record in self._all():
            if record.entry == 0:
                if record.data[:1] == bytes([START]):
                    number, entry = self._started(record)
                    entries[number] = entry
                    self._kind[entry.name] = entry.kind
            elif record.entry in entries:
                entry = entries[record.entry]
                if entry.name in names or entry.kind == SCHEMA:
                    yield entry.name, record

    def _all(self) -> Iterator[WpiRecord]:
        size = self.path.stat().st_size
        with self.path.open('rb') as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise BagError(f'{self.path}: is not a WPILOG file')
            head = file.read(HEAD.size)
            if len(head) < HEAD.size:
                raise BagError(f'{self.path}: ends in its header')
            version, extra = HEAD.unpack(head)
            if version >> 8 != 1:
                raise BagError(f'{self.path}: version {version >> 8}.{version & 255} of the '
                               'format; only 1.x is read')
            place = len(MAGIC) + HEAD.size + extra
            file.seek(place)
            while first := file.read(1):
                lengths = first[0]
                parts = (1 + (lengths & 3), 1 + (lengths >> 2 & 3), 1 + (lengths >> 4 & 7))
                fields = file.read(sum(parts))
                if len(fields) < sum(parts):
                    return
                a, b = parts[0], parts[0] + parts[1]
                entry = int.from_bytes(fields[:a], 'little')
                length = int.from_bytes(fields[a:b], 'little')
                # eight bytes have a sign
                time = int.from_bytes(fields[b:], 'little', signed=parts[2] == 8)
                begin = place
                place += 1 + sum(parts) + length
                if place > size:
                    return
                if length > MOST_BYTES:
                    raise self._wrong(begin, f'{length} bytes exceed the limit {MOST_BYTES}')
                yield WpiRecord(begin, entry, time, file.read(length))

    def _started(self, record: WpiRecord) -> tuple[int, WpiEntry]:
        """Return the entry that a control record begins."""
        data = record.data
        texts = []
        try:
            number, = struct.unpack_from('<I', data, 1)
            place = 5
            for _ in range(2):
                length, = struct.unpack_from('<I', data, place)
                if place + 4 + length > len(data):
                    raise self._wrong(record.place, f'a text of {length} bytes in a record of '
                                      f'{len(data)}')
                texts.append(data[place + 4:place + 4 + length].decode('utf-8', 'replace'))
                place += 4 + length
        except struct.error:
            raise self._wrong(record.place, 'a damaged begin of an entry') from None
        return number, WpiEntry(*texts)

    def table(self, columns: Sequence[str], time: TimeMapping, summed: Collection[str] = ()
              ) -> LogTable:
        """
        Return the newest values of `columns`; of `summed` the sums of their records.

        With a column of times they are those of its samples: an array of times has one value of
        each array of the same cycle for each of them. Without one, the times of all records.
        Times before zero are those of values that were set before the log began.

        Raises
        ------
        BagError
            An entry is missing or of another type.
        """
        names = [*columns, *([time.column] if time.column else [])]
        found = self._arrays(names)
        if time.column:
            return self._by_samples(columns, found, time, summed)
        events = {name: _flat(records, name in summed) for name, records in found.items()}
        early = sum(int(np.sum(one.time < 0.0)) for one in events.values())
        events = {name: Events(np.maximum(one.time, 0.0), one.value)
                  for name, one in events.items()}
        # a record behind another one may be older, such as of the network
        events = {name: Events(*_sorted(one)) for name, one in events.items()}
        times = np.unique(np.concatenate([one.time for one in events.values()]))
        remarks = [f'{early} records have times before zero: taken as initial values'] if (
            early) else []
        return LogTable(times * 1.0 + time.offset, held(events, times),
                        (*remarks, *_last_values(found, summed)))

    def _arrays(self, names: Sequence[str]) -> dict[str, list[tuple[float, Array]]]:
        """Return time [s] and values of the records of each column."""
        columns: dict[str, dict[str, WpiColumn]] = {}
        for name in names:
            column = self._column(name)
            columns.setdefault(column.entry, {})[name] = column
        kept = 0
        found: dict[str, list[tuple[float, Array]]] = {name: [] for name in names}
        for entry, record in self._records(list(columns)):
            for name, column in columns.get(entry, {}).items():
                values = self._values(record, column)
                kept += values.nbytes + 100
                if kept > MOST_KEPT:
                    raise self._wrong(record.place, f'more than {MOST_KEPT} bytes of the columns')
                if column.element is None:
                    found[name].append((1e-6 * record.time, values))
                elif column.element < len(values):
                    one = values[column.element:column.element + 1]
                    found[name].append((1e-6 * record.time, one))
                # an array is empty until its modules are known
                elif len(values):
                    raise self._wrong(record.place, f'{len(values)} values of {entry!r}; {name!r} '
                                      'is not among them')
        return found

    def _values(self, record: WpiRecord, column: WpiColumn) -> Array:
        """Return the numbers of a column in a record."""
        kind = self._kind[column.entry]
        place, dtype, size = column.number
        count = len(record.data) // size
        if len(record.data) % size or (not kind.endswith('[]') and count != 1):
            raise self._wrong(record.place, f'{len(record.data)} bytes for {column.entry!r} of '
                              f'type {kind}, of {size} bytes')
        if count == 0:
            return np.zeros(0)
        found: Array = np.ndarray((count,), dtype, record.data, place, (size,))
        return found.astype(float)

    def _column(self, name: str) -> WpiColumn:
        """Return the column of a name: the longest entry that it begins with has it."""
        parts = [(entry, PART.fullmatch(name[len(entry):])) for entry in self._kind
                 if name.startswith(entry)]
        known = [(entry, part) for entry, part in parts if part is not None]
        if not known:
            near = [one for one in self._kind if name.rsplit('/', 1)[-1].lower()
                    in one.lower()]
            raise BagError(f'{self.path}: no entry {name!r}; it has '
                           f'{", ".join(near or self._kind)[:600]}')
        entry, part = max(known, key=lambda one: len(one[0]))
        kind = self._kind[entry]
        one = kind.removesuffix('[]')
        element = None if part[1] is None else int(part[1])
        if one.startswith(STRUCT):
            try:
                number = self._schemas.number(one.removeprefix(STRUCT), part[2])
            except SchemaError as error:
                raise BagError(f'{self.path}: entry {entry!r} of type {kind!r}, column {name!r}: '
                               f'{error}') from None
            return WpiColumn(entry, element, number)
        if one not in TYPES or part[2]:
            raise BagError(f'{self.path}: entry {entry!r} is of type {kind!r}; only '
                           f'{", ".join(TYPES)}, arrays of them, and members of structs are read')
        return WpiColumn(entry, element, TYPES[one])

    def _by_samples(self, columns: Sequence[str], found: dict[str, list[tuple[float, Array]]],
                    mapping: TimeMapping, summed: Collection[str]) -> LogTable:
        """Return values at the samples of a column of times."""
        samples = found[mapping.column]
        stamps = np.concatenate([np.zeros(0)] + [values for _, values in samples])
        values = {}
        for name in columns:
            logged = np.array([time for time, _ in found[name]])
            rows = []
            for time, of_samples in samples:
                place = int(np.searchsorted(logged, time, side='right')) - 1
                count = len(of_samples)
                one = found[name][place][1] if place >= 0 else np.zeros(0)
                fresh = place >= 0 and logged[place] == time
                if name in summed and not fresh:
                    # increments that were not logged are zero
                    one = np.zeros(count)
                elif len(one) != count or not fresh:
                    # an array that did not change, or a number: its last value holds
                    one = np.full(count, one[-1] if len(one) else np.nan)
                rows.append(one)
            values[name] = np.concatenate([np.zeros(0), *rows])
            if name in summed:
                values[name] = np.cumsum(values[name])
        return LogTable(times_of(stamps, mapping), values, (), tuple(summed))


def _last_values(found: Mapping[str, Sequence[tuple[float, Array]]], summed: Collection[str]
                 ) -> list[str]:
    """Return remarks on arrays of which the last value is taken, without times of samples."""
    longest = {name: max((len(values) for _, values in records), default=0)
               for name, records in found.items() if name not in summed}
    return [f'{name} has arrays of {count} values, of which the last is taken; {name}[K] is the '
            'value K of each array, from 0, and time: {column: …} gives each value its own time'
            for name, count in longest.items() if count > 1]


def _flat(records: Sequence[tuple[float, Array]], summed: bool) -> Events:
    """Return the last value of each record, or the sum of all up to it."""
    if summed:
        totals = np.cumsum([values.sum() for _, values in records])
        return Events(np.array([time for time, _ in records]), totals)
    some = [(time, values[-1]) for time, values in records if len(values)]
    return Events(np.array([time for time, _ in some]), np.array([value for _, value in some]))


def _sorted(events: Events) -> tuple[Array, Array]:
    order = np.argsort(events.time, kind='stable')
    return events.time[order], events.value[order]
