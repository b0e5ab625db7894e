# SPDX-License-Identifier: Apache-2.0
"""
Arrays of long bags in temporary files, of which only the pages in use are in memory.

An hour at 200 Hz is a gigabyte of numbers. They are written to a file (in ``TMPDIR``) while they
are read from the bag, and mapped as an ordinary array, whose pages can be given back after use.
What is computed from them goes the same way, a part of the rows at a time. Short bags stay in
memory.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np

from c3p_description.model import Array

# bytes of a column that stay in memory, beside forty others
IN_MEMORY = 500_000

# rows between two calls of `give_back` in a loop: a few megabytes at most
ROWS = 4096

TURN = 2.0 * np.pi


class GrowingRows:
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
        self._like = self._parts[-1][:0]
        self._parts = []
        self._bytes = 0

    def array(self) -> Array:
        """
        Return all rows as one array (k, …); nothing may be appended afterwards.

        At least one part must have been appended.
        """
        if self._file is None:
            whole = np.concatenate(self._parts)
            self._parts = []
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
        # a copy, because a view would keep all of them
        return np.broadcast_to(rows[:1].copy(), rows.shape)
    return rows


def kept(array: Array) -> Array:
    """Return `array`, mapped from a file if it is long."""
    rows = GrowingRows()
    rows.append(array)
    return rows.array()


def parts(count: int) -> Iterator[slice]:
    """Yield slices of `ROWS` of `count` rows, one without rows at least."""
    for begin in range(0, max(count, 1), ROWS):
        yield slice(begin, min(begin + ROWS, count))


def computed(make: Callable[..., Array], *arrays: Array) -> Array:
    """
    Return what `make` returns of `arrays`, mapped from a file if it is long.

    `make` is called with equal parts of their rows, one after the other, and may return another
    number of rows. The bits of what is computed from each row alone are those of one call.

    Examples
    --------
    >>> computed(lambda a, b: a + b, np.arange(3), np.ones(3)).tolist()
    [1.0, 2.0, 3.0]
    """
    rows = GrowingRows()
    for part in parts(len(arrays[0])):
        rows.append(make(*(array[part] for array in arrays)))
        give_back(*arrays)
    return rows.array()


def summed(steps: Array, start: float = 0.0) -> Array:
    """
    Return `start`, and the sums from it over the first rows of `steps` (k, …): (k + 1, …).

    Examples
    --------
    >>> summed(np.array([1.0, 2.0, 4.0])).tolist()
    [0.0, 1.0, 3.0, 7.0]
    """
    rows = GrowingRows()
    last = np.full((1, *steps.shape[1:]), start)
    rows.append(last)
    for part in parts(len(steps)):
        # from the last sum on: the order of the additions, and so the bits, are those of one sum
        sums = np.cumsum(np.concatenate([last, steps[part]]), axis=0)
        rows.append(sums[1:])
        last = sums[-1:]
        give_back(steps)
    return rows.array()


def unwrapped(angle: Array, period: float = TURN) -> Array:
    """
    Return angles (k, …) without steps of more than half a `period`, as `np.unwrap` along k.

    Examples
    --------
    >>> unwrapped(np.array([3.0, -3.0, 3.0])).round(3).tolist()
    [3.0, 3.283, 3.0]
    """
    rows = GrowingRows()
    before = angle[:1]
    half = 0.5 * period
    offset = np.zeros((1, *angle.shape[1:]))
    for part in parts(len(angle)):
        here = angle[part]
        steps = np.diff(np.concatenate([before, here]), axis=0)
        near = np.mod(steps + half, period) - half
        near[(near == -half) & (steps > 0.0)] = half
        near -= steps
        near[np.abs(steps) < half] = 0.0
        offsets = np.cumsum(np.concatenate([offset, near]), axis=0)
        rows.append(here + offsets[1:])
        before = here[-1:]
        offset = offsets[-1:]
        give_back(angle)
    return rows.array()


def where(inside: Array) -> slice | Array:
    """
    Return an index of the rows that are `inside` (k,): a slice, which copies none, if it can.

    Examples
    --------
    >>> where(np.array([False, True, True]))
    slice(1, 3, None)
    """
    if not inside.any():
        return slice(0, 0)
    begin = int(np.argmax(inside))
    end = len(inside) - int(np.argmax(inside[::-1]))
    return slice(begin, end) if inside[begin:end].all() else inside


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
