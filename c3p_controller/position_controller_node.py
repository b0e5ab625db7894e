# SPDX-License-Identifier: Apache-2.0
"""
Node: drives to ``goal_pose``, by the papers' exponential law or along a path with a preview.

Publishes ``cmd_vel`` only while it has a goal, so that others may command the robot, ``~/result``
with the reason for the end of a goal, and on a path, before each command, its
``reference_trajectory``. A drive begins with zeros, also after a lock, to re-arm the controllers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry

from c3p_controller import law_named
from c3p_controller.controllers import make_position
from c3p_controller.goals.goal_life import NO_COMMAND, NO_ODOMETRY, REACHED, RESTARTED, stands
from c3p_controller.goals.rearm import lock_ends, robot_step
from c3p_controller.reading.law_parameters import position_entries
from c3p_controller.ros.drive_commands import DriveCommands
from c3p_controller.ros.goal_frames import GoalFrames
from c3p_controller.ros.goal_interface import GoalInterface, zone_values
from c3p_controller.ros.goal_limits import GoalLimits
from c3p_controller.ros.odometry_alarm import GoalAlarm
from c3p_controller.ros.robot_watch import LockWatch, OdometryGap
from c3p_ros.cdr import PublishError
from c3p_ros.chain_messages import OdometryMessage
from c3p_ros.cycle import CycleClock
from c3p_ros.diagnostics import OK, WARN
from c3p_ros.messages import MessageError, planar, planar_pose
from c3p_ros.node import RELIABLE, SuiteNode
from c3p_ros.session import run

# commands may be this much early, ns: rounding of stamps must not cost a whole cycle
GRACE_NS = 100_000


class PositionControllerNode(SuiteNode):
    """Adapter between topics and a position law."""

    MORE_ENTRIES = staticmethod(position_entries)

    def __init__(self, **options: Any) -> None:
        """Create the law, publishers, subscriptions and the watch."""
        super().__init__('position_controller', Path(__file__).with_name(
            'position_controller_parameters.yaml'), **options)
        values = self.parameters.value
        self._controller = make_position(values, self.robot)
        self._limits = GoalLimits(self, self.robot, self._controller, values)
        self.parameters.check, self.parameters.changed = self._limits.check, self._retune
        # largest speed and yaw rate of the drive, m/s and rad/s
        self._pace = self._controller.pace(values)
        self._frames, self._odom = GoalFrames(self), OdometryGap(self, values.odom_timeout)
        self._stamps = CycleClock()
        self._pose: np.ndarray | None = None
        # robot time, s, is continuous also where stamps jump
        self._twist = np.zeros(3)
        self._command_due = 0
        self._time = 0.0
        self._lock = LockWatch(self, self.diagnostics, self._on_lock)
        self._alarm = GoalAlarm(self, self._give_up)
        self._commands = DriveCommands(self, values.use_stamped_vel,
                                       law_named(self._limits.law_name).previews,
                                       self.watch_time())
        self._goals = GoalInterface(self, self.robot.name, self._frames, values.navigate_action,
                                    self._resolve, self._drive_to, self._give_up)
        self.at_end(self._goals.destroy)
        # after the torques of the cycle
        self.listen(Odometry, 'odom', self._on_odom, RELIABLE, rank=2)
        self.watch(self._on_watch)

    def metrics(self) -> Mapping[str, Any]:
        """Return the metrics for the diagnostics."""
        goal = self._controller.goal
        zone = self._controller.zone
        shown = 'none' if goal is None else np.round(goal, 4).tolist()
        return {'controller': self._limits.law_name, 'goal': shown,
                'goal reached': self._goals.life.held,
                'opened again': self._commands.opening.count,
                **zone_values(zone)}

    def _retune(self) -> None:
        values = self.parameters.value
        self._limits.retune(values)
        self._pace = self._controller.pace(values)
        self._odom.timeout = values.odom_timeout

    def _resolve(self, message: PoseStamped) -> np.ndarray:
        """Return a goal in the odometry frame; MessageError if it is not accepted."""
        if self._pose is None:
            raise MessageError('no odometry yet, so no line to the goal; send it again later')
        self._odom.require(self.watch_time())
        self._alarm.require()
        return self._frames.resolve(message, self._pose)

    def _drive_to(self, goal: np.ndarray) -> int:
        assert self._pose is not None  # `_resolve` has checked it
        # also with a previous goal: at standstill the chain may be locked and need a zero command
        self._commands.opening.begin(self._controller.goal is None or stands(self._twist))
        self._odom.mark()
        self._controller.set_goal(goal, self._pose)
        self._command_due = 0
        self.diagnostics.condition('goal', OK, 'accepted')
        self.get_logger().info(f'goal {np.round(goal, 3).tolist()} in {self._frames.pair[0]}')
        return self._goals.begin(goal, self._pose, self._time)

    def _on_odom(self, message: OdometryMessage) -> None:
        now = self.watch_time()
        gap = now - self._odom.received
        try:
            stamp = self.cycle_stamp(message.stamp, self._odom.timeout)
            pose = planar_pose(message.pose, 'pose')
            speed = planar(message.twist, 'twist')
            # last: the stamp of a message that is refused must not make a good one late
            self._time += robot_step(self._stamps.accept(stamp))
        except MessageError as error:
            self.diagnostics.refuse('odom', error)
            return
        resumes = self._stamps.restarted or self._odom.waits
        self._odom.beat(now)
        if not (resumes or stamp >= self._command_due):
            return
        self._frames.pair = message.frame_id, message.child_frame_id
        before = self._pose
        self._pose = pose
        self._twist = speed
        self._command_due = stamp + int(1e9 / self.parameters.value.command_rate) - GRACE_NS
        if resumes:
            self._resume(before, pose, gap)
        self._commands.listeners.look(now)
        self._command(stamp, pose)

    def _command(self, stamp: int, pose: np.ndarray) -> None:
        """Publish the command at the present pose, and the outcome of the goal if it ends."""
        values = self.parameters.value
        law = self._controller
        lock = self._lock.lock
        command = law.step(pose, self._twist)
        if command is None:
            return
        command = self._alarm.judged(command)
        outcome = self._goals.life.step(self._time, command, self._twist, values.progress_timeout,
                                        self._alarm.obstacle(lock))
        if outcome and outcome.reason != REACHED:
            self._give_up(outcome.reason, outcome.text, outcome)
            return
        try:
            self._commands.execute(command, law.preview, self._twist, self._time, lock, stamp,
                                   self._frames.pair)
        except PublishError as error:
            self.diagnostics.withhold(error)
            self._give_up(NO_COMMAND, f'{error}')
            return
        self._goals.progress(stamp, command, pose, self._pace)
        if outcome is not None:
            self._goals.report(outcome)
            if not values.hold_goal:
                self._controller.cancel()
                self._zero()

    def _on_lock(self, before: str | None) -> bool:
        """End the goal if the lock ends it; return whether a goal is active."""
        if new := self._odom.new():
            self._give_up(RESTARTED, f'{self._lock.lock or "unlocked"}; {new}')
        elif end := lock_ends(before, self._lock.lock):
            self._give_up(*end)
        return self._goals.life.running

    def _resume(self, before: np.ndarray | None, pose: np.ndarray, gap: float) -> None:
        """Resume the goal after a gap, or a change of the clock, if the robot is the same."""
        reason, text = self._odom.ends(before, pose, gap, self._pace, self._stamps.restarted)
        if reason:
            self._give_up(reason, text)
        elif self._controller.goal is not None:
            self._commands.opening.again(self._time)
            self.diagnostics.condition('goal', OK, text)

    def _zero(self) -> None:
        self._commands.send(np.zeros(3), self.now_ns(), self._frames.pair)

    def _give_up(self, reason: str, text: str, outcome: Any = None) -> bool:
        """End the present goal; return whether there was one."""
        if self._controller.goal is None:
            return False
        self._controller.cancel()
        self._zero()
        self._odom.waits = False
        self._goals.end(reason, text, outcome)
        return True

    def _on_watch(self) -> None:
        now = self.watch_time()
        values = self.parameters.value
        self._odom.discover()
        if not self._odom.lost(now) or self._controller.goal is None:
            return
        age = self._odom.age(now)
        if age > values.odom_patience:
            self._give_up(NO_ODOMETRY, f'no odometry for {age:.2f} s (odom_patience)')
        elif not self._odom.waits:
            self._odom.waits = True
            self._zero()
            self.diagnostics.condition('goal', WARN if self._goals.life.running else OK,
                                       f'no odometry for {age:.2f} s (odom_timeout)')


def main(args: list[str] | None = None) -> int:
    """Run the node until Ctrl-C."""
    return run(PositionControllerNode, args=args)


if __name__ == '__main__':
    raise SystemExit(main())
