# SPDX-License-Identifier: Apache-2.0
"""
Records the topics of the suite to a bag, and computes frames that no node publishes.

With ``snapshot.seconds`` it is a flight recorder: the last seconds stay in memory and are written
when ``~/snapshot`` (Trigger) is called, or when a status on /diagnostics becomes an error, such as
a latched fault of the hardware interface.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from c3p_bags.recorder.flight import DIAGNOSTICS, FlightRecorder
from c3p_bags.recorder.frames import TF, RecordedFrames
from c3p_bags.recorder.node_parameters import ParameterQuery
from c3p_bags.recorder.readers import Readers
from c3p_bags.recorder.snapshots import SnapshotLimits, SnapshotWriter
from c3p_bags.recorder.subscriptions import Subscriptions
from c3p_bags.storage import bag_parameters
from c3p_bags.storage.bag_writer import BagWriter
from c3p_bags.storage.topics import COMMON_TOPICS, message_class, read_topics_file
from c3p_description.reading.files import share_file
from c3p_description.reading.loader import robot_description
from c3p_ros.diagnostics import ERROR, WARN, Diagnostics
from c3p_ros.endpoints import nodes_of
from c3p_ros.input_watch import WatchedNode
from c3p_ros.parameters import Parameters
from c3p_ros.schema import COMMON
from c3p_ros.session import run

SCHEMA = Path(__file__).with_name('recorder_parameters.yaml')

TOPICS = 'config/record_topics.yaml'
# default name of a bag, for `time.strftime`
NAME = 'c3p_%Y_%m_%d-%H_%M_%S'

# period at which topics without a message are looked up, s
WATCH_PERIOD = 0.5


class RecorderNode(WatchedNode):
    """Writes every message of the listed topics, as serialised by its publisher, to a new bag."""

    def __init__(self, **options: Any) -> None:
        """Open the bag and subscribe."""
        super().__init__('recorder', **options)
        self.writer: BagWriter | SnapshotWriter | None = None
        self.at_end(self.close)
        self.parameters = Parameters(self, COMMON, SCHEMA)
        values = self.parameters.value
        topics, latched = read_topics_file(values.topics_file or share_file(TOPICS))
        name = self.resolve_topic_name
        self._topics = Subscriptions(
            self, {name(t): kind for t, kind in topics.items()}, {name(t) for t in latched},
            self._record, lambda topic, reason: self.diagnostics.condition(topic, WARN, reason))
        self._simulated_time = bool(self.get_parameter('use_sim_time').value)
        self.diagnostics = Diagnostics(self, values.robot, self.metrics, 'recorder')
        self._readers = Readers(self.diagnostics.unread)
        self.writer = self._open(values)
        self.writer.note(bag_parameters.notes(values.robot))
        self._announced: set[str] = set()
        self._frames: RecordedFrames | None = None
        self._query = ParameterQuery(self, self._on_parameters) if values.node_parameters else None
        self._topics.begin(self.writer.types.fielddefs)
        if values.frames == 'always' or (values.frames == 'auto' and not message_class(TF)):
            self._compute_frames(self.writer, 'odom', 'joint_states')
        self._undecided = values.frames == 'auto' and self._frames is None
        self.create_timer(WATCH_PERIOD, self._watch)
        self.get_logger().info(f'recording {len(self._topics)} topics to {self.writer.path}')

    def _open(self, values: Any) -> BagWriter | SnapshotWriter:
        path = values.bag or time.strftime(NAME)
        snapshot = values.snapshot
        if snapshot.seconds == 0.0:
            return BagWriter(path, values.compression)
        limits = SnapshotLimits(snapshot.seconds, snapshot.megabytes * 2**20, snapshot.after,
                                snapshot.most)
        writer = SnapshotWriter(path, limits, values.compression)
        flight = FlightRecorder(self, writer, self._now, self._disk)
        if snapshot.on_error:
            self._topics.kinds.setdefault('/diagnostics', DIAGNOSTICS)
            self._readers.add(self.resolve_topic_name('/diagnostics'), flight.diagnostics)
        return writer

    def _now(self) -> int:
        now = self.get_clock().now().nanoseconds if self._simulated_time else time.time_ns()
        # /clock may be negative, times in a bag may not
        return max(now, 0)

    def _announce(self, writer: BagWriter | SnapshotWriter, topic: str) -> None:
        if topic not in self._announced:
            writer.add(topic, self._topics.kinds[topic], topic in self._topics.latched)
            self._announced.add(topic)

    def _record(self, topic: str, data: bytes) -> None:
        if self.writer is None:
            return
        now = self._now()
        new = topic not in self._announced
        with self._disk():
            self._announce(self.writer, topic)
            self.writer.write(topic, now, data)
            self._readers(topic, now, data)
        if new:  # a drive begins when its topics are recorded
            self.diagnostics.publish()

    @contextmanager
    def _disk(self) -> Iterator[None]:
        """End the recording on a disk error; the process, which may run controllers, goes on."""
        try:
            yield
        except (OSError, ValueError) as error:
            place = self.writer.path if self.writer else 'bag'
            self.diagnostics.condition('bag', ERROR, f'{place}: {error}')
            # complete the bag with its index, if the disk permits
            with suppress(OSError, ValueError):
                self.close()

    def _on_parameters(self, node: str, values: Mapping[str, Any]) -> None:
        """Write the parameters of a node, latched, on a topic of the recorder."""
        topic = self.resolve_topic_name('~/parameters')
        self._topics.kinds[topic] = bag_parameters.EVENT
        self._topics.latched.add(topic)
        if self.writer is not None:
            types = self.writer.types
            event = bag_parameters.event(types.types, self._now(), node, values)
            self._record(topic, bytes(types.serialize_cdr(event, event.__msgtype__)))

    def _compute_frames(self, writer: BagWriter | SnapshotWriter, *sources: str) -> None:
        """Start to compute the frames of ``odom``, ``joint_states`` or both."""
        values = self.parameters.value
        urdf = ''
        try:
            urdf = values.robot_description or robot_description(values.robot)
        except ValueError as error:
            self.diagnostics.condition('robot_description', WARN, f'{error}')
        description, moving, fixed = (self.resolve_topic_name(topic) for topic in (
            'robot_description', '/tf', '/tf_static'))
        self._topics.latched |= {fixed, description}
        for topic, kind in ((moving, TF), (fixed, TF), (description, 'std_msgs/msg/String')):
            self._topics.kinds.setdefault(topic, kind)
            self._announce(writer, topic)
        self._frames = RecordedFrames(writer, urdf, values.frame_rate, description, moving, fixed)
        if 'joint_states' in sources:
            self._frames.start(self._now())
            self._readers.add(self.resolve_topic_name('joint_states'), self._frames.joint_states)
        if 'odom' in sources:
            self._readers.add(self.resolve_topic_name('odom'), self._frames.odometry)

    def _watch(self) -> None:
        """Adapt to newly discovered publishers; decide which frames to compute."""
        if self.writer is None:
            return
        for topic in self._topics.kinds:
            if not self.writer.counts[topic] and topic not in self._announced:
                self._topics.adapt(topic)
        if self._query is not None:
            for topic in set(self._topics.kinds).difference(COMMON_TOPICS):
                self._query.request(nodes_of(self.get_publishers_info_by_topic(topic)))
            self._query.poll()
        # once joint states arrive, the publishers of frames have been discovered as well
        if self._undecided and self.writer.counts[self.resolve_topic_name('joint_states')]:
            self._undecided = False
            missing = [source for source, topic in (('odom', '/tf'),
                                                    ('joint_states', 'robot_description'))
                       # count_publishers ignores remappings
                       if not self.count_publishers(self.resolve_topic_name(topic))]
            if missing:
                self._compute_frames(self.writer, *missing)

    def metrics(self) -> Mapping[str, Any]:
        """Return the messages recorded so far, in total and by topic."""
        return {} if self.writer is None else self.writer.metrics()

    def close(self) -> None:
        """End the recording and complete the bag."""
        writer = self.writer
        self.writer = None
        if writer is not None:
            writer.close()


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until Ctrl-C or SIGTERM."""
    return run(RecorderNode, args=args)


if __name__ == '__main__':
    sys.exit(main())
