# SPDX-License-Identifier: Apache-2.0
"""CSV files, also packed by gzip: any separator, with or without names of the columns."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from array import array
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import numpy as np

from c3p_bags.importing.mapping import TimeMapping
from c3p_bags.importing.tables import LogTable, times_of
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.mcap_limits import FREE_BYTES, RATIO
from c3p_description.texts import brief

SEPARATORS = ',;\t|'
GZIP = b'\x1f\x8b'

# characters of a line, and columns
LONGEST_LINE = 1_000_000
MOST_COLUMNS = 10_000

# words that stand for a value that was not measured
MISSING = ('', 'nan', 'null', 'none', 'na', 'n/a', '-')


class CsvLog:
    """
    A CSV file.

    Lines that begin with ``#`` are left out. The first other line has the names of the columns if
    none of its cells is a number. An empty cell repeats the value before it: some recorders write
    changes only.

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
            first = next(lines, None)
        if first is None:
            raise BagError(f'{path}: has no line with columns')
        number, line = first
        self._separator = max(SEPARATORS, key=line.count) if any(
            mark in line for mark in SEPARATORS) else None
        # a comma within numbers, where another mark separates them
        self._decimal = ',' if self._separator not in (',', None) and '.' not in line else '.'
        cells = self._cells(line)
        if len(cells) > MOST_COLUMNS:
            raise BagError(f'{path}, line {number}: {len(cells)} columns exceed the limit '
                           f'{MOST_COLUMNS}')
        named = all(self._number(cell) is None for cell in cells if cell)
        self.names = [cell.strip('"\' ') for cell in cells] if named else []
        self._count = len(cells)

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
        text = io.TextIOWrapper(source, 'utf-8-sig', 'strict', newline=None)
        total = number = 0
        try:
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

    def _cells(self, line: str) -> list[str]:
        if self._separator is None:
            return line.split()
        return [cell.strip() for cell in next(csv.reader([line], delimiter=self._separator))]

    def _number(self, cell: str) -> float | None:
        """Return the number in a cell; nan for a value that is missing, None for another text."""
        cell = cell.strip('"\' ')
        if cell.lower() in MISSING:
            return float('nan')
        if cell.lower() in ('true', 'false'):
            return float(cell.lower() == 'true')
        try:
            return float(cell.replace(',', '.') if self._decimal == ',' else cell)
        except ValueError:
            return None

    def _place(self, column: str) -> int:
        """Return the place of a column by its name, else by its number."""
        if self.names.count(column) == 1:
            return self.names.index(column)
        if column in self.names:
            raise BagError(f'{self.path}: {self.names.count(column)} columns are named '
                           f'{column!r}; give the number, from 1')
        if column.isdecimal() and 1 <= int(column) <= self._count:
            return int(column) - 1
        known = ', '.join(self.names) if self.names else f'1 to {self._count}, without names'
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
        with self._lines() as lines:
            if self.names:
                next(lines, None)
            for number, line in lines:
                cells = self._cells(line)
                for k, place in enumerate(places):
                    if place >= len(cells):
                        raise BagError(f'{self.path}, line {number}: {len(cells)} columns; '
                                       f'{wanted[k]!r} is number {place + 1}')
                    value = self._number(cells[place])
                    if value is None:
                        raise BagError(f'{self.path}, line {number}, column {wanted[k]!r}: '
                                       f'{brief(cells[place])} is not a number')
                    # changes only: the last value holds, and an increment is zero
                    if value == value:
                        last[k] = last[k] + value if wanted[k] in summed else value
                    found[k].append(last[k])
        values = [np.frombuffer(one) if len(one) else np.zeros(0) for one in found]
        stamps = (times_of(values[-1], time) if time.column else
                  np.arange(len(values[0])) / time.rate + time.offset)
        return LogTable(stamps, dict(zip(columns, values, strict=False)))
