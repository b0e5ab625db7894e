# SPDX-License-Identifier: Apache-2.0
"""
When a drive commands zeros: before it begins, and to be followed again after something has locked.

A velocity controller that was locked, and motors that have missed its torques, follow again after
a zero (docs/architecture.md). The position controller sends that zero and goes on to its goal. It
must not go on to the goal of another robot, or of an odometry that was started again.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller import goal_life
from c3p_controller.command_guard import STARTING, STOPPED
from c3p_description.model import Array
from c3p_kinematics.se2 import wrap

# a drive begins with zero commands for this long, s: one alone might get lost
ZEROS = 0.1

# a robot that stands for this long while commanded to move gets zeros for this long, s: they open
# a wheel gate that has closed without a lock. Casters that turn on the spot take 1 s
STUCK_AFTER, STUCK_ZEROS = 4.0, 0.3

# a robot slower than this stands still, m/s and rad/s
STILL = np.array([0.005, 0.005, 0.01])

# a larger step of the stamps is a system clock that was set, s
CLOCK_STEP = 10.0

# largest change of the pose over a pause, besides speed times its length, m and rad
COME_BACK = np.array([0.1, 0.1, 0.3])


def robot_step(step: float | None) -> float:
    """Return by how much robot time goes on, s, when stamps go on by `step` s (None: anew)."""
    return step if step is not None and step < CLOCK_STEP else 0.0


def astray(before: Array, pose: Array, gap: float, speed: float, yaw_rate: float) -> str:
    """
    Return how a pose cannot be that of the same robot after a gap, in words; empty when it can.

    Parameters
    ----------
    before, pose : (3,) array, m and rad
        Before and after the gap.
    gap : float, s
    speed, yaw_rate : float, m/s and rad/s
        Of the drive.

    Examples
    --------
    >>> astray(np.zeros(3), np.array([0.3, 0.0, 0.0]), 1.0, 0.5, 1.5)
    ''
    >>> astray(np.array([2.0, 0.0, 0.0]), np.zeros(3), 1.0, 0.5, 1.5)
    'the odometry came back 2.00 m and 0.00 rad from where it was 1.00 s before'
    """
    moved = np.abs(pose - before)
    moved[2] = abs(float(wrap(pose[2] - before[2])))
    if (moved <= COME_BACK + gap * np.array([speed, speed, yaw_rate])).all():
        return ''
    return (f'the odometry came back {math.hypot(*moved[:2]):.2f} m and {moved[2]:.2f} rad from '
            f'where it was {gap:.2f} s before')


def lock_ends(before: str | None, lock: str) -> tuple[str, str] | None:
    """
    Return reason and text of a goal that ends with a lock of the velocity controller, else None.

    A pause is driven on after. A controller that has stopped the robot, or was started again, may
    not find it moving by itself.

    Parameters
    ----------
    before : str or None
        The lock before, None when none was received.
    lock : str

    Examples
    --------
    >>> lock_ends('', 'nothing to answer for 0.40 s')
    >>> lock_ends('', 'starting')
    ('robot restarted', 'the velocity controller was started again')
    """
    if lock.startswith(STOPPED):
        return goal_life.STOPPED, lock
    if lock == STARTING and before is not None:
        return goal_life.RESTARTED, 'the velocity controller was started again'
    return None


class Opening:
    """
    Says whether a drive has to command zeros now.

    Attributes
    ----------
    count : int
        How often a drive has been opened again.

    Examples
    --------
    >>> opening, moving = Opening(), np.array([0.3, 0.0, 0.0])
    >>> opening.again(0.0)
    >>> [opening.zeros(t, moving, True, lock='') for t in (0.0, 0.05, 0.2)]
    [True, True, False]
    >>> opening.zeros(5.0, moving, True, lock='no odom')
    True
    """

    def __init__(self) -> None:
        """Start open."""
        self.count = 0
        self._fresh, self._locked = False, False
        self._until, self._still = -math.inf, math.inf

    def begin(self, stands: bool) -> None:
        """Begin a drive: where the robot stands, with zeros, once there is a subscriber."""
        self._fresh, self._still = stands, math.inf

    def again(self, time: float, zeros: float = ZEROS) -> None:
        """Command zeros from `time` on for some time, both s."""
        self._until, self._still = time + zeros, math.inf
        self.count += 1

    def taken(self, time: float, found: float, anybody: bool) -> None:
        """
        Begin the zeros when the commands have a subscriber.

        Parameters
        ----------
        time : float, s
        found : float, s
            Time of zeros for a subscriber that has just been discovered; 0: there is none.
        anybody : bool
            The commands have a subscriber now; without one the zeros would be lost.
        """
        if self._fresh or found:
            self._fresh = not anybody
            self._until = time + (found or ZEROS)

    def zeros(self, time: float, twist: Array, asked: bool, lock: str) -> bool:
        """
        Return whether to command zeros at `time`.

        Parameters
        ----------
        time : float, s
            Of the robot; goes on also where stamps jump.
        twist : (3,) array, m/s and rad/s
            Sensed.
        asked : bool
            The drive would ask the robot to move, and it is not in its goal zone.
        lock : str
            Why the velocity controller follows no command; empty when it does.
        """
        if lock:
            self.count += not self._locked
            self._locked, self._still = True, math.inf
            return True
        self._locked = False
        if self._fresh or time < self._until:
            return True
        if not asked or (np.abs(twist) > STILL).any():
            self._still = math.inf
            return False
        self._still = min(self._still, time)
        if time - self._still > STUCK_AFTER:
            self.again(time, STUCK_ZEROS)
            return True
        return False
