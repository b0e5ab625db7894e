# SPDX-License-Identifier: Apache-2.0
"""Nodes that receive the stop of the live page, from the ROS graph."""

from __future__ import annotations

from typing import Any

from rclpy.duration import Infinite
from rclpy.node import Node
from rclpy.qos import (
    LivelinessPolicy,
    QoSCompatibility,
    QoSProfile,
    qos_check_compatible,
)

# nodes that subscribe to everything and stop nothing: those of the suite, and usual tools
OBSERVERS = frozenset({'dashboard', 'recorder', 'player', 'teleop_keyboard', 'view', 'marker',
                       'safety_monitor', 'drive_client', 'excitation', 'rosbag2_recorder',
                       'foxglove_bridge', 'rosbridge_websocket', 'rviz', 'rviz2', 'plotjuggler'})

# what the publishers of the page offer, in the terms of the graph, which has ∞ for no limit
OFFERED = QoSProfile(depth=1, deadline=Infinite, lifespan=Infinite,
                     liveliness=LivelinessPolicy.AUTOMATIC, liveliness_lease_duration=Infinite)


def receivers(node: Node, topic: str, kind: str) -> list[str]:
    """
    Return the names of nodes that receive a topic from a publisher of `node`.

    A subscription of another type, or one whose quality of service is not compatible, receives
    nothing; observers (`OBSERVERS`) and hidden nodes are left out.

    Parameters
    ----------
    node : Node
    topic : str
        Relative to the namespace of the node.
    kind : str
        Message type, such as ``std_msgs/msg/Bool``.
    """
    return sorted({end.node_name for end in ends(node, topic, kind)
                   if qos_check_compatible(OFFERED, end.qos_profile)[0] != QoSCompatibility.ERROR
                   and end.node_name not in OBSERVERS and not end.node_name.startswith('_')})


def ends(node: Node, topic: str, kind: str) -> list[Any]:
    """Return the subscriptions of a topic with a message type."""
    return [end for end in node.get_subscriptions_info_by_topic(node.resolve_topic_name(topic))
            if end.topic_type == kind]
