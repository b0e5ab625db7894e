# SPDX-License-Identifier: Apache-2.0
"""
Server of Nav2's action NavigateToPose for a node with one goal at a time.

Clients of Nav2 (its RViz panel, waypoint follower, simple commander) work with the robot without
Nav2. The action type comes with nav2_msgs, of a ROS 2 installation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

from c3p_controller.goals.goal_life import (
    NO_ODOMETRY,
    NO_PROGRESS,
    REACHED,
    RESTARTED,
    TIME_WENT_BACK,
    GoalOutcome,
)
from c3p_description.model import Array
from c3p_ros.messages import MessageError

try:
    from nav2_msgs.action import NavigateToPose
except ImportError:  # nav2_msgs comes with Nav2, not from the package registries
    NavigateToPose = None

# codes of the action from Nav2 1.4 on; 1.3 names 0 only. 1 and 2 of 1.5 (GOAL_REJECTED and
# SEND_GOAL_FAILURE) are those of a behavior tree whose goal a server has not accepted: a rejected
# goal has no result
NONE = 0
UNKNOWN = 9000
TF_ERROR = 9002
TIMEOUT = 9003
CODES = {NO_PROGRESS: TIMEOUT, NO_ODOMETRY: TF_ERROR, TIME_WENT_BACK: TF_ERROR,
         RESTARTED: TF_ERROR}


class PatientServer(ActionServer):
    """
    Action server whose goals are executed elsewhere and end with `finish`.

    rclpy itself needs a callback that waits, which costs a thread, or a coroutine, for which its
    SingleThreadedExecutor never sleeps.
    """

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """Do nothing: the state has changed to executing, the node drives the robot."""
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)

    def finish(self, goal_handle: Any, end: Callable[[Any], Any]) -> None:
        """Call `end` with the handle after the present callback; it returns the result."""
        super().notify_execute(goal_handle, end)


def duration(seconds: float) -> Duration:
    """Return `seconds` as a message."""
    whole = int(seconds)
    return Duration(sec=whole, nanosec=int((seconds - whole) * 1e9))


class NavigateAction:
    """
    Passes the goals of the action `name` to the node, and their outcomes to the clients.

    `resolve`, `begin` and `cancel` are the callables of GoalInterface, with its source and reason.
    `kind` and `server` replace NavigateToPose and PatientServer in tests.
    """

    def __init__(self, node: Node, name: str, resolve: Callable[[PoseStamped], Array],
                 begin: Callable[[Array], int], cancel: Callable[[str], bool], *,
                 kind: Any = None, server: Any = PatientServer) -> None:
        """Create the action server."""
        self._kind = kind or NavigateToPose
        self._resolve = resolve
        self._begin = begin
        self._cancel = cancel
        self._handles: dict[int, Any] = {}
        self._accepted: Array | None = None
        self._server = server(
            node, self._kind, name, execute_callback=lambda _: self._kind.Result(),
            goal_callback=self._on_goal, handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel)

    def destroy(self) -> None:
        """Destroy the action server."""
        self._server.destroy()

    def _on_goal(self, goal: Any) -> GoalResponse:
        try:
            self._accepted = self._resolve(goal.pose)
        except MessageError:
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: Any) -> None:
        assert self._accepted is not None  # the goal's callback comes first
        number = self._begin(self._accepted)
        self._handles[number] = handle
        handle.execute()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        # the client of a goal that has just ended receives the result
        if handle not in self._handles.values():
            return CancelResponse.REJECT
        self._cancel('cancelled by the client of the action')
        return CancelResponse.ACCEPT

    def ended(self, outcome: GoalOutcome) -> None:
        """Send the outcome to the client of the goal, if it belongs to the action."""
        handle = self._handles.pop(outcome.number, None)
        if handle is not None:
            self._server.finish(handle, partial(self._end, outcome))

    def _end(self, outcome: GoalOutcome, handle: Any) -> Any:
        result = self._kind.Result()
        result.error_code = NONE
        if outcome.reason == REACHED:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
            result.error_code = CODES.get(outcome.reason, UNKNOWN)
        if hasattr(result, 'error_msg'):  # not in the first releases for Jazzy
            result.error_msg = '' if outcome.reason == REACHED else outcome.text
        return result

    def feedback(self, number: int, pose: PoseStamped, distance: float, time: float,
                 left: float, errors: tuple[float, float]) -> None:
        """
        Send the feedback of goal `number`, if it belongs to the action.

        `pose` is that of the robot, `distance` in m; `time` and `left`, s, are the time since the
        acceptance and the estimated time remaining. `errors` are those of position and heading,
        m and rad, from the line to the goal.
        """
        handle = self._handles.get(number)
        # rclpy 10 warns of feedback for a goal that is being cancelled, and does not send it
        if handle is not None and not handle.is_cancel_requested:
            message = self._kind.Feedback(
                current_pose=pose, navigation_time=duration(time), distance_remaining=distance,
                estimated_time_remaining=duration(left))
            if hasattr(message, 'position_tracking_error'):  # from Nav2 1.5 on
                message.position_tracking_error, message.heading_tracking_error = errors
            handle.publish_feedback(message)
