# SPDX-License-Identifier: Apache-2.0
"""
Comparison of the publishers of each input of a node with its subscriptions.

The middleware connects a publisher with a subscription if both have the same message type and the
publisher offers at least the quality of service (QoS) that the subscription requests. Otherwise
both work without an error, and no message arrives: an e-stop of a microcontroller, which publishes
best effort, or a Twist for a TwistStamped. A `WatchedNode` compares type and QoS of the publishers
of every topic to which it subscribes, and reports those that none of its subscriptions receives.

Two counts of a topic take 5 µs, type and QoS of its publishers 0.1 ms: these are read only where
the graph has more publishers than are matched. A publisher is reported once two comparisons have
found it, since its node may not have been discovered at the first, and since recorder and viewers
adapt their subscriptions in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rclpy.clock import Clock, ClockType
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSCompatibility, QoSProfile, qos_check_compatible

from c3p_ros.diagnostics import OK, WARN, Diagnostics
from c3p_ros.endpoints import UNNAMED, TopicEndpoint, node_of
from c3p_ros.orderly_node import OrderlyNode
from c3p_ros.rclpy_parts import InvalidHandle

if TYPE_CHECKING:
    from rclpy.subscription import Subscription

# between two comparisons, s of real time
INPUT_PERIOD = 0.5

# publishers that are reported, at most
MOST = 32

# comparisons that find a publisher before it is reported: with the name of its node, and without,
# which follows its discovery, but for a program that is not of ROS
CONFIRMED = 2
UNNAMED_CONFIRMED = 20

# types of which a parameter of the subscribing node selects one, and names of that parameter
STAMPED = 'geometry_msgs/msg/TwistStamped'
PLAIN = 'geometry_msgs/msg/Twist'
SELECTORS = ('use_stamped_vel', 'use_stamped')


def type_name(kind: Any) -> str:
    """
    Return the ROS name of a message class.

    >>> from std_msgs.msg import Bool
    >>> type_name(Bool)
    'std_msgs/msg/Bool'
    """
    return '/'.join([*kind.__module__.split('.')[:2], kind.__name__])


def qos_difference(offered: QoSProfile, requested: QoSProfile) -> str:
    """
    Return why a subscription does not match the QoS of a publisher; '' if it does, or may.

    >>> from rclpy.qos import ReliabilityPolicy
    >>> best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    >>> qos_difference(best_effort, QoSProfile(depth=1))
    'best effort publisher and reliable subscription'
    >>> qos_difference(QoSProfile(depth=1), best_effort)
    ''
    """
    compatibility, reason = qos_check_compatible(offered, requested)
    # a warning stands for a policy that is unknown to the middleware
    if compatibility != QoSCompatibility.ERROR:
        return ''
    reasons = [part.removeprefix('ERROR:').strip() for part in reason.split(';')
               if part.startswith('ERROR:')]
    return ', '.join(part[:1].lower() + part[1:] for part in reasons) or 'incompatible QoS'


def difference(publisher: TopicEndpoint, subscription: Subscription) -> str:
    """Return why a publisher is not received by a subscription; '' if it is, or may be."""
    expected = type_name(subscription.msg_type)
    # empty where the middleware does not report it
    if publisher.topic_type not in ('', expected):
        return f'publishes {publisher.topic_type}, {expected} is expected'
    return qos_difference(publisher.qos_profile, subscription.qos_profile)


def remedy(node: Node, publisher: TopicEndpoint, subscription: Subscription) -> str:
    """Return what connects a publisher with a subscription of `node`."""
    expected = type_name(subscription.msg_type)
    if publisher.topic_type == expected:
        profile = subscription.qos_profile
        names = (policy.name.lower().replace('_', ' ')
                 for policy in (profile.reliability, profile.durability))
        return f'publish with QoS {", ".join(names)}'
    selectors = [name for name in SELECTORS if node.has_parameter(name)]
    if selectors and {publisher.topic_type, expected} == {STAMPED, PLAIN}:
        stamped = f'{publisher.topic_type == STAMPED}'.lower()
        return f'{selectors[0]}:={stamped} of {node.get_name()}, or publish {expected}'
    return f'publish {expected}, or remap one of the two'


class InputWatch:
    """
    Comparison of the subscriptions of a node with the publishers of their topics.

    Parameters
    ----------
    node : WatchedNode

    Attributes
    ----------
    unheard : dict
        Resolved topic → {full name of a node: why its publishers are not received}; topics without
        such publishers are not listed.
    """

    def __init__(self, node: WatchedNode) -> None:
        """Start without subscriptions."""
        self._node = node
        self._subscriptions: dict[str, list[Subscription]] = {}
        self.unheard: dict[str, dict[str, str]] = {}
        # by (topic, node): the reasons that are reported, and the number of comparisons
        self._reported: dict[tuple[str, str], str] = {}
        self._found: dict[tuple[str, str], int] = {}

    @property
    def topics(self) -> tuple[str, ...]:
        """Resolved topics that are watched."""
        return tuple(self._subscriptions)

    def add(self, subscription: Subscription) -> None:
        """Watch the topic of a subscription."""
        self._subscriptions.setdefault(subscription.topic_name, []).append(subscription)

    def discard(self, subscription: Subscription) -> None:
        """Leave a subscription out: it was destroyed, or serves another purpose."""
        for topic, subscriptions in tuple(self._subscriptions.items()):
            if subscription in subscriptions:
                subscriptions.remove(subscription)
            if not subscriptions:
                del self._subscriptions[topic]

    def look(self) -> None:
        """Compare all topics, and report what has changed."""
        # another thread may subscribe meanwhile
        found = {topic: self._unheard(topic) for topic in tuple(self._subscriptions)}
        self.unheard = {topic: nodes for topic, nodes in found.items() if nodes}
        if self.unheard or self._found:
            self._report()

    def _unheard(self, topic: str) -> dict[str, str]:
        """Return {node: reason} of the publishers that no subscription of a topic receives."""
        matched: dict[Subscription, int] = {}
        for subscription in tuple(self._subscriptions.get(topic, ())):
            try:
                matched[subscription] = subscription.get_publisher_count()
            except InvalidHandle:
                self.discard(subscription)
        if not matched or max(matched.values()) >= self._node.count_publishers(topic):
            return {}
        first = next(iter(matched))
        return {node_of(end): f'{difference(end, first)}; {remedy(self._node, end, first)}'
                for end in self._node.get_publishers_info_by_topic(topic)
                if all(difference(end, subscription) for subscription in matched)}

    def _report(self) -> None:
        """Report new publishers that are not received, and those that have ended or are now."""
        reasons = {(topic, node): reason for topic, nodes in self.unheard.items()
                   for node, reason in nodes.items()}
        self._found = {key: self._found.get(key, 0) + 1 for key in reasons}
        confirmed = sorted((key for key, count in self._found.items() if count >= (
            UNNAMED_CONFIRMED if key[1] == UNNAMED else CONFIRMED)),
            key=lambda key: (-self._node.input_level(key[0])[0], key))[:MOST]
        before = self._reported
        self._reported = {key: reasons[key] for key in confirmed}
        for topic, node in sorted(before.keys() - self._reported.keys()):
            self._node.report_input(topic, node, '')
        for (topic, node), reason in self._reported.items():
            if before.get((topic, node)) != reason:
                self._node.report_input(topic, node, f'not received: {reason}')


class WatchedNode(OrderlyNode):
    """
    A node that reports publishers from which its subscriptions receive nothing.

    Each subscription is watched, whichever part of the node creates it. Reports are a condition of
    ``diagnostics`` in nodes that have them, and log lines in others.

    Parameters
    ----------
    name : str
    **options
        Passed to `OrderlyNode`.

    Attributes
    ----------
    inputs : InputWatch
    """

    # between two comparisons, s of real time
    input_period = INPUT_PERIOD
    # set by nodes that have them
    diagnostics: Diagnostics

    def __init__(self, name: str, **options: Any) -> None:
        """Create the node and the timer of the comparisons."""
        # before: rclpy subscribes to /clock
        self.inputs = InputWatch(self)
        super().__init__(name, **options)
        self.create_timer(self.input_period, self.compare_inputs,
                          clock=Clock(clock_type=ClockType.STEADY_TIME))

    def create_subscription(self, *arguments: Any, **options: Any) -> Any:
        """Subscribe as rclpy's Node does, and watch the publishers of the topic."""
        # without the log lines of rclpy, which name neither the publisher nor a remedy
        options.setdefault('event_callbacks', SubscriptionEventCallbacks(
            use_default_callbacks=False))
        subscription = super().create_subscription(*arguments, **options)
        self.inputs.add(subscription)
        return subscription

    def destroy_subscription(self, subscription: Subscription) -> bool:
        """Unsubscribe."""
        self.inputs.discard(subscription)
        return super().destroy_subscription(subscription)

    def compare_inputs(self) -> None:
        """Compare the publishers of all inputs with the subscriptions."""
        self.inputs.look()

    def input_level(self, topic: str) -> bytes:
        """Return the level of a report for a resolved topic: a warning, unless overridden."""
        return WARN

    def report_input(self, topic: str, node: str, text: str) -> None:
        """Report why `node` is not received on `topic`; an empty text: it has ended, or is now."""
        name = f'{topic} from {node}'
        level = self.input_level(topic) if text else OK
        if hasattr(self, 'diagnostics'):
            self.diagnostics.condition(name, level, text or 'received now, or ended')
        elif text:
            self.get_logger().warning(f'{name}: {text}')
