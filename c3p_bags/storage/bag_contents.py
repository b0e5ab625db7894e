# SPDX-License-Identifier: Apache-2.0
"""What a bag says of itself besides its messages: what was latched, and notes."""

from __future__ import annotations

from pathlib import Path

from rosbags.interfaces import QosDurability

from c3p_bags.storage.bags import BagError, open_bag
from c3p_description.reading.yaml_files import YamlFileError, read_yaml
from c3p_description.texts import one_line


def connections_of(path: str | Path) -> dict[str, tuple[str, bool]]:
    """
    Return ``{topic: (message type, latched)}`` of a bag.

    Latched is what was published transient local, by each of its publishers.

    Raises
    ------
    BagError
        It cannot be read.
    """
    reader = open_bag(path)
    try:
        found: dict[str, tuple[str, bool]] = {}
        for connection in reader.connections:
            offered = getattr(connection.ext, 'offered_qos_profiles', None) or ()
            latched = bool(offered) and all(
                qos.durability == QosDurability.TRANSIENT_LOCAL for qos in offered)
            found[connection.topic] = (connection.msgtype, latched)
        return found
    finally:
        reader.close()


def notes_of(path: str | Path) -> dict[str, str]:
    """
    Return the words in the metadata of a bag; none for a single file, which has no metadata.

    Raises
    ------
    BagError
        It cannot be read.
    """
    file = Path(path) / 'metadata.yaml'
    if not file.exists():
        return {}
    try:
        notes = read_yaml(file)['rosbag2_bagfile_information'].get('custom_data') or {}
        return {f'{key}': value for key, value in notes.items() if isinstance(value, str)}
    except (OSError, YamlFileError, KeyError, TypeError, AttributeError) as error:
        raise BagError(f'bag {path}: metadata.yaml: {one_line(error)}') from error
