# SPDX-License-Identifier: Apache-2.0
"""What a position controller publishes to drive: cmd_vel, and the reference ahead before it."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node
from trajectory_msgs.msg import MultiDOFJointTrajectory

from c3p_controller.law import Ahead
from c3p_ros.messages import fill_twist
from c3p_ros.node import LATEST
from c3p_ros.wire_writers import TrajectoryWriter

# other processes find each other within this time after the start, s
DISCOVERY = 3.0
# and whoever is found is told to stand for so long, s: it may find us later than we found it
OPENING = 0.3


class Listeners:
    """
    Who takes a publisher's messages, as far as they have been found.

    Parameters
    ----------
    publisher : Publisher
    now : float, s
        Time of the start.
    """

    def __init__(self, publisher: Any, now: float) -> None:
        """Know of nobody yet."""
        self._publisher, self._start, self._most = publisher, now, 0

    def anybody(self) -> bool:
        """Return whether there is one now."""
        return self._publisher.get_subscription_count() > 0

    def found(self, now: float) -> bool:
        """
        Return whether one has been found since this was asked last.

        The first one counts whenever it comes, others only soon after the start, when a robot
        may be found after a recorder: one that comes later was started anew.

        Parameters
        ----------
        now : float, s
        """
        # with simulated time the start was before any clock
        self._start = self._start or now
        count, most = self._publisher.get_subscription_count(), self._most
        self._most = max(count, most)
        return count > most and (most == 0 or now - self._start < DISCOVERY)


class DriveCommands:
    """
    Publishers of ``cmd_vel`` and, for laws that use it, ``reference_trajectory``.

    Parameters
    ----------
    node : Node
    stamped : bool
        ``cmd_vel`` is a TwistStamped, else a Twist.
    ahead : bool
        Publish the reference ahead.
    now : float, s

    Attributes
    ----------
    listeners : Listeners
        Of ``cmd_vel``.
    """

    def __init__(self, node: Node, stamped: bool, ahead: bool, now: float) -> None:
        """Create the publishers."""
        self._stamped = stamped
        self._ahead = node.create_publisher(
            MultiDOFJointTrajectory, 'reference_trajectory', LATEST) if ahead else None
        self._write: TrajectoryWriter | None = None
        self._frames = '', ''
        self._command = node.create_publisher(TwistStamped if stamped else Twist, 'cmd_vel',
                                              LATEST)
        self.listeners = Listeners(self._command, now)

    def send(self, twist: np.ndarray, stamp: Any, frame: str) -> None:
        """Publish a twist (3,) in `frame`, m/s and rad/s."""
        if not self._stamped:
            self._command.publish(fill_twist(Twist(), twist))
            return
        message = TwistStamped()
        message.header.stamp = stamp
        message.header.frame_id = frame
        fill_twist(message.twist, twist)
        self._command.publish(message)

    def send_ahead(self, stamp: int, ahead: Ahead | None, frames: tuple[str, str]) -> None:
        """
        Publish the reference ahead; nothing where the law has no use for it.

        Parameters
        ----------
        stamp : int, ns
            That of the ``cmd_vel`` that follows.
        ahead : Ahead or None
        frames : (str, str)
            Of the odometry and of the robot.
        """
        if self._ahead is None or ahead is None:
            return
        if self._write is None or self._frames != frames:
            self._write, self._frames = TrajectoryWriter(*frames, ahead.time), frames
        self._ahead.publish(self._write(stamp, ahead.pose, ahead.velocity))
