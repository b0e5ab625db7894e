# SPDX-License-Identifier: Apache-2.0
"""Records the suite's topics to a bag; what viewers need and nobody publishes, it computes."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from c3p_description.files import share_file
from c3p_description.loader import robot_description
from c3p_ros.diagnostics import ERROR, WARN, Diagnostics
from c3p_ros.executor import run
from c3p_ros.node import COMMON
from c3p_ros.parameters import Parameters
from c3p_simulation.recording.bags import BagWriter
from c3p_simulation.recording.frames import TF, RecordedFrames
from c3p_simulation.recording.topics import (
    matching,
    message_class,
    read_topics_file,
    wanted_profile,
)

SCHEMA = Path(__file__).with_name('recorder_parameters.yaml')

# how often topics from which nothing came are looked up, s
WATCH_PERIOD = 0.5


class RecorderNode(Node):
    """Writes every message of the listed topics, as it came over the wire, to a new bag."""

    def __init__(self, **options: Any) -> None:
        """Open the bag and subscribe."""
        super().__init__('recorder', **options)
        self.writer: BagWriter | None = None
        self.parameters = Parameters(self, COMMON, SCHEMA)
        values = self.parameters.value
        topics, latched = read_topics_file(
            values.topics_file or share_file('config/record_topics.yaml'))
        self._kinds = {self.resolve_topic_name(t): k for t, k in topics.items()}
        self._latched = {self.resolve_topic_name(t) for t in latched}
        self._simulated_time = bool(self.get_parameter('use_sim_time').value)
        self.diagnostics = Diagnostics(self, values.robot, self.figures)
        self.writer = BagWriter(values.bag or time.strftime('c3p_%Y_%m_%d-%H_%M_%S'),
                                values.compression)
        self._announced: set[str] = set()
        self._subscribed: dict[str, Any] = {}
        self._frames: RecordedFrames | None = None
        self._computed: dict[str, Any] = {}
        for topic in self._kinds:
            self._adapt(topic)
            # subscribed early, so that the first message of a publisher to come is not missed
            if topic not in self._subscribed:
                self._subscribe(topic, wanted_profile(topic in self._latched))
        if values.frames == 'always' or (values.frames == 'auto' and message_class(
                TF) is None):
            self._compute_frames('odom', 'joint_states')
        self._undecided = values.frames == 'auto' and self._frames is None
        self.create_timer(WATCH_PERIOD, self._watch)
        self.get_logger().info(
            f'recording {len(self._subscribed)} topics to {self.writer.path}')

    def _subscribe(self, topic: str, profile: QoSProfile) -> None:
        kind = message_class(self._kinds[topic])
        if kind is None:
            # without tf2_msgs nobody can publish frames; they are computed
            if not self._kinds[topic].startswith('tf2_msgs/'):
                self.diagnostics.condition(topic, WARN, f'{self._kinds[topic]} is not installed')
            return
        if topic in self._subscribed:
            self.destroy_subscription(self._subscribed.pop(topic))
        self._subscribed[topic] = self.create_subscription(
            kind, topic, partial(self._record, topic), profile, raw=True)

    def _now(self) -> int:
        return self.get_clock().now().nanoseconds if self._simulated_time else time.time_ns()

    def _announce(self, topic: str) -> None:
        if topic not in self._announced:
            self.writer.add(topic, self._kinds[topic], topic in self._latched)
            self._announced.add(topic)

    def _record(self, topic: str, data: bytes) -> None:
        if self.writer is None:
            return
        now = self._now()
        try:
            if topic not in self._announced:
                self._announce(topic)
            self.writer.write(topic, now, data)
            if topic in self._computed:
                self._computed[topic](now, data)
        except (OSError, ValueError) as error:
            # a full disk must not end the process that may run the controllers too
            self.diagnostics.condition('bag', ERROR, f'{self.writer.path}: {error}')
            self.close()

    def _compute_frames(self, *sources: str) -> None:
        """Compute from now on the frames of ``odom``, ``joint_states`` or both."""
        values = self.parameters.value
        urdf = ''
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
            self._computed[self.resolve_topic_name('joint_states')] = self._frames.joint_states
        if 'odom' in sources:
            self._computed[self.resolve_topic_name('odom')] = self._frames.odometry

    def _watch(self) -> None:
        """Adapt to publishers that are not as the topics file says, once they are there."""
        if self.writer is None:
            return
        for topic in self._kinds:
            if not self.writer.counts[topic]:
                self._adapt(topic)
        # decided when the robot is up: its publishers of frames have been discovered by then
        if self._undecided and self.writer.counts[self.resolve_topic_name('joint_states')]:
            self._undecided = False
            missing = [source for source, topic in (('odom', '/tf'),
                                                    ('joint_states', 'robot_description'))
                       # count_publishers itself knows no remappings
                       if not self.count_publishers(self.resolve_topic_name(topic))]
            if missing:
                self._compute_frames(*missing)

    def _adapt(self, topic: str) -> None:
        publishers = self.get_publishers_info_by_topic(topic)
        if not publishers or topic in self._announced:
            return
        kind, profile = matching(publishers, self._kinds[topic], topic in self._latched)
        before = self._subscribed.get(topic)
        if message_class(kind) is None or (
                before is not None and kind == self._kinds[topic]
                and before.qos_profile.reliability == profile.reliability
                and before.qos_profile.durability == profile.durability):
            return
        if before is not None or kind != self._kinds[topic]:
            self.get_logger().info(f'{topic}: recorded as it is published, {kind}, '
                                   f'{profile.reliability.name.lower()}')
        self._kinds[topic] = kind
        self._subscribe(topic, profile)

    def figures(self) -> Mapping[str, Any]:
        """Return the messages recorded so far, in total and of each topic."""
        if self.writer is None:
            return {}
        counts = self.writer.counts
        return {'bag': self.writer.path, 'messages': sum(counts.values()), **counts}

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
