# SPDX-License-Identifier: Apache-2.0
"""
Files with rows of a campaign: Parquet, or CSV.

Each holds the identity of its campaign: Parquet in the metadata ``c3p_campaign``, CSV in a first
line that begins with ``#``. A file is written beside its place and renamed: it is complete at any
time.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from c3p_description.reading.how_to_install import how_to_install

KEY = b'c3p_campaign'

# columns that are text, even where a cell looks like a number or is empty
TEXTS = ('failure',)

# types of columns, the narrowest first
KINDS = ('bool', 'int64', 'double', 'string')

Row = dict[str, Any]


class StoreError(ValueError):
    """A result file cannot be used; the text names the file and the remedy."""


def have_parquet() -> bool:
    """Return whether Parquet can be read and written."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        return False
    return True


def write(path: Path, identity: Mapping[str, Any], rows: Iterable[Row],
          kinds: Mapping[str, str] | None = None) -> None:
    """
    Write `rows` to a ``.parquet`` or ``.csv`` file atomically; missing keys are empty cells.

    `kinds` are all columns with their types, by default those of the rows; `identity` is stored in
    the file, and `path` names its place.
    """
    rows = list(rows)
    kinds = kinds_of(rows) if kinds is None else kinds
    head = json.dumps(identity)
    content = (_parquet(head, kinds, rows) if path.suffix == '.parquet'
               else _csv(head, list(kinds), rows))
    beside = path.with_name(f'.{path.name}.unfinished')
    with open(beside, 'wb') as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def read(path: Path, columns: list[str] | None = None) -> tuple[dict[str, Any], list[Row]]:
    """
    Return identity and rows of a result file, or of all parts in a directory.

    `columns` selects some of those in `path`.

    Raises
    ------
    StoreError
        Not a result file, or pyarrow is missing.
    """
    if path.is_dir():
        found = [read(part, columns) for part in parts_of(path)]
        return (found[0][0] if found else {}), [row for _, rows in found for row in rows]
    try:
        if path.suffix == '.parquet':
            table = _table(path, columns)
            return json.loads(table.schema.metadata[KEY]), table.to_pylist()
        head, body = path.read_text(encoding='utf-8').split('\n', 1)
        rows = [{name: cell if name in TEXTS else _value(cell) for name, cell in row.items()
                 if columns is None or name in columns}
                for row in csv.DictReader(io.StringIO(body))]
        return json.loads(head.removeprefix('# ')), rows
    except (OSError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f'{path} cannot be read as a result file ({error}); move it away, or '
                         '--no-resume to begin afresh') from error


def parts_of(folder: Path) -> list[Path]:
    """Return the parts of a data set in order, without unfinished files."""
    return sorted(folder.glob('part-*.*'))


def columns_of(path: Path) -> list[tuple[str, str]]:
    """Return the columns of a file with their types, in order; all types of CSV are empty."""
    if path.suffix == '.parquet':
        import pyarrow.parquet as parquet

        return [(field.name, str(field.type)) for field in parquet.read_schema(path)]
    with open(path, encoding='utf-8', newline='') as file:
        file.readline()
        return [(name, '') for name in next(csv.reader(file))]


def align(paths: list[Path]) -> None:
    """
    Give all files the same columns and types: a reader takes those of the first file for all.

    Files that have them already are not touched, and one file is in memory at a time.
    """
    if len({tuple(columns_of(path)) for path in paths}) < 2:
        return
    kinds: dict[str, str] = {}
    for path in paths:
        rows = read(path)[1]
        for name, kind in kinds_of(rows).items():
            # columns without values have no type of their own
            empty = all(row[name] is None for row in rows)
            kinds[name] = max(kinds.get(name, 'bool'), 'bool' if empty else kind, key=KINDS.index)
    for path in paths:
        identity, rows = read(path)
        if columns_of(path) != [(name, kind if path.suffix == '.parquet' else '')
                                for name, kind in kinds.items()]:
            write(path, identity, rows, kinds)


def kinds_of(rows: Iterable[Row]) -> dict[str, str]:
    """Return the columns of `rows` with the narrowest type that fits; without values double."""
    rows = list(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _kind(name, [row.get(name) for row in rows]) for name in names}


def _kind(name: str, values: list[Any]) -> str:
    present = [value for value in values if value is not None]
    # bool is a subclass of int: try the narrowest type first
    for kind, found in ((bool, 'bool'), (int, 'int64'), (int | float, 'double')):
        if name not in TEXTS and present and all(isinstance(value, kind) for value in present):
            return found
    return 'string' if present or name in TEXTS else 'double'


def _table(path: Path, columns: list[str] | None) -> Any:
    if not have_parquet():
        raise StoreError(f'{path}: reading it needs pyarrow; install it with '
                         f'{how_to_install("campaign")}, or choose another --out')
    import pyarrow.parquet as parquet

    # a name with = in a directory above is not a column
    return parquet.read_table(path, columns=columns, partitioning=None)


def _parquet(head: str, kinds: Mapping[str, str], rows: list[Row]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    types = {'bool': pa.bool_(), 'int64': pa.int64(), 'double': pa.float64(),
             'string': pa.string()}
    table = pa.table({name: pa.array([row.get(name) for row in rows], types[kind])
                      for name, kind in kinds.items()}).replace_schema_metadata(
                          {KEY: head.encode()})
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    return stream.getvalue()


def _csv(head: str, names: list[str], rows: list[Row]) -> bytes:
    stream = io.StringIO()
    stream.write(f'# {head}\n')
    table = csv.DictWriter(stream, names, lineterminator='\n')
    table.writeheader()
    table.writerows(rows)
    return stream.getvalue().encode()


def _value(cell: str) -> Any:
    """Return the value of a CSV cell."""
    if cell in ('', 'True', 'False'):
        return {'': None, 'True': True, 'False': False}[cell]
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell
