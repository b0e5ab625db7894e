# SPDX-License-Identifier: Apache-2.0
"""
What is told of goals: how they end, on a topic, and all that clients of Nav2's action ask for.

The end of a goal is a DiagnosticStatus, which tools show as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool, Float64

from c3p_controller.goal_life import CANCELLED, PREEMPTED, REACHED, GoalLife, Outcome
from c3p_description.model import Array
from c3p_ros.diagnostics import ERROR, OK, WARN
from c3p_ros.frames import GoalFrames, fill_pose
from c3p_ros.messages import ns_to_stamp
from c3p_ros.navigate_action import NavigateAction, NavigateToPose
from c3p_ros.node import LATCHED, RELIABLE

# ~/distance_to_goal is for people and comes ten times a second
DISTANCE_PERIOD_NS = 100_000_000

# who comes late is told the last one; a goal that replaces another ends it within one cycle
RESULTS = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)

# what somebody wanted is no error
LEVELS = {REACHED: OK, CANCELLED: WARN, PREEMPTED: WARN}


def result_message(outcome: Outcome, node: str, frame: str, robot: str) -> DiagnosticStatus:
    """
    Return an outcome as a status: ``reason`` and the numbers are its values.

    Parameters
    ----------
    outcome : Outcome
    node : str
        Fully qualified name of the node, whose goal it was.
    frame : str
        In which the goal is given.
    robot : str
        Name of the robot.

    Returns
    -------
    DiagnosticStatus
        OK for a goal that was reached, WARN where somebody did not want it any more, else ERROR.
    """
    goal = '' if outcome.goal is None else np.round(outcome.goal, 6).tolist()
    values = {'reason': outcome.reason, 'number': outcome.number, 'goal': goal, 'frame': frame,
              'distance [m]': round(outcome.distance, 6),
              'yaw error [rad]': round(outcome.yaw_error, 6), 'time [s]': round(outcome.time, 3)}
    # the number tells a client which of its goals this was
    return DiagnosticStatus(
        level=LEVELS.get(outcome.reason, ERROR), name=f'{node.lstrip("/")}: goal',
        message=f'{outcome.reason}: {outcome.text}', hardware_id=robot,
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])


class GoalReports:
    """
    Publishers of ``~/result``, ``~/goal_reached``, ``~/distance_to_goal``; Nav2's action.

    The action is there where nav2_msgs is installed.

    Parameters
    ----------
    node : Node
    robot : str
        Name of the robot.
    frames : GoalFrames
        Knows the frame of the goals.
    """

    def __init__(self, node: Node, robot: str, frames: GoalFrames) -> None:
        """Create the publishers."""
        self._node, self._robot, self._frames = node, robot, frames
        self._publisher = node.create_publisher(DiagnosticStatus, '~/result', RESULTS)
        self._reached_pub = node.create_publisher(Bool, '~/goal_reached', LATCHED)
        self._distance_pub = node.create_publisher(Float64, '~/distance_to_goal', RELIABLE)
        self._reached, self._told = None, 0
        self._action: NavigateAction | None = None

    def reached(self, reached: bool) -> bool:
        """Publish whether the goal is reached when that has changed; return whether it has."""
        changed, self._reached = reached != self._reached, reached
        if changed:
            self._reached_pub.publish(Bool(data=reached))
        return changed

    def progress(self, stamp: int, reached: bool, distance: float) -> bool:
        """
        Publish how far the goal is, in m, some times a second; return whether that was now.

        Parameters
        ----------
        stamp : int, ns
            Of the odometry; may go back.
        reached : bool
            Published when it changes, and the distance with it.
        distance : float, m
        """
        changed = self.reached(reached)
        if not changed and 0 <= stamp - self._told < DISTANCE_PERIOD_NS:
            return False
        self._told = stamp
        self._distance_pub.publish(Float64(data=distance))
        return True

    def offer(self, name: str, resolve: Callable[[PoseStamped], Array],
              begin: Callable[[Array], int], cancel: Callable[[str], None]) -> None:
        """
        Offer Nav2's action where its type is installed.

        Parameters
        ----------
        name : str
            Of the action; empty: none is offered.
        resolve, begin, cancel : callable
            As for NavigateAction.
        """
        if NavigateToPose and name:
            self._action = NavigateAction(self._node, name, resolve, begin, cancel)

    def destroy(self) -> None:
        """Offer the action no more."""
        if self._action:
            self._action.destroy()

    def tell(self, outcome: Outcome | None) -> None:
        """Publish how a goal has ended, if one has, also to the action's client."""
        if outcome is None:
            return
        self._publisher.publish(result_message(
            outcome, self._node.get_fully_qualified_name(), self._frames.odom_frame,
            self._robot))
        if self._action:
            self._action.ended(outcome)

    def feedback(self, life: GoalLife, stamp: int, pose: Array, pace: tuple[float, float]
                 ) -> None:
        """
        Tell the action's client how far its goal is.

        Parameters
        ----------
        life : GoalLife
        stamp : int, ns
        pose : (3,) array, m and rad
            Of the robot, in the frame of the odometry.
        pace : (float, float), m/s and rad/s
            How fast the robot drives and turns.
        """
        if not self._action:
            return
        here = PoseStamped()
        here.header.stamp, here.header.frame_id = ns_to_stamp(stamp), self._frames.odom_frame
        fill_pose(here.pose, pose)
        self._action.feedback(life.number, here, life.distance, life.took, life.time_left(*pace))
