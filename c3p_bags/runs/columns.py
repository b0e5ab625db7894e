# SPDX-License-Identifier: Apache-2.0
"""Topics of a bag as columns of numbers: one array for each field, in the order of recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from c3p_bags.storage.bag import Bag
from c3p_bags.storage.log_fields import Reader, Rows
from c3p_description.model import Array


class Column(NamedTuple):
    """All usable messages of a topic: recorded and stamped (ns; 0 without a stamp), and values."""

    recorded: Array
    stamp: Array
    values: tuple[Array, ...]


def read_columns(bag: Bag, readers: Mapping[str, Reader]) -> dict[str, Column]:
    """
    Return the usable messages of the topics of `readers`; topics without any are left out.

    Raises
    ------
    BagError
        The bag cannot be read.
    """
    parts: dict[str, list[Column]] = {topic: [] for topic in readers}
    # all topics in one pass over the bag
    for batch in bag.batches(list(readers)):
        rows = readers[batch.topic](bag.topics[batch.topic].kind, batch.data)
        if rows:
            parts[batch.topic].append(_in_order(batch.time, rows))
    return {topic: _joined(some) for topic, some in parts.items() if some}


def _joined(parts: Sequence[Column]) -> Column:
    """Return the messages of several columns one after the other."""
    recorded, stamp, values = zip(*parts, strict=True)
    return Column(np.concatenate(recorded), np.concatenate(stamp),
                  tuple(np.concatenate(v) for v in zip(*values, strict=True)))


def _in_order(recorded: Array, found: Sequence[Rows]) -> Column:
    """Return the rows of one batch, which are grouped by layout, in the order of its messages."""
    rows, stamp, values = _joined([
        Column(part.rows, np.zeros(len(part.rows), np.int64) if part.stamp is None
               else part.stamp, part.values) for part in found])
    order = np.argsort(rows)
    return Column(recorded[rows[order]], stamp[order], tuple(v[order] for v in values))
