# SPDX-License-Identifier: Apache-2.0
"""Paths of the platform, driven and planned, and the uncertainty of its odometry."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import CasterRobot
from c3p_kinematics.singularity import length_scale
from c3p_viewers.scene.colours import CASTERS, GOOD, colour
from c3p_viewers.scene.frame import LIFT
from c3p_viewers.scene.settings import SceneSettings
from c3p_viewers.scene.shapes import Line, Shape, raised

# a pose this far from the last one is not motion: odometry was reset, or the node was idle, m
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
        self._spacing = spacing
        self._turn = turn
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
        x, y, yaw = np.asarray(pose, float).tolist()
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


# the ellipse holds the place, and the sector the heading, with a probability of 95 %: square root
# of χ² of two degrees, and of one
ELLIPSE = 2.4477
SECTOR = 1.9600

# points around the ellipse, length of the sector, size; smaller ellipses are not seen, size
AROUND = 36
REACH = 1.6
LEAST = 0.01


def uncertainty(robot: CasterRobot, pose: ArrayLike, covariance: ArrayLike, frame: str,
                settings: SceneSettings) -> tuple[Shape, ...]:
    """
    Return ``uncertainty_place`` and ``uncertainty_heading``, unless they are too small to see.

    An ellipse on the ground and a sector of headings: from the covariance of an Odometry, whose
    variances of z, roll and pitch are large, RViz would draw an ellipsoid as high as a mountain.

    Parameters
    ----------
    robot : CasterRobot
        Gives the size.
    pose : (3,) array_like, m and rad
        X, Y, yaw in `frame`, whose ground is at zero.
    covariance : (3, 3) array_like, m² and rad²
        Of X, Y and yaw.
    frame : str
        Of the odometry.
    settings : SceneSettings

    Examples
    --------
    >>> robot = CasterRobot.regular(1.0, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> flat = np.diag([0.04, 0.01, 0.0])
    >>> ellipse, = uncertainty(robot, [1, 2, 0.5], flat, 'odom', SceneSettings())
    >>> np.ptp(ellipse.points, axis=0).round(2).tolist()  # 2·2.45·0.2 m, 2·2.45·0.1 m
    [0.98, 0.49, 0.0]
    """
    x, y, yaw = np.asarray(pose, float).tolist()
    spread = np.asarray(covariance, float)
    size = length_scale(robot)
    paint = colour(CASTERS[3])
    width = 0.7 * settings.line_width * size
    shapes: list[Shape] = []
    # a covariance from a message may be negative by rounding
    variance, axes = np.linalg.eigh(spread[:2, :2])
    reach = ELLIPSE * np.sqrt(np.maximum(variance, 0.0))
    if reach.max() >= LEAST * size:
        angle = np.linspace(0.0, 2 * math.pi, AROUND + 1)
        ring = np.stack([np.cos(angle), np.sin(angle)], axis=-1) * reach @ axes.T + [x, y]
        shapes.append(Line('uncertainty_place', frame, paint, raised(ring, LIFT * size), width))
    half = min(SECTOR * math.sqrt(max(spread[2, 2], 0.0)), math.pi)
    if half >= LEAST:
        ends = [(x + REACH * size * math.cos(a), y + REACH * size * math.sin(a))
                for a in (yaw - half, yaw + half)]
        shapes.append(Line('uncertainty_heading', frame, paint,
                           raised([ends[0], (x, y), ends[1]], LIFT * size), width))
    return tuple(shapes)
