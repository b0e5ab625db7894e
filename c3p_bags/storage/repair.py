# SPDX-License-Identifier: Apache-2.0
"""
Repair of truncated recordings.

A loss of power leaves an MCAP file without its end and no metadata.yaml, so that no reader opens
it. Its sound records are copied to a new bag with index and metadata.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagError, BagWriter


class Repaired(NamedTuple):
    """
    Result of `repair`.

    New bag, numbers of messages by topic, times of recording of the first and the last one [ns],
    and bytes of the files that could not be read.
    """

    bag: Path
    messages: dict[str, int]
    span: tuple[int, int]
    lost: int


def repair(bag: str | Path, out: str | Path,
           progress: Callable[[float], object] = lambda done: None) -> Repaired:
    """
    Write a new bag of the readable messages of a truncated or damaged one, in order of recording.

    Parameters
    ----------
    bag : str or Path
        Directory of the bag, or one of its ``.mcap`` or ``.db3`` files; not changed. Every file
        of a directory is read, whatever its metadata name.
    out : str or Path
        Directory of the new bag; must not exist.
    progress : callable
        Receives the fraction of the messages written, 0 to 1.

    Raises
    ------
    BagError
        The bag does not exist, is of ROS 1, or has no readable message, or `out` exists.
    """
    place = Path(out)
    if place.exists():
        raise BagError(f'bag {place}: exists already; name another place')
    # unpacked and closed files are beside the new bag, which requires the space anyway
    with Bag(bag, mend=True, scratch=place.parent) as damaged:
        total = sum(topic.count for topic in damaged.topics.values())
        if not total:
            found = f' ({"; ".join(damaged.remarks)})' if damaged.remarks else ''
            raise BagError(f'bag {bag}: no readable message{found}')
        first, last = damaged.span
        with BagWriter(place) as writer:
            writer.note({**damaged.notes, 'c3p_repaired': f'{damaged.lost} bytes lost'})
            for topic, known in damaged.topics.items():
                writer.adopt(topic, known.kind, damaged.qos(topic), damaged.types)
            for done, (topic, time, data) in enumerate(damaged.raw()):
                writer.write(topic, time, data)
                if done % 1000 == 0:
                    progress(done / total)
        progress(1.0)
        return Repaired(place, dict(writer.counts), (first, last), damaged.lost)
