# SPDX-License-Identifier: Apache-2.0
"""Nodes and publishers without ROS on an exchange, and the middleware between them by hand."""

from functools import partial
from types import SimpleNamespace

from c3p_ros.cdr import MessageError
from c3p_ros.exchange import Exchange, Listener

QOS = SimpleNamespace(reliability=1, durability=1, depth=1)


class Talker:
    """Publisher without ROS, which sends what it is called with from a node of a hall."""

    def __init__(self, hall, topic):
        self.hall, self.topic_name = hall, topic

    def __call__(self, text):
        self.hall.exchange.send(self, text, partial(self.hall.sent.append, text))

    def get_subscription_count(self):
        """Count those of the hall and of other processes."""
        channel = self.hall.channels.get(self.topic_name)
        return self.hall.others + (len(channel.listeners) if channel else 0)


class Hall:
    """
    Nodes without ROS on an exchange, and as many subscribers elsewhere to each topic as `others`.

    `heard` are (node, topic, message) in order, `sent` is what the middleware gets.
    """

    def __init__(self, others=1):
        self.exchange, self.heard, self.channels, self.read = Exchange(), [], {}, 0
        self.others, self.sent = others, []

    def node(self):
        """Return a node that refuses into `refused`."""
        node = SimpleNamespace(_subscriptions=[], refused=[], _wake_executor=lambda: None,
                               publishers=[])
        node.diagnostics = SimpleNamespace(refuse=lambda *what: node.refused.append(what))
        return node

    def listen(self, node, topic, then=lambda message: None, rank=1):
        """Let a node listen; `then` runs at each of its messages."""
        def callback(message):
            self.heard.append((id(node), topic, message))
            then(message)
        subscription = SimpleNamespace(topic_name=topic, msg_type=int, qos_profile=QOS)
        node._subscriptions.append(subscription)
        self.channels[topic] = self.exchange.join(
            Listener(node, topic, self.decode, callback, rank), subscription)

    def decode(self, data):
        """Count, and reject what is empty."""
        self.read += 1
        if not data:
            raise MessageError('empty')
        return data.decode()

    def publisher(self, topic):
        """Return a publisher of a topic."""
        return Talker(self, topic)

    def arrive(self, topic, data):
        """Let a message come from the middleware."""
        self.exchange.arrived(self.channels[topic], data)

    def topics(self):
        """Return the topics heard, in order."""
        return [topic for _, topic, _ in self.heard]
