# SPDX-License-Identifier: Apache-2.0
"""
Live topics for the Foxglove app, as they are on the wire.

A topic is subscribed only while the app subscribes it. Without robot_state_publisher and tf2_msgs
``/tf``, ``/tf_static`` and ``robot_description`` are computed here, as by the recorder.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.node import Node

from c3p_bags.recorder.frames import TF, RecordedFrames
from c3p_bags.storage.topics import message_class
from c3p_description.model import CasterRobot
from c3p_description.reading.loader import robot_description
from c3p_viewers.foxglove.scene_channel import NUMBERS, SCENE, SceneChannel
from c3p_viewers.foxglove.server import DEFAULT_PORT, FoxgloveServer
from c3p_viewers.sources.live import TopicTap
from c3p_viewers.sources.moment_reader import TOPICS

# period of looking for new topics, s; frames a second
LOOK_PERIOD = 0.5
FRAME_RATE = 30.0

FRAMES = ('/tf', '/tf_static')


class FoxgloveLive:
    """
    Keeps a Foxglove server up to date with the topics of the graph.

    Parameters
    ----------
    node : Node
        In the namespace of the robot.
    robot : CasterRobot
    description : str or Path
        Name or path of the description, as for `loader.load`.
    host, port
        As for `FoxgloveServer`.
    report : callable
        Takes a line for the user.
    """

    def __init__(self, node: Node, robot: CasterRobot, description: str | Path,
                 host: str = '127.0.0.1', port: int = DEFAULT_PORT,
                 report: Callable[[str], None] = print) -> None:
        """Start the server and offer the present topics."""
        self._node = node
        self._report = report
        urdf = robot_description(description)
        # a change of listeners comes in a thread of the server; the node acts in its own
        self.server = FoxgloveServer(f'{robot.name}: live', host, port, urdf, description)
        self._kinds: dict[str, str] = {}
        self._taps: dict[str, TopicTap] = {}
        self._scene = SceneChannel(self.server, robot, node.get_namespace().rstrip('/'))
        self._needed = {node.resolve_topic_name(topic): kind for topic, kind in TOPICS.items()}
        self._frames: RecordedFrames | None = None
        self._compute_frames(urdf)
        self._look()
        node.create_timer(LOOK_PERIOD, self._look)
        node.create_timer(LOOK_PERIOD / 5, self._follow)

    def _compute_frames(self, urdf: str) -> None:
        """Compute the frames where tf2_msgs is not installed."""
        if message_class(TF) is not None:
            return
        names = ['robot_description', *FRAMES]
        kinds = ['std_msgs/msg/String', TF, TF]
        topics = [self._node.resolve_topic_name(name) for name in names]
        for topic, kind in zip(topics, kinds, strict=True):
            self.server.add(topic, kind, latched=topic != topics[1])
        self._frames = RecordedFrames(self.server, urdf, FRAME_RATE, *topics)
        self._frames.start(time.time_ns())
        self._frame_topic = topics[1]

    def _look(self) -> None:
        """Offer topics that are new."""
        for topic, kinds in self._node.get_topic_names_and_types():
            kind = kinds[0]
            if topic in self._kinds or message_class(kind) is None or (
                    not self._node.count_publishers(topic)):
                continue
            self._kinds[topic] = kind
            latched = any(info.qos_profile.durability.name == 'TRANSIENT_LOCAL' for info in
                          self._node.get_publishers_info_by_topic(topic))
            if not self.server.add(topic, kind, latched):
                self._report(f'{topic}: the definition of {kind} is not known; left out')

    def _follow(self) -> None:
        """Subscribe the topics that clients subscribe, and their inputs; drop the others."""
        wanted = {topic: kind for topic, kind in self._kinds.items()
                  if self.server.listened(topic)}
        if self.server.listened(SCENE) or self.server.listened(NUMBERS):
            wanted |= self._needed
        if self._frames is not None and self.server.listened(self._frame_topic):
            wanted |= {topic: kind for topic, kind in self._needed.items()
                       if topic.endswith(('/joint_states', '/odom'))
                       and not topic.endswith('ground_truth/odom')}
        for topic in set(self._taps) - set(wanted):
            self._taps.pop(topic).close()
        for topic in set(wanted) - set(self._taps):
            self._taps[topic] = TopicTap(self._node, topic, wanted[topic],
                                         partial(self._take, topic))
        for tap in self._taps.values():
            tap.adapt()

    def _take(self, topic: str, data: bytes, kind: str) -> None:
        now = time.time_ns()
        if topic in self._kinds and kind == self._kinds[topic]:
            self.server.log(topic, data, now)
        self._scene.take(topic, data, now, kind)
        if self._frames is not None and self.server.listened(self._frame_topic):
            self._place(self._frames, topic, data, now)

    def _place(self, frames: RecordedFrames, topic: str, data: bytes, now: int) -> None:
        """Compute frames from joint states and odometry."""
        name = topic.removeprefix(self._node.get_namespace().rstrip('/') + '/')
        use: dict[str, Callable[[int, bytes], Any]] = {
            'joint_states': frames.joint_states, 'odom': frames.odometry}
        if name in use:
            use[name](now, data)

    def close(self) -> None:
        """End server and subscriptions."""
        self.server.close()
        for tap in self._taps.values():
            tap.close()
        self._taps.clear()
