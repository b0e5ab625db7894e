# SPDX-License-Identifier: Apache-2.0
"""
Ring buffer of a flight recorder: the last seconds in memory, written to a bag on a trigger.

Latched messages (description of the robot, fixed frames, parameters) are older than the buffer;
the last ones are kept, and begin every snapshot.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from c3p_bags.storage.bag_writer import BagError, BagWriter, message_types

# kept distinct messages of a latched topic: several nodes publish /tf_static
DISTINCT = 64

# longest snapshot after its trigger, in multiples of `after`: later errors begin another one
PROLONGED = 10

# level of a status in error
ERROR = 2

# most remembered statuses in error: arbitrary names must not fill the memory
MOST_FAILED = 1000


class SnapshotLimits(NamedTuple):
    """
    Limits of memory and disk.

    Seconds and bytes in memory (the oldest messages are dropped first), seconds recorded after a
    trigger (another one within this time prolongs the snapshot), and most snapshots of one run: a
    recurring error must not fill the disk.
    """

    seconds: float = 30.0
    bytes: int = 256 * 2**20
    after: float = 5.0
    most: int = 20


class SnapshotWriter:
    """
    Takes messages like a `BagWriter`; writes them on `trigger`, in parts on each `pump`.

    Parameters
    ----------
    path : str or Path
        New directory; the snapshots are the bags ``snapshot_01``, ``snapshot_02``, … in it.
    limits : SnapshotLimits, optional
    compression : {'none', 'zstd'}
        Of the bags.

    Raises
    ------
    BagError
        The directory exists or cannot be made.
    """

    def __init__(self, path: str | Path, limits: SnapshotLimits | None = None,
                 compression: str = 'none') -> None:
        """Make the directory."""
        self.path, self.limits = Path(path), limits or SnapshotLimits()
        self.types = message_types()
        self.counts: Counter[str] = Counter()
        self.snapshots: list[Path] = []
        self.bytes = 0
        self._compression = compression
        self._topics: dict[str, tuple[str, bool]] = {}
        self._ring: deque[tuple[str, int, bytes]] = deque()
        self._latched: dict[str, dict[bytes, int]] = {}
        self._notes: dict[str, str] = {}
        self._bag: BagWriter | None = None
        self._pending: deque[tuple[str, int, bytes]] = deque()
        # end of the time after the trigger, and the latest that it may be
        self._until: int | None = None
        self._last = 0
        try:
            self.path.mkdir(parents=True)
        except OSError as error:
            reason = 'exists already' if self.path.exists() else error
            raise BagError(f'snapshots {self.path}: {reason}') from error

    @property
    def held(self) -> float:
        """Return how many seconds are held."""
        return (self._ring[-1][1] - self._ring[0][1]) * 1e-9 if self._ring else 0.0

    @property
    def writing(self) -> bool:
        """Return True while a snapshot is incomplete."""
        return self._bag is not None

    def metrics(self) -> dict[str, Any]:
        """Return path, messages taken, in total and by topic, what is held, and snapshots."""
        return {'bag': self.path, 'messages': sum(self.counts.values()),
                'held [s]': f'{self.held:.1f}', 'held [MiB]': f'{self.bytes / 2**20:.1f}',
                'snapshots': len(self.snapshots), **self.counts}

    def note(self, notes: Mapping[str, str]) -> None:
        """Add entries to the metadata of every later snapshot."""
        self._notes.update(notes)

    def add(self, topic: str, kind: str, latched: bool = False) -> None:
        """Announce a topic; parameters and errors as `BagWriter.add`."""
        if kind not in self.types.fielddefs:
            raise BagError(f'{topic}: message type {kind!r} is unknown')
        self._topics[topic] = (kind, latched)
        if self._bag is not None:
            self._bag.add(topic, kind, latched)

    def write(self, topic: str, time: int, data: bytes) -> None:
        """Take one serialised message of an announced topic; `time` is in ns."""
        self.counts[topic] += 1
        if self._topics[topic][1]:
            self._keep(topic, time, data)
        entry = (topic, time, data)
        self._ring.append(entry)
        self.bytes += len(data)
        begin = time - int(1e9 * self.limits.seconds)
        ring = self._ring
        while ring and (ring[0][1] < begin or self.bytes > self.limits.bytes):
            self.bytes -= len(ring.popleft()[2])
        # until its end a snapshot takes every message, so that it can be prolonged at any time
        if self._bag is not None:
            self._pending.append(entry)
            self.expire(time)

    def _keep(self, topic: str, time: int, data: bytes) -> None:
        kept = self._latched.setdefault(topic, {})
        # the newest is last, also a repeated one
        kept.pop(data, None)
        kept[data] = time
        while len(kept) > DISTINCT:
            del kept[next(iter(kept))]

    def write_message(self, topic: str, time: int, message: Any) -> None:
        """Serialise and take one message made of the classes in ``self.types.types``."""
        self.write(topic, time, bytes(self.types.serialize_cdr(message, message.__msgtype__)))

    def trigger(self, reason: str, now: int) -> Path | None:
        """
        Begin a snapshot, or prolong the one under way.

        The `reason` becomes the note ``c3p_trigger`` of the bag, the time `now` [ns]
        ``c3p_trigger_time``. Returns the bag, None at the limit of snapshots.

        Raises
        ------
        BagError
            The bag cannot be made.
        """
        if self._bag is not None and now > self._last:
            self.close()
        if self._bag is None:
            if len(self.snapshots) >= self.limits.most:
                return None
            path = self.path / f'snapshot_{len(self.snapshots) + 1:02d}'
            self._bag = BagWriter(path, self._compression)
            self.snapshots.append(path)
            for topic, (kind, latched) in self._topics.items():
                self._bag.add(topic, kind, latched)
            self._bag.note({**self._notes, 'c3p_trigger': reason, 'c3p_trigger_time': str(now)})
            begin = self._ring[0][1] if self._ring else now
            self._pending.extend((topic, begin, data) for topic, kept in self._latched.items()
                                 for data, time in kept.items() if time < begin)
            self._pending.extend(self._ring)
            self._last = now + int(1e9 * PROLONGED * self.limits.after)
        self._until = min(now + int(1e9 * self.limits.after), self._last)
        return self.snapshots[-1]

    def pump(self, count: int = 500) -> bool:
        """
        Write some of the pending messages; return True while the snapshot is incomplete.

        At most `count` messages: 500 take some 10 ms, in which no queue overflows.

        Raises
        ------
        OSError
            The disk is full.
        """
        if self._bag is None:
            return False
        for _ in range(min(count, len(self._pending))):
            self._bag.write(*self._pending.popleft())
        if not self._pending and self._until is None:
            bag = self._bag
            self._bag = None
            bag.close()
        return self._bag is not None

    def expire(self, now: int) -> None:
        """End the time after the trigger by the clock, also without messages."""
        if self._until is not None and now > self._until:
            self._until = None

    def close(self) -> None:
        """Complete the current snapshot; no effect without one."""
        self._until = None
        while self.pump(10_000):
            pass


class FaultWatch:
    """
    Detects statuses that become errors.

    A persistent error is reported once, a recurring one again. A status whose first message is an
    error is reported, too: its cause may still be in memory. Errors of the recording node `own`,
    such as a full disk, are ignored.

    Examples
    --------
    >>> watch = FaultWatch('recorder')
    >>> watch.look([('hardware_interface: state', 2, 'drive 1 silent')])
    ['hardware_interface: state: drive 1 silent']
    >>> watch.look([('hardware_interface: state', 2, 'drive 1 silent')])
    []
    """

    def __init__(self, own: str = '') -> None:
        """Start without errors."""
        self._own = own
        self._failed: dict[str, None] = {}

    def look(self, statuses: Iterable[tuple[str, int, str]]) -> list[str]:
        """Return the new errors among (name, level, message) of one DiagnosticArray, as texts."""
        found = []
        for name, level, message in statuses:
            if self._own and name.split(':')[0] == self._own:
                continue
            if level != ERROR:
                self._failed.pop(name, None)
            elif name not in self._failed:
                self._failed[name] = None
                if len(self._failed) > MOST_FAILED:
                    del self._failed[next(iter(self._failed))]
                found.append(f'{name}: {message}')
        return found
