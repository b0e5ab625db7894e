# SPDX-License-Identifier: Apache-2.0
"""Publishers of a drive: ``cmd_vel``, preceded by the preview; discovery of their subscribers."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node
from trajectory_msgs.msg import MultiDOFJointTrajectory

from c3p_controller.goals.position_command import PositionCommand
from c3p_controller.goals.rearm import Opening
from c3p_controller.torque_law import Preview
from c3p_ros.node import LATEST
from c3p_ros.twist_wire import TwistWriter
from c3p_ros.wire import TrajectoryWriter

# time within which processes discover each other after the start, s
DISCOVERY = 3.0
# after a subscriber is matched, publish zeros for this long, s; discovery is not symmetric
OPENING = 0.3


class Listeners:
    """
    Matched subscribers of a publisher, which exists since `now`, s.

    Attributes
    ----------
    count : int
        Subscribers that were matched at the last `look`.
    new : bool
        A subscriber was matched between the last two. The first one counts at any time. Further
        ones count only soon after the start, when the robot may be discovered after a recorder; a
        later one was restarted.
    """

    def __init__(self, publisher: Any, now: float) -> None:
        """Start without subscribers."""
        self._publisher = publisher
        self._start = now
        self._most = 0
        self.count = 0
        self.new = False

    def look(self, now: float) -> None:
        """Look for subscribers at `now`, s."""
        # with simulated time the start was before any clock
        self._start = self._start or now
        count = self.count = self._publisher.get_subscription_count()
        most = self._most
        self._most = max(count, most)
        self.new = count > most and (most == 0 or now - self._start < DISCOVERY)


class DriveCommands:
    """
    Publishers of ``cmd_vel``, `stamped` or not, and with `preview` of ``reference_trajectory``.

    Attributes
    ----------
    listeners : Listeners
        Of ``cmd_vel``; they are looked for in each cycle, also without a goal.
    opening : Opening
        Schedule of the zero commands.
    """

    def __init__(self, node: Node, stamped: bool, preview: bool, now: float) -> None:
        """Create the publishers."""
        self._stamped = stamped
        self._preview = node.create_publisher(
            MultiDOFJointTrajectory, 'reference_trajectory', LATEST) if preview else None
        self._write_preview: TrajectoryWriter | None = None
        self._frames = '', ''
        self._write_twist = TwistWriter(stamped, '', 'cmd_vel')
        self._command = node.create_publisher(TwistStamped if stamped else Twist, 'cmd_vel',
                                              LATEST)
        self.listeners = Listeners(self._command, now)
        self.opening = Opening()

    def execute(self, command: PositionCommand, preview: Preview | None, twist: np.ndarray,
                time: float, lock: str, stamp: int, frames: tuple[str, str]) -> None:
        """
        Publish a `command` with its `preview`, or zeros while the chain re-arms.

        `twist` (3,) is measured, `time`, s, robot time, and `lock` that of the velocity
        controller; `stamp` and `frames` are as for `send`, with its errors.
        """
        listeners = self.listeners
        self.opening.matched(time, OPENING if listeners.new else 0.0, listeners.count > 0)
        moves = any(command.twist.tolist()) and not command.reached
        if self.opening.zeros(time, twist, moves, lock):
            self.send(np.zeros(3), stamp, frames)
        else:
            self.send(command.twist, stamp, frames, preview)

    def send(self, twist: np.ndarray, stamp: int, frames: tuple[str, str],
             preview: Preview | None = None) -> None:
        """
        Publish a twist (3,), m/s and rad/s, and before it the preview of its `stamp`, ns.

        `frames` are those of the odometry and of the robot; the twist is in the latter.

        Raises
        ------
        PublishError
            A number that is not finite; nothing is published.
        """
        if self._frames != frames:
            self._frames = frames
            self._write_twist = TwistWriter(self._stamped, frames[1], 'cmd_vel')
            self._write_preview = None
        command = self._write_twist(stamp, twist)
        if self._preview is not None and preview is not None:
            if self._write_preview is None:
                self._write_preview = TrajectoryWriter(*frames, preview.time,
                                                       'reference_trajectory')
            # both by the middleware: a preview must not come long before its command
            self._preview.publish(self._write_preview(stamp, preview.pose, preview.velocity))
        self._command.publish(command)
