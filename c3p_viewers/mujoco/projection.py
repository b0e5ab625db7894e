# SPDX-License-Identifier: Apache-2.0
"""Where a point of the floor frame appears in a picture of MuJoCo's."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_viewers.mujoco.mujoco_studio import View

# MuJoCo's free camera: angle of view from the lower to the upper edge, and the height of what a
# view of the studio looks at, m
FIELD_OF_VIEW, LOOKED_AT = math.radians(45), 0.06


def project(points: ArrayLike, view: View, size: Sequence[int]) -> Array:
    """
    Return where points appear, in pixels from the upper left corner.

    A pinhole camera at ``c − D f`` that looks along f; f, s and u are the unit vectors of sight,
    to the right and upwards, H the height of the picture and γ the angle of view:
    ``(column, row) = middle + H/(2 tan(γ/2)) (s·p, −u·p)/(f·p)`` with p from the camera.

    Parameters
    ----------
    points : (k, 3) array_like, m
        In the floor frame.
    view : View
    size : (2,) sequence of int, pixels
        Width and height.

    Returns
    -------
    (k, 2) array
        nan for what is behind the camera.

    Examples
    --------
    >>> view = View((0.0, 0.0), 2.0, 0.0, math.radians(30))
    >>> project([(0.0, 0.0, 0.06), (0.0, -0.5, 0.06)], view, (1280, 720)).round().tolist()
    [[640.0, 360.0], [857.0, 360.0]]
    """
    azimuth, down = view.azimuth, view.elevation
    forward = np.array([math.cos(down) * math.cos(azimuth), math.cos(down) * math.sin(azimuth),
                        -math.sin(down)])
    right = np.array([math.sin(azimuth), -math.cos(azimuth), 0.0])
    up = np.cross(right, forward)
    camera = np.array([*view.centre[:2], LOOKED_AT]) - view.distance * forward
    seen = np.atleast_2d(np.asarray(points, float)) - camera
    depth = seen @ forward
    depth = np.where(depth > 0.0, depth, np.nan)
    scale = size[1] / (2.0 * math.tan(FIELD_OF_VIEW / 2.0))
    return np.column_stack([size[0] / 2 + scale * (seen @ right) / depth,
                            size[1] / 2 - scale * (seen @ up) / depth])
