# SPDX-License-Identifier: Apache-2.0
"""Places, directions and sizes that all parts of a caster scene share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.casters import batched
from c3p_kinematics.singularity import length_scale
from c3p_viewers.scene.settings import SceneSettings

# heights above the ground, so that the ground does not hide flat shapes, and labels are above
# the robot, and motions just over it; in sizes
LIFT = 0.01
ABOVE = 1.6
OVER = 0.9


class Casters(NamedTuple):
    """
    Places and directions of the casters, in ``base_link``.

    Attributes
    ----------
    robot : CasterRobot
    settings : SceneSettings
    size : float, m
        L, the unit of the settings.
    middle : (2,) array, m
        Mean of the pivots.
    contact : (n, 2) array, m
        ``m − d e``.
    along, across : (n, 2) arrays
        e, the rolling direction, and a, the axle's.
    """

    robot: CasterRobot
    settings: SceneSettings
    size: float
    middle: Array
    contact: Array
    along: Array
    across: Array

    @property
    def floor(self) -> float:
        """Height of flat shapes, m."""
        return self.settings.ground + LIFT * self.size

    @property
    def above(self) -> float:
        """Height of the label over the robot, m."""
        return self.settings.ground + ABOVE * self.size

    @property
    def over(self) -> float:
        """Height of motions, just over the robot, m."""
        return self.settings.ground + OVER * self.size

    @property
    def width(self) -> float:
        """Width of lines, m."""
        return self.settings.line_width * self.size

    def cut(self, vector: ArrayLike, most: float) -> Array:
        """Return a vector, shortened to `most` sizes where it is longer."""
        vector = np.asarray(vector, float)
        length = float(np.linalg.norm(vector))
        return vector * min(1.0, most * self.size / length) if length > 0.0 else vector


def casters(robot: CasterRobot, steering: ArrayLike, settings: SceneSettings) -> Casters:
    """
    Return the casters at given steering angles.

    Raises
    ------
    ValueError
        `steering` does not have one finite angle per caster.
    """
    _, (angles,) = batched(robot.count, steering=(steering, robot.count))
    cos, sin = np.cos(angles[0]), np.sin(angles[0])
    along = np.column_stack([-sin, cos])
    across = np.column_stack([cos, sin])
    contact = (robot.hip_position - robot.caster_offset[:, None] * along
               + robot.lateral_offset[:, None] * across)
    return Casters(robot, settings, length_scale(robot), robot.hip_position.mean(axis=0),
                   contact, along, across)
