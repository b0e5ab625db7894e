# SPDX-License-Identifier: Apache-2.0
"""The robot that runs now: the newest messages of its topics, for the viewers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rclpy.node import Node

from c3p_bags.storage.topics import matching, message_class, wanted_profile
from c3p_description.model import CasterRobot
from c3p_viewers.sources.moment import Moment
from c3p_viewers.sources.moment_reader import TOPICS, MomentReader

# how often publishers are looked up until a topic is heard, s
WATCH_PERIOD = 0.5


class Tap:
    """
    One raw subscription that fits whoever publishes, also when they come later.

    Parameters
    ----------
    node : Node
    topic : str
    kind : str
        Message type; another one only where nobody publishes this.
    take : callable
        Takes a serialized message and its type.
    """

    def __init__(self, node: Node, topic: str, kind: str,
                 take: Callable[[bytes, str], None]) -> None:
        """Subscribe."""
        self._node, self._take = node, take
        self.topic, self.kind = node.resolve_topic_name(topic), kind
        self.heard = 0
        self._subscription: Any = None
        self._subscribe(wanted_profile(False))

    def _subscribe(self, profile: Any) -> None:
        self.close()
        kind = message_class(self.kind)
        if kind is not None:
            self._subscription = self._node.create_subscription(
                kind, self.topic, self._on_message, profile, raw=True)

    def _on_message(self, data: bytes) -> None:
        self.heard += 1
        self._take(data, self.kind)

    def adapt(self) -> None:
        """Subscribe anew where the publishers are of another kind; nothing once it is heard."""
        if self.heard:
            return
        publishers = self._node.get_publishers_info_by_topic(self.topic)
        if not publishers:
            return
        kind, profile = matching(publishers, self.kind)
        before = self._subscription
        if before is None or kind != self.kind or (
                before.qos_profile.reliability, before.qos_profile.durability) != (
                profile.reliability, profile.durability):
            self.kind = kind
            self._subscribe(profile)

    def close(self) -> None:
        """Unsubscribe."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
        self._subscription = None


class Taps:
    """
    Raw subscriptions of some topics.

    Parameters
    ----------
    node : Node
        Subscribes in its namespace.
    topics : mapping
        Topic → message type.
    put : callable
        Takes topic, serialized message, when it came [s, monotonic clock] and its type.
    """

    def __init__(self, node: Node, topics: Mapping[str, str],
                 put: Callable[[str, bytes, float, str], None]) -> None:
        """Subscribe."""
        self._put = put
        self._taps = [Tap(node, topic, kind, partial(self._take, topic))
                      for topic, kind in topics.items()]
        node.create_timer(WATCH_PERIOD, self._watch)

    def _take(self, topic: str, data: bytes, kind: str) -> None:
        self._put(topic, data, time.monotonic(), kind)

    def _watch(self) -> None:
        for tap in self._taps:
            tap.adapt()


class LiveSource:
    """
    Moments of a caster robot that runs.

    Parameters
    ----------
    node : Node
        Subscribes in its namespace.
    robot : CasterRobot
    """

    def __init__(self, node: Node, robot: CasterRobot) -> None:
        """Subscribe what a moment is made of."""
        self.reader = MomentReader(robot)
        self._taps = Taps(node, TOPICS, self.reader.put)

    def moment(self) -> Moment | None:
        """Return what is known now; None without joint states."""
        return self.reader.moment(time.monotonic())
