# SPDX-License-Identifier: Apache-2.0
"""Channels of a robot whose joints are moved by hand, read while a person moves them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_hardware.settings import CardSettings
from c3p_hardware.transport.can_bus import BusAddress

# time between two samples, s: a joint that a person turns moves by far less than half a turn
PERIOD = 0.02

# time limit for the first joint states of a robot on topics, s
FIRST_WITHIN = 5.0


@dataclass
class AngleSource:
    """
    Angles of the channels.

    Attributes
    ----------
    read : callable
        Returns the newest angles (2n,) of steering joints, then wheels, rad; nan without one.
    wait : callable
        Lets a time pass, s, in which the angles are received.
    silent : dict
        Channels without an answer, with the reason.
    """

    read: Callable[[], Array]
    wait: Callable[[float], Any] = time.sleep
    silent: dict[str, str] = field(default_factory=dict)

    def until(self, begin: Callable[[], Callable[[], bool]]) -> Array:
        """
        Return the samples (T, 2n) of a motion, without jumps of a turn.

        `begin` is called after the first sample, and returns whether the motion is over.
        """
        samples = [self.read()]
        over = begin()
        while not over():
            self.wait(PERIOD)
            samples.append(self.read())
        angles = np.array([*samples, self.read()])
        known = np.isfinite(angles).all(axis=0)
        angles[:, known] = np.unwrap(angles[:, known], axis=0)
        return angles


class LineReader:
    """Lines of a stream, each read in a thread so that the caller does not block."""

    def __init__(self, stream: TextIO) -> None:
        """Read nothing yet."""
        self._stream = stream

    def next(self) -> Callable[[], bool]:
        """
        Begin to read a line; return whether it is there.

        The returned function raises ValueError at the end of the stream.
        """
        lines: list[str] = []
        thread = threading.Thread(target=lambda: lines.append(self._stream.readline()),
                                  name='terminal', daemon=True)
        thread.start()

        def there() -> bool:
            if lines and not lines[0]:
                raise ValueError('standard input has ended: press Enter after each motion, or '
                                 'write a line for each to standard input')
            return bool(lines)

        return there


@contextmanager
def card_angles(robot: CasterRobot, address: BusAddress, settings: CardSettings
                ) -> Iterator[AngleSource]:
    """Yield the channels of cards and encoders on a bus, read by SDO."""
    from c3p_hardware.tools.card_angles import CardAngles
    from c3p_hardware.transport.can_bus import conversation, open_bus

    # devices that do not answer are named by this command
    logging.getLogger('canopen').setLevel(logging.CRITICAL)
    with open_bus(address) as bus, conversation(bus) as network:
        angles = CardAngles(network, robot, settings)
        yield AngleSource(angles.read, silent=angles.silent)


@contextmanager
def topic_angles(robot: CasterRobot, topic: str) -> Iterator[AngleSource]:
    """
    Yield the channels of a robot that publishes ``sensor_msgs/JointState`` on `topic`.

    ValueError: no joint states of this robot arrive.
    """
    import rclpy
    from sensor_msgs.msg import JointState

    from c3p_ros.messages import JointCoding, MessageError
    from c3p_ros.node import LATEST
    from c3p_ros.session import Session
    from c3p_ros.wire import READERS

    coding = JointCoding(robot)
    read = READERS[JointState]()
    newest: list[Array] = []
    refused: list[str] = []

    def take(data: bytes) -> None:
        try:
            newest[:] = [np.concatenate(coding.positions(read(data)))]
        except MessageError as error:
            refused[:] = [f': {error}']

    with Session([]) as session:
        node = session.add(rclpy.create_node, node_name='commission')
        node.create_subscription(JointState, topic, take, LATEST, raw=True)
        end = time.monotonic() + FIRST_WITHIN
        session.until(lambda: bool(newest) or time.monotonic() > end)
        if not newest:
            raise ValueError(f'{topic}: no joint states of {robot.name} within {FIRST_WITHIN:g} s'
                             f'{"".join(refused)}; start its driver, or name another topic with '
                             '--joint-states')
        yield AngleSource(lambda: newest[0].copy(), session.wait)
