# SPDX-License-Identifier: Apache-2.0
"""
Topics that must have one publisher: a second one is named, and the node brakes.

A second publisher of ``wheel_effort`` moves the robot past every controller, one of
``joint_states`` moves its odometry. Both topics are therefore counted in the ROS graph, ten times
a second and outside the control cycle: a count costs 3 µs, the names of the publishers 35 µs, and
names are asked for only where there are two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from rclpy.clock import Clock, ClockType

from c3p_ros.diagnostics import ERROR, OK
from c3p_ros.node import SuiteNode

# between two counts, s of real time
PERIOD = 0.1

# how rmw names the node of an endpoint whose participant it has not heard yet
UNKNOWN = '_NODE_NAME_UNKNOWN_'


def publishers_of(node: SuiteNode, topic: str) -> list[str]:
    """Return the full node name of each publisher of a resolved topic, sorted; repeated names."""
    ends = node.get_publishers_info_by_topic(topic)
    return sorted('an unknown node' if end.node_name == UNKNOWN else
                  f'{end.node_namespace.rstrip("/")}/{end.node_name}' for end in ends)


def surplus(topic: str, names: list[str]) -> str:
    """
    Return what is wrong with a topic that has these publishers, empty for one or none.

    >>> surplus('wheel_effort', ['/velocity_controller', '/rogue'])
    'wheel_effort has 2 publishers (/velocity_controller, /rogue); stop or remap all but one'
    >>> surplus('joint_states', ['/simulation', '/simulation'])[:55]
    'joint_states has 2 publishers (/simulation, 2 of them);'
    """
    if len(names) < 2:
        return ''
    counted = Counter(names)
    told = ', '.join(name if count == 1 else f'{name}, {count} of them'
                     for name, count in counted.items())
    remedy = ('stop or remap all but one' if len(counted) == len(names) else
              'stop all but one; the entry of a process that was killed goes by itself')
    return f'{topic} has {len(names)} publishers ({told}); {remedy}'


class PublisherWatch:
    """
    Counts the publishers of topics, reports a surplus and calls `act` with it.

    Parameters
    ----------
    node : SuiteNode
        With the parameter ``sole_publisher``; false counts nothing.
    *topics : str
        Of the node itself, too, where it publishes one of them.
    act : callable
        Gets the reason after each count; empty while each topic has one publisher at most.
    """

    def __init__(self, node: SuiteNode, *topics: str, act: Callable[[str], None]) -> None:
        """Create the timer."""
        self._node, self._act = node, act
        self._topics = {topic: node.resolve_topic_name(topic) for topic in topics}
        if node.parameters.value.sole_publisher:
            node.create_timer(PERIOD, self.look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def look(self) -> str:
        """Count once; return the reason."""
        found = [surplus(topic, publishers_of(self._node, name))
                 for topic, name in self._topics.items() if self._node.count_publishers(name) > 1]
        reason = '; '.join(filter(None, found))
        # before the report: the robot brakes first
        self._act(reason)
        self._node.diagnostics.condition('publishers', ERROR if reason else OK, reason)
        return reason
