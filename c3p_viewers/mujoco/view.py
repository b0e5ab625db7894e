# SPDX-License-Identifier: Apache-2.0
"""Camera of MuJoCo's pictures, and the projection of points into them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array

# iterations of a fit: perspective makes each one a little rough
FITTING = 25


class View(NamedTuple):
    """
    Pinhole camera that looks at a target.

    Attributes
    ----------
    target : (3,), m
        Point in the middle of the picture.
    distance : float, m
    azimuth, elevation : float, rad
        Of the line of sight: azimuth about +Z from +X, elevation of the camera above the horizon.
    opening : float, rad
        Angle of view from the lower to the upper edge.
    """

    target: Sequence[float] | Array = (0.0, 0.0, 0.06)
    distance: float = 1.7
    azimuth: float = math.radians(-125)
    elevation: float = math.radians(28)
    opening: float = math.radians(45)

    def axes(self) -> Array:
        """Return the unit vectors of sight, to the right and upwards (3, 3), row by row."""
        flat = math.cos(self.elevation)
        up = math.sin(self.elevation)
        sight = np.array([flat * math.cos(self.azimuth), flat * math.sin(self.azimuth), -up])
        right = np.array([math.sin(self.azimuth), -math.cos(self.azimuth), 0.0])
        return np.array([sight, right, np.cross(right, sight)])

    def project(self, points: ArrayLike, size: Sequence[int]) -> Array:
        """
        Return the places of points in the picture, in pixels from the upper left corner.

        With the camera at ``c − D f``, the axes f, s, u of `axes`, the height H of the picture
        and the opening γ: ``(column, row) = middle + H/(2 tan(γ/2)) (s·p, −u·p)/(f·p)``.

        Parameters
        ----------
        points : (k, 3) array_like, m
        size : (2,) sequence of int, pixels
            Width and height.

        Returns
        -------
        (k, 2) array
            nan behind the camera.

        Examples
        --------
        >>> view = View((0.0, 0.0, 0.06), 2.0, 0.0, math.radians(30))
        >>> view.project([(0.0, 0.0, 0.06), (0.0, -0.5, 0.06)], (1280, 720)).round().tolist()
        [[640.0, 360.0], [857.0, 360.0]]
        """
        sight, right, up = self.axes()
        seen = np.atleast_2d(np.asarray(points, float)) - self.target + self.distance * sight
        depth = seen @ sight
        scale = 0.5 * size[1] / math.tan(0.5 * self.opening) / np.where(depth > 0.0, depth, np.nan)
        return np.column_stack([0.5 * size[0] + scale * (seen @ right),
                                0.5 * size[1] - scale * (seen @ up)])

    def fitted(self, points: ArrayLike, size: Sequence[int], margin: float = 0.02) -> View:
        """
        Return the view from the same direction that just contains all points.

        Parameters
        ----------
        points : (n, 3) array_like, m
        size : (2,) sequence of int, pixels
            Width and height.
        margin : float
            Fraction of the picture that stays free at each edge.
        """
        view = self
        box = np.asarray(size)
        for _ in range(FITTING):
            at = view.project(points, size)
            low = at.min(axis=0)
            high = at.max(axis=0)
            aside, down = 0.5 * (low + high - box)
            _, right, up = view.axes()
            per_pixel = 2.0 * view.distance * math.tan(0.5 * view.opening) / size[1]
            scale = float(np.max((high - low) / box)) / (1.0 - 2.0 * margin)
            view = view._replace(target=view.target + per_pixel * (aside * right - down * up),
                                 distance=view.distance * scale)
        return view
