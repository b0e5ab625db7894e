# SPDX-License-Identifier: Apache-2.0
"""A rectangle of terrain for MuJoCo's pictures: coloured by height, with contour lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_rough_ground.terrain import Terrain
from c3p_rough_ground.worlds.terrain_export import height_field

Range = tuple[float, float]

# colours from the lowest to the highest place, of the lines on the ground and of its walls
HEIGHTS = np.array([(0.44, 0.55, 0.50), (0.60, 0.68, 0.53), (0.80, 0.77, 0.58),
                    (0.88, 0.80, 0.67), (0.95, 0.93, 0.89)])
LINES = (0.30, 0.29, 0.26)
WALL = (0.42, 0.38, 0.34)
# height between contour lines, distance between lines of equal x and y, m
CONTOUR = 0.1
MESH = 1.0
# half widths of these lines, m
CONTOUR_WIDTH = 0.004
MESH_WIDTH = 0.006
# of the ground, which would be white in the light that the robot needs
DIM = 0.92
# length of a cell of the height field and of a texel, depth of the walls below the lowest place, m
CELL = 0.04
TEXEL = 0.006
FOOT = 0.2


class GroundRectangle:
    """
    A rectangle of a terrain, ready for a MuJoCo model.

    Parameters
    ----------
    terrain : Terrain
    x_range, y_range : (float, float), m
        From, to.
    texel : float, m
        Resolution of the lines; a coarse one suits small pictures.

    Attributes
    ----------
    heights : (float, float), m
        Of the lowest and the highest place.
    """

    def __init__(self, terrain: Terrain, x_range: Range, y_range: Range,
                 texel: float = TEXEL) -> None:
        """Sample the heights."""
        self.terrain = terrain
        self.x_range = x_range
        self.y_range = y_range
        self._texel = texel
        rows, columns = (2 + round((high - low) / CELL) for low, high in (x_range, y_range))
        self._field = height_field(terrain, x_range, y_range, (rows, columns), FOOT)
        self.heights = self._field.low, self._field.low + self._field.relief

    @property
    def corners(self) -> Array:
        """The corners of the rectangle: above, then at the foot of the walls (8, 3), m."""
        x, y = (np.array(v) for v in zip(*(
            (x, y) for x in self.x_range for y in self.y_range), strict=True))
        top = self.terrain.height(x, y)
        foot = np.full(4, self.heights[0] - FOOT)
        return np.concatenate([np.column_stack([x, y, z + 0.0 * x]) for z in (top, foot)])

    def add_to(self, mj: Any, spec: Any) -> None:
        """Add the ground to an ``MjSpec`` of the module `mj`."""
        field = self._field
        pixels = self._texture()
        spec.add_hfield(name='ground', size=field.size, nrow=field.values.shape[0],
                        ncol=field.values.shape[1], userdata=field.values.ravel().tolist())
        texture = spec.add_texture(name='ground', type=mj.mjtTexture.mjTEXTURE_2D, nchannel=3,
                                   height=pixels.shape[0], width=pixels.shape[1])
        texture.data = pixels.tobytes()
        material = spec.add_material(name='ground', specular=0.0, rgba=[DIM, DIM, DIM, 1.0])
        textures = list(material.textures)
        textures[mj.mjtTextureRole.mjTEXROLE_RGB] = 'ground'
        material.textures = textures
        spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_HFIELD, hfieldname='ground',
                                pos=field.position, material='ground', group=2)

    def _texture(self) -> Array:
        """Return colours by height with contour lines and lines of equal x and y, from +y down."""
        columns, rows = (2 + round((high - low) / self._texel)
                         for low, high in (self.x_range, self.y_range))
        x = np.linspace(*self.x_range, columns)[None, :]
        y = np.linspace(*self.y_range, rows)[::-1, None]
        g, gx, gy = (value + 0.0 * (x + y) for value in self.terrain.derivatives(x, y)[:3])
        slope = np.hypot(gx, gy)
        # distance on the map from the nearest contour; level ground has no contour lines
        contour = self._line(_off(g, CONTOUR) / np.maximum(slope, 1e-6), CONTOUR_WIDTH) * np.clip(
            slope / 0.05 - 0.4, 0.0, 1.0)
        mesh = np.maximum(*(self._line(_off(c, MESH), MESH_WIDTH)
                            for c in (x + 0.0 * y, y + 0.0 * x)))
        ink = np.maximum(0.60 * contour, 0.30 * mesh)[..., None]
        colours = (1.0 - ink) * height_colours(g, self.heights) + ink * np.array(LINES)
        # MuJoCo paints the walls with the edge of the texture
        colours[[0, -1]] = WALL
        colours[:, [0, -1]] = WALL
        return np.round(255 * colours).astype(np.uint8)

    def _line(self, distance: Array, half: float) -> Array:
        """Return the fraction of a texel that a line of half a width covers."""
        return np.clip((half - distance) / self._texel + 0.5, 0.0, 1.0)


def _off(value: Array, period: float) -> Array:
    """Return the distance from the nearest multiple of a period."""
    return np.abs((value / period + 0.5) % 1.0 - 0.5) * period


def height_colours(heights: ArrayLike, limits: Range) -> Array:
    """Return the colours (…, 3) of `heights` between the `limits`, m."""
    level = (np.asarray(heights, float) - limits[0]) / max(limits[1] - limits[0], 1e-9)
    marks = np.linspace(0.0, 1.0, len(HEIGHTS))
    return np.stack([np.interp(level, marks, HEIGHTS[:, i]) for i in range(3)], axis=-1)
