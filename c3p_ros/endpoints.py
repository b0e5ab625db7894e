# SPDX-License-Identifier: Apache-2.0
"""Names of the nodes behind the endpoints of a topic, also before they are discovered."""

from __future__ import annotations

from collections.abc import Iterable

from rclpy.topic_endpoint_info import TopicEndpointInfo

# name that rmw gives to the node of an endpoint before its participant is discovered
_UNKNOWN = '_NODE_NAME_UNKNOWN_'
# what stands for it
UNNAMED = 'an unknown node'


def node_of(end: TopicEndpointInfo) -> str:
    """Return the full name of the node of an endpoint, or `UNNAMED` before it is discovered."""
    return (UNNAMED if end.node_name == _UNKNOWN else
            f'{end.node_namespace.rstrip("/")}/{end.node_name}')


def nodes_of(ends: Iterable[TopicEndpointInfo]) -> list[str]:
    """Return the full names of nodes, but for hidden and undiscovered ones, each once, sorted."""
    return sorted({node_of(end) for end in ends if not end.node_name.startswith('_')})
