# SPDX-License-Identifier: Apache-2.0
"""Names of the nodes behind the endpoints of a topic, also before they are discovered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from rclpy.qos import QoSProfile

# name that rmw gives to the node of an endpoint before its participant is discovered
_UNKNOWN = '_NODE_NAME_UNKNOWN_'
# what stands for it
UNNAMED = 'an unknown node'


class TopicEndpoint(Protocol):
    """Part of rclpy's TopicEndpointInfo that the suite reads; rclpy 10 moved that class."""

    @property
    def node_name(self) -> str:
        """Name of its node, without namespace."""

    @property
    def node_namespace(self) -> str:
        """Namespace of its node, such as ``/robot1``."""

    @property
    def topic_type(self) -> str:
        """Such as ``sensor_msgs/msg/JointState``; empty where the middleware lacks it."""

    @property
    def qos_profile(self) -> QoSProfile:
        """Quality of service that it offers or requests."""


def node_of(end: TopicEndpoint) -> str:
    """Return the full name of the node of an endpoint, or `UNNAMED` before it is discovered."""
    return (UNNAMED if end.node_name == _UNKNOWN else
            f'{end.node_namespace.rstrip("/")}/{end.node_name}')


def nodes_of(ends: Iterable[TopicEndpoint]) -> list[str]:
    """Return the full names of nodes, but for hidden and undiscovered ones, each once, sorted."""
    return sorted({node_of(end) for end in ends if not end.node_name.startswith('_')})
