# SPDX-License-Identifier: Apache-2.0
"""
Node: drives to ``goal_pose``, by the papers' exponential law or along a path with a look ahead.

Subscribes ``goal_pose``, ``odom``; publishes ``cmd_vel`` while it has a goal and nothing
otherwise, so that a joystick or Nav2 can command the robot, and ``~/goal_reached``,
``~/distance_to_goal`` and, when a goal ends, ``~/result`` with the reason. Where nav2_msgs is
installed it offers Nav2's action NavigateToPose. On a path each command is preceded by the
``reference_trajectory`` of the same stamp: a twist does not tell where the line is. A drive begins
with zero commands, and again after a lock: the velocity controller follows others only then.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from std_srvs.srv import Trigger

from c3p_controller.goal_life import (
    CANCELLED,
    NO_COMMAND,
    NO_ODOMETRY,
    REACHED,
    RESTARTED,
    GoalLife,
    Outcome,
    refused,
    stands,
)
from c3p_controller.law import Ahead
from c3p_controller.path_controller import PathController
from c3p_controller.position_laws import make_position, pace_of, retune, zone_of
from c3p_controller.rearm import Opening, lock_ends, robot_step
from c3p_kinematics.se2 import compose
from c3p_ros.cdr import OdometryRead, PublishError
from c3p_ros.cycle import CycleClock, Lifeline
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.drive_commands import OPENING, DriveCommands
from c3p_ros.frames import GoalFrames, planar_pose
from c3p_ros.goal_report import GoalReports
from c3p_ros.lock_report import LockWatch
from c3p_ros.messages import MessageError, planar, stamp_to_ns
from c3p_ros.node import LATEST, RELIABLE, SuiteNode
from c3p_ros.odometry_gap import OdometryGap
from c3p_ros.session import run

# how old a goal may be when it arrives, s; a goal replayed from a bag is not driven to
GOAL_AGE = 10.0

# commands may be this much early, ns: rounding of stamps must not cost a whole cycle
GRACE_NS = 100_000

# keys of the diagnostics: what counts as arrived
GOAL_TOLERANCE, YAW_TOLERANCE = 'goal tolerance [m]', 'yaw tolerance [rad]'


class PositionControllerNode(SuiteNode):
    """Adapter between topics and PositionController."""

    def __init__(self, **options: Any) -> None:
        """Create the law, publishers, subscriptions and the watch."""
        super().__init__('position_controller', Path(__file__).with_name(
            'position_controller_parameters.yaml'), **options)
        values = self.parameters.value
        self._controller = make_position(values)
        self.parameters.check, self.parameters.changed = make_position, self._retune
        self._frames = GoalFrames(self)
        self._line = CycleClock()
        self._odom_seen = Lifeline(values.odom_timeout)
        self._life = GoalLife()
        self._pose: np.ndarray | None = None
        self._twist = np.zeros(3)
        # compiled before the first goal, which would hold up every node of its process
        compose(np.zeros(3), np.zeros(3))
        self._command_due = 0
        # robot time, s, which goes on also where stamps jump
        self._time, self._opening, self._gap = 0.0, Opening(), OdometryGap(self)
        self._lock = LockWatch(self, self.diagnostics, self._on_lock)
        self._commands = DriveCommands(self, values.use_stamped_vel, isinstance(
            self._controller, PathController), self.watch_time())
        self._reports = GoalReports(self, self.robot.name, self._frames)
        self.create_subscription(PoseStamped, 'goal_pose', self._on_goal, LATEST)
        self.listen(Odometry, 'odom', self._on_odom, RELIABLE)
        self.create_service(Trigger, '~/cancel', self._on_cancel)
        action = values.navigate_action
        self._reports.offer(action, partial(self._resolve, action), self._drive_to,
                            partial(self._give_up, CANCELLED))
        self.watch(self._on_watch)

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        goal, zone = self._controller.goal, zone_of(self._controller)
        shown = 'none' if goal is None else np.round(goal, 4).tolist()
        return {'controller': self.parameters.value.controller, 'goal': shown,
                'goal reached': self._life.held, 'opened again': self._opening.count,
                GOAL_TOLERANCE: zone[0], YAW_TOLERANCE: zone[1]}

    def _retune(self) -> None:
        retune(self._controller, self.parameters.value)
        self._odom_seen.timeout = self.parameters.value.odom_timeout

    def destroy_node(self) -> None:
        """Offer the action no more and destroy the node."""
        self._reports.destroy()
        super().destroy_node()

    def _on_goal(self, message: PoseStamped) -> None:
        with suppress(MessageError):  # _resolve has reported it
            self._drive_to(self._resolve('goal_pose', message))

    def _resolve(self, source: str, message: PoseStamped) -> np.ndarray:
        """Return a goal in the odometry frame; tell and raise when it cannot be driven to."""
        try:
            if self._pose is None:
                raise MessageError('no odometry yet, so no line to the goal; send it again later')
            if self._odom_seen.lost(self.watch_time()):
                raise MessageError(f'no odometry for {self._odom_seen.age(self.watch_time()):.2f} '
                                   's; send it again when it comes')
            self.check_fresh(stamp_to_ns(message.header.stamp), GOAL_AGE)
            return self._frames.resolve(message, self._pose)
        except MessageError as error:
            self.diagnostics.refuse(source, error)
            self._reports.tell(refused(f'{error}'))
            raise

    def _drive_to(self, goal: np.ndarray) -> int:
        # also with a goal that was there: what stands may be locked and wait for a zero command
        self._opening.begin(self._controller.goal is None or stands(self._twist))
        self._gap.mark()
        self._controller.set_goal(goal, self._pose)
        self._command_due = 0
        self._reports.tell(self._life.begin(goal, self._time))
        self._reports.reached(False)
        self.diagnostics.condition('goal', OK, 'accepted')
        self.get_logger().info(f'goal {np.round(goal, 3).tolist()} in {self._frames.odom_frame}')
        return self._life.number

    def _on_odom(self, message: OdometryRead) -> None:
        try:
            stamp = self.cycle_stamp(message.stamp, self._odom_seen.timeout)
            self._time += robot_step(self._line.accept(stamp))
            if not (self._line.restarted or self._gap.waits or stamp >= self._command_due):
                self._odom_seen.beat(self.watch_time())
                return
            pose, speed = planar_pose(message.pose, 'pose'), planar(message.twist, 'twist')
            self._frames.odometry(message.frame_id, message.child_frame_id)
        except MessageError as error:
            self.diagnostics.refuse('odom', error)
            return
        now, gap = self.watch_time(), self._odom_seen.age(self.watch_time())
        self._odom_seen.beat(now)
        before, self._pose, self._twist = self._pose, pose, speed
        self._command_due = stamp + int(1e9 / self.parameters.value.command_rate) - GRACE_NS
        if self._line.restarted or self._gap.waits:
            self._go_on(before, gap)
        found = OPENING if self._commands.listeners.found(now) else 0.0
        command = self._controller.step(pose, speed)
        if command is None:
            return
        values = self.parameters.value
        lock, asked = self._lock.lock, bool(command.twist.any()) and not command.reached
        outcome = self._life.step(self._time, command, speed, values.progress_timeout, lock)
        if outcome and outcome.reason != REACHED:
            self._give_up(outcome.reason, outcome.text, outcome)
            return
        self._opening.taken(self._time, found, self._commands.listeners.anybody())
        beginning = self._opening.zeros(self._time, speed, asked, lock)
        try:
            self._send(np.zeros(3) if beginning else command.twist, stamp,
                       None if beginning else getattr(self._controller, 'ahead', None))
        except PublishError as error:
            self.diagnostics.withhold(error)
            self._give_up(NO_COMMAND, f'{error}')
            return
        if self._reports.progress(stamp, command.reached, command.distance):
            self._reports.feedback(self._life, stamp, pose, pace_of(self._controller, values))
        self._reports.tell(outcome)
        if outcome and not values.hold_goal:
            self._let_go()

    def _send(self, twist: np.ndarray, stamp: int, ahead: Ahead | None = None) -> None:
        self._commands.send(twist, stamp, self._frames.pair, ahead)

    def _on_lock(self, before: str | None) -> bool:
        """End the goal where a lock does; return whether one is still driven to."""
        if new := self._gap.new():
            self._give_up(RESTARTED, f'{self._lock.lock or "unlocked"}; {new}')
        elif end := lock_ends(before, self._lock.lock):
            self._give_up(*end)
        return self._life.running

    def _go_on(self, before: np.ndarray, gap: float) -> None:
        """Go on to the goal after a pause, or a clock that was set, if the robot is the same."""
        pace = pace_of(self._controller, self.parameters.value)
        reason, text = self._gap.ends(before, self._pose, gap, pace, self._line.restarted)
        if reason:
            self._give_up(reason, text)
        elif self._controller.goal is not None:
            self._opening.again(self._time)
            self.diagnostics.condition('goal', OK, text)

    def _let_go(self) -> None:
        self._controller.cancel()
        self._send(np.zeros(3), self.now_ns())

    def _give_up(self, reason: str, text: str, outcome: Outcome | None = None) -> None:
        if self._controller.goal is None:
            return
        self._let_go()
        self._gap.waits = False
        self._reports.reached(False)
        self.diagnostics.condition('goal', WARN, f'given up: {text}')
        self._reports.tell(outcome or self._life.end(reason, text))

    def _on_watch(self) -> None:
        now, values = self.watch_time(), self.parameters.value
        if not self._odom_seen.lost(now) or self._controller.goal is None:
            return
        age = self._odom_seen.age(now)
        if age > values.odom_patience:
            self._give_up(NO_ODOMETRY, f'no odometry for {age:.2f} s (odom_patience)')
        elif not self._gap.waits:
            self._gap.waits = True
            self._send(np.zeros(3), self.now_ns())
            self.diagnostics.condition('goal', WARN, f'no odometry for {age:.2f} s (odom_timeout)')

    def _on_cancel(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._controller.goal is not None
        response.message = 'cancelled' if response.success else 'there is no goal'
        self._give_up(CANCELLED, 'cancelled')
        return response


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(PositionControllerNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
