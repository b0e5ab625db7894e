# SPDX-License-Identifier: Apache-2.0
"""Columns of a log as arrays on one clock, and in SI units."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from c3p_bags.importing.mapping import TURN, WIDTHS, TimeMapping, ValueMapping
from c3p_bags.runs.clock_steps import find_steps
from c3p_bags.runs.mapped import unwrapped
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.recording_order import exchanged
from c3p_description.model import Array

# latest stamp of a log after its first one, s: ten years
LONGEST = 3.2e8

# latest time of ROS, s
LATEST = 2.0**31

# a step forward that no pause of a log explains, s
LONGEST_PAUSE = 86_400.0

# rows from which on a leap of a column differs from its motion; the part of the steps that is
# usual; and by how much a leap, and a usual step, differ from the period of a counter
MANY = 4
USUAL_PART = 0.6
LEAP_WITHIN = 0.1

# steps of the clock of which each is a remark
MOST_REMARKS = 5


class LogTable(NamedTuple):
    """
    Values of columns: times (m,) [s], values by column (m,), and what was left out, in words.

    A value is the newest one at its time; of the columns `summed` the sum up to it.
    """

    time: Array
    values: Mapping[str, Array]
    remarks: tuple[str, ...] = ()
    summed: tuple[str, ...] = ()


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
    Return the rows that have a value in each column, on one line of time.

    Blocks of rows that are exchanged are sorted. A clock that was set while it was logged, or
    began anew, is followed: times behind the step continue those before it. A single row that is
    older than one before is left out.

    Raises
    ------
    BagError
        No row is left, or the times span more than ten years.
    """
    known = np.isfinite(table.time)
    for values in table.values.values():
        known &= np.isfinite(values)
    remarks = [*table.remarks]
    if (count := int(np.sum(~known))):
        remarks.append(f'{count} rows without a value in each column are left out')
    if not known.any():
        raise BagError(f'{source}: no row has a time and a value in each of the columns '
                       f'{", ".join(table.values)}')
    rows = np.flatnonzero(known)
    time = table.time[rows]
    # between positive times
    unset = (time <= 0.0) & (np.maximum.accumulate(time) > 0.0) & (
        np.maximum.accumulate(time[::-1])[::-1] > 0.0)
    if unset.any():
        remarks.append(f'{int(np.sum(unset))} rows have no time (zero or negative between '
                       'positive ones), and are left out')
        rows = rows[~unset]
        time = time[~unset]
    found = {name: values[rows] for name, values in table.values.items()}
    if exchanged(time):
        remarks.append('blocks of rows are not in the order of time; they are sorted')
        order = np.argsort(time, kind='stable')
        time = time[order]
        found = {name: np.cumsum(np.diff(values, prepend=0.0)[order]) if name in table.summed
                 else values[order] for name, values in found.items()}
    time = _continued(time, remarks)
    later = np.append(True, time[1:] > np.maximum.accumulate(time)[:-1])
    if (count := int(np.sum(~later))):
        remarks.append(f'{count} rows that are not later than all before are left out')
    time = time[later]
    if time[-1] - time[0] > LONGEST:
        raise BagError(f'{source}: its times span {time[-1] - time[0]:.3g} s; check the unit and '
                       'the wrap of the time')
    return LogTable(time, {name: values[later] for name, values in found.items()},
                    tuple(remarks), table.summed)


def _continued(time: Array, remarks: list[str]) -> Array:
    """Return times (m,) [s] without the steps of a clock that was set."""
    if np.abs(time).max() > LATEST:
        # not in s
        return time
    steps = find_steps(np.rint(1e9 * time).astype(np.int64))
    # a pause of the log stays one
    true = (steps.by < 0) | (steps.by > 1e9 * LONGEST_PAUSE)
    shift = np.zeros(len(time))
    shift[steps.sample[true]] = 1e-9 * steps.by[true]
    even = time - np.cumsum(shift)
    some = steps.sample[true]
    for sample in some[:MOST_REMARKS]:
        remarks.append(f'the clock was set by {shift[sample]:+.3f} s after '
                       f'{even[sample] - even[0]:.2f} s (a counter that wraps has `wrap`): the '
                       'times behind it continue those before it')
    if len(some) > MOST_REMARKS:
        remarks.append(f'the clock was set {len(some)} times')
    return even


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


def leaps(raw: Array, mapping: ValueMapping) -> str:
    """
    Return a remark on a column that leaps as a counter that wraps; empty without one.

    Examples
    --------
    >>> leaps(np.arange(65500.0, 65600.0, 5.0) % 65536.0, ValueMapping('ticks'))
    "column 'ticks' leaps by -65531 once, as a counter that wraps by 65536: state its wrap"
    """
    if mapping.increments or len(raw) < MANY:
        return ''
    if mapping.wrap:
        raw = unwrapped(raw, mapping.wrap)
    step = np.diff(raw)
    most = float(np.abs(step).max())
    usual = float(np.quantile(np.abs(step), USUAL_PART))
    # a turn of the sensor in the unit of the column
    turn = TURN / abs(mapping.scale)
    for period in (turn, *sorted(set(WIDTHS.values()))):
        if abs(most - period) <= LEAP_WITHIN * period and usual < LEAP_WITHIN * period:
            count = int(np.sum(np.abs(step) > 0.5 * period))
            leap = float(step[np.argmax(np.abs(step))])
            return (f'column {mapping.column!r} leaps by {leap:.6g} '
                    f'{"once" if count == 1 else f"{count} times"}, as a counter that wraps by '
                    f'{period:.6g}: state its wrap')
    return ''


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
