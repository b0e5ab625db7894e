# SPDX-License-Identifier: Apache-2.0
"""
Recorded bags: topics, notes, parameters, robot and messages, read without a ROS 2 installation.

Reads MCAP and sqlite3 as ``ros2 bag record`` and `BagWriter` write them, and as they are found
after a loss of power or a copy. A bag is checked and opened once; everything that is read of it
goes through one `Bag`.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from rosbags.interfaces import Qos, QosDurability
from rosbags.typesys.store import Typestore

from c3p_bags.storage.bag_parameters import EVENT, last_values
from c3p_bags.storage.bag_places import not_a_bag
from c3p_bags.storage.bag_writer import BagError
from c3p_bags.storage.opened_files import fewer, open_files
from c3p_bags.storage.recorded_robot import NODE, RecordedRobot, choose_robot
from c3p_bags.storage.recording_order import exchanged
from c3p_bags.storage.stored_topics import LEAP, StoredTopic, types_of
from c3p_bags.storage.unpacking import MOST_BYTES, unpack_some
from c3p_description.model import CasterRobot, ModelError
from c3p_description.reading.loader import load_casters
from c3p_description.texts import one_line

JOINT_STATES = 'joint_states'

# the last time that a clock of ROS represents, ns
LATEST = 2**63 - 1


class BagWarning(UserWarning):
    """Remark on a bag that is not tidy, such as one with fewer messages than it states."""


class RawMessage(NamedTuple):
    """A serialised message: topic, time of recording [ns], CDR with its header of four bytes."""

    topic: str
    time: int
    data: bytes


class BagMessage(NamedTuple):
    """
    A message as an object: topic, time of recording [ns], message.

    The message has the fields of the ROS message; arrays are numpy arrays.
    """

    topic: str
    time: int
    message: Any


@dataclass(frozen=True)
class Topic:
    """Message type of a topic, number of messages, and whether all publishers latched them."""

    kind: str
    count: int
    latched: bool


class Bag:
    """
    An open bag.

    Iterators of messages are independent; they end with `close`.

    Parameters
    ----------
    path : str or Path
        Directory of the bag, or a single ``.mcap`` or ``.db3`` file.
    mend : bool
        Read the sound part of truncated and damaged files.
    scratch : str or Path, optional
        Directory for unpacked files and for databases with their journals; default that of the
        system.

    Attributes
    ----------
    path : Path
    topics : dict of str to Topic
        By absolute name.
    notes : dict of str to str
        Custom data of the metadata; empty for a single file.
    remarks : list of str
        What differs from a tidy bag; each is a `BagWarning` as well.
    lost : int
        Bytes that could not be read, with `mend`.

    Raises
    ------
    BagError
        The bag does not exist, is damaged, of ROS 1, or exceeds the limits of `limits`.
    """

    def __init__(self, path: str | Path, mend: bool = False, scratch: str | Path | None = None
                 ) -> None:
        """Check and open."""
        self.path = Path(path)
        if not self.path.exists():
            raise BagError(f'bag {path}: no such file or directory')
        if reason := not_a_bag(self.path):
            raise BagError(f'bag {path}: {reason}')
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._scratch_place = scratch
        self._mend = mend
        self._closed = False
        self.remarks: list[str] = []
        try:
            found = open_files(self.path, self._folder, mend)
        except BagError:
            self.close()
            raise
        # damaged bytes raise any exception of the libraries
        except Exception as error:
            self.close()
            raise self._unreadable(error) from error
        self.notes = found.notes
        self.lost = found.lost
        self._files = found.files
        self._packed = found.packed
        self.topics: dict[str, Topic] = {}
        self._qos: dict[str, list[Qos]] = {}
        # a topic has one connection for each publisher, and for each file
        for topic in self._stored():
            before = self.topics.get(topic.topic)
            self._qos.setdefault(topic.topic, []).extend(topic.qos)
            offered = self._qos[topic.topic]
            latched = bool(offered) and all(
                qos.durability == QosDurability.TRANSIENT_LOCAL for qos in offered)
            self.topics[topic.topic] = Topic(
                topic.kind, topic.messages + (before.count if before else 0), latched)
        for remark in found.remarks:
            # without a message `repair` states them in its error
            if mend and not any(topic.count for topic in self.topics.values()):
                self.remarks.append(remark)
            else:
                self.remark(remark)

    def _stored(self) -> list[StoredTopic]:
        return [topic for file in self._files for topic in file.topics]

    def _folder(self) -> Path:
        """Return a new folder for files, which is deleted at the end."""
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix='.c3p_bag_',
                                                        dir=self._scratch_place)
        return Path(tempfile.mkdtemp(dir=self._scratch.name))

    def remark(self, text: str) -> None:
        """State once what differs from a tidy bag."""
        if text not in self.remarks:
            self.remarks.append(text)
            warnings.warn(f'bag {self.path}: {text}', BagWarning, stacklevel=3)

    def _unreadable(self, error: Exception) -> BagError:
        remedy = '' if self._mend else (f'; if the recording was cut off, `c3p repair '
                                        f'{self.path}` recovers its messages')
        return BagError(f'bag {self.path}: cannot be read: {one_line(error)}{remedy}')

    def __str__(self) -> str:
        """Return the path."""
        return str(self.path)

    def close(self) -> None:
        """Close the files; no effect on a closed bag."""
        self._closed = True
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def __enter__(self) -> Bag:
        """Return the open bag."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Close the files."""
        self.close()

    def namespace(self, name: str | None = None) -> str:
        """
        Return a namespace as it begins topic names: ``''`` or ``'/robot_1'``.

        `name` has any slashes; default that of the only robot in the bag.

        Raises
        ------
        BagError
            No `name`, and the bag has no ``joint_states``, or those of several robots.
        """
        if name is not None:
            return f'/{name.strip("/")}'.rstrip('/')
        ends = sorted(t[:-len(JOINT_STATES) - 1] for t in self.topics
                      if t.endswith(f'/{JOINT_STATES}'))
        if not ends:
            raise BagError(f'bag {self.path}: no {JOINT_STATES} topic, so there is no run to '
                           f'read; the bag has {sorted(self.topics)}')
        if '' not in ends and len(ends) > 1:
            raise BagError(f'bag {self.path}: joint_states of several robots; name one of the '
                           f'namespaces {ends}')
        return ends[0]

    @property
    def span(self) -> tuple[int, int]:
        """
        Return the times of recording of the first and the last message, ns.

        Raises BagError for an empty bag.
        """
        spans = [file.span for file in self._files if any(t.messages for t in file.topics)]
        if not spans:
            raise BagError(f'bag {self.path}: it is empty')
        return min(first for first, _ in spans), max(last for _, last in spans)

    @cached_property
    def types(self) -> Typestore:
        """Return the message types of the bag."""
        # damaged definitions raise any exception of the library
        try:
            return types_of(self._stored())
        except Exception as error:
            raise self._unreadable(error) from error

    def qos(self, topic: str) -> list[Qos]:
        """Return the quality of service of the publishers of a topic."""
        return self._qos[topic]

    @cached_property
    def parameters(self) -> dict[str, dict[str, Any]]:
        """
        Return ``{full name of the node: {parameter: value}}`` at the end of the bag.

        Only nodes with recorded parameters.
        """
        events = [name for name, topic in self.topics.items() if topic.kind == EVENT]
        return last_values(entry.message for entry in self.messages(events))

    def description(self, namespace: str | None = None) -> str | None:
        """Return the URDF text on ``robot_description``, None without one."""
        topic = f'{self.namespace(namespace)}/robot_description'
        return next((entry.message.data for entry in self.messages([topic])), None)

    def robot(self, namespace: str | None = None) -> RecordedRobot:
        """
        Return the robot of the bag, by the evidence of `choose_robot`.

        Raises
        ------
        BagError
            The bag neither names a robot of this installation nor describes a caster robot.
        """
        space = self.namespace(namespace)
        try:
            return choose_robot(self.parameters.get(f'{space}/{NODE}', {}), self.notes,
                                lambda: self.description(space))
        except ModelError as error:
            raise BagError(f'bag {self.path}: {error}; name the robot: --robot NAME or '
                           '--robot FILE') from None

    def casters(self, robot: str | None = None, namespace: str | None = None) -> CasterRobot:
        """
        Return the model of the caster robot.

        `robot` is a name or path that the user gave; default that of the bag.

        Raises
        ------
        BagError
            As `Bag.robot`.
        ModelError
            The user's robot cannot be loaded, or the robot is a vehicle of another kind.
        """
        return load_casters(robot) if robot else self.robot(namespace).casters()

    def raw(self, topics: Collection[str] | None = None, start: int | None = None
            ) -> Iterator[RawMessage]:
        """
        Yield the messages in the order of recording, serialised.

        That is the order of their times, but for a bag whose clock was set back: then the order
        of its files.

        Parameters
        ----------
        topics : collection of str, optional
            Only these (absolute names); default all. Topics not in the bag are ignored.
        start : int, ns, optional
            Only messages recorded from this time on.

        Raises
        ------
        BagError
            The bag cannot be read.
        """
        for topic, time, data in self._entries(topics, start, self._by_time):
            yield RawMessage(topic, time, data)

    def messages(self, topics: Collection[str] | None = None) -> Iterator[BagMessage]:
        """Yield the messages as objects; parameters, order and errors as `raw`."""
        for topic, time, data in self._entries(topics, None, self._by_time):
            kind = self.topics[topic].kind
            try:
                message = self.types.deserialize_cdr(data, kind)
            # damaged bytes raise any exception of the library
            except Exception as error:
                raise BagError(f'bag {self.path}: a message on {topic} is not '
                               f'{kind}: {one_line(error)}') from error
            yield BagMessage(topic, time, message)

    def unordered(self, topics: Collection[str]) -> Iterator[tuple[str, int, bytes]]:
        """
        Yield topic, time [ns] and bytes of messages in the order of the files, which is faster.

        Parameters and errors are those of `raw`.
        """
        return self._entries(topics, None, False)

    @cached_property
    def _by_time(self) -> bool:
        """Return whether the order of recording is the order of the times."""
        files = [file for file in self._files if any(t.messages for t in file.topics)]
        if not all(file.sortable for file in files):
            return False
        back = any(file.goes_back for file in files) or any(
            after.first < before.last - LEAP
            for before, after in zip(files, files[1:], strict=False))
        if not back:
            return True
        # the topic with most messages shows what goes back
        busiest = max(self.topics, key=lambda topic: self.topics[topic].count)
        times = np.fromiter((time for _, time, _ in self.unordered([busiest])), np.int64)
        return not (np.diff(times) < -LEAP).any() or exchanged(times)

    def _entries(self, topics: Collection[str] | None, start: int | None, by_time: bool
                 ) -> Iterator[tuple[str, int, bytes]]:
        """Yield topic, time and bytes; remark that there are fewer than the bag states."""
        if self._closed:
            raise BagError(f'bag {self.path}: it is closed')
        wanted = {topic for topic in self.topics if topics is None or topic in topics}
        count = 0
        packed = self._packed
        try:
            for topic, time, data in self._merged(wanted, start, by_time):
                if not 0 <= time <= LATEST:
                    raise ValueError(f'a message on {topic} with the time {time} ns')
                if packed:
                    data = unpack_some('zstd', data, MOST_BYTES)
                count += 1
                yield topic, time, data
        # a damaged chunk raises only when it is read
        except Exception as error:
            raise self._unreadable(error) from error
        stated = sum(self.topics[topic].count for topic in wanted)
        if start is None and count < stated:
            self.remark(fewer(count, stated, 'its index'))

    def _merged(self, wanted: Collection[str], start: int | None, by_time: bool
                ) -> Iterator[tuple[str, int, bytes]]:
        """Yield the messages of all files, one file after the other unless they overlap."""
        files = [file for file in self._files
                 if any(t.messages and t.topic in wanted for t in file.topics)]
        if by_time:
            files.sort(key=lambda file: file.span)
            if any(after.span[0] < before.span[1]
                   for before, after in zip(files, files[1:], strict=False)):
                yield from merge(*(file.messages(wanted, start) for file in files),
                                 key=lambda entry: entry[1])
                return
        for file in files:
            yield from file.messages(wanted, start, by_time)
