# SPDX-License-Identifier: Apache-2.0
"""
Records the suite's topics to a bag; what viewers need and nobody publishes, it computes.

With ``snapshot.seconds`` it is a flight recorder: the last seconds stay in memory and are written
when ``~/snapshot`` (Trigger) is called, or when a status on /diagnostics becomes an error, such as
a latched fault of the hardware interface.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from c3p_bags.recorder.flight import DIAGNOSTICS, FlightRecorder
from c3p_bags.recorder.frames import TF, RecordedFrames
from c3p_bags.recorder.node_parameters import ParameterQuery
from c3p_bags.recorder.snapshots import SnapshotLimits, SnapshotWriter
from c3p_bags.storage import bag_parameters
from c3p_bags.storage.bags import BagWriter
from c3p_bags.storage.reading import Readers
from c3p_bags.storage.topics import (
    UNASKED,
    matching,
    message_class,
    names_of,
    read_topics_file,
    wanted_profile,
)
from c3p_description.reading.files import share_file
from c3p_description.reading.loader import robot_description
from c3p_ros.diagnostics import ERROR, WARN, Diagnostics
from c3p_ros.parameters import Parameters
from c3p_ros.schema import COMMON
from c3p_ros.session import run

SCHEMA = Path(__file__).with_name('recorder_parameters.yaml')

TOPICS = 'config/record_topics.yaml'
# of a bag without one, as `time.strftime` takes it
NAME = 'c3p_%Y_%m_%d-%H_%M_%S'

# how often topics from which nothing came are looked up, s
WATCH_PERIOD = 0.5


class RecorderNode(Node):
    """Writes every message of the listed topics, as it came over the wire, to a new bag."""

    def __init__(self, **options: Any) -> None:
        """Open the bag and subscribe."""
        super().__init__('recorder', **options)
        self.writer: BagWriter | SnapshotWriter | None = None
        self.parameters = Parameters(self, COMMON, SCHEMA)
        values = self.parameters.value
        topics, latched = read_topics_file(values.topics_file or share_file(TOPICS))
        self._kinds = {self.resolve_topic_name(t): k for t, k in topics.items()}
        self._latched = {self.resolve_topic_name(t) for t in latched}
        self._simulated_time = bool(self.get_parameter('use_sim_time').value)
        self.diagnostics = Diagnostics(self, values.robot, self.metrics)
        self._readers = Readers(self.diagnostics.unread)
        self.writer = self._open(values)
        self.writer.note(bag_parameters.notes(values.robot))
        self._announced: set[str] = set()
        self._subscribed: dict[str, Any] = {}
        self._frames: RecordedFrames | None = None
        self._query = ParameterQuery(self, self._on_parameters) if values.node_parameters else None
        for topic in self._kinds:
            self._adapt(topic)
            # subscribed early, so that the first message of a publisher to come is not missed
            if topic not in self._subscribed:
                self._subscribe(topic, wanted_profile(topic in self._latched))
        if values.frames == 'always' or (values.frames == 'auto' and not message_class(TF)):
            self._compute_frames('odom', 'joint_states')
        self._undecided = values.frames == 'auto' and self._frames is None
        self.create_timer(WATCH_PERIOD, self._watch)
        self.get_logger().info(f'recording {len(self._subscribed)} topics to {self.writer.path}')

    def _open(self, values: Any) -> BagWriter | SnapshotWriter:
        path, snapshot = values.bag or time.strftime(NAME), values.snapshot
        if snapshot.seconds == 0.0:
            return BagWriter(path, values.compression)
        limits = SnapshotLimits(snapshot.seconds, snapshot.megabytes * 2**20, snapshot.after,
                                snapshot.most)
        writer = SnapshotWriter(path, limits, values.compression)
        flight = FlightRecorder(self, writer, self._now, self._disk)
        if snapshot.on_error:
            self._kinds.setdefault('/diagnostics', DIAGNOSTICS)
            self._readers.add(self.resolve_topic_name('/diagnostics'), flight.diagnostics)
        return writer

    def _subscribe(self, topic: str, profile: QoSProfile) -> None:
        kind = message_class(self._kinds[topic])
        if kind is None or self._kinds[topic] not in self.writer.types.fielddefs:
            # without tf2_msgs nobody can publish frames; they are computed
            if not self._kinds[topic].startswith('tf2_msgs/'):
                self.diagnostics.condition(topic, WARN, f'{self._kinds[topic]} is not '
                                           f'{"known to the bag" if kind else "installed"}')
            return
        if topic in self._subscribed:
            self.destroy_subscription(self._subscribed.pop(topic))
        self._subscribed[topic] = self.create_subscription(
            kind, topic, partial(self._record, topic), profile, raw=True)

    def _now(self) -> int:
        now = self.get_clock().now().nanoseconds if self._simulated_time else time.time_ns()
        # a bag has no times before zero, which /clock may have
        return max(now, 0)

    def _announce(self, topic: str) -> None:
        if topic not in self._announced:
            self.writer.add(topic, self._kinds[topic], topic in self._latched)
            self._announced.add(topic)

    def _record(self, topic: str, data: bytes) -> None:
        if self.writer is None:
            return
        now = self._now()
        with self._disk():
            if topic not in self._announced:
                self._announce(topic)
            self.writer.write(topic, now, data)
            self._readers(topic, now, data)

    @contextmanager
    def _disk(self) -> Iterator[None]:
        """Let a full disk end the recording, and not the process, which may run controllers."""
        try:
            yield
        except (OSError, ValueError) as error:
            self.diagnostics.condition('bag', ERROR, f'{self.writer.path}: {error}')
            # what there is of the bag gets its index, if the disk still takes that
            with suppress(OSError, ValueError):
                self.close()

    def _on_parameters(self, node: str, values: Mapping[str, Any]) -> None:
        """Write the parameters of a node, latched, under a name that nobody else publishes."""
        topic = self.resolve_topic_name('~/parameters')
        self._kinds[topic] = bag_parameters.EVENT
        self._latched.add(topic)
        if self.writer is not None:
            types = self.writer.types
            event = bag_parameters.event(types.types, self._now(), node, values)
            self._record(topic, bytes(types.serialize_cdr(event, event.__msgtype__)))

    def _compute_frames(self, *sources: str) -> None:
        """Compute from now on the frames of ``odom``, ``joint_states`` or both."""
        values, urdf = self.parameters.value, ''
        try:
            urdf = values.robot_description or robot_description(values.robot)
        except ValueError as error:
            self.diagnostics.condition('robot_description', WARN, f'{error}')
        description, moving, fixed = (self.resolve_topic_name(topic) for topic in (
            'robot_description', '/tf', '/tf_static'))
        self._latched |= {fixed, description}
        for topic, kind in ((moving, TF), (fixed, TF), (description, 'std_msgs/msg/String')):
            self._kinds.setdefault(topic, kind)
            self._announce(topic)
        self._frames = RecordedFrames(self.writer, urdf, values.frame_rate, description, moving,
                                      fixed)
        if 'joint_states' in sources:
            self._frames.start(self._now())
            self._readers.add(self.resolve_topic_name('joint_states'), self._frames.joint_states)
        if 'odom' in sources:
            self._readers.add(self.resolve_topic_name('odom'), self._frames.odometry)

    def _watch(self) -> None:
        """Adapt to publishers that are not as the topics file says, once they are there."""
        if self.writer is None:
            return
        for topic in self._kinds:
            if not self.writer.counts[topic]:
                self._adapt(topic)
        if self._query is not None:
            self._ask(self._query)
        # decided when the robot is up: its publishers of frames have been discovered by then
        if self._undecided and self.writer.counts[self.resolve_topic_name('joint_states')]:
            self._undecided = False
            missing = [source for source, topic in (('odom', '/tf'),
                                                    ('joint_states', 'robot_description'))
                       # count_publishers itself knows no remappings
                       if not self.count_publishers(self.resolve_topic_name(topic))]
            if missing:
                self._compute_frames(*missing)

    def _ask(self, query: ParameterQuery) -> None:
        """Ask those who publish what is recorded for their parameters."""
        for topic in set(self._kinds).difference(UNASKED):
            for name in names_of(self.get_publishers_info_by_topic(topic)):
                query.ask(name)
        query.poll()

    def _adapt(self, topic: str) -> None:
        publishers = self.get_publishers_info_by_topic(topic)
        if not publishers or topic in self._announced:
            return
        kind, profile = matching(publishers, self._kinds[topic])
        before = self._subscribed.get(topic)
        if message_class(kind) is None or (
                before is not None and kind == self._kinds[topic]
                and before.qos_profile.reliability == profile.reliability
                and before.qos_profile.durability == profile.durability):
            return
        if before is not None or kind != self._kinds[topic]:
            self.get_logger().info(f'{topic}: recorded as it is published, {kind}, '
                                   f'{profile.reliability.name.lower()}')
        if profile.durability == DurabilityPolicy.TRANSIENT_LOCAL:
            self._latched.add(topic)
        self._kinds[topic] = kind
        self._subscribe(topic, profile)

    def metrics(self) -> Mapping[str, Any]:
        """Return the messages recorded so far, in total and of each topic."""
        if (writer := self.writer) is None:
            return {}
        held = {} if isinstance(writer, BagWriter) else {
            'held [s]': f'{writer.held:.1f}', 'held [MiB]': f'{writer.bytes / 2**20:.1f}',
            'snapshots': len(writer.snapshots)}
        return {'bag': writer.path, 'messages': sum(writer.counts.values()), **held,
                **writer.counts}

    def close(self) -> None:
        """End the recording; the bag is complete afterwards."""
        writer, self.writer = self.writer, None
        if writer is not None:
            writer.close()

    def destroy_node(self) -> None:
        """Close the bag and destroy the node."""
        self.close()
        super().destroy_node()


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until Ctrl-C or SIGTERM."""
    return run(RecorderNode, args=args)


if __name__ == '__main__':
    sys.exit(main())
