# SPDX-License-Identifier: Apache-2.0
"""Messages of any type, typed or as bytes: right, almost right, damaged and nonsense."""

import struct
from collections import Counter

import diagnostic_msgs.msg
import numpy as np
from fuzz import FRAMES, random_message, random_number, random_stamp
from hypothesis import settings
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Bool, String

# messages for each subscriber, by the profile of hypothesis; beside `explore` the file may take
# some ten seconds
MESSAGES = {'explore': 25_000}
USUAL = 600

TEXTS = [*FRAMES, 'a\0b', '\x1b[2J', '\ud7ff', 'nan', '1e999', '{}', ': [', "'; --", '*' * 2000]
# of a message half, at whatever half is damaged
FLIPS = 8


def count():
    """Return how many messages each subscriber gets."""
    return MESSAGES.get(settings.get_current_profile_name(), USUAL)


def any_message(rng, kind, topic, now):
    """Return a message of `kind`, from almost right to nonsense."""
    if kind is String:
        return String(data=TEXTS[rng.integers(len(TEXTS))])
    if kind is Bool:
        return Bool(data=bool(rng.integers(2)))
    message = random_message(rng, topic, now, kind)
    if hasattr(message, 'header') and rng.integers(6) == 0:
        message.header.stamp = random_stamp(rng, now)
    fill_rest(rng, message)
    return message


def fill_rest(rng, message):
    """Fill what fuzz.py leaves as it is: texts, and sequences of messages."""
    for name, kind in message.get_fields_and_field_types().items():
        if kind == 'string' and rng.integers(2):
            setattr(message, name, TEXTS[rng.integers(len(TEXTS))])
        elif kind.startswith('sequence<diagnostic_msgs/'):
            part = getattr(diagnostic_msgs.msg, kind.rsplit('/', 1)[-1].rstrip('>'))
            made = [part() for _ in range(int(rng.integers(0, 5)))]
            for one in made:
                fill_rest(rng, one)
                if hasattr(one, 'level'):
                    one.level = bytes([int(rng.integers(0, 256))])
            setattr(message, name, made)


def damaged(rng, data):
    """Return bytes that were once a message."""
    data, kind = bytearray(data), rng.integers(9)
    if kind == 0:
        del data[int(rng.integers(len(data))):]
    elif kind == 1:
        for _ in range(int(rng.integers(1, FLIPS))):
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    elif kind == 2:  # a count or a length, where one may be
        place = 4 * int(rng.integers(1, max(2, len(data) // 4)))
        data[place:place + 4] = struct.pack('<I', int(rng.choice(
            [0, 1, 2, 255, 1001, 2**16, 2**31, 2**32 - 1])))
    elif kind == 3:
        data[:4] = rng.bytes(4)
    elif kind == 4:
        data += rng.bytes(int(rng.integers(1, 64)))
    elif kind == 5:
        data = bytearray(rng.bytes(int(rng.integers(0, 400))))
    elif kind == 6:  # text that is not UTF-8, on the wire as good as any
        letters = [k for k in range(4, len(data)) if 97 <= data[k] <= 122]
        if letters:
            data[letters[rng.integers(len(letters))]] = 0xf6
    elif kind == 7:
        place = 8 * int(rng.integers(0, max(1, len(data) // 8))) + 4
        data[place:place + 8] = struct.pack('<d', random_number(rng))
    else:  # the other byte order
        data[1:2] = b'\0'
    return bytes(data)


def attack(rng, subscription, now):
    """Give one message to a subscription; return whether it got that far."""
    kind, topic = subscription.msg_type, subscription.topic_name.lstrip('/')
    message = any_message(rng, kind, topic, now)
    if rng.integers(2):
        if subscription.raw:
            subscription.callback(serialize_message(message))
        else:
            subscription.callback(message)
        return True
    data = damaged(rng, serialize_message(message))
    if not subscription.raw:
        try:
            data = deserialize_message(data, kind)
        except Exception:  # the middleware drops what it cannot read
            return False
    subscription.callback(data)
    return True


class Attack:
    """
    Gives messages to every subscriber of a node, with clean traffic between them.

    Attributes
    ----------
    sent, dropped : Counter
        Messages by node and topic that got to a callback, and that the middleware had dropped.
    """

    sent, dropped = Counter(), Counter()

    def __init__(self, seed, beat, every=10):
        self._rng, self._beat, self._every = np.random.default_rng(seed), beat, every

    def __call__(self, node, now):
        """Attack each subscription of `node`; `now` gives stamps."""
        for subscription in list(node.subscriptions):
            place = node.get_name(), subscription.topic_name
            for k in range(count()):
                if k % self._every == 0:
                    self._beat()
                arrived = attack(self._rng, subscription, now)
                (self.sent if arrived else self.dropped)[place] += 1
        self._beat()
