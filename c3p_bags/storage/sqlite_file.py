# SPDX-License-Identifier: Apache-2.0
"""
One sqlite3 file of a bag, and the journal beside it.

A recorder that was ended by force leaves messages in a write-ahead log (``FILE-wal``), or half a
transaction that a rollback journal (``FILE-journal``) undoes. SQLite merges both only where it
may write; so the file is copied with its journal, and the copy is read.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from c3p_bags.storage.stored_topics import LEAP, StoredTopic, qos_of

# endings of the files in which SQLite keeps a journal, behind the name of the database
JOURNALS = ('-wal', '-journal')

# bytes of the header of a database; first bytes of a write-ahead log, and pages that it may have
HEADER = 100
LOG_MAGIC = (bytes.fromhex('377f0682'), bytes.fromhex('377f0683'))
PAGE_SIZES = [2**k for k in range(9, 17)]

# end of a rollback journal that names another file, which SQLite would delete
SUPER_JOURNAL = bytes.fromhex('d9d505f920a163d7')


def journal_of(path: Path) -> Path | None:
    """Return the journal beside a database that has content, None without one."""
    for ending in JOURNALS:
        journal = path.with_name(path.name + ending)
        if journal.is_file() and journal.stat().st_size:
            return journal
    return None


def is_blank(path: Path) -> bool:
    """
    Return whether a database has no header yet: its first pages are in the write-ahead log alone.

    Parameters
    ----------
    path : Path
        An empty file, or one that begins with zeros, as a loss of power leaves them.
    """
    with path.open('rb') as file:
        return not any(file.read(HEADER))


def _page_size(journal: Path) -> int:
    """Return the page size [bytes] that a write-ahead log states."""
    with journal.open('rb') as file:
        head = file.read(12)
    size = int.from_bytes(head[8:12], 'big')
    if head[:4] not in LOG_MAGIC or size not in PAGE_SIZES:
        raise ValueError(f'the journal {journal.name} is not a write-ahead log, and the database '
                         'beside it is empty')
    return size


def with_journal(path: Path, journal: Path, folder: Path) -> Path:
    """
    Return a copy of a database in `folder`, into which its `journal` is merged.

    Raises
    ------
    ValueError
        The journal names another database, or cannot be merged.
    """
    if journal.name.endswith('-journal'):
        with journal.open('rb') as file:
            file.seek(-min(len(SUPER_JOURNAL), journal.stat().st_size), 2)
            if file.read() == SUPER_JOURNAL:
                raise ValueError(f'the journal {journal.name} is of several databases; open it '
                                 'once with the sqlite3 program that wrote it')
    copy = folder / path.name
    shutil.copyfile(path, copy)
    if is_blank(path):
        # without a page SQLite would drop the log; the first page is in it
        copy.write_bytes(bytes(_page_size(journal)))
    shutil.copyfile(journal, folder / journal.name)
    base = sqlite3.connect(copy)
    try:
        base.execute('SELECT count(*) FROM sqlite_master').fetchone()
        # back to one file, which is read without a journal
        base.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()
        base.execute('PRAGMA journal_mode=DELETE').fetchone()
    except sqlite3.Error as error:
        raise ValueError(f'the journal {journal.name} cannot be merged ({error})') from None
    finally:
        base.close()
    return copy


class SqliteFile:
    """
    A database of rosbag2 that `limits` has checked.

    Parameters
    ----------
    path : Path
        Read without its journal: `with_journal` merges it.

    Raises
    ------
    ValueError
        Not a database of rosbag2, or damaged.
    """

    def __init__(self, path: Path) -> None:
        """Read topics, counts and times."""
        self.path = path
        base = self._connect()
        try:
            tables = {name for name, in base.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not {'topics', 'messages'} <= tables:
                raise ValueError('a database without the tables topics and messages')
            columns = [row[1] for row in base.execute('PRAGMA table_info(topics)')]
            qos = 'offered_qos_profiles' if 'offered_qos_profiles' in columns else "''"
            counts = dict(base.execute('SELECT topic_id, count(*) FROM messages GROUP BY 1'))
            defined = {kind: (text, language) for kind, language, text in base.execute(
                'SELECT topic_type, encoding, encoded_message_definition FROM '
                'message_definitions')} if 'message_definitions' in tables else {}
            self._topic_of: dict[int, str] = {}
            self.topics = []
            for number, topic, kind, serialization, offered in base.execute(
                    f'SELECT id, name, type, serialization_format, {qos} FROM topics '
                    'ORDER BY id'):
                if not all(isinstance(text, str) for text in (topic, kind, serialization)):
                    raise ValueError(f'a topic {topic!r} of type {kind!r}')
                self._topic_of[number] = topic
                self.topics.append(StoredTopic(topic, kind, serialization, qos_of(offered),
                                               counts.get(number, 0), *defined.get(kind, ())))
            first, last = (base.execute(f'SELECT timestamp FROM messages ORDER BY id {way} '
                                        'LIMIT 1').fetchone() or (0,) for way in ('', 'DESC'))
            self.first = _time(first[0])
            self.last = _time(last[0])
            earliest, latest = base.execute(
                'SELECT min(timestamp), max(timestamp) FROM messages').fetchone()
            self.span = _time(earliest or 0), _time(latest or 0)
            self.goes_back = bool(base.execute(
                'SELECT 1 FROM (SELECT timestamp - lag(timestamp) OVER (ORDER BY id) AS step '
                'FROM messages) WHERE step < ? LIMIT 1', (-LEAP,)).fetchone())
        except sqlite3.Error as error:
            raise ValueError(f'a damaged database ({error})') from None
        finally:
            base.close()

    # the database sorts on disk
    sortable = True

    def _connect(self) -> sqlite3.Connection:
        # a connection of its own for each use: the thread that plays is another one
        base = sqlite3.connect(f'{self.path.resolve().as_uri()}?mode=ro&immutable=1', uri=True)
        base.text_factory = lambda data: data.decode('utf-8', 'replace')
        return base

    def messages(self, topics: Iterable[str], start: int | None = None, by_time: bool = True
                 ) -> Iterator[tuple[str, int, bytes]]:
        """
        Yield topic, time [ns] and bytes of messages.

        Only of `topics`, and recorded from `start` on; in the order of time, else of writing.

        Raises
        ------
        ValueError
            The database is damaged.
        """
        wanted = set(topics)
        numbers = [number for number, topic in self._topic_of.items() if topic in wanted]
        places = ','.join('?' * len(numbers))
        since = ' AND timestamp >= ?' if start is not None else ''
        base = self._connect()
        try:
            for number, time, data in base.execute(
                    f'SELECT topic_id, timestamp, data FROM messages WHERE topic_id IN ({places})'
                    f'{since} ORDER BY {"timestamp, id" if by_time else "id"}',
                    [*numbers, *([start] if since else [])]):
                if not isinstance(data, bytes):
                    raise ValueError(f'a message on {self._topic_of[number]} that is not bytes')
                yield self._topic_of[number], _time(time), data
        except sqlite3.Error as error:
            raise ValueError(f'a damaged database ({error})') from None
        finally:
            base.close()


def _time(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError(f'a message with the time {value!r}')
    return value
