# SPDX-License-Identifier: Apache-2.0
"""
Bags: rosbag2 directories with MCAP files, written and read without a ROS 2 installation.

What is written here opens with ``ros2 bag info`` and ``ros2 bag play``, Foxglove, PlotJuggler and
RViz; what ``ros2 bag record`` has written on a robot (MCAP or sqlite3) is read here. A bag carries
its own message definitions, so that any distribution reads the bags of any other.
"""

from __future__ import annotations

import atexit
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from rosbags.highlevel import AnyReader
from rosbags.interfaces import (
    Connection,
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
from rosbags.typesys import Stores, get_typestore
from rosbags.typesys.store import Typestore

from c3p_bags.storage.bag_limits import check_bag
from c3p_description.texts import one_line

# rosbag2's metadata since Jazzy
METADATA_VERSION = 9

COMPRESSION = {'none': CompressionMode.NONE, 'zstd': CompressionMode.STORAGE}

# the last time that a clock of ROS can show, ns
LATEST = 2**63 - 1

# rmw's way to write "no deadline, no lifespan, no lease"
FOREVER = QosTime(9223372036, 854775807)


class BagError(ValueError):
    """A bag that cannot be written or read; the text names it and the remedy."""


class BagMessage(NamedTuple):
    """
    One message of a bag.

    Attributes
    ----------
    topic : str
    time : int, ns
        When it was recorded.
    message : object
        With the fields of the ROS message; arrays are numpy arrays.
    """

    topic: str
    time: int
    message: Any


def message_types(distribution: str | None = None) -> Typestore:
    """
    Return the message definitions of a ROS 2 distribution.

    Parameters
    ----------
    distribution : str, optional
        ``'jazzy'``, ``'kilted'``, …; default ``$ROS_DISTRO``, else Jazzy. A name that is not known
        (newer than this package's libraries) stands for the newest known one.
    """
    name = (distribution or os.environ.get('ROS_DISTRO') or 'jazzy').upper()
    return get_typestore(getattr(Stores, f'ROS2_{name}', Stores.LATEST))


class RawMessage(NamedTuple):
    """
    One message of a bag as it lies there; `topics_of` tells its type.

    Attributes
    ----------
    topic : str
    time : int, ns
        When it was recorded.
    data : bytes
        Serialised (CDR with its header of four bytes).
    """

    topic: str
    time: int
    data: bytes


def offered_qos(latched: bool) -> Qos:
    """Return the quality of service with which ``ros2 bag play`` shall publish a topic."""
    return Qos(QosHistory.KEEP_LAST, 1 if latched else 10, QosReliability.RELIABLE,
               QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE,
               FOREVER, FOREVER, QosLiveliness.AUTOMATIC, FOREVER, False)


class BagWriter:
    """
    Writes messages to a new bag as they come; at most one MCAP chunk (1 MiB) waits in memory.

    Parameters
    ----------
    path : str or Path
        Directory of the bag; must not exist.
    compression : {'none', 'zstd'}
        Of the chunks in the MCAP file.
    distribution : str, optional
        See `message_types`.

    Raises
    ------
    BagError
        The directory exists or cannot be made, or the compression is unknown.
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
        # whatever ends the process before `close`, such as Ctrl-C while nodes start
        atexit.register(self._at_exit)

    def _at_exit(self) -> None:
        with suppress(OSError, ValueError):
            self.close()

    def add(self, topic: str, kind: str, latched: bool = False) -> None:
        """
        Announce a topic.

        Parameters
        ----------
        topic : str
            Absolute name.
        kind : str
            Message type such as ``'nav_msgs/msg/Odometry'``.
        latched : bool
            Is the last message kept for late subscribers?

        Raises
        ------
        BagError
            The distribution does not know the type.
        """
        if kind not in self.types.fielddefs:
            raise BagError(f'{topic}: message type {kind!r} is not known')
        self._connections[topic] = self._writer.add_connection(
            topic, kind, typestore=self.types, offered_qos_profiles=[offered_qos(latched)])

    def adopt(self, connection: Connection, types: Typestore) -> None:
        """Announce a topic as another bag has it, with that bag's message definitions."""
        if connection.topic not in self._connections:
            self._connections[connection.topic] = self._writer.add_connection(
                connection.topic, connection.msgtype, typestore=types,
                offered_qos_profiles=getattr(connection.ext, 'offered_qos_profiles', ()))

    def write(self, topic: str, time: int, data: bytes) -> None:
        """Write one serialised message of an announced topic; `time` is in ns."""
        self._writer.write(self._connections[topic], time, data)
        self.counts[topic] += 1

    def write_message(self, topic: str, time: int, message: Any) -> None:
        """Serialise and write one message made of the classes in ``self.types.types``."""
        self.write(topic, time, self.types.serialize_cdr(message, message.__msgtype__))

    def note(self, notes: Mapping[str, str]) -> None:
        """Put words into the metadata, which ``ros2 bag info`` shows as custom data."""
        for key, text in notes.items():
            self._writer.set_custom_data(key, text)

    def close(self) -> None:
        """Write index and metadata; harmless when closed already."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self._at_exit)
        # nothing recorded: ROS 2 writes time zero, not the largest integer
        if not self.counts:
            self._writer.min_timestamp = 0
        self._writer.close()

    def __enter__(self) -> BagWriter:
        """Return the open writer."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Close, also after an error: what was recorded until then is worth keeping."""
        self.close()


def open_bag(path: str | Path) -> AnyReader:
    """
    Return an open reader of a bag's directory or of a single file.

    Raises
    ------
    BagError
        With what is wrong and what can be done.
    """
    place = Path(path)
    if not place.exists():
        raise BagError(f'bag {place}: no such file or directory')
    try:
        check_bag(place)
        reader = AnyReader([place], default_typestore=message_types())
        reader.open()
    # a damaged file shows itself by whatever its bytes happen to mean
    except Exception as error:
        raise BagError(f'bag {place}: cannot be read: {one_line(error)}; if the recording was '
                       f'cut off, `c3p repair {place}` makes a bag of what there is') from error
    return reader


def topics_of(path: str | Path) -> dict[str, tuple[str, int]]:
    """
    Return ``{topic: (message type, number of messages)}`` of a bag.

    Raises
    ------
    BagError
        It cannot be read.
    """
    reader = open_bag(path)
    try:
        found: dict[str, tuple[str, int]] = {}
        for connection in reader.connections:
            count = found.get(connection.topic, ('', 0))[1]
            found[connection.topic] = (connection.msgtype, count + connection.msgcount)
        return found
    finally:
        reader.close()


def span_of(path: str | Path) -> tuple[int, int]:
    """
    Return when the first and the last message of a bag were recorded, ns.

    Raises
    ------
    BagError
        It cannot be read, or is empty.
    """
    reader = open_bag(path)
    try:
        if not reader.message_count:
            raise BagError(f'bag {path}: it is empty')
        # what rosbags calls the end is behind the last message
        return reader.start_time, reader.end_time - 1
    finally:
        reader.close()


def read_raw(path: str | Path, topics: Collection[str] | None = None, start: int | None = None
             ) -> Iterator[RawMessage]:
    """
    Yield the messages of a bag in the order in which they were recorded, not deserialised.

    Parameters
    ----------
    path : str or Path
        Directory of the bag, or a single ``.mcap`` or ``.db3`` file.
    topics : collection of str, optional
        Only these (absolute names); default all. Topics that the bag lacks are no error.
    start : int, ns, optional
        Only what was recorded from then on; what is before is not read.

    Raises
    ------
    BagError
        It cannot be read.
    """
    for connection, time, data in _messages(path, topics, start)[1]:
        yield RawMessage(connection.topic, time, data)


def read_topics(path: str | Path, topics: Collection[str] | None = None) -> Iterator[BagMessage]:
    """Yield the messages of a bag as objects; parameters, order and errors as `read_raw`."""
    reader, messages = _messages(path, topics)
    for connection, time, data in messages:
        try:
            message = reader.deserialize(data, connection.msgtype)
        # bytes of whatever another program sent, or of a damaged file
        except Exception as error:
            raise BagError(f'bag {path}: a message on {connection.topic} is not '
                           f'{connection.msgtype}: {one_line(error)}') from error
        yield BagMessage(connection.topic, time, message)


def _messages(path: str | Path, topics: Collection[str] | None, start: int | None = None
              ) -> tuple[AnyReader, Iterator[tuple[Any, int, bytes]]]:
    """Return an open reader and what it reads; it closes with the end of the messages."""
    reader = open_bag(path)

    def read() -> Iterator[tuple[Any, int, bytes]]:
        try:
            wanted = [c for c in reader.connections if topics is None or c.topic in topics]
            if wanted:
                for connection, time, data in reader.messages(connections=wanted, start=start):
                    if not 0 <= time <= LATEST:
                        raise ValueError(f'a message on {connection.topic} of the time {time} ns')
                    yield connection, time, data
        # as in `open_bag`; what is wrong with a chunk shows itself when it is read
        except Exception as error:
            raise BagError(f'bag {path}: cannot be read: {one_line(error)}; `c3p repair {path}` '
                           'makes a bag of what there is') from error
        finally:
            reader.close()

    return reader, read()
