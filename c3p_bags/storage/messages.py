# SPDX-License-Identifier: Apache-2.0
"""Messages of a bag: serialised, deserialised, and in batches of one topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import Array

# the last time that a clock of ROS represents, ns
LATEST = 2**63 - 1

# messages of one topic in a batch: few enough that all batches stay small beside the arrays that
# they become; and bytes that wait at most
BATCH, WAITING_BYTES = 4096, 20_000_000


class RawMessage(NamedTuple):
    """A serialised message: topic, time of recording [ns], CDR with its header of four bytes."""

    topic: str
    time: int
    data: bytes


class BagMessage(NamedTuple):
    """
    A message as an object: topic, time of recording [ns], message.

    The message has the fields of the ROS message; arrays are numpy arrays.
    """

    topic: str
    time: int
    message: Any


class Batch(NamedTuple):
    """Messages of one topic: times of recording (k,) [ns], and CDR with headers (list of k)."""

    topic: str
    time: Array
    data: list[bytes]


def batched(messages: Iterable[tuple[str, int, bytes]], size: int) -> Iterator[Batch]:
    """
    Yield messages sorted by topic, `size` of one topic together.

    Raises
    ------
    ValueError
        The time of a message exceeds that of a clock of ROS.
    """
    rows: dict[str, tuple[list[int], list[bytes]]] = {}
    waiting = 0

    def taken(topic: str) -> Batch:
        times, data = rows.pop(topic)
        if max(times) > LATEST:
            raise ValueError(f'a message on {topic} with the time {max(times)} ns')
        return Batch(topic, np.array(times, np.int64), data)

    for topic, time, data in messages:
        row = rows.get(topic)
        if row is None:
            row = rows[topic] = ([], [])
        row[0].append(time)
        # sqlite3 yields views of its own memory
        row[1].append(bytes(data))
        waiting += len(data)
        if len(row[0]) >= size:
            yield taken(topic)
        if waiting > WAITING_BYTES:
            yield from [taken(name) for name in list(rows)]
            waiting = 0
    yield from [taken(name) for name in list(rows)]
