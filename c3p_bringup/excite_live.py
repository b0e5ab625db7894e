# SPDX-License-Identifier: Apache-2.0
"""An excitation commanded to the robot on this network, and recorded."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from c3p_bags.recorder.recorder_node import RecorderNode
from c3p_bringup.spinner import Spinner
from c3p_dynamics.excitation import Excitation
from c3p_ros.errors import PublishError
from c3p_ros.executor import make_executor
from c3p_ros.frames import planar_pose
from c3p_ros.messages import MessageError, fill_twist
from c3p_ros.node import LATEST, RELIABLE
from c3p_ros.wire import READERS, OdometryRead

# commands per second; odometry comes faster, and more commands tell no more
COMMAND_RATE = 50.0

# zero commands before the motion, which the velocity controller wants, and after it, s
ZEROS_BEFORE, ZEROS_AFTER = 1.0, 1.0

# how long odometry may be silent, and how long nothing may move, s
SILENCE, STUCK = 0.5, 5.0

# a robot that has not moved by this much does not obey, m and rad
MOVED = 5e-3

# a robot so much further away than the reference ever is does not follow it, m
ASTRAY = 0.5


class ExcitationError(ValueError):
    """A live excitation that could not be carried out; the robot has been told to stop."""


class ExcitationClient(Node):
    """
    Commands an excitation around the pose of the first odometry; then keeps commanding zero.

    Parameters
    ----------
    excitation : Excitation
    **options
        Passed to rclpy's Node.

    Attributes
    ----------
    elapsed : float, s
        Time of the motion by the stamps of the odometry; negative before it begins.
    fault : str
        Why it was given up; empty while all is well.
    """

    def __init__(self, excitation: Excitation, **options: Any) -> None:
        """Create publisher and subscription; the first odometry begins it."""
        super().__init__('excitation', **options)
        self.excitation = excitation
        self.elapsed, self.fault = -ZEROS_BEFORE, ''
        self._begin: int | None = None
        self._start, self._due, self._moved = np.zeros(3), 0, False
        # of the odometry before, ns
        self._stamp = 0
        self.heard = time.monotonic()
        self._read = READERS[Odometry]()
        self._command = self.create_publisher(TwistStamped, 'cmd_vel', LATEST)
        self.create_subscription(Odometry, 'odom', self._on_odom, RELIABLE, raw=True)

    @property
    def done(self) -> bool:
        """Whether the motion is over, zeros included, or was given up."""
        return bool(self.fault) or self.elapsed > self.excitation.duration + ZEROS_AFTER

    def stop(self, fault: str) -> None:
        """Give up, saying why, and command zero."""
        self.fault = self.fault or fault
        # without a stamp it counts at once, whatever clock the robot has
        self._send(np.zeros(3), 0)

    def _on_odom(self, data: bytes) -> None:
        try:
            message: OdometryRead = self._read(data)
            pose = planar_pose(message.pose, 'pose')
            if self._begin is not None and abs(message.stamp - self._stamp) > 1e9 * SILENCE:
                raise MessageError(f'its stamp is {1e-9 * (message.stamp - self._stamp):.2f} s '
                                   f'from the one before: must be at most {SILENCE} s')
        except MessageError as error:
            self.get_logger().warning(f'odom refused: {error}', throttle_duration_sec=1.0)
            return
        self.heard, self._stamp = time.monotonic(), message.stamp
        if self._begin is None:
            self._begin, self._start = message.stamp, pose
        self.elapsed = (message.stamp - self._begin) * 1e-9 - ZEROS_BEFORE
        if message.stamp < self._due or self.fault:
            return
        self._due = message.stamp + int(1e9 / COMMAND_RATE)
        self._watch(pose)
        moving = 0.0 < self.elapsed < self.excitation.duration and not self.fault
        try:
            self._send(self.excitation.twist(self.elapsed, self._start, pose) if moving
                       else np.zeros(3), message.stamp)
        except PublishError as error:
            self.stop(f'{error}')

    def _watch(self, pose: np.ndarray) -> None:
        """Give up when the robot does not follow."""
        way = pose - self._start
        distance = math.hypot(way[0], way[1])
        self._moved |= distance > MOVED or abs(way[2]) > MOVED
        if self.elapsed > STUCK and not self._moved:
            self.stop(f'the robot has not moved for {STUCK} s: is its velocity controller '
                      'unlocked, and does it take cmd_vel as TwistStamped?')
        elif distance > self.excitation.reach + ASTRAY:
            self.stop(f'the robot is {distance:.2f} m from where it began, the motion reaches '
                      f'{self.excitation.reach:.2f} m at most')

    def _send(self, twist: np.ndarray, stamp: int) -> None:
        message = TwistStamped()
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(int(stamp), 10**9)
        message.header.frame_id = 'base_link'
        fill_twist(message.twist, twist)
        self._command.publish(message)


def excite_live(bag: Path, excitation: Excitation, robot: str = 'c3p',
                say: Callable[[str], None] = print) -> None:
    """
    Command the robot on this network through an excitation and record it.

    Parameters
    ----------
    bag : Path
        Directory of the bag; must not exist.
    excitation : Excitation
    robot : str
        Name or path of its description, for the recorder.
    say : callable
        Takes one line of text for the user.

    Raises
    ------
    ExcitationError
        No odometry, or the robot does not follow.
    BagError
        The bag exists or cannot be written.
    """
    # whoever interrupts must be able to command zero first
    rclpy.init(args=['--ros-args', '-p', f'recorder:bag:={bag}', '-p', f'robot:={robot}'],
               signal_handler_options=SignalHandlerOptions.NO)
    client: ExcitationClient | None = None
    nodes: list[Node] = []
    try:
        executor = make_executor()
        nodes.append(RecorderNode())
        client = ExcitationClient(excitation)
        nodes.append(client)
        for node in nodes:
            executor.add_node(node)
        say(f'driving for {excitation.duration:.0f} s within {excitation.reach:.1f} m; '
            'Ctrl-C stops')
        with Spinner(executor) as spinner:
            try:
                spinner.until(lambda: _over(client))
            except KeyboardInterrupt:
                client.stop('interrupted')
            # the last command is on its way
            spinner.wait(0.1)
    finally:
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()
    if client.fault:
        raise ExcitationError(f'{client.fault}; what was recorded is in {bag}')


def _over(client: ExcitationClient) -> bool:
    if time.monotonic() - client.heard > (SILENCE if client.elapsed > -ZEROS_BEFORE
                                          else 10 * SILENCE):
        client.stop('no odometry: is the robot running, and on this ROS_DOMAIN_ID?')
    return client.done
