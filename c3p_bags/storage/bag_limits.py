# SPDX-License-Identifier: Apache-2.0
"""
Whether a bag can be read without running away: sizes, before a general reader opens it.

A bag is data from elsewhere. A few bytes of it can stand for gigabytes: packed chunks, aliases in
its YAML, views in its database. What the readers of rosbags would trust is checked here; what is
merely damaged is left to them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from c3p_bags.storage.mcap_limits import FREE_BYTES, MAGIC, RATIO, check_mcap
from c3p_bags.storage.sqlite_limits import check_sqlite
from c3p_bags.storage.text_limits import check_qos
from c3p_bags.storage.unpacking import unpack_stream
from c3p_description.reading.yaml_files import read_yaml
from c3p_description.texts import brief

# what readers take from metadata.yaml without looking at it
NUMBERS_AND_TEXTS = (('duration', 'nanoseconds', int), ('message_count', int), ('version', int),
                     ('starting_time', 'nanoseconds_since_epoch', int),
                     ('storage_identifier', str))
OF_TOPICS = (('message_count', int), ('topic_metadata', 'name', str),
             ('topic_metadata', 'type', str), ('topic_metadata', 'serialization_format', str))


def check_bag(path: Path) -> None:
    """
    Refuse a bag whose files stand for more than is read.

    Parameters
    ----------
    path : Path
        Directory of a bag, or a single file.

    Raises
    ------
    ValueError
        With what there is too much of.
    OSError
        A file cannot be read.
    """
    mode, files = '', [path]
    if path.is_dir():
        place = path / 'metadata.yaml'
        # without it a general reader says what is missing
        if not place.is_file():
            return
        mode, names = _metadata(place)
        files = [path / PurePath(name).name for name in names]
    for file in files:
        if file.is_file():
            stat = file.stat()
            _check_file(str(file), mode, stat.st_size, stat.st_mtime_ns)


def _metadata(place: Path) -> tuple[str, list[str]]:
    """Return the mode of compression and the names of the files."""
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
    return str(content.get('compression_mode') or '').lower(), files


def _check_type(content: Any, path: Sequence[str], kind: type) -> None:
    """Refuse a value in the metadata of another type, or a time beyond those of ROS."""
    for name in path:
        content = content.get(name) if isinstance(content, dict) else None
    if not isinstance(content, kind) or isinstance(content, bool) or (
            kind is int and not -2**63 <= content < 2**63):
        raise ValueError(f'metadata.yaml: {".".join(path)} = {brief(content)}: expected a '
                         + ('number' if kind is int else 'text'))


@lru_cache(maxsize=256)
def _check_file(name: str, mode: str, size: int, changed: int) -> None:
    """Check one file; it is kept in mind, for commands look into a bag several times."""
    path = Path(name)
    if mode == 'file':
        with tempfile.NamedTemporaryFile(suffix=path.with_suffix('').suffix) as unpacked:
            with path.open('rb') as source:
                for piece in unpack_stream(source, RATIO * size + FREE_BYTES):
                    unpacked.write(piece)
            unpacked.flush()
            _check_storage(Path(unpacked.name), '')
    else:
        _check_storage(path, mode)


def _check_storage(path: Path, mode: str) -> None:
    with path.open('rb') as file:
        magic = file.read(16)
    if magic.startswith(MAGIC):
        check_mcap(path, mode)
    elif magic.startswith(b'SQLite format 3'):
        check_sqlite(path, mode)
