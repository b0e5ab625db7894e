# SPDX-License-Identifier: Apache-2.0
"""Nodes and publishers without ROS on an exchange, and the middleware between them by hand."""

from types import SimpleNamespace

from c3p_ros.cdr import MessageError
from c3p_ros.channels import Listener
from c3p_ros.exchange import Exchange

QOS = SimpleNamespace(reliability=1, durability=1, depth=1)


class Subscription(SimpleNamespace):
    """Subscription without ROS; each is another one."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __init__(self, topic):
        super().__init__(topic_name=topic, msg_type=int, qos_profile=QOS)


class TextWriter:
    """Writer of texts; `serialized` are those that were written for others, in order."""

    def __init__(self, refusal=''):
        self.refusal, self.serialized = refusal, []

    def serialize(self, text):
        """Return the bytes of a text."""
        self.serialized.append(text)
        return text.encode()


class Talker:
    """Publisher without ROS, which sends what it is called with from a node of a hall."""

    def __init__(self, hall, topic, node, writer):
        self.hall = hall
        self.topic_name = topic
        self.node = node
        self.writer = writer

    def __call__(self, text):
        self.hall.exchange.send(self.node, self, self.writer, text)

    def get_subscription_count(self):
        """Count those of the hall and of other processes."""
        return self.hall.others + len(self.hall.subscriptions.get(self.topic_name, ()))


class Hall:
    """
    Nodes without ROS on an exchange, and as many subscribers elsewhere to each topic as `others`.

    `heard` are (node, topic, message) in order, `sent` is what the middleware gets.
    """

    def __init__(self, others=1):
        self.exchange, self.heard, self.subscriptions, self.read = Exchange(), [], {}, 0
        self.others, self.sent = others, []

    def node(self):
        """Return a node that refuses into `refused`."""
        node = SimpleNamespace(_subscriptions=[], refused=[], executor=None,
                               publish=lambda _, data: self.sent.append(data))
        node.diagnostics = SimpleNamespace(refuse=lambda *what: node.refused.append(what))
        return node

    def listen(self, node, topic, then=lambda message: None, rank=1):
        """Let a node listen; `then` runs at each of its messages."""
        def callback(message):
            self.heard.append((id(node), topic, message))
            then(message)
        subscription = Subscription(topic)
        node._subscriptions.append(subscription)
        self.subscriptions.setdefault(topic, []).append(subscription)
        self.exchange.join(Listener(node, topic, self.decode, callback, rank), subscription)

    def decode(self, data):
        """Count, and reject what is empty."""
        self.read += 1
        if not data:
            raise MessageError('empty')
        return data.decode()

    def publisher(self, topic, node=None, writer=None):
        """Return a publisher of a topic."""
        return Talker(self, topic, node or self.node(), writer or TextWriter())

    def arrive(self, topic, data):
        """Let a message come from the middleware, for the first subscription that is read."""
        self.exchange.arrived(next(subscription for subscription in self.subscriptions[topic]
                                   if subscription in self.exchange._heard), data)

    def topics(self):
        """Return the topics heard, in order."""
        return [topic for _, topic, _ in self.heard]
