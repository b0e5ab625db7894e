# SPDX-License-Identifier: Apache-2.0
"""Small motions of a robot that is wired in an unknown way: on its cards, or through topics."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_experiments.commissioning.small_drive import SmallDrive
from c3p_hardware.axes import card_settings
from c3p_hardware.joint_sensing import SensedJoints
from c3p_hardware.supervisor import ArmState
from c3p_hardware.transport.can_bus import BusAddress
from c3p_kinematics.commissioning.assignment import WiringRecord
from c3p_kinematics.commissioning.motions import WiringMotions

if TYPE_CHECKING:  # needs ROS
    from c3p_ros.session import Session

# time limit until joints arrive and the motors are enabled, s
READY_WITHIN = 5.0

# time for which zeros follow the motions, s
ZEROS = 0.3

# silence of the joint states after which the motions end, s
LATE = 0.25

# how often the state is looked at, s
LOOK = 0.02


class MotionError(ValueError):
    """The motions ended before they were over; the motors are off. The text names the reason."""


class MotionLoop:
    """
    Torques for the newest angles: zeros unless motions are under way and the key is held.

    Parameters
    ----------
    robot : CasterRobot
    motions : WiringMotions or SmallDrive
    held : callable
        Whether the operator holds the key.
    limit : float, s
        After which the motions end.

    Attributes
    ----------
    going : bool
        Set by the caller once the motors are enabled; false ends all torques.
    ended : str
        Reason of an end; empty while all is well.
    done : bool
        The motions are over.
    label : str
        The present motion in words.
    """

    def __init__(self, robot: CasterRobot, motions: WiringMotions | SmallDrive,
                 held: Callable[[], bool], limit: float) -> None:
        """Begin with zeros."""
        self._motions = motions
        self._held = held
        self._limit = limit
        self._begin: float | None = None
        self._places = np.flatnonzero(robot.actuated)
        self._efforts = robot.efforts
        self.going = False
        self.ended = ''
        self.done = False
        self.label = ''

    def torque(self, seconds: float, steering: Array, wheel_angle: Array) -> Array:
        """Return the efforts for the angles (n,) of a time, s."""
        efforts = np.zeros(self._efforts)
        if not self.going or self.ended or self.done:
            return efforts
        if self._begin is None:
            self._begin = seconds
        if seconds - self._begin > self._limit:
            self.ended = 'the time limit (--time) is over'
            return efforts
        step = self._motions.step(seconds, np.concatenate([steering, wheel_angle]), self._held())
        self.label = step.label
        self.done = step.done
        self.ended = step.stopped
        efforts[self._places] = step.torque
        return efforts


def move_by_cards(robot: CasterRobot, address: BusAddress, values: Any, loop: MotionLoop,
                  show: Callable[[str], None]) -> None:
    """
    Carry out the motions on motor cards.

    Without torque the wheels roll freely: a brake by a wrong sensor would accelerate them.

    Parameters
    ----------
    robot : CasterRobot
    address : BusAddress
    values : object
        Parameters of the hardware interface.
    loop : MotionLoop
    show : callable
        Takes the present motion in words.

    Raises
    ------
    MotionError, CardError, BusError, ConfigurationError
        The motors are off.
    """
    from c3p_hardware.transport.card_link import CardLink

    settings = replace(card_settings(robot, values), known_wiring=False, quick_stop=False,
                       stop_damping=0.0)

    def take(joints: SensedJoints, stamp: int) -> None:
        link.command(loop.torque(1e-9 * stamp, joints.steering, joints.wheel_angle), stamp)
        there.set()

    there = threading.Event()
    link = CardLink(address, robot, settings, take, time.time_ns)
    try:
        link.connect()
        link.allow(True)
        if not there.wait(READY_WITHIN):
            raise MotionError(f'no joints of all devices within {READY_WITHIN:g} s: '
                              f'{"; ".join(link.faults) or link.held or "check the bus"}')
        link.arm()
        loop.going = True
        while not loop.done and not loop.ended:
            time.sleep(LOOK)
            show(loop.label)
            if link.state != ArmState.ARMED:
                raise MotionError('; '.join(link.faults) or f'the motors are {link.state.value}')
            if link.failure is not None:
                raise link.failure
        time.sleep(ZEROS)
    finally:
        loop.going = False
        with suppress(ValueError):
            link.disarm()
        link.close()
    if loop.ended:
        raise MotionError(loop.ended)


def move_by_topics(robot: CasterRobot, topics: tuple[str, str], loop: MotionLoop,
                   show: Callable[[str], None], session: Session | None = None) -> None:
    """
    Carry out the motions of a robot on topics.

    Parameters
    ----------
    robot : CasterRobot
    topics : (str, str)
        Of the joint states, and of the efforts of the motors (``sensor_msgs/JointState``).
    loop : MotionLoop
    show : callable
        Takes the present motion in words.
    session : Session, optional
        Default: one of its own.

    Raises
    ------
    MotionError
        No joint states, another publisher of efforts, or an end before the motions were over;
        zeros were published.
    """
    with _on_topics(robot, topics, loop, session) as (session, newest, others):
        end = time.monotonic() + READY_WITHIN
        session.until(lambda: newest() < LATE or time.monotonic() > end)
        if newest() >= LATE:
            raise MotionError(f'{topics[0]}: no joint states of {robot.name} within '
                              f'{READY_WITHIN:g} s; start its driver')
        if others() > 0:
            raise MotionError(f'{topics[1]}: {others()} other publishers: end the controllers of '
                              'this robot first')
        loop.going = True

        def over() -> bool:
            show(loop.label)
            if newest() > LATE:
                loop.ended = f'{topics[0]}: no joint states for {LATE:g} s'
            return loop.done or bool(loop.ended)

        session.until(over, period=LOOK)
    if loop.ended:
        raise MotionError(loop.ended)


@contextmanager
def _on_topics(robot: CasterRobot, topics: tuple[str, str], loop: MotionLoop,
               given: Session | None) -> Iterator[tuple[Any, Callable[[], float],
                                                        Callable[[], int]]]:
    """Yield a session that answers joints by efforts, the age of joints, and other publishers."""
    import rclpy
    from sensor_msgs.msg import JointState

    from c3p_ros.messages import EffortCoding, JointCoding, MessageError
    from c3p_ros.node import LATEST
    from c3p_ros.session import Session
    from c3p_ros.wire import READERS

    joints = JointCoding(robot)
    efforts = EffortCoding(robot)
    read = READERS[JointState]()
    received = [-np.inf]

    with nullcontext(given) if given is not None else Session([]) as session:
        node = session.add(rclpy.create_node, node_name='commission')
        publisher = node.create_publisher(JointState, topics[1], LATEST)

        def send(torque: Array, stamp: int) -> None:
            message = JointState(name=efforts.names, effort=efforts.encode(torque).tolist())
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10 ** 9)
            publisher.publish(message)

        def take(data: bytes) -> None:
            with suppress(MessageError):
                message = read(data)
                angles = joints.positions(message)
                received[0] = time.monotonic()
                send(loop.torque(1e-9 * message.stamp, *angles), message.stamp)

        node.create_subscription(JointState, topics[0], take, LATEST, raw=True)
        try:
            yield (session, lambda: time.monotonic() - received[0],
                   lambda: node.count_publishers(topics[1]) - 1)
        finally:
            loop.going = False
            with suppress(KeyboardInterrupt):
                session.wait(ZEROS)
            # the last word is a zero, also without joint states
            send(np.zeros(robot.efforts), time.time_ns())


def record_of(motions: WiringMotions) -> WiringRecord:
    """
    Return the record of motions.

    MotionError: nothing was recorded.
    """
    record = motions.record()
    if not len(record.time):
        raise MotionError('nothing was recorded: the motions did not begin')
    return record
