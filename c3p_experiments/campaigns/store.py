# SPDX-License-Identifier: Apache-2.0
"""
Result file of a campaign, complete at any time and resumable.

Parquet where pyarrow is installed, CSV otherwise; an existing file keeps its format. It holds the
identity of its campaign: Parquet in the metadata ``c3p_campaign``, CSV in a first line that begins
with ``#``. Each save writes a temporary file and renames it: an interruption leaves the last save.
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

# shortest interval of saves, s, and largest fraction of the time that they take
INTERVAL, FRACTION = 0.5, 0.05

# number of differences between two campaigns that an error lists
LISTED = 3

# columns that are text, even where a cell looks like a number or is empty
TEXTS = ('failure',)

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


class ResultFile:
    """
    Rows by index, saved at intervals and at the end of the context.

    Parameters
    ----------
    folder : Path
        Created where it is missing.
    identity : mapping
        Of the campaign, for JSON. A file with another identity is rejected.
    resume : bool
        Continue an existing file; False starts afresh.

    Attributes
    ----------
    path : Path
    rows : dict
        By index.

    Raises
    ------
    StoreError
        The file belongs to another campaign, is unreadable, or is locked by another process.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], resume: bool = True) -> None:
        """Lock the folder and read an existing file."""
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
        """Return the path of the file; read or remove existing files."""
        kinds = {suffix: folder / f'{NAME}.{suffix}' for suffix in ('parquet', 'csv')}
        present = [path for path in kinds.values() if path.exists()]
        if len(present) == 2 and resume:
            raise StoreError(f'{present[0]} and {present[1]}: a campaign has one result file; '
                             'move one of them away')
        if present and resume:
            self._resume(present[0])
            return present[0]
        for path in present:
            path.unlink()
        return kinds['parquet' if have_parquet() else 'csv']

    def _resume(self, path: Path) -> None:
        identity, rows = read(path)
        if identity != self._identity:
            other = [f'{name} was {_short(identity.get(name))}, is {_short(value)}'
                     for name, value in self._identity.items() if identity.get(name) != value]
            more = f'; and {len(other) - LISTED} more' if len(other) > LISTED else ''
            raise StoreError(f'{path} belongs to another campaign '
                             f'({"; ".join(other[:LISTED])}{more}); '
                             'choose another --out, or --no-resume to begin afresh')
        self.rows = {row['index']: row for row in rows}

    def add(self, row: Row) -> None:
        """Add a row; save when the interval has passed."""
        self.rows[row['index']] = row
        self._new = True
        wait = max(INTERVAL, self._took / FRACTION)
        if time.monotonic() - self._saved >= wait:
            self.save()

    def save(self) -> None:
        """Write the file."""
        started = time.monotonic()
        write(self.path, self._identity, [self.rows[i] for i in sorted(self.rows)])
        self._saved, self._new = time.monotonic(), False
        self._took = self._saved - started

    def __enter__(self) -> ResultFile:
        """Return the file."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Save unsaved rows and release the lock."""
        try:
            if self._new:
                self.save()
        finally:
            self._lock.close()


def write(path: Path, identity: Mapping[str, Any], rows: Iterable[Row]) -> None:
    """Write `rows` to a ``.parquet`` or ``.csv`` file atomically; missing keys are empty cells."""
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
        Not a result file, or pyarrow is missing.
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
    """Return the type of a column: the narrowest that fits, numbers without any value."""
    present = [value for value in values if value is not None]
    # bool is a subclass of int: try the narrowest type first
    for kind, arrow in ((bool, pa.bool_()), (int, pa.int64()), (int | float, pa.float64())):
        if present and all(isinstance(value, kind) for value in present):
            return arrow
    return pa.string() if present else pa.float64()


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


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + '...'


def _lock(path: Path) -> Any:
    """Return a lock that ends with this process; systems without fcntl do not lock."""
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
