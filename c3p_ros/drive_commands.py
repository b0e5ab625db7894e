# SPDX-License-Identifier: Apache-2.0
"""What a position controller publishes to drive: cmd_vel, and the reference ahead before it."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node
from trajectory_msgs.msg import MultiDOFJointTrajectory

from c3p_controller.law import Ahead
from c3p_ros.messages import fill_twist, ns_to_stamp
from c3p_ros.node import LATEST
from c3p_ros.wire import TrajectoryWriter, check_finite

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

    def send(self, twist: np.ndarray, stamp: int, frames: tuple[str, str],
             ahead: Ahead | None = None) -> None:
        """
        Publish a twist (3,), m/s and rad/s, and before it the reference ahead of its stamp.

        Parameters
        ----------
        twist : (3,) array
            In the frame of the robot.
        stamp : int, ns
        frames : (str, str)
            Of the odometry and of the robot.
        ahead : Ahead, optional
            Not published where the law has no use for it.

        Raises
        ------
        PublishError
            A number that is not finite; nothing is published.
        """
        check_finite('cmd_vel', 'twist', twist, ('vx', 'vy', 'yaw rate'))
        if self._ahead is not None and ahead is not None:
            if self._write is None or self._frames != frames:
                self._write = TrajectoryWriter(*frames, ahead.time, 'reference_trajectory')
                self._frames = frames
            self._ahead.publish(self._write(stamp, ahead.pose, ahead.velocity))
        if not self._stamped:
            self._command.publish(fill_twist(Twist(), twist))
            return
        message = TwistStamped()
        message.header.stamp, message.header.frame_id = ns_to_stamp(stamp), frames[1]
        fill_twist(message.twist, twist)
        self._command.publish(message)
