# SPDX-License-Identifier: Apache-2.0
"""
Topics that are read many messages at a time, without an executor between.

An executor wakes for each message. A monitor that looks ten times a second needs neither that nor
the values at once: it takes what the middleware has kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from c3p_bags.storage.topics import matching, message_class
from c3p_ros.rclpy_parts import set_aside, take_back, waiting_messages

# messages of a topic that are kept between two looks
DEPTH = 1024


class TopicBatch(NamedTuple):
    """Messages of a topic: name, type, serialized, and their reception, ns (0: unknown)."""

    topic: str
    kind: str
    data: list[bytes]
    received: list[int]


class PolledTopics:
    """
    Subscriptions of a node that its executor does not read.

    Parameters
    ----------
    node : Node
    """

    def __init__(self, node: Node) -> None:
        """Start without topics."""
        self._node = node
        self._kinds: dict[str, tuple[str, bool]] = {}
        self._subscribed: dict[str, tuple[str, Any]] = {}

    def add(self, topic: str, kind: str, reliable: bool) -> None:
        """
        Subscribe to a topic of the expected type, unless it is.

        What is not `reliable` never makes its publisher send a message again.
        """
        if topic not in self._kinds:
            self._kinds[topic] = kind, reliable
            self._subscribe(topic, kind, _profile(reliable))

    def adapt(self) -> None:
        """Subscribe with type and quality of service of the publishers where they differ."""
        for topic, (wanted, reliable) in self._kinds.items():
            publishers = self._node.get_publishers_info_by_topic(topic)
            if not publishers:
                continue
            kind, offered = matching(publishers, wanted)
            profile = _profile(reliable and offered.reliability == ReliabilityPolicy.RELIABLE,
                               reliable and offered.durability)
            before, subscription = self._subscribed[topic]
            have = subscription.qos_profile
            if message_class(kind) is not None and (kind, profile.reliability, profile.durability
                                                    ) != (before, have.reliability,
                                                          have.durability):
                self._close(topic)
                self._subscribe(topic, kind, profile)

    def taken(self) -> Iterator[TopicBatch]:
        """Yield the messages of each topic since the last call, if there are any."""
        for topic, (kind, subscription) in self._subscribed.items():
            if found := waiting_messages(subscription, DEPTH):
                yield TopicBatch(topic, kind, [data for data, _ in found], [at for _, at in found])

    def close(self) -> None:
        """Unsubscribe all."""
        for topic in tuple(self._subscribed):
            self._close(topic)

    def _subscribe(self, topic: str, kind: str, profile: QoSProfile) -> None:
        subscription = self._node.create_subscription(
            message_class(kind), topic, lambda data: None, profile, raw=True)
        set_aside(self._node, subscription)
        self._subscribed[topic] = kind, subscription

    def _close(self, topic: str) -> None:
        _, subscription = self._subscribed.pop(topic)
        # only what a node has in its list is destroyed with its event handlers
        take_back(self._node, subscription)
        self._node.destroy_subscription(subscription)


def _profile(reliable: bool, durability: object = DurabilityPolicy.VOLATILE) -> QoSProfile:
    return QoSProfile(
        depth=DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL
        if durability == DurabilityPolicy.TRANSIENT_LOCAL else DurabilityPolicy.VOLATILE)
