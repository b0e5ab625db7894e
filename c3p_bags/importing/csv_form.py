# SPDX-License-Identifier: Apache-2.0
"""Form of a CSV file, from its first lines: separator, names of the columns, lines above them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from c3p_bags.storage.bag_writer import BagError
from c3p_description.texts import brief

# the comma last: where another mark separates, commas are decimal, or within names
SEPARATORS = '\t;|,'

# lines from which the form is read
FIRST_LINES = 50

# decimal marks
MARKS = {'.': 'point', ',': 'comma'}

# words that stand for a value that was not measured
MISSING = ('', 'nan', 'null', 'none', 'na', 'n/a', '-')


class CsvForm(NamedTuple):
    """
    Form of a CSV file.

    Attributes
    ----------
    separator : str, optional
        None: blanks.
    names : list of str
        Of the columns; empty without a line of names.
    columns : int
        Number of columns.
    skipped : int
        Lines above the first row of numbers: title, names, units.
    """

    separator: str | None
    names: list[str]
    columns: int
    skipped: int


def cells_of(line: str, separator: str | None) -> list[str]:
    """Return the cells of a line."""
    if separator is None:
        return line.split()
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
    except csv.Error as error:
        raise BagError(f'a line that is not CSV: {error}') from None


def form_of(lines: Sequence[str]) -> CsvForm:
    """
    Return the form of a file that begins with these lines.

    The separator is the mark that gives most lines the same number of cells. Shorter lines above
    are a title. The first line without a number has the names, and one below it the units.

    Examples
    --------
    >>> form_of(['made by hand', 't;pos.x', 's;rad', '1,5;2,5', '1,6;2,5'])
    CsvForm(separator=';', names=['t', 'pos.x'], columns=2, skipped=3)
    """
    def usual(separator: str | None) -> tuple[int, int]:
        """Return the usual number of cells, and how many lines have it."""
        return Counter(len(cells_of(line, separator)) for line in lines).most_common(1)[0]

    marks = [mark for mark in SEPARATORS if usual(mark)[0] > 1]
    separator = max(marks, key=lambda mark: usual(mark)[1], default=None)
    count = usual(separator)[0]
    rows = [cells_of(line, separator) for line in lines]
    # a title is not as long as the rows; spreadsheets write the separator first
    title = next((k for k, row in enumerate(rows) if (len(row) == count or _numbers(row))
                  and not row[0].lower().startswith('sep=')), 0)
    if _numbers(rows[title]):
        return CsvForm(separator, [], count, title)
    names = [unquoted(cell) for cell in rows[title]]
    units = len(rows) > title + 1 and any(rows[title + 1]) and not _numbers(rows[title + 1])
    return CsvForm(separator, names, count, title + 1 + units)


def unquoted(cell: str) -> str:
    """Return the text of a cell."""
    return cell.strip('"\' ')


def _number(text: str) -> float | None:
    """Return a number with either decimal mark; nan for a missing one, None for another text."""
    word = text.lower()
    if word in MISSING:
        return float('nan')
    if word in ('true', 'false'):
        return float(word == 'true')
    try:
        return float(text.replace(',', '.'))
    except ValueError:
        return None


def _numbers(cells: Sequence[str]) -> bool:
    """Return whether any cell may be a number."""
    texts = [unquoted(cell) for cell in cells]
    return any(text.lower() not in MISSING and _number(text) is not None for text in texts)


class CsvNumbers:
    """
    Numbers in cells, whose decimal mark is the same in the whole file.

    Parameters
    ----------
    separator : str, optional
        With a comma between the cells, decimals have points.
    """

    def __init__(self, separator: str | None) -> None:
        """Begin without a known mark."""
        self._mark = '.' if separator == ',' else ''

    def value(self, cell: str) -> float | None:
        """
        Return the number in a cell; nan for a value that is missing, None for another text.

        Raises
        ------
        BagError
            The decimal mark of the cell is not that of the cells before.

        Examples
        --------
        >>> numbers = CsvNumbers(';')
        >>> numbers.value('1,5'), numbers.value('x')
        (1.5, None)
        >>> numbers.value('1.500')  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        c3p_bags.storage.bag_writer.BagError: '1.500' has a decimal point, and the cells before...
        """
        text = unquoted(cell)
        found = _number(text)
        if found is None:
            return None
        mark = next((one for one in MARKS if one in text), '')
        if mark and self._mark not in ('', mark):
            raise BagError(f'{brief(cell)} has a decimal {MARKS[mark]}, and the cells before a '
                           f'{MARKS[self._mark]}')
        self._mark = self._mark or mark
        return found
