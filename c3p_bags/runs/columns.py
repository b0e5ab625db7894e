# SPDX-License-Identifier: Apache-2.0
"""
Topics of a bag as columns of numbers: one array for each field, in the order of recording.

That is the order of the files, unless blocks of messages are exchanged in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from c3p_bags.runs import mapped
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.log_fields import Reader, TopicRows
from c3p_bags.storage.recording_order import exchanged
from c3p_description.model import Array

# messages of one topic in a batch: few enough that all batches stay small beside the arrays that
# they become; and bytes that wait at most
BATCH = 4096
WAITING_BYTES = 20_000_000


class Batch(NamedTuple):
    """
    Messages of one topic.

    Times of recording (k,) [ns], CDR with headers (list of k), and places in the order of the
    files (k,).
    """

    topic: str
    time: Array
    data: list[bytes]
    place: Array


class Column(NamedTuple):
    """
    All usable messages of a topic.

    Recorded and stamped (ns; 0 without a stamp), values, and places among all messages that were
    read.
    """

    recorded: Array
    stamp: Array
    values: tuple[Array, ...]
    place: Array


def read_columns(bag: Bag, readers: Mapping[str, Reader],
                 progress: Callable[[float], object] = lambda part: None,
                 broken: Counter[str] | None = None) -> dict[str, Column]:
    """
    Return the usable messages of the topics of `readers`; topics without any are left out.

    Long columns are mapped from temporary files (`mapped`). `progress` receives the fraction of
    the messages read, 0 to 1; `broken` counts, by topic, messages with a number that is not
    finite.

    Raises
    ------
    BagError
        The bag cannot be read.
    """
    parts: dict[str, list[mapped.GrowingRows]] = {}
    done = 0
    total = sum(bag.topics[topic].count for topic in readers if topic in bag.topics)
    # all topics in one pass over the bag
    for batch in batched(bag.unordered(list(readers))):
        done += len(batch.data)
        # the number of messages is what the bag states
        progress(min(1.0, done / max(total, 1)))
        rows = readers[batch.topic](bag.topics[batch.topic].kind, batch.data)
        if rows:
            part = _in_order(batch, rows)
            if broken is not None:
                broken[batch.topic] += sum(one.broken for one in rows)
            arrays = (part.recorded, part.stamp, part.place, *part.values)
            some = parts.setdefault(batch.topic, [mapped.GrowingRows() for _ in arrays])
            for whole, array in zip(some, arrays, strict=True):
                whole.append(array)
    return _by_recording({topic: _column(parts[topic]) for topic in readers if topic in parts})


def _column(parts: Sequence[mapped.GrowingRows]) -> Column:
    recorded, stamp, place, *values = (part.array() for part in parts)
    return Column(recorded, stamp, tuple(values), place)


def _by_recording(columns: dict[str, Column]) -> dict[str, Column]:
    """Return columns in the order of recording."""
    if not columns:
        return columns
    # the topic with most messages shows whether blocks are exchanged
    longest = max(columns.values(), key=lambda column: len(column.recorded))
    if not exchanged(longest.recorded):
        return columns
    return {topic: _sorted(column) for topic, column in columns.items()}


def _sorted(column: Column) -> Column:
    """Return a column by its times of recording, which are its places then."""
    order = np.argsort(column.recorded, kind='stable')
    recorded = mapped.kept(column.recorded[order])
    return Column(recorded, mapped.kept(column.stamp[order]),
                  tuple(mapped.kept(values[order]) for values in column.values), recorded)


def batched(messages: Iterable[tuple[str, int, bytes]], size: int = BATCH) -> Iterator[Batch]:
    """Yield messages sorted by topic, `size` of one topic together."""
    rows: dict[str, tuple[list[int], list[bytes], list[int]]] = {}
    waiting = 0

    def taken(topic: str) -> Batch:
        times, data, places = rows.pop(topic)
        return Batch(topic, np.array(times, np.int64), data, np.array(places, np.int64))

    for place, (topic, time, data) in enumerate(messages):
        if topic not in rows:
            rows[topic] = [], [], []
        times, kept, places = rows[topic]
        times.append(time)
        places.append(place)
        # sqlite3 yields views of its own memory
        kept.append(data if type(data) is bytes else bytes(data))
        waiting += len(data)
        if len(times) >= size:
            yield taken(topic)
        if waiting > WAITING_BYTES:
            yield from [taken(name) for name in list(rows)]
            waiting = 0
    yield from [taken(name) for name in list(rows)]


def _in_order(batch: Batch, found: Sequence[TopicRows]) -> Column:
    """Return the rows of one batch, which are grouped by layout, in the order of its messages."""
    rows = np.concatenate([part.rows for part in found])
    stamp = np.concatenate([np.zeros(len(part.rows), np.int64) if part.stamp is None
                            else part.stamp for part in found])
    values = [np.concatenate(some) for some in zip(*(part.values for part in found), strict=True)]
    order = np.argsort(rows)
    return Column(batch.time[rows[order]], stamp[order], tuple(v[order] for v in values),
                  batch.place[rows[order]])
