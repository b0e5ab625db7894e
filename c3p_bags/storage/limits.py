# SPDX-License-Identifier: Apache-2.0
"""
Limits of bags: metadata, sqlite3 and packed files are checked before a general reader opens them.

A bag is data from elsewhere. A few of its bytes can expand to gigabytes: packed chunks, aliases in
its YAML, views in its database. Everything that the readers of rosbags trust is checked here;
plain damage is left to them.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from c3p_bags.storage.mcap import MAGIC
from c3p_bags.storage.mcap_limits import (
    FREE_BYTES,
    MOST_DEFINITION,
    MOST_QOS,
    RATIO,
    check_mcap,
    check_packed,
    check_qos,
)
from c3p_bags.storage.unpacking import unpack_stream
from c3p_description.reading.yaml_files import read_yaml
from c3p_description.texts import brief

# values that readers take from metadata.yaml unchecked
NUMBERS_AND_TEXTS = (('duration', 'nanoseconds', int), ('message_count', int), ('version', int),
                     ('starting_time', 'nanoseconds_since_epoch', int),
                     ('storage_identifier', str))
OF_TOPICS = (('message_count', int), ('topic_metadata', 'name', str),
             ('topic_metadata', 'type', str), ('topic_metadata', 'serialization_format', str))

# steps of SQLite's machine for each byte of a file while its structure is checked
STEPS = 100
TABLES = ('messages', 'topics', 'schema', 'metadata', 'message_definitions')


class BagFiles(NamedTuple):
    """
    MCAP files of a checked bag in their order, and its notes.

    The list is empty if any file has another format or is packed.
    """

    plain_mcap: list[Path]
    notes: dict[str, str]


def check_bag(path: Path) -> BagFiles:
    """
    Refuse a bag (directory or single file) that expands beyond the limits; return its files.

    Raises
    ------
    ValueError
        A limit is exceeded; the text names it.
    OSError
        A file cannot be read.
    """
    mode = ''
    files = [path]
    notes: dict[str, str] = {}
    if path.is_dir():
        place = path / 'metadata.yaml'
        # the general reader reports the missing file
        if not place.is_file():
            return BagFiles([], {})
        mode, names, notes = _metadata(place)
        # in the bag, whatever folders precede the name
        files = [path / PurePath(name).name for name in names]
    plain = [_check_file(file, mode) for file in files if file.is_file()]
    return BagFiles(files if all(plain) and len(plain) == len(files) else [], notes)


def _metadata(place: Path) -> tuple[str, list[str], dict[str, str]]:
    """Return mode of compression, names of the files, and notes."""
    content = read_yaml(place)
    content = content.get('rosbag2_bagfile_information') if isinstance(content, dict) else None
    if not isinstance(content, dict):
        raise ValueError('metadata.yaml: has no rosbag2_bagfile_information')
    for *path, kind in NUMBERS_AND_TEXTS:
        _check_type(content, path, kind)
    topics = content.get('topics_with_message_count')
    if not isinstance(topics, list):
        raise ValueError(f'metadata.yaml: topics_with_message_count = {brief(topics)}: expected '
                         'a list')
    for topic in topics:
        for *path, kind in OF_TOPICS:
            _check_type(topic, path, kind)
        check_qos(topic['topic_metadata'].get('offered_qos_profiles'))
    files = content.get('relative_file_paths')
    if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
        raise ValueError(f'metadata.yaml: relative_file_paths = {brief(files)}: expected the '
                         'names of files')
    if len(set(files)) != len(files):
        raise ValueError('metadata.yaml: relative_file_paths names a file twice')
    notes = content.get('custom_data') or {}
    if not isinstance(notes, dict):
        raise ValueError(f'metadata.yaml: custom_data = {brief(notes)}: expected texts by name')
    return (str(content.get('compression_mode') or '').lower(), files,
            {f'{key}': value for key, value in notes.items() if isinstance(value, str)})


def _check_type(content: Any, path: Sequence[str], kind: type) -> None:
    """Refuse a value in the metadata of another type, or a time beyond those of ROS."""
    for name in path:
        content = content.get(name) if isinstance(content, dict) else None
    if not isinstance(content, kind) or isinstance(content, bool) or (
            isinstance(content, int) and not -2**63 <= content < 2**63):
        raise ValueError(f'metadata.yaml: {".".join(path)} = {brief(content)}: expected a '
                         + ('number' if kind is int else 'text'))


def _check_file(path: Path, mode: str) -> bool:
    """Check one file; return whether it is MCAP, and neither it nor its messages are packed."""
    if mode != 'file':
        return _check_storage(path, mode) and mode != 'message'
    with tempfile.NamedTemporaryFile(suffix=path.with_suffix('').suffix) as unpacked:
        with path.open('rb') as source:
            for piece in unpack_stream(source, RATIO * path.stat().st_size + FREE_BYTES):
                unpacked.write(piece)
        unpacked.flush()
        _check_storage(Path(unpacked.name), '')
    return False


def _check_storage(path: Path, mode: str) -> bool:
    """Check a file by its first bytes; return whether it is MCAP."""
    with path.open('rb') as file:
        magic = file.read(16)
        if magic.startswith(MAGIC):
            check_mcap(file, path.stat().st_size, mode)
            return True
    if magic.startswith(b'SQLite format 3'):
        _check_sqlite(path, mode)
    return False


def _check_sqlite(path: Path, mode: str) -> None:
    """Refuse a database with views or computed columns, and one whose pages form loops."""
    # the general reader would take them as part of a URI
    if set('%?#') & set(str(path)):
        raise ValueError('a path with %, ? or # cannot be opened; rename it')
    left = STEPS * path.stat().st_size + 1_000_000

    def count() -> bool:
        nonlocal left
        left -= 1000
        return left < 0

    base = sqlite3.connect(f'file:{path}?mode=ro&immutable=1', uri=True)
    base.set_progress_handler(count, 1000)
    base.text_factory = lambda data: data.decode('utf-8', 'replace')
    try:
        for kind, name, text in base.execute('SELECT type, name, sql FROM sqlite_master'):
            if kind == 'view' or 'VIRTUAL' in f'{text}'.upper().split()[:3]:
                raise ValueError(f'a database with the {kind} {brief(name)}; only plain tables '
                                 'are read')
        for table in TABLES:
            if any(row[6] for row in base.execute(f'PRAGMA table_xinfo({table})')):
                raise ValueError(f'a database whose table {table} has computed columns')
        sound = base.execute('PRAGMA quick_check(1)').fetchone()
        if sound != ('ok',):
            raise ValueError(f'a damaged database ({brief(sound and sound[0])})')
        _check_rows(base, mode)
    except sqlite3.Error as error:
        raise ValueError(f'a damaged database ({error})') from None
    finally:
        base.close()


def _check_rows(base: sqlite3.Connection, mode: str) -> None:
    """Check the texts of a database, and messages that are packed one by one."""
    for table, column, most in (('topics', 'offered_qos_profiles', MOST_QOS),
                                ('message_definitions', 'encoded_message_definition',
                                 MOST_DEFINITION)):
        if column not in [row[1] for row in base.execute(f'PRAGMA table_info({table})')]:
            continue
        for text, in base.execute(f'SELECT {column} FROM {table}'):
            if len(f'{text}') > most:
                raise ValueError(f'a {column} of {len(text)} characters')
            if table == 'topics':
                check_qos(text)
    if mode == 'message':
        for data, in base.execute('SELECT data FROM messages'):
            check_packed(data)
