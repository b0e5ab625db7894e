# SPDX-License-Identifier: Apache-2.0
"""Live topics for the viewers: subscriptions that fit the publishers, and moments of a robot."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from rclpy.node import Node

from c3p_bags.storage.topics import matching, message_class, same_qos, wanted_profile
from c3p_description.model import CasterRobot
from c3p_ros.input_watch import WatchedNode
from c3p_ros.session import Session
from c3p_viewers.sources.moment import Moment
from c3p_viewers.sources.moment_reader import TOPICS, MomentReader

# period of looking for publishers until a message has come, s
WATCH_PERIOD = 0.5


@contextmanager
def live_node(namespace: str | None) -> Iterator[tuple[Node, Callable[[float], bool]]]:
    """
    Yield a node in a namespace, and a function that spins it until a time.

    The function takes a time of the monotonic clock, s, and returns False after Ctrl-C.
    """
    with Session(namespace=namespace or '', remap_frames=False) as session:
        node = session.add(WatchedNode, name='view', start_parameter_services=False,
                           enable_rosout=False)

        def going(until: float) -> bool:
            # period of evaluating the condition: a fraction of the remaining time
            period = min(max(0.2 * (until - time.monotonic()), 0.002), 0.2)
            try:
                session.until(lambda: time.monotonic() >= until, period=period)
            except KeyboardInterrupt:
                return False
            return True

        yield node, going


class TopicTap:
    """
    Raw subscription that adapts to type and QoS of its publishers, also of later ones.

    Parameters
    ----------
    node : Node
    topic : str
    kind : str
        Message type, unless the publishers have another one.
    take : callable
        Takes a serialized message and its type.
    """

    def __init__(self, node: Node, topic: str, kind: str,
                 take: Callable[[bytes, str], None]) -> None:
        """Subscribe."""
        self._node = node
        self._take = take
        self.topic = node.resolve_topic_name(topic)
        self.kind = kind
        self.count = 0
        self._subscription: Any = None
        self._subscribe(wanted_profile(False))

    def _subscribe(self, profile: Any) -> None:
        self.close()
        kind = message_class(self.kind)
        if kind is not None:
            self._subscription = self._node.create_subscription(
                kind, self.topic, self._on_message, profile, raw=True)

    def _on_message(self, data: bytes) -> None:
        self.count += 1
        self._take(data, self.kind)

    def adapt(self) -> None:
        """Subscribe anew if type or QoS of the publishers differ; nothing after a message."""
        if self.count:
            return
        publishers = self._node.get_publishers_info_by_topic(self.topic)
        if not publishers:
            return
        kind, profile = matching(publishers, self.kind)
        before = self._subscription
        if before is None or kind != self.kind or not same_qos(before, profile):
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
        Takes topic, serialized message, time of arrival [s, monotonic clock] and type.
    """

    def __init__(self, node: Node, topics: Mapping[str, str],
                 put: Callable[[str, bytes, float, str], None]) -> None:
        """Subscribe."""
        self._put = put
        self._taps = [TopicTap(node, topic, kind, partial(self._take, topic))
                      for topic, kind in topics.items()]
        node.create_timer(WATCH_PERIOD, self._watch)

    def _take(self, topic: str, data: bytes, kind: str) -> None:
        self._put(topic, data, time.monotonic(), kind)

    def _watch(self) -> None:
        for tap in self._taps:
            tap.adapt()


def live_moments(node: Node, robot: CasterRobot) -> Callable[[], Moment | None]:
    """
    Subscribe the topics of a live caster robot; return a function that returns the moment now.

    The function returns None without fresh joint states. The `node` subscribes in its namespace.
    """
    reader = MomentReader(robot)
    Taps(node, TOPICS, reader.put)
    return lambda: reader.moment(time.monotonic())
