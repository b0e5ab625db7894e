# SPDX-License-Identifier: Apache-2.0
"""
Results of a campaign as a partitioned data set, complete at any time and resumable.

A directory ``campaign.parquet`` where pyarrow is installed, else ``campaign.csv``; an existing
one keeps its format. Part k holds the draws k·PART to (k + 1)·PART − 1. A part is saved at
intervals while its draws are computed, and is neither in memory nor written again afterwards.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from c3p_experiments.campaigns.result_files import (
    Row,
    StoreError,
    align,
    have_parquet,
    parts_of,
    read,
    write,
)

NAME = 'campaign'

# draws of a part
PART = 1000

# shortest interval of saves, s, and largest fraction of the time that they take
INTERVAL = 0.5
FRACTION = 0.05

# number of differences between two campaigns that an error lists
LISTED = 3


class ResultSet:
    """
    Rows of a campaign in parts, saved at intervals and at the end of the context.

    Parameters
    ----------
    folder : Path
        Created where it is missing.
    identity : mapping
        Of the campaign, for JSON. Parts with another identity are rejected.
    resume : bool
        Continue an existing data set; False starts afresh.

    Attributes
    ----------
    path : Path
        Directory of the parts.
    done : dict
        Whether the goal was reached, by the index of each row.
    open : dict
        Rows of the parts in progress, by the number of the part and the index.

    Raises
    ------
    StoreError
        The data set belongs to another campaign, is unreadable, or is locked by another process.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], resume: bool = True) -> None:
        """Lock the folder and read the indices of existing parts."""
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(folder / f'.{NAME}.lock')
        self._identity = json.loads(json.dumps({**identity, 'part': PART}))
        self.done: dict[int, bool] = {}
        self.open: dict[int, dict[int, Row]] = {}
        self._changed: set[int] = set()
        try:
            self.path = self._begin(folder, resume)
        except BaseException:
            self._lock.close()
            raise
        self._saved = time.monotonic()
        self._took = 0.0

    def _begin(self, folder: Path, resume: bool) -> Path:
        """Return the path of the data set; read or remove existing ones."""
        kinds = {suffix: folder / f'{NAME}.{suffix}' for suffix in ('parquet', 'csv')}
        present = [path for path in kinds.values() if path.exists()]
        if len(present) == 2 and resume:
            raise StoreError(f'{present[0]} and {present[1]}: a campaign has one result; '
                             'move one of them away')
        if not resume:
            for path in present:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            present = []
        if present and not present[0].is_dir():
            raise StoreError(f'{present[0]} cannot be read as a result: it is a file, not a '
                             'directory of parts; move it away, or --no-resume to begin afresh')
        path = present[0] if present else kinds['parquet' if have_parquet() else 'csv']
        for part in parts_of(path) if present else ():
            self._resume(part)
        return path

    def _resume(self, part: Path) -> None:
        identity, rows = read(part, ['index', 'reached'])
        if identity != self._identity:
            other = [f'{name} was {_short(identity.get(name))}, is {_short(value)}'
                     for name, value in self._identity.items() if identity.get(name) != value]
            more = f'; and {len(other) - LISTED} more' if len(other) > LISTED else ''
            raise StoreError(f'{part} belongs to another campaign '
                             f'({"; ".join(other[:LISTED])}{more}); '
                             'choose another --out, or --no-resume to begin afresh')
        self.done |= {row['index']: bool(row['reached']) for row in rows}

    def place(self, number: int) -> Path:
        """Return the path of part `number`."""
        return self.path / f'part-{number:05}{self.path.suffix}'

    def add(self, row: Row) -> None:
        """Add a row; save when its part is complete, or the interval has passed."""
        number = row['index'] // PART
        if number not in self.open:
            known = self.place(number)
            self.open[number] = ({old['index']: old for old in read(known)[1]}
                                 if known.exists() else {})
        self.open[number][row['index']] = row
        self.done[row['index']] = bool(row['reached'])
        self._changed.add(number)
        if len(self.open[number]) == PART:
            self._write([number])
            del self.open[number]
        wait = max(INTERVAL, self._took / FRACTION)
        if time.monotonic() - self._saved >= wait:
            self.save()

    def save(self) -> None:
        """Write all parts that changed."""
        started = time.monotonic()
        self._write(sorted(self._changed))
        self._saved = time.monotonic()
        self._took = self._saved - started

    def _write(self, numbers: Iterable[int]) -> None:
        self.path.mkdir(exist_ok=True)
        for number in numbers:
            rows = self.open[number]
            write(self.place(number), self._identity, [rows[i] for i in sorted(rows)])
            self._changed.discard(number)

    def __enter__(self) -> ResultSet:
        """Return the data set."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Save unsaved rows, give all parts the same columns and release the lock."""
        try:
            if self._changed:
                self.save()
            if error is None and self.path.exists():
                align(parts_of(self.path))
        finally:
            self._lock.close()


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
