# SPDX-License-Identifier: Apache-2.0
"""Excitation motion of a robot on this network, recorded to a bag."""

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

from c3p_bags.recorder.recorder_node import RecorderNode
from c3p_bringup.other_robots import OtherRobotError, OtherRobots
from c3p_dynamics.identification.excitation import Excitation
from c3p_ros.cdr import PublishError
from c3p_ros.chain_messages import OdometryMessage
from c3p_ros.input_watch import WatchedNode
from c3p_ros.messages import MessageError, fill_twist, planar_pose
from c3p_ros.node import LATEST, RELIABLE
from c3p_ros.session import Session
from c3p_ros.wire import READERS

# commands per second; odometry is faster, but more commands carry no more information
COMMAND_RATE = 50.0

# zero commands before the motion, which unlock the velocity controller, and after it, s
ZEROS_BEFORE = 1.0
ZEROS_AFTER = 1.0

# longest gap of the odometry and longest standstill, s
SILENCE = 0.5
STUCK = 5.0

# a smaller motion is a robot that does not follow, m and rad
MOVED = 5e-3

# largest distance from the reference, m
ASTRAY = 0.5


class ExcitationError(ValueError):
    """The excitation could not be carried out; the robot was commanded to stop."""


class ExcitationClient(WatchedNode):
    """
    Commands an excitation around the pose of the first odometry, then zero.

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
        Reason for the abort; empty otherwise.
    """

    def __init__(self, excitation: Excitation, **options: Any) -> None:
        """Create publisher and subscription; the first odometry starts the motion."""
        super().__init__('excitation', **options)
        self.excitation = excitation
        self.elapsed = -ZEROS_BEFORE
        self.fault = ''
        self._begin: int | None = None
        self._start = np.zeros(3)
        self._due = 0
        self._moved = False
        # of the odometry before, ns
        self._stamp = 0
        self.received = time.monotonic()
        self._read = READERS[Odometry]()
        self._command = self.create_publisher(TwistStamped, 'cmd_vel', LATEST)
        self.create_subscription(Odometry, 'odom', self._on_odom, RELIABLE, raw=True)

    @property
    def done(self) -> bool:
        """True after the motion, zero commands included, or an abort."""
        return bool(self.fault) or self.elapsed > self.excitation.duration + ZEROS_AFTER

    def stop(self, fault: str) -> None:
        """Abort with the reason `fault`, and command zero."""
        self.fault = self.fault or fault
        # a command without a stamp takes effect at once, with any clock
        self._send(np.zeros(3), 0)

    def _on_odom(self, data: bytes) -> None:
        try:
            message: OdometryMessage = self._read(data)
            pose = planar_pose(message.pose, 'pose')
            if self._begin is not None and abs(message.stamp - self._stamp) > 1e9 * SILENCE:
                raise MessageError(f'its stamp is {1e-9 * (message.stamp - self._stamp):.2f} s '
                                   f'from the one before: must be at most {SILENCE} s')
        except MessageError as error:
            self.get_logger().warning(f'odom refused: {error}', throttle_duration_sec=1.0)
            return
        self.received, self._stamp = time.monotonic(), message.stamp
        if self._begin is None:
            self._begin = message.stamp
            self._start = pose
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
        """Abort if the robot does not follow."""
        moved = pose - self._start
        distance = math.hypot(moved[0], moved[1])
        self._moved |= distance > MOVED or abs(moved[2]) > MOVED
        if self.elapsed > STUCK and not self._moved:
            self.stop(f'the robot has not moved for {STUCK} s: is its velocity controller '
                      'unlocked, and does it subscribe to cmd_vel as TwistStamped?')
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
                announce: Callable[[str], None] = print) -> None:
    """
    Drive the robot on this network through an `excitation` and record it to a new `bag`.

    `robot` is name or path of its description; `announce` takes one line of text for the user.

    Raises
    ------
    ExcitationError
        No odometry, the robot does not follow, or another robot appeared.
    OtherRobotError
        Two robots would follow the commands; nothing was commanded.
    BagError
        The bag exists or cannot be written.
    """
    with Session(['--ros-args', '-p', f'recorder:bag:={bag}', '-p', f'robot:={robot}']) as session:
        # the robot that is moved is there; another one would follow the same commands
        others = OtherRobots(session, session.add(rclpy.create_node, node_name='excite'), 1)
        others.search()
        session.add(RecorderNode)
        client = session.add(ExcitationClient, excitation=excitation)
        announce(f'driving for {excitation.duration:.0f} s within {excitation.reach:.1f} m; '
            'Ctrl-C stops')
        try:
            others.until(lambda: _over(client))
        except KeyboardInterrupt:
            client.stop('interrupted')
        except OtherRobotError as error:
            client.stop(f'{error}')
        # until the last command has been sent
        session.wait(0.1)
    if client.fault:
        raise ExcitationError(f'{client.fault}; the recording is in {bag}')


def _over(client: ExcitationClient) -> bool:
    if time.monotonic() - client.received > (SILENCE if client.elapsed > -ZEROS_BEFORE
                                          else 10 * SILENCE):
        client.stop('no odometry: is the robot running, and on this ROS_DOMAIN_ID?')
    return client.done
