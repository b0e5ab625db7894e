# SPDX-License-Identifier: Apache-2.0
"""
Whether a bag can be read without running away: sizes, before a general reader opens it.

A bag is data from elsewhere. A few bytes of it can stand for gigabytes: packed chunks, aliases in
its YAML, views in its database. What the readers of rosbags would trust is checked here; what is
merely damaged is left to them.
"""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path, PurePath

from c3p_description.texts import brief
from c3p_description.yaml_files import read_yaml
from c3p_simulation.recording.mcap_limits import FREE_BYTES, MAGIC, RATIO, check_mcap
from c3p_simulation.recording.sqlite_limits import check_sqlite
from c3p_simulation.recording.text_limits import check_qos
from c3p_simulation.recording.unpacking import unpack_stream


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
    topics = content.get('topics_with_message_count')
    for topic in topics if isinstance(topics, list) else ():
        told = topic.get('topic_metadata') if isinstance(topic, dict) else None
        check_qos(told.get('offered_qos_profiles') if isinstance(told, dict) else None)
    files = content.get('relative_file_paths')
    if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
        raise ValueError(f'metadata.yaml: relative_file_paths = {brief(files)}: expected the '
                         'names of files')
    if len(set(files)) != len(files):
        raise ValueError('metadata.yaml: relative_file_paths names a file twice')
    return str(content.get('compression_mode') or '').lower(), files


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
