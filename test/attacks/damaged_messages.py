# SPDX-License-Identifier: Apache-2.0
"""Messages of any type, typed or as bytes: right, almost right, damaged and nonsense."""

import math
import struct
from collections import Counter

import diagnostic_msgs.msg
import numpy as np
from bad_messages import JOINTS, WHEELS, trajectory
from builtin_interfaces.msg import Time
from fuzz import FRAMES, random_message, random_number, random_stamp
from hypothesis import settings
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from trajectory_msgs.msg import MultiDOFJointTrajectory

# messages for each subscriber, by the profile of hypothesis; beside `explore` the file may take
# some ten seconds
MESSAGES = {'explore': 25_000}
USUAL = 400

TEXTS = [*FRAMES, 'a\0b', '\x1b[2J', '\ud7ff', 'nan', '1e999', '{}', ': [', "'; --", '*' * 2000]
# few, so that several messages of one cycle may have the same
EXTREMES = [Time(sec=2**31 - 1, nanosec=2**32 - 1), Time(sec=2**31 - 1, nanosec=999_999_999),
            Time(sec=-2**31), Time()]
# bits that are turned over at most
FLIPS = 8


def count(part=1.0):
    """Return how many messages each subscriber gets, or a part of them."""
    # Hypothesis of Ubuntu 24.04 has no function for it
    name = getattr(settings, 'get_current_profile_name', lambda: settings._current_profile)()
    return int(part * MESSAGES.get(name, USUAL))


def any_message(rng, kind, topic, now):
    """Return a message of `kind`, from almost right to nonsense."""
    if kind is String:
        return String(data=TEXTS[rng.integers(len(TEXTS))])
    if kind is Bool:
        # a lock that is mostly closed would keep everything else out
        return Bool(data=not rng.integers(40))
    if rng.integers(2):
        return almost_right(rng, kind, now)
    message = random_message(rng, topic, now, kind)
    if hasattr(message, 'header') and rng.integers(6) == 0:
        message.header.stamp = random_stamp(rng, now)
    fill_rest(rng, message)
    return message


def almost_right(rng, kind, now):
    """Return a message that a node uses, but for one number perhaps, or its stamp."""
    if kind is MultiDOFJointTrajectory:
        steps = np.cumsum(rng.normal(size=(int(rng.integers(1, 25)), 2)) * 0.01, axis=0)
        message = trajectory(now(), steps, velocity=rng.normal(size=2) * 0.3)
    else:
        message = kind()
        fill_small(rng, message)
    if kind is JointState:
        names = [WHEELS, JOINTS][rng.integers(2)]
        message.name, numbers = list(names), rng.normal(size=(3, len(names)))
        message.position, message.velocity, message.effort = numbers.tolist()
        if rng.integers(4) == 0:
            getattr(message, ['position', 'velocity', 'effort'][rng.integers(3)])[
                rng.integers(len(names))] = random_number(rng)
    if hasattr(message, 'header'):
        # mostly of the cycle under way
        kind = rng.integers(8)
        message.header.stamp = (now() if kind > 1 else random_stamp(rng, now) if kind else
                                EXTREMES[rng.integers(len(EXTREMES))])
        message.header.frame_id = ['odom', 'base_link'][rng.integers(8) // 7]
    return message


def fill_small(rng, place):
    """Fill numbers, at any depth, with such as a robot has; rotations with rotations about z."""
    for name, kind in place.get_fields_and_field_types().items():
        value = getattr(place, name)
        if kind == 'geometry_msgs/Quaternion':
            half = 0.5 * rng.normal()
            value.z, value.w = math.sin(half), math.cos(half)
        elif kind == 'double':
            setattr(place, name, float(rng.normal()) * 0.3 if rng.integers(30)
                    else random_number(rng))
        elif hasattr(value, 'get_fields_and_field_types'):
            fill_small(rng, value)


def fill_rest(rng, message):
    """Fill what test/fuzz.py leaves as it is: texts, and sequences of messages."""
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

    def __init__(self, seed, beat, every=10, part=1.0):
        self._rng, self._beat, self._every = np.random.default_rng(seed), beat, every
        self._count = count(part)

    def __call__(self, node, now):
        """Attack the subscriptions of `node` in turn; `now` gives stamps."""
        subscriptions = list(node.subscriptions)
        for k in range(self._count * len(subscriptions)):
            if k % self._every == 0:
                self._beat()
            subscription = subscriptions[k % len(subscriptions)]
            arrived = attack(self._rng, subscription, now)
            (self.sent if arrived else self.dropped)[
                node.get_name(), subscription.topic_name] += 1
        self._beat()
