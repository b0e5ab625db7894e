# SPDX-License-Identifier: Apache-2.0
"""
Shapes of the scene: lines, arrows, balls, arcs and labels.

Each has a name that is unique in its scene and stays the same over time, a frame and a colour
(red, green, blue, opacity; 0 to 1). Lengths are in metres, points in the shape's frame.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_viewers.scene.colours import Colour

# two neighbouring points of a drawn arc are at most this far apart, rad
ARC_STEP = math.radians(9)


class Line(NamedTuple):
    """Straight pieces through `points` (k, 3), `width` broad."""

    name: str
    frame: str
    colour: Colour
    points: Array
    width: float


class Arrow(NamedTuple):
    """An arrow from `start` (3,) to its tip `end` (3,); `width` is the diameter of its shaft."""

    name: str
    frame: str
    colour: Colour
    start: Array
    end: Array
    width: float


class Ball(NamedTuple):
    """A ball about `centre` (3,)."""

    name: str
    frame: str
    colour: Colour
    centre: Array
    radius: float


class Label(NamedTuple):
    """Text that faces the viewer, its middle at `position` (3,), capitals `height` high."""

    name: str
    frame: str
    colour: Colour
    position: Array
    text: str
    height: float


class Arc(NamedTuple):
    """
    A piece of a horizontal circle about `centre` (3,).

    Attributes
    ----------
    start_angle, sweep : float, rad
        From +X of the frame about +Z; a positive sweep is counter-clockwise.
    width : float, m
        Of the line.
    """

    name: str
    frame: str
    colour: Colour
    centre: Array
    radius: float
    start_angle: float
    sweep: float
    width: float

    @property
    def points(self) -> Array:
        """
        Return the points (k, 3) of the arc as a line, both ends among them.

        Examples
        --------
        >>> arc = Arc('turn', 'base_link', (0, 0, 0, 1), np.zeros(3), 2.0, 0.0, np.pi / 2, 0.01)
        >>> (arc.points[[0, -1]].round(6) + 0.0).tolist()
        [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
        """
        angle = self.start_angle + np.linspace(
            0.0, self.sweep, 2 + math.ceil(abs(self.sweep) / ARC_STEP))
        ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(len(angle))], axis=-1)
        return np.asarray(self.centre, float) + self.radius * ring


Shape = Line | Arrow | Ball | Label | Arc


def arc_head(arc: Arc, name: str, length: float) -> Arrow:
    """
    Return the arrow head at the far end of an arc, its tip `length` beyond it along the tangent.

    Parameters
    ----------
    arc : Arc
    name : str
        Of the arrow.
    length : float, m
        Of the arrow.
    """
    angle = arc.start_angle + arc.sweep
    cos, sin = math.cos(angle), math.sin(angle)
    end = arc.centre + arc.radius * np.array([cos, sin, 0.0])
    tangent = math.copysign(length, arc.sweep) * np.array([-sin, cos, 0.0])
    return Arrow(name, arc.frame, arc.colour, end, end + tangent, arc.width)


def raised(point: ArrayLike, height: float) -> Array:
    """Return points (…, 3) at this height from planar ones (…, 2)."""
    plane = np.asarray(point, float)
    out = np.empty((*plane.shape[:-1], 3))
    out[..., :2] = plane
    out[..., 2] = height
    return out
