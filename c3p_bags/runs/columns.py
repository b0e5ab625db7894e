# SPDX-License-Identifier: Apache-2.0
"""Topics of a bag as columns of numbers: one array for each field, in the order of recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from c3p_bags.runs import mapped
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.log_fields import Reader, TopicRows
from c3p_description.model import Array

# messages of one topic in a batch: few enough that all batches stay small beside the arrays that
# they become; and bytes that wait at most
BATCH = 4096
WAITING_BYTES = 20_000_000


class Batch(NamedTuple):
    """Messages of one topic: times of recording (k,) [ns], and CDR with headers (list of k)."""

    topic: str
    time: Array
    data: list[bytes]


class Column(NamedTuple):
    """All usable messages of a topic: recorded and stamped (ns; 0 without a stamp), and values."""

    recorded: Array
    stamp: Array
    values: tuple[Array, ...]


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
            recorded, stamp, values = _in_order(batch.time, rows)
            if broken is not None:
                broken[batch.topic] += sum(part.broken for part in rows)
            some = parts.setdefault(batch.topic,
                                    [mapped.GrowingRows() for _ in range(2 + len(values))])
            for whole, part in zip(some, (recorded, stamp, *values), strict=True):
                whole.append(part)
    return {topic: Column(parts[topic][0].array(), parts[topic][1].array(),
                          tuple(part.array() for part in parts[topic][2:]))
            for topic in readers if topic in parts}


def batched(messages: Iterable[tuple[str, int, bytes]], size: int = BATCH) -> Iterator[Batch]:
    """Yield messages sorted by topic, `size` of one topic together."""
    rows: dict[str, tuple[list[int], list[bytes]]] = {}
    waiting = 0

    def taken(topic: str) -> Batch:
        times, data = rows.pop(topic)
        return Batch(topic, np.array(times, np.int64), data)

    for topic, time, data in messages:
        times, kept = rows.setdefault(topic, ([], []))
        times.append(time)
        # sqlite3 yields views of its own memory
        kept.append(bytes(data))
        waiting += len(data)
        if len(times) >= size:
            yield taken(topic)
        if waiting > WAITING_BYTES:
            yield from [taken(name) for name in list(rows)]
            waiting = 0
    yield from [taken(name) for name in list(rows)]


def _joined(parts: Sequence[Column]) -> Column:
    """Return the messages of several columns one after the other."""
    recorded, stamp, values = zip(*parts, strict=True)
    return Column(np.concatenate(recorded), np.concatenate(stamp),
                  tuple(np.concatenate(v) for v in zip(*values, strict=True)))


def _in_order(recorded: Array, found: Sequence[TopicRows]) -> Column:
    """Return the rows of one batch, which are grouped by layout, in the order of its messages."""
    rows, stamp, values = _joined([
        Column(part.rows, np.zeros(len(part.rows), np.int64) if part.stamp is None
               else part.stamp, part.values) for part in found])
    order = np.argsort(rows)
    return Column(recorded[rows[order]], stamp[order], tuple(v[order] for v in values))
