# SPDX-License-Identifier: Apache-2.0
"""CSV files, also packed by gzip: any separator, with or without names of the columns."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from array import array
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, cast

import numpy as np

from c3p_bags.importing.csv_form import (
    FIRST_LINES,
    CsvNumbers,
    cells_of,
    form_of,
    unquoted,
)
from c3p_bags.importing.mapping import TimeMapping
from c3p_bags.importing.tables import LogTable, times_of
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.mcap_limits import FREE_BYTES, RATIO
from c3p_description.texts import brief

GZIP = b'\x1f\x8b'

# characters of a line, and columns
LONGEST_LINE = 1_000_000
MOST_COLUMNS = 10_000


class CsvLog:
    """
    A CSV file.

    Lines that begin with ``#`` are left out, and so are those of names that a logger repeats where
    it began anew, and a last line without its end, in which a number may be cut off. An empty cell
    repeats the value before it: some recorders write changes only.

    Parameters
    ----------
    path : Path

    Raises
    ------
    BagError
        The file is empty, not a text, or exceeds a limit.
    """

    def __init__(self, path: Path) -> None:
        """Read the head."""
        self.path = path
        with self._lines() as lines:
            first = [line for _, line in islice(lines, FIRST_LINES)]
        if not first:
            raise BagError(f'{path}: has no line with columns')
        self._form = form_of(first)
        self.names = self._form.names
        if self._form.columns > MOST_COLUMNS:
            raise BagError(f'{path}: {self._form.columns} columns exceed the limit {MOST_COLUMNS}')

    @contextmanager
    def _lines(self) -> Iterator[Iterator[tuple[int, str]]]:
        """Give number and text of each line that is not a comment."""
        with self.path.open('rb') as file:
            packed = file.read(2) == GZIP
            file.seek(0)
            source = cast(IO[bytes], gzip.open(file) if packed else file)
            most = RATIO * self.path.stat().st_size + FREE_BYTES
            yield self._numbered(source, most)

    def _numbered(self, source: IO[bytes], most: int) -> Iterator[tuple[int, str]]:
        total = number = 0
        try:
            with_mark = source.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            source.seek(0)
            text = io.TextIOWrapper(source, 'utf-16' if with_mark else 'utf-8-sig', 'strict',
                                    newline=None)
            while line := text.readline(LONGEST_LINE + 1):
                number += 1
                total += len(line)
                if len(line) > LONGEST_LINE or total > most:
                    raise BagError(f'{self.path}, line {number}: a line of more than '
                                   f'{LONGEST_LINE} characters, or a file that unpacks to more '
                                   f'than {most}, is not read')
                if line.strip() and not line.lstrip().startswith('#'):
                    yield number, line
        except UnicodeDecodeError as error:
            raise BagError(f'{self.path}, after line {number}: not a text in UTF-8 '
                           f'({error.reason}); convert it, such as by iconv') from None
        except (OSError, EOFError, zlib.error) as error:
            raise BagError(f'{self.path}, after line {number}: cannot be unpacked ({error})'
                           ) from None

    def _place(self, column: str) -> int:
        """Return the place of a column by its name, else by its number."""
        if self.names.count(column) == 1:
            return self.names.index(column)
        if column in self.names:
            raise BagError(f'{self.path}: {self.names.count(column)} columns are named '
                           f'{column!r}; give the number, from 1')
        if column.isdecimal() and 1 <= int(column) <= self._form.columns:
            return int(column) - 1
        known = (', '.join(self.names) if self.names else
                 f'1 to {self._form.columns}, without names')
        raise BagError(f'{self.path}: no column {column!r}; it has {known[:400]}')

    def table(self, columns: Sequence[str], time: TimeMapping, summed: Collection[str] = ()
              ) -> LogTable:
        """
        Return the values of `columns` in each row; of `summed` the sums up to it.

        Raises
        ------
        BagError
            A column is missing, a cell is not a number, or there is no time.
        """
        if not time.column and not time.rate:
            raise BagError(f'{self.path}: no time: name its column (time: {{column: …}}) or the '
                           'rate of the rows (time: {rate: …})')
        wanted = [*columns, *([time.column] if time.column else [])]
        places = [self._place(column) for column in wanted]
        found = [array('d') for _ in wanted]
        last = [0.0 if column in summed else float('nan') for column in wanted]
        numbers = CsvNumbers(self._form.separator)
        repeated = 0
        cut = False
        with self._lines() as lines:
            for number, line in islice(lines, self._form.skipped, None):
                # a loss of power leaves zeros behind, or a part of a line
                cut = not line.endswith('\n') or '\0' in line
                if cut:
                    break
                cells = cells_of(line, self._form.separator)
                if self.names and [unquoted(cell) for cell in cells] == self.names:
                    repeated += 1
                    continue
                for k, place in enumerate(places):
                    if place >= len(cells):
                        raise BagError(f'{self.path}, line {number}: {len(cells)} columns; '
                                       f'{wanted[k]!r} is number {place + 1}')
                    value = self._value(numbers, cells[place], number, wanted[k])
                    # changes only: the last value holds, and an increment is zero
                    if value == value:
                        last[k] = last[k] + value if wanted[k] in summed else value
                    found[k].append(last[k])
        remarks = []
        if repeated:
            remarks.append(f'{repeated} lines repeat the names of the columns, and are left out')
        if cut:
            remarks.append(f'line {number} has no end, or zero bytes: it is left out, and what '
                           'follows')
        values = [np.frombuffer(one) if len(one) else np.zeros(0) for one in found]
        stamps = (times_of(values[-1], time) if time.column else
                  np.arange(len(values[0])) / time.rate + time.offset)
        return LogTable(stamps, dict(zip(columns, values, strict=False)), tuple(remarks),
                        tuple(summed))

    def _value(self, numbers: CsvNumbers, cell: str, number: int, column: str) -> float:
        """Return the number in a cell."""
        place = f'{self.path}, line {number}, column {column!r}'
        try:
            value = numbers.value(cell)
        except BagError as error:
            raise BagError(f'{place}: {error}') from None
        if value is None:
            raise BagError(f'{place}: {brief(cell)} is not a number')
        return value
