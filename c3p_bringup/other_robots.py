# SPDX-License-Identifier: Apache-2.0
"""Other robots on the topics of a command that starts or moves one."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from rclpy.node import Node

from c3p_ros.endpoints import UNNAMED, node_of
from c3p_ros.participants import Discovery
from c3p_ros.session import Session

# topics that a robot publishes, each by one node, and the one by which its wheels are driven
FEEDBACK = ('joint_states', 'odom')
EFFORT = 'wheel_effort'

# time limit until the names of nodes are known, which follow their topics, s
NAMED_WITHIN = 3.0

# between two looks at the graph while it is discovered, s
LOOK_PERIOD = 0.02


class OtherRobotError(ValueError):
    """Another robot uses the topics of the command; the text names its nodes."""


class OtherRobots:
    """
    Search of the ROS graph for robots beside the one that a command starts or moves.

    Silence proves nothing: the first `search` waits for evidence that all is discovered, and a
    robot that appears later ends `until` and `wait`.

    Parameters
    ----------
    session : Session
        Spins `node`.
    node : Node
        Of the command; resolves the topics.
    present : int
        Robots that may be there: 0 for a command that starts one, until `joined`; 1 for a
        command that moves one.
    environment : mapping
        Variables of the process.
    """

    def __init__(self, session: Session, node: Node, present: int = 0,
                 environment: Mapping[str, str] = os.environ) -> None:
        """Start the discovery."""
        self._session = session
        self._node = node
        self._present = present
        self._topics = [node.resolve_topic_name(topic) for topic in FEEDBACK]
        self._own: Counter[str] = Counter()
        self._discovery = Discovery(node, environment)

    def joined(self, nodes: Iterable[str]) -> None:
        """Accept the robot of this command, whose `nodes` (full names) start now."""
        self._present += 1
        self._own.update(nodes)

    def found(self) -> list[str]:
        """
        Return the nodes of the other robots, sorted; empty without another robot.

        Where the robot of the command has unknown names, all publishers of a topic with more than
        one are returned. Before it starts, subscribers of ``wheel_effort`` are robots as well;
        later they may be recorders.
        """
        names: Counter[str] = Counter()
        for topic in self._topics:
            # 3 µs; their names take ten times as long
            if self._node.count_publishers(topic) > self._present:
                ends = self._node.get_publishers_info_by_topic(topic)
                names |= Counter(map(node_of, ends)) - self._own
        if not self._present:
            ends = self._node.get_subscriptions_info_by_topic(EFFORT)
            names |= Counter(map(node_of, ends))
        return sorted(names.elements())

    def check(self) -> None:
        """Raise OtherRobotError if another robot is discovered."""
        if not self.found():
            return
        # the names follow the topics
        end = time.monotonic() + NAMED_WITHIN
        self._session.until(lambda: UNNAMED not in self.found() or time.monotonic() > end,
                            period=LOOK_PERIOD)
        raise OtherRobotError(
            f'another robot uses these topics: {self.found()}. Stop it or choose another '
            'ROS_DOMAIN_ID, so that two robots do not follow one goal')

    def until(self, condition: Callable[[], bool], period: float = 0.05) -> None:
        """Spin as `Session.until`; raise OtherRobotError as soon as another robot appears."""
        self._session.until(lambda: condition() or bool(self.found()), period=period)
        self.check()

    def wait(self, seconds: float, period: float = 0.05) -> None:
        """Spin for `seconds`; raise as `until`."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= end, period=period)

    def search(self) -> None:
        """
        Spin until all that exists now is discovered; raise OtherRobotError for another robot.

        Without other participants on this computer this returns at once.
        """
        self.until(self._discovery.complete, period=LOOK_PERIOD)
