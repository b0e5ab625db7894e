# SPDX-License-Identifier: Apache-2.0
"""Subscriptions of the recorder, matched to the publishers."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import partial
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from c3p_bags.storage.topics import matching, message_class, same_qos, wanted_profile


class Subscriptions:
    """
    Subscribes to topics, also before they have publishers.

    `topics` maps names to expected message types, the attribute ``kinds`` to the published ones;
    ``latched`` are the latched ones. `record` receives topic and bytes of each message, `missing`
    topic and reason of a type that cannot be recorded.
    """

    def __init__(self, node: Node, topics: Mapping[str, str], latched: set[str],
                 record: Callable[[str, bytes], None], missing: Callable[[str, str], None]
                 ) -> None:
        """Subscribe to nothing yet."""
        self.kinds, self.latched = dict(topics), set(latched)
        self._node = node
        self._record = record
        self._missing = missing
        self._subscribed: dict[str, Any] = {}

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return len(self._subscribed)

    def begin(self, known: Container[str]) -> None:
        """Subscribe to all topics; `known` are the message types that the bag defines."""
        self._known = known
        for topic in self.kinds:
            self.adapt(topic)
            # early, so that the first message of a later publisher is not missed
            if topic not in self._subscribed:
                self._subscribe(topic, wanted_profile(topic in self.latched))

    def adapt(self, topic: str) -> None:
        """Subscribe with the type and the quality of service of the publishers, if any."""
        publishers = self._node.get_publishers_info_by_topic(topic)
        if not publishers:
            return
        kind, profile = matching(publishers, self.kinds[topic])
        before = self._subscribed.get(topic)
        if message_class(kind) is None or (
                before is not None and kind == self.kinds[topic] and same_qos(before, profile)):
            return
        if before is not None or kind != self.kinds[topic]:
            self._node.get_logger().info(f'{topic}: recorded as published, {kind}, '
                                         f'{profile.reliability.name.lower()}')
        if profile.durability == DurabilityPolicy.TRANSIENT_LOCAL:
            self.latched.add(topic)
        self.kinds[topic] = kind
        self._subscribe(topic, profile)

    def _subscribe(self, topic: str, profile: QoSProfile) -> None:
        name = self.kinds[topic]
        kind = message_class(name)
        if kind is None or name not in self._known:
            # without tf2_msgs no node publishes frames; the recorder computes them
            if not name.startswith('tf2_msgs/'):
                self._missing(topic, f'{name} is not '
                                     f'{"known to the bag" if kind else "installed"}')
            return
        if topic in self._subscribed:
            self._node.destroy_subscription(self._subscribed.pop(topic))
        self._subscribed[topic] = self._node.create_subscription(
            kind, topic, partial(self._record, topic), profile, raw=True)
