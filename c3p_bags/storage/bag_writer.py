# SPDX-License-Identifier: Apache-2.0
"""
New bags: rosbag2 directories with MCAP files, written without a ROS 2 installation.

They open with ``ros2 bag info`` and ``ros2 bag play``, Foxglove, PlotJuggler and RViz. A bag
carries its own message definitions, so that any distribution reads the bags of any other.
"""

from __future__ import annotations

import atexit
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag2 import (
    CompressionFormat,
    CompressionMode,
    StoragePlugin,
    Writer,
    WriterError,
)
from rosbags.typesys import Stores, TypesysError, get_typestore
from rosbags.typesys.store import Typestore

# rosbag2's metadata since Jazzy
METADATA_VERSION: Final = 9

COMPRESSION = {'none': CompressionMode.NONE, 'zstd': CompressionMode.STORAGE}

# in place of the definition and the hash of a type that nothing defines: a comment
UNKNOWN = '# not defined in the recording'
NO_HASH = 'RIHS01_' + '0' * 64

# rmw's way to write "no deadline, no lifespan, no lease"
FOREVER = QosTime(9223372036, 854775807)


class BagError(ValueError):
    """A bag that cannot be written or read; the text names the bag and the remedy."""


def message_types(distribution: str | None = None) -> Typestore:
    """
    Return the message definitions of a ROS 2 distribution; default ``$ROS_DISTRO``, else Jazzy.

    An unknown name, such as one newer than the installed libraries, selects the newest known one.
    """
    name = (distribution or os.environ.get('ROS_DISTRO') or 'jazzy').upper()
    return get_typestore(getattr(Stores, f'ROS2_{name}', Stores.LATEST))


def offered_qos(latched: bool) -> Qos:
    """Return the quality of service with which ``ros2 bag play`` publishes a topic."""
    return Qos(QosHistory.KEEP_LAST, 1 if latched else 10, QosReliability.RELIABLE,
               QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE,
               FOREVER, FOREVER, QosLiveliness.AUTOMATIC, FOREVER, False)


class BagWriter:
    """
    Writer of a new bag; buffers at most one MCAP chunk (1 MiB).

    Parameters
    ----------
    path : str or Path
        Directory of the bag; must not exist.
    compression : {'none', 'zstd'}
        Compression of the chunks in the MCAP file.
    distribution : str, optional
        See `message_types`.

    Raises
    ------
    BagError
        The directory exists or cannot be created, or the compression is unknown.
    """

    def __init__(self, path: str | Path, compression: str = 'none',
                 distribution: str | None = None) -> None:
        """Create directory and file."""
        if compression not in COMPRESSION:
            raise BagError(f'compression {compression!r}: must be one of {sorted(COMPRESSION)}')
        self.path = Path(path)
        self.types = message_types(distribution)
        self.counts: Counter[str] = Counter()
        self._connections: dict[str, Any] = {}
        self._closed = False
        try:
            self._writer = Writer(self.path, version=METADATA_VERSION,
                                  storage_plugin=StoragePlugin.MCAP)
            self._writer.set_compression(COMPRESSION[compression], CompressionFormat.ZSTD)
            self._writer.open()
        except (WriterError, OSError) as error:
            raise BagError(f'bag {self.path}: {error}') from error
        # the process may end before `close`, such as by Ctrl-C while nodes start
        atexit.register(self._at_exit)

    def _at_exit(self) -> None:
        with suppress(OSError, ValueError):
            self.close()

    def add(self, topic: str, kind: str, latched: bool = False) -> None:
        """
        Announce a topic.

        The `topic` is absolute; the `kind` a message type such as ``'nav_msgs/msg/Odometry'``. The
        last message of a `latched` topic is kept for late subscribers (transient local).

        Raises
        ------
        BagError
            The distribution does not define the type.
        """
        if kind not in self.types.fielddefs:
            raise BagError(f'{topic}: message type {kind!r} is unknown')
        self._connections[topic] = self._writer.add_connection(
            topic, kind, typestore=self.types, offered_qos_profiles=[offered_qos(latched)])

    def adopt(self, topic: str, kind: str, qos: Sequence[Qos], types: Typestore) -> None:
        """
        Announce a topic as another bag has it.

        `topic` and `kind` are as for `add`; `qos` that of its publishers, and `types` the message
        definitions of that bag. A type that these lack is announced without a definition.
        """
        try:
            self._connections[topic] = self._writer.add_connection(
                topic, kind, typestore=types, offered_qos_profiles=qos)
        except TypesysError:
            self._connections[topic] = self._writer.add_connection(
                topic, kind, msgdef=UNKNOWN, rihs01=NO_HASH, offered_qos_profiles=qos)

    def write(self, topic: str, time: int, data: bytes | memoryview) -> None:
        """Write one serialised message of an announced topic; `time` is in ns."""
        self._writer.write(self._connections[topic], time, data)
        self.counts[topic] += 1

    def write_message(self, topic: str, time: int, message: Any) -> None:
        """Serialise and write one message made of the classes in ``self.types.types``."""
        self.write(topic, time, self.types.serialize_cdr(message, message.__msgtype__))

    def note(self, notes: Mapping[str, str]) -> None:
        """Add entries to the metadata, which ``ros2 bag info`` shows as custom data."""
        for key, text in notes.items():
            self._writer.set_custom_data(key, text)

    def metrics(self) -> dict[str, Any]:
        """Return path and messages written, in total and by topic."""
        return {'bag': self.path, 'messages': sum(self.counts.values()), **self.counts}

    def close(self) -> None:
        """Write index and metadata; no effect on a closed bag."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self._at_exit)
        # ROS 2 writes time zero into an empty bag, not the largest integer
        if not self.counts:
            self._writer.min_timestamp = 0
        self._writer.close()

    def __enter__(self) -> BagWriter:
        """Return the open writer."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Close, also after an error, so that the messages written so far remain readable."""
        self.close()
