# SPDX-License-Identifier: Apache-2.0
"""Paths of the platform: the driven one as poses, and the planned one as a line."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import CasterRobot
from c3p_kinematics.singularity import length_scale
from c3p_viewers.scene.colours import GOOD, colour
from c3p_viewers.scene.frame import LIFT
from c3p_viewers.scene.settings import SceneSettings
from c3p_viewers.scene.shapes import Line, Shape, raised

# a pose this far from the last one is not motion: odometry was reset, or the node was idle, m
JUMP = 0.5


class Trail:
    """
    Keeps poses that differ by a distance or an angle from the one before.

    `length`: poses kept, two or more; `spacing` [m]: distance of neighbouring poses; `turn` [rad]:
    angle that begins a new pose on the spot.

    Attributes: `poses` (x, y, yaw): oldest first.
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


def planned_line(robot: CasterRobot, poses: ArrayLike, frame: str, settings: SceneSettings
                 ) -> tuple[Shape, ...]:
    """
    Return ``planned``, a line through the poses ahead; nothing if they are one place.

    Parameters
    ----------
    robot : CasterRobot
        Gives the size.
    poses : (k, 2 or more) array_like, m
        X, Y and what else, in `frame`, whose ground is at zero.
    frame : str
        Of the odometry.
    settings : SceneSettings
    """
    places = np.atleast_2d(np.asarray(poses, float))[:, :2]
    size = length_scale(robot)
    if len(places) < 2 or np.ptp(places, axis=0).max() < LIFT * size:
        return ()
    return (Line('planned', frame, colour(GOOD), raised(places, LIFT * size),
                 settings.line_width * size),)
