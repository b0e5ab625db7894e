# SPDX-License-Identifier: Apache-2.0
"""
Goal lifecycle: every accepted goal terminates with a reason and its final errors.

A goal is *reached* when the robot is in its zone and at standstill. It may be held from then on:
a next goal or a cancellation then has no further outcome, the loss of the goal has one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_controller.goals.position_command import PositionCommand
from c3p_description.model import Array

# reasons
REACHED = 'reached'
CANCELLED = 'cancelled'
PREEMPTED = 'preempted'
NO_PROGRESS = 'no progress'
NO_ODOMETRY = 'no odometry'
TIME_WENT_BACK = 'time went back'
# the law commanded a number that is not finite
NO_COMMAND = 'no command'
# the robot was restarted or replaced
RESTARTED = 'robot restarted'
# the velocity controller stopped the robot: spinning wheels, or a failure of its law
STOPPED = 'stopped'
# the goal was not accepted
REFUSED = 'refused'
REASONS = (REACHED, CANCELLED, PREEMPTED, NO_PROGRESS, NO_ODOMETRY, TIME_WENT_BACK, NO_COMMAND,
           RESTARTED, STOPPED, REFUSED)

# keys of the goal zone in the diagnostics of the position controller
GOAL_TOLERANCE = 'goal tolerance [m]'
YAW_TOLERANCE = 'yaw tolerance [rad]'

# standstill is below this twist, m/s and rad/s
STANDS = np.array([0.05, 0.05, 0.1])

# progress is a decrease of the error by this, m or rad
PROGRESS_DISTANCE = 0.01
PROGRESS_YAW = 0.02


def stands(twist: Array) -> bool:
    """Return whether a robot with `twist` (3,), m/s and rad/s, is at standstill."""
    return bool((np.abs(twist) < STANDS).all())


class GoalOutcome(NamedTuple):
    """
    Result of a goal: one of REASONS, and the same with its cause as text.

    Attributes
    ----------
    number : int
        Number of the goal, from 1; 0 for a rejected one.
    goal : (3,) array or None, m and rad
        In the odometry frame; None where it could not be transformed.
    distance, yaw_error : float, m and rad
        Remaining error at the last command; NaN before the first.
    time : float, s
        From the acceptance to the last command.
    """

    reason: str
    text: str
    number: int = 0
    goal: Array | None = None
    distance: float = math.nan
    yaw_error: float = math.nan
    time: float = 0.0


def refused(text: str, goal: Array | None = None) -> GoalOutcome:
    """Return the outcome of a goal that was not accepted; no other goal ends."""
    return GoalOutcome(REFUSED, text, goal=goal)


class Progress:
    """
    Progress check: detects a robot that no longer approaches its goal.

    Progress is a new smallest distance, by PROGRESS_DISTANCE, or yaw error, by PROGRESS_YAW.
    """

    def __init__(self) -> None:
        """Start without progress."""
        self._distance, self._yaw = math.inf, math.inf
        self._since = -math.inf

    def step(self, time: float, command: PositionCommand, timeout: float) -> bool:
        """Return False without progress for `timeout` s (0: always True)."""
        closer = False
        if command.distance < self._distance - PROGRESS_DISTANCE:
            self._distance = command.distance
            closer = True
        if abs(command.yaw_error) < self._yaw - PROGRESS_YAW:
            self._yaw = abs(command.yaw_error)
            closer = True
        if closer or command.reached:
            self._since = time
        return timeout == 0.0 or time - self._since <= timeout


class GoalLife:
    """
    Lifecycle of the present goal.

    Attributes
    ----------
    number : int
        Number of the present goal: goals accepted so far.
    running, held : bool
        It has not terminated; it was reached and is held.
    distance, took : float, m and s
        Remaining distance at its last command, NaN before the first, and the time until then.

    Examples
    --------
    >>> life = GoalLife()
    >>> life.begin(np.array([1.0, 0.0, 0.0]), 5.0)
    >>> life.begin(np.array([2.0, 0.0, 0.0]), 6.0).reason
    'preempted'
    >>> life.end(CANCELLED, 'cancelled').number, life.end(CANCELLED, 'cancelled')
    (2, None)
    """

    def __init__(self) -> None:
        """Start without a goal."""
        self.number = 0
        self.running = False
        self.held = False
        self._goal: Array | None = None
        self._progress = Progress()
        self._begin = -math.inf
        self.took = 0.0
        self.distance = self._yaw_error = math.nan

    def begin(self, goal: Array, time: float) -> GoalOutcome | None:
        """Accept a goal (3,) in the odometry frame at `time`, s; return that of the old one."""
        before = self.end(PREEMPTED, f'goal {self.number + 1} took its place')
        self.number = self.number + 1
        self.running = True
        self.held = False
        self._goal = goal
        self._progress = Progress()
        self._begin = time
        self.took = 0.0
        self.distance = self._yaw_error = math.nan
        return before

    def step(self, time: float, command: PositionCommand, twist: Array,
             progress_timeout: float, obstacle: str = '') -> GoalOutcome | None:
        """
        Process a `command` and the measured `twist` (3,); return the outcome at the end.

        `time`, s, is robot time of the odometry. A `progress_timeout`, s, of 0 disables the
        progress check. `obstacle` is what keeps the robot from its goal, empty without one.
        """
        if not (self.running or self.held):
            return None
        self.distance, self._yaw_error = command.distance, command.yaw_error
        self.took = time - self._begin
        closer = self._progress.step(time, command, progress_timeout)
        if self.running and command.reached and stands(twist):
            self.running = False
            self.held = True
            # no minus before a zero
            yaw_error = round(command.yaw_error, 4) + 0.0
            return self._outcome(REACHED, f'{command.distance:.4f} m and {yaw_error:.4f} rad '
                                          f'after {self.took:.2f} s')
        if not closer:
            why = f'; {obstacle}' if obstacle else ''
            return self.end(NO_PROGRESS, f'no progress for {progress_timeout} s '
                                         f'(progress_timeout){why}')
        return None

    def end(self, reason: str, text: str) -> GoalOutcome | None:
        """Return the outcome of the present goal for `reason`; None if it has terminated."""
        news = self.running or (self.held and reason not in (CANCELLED, PREEMPTED))
        self.running = self.held = False
        return self._outcome(reason, text) if news else None

    def _outcome(self, reason: str, text: str) -> GoalOutcome:
        return GoalOutcome(reason, text, self.number, self._goal, self.distance, self._yaw_error,
                           self.took)

    def time_left(self, speed: float, yaw_rate: float) -> float:
        """
        Return the estimated time remaining, s, at `speed`, m/s, and `yaw_rate`, rad/s.

        The longer of both motions, without acceleration; 0 before the first command.
        """
        if math.isnan(self.distance):
            return 0.0
        return max(self.distance / speed, abs(self._yaw_error) / yaw_rate)
