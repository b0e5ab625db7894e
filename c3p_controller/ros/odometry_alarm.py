# SPDX-License-Identifier: Apache-2.0
"""Subscriptions of the alarm of the odometry's node: doubt about its pose."""

from __future__ import annotations

from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from c3p_controller.goals.goal_life import STOPPED
from c3p_controller.goals.position_command import PositionCommand
from c3p_kinematics.residual_alarm import BACKWARDS
from c3p_ros.cdr import MessageError
from c3p_ros.diagnostics import ERROR, OK
from c3p_ros.node import LATCHED


class OdometryAlarm:
    """
    Subscription of ``sensed_kinematics/alarm``; odometry of another source has none.

    Parameters
    ----------
    node : Node
    changed : callable
        Takes `stops` after each message.

    Attributes
    ----------
    doubt : str
        Reason for which no goal is reached by the pose; empty while it may be used.
    stops : str
        Reason for which the robot must stop; empty while it may move.
    backwards : tuple of str
        Joints of wheels that count backwards by the evidence of the odometry.
    """

    def __init__(self, node: Node, changed: Callable[[str], None]) -> None:
        """Create the subscription."""
        self.doubt = ''
        self.stops = ''
        self.backwards: tuple[str, ...] = ()
        self._changed = changed
        node.create_subscription(DiagnosticStatus, 'sensed_kinematics/alarm', self._on_alarm,
                                 LATCHED)

    def _on_alarm(self, message: DiagnosticStatus) -> None:
        text = message.message or 'the joints contradict each other'
        self.doubt = '' if message.level == OK else text
        self.stops = text if message.level == ERROR else ''
        self.backwards = tuple(joint for value in message.values if value.key == BACKWARDS
                               for joint in value.value.split())
        self._changed(self.stops)


class GoalAlarm(OdometryAlarm):
    """
    Alarm of a node with goals: none is accepted, kept or reached on a pose in doubt.

    Parameters
    ----------
    node : Node
    give_up : callable
        Takes reason and text, and ends the present goal.
    """

    def __init__(self, node: Node, give_up: Callable[[str, str], object]) -> None:
        """Create the subscription."""
        self._give_up = give_up
        super().__init__(node, self._end)

    def _end(self, stops: str) -> None:
        if stops:
            self._give_up(STOPPED, f'the pose is unknown: {stops}')

    def require(self) -> None:
        """Raise MessageError for a goal while the pose is unknown."""
        if self.stops:
            raise MessageError(f'the pose is unknown: {self.stops}')

    def judged(self, command: PositionCommand) -> PositionCommand:
        """Return a command that is not in its goal zone while the pose is in doubt."""
        return command._replace(reached=False) if self.doubt else command

    def obstacle(self, lock: str) -> str:
        """Return what keeps the robot from its goal, by the `lock` of the velocity controller."""
        if lock:
            return f'the velocity controller is locked: {lock}'
        return f'the pose is in doubt: {self.doubt}' if self.doubt else ''
