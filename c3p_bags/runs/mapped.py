# SPDX-License-Identifier: Apache-2.0
"""
Arrays of long bags in temporary files, of which only the pages in use are in memory.

An hour at 200 Hz is a gigabyte of numbers. They are written to a file (in ``TMPDIR``) while they
are read from the bag, and mapped as an ordinary array, whose pages can be given back after use.
Short bags stay in memory.
"""

from __future__ import annotations

import mmap
import tempfile
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np

from c3p_description.model import Array

# bytes of a column that stay in memory, beside forty others
IN_MEMORY = 500_000

# rows between two calls of `give_back` in a loop: a few megabytes at most
ROWS = 4096


class Rows:
    """
    An array that grows by rows.

    The parts appended must have equal shapes but for their length, and one type.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._parts: list[Array] = []
        self._bytes = self._count = 0
        self._file: BinaryIO | None = None

    def append(self, rows: Array) -> None:
        """Append rows (k, …)."""
        self._parts.append(_narrowed(rows))
        self._count += len(rows)
        self._bytes += rows.nbytes
        # Python's objects cannot be in a file
        if self._bytes > IN_MEMORY and rows.dtype != object:
            self._write()

    def _write(self) -> None:
        # written, not mapped: a full disk is an error here, and would be a signal there
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix='c3p_')
        for part in self._parts:
            self._file.write(np.ascontiguousarray(part).data)
        self._like, self._parts, self._bytes = self._parts[-1][:0], [], 0

    def array(self) -> Array:
        """
        Return all rows as one array (k, …); nothing may be appended afterwards.

        At least one part must have been appended.
        """
        if self._file is None:
            whole, self._parts = np.concatenate(self._parts), []
            return _narrowed(whole)
        if self._parts:
            self._write()
        self._file.flush()
        found = np.memmap(self._file, self._like.dtype, 'r+',
                          shape=(self._count, *self._like.shape[1:]))
        # the mapping outlives the file, and a plain array is indexed faster
        self._file.close()
        return np.asarray(found)


def _narrowed(rows: Array) -> Array:
    """Return `rows`; a text that all of them repeat takes the memory of one."""
    if rows.dtype == object and len(rows) and isinstance(rows[0], str) and (
            rows == rows[0]).all():
        return np.broadcast_to(rows[:1], rows.shape)
    return rows


def kept(array: Array) -> Array:
    """Return `array`, mapped from a file if it is long."""
    rows = Rows()
    rows.append(array)
    return rows.array()


def give_back(*arrays: Any) -> None:
    """
    Give back the memory of `arrays` that are mapped; no effect on others.

    Their content remains in the file, and comes back with the next use.
    """
    for array in arrays:
        base = array
        while base is not None and not isinstance(base, mmap.mmap):
            base = getattr(base, 'base', None)
        # not on every operating system
        with suppress(AttributeError, OSError):
            if base is not None:
                base.madvise(mmap.MADV_DONTNEED)
