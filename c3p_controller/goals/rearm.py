# SPDX-License-Identifier: Apache-2.0
"""
Zero commands of a drive: before its begin, and to re-arm the chain after a lock.

A locked velocity controller, and motors that missed its torques, re-arm with a zero
(docs/architecture.md). The position controller sends that zero and continues to its goal, unless
the robot was replaced or its odometry restarted.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.command_interlock import STARTING, STOPPED
from c3p_controller.goals import goal_life
from c3p_description.model import Array
from c3p_kinematics.se2 import wrap

# duration of the zero commands of a drive, s: a single one might get lost
ZEROS = 0.1

# standstill of the first duration with motion commanded is answered with zeros of the second, s:
# they open a wheel gate that has closed without a lock. Casters that turn on the spot take 1 s
STUCK_AFTER = 4.0
STUCK_ZEROS = 0.3

# standstill is below this twist, m/s and rad/s
STILL = np.array([0.005, 0.005, 0.01])

# a larger step of the stamps is a change of the system clock, s
CLOCK_STEP = 10.0

# largest change of the pose over a pause, besides speed times its length, m and rad
COME_BACK = np.array([0.1, 0.1, 0.3])


def robot_step(step: float | None) -> float:
    """Return the step of robot time, s, for a `step` of the stamps, s (None: restarted)."""
    return step if step is not None and step < CLOCK_STEP else 0.0


def astray(before: Array, pose: Array, gap: float, speed: float, yaw_rate: float) -> str:
    """
    Return a report of a pose that is implausible after a gap; empty for a plausible one.

    `before` and `pose` (3,) are those before and after the `gap`, s; `speed`, m/s, and `yaw_rate`,
    rad/s, are the largest of the drive.

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

    A drive continues after a pause. After a stop by the controller, or its restart, the robot must
    not move on its own. The lock `before` is None before the first message; a lock that lasts is
    published again once a second.

    Examples
    --------
    >>> lock_ends('', 'nothing to answer for 0.40 s')
    >>> lock_ends('starting', 'starting')
    >>> lock_ends('', 'starting')
    ('robot restarted', 'the velocity controller was started again')
    """
    if lock.startswith(STOPPED):
        return goal_life.STOPPED, lock
    if lock == STARTING and before not in (None, STARTING):
        return goal_life.RESTARTED, 'the velocity controller was started again'
    return None


class Opening:
    """
    Schedule of the zero commands of a drive.

    Attributes
    ----------
    count : int
        Number of re-armings.

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
        """Start without zeros."""
        self.count = 0
        self._fresh = False
        self._locked = False
        self._until, self._still = -math.inf, math.inf

    def begin(self, stands: bool) -> None:
        """Begin a drive: from standstill with zeros, as soon as a subscriber is matched."""
        self._fresh, self._still = stands, math.inf

    def again(self, time: float, zeros: float = ZEROS) -> None:
        """Command zeros from `time` on, for the duration `zeros`, both s."""
        self._until, self._still = time + zeros, math.inf
        self.count += 1

    def matched(self, time: float, found: float, subscribed: bool) -> None:
        """
        Start the zeros if the commands are `subscribed`; otherwise they would be lost.

        `found`, s, is their duration for a newly matched subscriber at `time`, s; 0 without one.
        """
        if self._fresh or found:
            self._fresh = not subscribed
            self._until = time + (found or ZEROS)

    def zeros(self, time: float, twist: Array, moves: bool, lock: str) -> bool:
        """
        Return whether to command zeros at `time`, s, of the robot, continuous where stamps jump.

        `twist` (3,) is measured. `moves` is true when the drive commands motion outside its goal
        zone. `lock` is that of the velocity controller, empty without one.
        """
        if lock:
            self.count += not self._locked
            self._locked, self._still = True, math.inf
            return True
        self._locked = False
        if self._fresh or time < self._until:
            return True
        if not moves or (np.abs(twist) > STILL).any():
            self._still = math.inf
            return False
        self._still = min(self._still, time)
        if time - self._still > STUCK_AFTER:
            self.again(time, STUCK_ZEROS)
            return True
        return False
