# SPDX-License-Identifier: Apache-2.0
"""
Participants of DDS: those that exist on this computer, and those that have been discovered.

Zenoh has no participants: there each discovery takes the time of one announcement.

A participant is discovered within 0.1 s as a rule and after 3 s where its first announcement was
lost, so that a short silence does not show that there are no others. The sockets do: each
participant binds a port for its discovery, 7400 + 250 · domain + 10 + 2 k with the first free
k = 0, 1, … (DDSI-RTPS 2.5, 9.6.2), before it announces itself. The kernel lists these ports, and
the ROS graph has one publisher of ``ros_discovery_info`` for each participant of ROS: discovery is
complete when there are as many publishers as ports. Both are read in less than a millisecond.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rclpy.node import Node

from c3p_ros.middleware import of_this_process
from c3p_ros.reach import one_computer
from c3p_ros.sockets import UDP, bound_sockets

# ports of a domain: the first, their number, and that of the first participant's discovery
PORT_BASE = 7400
PORTS_OF_DOMAIN = 250
FIRST_PORT = 10

# topic on which each context of ROS announces its nodes
ANNOUNCED = 'ros_discovery_info'

# participants repeat their announcement every 3 s; those that were not discovered within this
# time are not of ROS, or do not respond, s
DISCOVERED_WITHIN = 3.5

# the endpoints of a participant follow its announcement at once, s
ENDPOINTS_WITHIN = 0.3


def bound_participants(domain: int, tables: Sequence[Path] = UDP) -> int:
    """
    Return the number of participants of a `domain` on this computer, 0 where it is unknown.

    Parameters
    ----------
    domain : int
    tables : sequence of Path
        Sockets as Linux lists them.

    Examples
    --------
    >>> bound_participants(0, [])
    0
    """
    first = PORT_BASE + PORTS_OF_DOMAIN * domain
    ports = {socket.port for socket in bound_sockets(tables)}
    # the odd ports are those of the messages
    return sum(1 for port in ports if port - first in range(FIRST_PORT, PORTS_OF_DOMAIN, 2))


def discovered_participants(node: Node) -> int:
    """Return the number of participants of ROS that `node` has discovered, its own included."""
    return len(node.get_publishers_info_by_topic(ANNOUNCED, no_mangle=True))


class Discovery:
    """
    Evidence that a node has discovered every participant that it can reach.

    Where only this computer is reached, the participants that are bound are counted. Where others
    are reached, or the middleware uses other ports, all of them have had the time for another
    announcement.

    Parameters
    ----------
    node : Node
        Just created.
    environment : mapping
        Variables of the process.
    """

    def __init__(self, node: Node, environment: Mapping[str, str] = os.environ) -> None:
        """Start the time."""
        self._node = node
        self._countable = one_computer(environment, of_this_process())
        self._domain = node.context.get_domain_id()
        self._bound = 0
        self._known = 1
        self._bound_since = self._known_since = time.monotonic()

    def complete(self) -> bool:
        """Return whether all participants that exist now, and their endpoints, are discovered."""
        now = time.monotonic()
        bound = bound_participants(self._domain) if self._countable else 0
        known = discovered_participants(self._node)
        if bound != self._bound:
            self._bound = bound
            self._bound_since = now
        if known != self._known:
            self._known = known
            self._known_since = now
        # the node's own participant is bound, or they cannot be counted
        if 0 < bound <= known:
            return known == 1 or now - self._known_since >= ENDPOINTS_WITHIN
        return now - self._bound_since >= DISCOVERED_WITHIN
