# SPDX-License-Identifier: Apache-2.0
"""
Limits of metadata and databases, checked before anything is read of them.

A bag is data from elsewhere. A few of its bytes can expand to gigabytes: packed chunks, aliases in
its YAML, views in its database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from c3p_bags.storage.mcap_limits import MOST_DEFINITION, MOST_QOS, check_packed, check_qos
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


class Metadata(NamedTuple):
    """
    Content of ``metadata.yaml``.

    Mode of compression (``''``, ``'file'``, ``'message'``), names of the files, custom data, and
    number of messages.
    """

    mode: str
    files: list[str]
    notes: dict[str, str]
    messages: int


def read_metadata(place: Path) -> Metadata:
    """
    Return the content of ``metadata.yaml``.

    Raises
    ------
    ValueError
        It is damaged, or exceeds a limit.
    OSError
        The file cannot be read.
    """
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
    # in the bag, whatever folders precede the name
    return Metadata(f'{content.get("compression_mode") or ""}'.lower(),
                    [PurePath(name).name for name in files],
                    {f'{key}': value for key, value in notes.items() if isinstance(value, str)},
                    content['message_count'])


def _check_type(content: Any, path: Sequence[str], kind: type) -> None:
    """Refuse a value in the metadata of another type, or a time beyond those of ROS."""
    for name in path:
        content = content.get(name) if isinstance(content, dict) else None
    if not isinstance(content, kind) or isinstance(content, bool) or (
            isinstance(content, int) and not -2**63 <= content < 2**63):
        raise ValueError(f'metadata.yaml: {".".join(path)} = {brief(content)}: expected a '
                         + ('number' if kind is int else 'text'))


def check_database(path: Path, mode: str) -> None:
    """
    Refuse a database with views or computed columns, and one whose pages form loops.

    `mode` is ``'message'`` where every message is packed on its own.

    Raises
    ------
    ValueError
        A limit is exceeded, or the database is damaged.
    """
    left = STEPS * path.stat().st_size + 1_000_000

    def count() -> bool:
        nonlocal left
        left -= 1000
        return left < 0

    base = sqlite3.connect(f'{path.resolve().as_uri()}?mode=ro&immutable=1', uri=True)
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
