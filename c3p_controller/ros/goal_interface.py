# SPDX-License-Identifier: Apache-2.0
"""
Interfaces of goals: topic, cancel service, results, and Nav2's action where it is installed.

The result of a goal is a DiagnosticStatus, which tools display as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool, Float64
from std_srvs.srv import Trigger

from c3p_controller.goals.goal_life import (
    CANCELLED,
    GOAL_TOLERANCE,
    PREEMPTED,
    REACHED,
    YAW_TOLERANCE,
    GoalLife,
    GoalOutcome,
    refused,
)
from c3p_controller.goals.path import StraightLine
from c3p_controller.goals.position_command import PositionCommand
from c3p_controller.ros.goal_frames import GoalFrames
from c3p_controller.ros.navigate_action import NavigateAction, NavigateToPose
from c3p_description.model import Array
from c3p_ros.cdr import MessageError
from c3p_ros.diagnostics import ERROR, OK, WARN
from c3p_ros.fault_codes.code import FAULT_CODES
from c3p_ros.fault_codes.table import result_code
from c3p_ros.messages import fill_pose, ns_to_stamp, stamp_to_ns
from c3p_ros.node import LATCHED, LATEST, RELIABLE, SuiteNode

# largest age of a goal at its arrival, s; a goal replayed from a bag is rejected
GOAL_AGE = 10.0

# ~/distance_to_goal is for display and published ten times a second
DISTANCE_PERIOD_NS = 100_000_000

# a late subscriber receives the last ones; a preempted goal ends in the cycle of the next
RESULTS = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)

# a requested end is not an error
LEVELS = {REACHED: OK, CANCELLED: WARN, PREEMPTED: WARN}


def result_message(outcome: GoalOutcome, node: str, frame: str, robot: str) -> DiagnosticStatus:
    """
    Return an outcome as a status: its values are ``reason`` and the numbers.

    It is OK for a goal that was reached, WARN for a cancelled or preempted one, else ERROR. `node`
    is the fully qualified name, `frame` that of the goal, `robot` the name of the robot.
    """
    goal = '' if outcome.goal is None else np.round(outcome.goal, 6).tolist()
    # the number identifies the goal for its client
    values = {'reason': outcome.reason, FAULT_CODES: result_code(outcome.reason),
              'number': outcome.number, 'goal': goal, 'frame': frame,
              'distance [m]': round(outcome.distance, 6),
              'yaw error [rad]': round(outcome.yaw_error, 6), 'time [s]': round(outcome.time, 3)}
    return DiagnosticStatus(
        level=LEVELS.get(outcome.reason, ERROR), name=f'{node.lstrip("/")}: goal',
        message=f'{outcome.reason}: {outcome.text}', hardware_id=robot,
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])


def zone_values(zone: tuple[float, float]) -> dict[str, float]:
    """Return the goal zone for the diagnostics: radius and yaw tolerance, m and rad."""
    return {GOAL_TOLERANCE: zone[0], YAW_TOLERANCE: zone[1]}


class GoalInterface:
    """
    Interfaces of goals: ``goal_pose``, ``~/cancel``, ``~/result``, ``~/goal_reached``, the action.

    ``~/distance_to_goal`` is published, too.

    Parameters
    ----------
    node : SuiteNode
    robot : str
        Name of the robot.
    frames : GoalFrames
    action : str
        Name of Nav2's action; empty: not offered.
    resolve : callable
        Takes a PoseStamped, returns the goal (3,) in the odometry frame; raises MessageError if
        it is not accepted.
    drive : callable
        Takes that goal, drives to it and returns its number.
    give_up : callable
        Takes reason and text, ends the present goal; returns whether there was one.
    """

    def __init__(self, node: SuiteNode, robot: str, frames: GoalFrames, action: str,
                 resolve: Callable[[PoseStamped], Array], drive: Callable[[Array], int],
                 give_up: Callable[[str, str], bool]) -> None:
        """Create the interfaces; the action where its type is installed."""
        self._node, self._robot, self._frames, self.life = node, robot, frames, GoalLife()
        self._resolve = resolve
        self._drive = drive
        self._give_up = give_up
        self._publisher = node.create_publisher(DiagnosticStatus, '~/result', RESULTS)
        self._reached_pub = node.create_publisher(Bool, '~/goal_reached', LATCHED)
        self._distance_pub = node.create_publisher(Float64, '~/distance_to_goal', RELIABLE)
        self._reached: bool | None = None
        self._line = StraightLine(np.zeros(3), np.zeros(3))
        self._published = 0
        node.create_subscription(PoseStamped, 'goal_pose', self._on_goal, LATEST)
        node.create_service(Trigger, '~/cancel', self._on_cancel)
        self._action = NavigateAction(
            node, action, partial(self._accept, action), drive, partial(give_up, CANCELLED),
        ) if NavigateToPose and action else None

    def _accept(self, source: str, message: PoseStamped) -> Array:
        """Return the goal of a message from `source`; report and raise if it is not accepted."""
        try:
            goal = self._resolve(message)
            self._node.check_fresh(stamp_to_ns(message.header.stamp), GOAL_AGE)
        except MessageError as error:
            self._node.diagnostics.refuse(source, error)
            self.report(refused(f'{error}'))
            raise
        return goal

    def _on_goal(self, message: PoseStamped) -> None:
        with suppress(MessageError):  # `_accept` has reported it
            self._drive(self._accept('goal_pose', message))

    def _on_cancel(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._give_up(CANCELLED, 'cancelled')
        response.message = 'cancelled' if response.success else 'there is no goal'
        return response

    def begin(self, goal: Array, pose: Array, time: float) -> int:
        """Begin with a goal at `pose`, both (3,), at robot time `time`, s; return its number."""
        self.report(self.life.begin(goal, time))
        self._line = StraightLine(pose, goal)
        self._set_reached(False)
        return self.life.number

    def end(self, reason: str, text: str, outcome: GoalOutcome | None = None) -> None:
        """End the present goal for `reason`, with the `outcome` if it is known."""
        # one that is held ends without a warning
        level = WARN if self.life.running else OK
        self._node.diagnostics.condition('goal', level, f'given up: {text}',
                                         codes=result_code(reason))
        self._set_reached(False)
        self.report(outcome or self.life.end(reason, text))

    def _set_reached(self, reached: bool) -> None:
        """Publish ``~/goal_reached`` when it changes."""
        if reached != self._reached:
            self._reached = reached
            self._reached_pub.publish(Bool(data=reached))

    def progress(self, stamp: int, command: PositionCommand, pose: Array,
                 pace: tuple[float, float]) -> None:
        """
        Publish the distance of `command` ten times a second, or on arrival, and the feedback.

        `stamp`, ns, is that of the odometry and may go back; `pose` (3,) is in its frame. `pace`
        is the largest speed and yaw rate of the drive, m/s and rad/s.
        """
        changed = command.reached != self._reached
        if not changed and 0 <= stamp - self._published < DISTANCE_PERIOD_NS:
            return
        if changed:
            self._set_reached(command.reached)
        self._published = stamp
        self._distance_pub.publish(Float64(data=command.distance))
        if self._action:
            here = PoseStamped()
            here.header.stamp, here.header.frame_id = ns_to_stamp(stamp), self._frames.pair[0]
            fill_pose(here.pose, pose)
            life = self.life
            self._action.feedback(life.number, here, life.distance, life.took,
                                  life.time_left(*pace), self._line.tracking_errors(pose))

    def report(self, outcome: GoalOutcome | None) -> None:
        """Publish the outcome of a goal, None without one; terminate the goal of the action."""
        if outcome is None:
            return
        self._publisher.publish(result_message(
            outcome, self._node.get_fully_qualified_name(), self._frames.pair[0],
            self._robot))
        if self._action:
            self._action.ended(outcome)

    def destroy(self) -> None:
        """Destroy the action."""
        if self._action:
            self._action.destroy()
