# SPDX-License-Identifier: Apache-2.0
"""
Recorded bags: topics, notes, parameters, robot and messages, read without a ROS 2 installation.

Reads MCAP and sqlite3 as ``ros2 bag record`` and `BagWriter` write them. A bag is checked and
opened once; everything that is read of it goes through one `Bag`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from rosbags.highlevel import AnyReader
from rosbags.interfaces import QosDurability

from c3p_bags.storage.bag_parameters import EVENT, last_values
from c3p_bags.storage.bag_places import not_a_bag
from c3p_bags.storage.bag_writer import BagError, message_types
from c3p_bags.storage.limits import check_bag
from c3p_bags.storage.mcap import read_mcap
from c3p_bags.storage.recorded_robot import NODE, RecordedRobot, choose_robot
from c3p_description.model import CasterRobot, ModelError
from c3p_description.reading.loader import load_casters
from c3p_description.texts import one_line

JOINT_STATES = 'joint_states'

# the last time that a clock of ROS represents, ns
LATEST = 2**63 - 1


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

    Attributes
    ----------
    path : Path
    topics : dict of str to Topic
        By absolute name.
    notes : dict of str to str
        Custom data of the metadata; empty for a single file.

    Raises
    ------
    BagError
        The bag does not exist, is damaged, or exceeds the limits of `limits.check_bag`.
    """

    def __init__(self, path: str | Path) -> None:
        """Check and open."""
        self.path = Path(path)
        if not self.path.exists():
            raise BagError(f'bag {path}: no such file or directory')
        if reason := not_a_bag(self.path):
            raise BagError(f'bag {path}: {reason}')
        try:
            files = check_bag(self.path)
            self._reader = AnyReader([self.path], default_typestore=message_types())
            self._reader.open()
        # damaged bytes raise any exception of the libraries
        except Exception as error:
            raise self._unreadable(error) from error
        self.notes, self._mcap = files.notes, files.plain_mcap
        self.topics: dict[str, Topic] = {}
        # a topic has one connection for each publisher
        for connection in self._reader.connections:
            before = self.topics.get(connection.topic)
            offered = getattr(connection.ext, 'offered_qos_profiles', None) or ()
            latched = bool(offered) and all(
                qos.durability == QosDurability.TRANSIENT_LOCAL for qos in offered)
            self.topics[connection.topic] = Topic(
                connection.msgtype, connection.msgcount + (before.count if before else 0),
                latched)

    def _unreadable(self, error: Exception) -> BagError:
        return BagError(f'bag {self.path}: cannot be read: {one_line(error)}; if the recording '
                        f'was cut off, `c3p repair {self.path}` recovers its messages')

    def __str__(self) -> str:
        """Return the path."""
        return str(self.path)

    def close(self) -> None:
        """Close the files; no effect on a closed bag."""
        if self._reader.stack:
            self._reader.close()

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
        if not self._reader.message_count:
            raise BagError(f'bag {self.path}: it is empty')
        # the end time of rosbags is 1 ns after the last message
        return self._reader.start_time, self._reader.end_time - 1

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
        for connection, time, data in self._entries(topics, start):
            yield RawMessage(connection.topic, time, data)

    def messages(self, topics: Collection[str] | None = None) -> Iterator[BagMessage]:
        """Yield the messages as objects; parameters, order and errors as `raw`."""
        for connection, time, data in self._entries(topics):
            try:
                message = self._reader.deserialize(data, connection.msgtype)
            # damaged bytes raise any exception of the library
            except Exception as error:
                raise BagError(f'bag {self.path}: a message on {connection.topic} is not '
                               f'{connection.msgtype}: {one_line(error)}') from error
            yield BagMessage(connection.topic, time, message)

    def _entries(self, topics: Collection[str] | None, start: int | None = None
                 ) -> Iterator[tuple[Any, int, bytes]]:
        wanted = [c for c in self._reader.connections if topics is None or c.topic in topics]
        try:
            for connection, time, data in (
                    self._reader.messages(wanted, start=start) if wanted else ()):
                if not 0 <= time <= LATEST:
                    raise ValueError(f'a message on {connection.topic} with the time {time} ns')
                yield connection, time, data
        # a damaged chunk raises only when it is read
        except Exception as error:
            raise self._unreadable(error) from error

    def unordered(self, topics: Collection[str]) -> Iterator[tuple[str, int, bytes]]:
        """
        Yield topic, time [ns] and bytes of messages in the order of the files, which is faster.

        Parameters and errors are those of `raw`; sqlite3 files are read in the order of recording.
        """
        topics = [t for t in topics if t in self.topics]
        if not self._mcap:
            yield from self.raw(topics)
            return
        try:
            for file in self._mcap:
                for topic, time, data in read_mcap(file, topics):
                    if time > LATEST:
                        raise ValueError(f'a message on {topic} with the time {time} ns')
                    yield topic, time, data
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from error
