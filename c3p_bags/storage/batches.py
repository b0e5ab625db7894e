# SPDX-License-Identifier: Apache-2.0
"""The messages of some topics of a bag, as bytes and many at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path, PurePath

import numpy as np

from c3p_bags.storage.bags import read_raw
from c3p_bags.storage.mcap_scan import BATCH, MAGIC, WAITING_BYTES, Batch, scan_mcap
from c3p_description.reading.yaml_files import YamlFileError, read_yaml


def read_batches(path: str | Path, topics: Collection[str], size: int = BATCH
                 ) -> Iterator[Batch]:
    """
    Yield the messages of some topics of a bag, many of one topic at a time.

    Parameters
    ----------
    path : str or Path
        Directory of the bag, or a single ``.mcap`` or ``.db3`` file.
    topics : collection of str
        Absolute names; those that the bag lacks are no error.
    size : int
        At least so many messages together, except at the end.

    Yields
    ------
    Batch
        Those of one topic in the order in which they were recorded.

    Raises
    ------
    BagError
        It cannot be read.
    """
    files = _plain_mcap(Path(path))
    if files:
        for file in files:
            yield from scan_mcap(file, topics, size)
        return
    rows: dict[str, tuple[list[int], list[bytes]]] = {t: ([], []) for t in topics}
    waiting = 0
    for topic, time, data in read_raw(path, topics):
        times, messages = rows[topic]
        times.append(time)
        # sqlite3 gives views of its own memory
        messages.append(bytes(data))
        waiting += len(data)
        if len(times) >= size:
            yield Batch(topic, np.array(times, np.int64), messages)
            rows[topic] = ([], [])
        if waiting > WAITING_BYTES:
            yield from _batches(rows)
            rows, waiting = {t: ([], []) for t in topics}, 0
    yield from _batches(rows)


def _batches(rows: dict[str, tuple[list[int], list[bytes]]]) -> Iterator[Batch]:
    """Yield what waits."""
    for topic, (times, messages) in rows.items():
        if times:
            yield Batch(topic, np.array(times, np.int64), messages)


def _plain_mcap(path: Path) -> list[Path]:
    """Return the MCAP files of a bag in their order; empty where it has others."""
    files = [path]
    if path.is_dir():
        try:
            told = read_yaml(path / 'metadata.yaml')['rosbag2_bagfile_information']
            # in the bag, whatever folders stand before the name
            files = [path / PurePath(name).name for name in told['relative_file_paths']]
            if f'{told.get("compression_mode") or ""}'.lower() in ('file', 'message'):
                return []
        # what is wrong with it, the reader says to whom the bag is left
        except (OSError, YamlFileError, AttributeError, KeyError, TypeError, ValueError):
            return []
    return files if all(_is_mcap(file) for file in files) else []


def _is_mcap(path: Path) -> bool:
    try:
        with path.open('rb') as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
