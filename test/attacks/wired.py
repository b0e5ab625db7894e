# SPDX-License-Identifier: Apache-2.0
"""Nodes of the suite in one thread and a time of their own: publishing is calling callbacks."""

import math
from collections import Counter, deque
from unittest.mock import patch

import rclpy
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from c3p_description import load
from c3p_ros.messages import ns_to_stamp
from c3p_ros.wire import READERS

LIMIT = load('c3p').torque_limit.max() * (1 + 1e-12)
# what a motor is given, and what moves a robot
EFFORTS = ('wheel_effort', 'commands')
COMMANDS = (*EFFORTS, 'wheel_velocity', 'steering_position', 'steering_velocity', 'cmd_vel',
            'reference_trajectory', 'reference_acceleration', 'dynamics_effort', 'odom',
            'joint_states')
# nothing of a robot that was just switched on is older, ns
START = 1_000_000_000
# the nodes' watchdogs look at this period, ns
WATCH = 20_000_000


class Wired:
    """
    Nodes in a ROS context of their own, without executor, threads or discovery.

    `time` is what every node takes for now, ns; the test moves it. What a node publishes waits in
    a queue until `settle` calls those who subscribe it, and every command is checked.
    """

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.nodes, self.time, self._looked = [], START, START
        self.published, self.last = Counter(), {}
        # how many listeners a publisher is told of beyond the nodes here
        self.listeners = 0
        self._queue = deque()
        self._readers = {kind: make() for kind, make in READERS.items()}

    def add(self, factory, **parameters):
        """Make a node with these parameters and wire it."""
        # the participant of a test before may still be discovered, and is no listener here
        with patch.object(Publisher, 'get_subscription_count', lambda _: 0):
            node = factory(context=self.context, parameter_overrides=[
                Parameter(name, value=value) for name, value in parameters.items()])
        node.watch_time = lambda: self.time * 1e-9
        node.now_ns = lambda: self.time
        self.nodes.append(node)
        self.wire(node)
        return node

    def wire(self, node):
        """Take what the publishers of `node` publish, also those that it has made since."""
        for publisher in node.publishers:
            topic = publisher.topic_name.lstrip('/')
            publisher.publish = lambda message, topic=topic, kind=publisher.msg_type: self._take(
                topic, kind, message)
            publisher.get_subscription_count = lambda topic=topic: (
                self.listeners + len(self.subscriptions(topic)))

    def subscriptions(self, topic):
        """Return the subscriptions of all nodes to `topic`."""
        return [s for node in self.nodes for s in node.subscriptions
                if s.topic_name.lstrip('/') == topic]

    def _take(self, topic, kind, message):
        self.published[topic] += 1
        if topic.rsplit('/', 1)[-1] in COMMANDS:
            check_command(topic, numbers_of(self._readers, kind, message))
        # commands as objects, whether rclpy or the suite has serialized them
        self.last[topic] = (deserialize_message(message, kind) if isinstance(message, bytes)
                            and kind not in self._readers else message)
        self._queue.append((topic, kind, message))

    def settle(self):
        """Deliver what was published, and what that causes, until nothing waits."""
        while self._queue:
            topic, kind, message = self._queue.popleft()
            for subscription in self.subscriptions(topic):
                deliver(subscription, kind, message)

    def watch(self):
        """Let the watchdogs look when it is time for it."""
        if self.time - self._looked >= WATCH:
            self._looked = self.time
            for node in self.nodes:
                if hasattr(node, '_on_watch'):
                    node._on_watch()

    def now(self, shift=0.0):
        """Return the time, or `shift` seconds later, as a message."""
        return ns_to_stamp(max(0, self.time + int(1e9 * shift)))

    def close(self):
        """End all nodes."""
        for node in self.nodes:
            node.destroy_node()
        self.context.try_shutdown()


def deliver(subscription, kind, message):
    """Call a subscription as rclpy would: with bytes where it is raw, else with an object."""
    if subscription.raw:
        data = message if isinstance(message, bytes) else serialize_message(message)
        subscription.callback(data)
    else:
        subscription.callback(deserialize_message(message, kind) if isinstance(message, bytes)
                              else message)


def numbers_of(readers, kind, message):
    """Return the numbers of a message that was published, as {field: sequence}."""
    if isinstance(message, bytes) and kind not in readers:
        message = deserialize_message(message, kind)
    if isinstance(message, bytes):
        read = readers[kind](message)
        if kind is JointState:
            return {'position': read.position, 'velocity': read.velocity, 'effort': read.effort}
        if hasattr(read, 'points'):
            return {f'{k}': (time, *place, *rate) for k, (time, place, rate) in enumerate(
                read.points)}
        return {field: getattr(read, field) for field in ('pose', 'twist', 'accel')
                if hasattr(read, field)}
    if hasattr(message, 'data'):
        return {'effort': message.data}
    twist = getattr(message, 'twist', message)
    return {'twist': [getattr(part, axis) for part in (twist.linear, twist.angular)
                      for axis in 'xyz']}


def check_command(topic, numbers):
    """Every number is finite, and a torque within the limits of the robot."""
    for field, values in numbers.items():
        assert all(map(math.isfinite, values)), f'{topic}.{field} = {list(values)}'
    if topic.rsplit('/', 1)[-1] in EFFORTS:
        assert all(abs(value) <= LIMIT for value in numbers['effort']), f'{topic}: {numbers}'
