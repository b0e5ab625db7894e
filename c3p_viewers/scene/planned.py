# SPDX-License-Identifier: Apache-2.0
"""The way that a controller is about to take."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import CasterRobot
from c3p_kinematics.singularity import length_scale
from c3p_viewers.scene.colours import GOOD, colour
from c3p_viewers.scene.frame import LIFT
from c3p_viewers.scene.settings import SceneSettings
from c3p_viewers.scene.shapes import Line, Shape, raised


def planned_line(robot: CasterRobot, poses: ArrayLike, frame: str, settings: SceneSettings
                 ) -> tuple[Shape, ...]:
    """
    Return ``planned``, a line through the poses ahead; nothing where they are one place.

    Parameters
    ----------
    robot : CasterRobot
        Gives the size.
    poses : (k, 2 or more) array_like, m
        X, Y and what else, in `frame`, whose ground is at zero.
    frame : str
        Of the odometry.
    settings : SceneSettings

    Returns
    -------
    tuple of Shape
    """
    places = np.atleast_2d(np.asarray(poses, float))[:, :2]
    size = length_scale(robot)
    if len(places) < 2 or np.ptp(places, axis=0).max() < LIFT * size:
        return ()
    return (Line('planned', frame, colour(GOOD), raised(places, LIFT * size),
                 settings.line_width * size),)
