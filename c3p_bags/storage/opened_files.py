# SPDX-License-Identifier: Apache-2.0
"""
The files of a bag, checked and ready to be read: one way of opening for every command.

A bag is found as recorders, copies and losses of power leave it: with a journal beside its
database, packed as a whole, renamed, without ``metadata.yaml``, in parts listed in another order.
What differs from a tidy bag is stated in a remark.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from c3p_bags.storage.bag_places import METADATA, SUFFIXES
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.limits import Metadata, check_database, read_metadata
from c3p_bags.storage.mcap import FOOTER, MAGIC
from c3p_bags.storage.mcap_close import close_mcap
from c3p_bags.storage.mcap_file import McapFile
from c3p_bags.storage.mcap_limits import FREE_BYTES, RATIO, TAIL
from c3p_bags.storage.sqlite_file import (
    JOURNALS,
    SqliteFile,
    is_blank,
    journal_of,
    with_journal,
)
from c3p_bags.storage.stored_topics import CDR, LEAP, StorageFile
from c3p_bags.storage.unpacking import unpack_stream
from c3p_description.texts import one_line

SQLITE = b'SQLite format 3'
ROS_1 = b'#ROSBAG V'

# first bytes of a file that is packed as a whole
PACKINGS = {b'\x28\xb5\x2f\xfd': 'zstd', b'\x04\x22\x4d\x18': 'lz4'}


# names in a remark, and characters of each
MOST_NAMES = 4
LONGEST_NAME = 80


class OpenedFiles(NamedTuple):
    """
    Files of a bag, in the order of recording.

    Attributes
    ----------
    files : list of StorageFile
    notes : dict
        Custom data of the metadata.
    packed : bool
        Every message is packed on its own.
    remarks : list of str
        What differs from a tidy bag.
    lost : int
        Bytes that could not be read, if the files were mended.
    """

    files: list[StorageFile]
    notes: dict[str, str]
    packed: bool
    remarks: list[str]
    lost: int


def open_files(path: Path, scratch: Callable[[], Path], mend: bool = False) -> OpenedFiles:
    """
    Open the files of a bag.

    Parameters
    ----------
    path : Path
        Directory of the bag, its ``metadata.yaml``, or one of its files.
    scratch : callable
        Returns a directory for unpacked files and for databases with their journals.
    mend : bool
        Close truncated files after their last sound record, and leave out damaged chunks.

    Raises
    ------
    BagError
        A bag of another kind, such as of ROS 1.
    ValueError
        The bag is damaged, or exceeds a limit.
    OSError
        A file cannot be read.
    """
    remarks: list[str] = []
    folder = path.parent if path.name == METADATA else path
    metadata, places = _places(folder, mend, remarks)
    mode = 'message' if metadata is not None and metadata.mode == 'message' else ''
    opened = []
    lost = 0
    for place in places:
        one = _Opening(place, mode, scratch, mend)
        try:
            file = one.open()
        except (ValueError, OSError, sqlite3.Error) as error:
            # a part without content, such as one that was begun by the loss of power
            if (mend and len(places) > 1 and not place.stat().st_size
                    and not journal_of(place)):
                remarks.append(f'{place.name} is empty')
                continue
            if isinstance(error, BagError):
                raise
            raise ValueError(f'{place.name}: {one_line(error)}' if folder.is_dir()
                             else one_line(error)) from error
        remarks += one.remarks
        lost += one.lost
        opened.append((place, file))
    if not opened:
        raise ValueError('no file with messages')
    files = _in_order(opened)
    found = OpenedFiles(files, {} if metadata is None else metadata.notes, mode == 'message',
                        remarks, lost)
    _check_serialization(path, found)
    _compare_counts(found, metadata)
    return found


def _places(folder: Path, mend: bool, remarks: list[str]) -> tuple[Metadata | None, list[Path]]:
    """Return the metadata, if they can be used, and the files."""
    if folder.is_file():
        return None, [folder]
    there = {file.name: file for file in sorted(folder.iterdir(), key=_number_of)
             if file.is_file() and any(ending in SUFFIXES for ending in file.suffixes)
             and not file.name.endswith((*JOURNALS, '-shm'))}
    metadata: Metadata | None = None
    try:
        metadata = read_metadata(folder / METADATA)
    except FileNotFoundError:
        # a repair reads every file anyway
        remarks += [] if mend else [f'no {METADATA}: every file of the directory is read']
    except ValueError as error:
        if not there:
            raise
        remarks.append(f'{METADATA} cannot be used ({one_line(error)}): every file of the '
                       'directory is read')
    named = [] if metadata is None else metadata.files
    if metadata is None or mend:
        places = list(there.values())
    else:
        places = [there[name] for name in named if name in there]
        absent = [name for name in named if name not in there]
        others = [name for name in there if name not in named]
        if absent:
            # files that were renamed, or unpacked
            places += [there[name] for name in others]
            read = f'; {_names(others)} is read instead' if others else ''
            remarks.append(f'{_names(absent)}, named in {METADATA}, is missing{read}')
        elif others:
            remarks.append(f'{_names(others)} is in the directory, but not in '
                           f'{METADATA}, and not read; `c3p repair` reads every file')
    databases = {f'{file.name}{ending}' for file in places for ending in JOURNALS}
    for stray in sorted(folder.iterdir()):
        if (stray.name.endswith(JOURNALS) and '.db3' in stray.name and stray.is_file()
                and stray.name not in databases and stray.stat().st_size):
            remarks.append(f'{stray.name} belongs to no database of this name: was one renamed? '
                           'Messages in it are missing')
    if not places:
        raise ValueError(f'none of the files {_names(named)} exists' if named else
                         f'no {" or ".join(SUFFIXES[:2])} file in it')
    return metadata, places


class _Opening:
    """Opens one file, and collects remarks and the number of lost bytes."""

    def __init__(self, place: Path, mode: str, scratch: Callable[[], Path], mend: bool) -> None:
        self._place = place
        self._mode = mode
        self._scratch = scratch
        self._mend = mend
        self.remarks: list[str] = []
        self.lost = 0

    def open(self) -> StorageFile:
        """Return the open file."""
        place = self._place
        head = _head(place)
        if packing := PACKINGS.get(head[:4]):
            place = self._unpacked(packing)
            head = _head(place)
        if head.startswith(ROS_1):
            raise BagError(f'bag {self._place}: a bag of ROS 1; `c3p import {self._place} '
                           '--mapping FILE` makes a bag of ROS 2 of it, and so does '
                           '`rosbags-convert`')
        if head.startswith(MAGIC):
            return self._mcap(place)
        journal = journal_of(place)
        if head.startswith(SQLITE) or (journal and is_blank(place)):
            if journal:
                place = with_journal(place, journal, self._scratch())
                self.remarks.append(f'{journal.name}: the messages in this journal are read, too; '
                                    'the recorder was ended by force')
            check_database(place, self._mode)
            return SqliteFile(place)
        raise ValueError('is not an MCAP file, and not an sqlite3 database' if head
                         else 'is not an MCAP file: it is empty')

    def _unpacked(self, packing: str) -> Path:
        """Return a copy of the file that is not packed."""
        place = self._scratch() / self._place.with_suffix('').name
        with self._place.open('rb') as source, place.open('wb') as target:
            for piece in unpack_stream(source, RATIO * self._place.stat().st_size + FREE_BYTES,
                                       packing):
                target.write(piece)
        return place

    def _mcap(self, place: Path) -> McapFile:
        if self._mend:
            closed = self._scratch() / place.name
            with place.open('rb') as source, closed.open('wb') as target:
                self.lost = close_mcap(source, target)
            return McapFile(closed, self._mode)
        if not _has_end(place):
            raise ValueError('is cut off: it has no end')
        return McapFile(place, self._mode)


def _head(place: Path) -> bytes:
    with place.open('rb') as file:
        return file.read(16)


def _has_end(place: Path) -> bool:
    """Return whether an MCAP file ends with a footer."""
    with place.open('rb') as file:
        file.seek(max(0, place.stat().st_size - TAIL))
        tail = file.read()
    return len(tail) == TAIL and tail[0] == FOOTER and tail.endswith(MAGIC)


def _names(names: Sequence[str]) -> str:
    """Return the first of some names, each on one line and not too long."""
    shown = ', '.join(' '.join(name.split())[:LONGEST_NAME] for name in names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return f'{shown} and {more} more' if more > 0 else shown


def _number_of(place: Path) -> list[tuple[int, int, str]]:
    """Return a key by which names sort as their numbers do."""
    return [(0, int(part), '') if part.isdecimal() else (1, 0, part)
            for part in re.split(r'(\d{1,18})', place.name)]


def _in_order(opened: Sequence[tuple[Path, StorageFile]]) -> list[StorageFile]:
    """
    Return the parts of a bag in the order of recording.

    That is the order of their times, unless the clock was set while one was recorded: then the
    order of their numbers, or of the metadata, joins more ends to beginnings.
    """
    some = [pair for pair in opened if any(topic.messages for topic in pair[1].topics)]
    empty = [file for place, file in opened if (place, file) not in some]
    orders = [sorted(some, key=lambda pair: (pair[1].first, _number_of(pair[0]))),
              sorted(some, key=lambda pair: _number_of(pair[0])), some]

    def breaks(order: Sequence[tuple[Path, StorageFile]]) -> int:
        return sum(abs(after.first - before.last) > LEAP
                   for (_, before), (_, after) in zip(order, order[1:], strict=False))

    return [file for _, file in min(orders, key=breaks)] + empty


def _check_serialization(path: Path, found: OpenedFiles) -> None:
    """Leave out topics in another serialisation than that of ROS 2."""
    others: dict[str, str] = {}
    for file in found.files:
        others |= {t.topic: t.serialization for t in file.topics if t.serialization != CDR}
    if not others:
        return
    kinds = _names(sorted(set(others.values())))
    if all(t.topic in others for file in found.files for t in file.topics):
        raise BagError(f'bag {path}: its messages are serialised as {kinds}, and not as those of '
                       f'ROS 2 ({CDR}); convert it, such as by `rosbags-convert`')
    found.remarks.append(f'{_names(sorted(others))}: left out, because the messages are '
                         f'serialised as {kinds}, and not as those of ROS 2')
    for file in found.files:
        file.topics = [t for t in file.topics if t.topic not in others]


def _compare_counts(found: OpenedFiles, metadata: Metadata | None) -> None:
    """Remark that the bag has fewer messages than it states."""
    count = sum(topic.messages for file in found.files for topic in file.topics)
    if metadata is not None and count < metadata.messages:
        found.remarks.append(fewer(count, metadata.messages, METADATA))
    for file in found.files:
        if not isinstance(file, McapFile) or file.layout.unread:
            continue
        counts = file.layout.counts
        strays = sum(n for number, n in counts.items() if number not in file.layout.channels)
        if strays:
            found.remarks.append(f'{strays} messages in {file.path.name} are of no topic, and '
                                 'left out: the file is damaged')
        if file.layout.stated is not None:
            stated = file.layout.stated
            # of each topic: a damaged message may be counted at another one
            missing = sum(max(0, n - counts[number]) for number, n in stated.items())
            if missing:
                found.remarks.append(fewer(stated.total() - missing, stated.total(),
                                           f'the index of {file.path.name}'))


def fewer(count: int, stated: int, source: str) -> str:
    """Return the remark on missing messages."""
    return f'{count} messages, {stated - count} fewer than {source} states'
