# SPDX-License-Identifier: Apache-2.0
"""A node that hands any value to the nodes of its process, as if its writer had made it."""

import threading

from rclpy.serialization import serialize_message

from c3p_ros.cdr import MessageError
from c3p_ros.node import RELIABLE, SuiteNode
from c3p_ros.wire import READERS


class AnyWriter:
    """Writer without checks."""

    def __init__(self, refusal=''):
        self.refusal = refusal

    def message(self, value):
        """Return the value."""
        return value

    def serialize(self, value):
        """Fail: nobody outside the process needs the message."""
        raise AssertionError(f'serialized: {value}')


class Neighbour(SuiteNode):
    """Node beside those of a robot, on a shared bench."""

    def __init__(self, **options):
        super().__init__('neighbour', **options)
        self._publishers_by_topic = {}

    def hand(self, kind, topic, value, refusal=''):
        """Hand a value to the nodes that listen to a topic, from a thread of its own."""
        if topic not in self._publishers_by_topic:
            self._publishers_by_topic[topic] = self.create_publisher(kind, topic, RELIABLE)
        publisher = self._publishers_by_topic[topic]
        thread = threading.Thread(target=self.send, args=(publisher, AnyWriter(refusal), value))
        thread.start()
        thread.join()


def value_of(message):
    """Return a message of rclpy as a value; None where no writer makes such a message."""
    try:
        return READERS[type(message)]()(serialize_message(message))
    except MessageError:
        return None
