# SPDX-License-Identifier: Apache-2.0
"""
Watch of topics that must have a single publisher: a second one is reported, and the node brakes.

A second publisher of ``wheel_effort`` moves the robot past every controller, one of
``joint_states`` moves its odometry. Both topics are therefore counted in the ROS graph, ten times
a second and outside the control cycle: a count costs 3 µs, the names of the publishers 35 µs, so
that names are read only where there are two.

The graph lists the publishers of a killed process for 20 s more (the lease of Fast DDS).
Publishers with one node name are therefore taken for a node that was started again as long as the
sequence numbers of the messages show that a single one publishes. Fast DDS and Zenoh have these
numbers; with Cyclone DDS a node that was started again counts as a second one until its old entry
expires.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from c3p_ros.diagnostics import ERROR, OK, WARN
from c3p_ros.endpoints import node_of
from c3p_ros.node import SuiteNode
from c3p_ros.rclpy_parts import sequence_numbers, set_aside, take_back

# between two counts, s of real time
PERIOD = 0.1

# messages between two counts, at most, that identify the publisher
PROBED = QoSProfile(depth=256, reliability=ReliabilityPolicy.BEST_EFFORT)

# for how long, s, and with how many messages a single publisher must have published
ALONE_FOR = 1.0
ALONE_MESSAGES = 10


def publishers_of(node: SuiteNode, topic: str) -> list[str]:
    """Return the full node name of each publisher of a resolved topic, sorted; repeated names."""
    return sorted(map(node_of, node.get_publishers_info_by_topic(topic)))


def surplus(topic: str, names: list[str]) -> str:
    """
    Return the error text of a topic with these publishers, empty for one or none.

    >>> surplus('wheel_effort', ['/velocity_controller', '/rogue'])
    'wheel_effort has 2 publishers (/velocity_controller, /rogue); stop or remap all but one'
    >>> surplus('joint_states', ['/simulation', '/simulation'])[:55]
    'joint_states has 2 publishers (/simulation, 2 of them);'
    """
    if len(names) < 2:
        return ''
    counted = Counter(names)
    named = ', '.join(name if count == 1 else f'{name}, {count} of them'
                     for name, count in counted.items())
    remedy = ('stop or remap all but one' if len(counted) == len(names) else
              'stop all but one; the entry of a killed process expires automatically')
    return f'{topic} has {len(names)} publishers ({named}); {remedy}'


class SequenceProbe:
    """
    Reader of the sequence numbers of a topic's messages; each publisher counts its own.

    Parameters
    ----------
    node : SuiteNode
    topic : str
        Resolved; of type JointState.
    """

    def __init__(self, node: SuiteNode, topic: str) -> None:
        """Subscribe."""
        self._node = node
        self._subscription = node.create_subscription(
            JointState, topic, lambda message: None, PROBED, raw=True)
        # read by `numbers`: the executor gives no sequence numbers
        set_aside(node, self._subscription)
        # it receives what the node's own subscription may not
        node.inputs.discard(self._subscription)

    def numbers(self) -> list[int]:
        """Return the sequence numbers of the messages since the last call."""
        # 0 where the middleware has none: then no publisher is ever alone
        return sequence_numbers(self._subscription)

    def close(self) -> None:
        """Unsubscribe."""
        # only what a node has in its list is destroyed with its event handlers
        take_back(self._node, self._subscription)
        self._node.destroy_subscription(self._subscription)


class Alone:
    """
    Test of sequence numbers for a single publisher: those of one only grow.

    >>> alone = Alone(0.0)
    >>> [alone.step([k], 0.1 * k) for k in range(1, 13)][-2:]
    [True, True]
    >>> alone.step([13, 4, 14], 1.3)
    False

    Parameters
    ----------
    now : float, s
    """

    def __init__(self, now: float) -> None:
        """Start before the first message."""
        self._since = now
        self._last = 0
        self._count = 0

    def step(self, numbers: list[int], now: float) -> bool:
        """Take the numbers of new messages; return whether a single publisher has sent lately."""
        for number in numbers:
            if number <= self._last:
                self._since = now
                self._count = 0
            self._last, self._count = number, self._count + 1
        return now - self._since >= ALONE_FOR and self._count >= ALONE_MESSAGES


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
    probe : callable
        Makes a `SequenceProbe`.
    """

    def __init__(self, node: SuiteNode, *topics: str, act: Callable[[str], None],
                 probe: Callable[[SuiteNode, str], SequenceProbe] = SequenceProbe) -> None:
        """Create the timer."""
        self._node = node
        self._act = act
        self._probe = probe
        self._probes: dict[str, tuple[SequenceProbe, Alone]] = {}
        self._topics = {topic: node.resolve_topic_name(topic) for topic in topics}
        if node.parameters.value.sole_publisher:
            node.create_timer(PERIOD, self._on_timer,
                              clock=Clock(clock_type=ClockType.STEADY_TIME))
            node.at_end(self._close)

    def _on_timer(self) -> None:
        # from Kilted on a callback with a parameter, also an optional one, receives a TimerInfo
        self.look()

    def _close(self) -> None:
        for probe, _ in self._probes.values():
            probe.close()
        self._probes.clear()

    def look(self, now: float | None = None) -> str:
        """Count once, at `now` on a steady clock, s; return the reason."""
        now = time.monotonic() if now is None else now
        wrong: list[str] = []
        restarted: list[str] = []
        for topic, resolved in self._topics.items():
            names = (publishers_of(self._node, resolved)
                     if self._node.count_publishers(resolved) > 1 else [])
            if found := surplus(topic, names):
                (restarted if self._alone(topic, names, now) else wrong).append(found)
            elif topic in self._probes:
                self._probes.pop(topic)[0].close()
        reason = '; '.join(wrong)
        # before the report: the robot brakes first
        self._act(reason)
        level = ERROR if wrong else WARN if restarted else OK
        self._node.diagnostics.condition('publishers', level, '; '.join([*wrong, *(
            f'{text}; one of them publishes' for text in restarted)]))
        return reason

    def _alone(self, topic: str, names: list[str], now: float) -> bool:
        """Return whether the publishers are one node, started again, of which one publishes."""
        if len(set(names)) > 1:
            return False
        if topic not in self._probes:
            self._probes[topic] = self._probe(self._node, self._topics[topic]), Alone(now)
        probe, alone = self._probes[topic]
        return alone.step(probe.numbers(), now)
