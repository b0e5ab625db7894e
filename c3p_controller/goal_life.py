# SPDX-License-Identifier: Apache-2.0
"""
What becomes of a goal: every accepted goal ends, with a reason and the numbers at its end.

A goal is *reached* when the robot is in its zone and stands. It may be held from then on: a next
goal or a cancellation is no news of it any more, but that it was lost is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_controller.position_controller import PositionCommand, Progress
from c3p_description.model import Array

# how a goal may end
REACHED, CANCELLED, PREEMPTED = 'reached', 'cancelled', 'preempted'
NO_PROGRESS, NO_ODOMETRY, TIME_WENT_BACK = 'no progress', 'no odometry', 'time went back'
# the law commands what is not finite
NO_COMMAND = 'no command'
# another robot, or one that has begun anew, is where this one was
RESTARTED = 'robot restarted'
# the velocity controller has stopped the robot: its wheels spin, or its law fails
STOPPED = 'stopped'
# a goal that never was one
REFUSED = 'refused'
REASONS = (REACHED, CANCELLED, PREEMPTED, NO_PROGRESS, NO_ODOMETRY, TIME_WENT_BACK, NO_COMMAND,
           RESTARTED, STOPPED, REFUSED)

# slower than this, m/s and rad/s, a robot stands
STANDS = np.array([0.05, 0.05, 0.1])


def stands(twist: Array) -> bool:
    """Return whether a robot with `twist` (3,) stands, m/s and rad/s."""
    return bool((np.abs(twist) < STANDS).all())


class Outcome(NamedTuple):
    """
    The end of a goal.

    Attributes
    ----------
    reason : str
        One of REASONS.
    text : str
        The same for people, with what caused it.
    number : int
        Which goal, counted from 1; 0 for one that was refused.
    goal : (3,) array or None, m and rad
        In the odometry frame; None where it could not be brought there.
    distance, yaw_error : float, m and rad
        What was left at the last command; NaN before the first.
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


def refused(text: str, goal: Array | None = None) -> Outcome:
    """Return the outcome of a goal that was not accepted; nothing else ends by it."""
    return Outcome(REFUSED, text, goal=goal)


class GoalLife:
    """
    Follows the present goal from its acceptance to its end.

    Attributes
    ----------
    number : int
        Goals accepted so far; the present one's number.
    running : bool
        The present goal has not ended.
    held : bool
        It was reached and the robot stays there.
    distance : float, m
        What was left at its last command; NaN before the first.
    took : float, s
        From the acceptance of the present goal to its last command.

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
        self.number, self.running, self.held = 0, False, False
        self._goal: Array | None = None
        self._progress = Progress()
        self._begin, self.took = -math.inf, 0.0
        self.distance = self._yaw_error = math.nan

    def begin(self, goal: Array, time: float) -> Outcome | None:
        """
        Take a goal (x, y, yaw) at `time`, s; return the end of the one that it replaces.

        Parameters
        ----------
        goal : (3,) array, m and rad
            In the odometry frame.
        time : float, s
            Of the robot, at the last odometry.
        """
        before = self.end(PREEMPTED, f'goal {self.number + 1} took its place')
        self.number, self.running, self.held, self._goal = self.number + 1, True, False, goal
        self._progress = Progress()
        self._begin, self.took = time, 0.0
        self.distance = self._yaw_error = math.nan
        return before

    def step(self, time: float, command: PositionCommand, twist: Array,
             progress_timeout: float, lock: str = '') -> Outcome | None:
        """
        Follow one command; return the end of the goal when it is this one.

        Parameters
        ----------
        time : float, s
            Of the robot, at the odometry that the command answers.
        command : PositionCommand
        twist : (3,) array, m/s and rad/s
            Sensed.
        progress_timeout : float, s
            0: it is never given up for want of progress.
        lock : str
            Why the robot follows no command at present, if it does not.
        """
        if not (self.running or self.held):
            return None
        self.distance, self._yaw_error = command.distance, command.yaw_error
        self.took = time - self._begin
        closer = self._progress.step(time, command, progress_timeout)
        if self.running and command.reached and stands(twist):
            self.running, self.held = False, True
            return self._outcome(REACHED, f'{command.distance:.4f} m and {command.yaw_error:.4f} '
                                          f'rad after {self.took:.2f} s')
        if not closer:
            why = f'; the velocity controller is locked: {lock}' if lock else ''
            return self.end(NO_PROGRESS, f'no progress for {progress_timeout} s '
                                         f'(progress_timeout){why}')
        return None

    def end(self, reason: str, text: str) -> Outcome | None:
        """Return the end of the present goal for `reason`; None when that is no news of it."""
        news = self.running or (self.held and reason not in (CANCELLED, PREEMPTED))
        self.running = self.held = False
        return self._outcome(reason, text) if news else None

    def _outcome(self, reason: str, text: str) -> Outcome:
        return Outcome(reason, text, self.number, self._goal, self.distance, self._yaw_error,
                       self.took)

    def time_left(self, speed: float, yaw_rate: float) -> float:
        """
        Return about how long the rest takes at `speed`, m/s, and `yaw_rate`, rad/s.

        The longer of both ways, as if the robot drove that fast at once; 0 before the first
        command.
        """
        if math.isnan(self.distance):
            return 0.0
        return max(self.distance / speed, abs(self._yaw_error) / yaw_rate)
