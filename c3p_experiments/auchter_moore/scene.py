# SPDX-License-Identifier: Apache-2.0
"""
Vehicle and ground as pictures, without a screen, a graphics card or OpenGL.

A depth buffer, sunlight with shadows and a texture with lines of equal height (_scene_kernels.py);
the same computer gives the same picture everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c3p_experiments.auchter_moore import _scene_kernels as kernels
from c3p_experiments.auchter_moore.scene_shapes import Shape, ground, joined
from c3p_kinematics.terrain import Terrain

Array = NDArray[np.float64]
Range = tuple[float, float]

# of the ground: from low to high, and of the lines drawn on it
HEIGHTS = np.array([(0.44, 0.55, 0.50), (0.60, 0.68, 0.53), (0.80, 0.77, 0.58),
                    (0.88, 0.80, 0.67), (0.95, 0.93, 0.89)])
LINES = (0.30, 0.29, 0.26)
# lines of equal height, and of equal x and y, are so far apart, m
CONTOUR, MESH = 0.1, 1.0
# half widths of these lines, and of a texel, m
CONTOUR_WIDTH, MESH_WIDTH, TEXEL = 0.004, 0.006, 0.006
# vertices of the ground, the foot of its walls below the lowest place, m
SPACING, FOOT = 0.06, 0.2
# to the sun; texels of its shadow map; as many pixels are drawn for one, each way
SUN = np.array([0.42, -0.50, 0.76]) / np.linalg.norm([0.42, -0.50, 0.76])
SHADOW, FINER = 1536, 2
# nearness by which the sun's map may be off, m
SLACK = 0.012
# sky from above to below, as printed; a page is white
SKY = ((0.62, 0.72, 0.84), (0.93, 0.95, 0.97))
WHITE = ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
# steps by which a view comes to hold what it shall
FITTING = 25
# from what is printed to what shines, and back
GAMMA = 2.2
PRINTED = (255.0 * np.linspace(0.0, 1.0, 8192)**(1.0 / GAMMA) + 0.5).astype(np.uint8)


class View(NamedTuple):
    """
    Where a picture is taken from.

    Attributes
    ----------
    target : (3,), m
        In the middle of the picture.
    distance : float, m
    azimuth, elevation : float, rad
        From the target to the eye: around z from +X, and above the horizon.
    opening : float, rad
        Angle between the upper and the lower edge.
    """

    target: Sequence[float]
    distance: float
    azimuth: float = math.radians(-75)
    elevation: float = math.radians(27)
    opening: float = math.radians(18)

    @property
    def eye(self) -> Array:
        """Place of the eye (3,), m."""
        flat = self.distance * math.cos(self.elevation)
        return np.asarray(self.target, float) + [
            flat * math.cos(self.azimuth), flat * math.sin(self.azimuth),
            self.distance * math.sin(self.elevation)]

    def project(self, points: ArrayLike, size: Sequence[int]) -> Array:
        """
        Return column, row and nearness (1/m) of points.

        Parameters
        ----------
        points : (n, 3) array_like, m
            In {G}.
        size : (int, int)
            Width and height of the picture, pixels.
        """
        right, up = self._across()
        away = np.asarray(points, float) - self.eye
        depth = away @ np.cross(up, right)
        near = np.where(depth > 0.0, 1.0, -1.0) / np.maximum(np.abs(depth), 1e-9)
        scale = 0.5 * size[1] / math.tan(0.5 * self.opening) * near
        return np.column_stack([0.5 * size[0] + scale * (away @ right),
                                0.5 * size[1] - scale * (away @ up), near])

    def fitted(self, points: ArrayLike, size: Sequence[int], margin: float = 0.02) -> View:
        """
        Return the view from the same direction that just holds all `points`.

        Parameters
        ----------
        points : (n, 3) array_like, m
        size : (int, int)
            Width and height of the picture, pixels.
        margin : float
            Part of the picture that stays free at each edge.
        """
        view, points = self, np.asarray(points, float)
        for _ in range(FITTING):
            at = view.project(points, size)[:, :2]
            low, high = at.min(axis=0), at.max(axis=0)
            off = 0.5 * (low + high) - 0.5 * np.asarray(size, float)
            per_pixel = 2.0 * view.distance * math.tan(0.5 * view.opening) / size[1]
            right, up = view._across()
            target = view.target + per_pixel * (off[0] * right - off[1] * up)
            scale = np.max((high - low) / np.asarray(size, float)) / (1.0 - 2.0 * margin)
            view = view._replace(target=target, distance=view.distance * scale)
        return view

    def _across(self) -> tuple[Array, Array]:
        """Return the directions to the right and upwards in the picture."""
        ahead = np.asarray(self.target, float) - self.eye
        ahead /= np.linalg.norm(ahead)
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        return right, np.cross(right, ahead)


class Scene:
    """
    A piece of ground on which things are drawn.

    Parameters
    ----------
    terrain : Terrain
    x_range, y_range : (float, float), m
        The piece.
    heights : (float, float), m, optional
        Of the lowest and the highest colour; else those of the piece.
    texel : float, m
        Of the texture; a coarse one for small pictures.
    """

    def __init__(self, terrain: Terrain, x_range: Range, y_range: Range,
                 heights: Range | None = None, texel: float = TEXEL) -> None:
        """Build the ground and what is painted on it."""
        self.x_range, self.y_range = x_range, y_range
        self._ground, self._painted = ground(terrain, x_range, y_range, SPACING, FOOT)
        top = self._ground.vertices[:, 2]
        self.heights = heights or (float(top[:self._painted // 2].min()), float(top.max()))
        self._texture = (_texture(terrain, x_range, y_range, self.heights, texel)**GAMMA)
        self._place = np.array([x_range[0], y_range[0], 1.0 / texel, 1.0 / texel])

    @property
    def corners(self) -> Array:
        """The corners of the piece: above, then at the foot of the walls (8, 3), m."""
        v = self._ground.vertices
        flat = [(x, y) for x in self.x_range for y in self.y_range]
        tops = [v[np.argmin(np.hypot(v[:, 0] - x, v[:, 1] - y) - 1e-3 * v[:, 2])]
                for x, y in flat]
        return np.array([*tops, *((x, y, v[:, 2].min()) for x, y in flat)])

    def draw(self, shapes: Iterable[Shape], view: View, size: Sequence[int],
             sky: Sequence[Sequence[float]] = SKY) -> NDArray[np.uint8]:
        """
        Return a picture (height, width, 3).

        Parameters
        ----------
        shapes : iterable of Shape
            On the ground, in {G}.
        view : View
        size : (int, int)
            Width and height, pixels.
        sky : two (3,) sequences
            Above and below.
        """
        everything = joined([self._ground, *shapes])
        colours = everything.colours.copy()
        colours[:, :3] **= GAMMA
        large = FINER * size[0], FINER * size[1]
        light, shadow = self._sunshine(everything)
        corners = view.project(everything.vertices, large)
        near, which = np.zeros(large[::-1]), np.full(large[::-1], -1, np.int32)
        kernels.rasterise(corners, everything.triangles, near, which)
        above, below = np.asarray(sky, float)**GAMMA
        share = np.linspace(0.0, 1.0, large[1])[:, None, None]
        picture = np.empty((*large[::-1], 3))
        picture[:] = (1.0 - share) * above + share * below
        kernels.shade(which, corners, everything.triangles, everything.vertices,
                      everything.normals, colours, self._painted, self._texture, self._place,
                      SUN, view.eye, light, shadow, SLACK, picture)
        out = np.empty((size[1], size[0], 3), np.uint8)
        kernels.develop(picture, FINER, PRINTED, out)
        return out

    def _sunshine(self, shape: Shape) -> tuple[Array, Array]:
        """Return {G} → shadow map (3, 4), and the map: nearness to the sun, m."""
        side = np.cross(SUN, [0.0, 0.0, 1.0])
        axes = np.stack([side / np.linalg.norm(side), np.cross(SUN, side), SUN])
        axes[1] /= np.linalg.norm(axes[1])
        points = shape.vertices @ axes.T
        low, high = points.min(axis=0), points.max(axis=0)
        light = np.zeros((3, 4))
        for i in range(2):
            scale = (SHADOW - 1) / (high[i] - low[i])
            light[i, :3], light[i, 3] = scale * axes[i], -scale * low[i]
        # nearness above zero everywhere
        light[2, :3], light[2, 3] = SUN, 1.0 - low[2]
        shadow, which = np.zeros((SHADOW, SHADOW)), np.empty((SHADOW, SHADOW), np.int32)
        kernels.rasterise(shape.vertices @ light[:, :3].T + light[:, 3], shape.triangles, shadow,
                          which)
        return light, shadow


def height_colours(heights: ArrayLike, limits: Range) -> Array:
    """Return the colours (…, 3) of `heights` between the `limits`, m."""
    share = (np.asarray(heights, float) - limits[0]) / max(limits[1] - limits[0], 1e-9)
    marks = np.linspace(0.0, 1.0, len(HEIGHTS))
    return np.stack([np.interp(share, marks, HEIGHTS[:, i]) for i in range(3)], axis=-1)


def _texture(terrain: Terrain, x_range: Range, y_range: Range, limits: Range,
             texel: float) -> Array:
    """Return colours by height with lines of equal height and of equal x and y."""
    x = np.arange(x_range[0], x_range[1] + texel, texel)[None, :]
    y = np.arange(y_range[0], y_range[1] + texel, texel)[:, None]
    g, gx, gy = (value + 0.0 * (x + y) for value in terrain.derivatives(x, y)[:3])
    colours = height_colours(g, limits)
    slope = np.hypot(gx, gy)
    # distance on the map from the next line; where the ground is level there is none
    off = np.abs((g / CONTOUR + 0.5) % 1.0 - 0.5) * CONTOUR
    contour = _line(off / np.maximum(slope, 1e-6), CONTOUR_WIDTH, texel) * np.clip(
        slope / 0.05 - 0.4, 0.0, 1.0)
    mesh = np.maximum(*(_line(np.abs((c / MESH + 0.5) % 1.0 - 0.5) * MESH, MESH_WIDTH, texel)
                        for c in (x + 0.0 * y, y + 0.0 * x)))
    ink = np.maximum(0.60 * contour, 0.30 * mesh)[..., None]
    return (1.0 - ink) * colours + ink * np.array(LINES)


def _line(distance: Array, half: float, texel: float) -> Array:
    """Return how much of a texel a line of half a width covers, 0 to 1."""
    return np.clip((half - distance) / texel + 0.5, 0.0, 1.0)
