# SPDX-License-Identifier: Apache-2.0
"""
Repair of truncated recordings.

A loss of power leaves an MCAP file without its end and no metadata.yaml, so that no reader opens
it. Its sound records are copied to a new bag with index and metadata.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from rosbags.highlevel import AnyReader

from c3p_bags.storage.bag_writer import BagError, BagWriter
from c3p_bags.storage.limits import check_bag
from c3p_bags.storage.mcap import read_mcap
from c3p_bags.storage.mcap_close import close_mcap
from c3p_description.texts import one_line


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


def _files(bag: Path) -> list[Path]:
    """Return the files of a bag, or the named file."""
    if not bag.exists():
        raise BagError(f'bag {bag}: no such file or directory')
    found = [bag] if bag.is_file() else sorted(
        path for path in bag.iterdir() if path.suffix in ('.mcap', '.db3'))
    if not found:
        raise BagError(f'bag {bag}: no .mcap or .db3 file in it; unpack files that are compressed '
                       'as a whole before, such as by `zstd -d`')
    return found


def repair(bag: str | Path, out: str | Path,
           progress: Callable[[float], object] = lambda done: None) -> Repaired:
    """
    Write a new bag of the readable messages of a truncated or damaged one.

    Parameters
    ----------
    bag : str or Path
        Directory of the bag, or one of its ``.mcap`` or ``.db3`` files; not changed.
    out : str or Path
        Directory of the new bag; must not exist.
    progress : callable
        Receives the fraction of the messages written, 0 to 1.

    Raises
    ------
    BagError
        The bag does not exist, has no readable message, or `out` exists.
    """
    place = Path(out)
    lost = 0
    files = _files(Path(bag))
    if place.exists():
        raise BagError(f'bag {place}: exists already; name another place')
    # beside the new bag, which requires the space anyway
    with tempfile.TemporaryDirectory(prefix='.c3p_repair_', dir=place.parent) as scratch:
        closed = []
        for number, file in enumerate(files):
            if file.suffix == '.mcap':
                closed.append(Path(scratch) / f'{number}.mcap')
                with file.open('rb') as source, closed[-1].open('wb') as target:
                    lost += close_mcap(source, target)
            else:
                closed.append(file)
        return _rewrite(Path(bag), closed, place, lost, progress)


def _rewrite(bag: Path, files: Sequence[Path], out: Path, lost: int,
             progress: Callable[[float], object]) -> Repaired:
    """Write the messages of complete files to a bag with index and metadata."""
    try:
        for file in files:
            check_bag(file)
        with AnyReader(files) as reader:
            messages = _messages(reader, files)
            head = next(messages, None)
            if head is None:
                raise BagError(f'bag {bag}: no readable message')
            first = last = head[1]
            with BagWriter(out) as writer:
                writer.note({'c3p_repaired': f'{lost} bytes lost'})
                for connection in reader.connections:
                    writer.adopt(connection, reader.typestore)
                for done, (topic, time, data) in enumerate(chain([head], messages)):
                    writer.write(topic, time, data)
                    first = min(first, time)
                    last = max(last, time)
                    if done % 1000 == 0:
                        progress(done / reader.message_count)
        progress(1.0)
        return Repaired(out, dict(writer.counts), (first, last), lost)
    except BagError:
        raise
    # damaged bytes raise any exception of the libraries
    except Exception as error:
        raise BagError(f'bag {bag}: cannot be read: {one_line(error)}') from error


def _messages(reader: AnyReader, files: Sequence[Path]) -> Iterator[tuple[str, int, bytes]]:
    """Yield topic, time and bytes; of MCAP files in file order, because rosbags needs an index."""
    if files[0].suffix != '.mcap':
        yield from ((c.topic, time, data) for c, time, data in reader.messages())
        return
    for file in files:
        yield from read_mcap(file)
