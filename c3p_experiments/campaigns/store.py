# SPDX-License-Identifier: Apache-2.0
"""
The one result file of a campaign, which is whole at any time.

Parquet where pyarrow is installed when the file is begun, CSV otherwise; a file that is there is
continued as what it is. It carries the specification of its campaign: Parquet in the metadata
``c3p_campaign``, CSV in a first line that begins with ``#``. It is written beside itself and put
in place in one step, so that who is killed, even while writing, leaves the file of a moment ago.
"""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

NAME = 'campaign'
KEY = b'c3p_campaign'

# rows are saved at most so often, s, and take at most this part of the time
INTERVAL, SHARE = 0.5, 0.05

# so many differences between two campaigns are told
TOLD = 3

# columns that are text even when they look like a number or like nothing
TEXTS = ('failure',)

Row = dict[str, Any]


class StoreError(ValueError):
    """A result file that cannot be used; the text names it and what can be done."""


def have_parquet() -> bool:
    """Return whether Parquet can be read and written."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        return False
    return True


class ResultFile:
    """
    Rows by index, saved now and then; use as a context, which saves at the end whatever happens.

    Parameters
    ----------
    folder : Path
        Is made where it is missing.
    identity : mapping
        What the campaign is, ready for JSON. Rows of another campaign are never mixed in.
    resume : bool
        Continue the file that is there. False: begin afresh.

    Attributes
    ----------
    path : Path
    rows : dict
        By index.

    Raises
    ------
    StoreError
        The file that is there belongs to another campaign or cannot be read, or somebody else
        writes it now.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], resume: bool = True) -> None:
        """Lock the folder, and read what is there."""
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(folder / f'.{NAME}.lock')
        self._identity = json.loads(json.dumps(identity))
        self.rows: dict[int, Row] = {}
        try:
            self.path = self._begin(folder, resume)
        except BaseException:
            self._lock.close()
            raise
        self._saved, self._took, self._new = time.monotonic(), 0.0, False

    def _begin(self, folder: Path, resume: bool) -> Path:
        """Return the file's path, with the rows that are there taken or removed."""
        kinds = {suffix: folder / f'{NAME}.{suffix}' for suffix in ('parquet', 'csv')}
        there = [path for path in kinds.values() if path.exists()]
        if len(there) == 2 and resume:
            raise StoreError(f'{there[0]} and {there[1]}: a campaign has one result file; move '
                             'one of them away')
        if there and resume:
            self._resume(there[0])
            return there[0]
        for path in there:
            path.unlink()
        return kinds['parquet' if have_parquet() else 'csv']

    def _resume(self, path: Path) -> None:
        identity, rows = read(path)
        if identity != self._identity:
            other = [f'{name} was {_short(identity.get(name))}, is {_short(value)}'
                     for name, value in self._identity.items() if identity.get(name) != value]
            more = f'; and {len(other) - TOLD} more' if len(other) > TOLD else ''
            raise StoreError(f'{path} belongs to another campaign '
                             f'({"; ".join(other[:TOLD])}{more}); '
                             'choose another --out, or --no-resume to begin afresh')
        self.rows = {row['index']: row for row in rows}

    def add(self, row: Row) -> None:
        """Take a row; save when it is time."""
        self.rows[row['index']] = row
        self._new = True
        wait = max(INTERVAL, self._took / SHARE)
        if time.monotonic() - self._saved >= wait:
            self.save()

    def save(self) -> None:
        """Put a whole file in place."""
        started = time.monotonic()
        write(self.path, self._identity, [self.rows[i] for i in sorted(self.rows)])
        self._saved, self._new = time.monotonic(), False
        self._took = self._saved - started

    def __enter__(self) -> ResultFile:
        """Return the file."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Save what is not saved yet."""
        try:
            if self._new:
                self.save()
        finally:
            self._lock.close()


def write(path: Path, identity: Mapping[str, Any], rows: Iterable[Row]) -> None:
    """
    Write rows in one step: afterwards the file is the new one or, if this fails, the old one.

    Parameters
    ----------
    path : Path
        ``.parquet`` or ``.csv``.
    identity : mapping
    rows : iterable of dict
        What a row does not have is missing in the file.
    """
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = json.dumps(identity)
    content = (_parquet(head, names, rows) if path.suffix == '.parquet'
               else _csv(head, names, rows))
    beside = path.with_name(f'{path.name}.part')
    with open(beside, 'wb') as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def read(path: Path) -> tuple[dict[str, Any], list[Row]]:
    """
    Return identity and rows of a result file.

    Raises
    ------
    StoreError
        It is no result file, or pyarrow is missing for it.
    """
    try:
        if path.suffix == '.parquet':
            if not have_parquet():
                raise StoreError(f'{path}: reading it needs pyarrow; install it with `pip install '
                                 'pyarrow`, or choose another --out')
            import pyarrow.parquet as parquet

            table = parquet.read_table(path)
            return json.loads(table.schema.metadata[KEY]), table.to_pylist()
        text = path.read_text(encoding='utf-8')
        head, body = text.split('\n', 1)
        rows = [{name: cell if name in TEXTS else _value(cell) for name, cell in row.items()}
                for row in csv.DictReader(io.StringIO(body))]
        return json.loads(head.removeprefix('# ')), rows
    except (OSError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f'{path} cannot be read as a result file ({error}); move it away, or '
                         '--no-resume to begin afresh') from error


def _parquet(head: str, names: list[str], rows: list[Row]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    table = pa.table({name: pa.array([row.get(name) for row in rows],
                                     _arrow_type(pa, [row.get(name) for row in rows]))
                      for name in names}).replace_schema_metadata({KEY: head.encode()})
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    return stream.getvalue()


def _arrow_type(pa: Any, values: list[Any]) -> Any:
    """Return the type of a column; one without any value counts as numbers."""
    there = [value for value in values if value is not None]
    # a column of truths is one of whole numbers, too: the narrowest that all are
    for kind, arrow in ((bool, pa.bool_()), (int, pa.int64()), (int | float, pa.float64())):
        if there and all(isinstance(value, kind) for value in there):
            return arrow
    return pa.string() if there else pa.float64()


def _csv(head: str, names: list[str], rows: list[Row]) -> bytes:
    stream = io.StringIO()
    stream.write(f'# {head}\n')
    table = csv.DictWriter(stream, names, lineterminator='\n')
    table.writeheader()
    table.writerows(rows)
    return stream.getvalue().encode()


def _value(cell: str) -> Any:
    """Return the cell of a CSV file as what it was."""
    if cell in ('', 'True', 'False'):
        return {'': None, 'True': True, 'False': False}[cell]
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + '...'


def _lock(path: Path) -> Any:
    """Hold a lock that ends with this process; where the system has none, nothing is locked."""
    file = open(path, 'w')
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise StoreError(f'{path.parent}: another campaign writes there now; choose another '
                         '--out, or wait for it') from None
    except (ImportError, OSError):
        pass
    return file
