# SPDX-License-Identifier: Apache-2.0
"""Where the platform has been: poses a step apart, the last stretch of the way."""

from __future__ import annotations

import math
from collections import deque

from numpy.typing import ArrayLike

# a pose this far from the last one is no motion: the odometry was set anew, or nobody listened, m
JUMP = 0.5


class Trail:
    """
    Keeps poses that differ by a distance or an angle from the one before.

    Parameters
    ----------
    length : int
        Poses kept, two or more.
    spacing : float, m
        Distance of neighbouring poses.
    turn : float, rad
        Angle that begins a new pose on the spot.

    Attributes
    ----------
    poses : deque of (x, y, yaw)
        Oldest first.
    """

    def __init__(self, length: int = 2000, spacing: float = 0.02, turn: float = 0.1) -> None:
        """Start empty."""
        self._spacing, self._turn = spacing, turn
        self.poses: deque[tuple[float, float, float]] = deque(maxlen=length)

    def add(self, pose: ArrayLike) -> bool:
        """
        Take a pose (3,) where it is far enough from the last; return whether it was.

        A pose farther than `JUMP` begins a new trail.

        Examples
        --------
        >>> trail = Trail(spacing=0.1)
        >>> [trail.add([x, 0.0, 0.0]) for x in (0.0, 0.05, 0.1)]
        [True, False, True]
        """
        x, y, yaw = (float(v) for v in pose)
        if self.poses:
            before = self.poses[-1]
            way = math.hypot(x - before[0], y - before[1])
            turned = abs(math.remainder(yaw - before[2], 2 * math.pi))
            if way < self._spacing and turned < self._turn:
                return False
            if way > JUMP:
                self.poses.clear()
        self.poses.append((x, y, yaw))
        return True
