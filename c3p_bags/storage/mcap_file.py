# SPDX-License-Identifier: Apache-2.0
"""One MCAP file of a bag, read by its chunks: no index is needed, and none is trusted."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator
from operator import itemgetter
from pathlib import Path

from c3p_bags.storage.mcap import messages_of_block, read_mcap
from c3p_bags.storage.mcap_layout import McapChannel, McapLayout, McapSchema
from c3p_bags.storage.mcap_limits import check_mcap
from c3p_bags.storage.stored_topics import LEAP, StoredTopic, qos_of
from c3p_bags.storage.unpacking import unpack

# metadata of a channel with the quality of service of its publishers
QOS = 'offered_qos_profiles'

by_time_of = itemgetter(1)


class McapFile:
    """
    A complete MCAP file.

    Parameters
    ----------
    path : Path
    mode : str
        ``'message'`` where every message is packed on its own.

    Raises
    ------
    ValueError
        The file exceeds a limit, or is damaged.
    """

    def __init__(self, path: Path, mode: str = '') -> None:
        """Scan the file."""
        self.path = path
        with path.open('rb') as file:
            self.layout = check_mcap(file, path.stat().st_size, mode)
        self.topics = [_stored(self.layout, number, channel)
                       for number, channel in self.layout.channels.items()]
        blocks = self.layout.blocks
        self.first = blocks[0].first if blocks else 0
        self.last = blocks[-1].last if blocks else 0
        self.span = (min((b.first for b in blocks), default=0),
                     max((b.last for b in blocks), default=0))

    @property
    def goes_back(self) -> bool:
        """Return whether a chunk begins before an earlier one ends, by more than `LEAP`."""
        latest = 0
        for block in self.layout.blocks:
            if block.first < latest - LEAP:
                return True
            latest = max(latest, block.last)
        return False

    @property
    def sortable(self) -> bool:
        """Return whether the messages can be sorted by time within the limit of memory."""
        return self.layout.sortable

    def messages(self, topics: Iterable[str], start: int | None = None, by_time: bool = True
                 ) -> Iterator[tuple[str, int, bytes]]:
        """
        Yield topic, time [ns] and bytes of messages.

        Only of `topics`, and recorded from `start` on; in the order of time, else of the file.

        Raises
        ------
        ValueError
            The file is damaged.
        """
        wanted = set(topics)
        found = self._sorted(wanted, start) if by_time else read_mcap(self.path, wanted)
        if start is None:
            yield from found
            return
        for topic, time, data in found:
            if time >= start:
                yield topic, time, data

    def _sorted(self, wanted: Collection[str], start: int | None
                ) -> Iterator[tuple[str, int, bytes]]:
        """Yield messages by time; those of overlapping chunks wait in memory."""
        blocks = sorted((b for b in self.layout.blocks if start is None or b.last >= start),
                        key=lambda block: block.first)
        channels = {number: channel.topic for number, channel in self.layout.channels.items()
                    if channel.topic in wanted}
        waiting: list[tuple[str, int, bytes]] = []
        try:
            with self.path.open('rb') as file:
                for block in blocks:
                    before = 0
                    # stable: equal times remain in the order of the file
                    waiting.sort(key=by_time_of)
                    while before < len(waiting) and waiting[before][1] < block.first:
                        before += 1
                    yield from waiting[:before]
                    del waiting[:before]
                    file.seek(block.place)
                    # the summary may lack channels
                    waiting += messages_of_block(
                        unpack(block.packing, file.read(block.packed), block.size,
                               block.checksum), channels, wanted)
        except (struct.error, OverflowError) as error:
            raise ValueError(f'{error}') from error
        waiting.sort(key=by_time_of)
        yield from waiting


def _stored(layout: McapLayout, number: int, channel: McapChannel) -> StoredTopic:
    """Return a channel with its type."""
    schema = layout.schemas.get(channel.schema, McapSchema('', '', ''))
    return StoredTopic(channel.topic, schema.name, channel.encoding,
                       qos_of(channel.metadata.get(QOS, '')), layout.messages_of(number),
                       schema.text, schema.encoding)
