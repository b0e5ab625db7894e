# SPDX-License-Identifier: Apache-2.0
"""Columns of a log as arrays on one clock, and in SI units."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from c3p_bags.importing.mapping import TimeMapping, ValueMapping
from c3p_bags.runs.mapped import unwrapped
from c3p_bags.storage.bag_writer import BagError
from c3p_description.model import Array

# latest stamp of a log after its first one, s: ten years
LONGEST = 3.2e8


class LogTable(NamedTuple):
    """
    Values of columns: times (m,) [s], values by column (m,), and what was left out, in words.

    A value is the newest one at its time.
    """

    time: Array
    values: Mapping[str, Array]
    remarks: tuple[str, ...] = ()


class Log(Protocol):
    """A log file."""

    def table(self, columns: Sequence[str], time: TimeMapping, summed: Collection[str] = ()
              ) -> LogTable:
        """
        Return the values of `columns` on one clock; those of `summed` are sums of their records.

        BagError names what is missing.
        """


class Events(NamedTuple):
    """Records of a column where it was logged: times (m,) [s] and values (m,)."""

    time: Array
    value: Array


def held(events: Mapping[str, Events], time: Array) -> Mapping[str, Array]:
    """
    Return the newest value of each column at the times, nan before its first record.

    Examples
    --------
    >>> events = {'a': Events(np.array([1.0, 3.0]), np.array([10.0, 30.0]))}
    >>> held(events, np.array([0.5, 1.0, 2.0, 3.0]))['a'].tolist()
    [nan, 10.0, 10.0, 30.0]
    """
    found = {}
    for column, one in events.items():
        place = np.searchsorted(one.time, time, side='right') - 1
        found[column] = np.where(place >= 0, one.value[np.maximum(place, 0)], np.nan) if len(
            one.value) else np.full(len(time), np.nan)
    return found


def usable(table: LogTable, source: object) -> LogTable:
    """
    Return the rows that have a value in each column, and later times than all before.

    Raises
    ------
    BagError
        No row is left, or the times span more than ten years.
    """
    known = np.isfinite(table.time)
    for values in table.values.values():
        known &= np.isfinite(values)
    time = np.where(known, table.time, -np.inf)
    later = np.append(True, time[1:] > np.maximum.accumulate(time)[:-1]) if len(time) else known
    good = known & later
    remarks = [*table.remarks]
    if (count := int(np.sum(~known))):
        remarks.append(f'{count} rows without a value in each column are left out')
    if (count := int(np.sum(known & ~later))):
        remarks.append(f'{count} rows that are not later than all before are left out')
    if not good.any():
        raise BagError(f'{source}: no row has a time and a value in each of the columns '
                       f'{", ".join(table.values)}')
    time = table.time[good]
    if time[-1] - time[0] > LONGEST:
        raise BagError(f'{source}: its times span {time[-1] - time[0]:.3g} s; check the unit and '
                       'the wrap of the time')
    return LogTable(time, {name: values[good] for name, values in table.values.items()},
                 tuple(remarks))


def times_of(raw: Array, mapping: TimeMapping) -> Array:
    """
    Return times in s of a column of times.

    Examples
    --------
    >>> counter = np.array([65000.0, 65500.0, 464.0])
    >>> times_of(counter, TimeMapping(unit=1e-3, wrap=65536.0)).round(3).tolist()
    [65.0, 65.5, 66.0]
    """
    if mapping.wrap:
        raw = unwrapped(raw, mapping.wrap)
    return raw * mapping.unit + mapping.offset


def converted(raw: Array, mapping: ValueMapping) -> Array:
    """
    Return a column in SI units.

    Examples
    --------
    >>> ticks = np.array([10.0, 15.0, 15.0])
    >>> converted(ticks, ValueMapping('t', scale=0.1, sign=-1.0, zero=2.0)).tolist()
    [1.0, 0.5, 0.5]
    >>> counter = np.array([4294967290.0, 4.0])
    >>> converted(counter, ValueMapping('c', wrap=2.0**32)).tolist()
    [4294967290.0, 4294967300.0]
    """
    # sums of increments do not wrap
    if mapping.wrap and not mapping.increments:
        raw = unwrapped(raw, mapping.wrap)
    return raw * (mapping.scale * mapping.sign / mapping.gear) + mapping.zero
