# SPDX-License-Identifier: Apache-2.0
"""
Subscriptions of a lock, by which every publisher of its topic is received.

Two exist from the start. The reliable one is volatile and matches every reliable publisher: a
press that is published once arrives also after a loss. The best effort one matches every publisher
and counts while the topic has one that is not reliable, such as a microcontroller. Once a reliable
publisher offers transient local, a third one receives the messages that it latched before the
start of this node. Not earlier: `ros2 topic pub` warns of an incompatible subscription.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool

from c3p_controller.command_lock import Lock
from c3p_ros.input_watch import qos_difference
from c3p_ros.node import ANY_RELIABILITY, RELIABLE

# latched messages of the publishers of a lock
KEPT = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class LockInput:
    """
    Subscriptions of a lock.

    Parameters
    ----------
    node : Node
    given : Lock
    take : callable
        Takes the name of the lock, whether it is pressed, and the keywords of `TwistMux.lock`.

    Attributes
    ----------
    name : str
    topic : str
        Resolved.
    """

    def __init__(self, node: Node, given: Lock, take: Callable[..., None]) -> None:
        """Subscribe."""
        self._node = node
        self._given = given
        self._take = take
        self.name = given.name
        self._kept: Any = None
        # every message counts: a button may be pressed for a moment
        self._reliable = self._subscribe(RELIABLE, lambda m: take(self.name, m.data))
        self._any = self._subscribe(ANY_RELIABILITY, self._on_any)
        self.topic: str = self._reliable.topic_name

    def _subscribe(self, profile: QoSProfile, callback: Callable[[Bool], None]) -> Any:
        return self._node.create_subscription(Bool, self._given.topic, callback, profile)

    def _on_any(self, message: Bool) -> None:
        """Process a message received best effort, unless the reliable subscription has it too."""
        if self._any.get_publisher_count() > self._reliable.get_publisher_count():
            self._take(self.name, message.data, best_effort=True)

    def look_for_kept(self) -> None:
        """Subscribe to latched messages where a publisher latches."""
        if self._kept is None and any(
                end.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
                and not qos_difference(end.qos_profile, KEPT)
                for end in self._node.get_publishers_info_by_topic(self.topic)):
            self._kept = self._subscribe(KEPT, lambda m: self._take(self.name, m.data, kept=True))
