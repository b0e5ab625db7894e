# SPDX-License-Identifier: Apache-2.0
"""Shapes of triangles for drawing: boxes, cylinders, tori, discs, and a piece of ground."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c3p_kinematics.terrain import Terrain

Array = NDArray[np.float64]

# corners around cylinders and discs, around a torus and around its tube
AROUND, RING, TUBE = 24, 72, 20
# of the walls of a piece of ground
WALL = (0.42, 0.38, 0.34)


class Shape(NamedTuple):
    """
    Triangles with colours.

    Attributes
    ----------
    vertices, normals : (n, 3) arrays
    colours : (n, 4) array
        Red, green, blue as they are printed (sRGB, 0 to 1), and gloss.
    triangles : (k, 3) array of int32
    """

    vertices: Array
    normals: Array
    colours: Array
    triangles: NDArray[np.int32]

    def moved(self, rotation: ArrayLike, position: ArrayLike) -> Shape:
        """Return the shape after a `rotation` (3, 3) and a shift to `position` (3,)."""
        turn = np.asarray(rotation, float)
        return self._replace(vertices=self.vertices @ turn.T + np.asarray(position, float),
                             normals=self.normals @ turn.T)


def joined(shapes: Iterable[Shape]) -> Shape:
    """Return several `shapes` as one."""
    shapes = list(shapes)
    starts = np.cumsum([0, *(len(shape.vertices) for shape in shapes)])
    return Shape(*(np.concatenate([shape[i] for shape in shapes]) for i in range(3)),
                 np.concatenate([shape.triangles + start for shape, start in
                                 zip(shapes, starts, strict=False)]).astype(np.int32))


def _coloured(vertices: ArrayLike, normals: ArrayLike, triangles: ArrayLike,
              colour: Sequence[float], gloss: float) -> Shape:
    vertices = np.array(vertices, float)
    return Shape(vertices, np.array(normals, float),
                 np.tile([*colour, gloss], (len(vertices), 1)), np.array(triangles, np.int32))


def _grid(rows: int, columns: int) -> NDArray[np.int32]:
    """Return the triangles of a grid of vertices, row after row."""
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(columns - 1), indexing='ij')
    a = (i * columns + j).ravel()
    b, c, d = a + 1, a + columns, a + columns + 1
    return np.concatenate([np.column_stack([a, b, d]),
                           np.column_stack([a, d, c])]).astype(np.int32)


def box(size: Sequence[float], centre: Sequence[float], colour: Sequence[float],
        gloss: float = 0.2) -> Shape:
    """
    Return a box of edges `size` along x, y, z, m, around `centre`.

    Parameters
    ----------
    size, centre : (3,) sequences, m
    colour : (3,) sequence
    gloss : float
    """
    parts = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            normal = np.zeros(3)
            normal[axis] = side
            u, v = np.roll(np.eye(3), axis, axis=1)[1:]
            corners = [normal + s * u + t * v for s in (-1, 1) for t in (-1, 1)]
            parts.append(_coloured(0.5 * np.array(corners) * size + centre, [normal] * 4,
                                   [(0, 1, 3), (0, 3, 2)], colour, gloss))
    return joined(parts)


def rod(start: ArrayLike, end: ArrayLike, radius: float, colour: Sequence[float],
        gloss: float = 0.4) -> Shape:
    """
    Return a cylinder with lids from `start` to `end`, m.

    Parameters
    ----------
    start, end : (3,) array_like, m
    radius : float, m
    colour : (3,) sequence
    gloss : float
    """
    start, end = np.asarray(start, float), np.asarray(end, float)
    axis = (end - start) / np.linalg.norm(end - start)
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    side /= np.linalg.norm(side)
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND + 1)[:, None]
    out = np.cos(angle) * side + np.sin(angle) * np.cross(axis, side)
    mantle = _coloured(np.concatenate([start + radius * out, end + radius * out]),
                       np.concatenate([out, out]), _grid(2, AROUND + 1), colour, gloss)
    return joined([mantle, disc(start, -axis, radius, colour, gloss),
                   disc(end, axis, radius, colour, gloss)])


def disc(centre: ArrayLike, normal: ArrayLike, radius: float, colour: Sequence[float],
         gloss: float = 0.0, corners: int = AROUND) -> Shape:
    """
    Return a round plate.

    Parameters
    ----------
    centre, normal : (3,) array_like
        m, and a unit vector.
    radius : float, m
    colour : (3,) sequence
    gloss : float
    corners : int
    """
    centre, normal = np.asarray(centre, float), np.asarray(normal, float)
    side = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    side /= np.linalg.norm(side)
    angle = 2.0 * np.pi * np.arange(corners)[:, None] / corners
    rim = centre + radius * (np.cos(angle) * side + np.sin(angle) * np.cross(normal, side))
    turns = np.arange(corners)
    return _coloured(np.concatenate([[centre], rim]), np.tile(normal, (corners + 1, 1)),
                     np.column_stack([np.zeros(corners), 1 + turns, 1 + (turns + 1) % corners]),
                     colour, gloss)


def tyre(radius: float, tube: float, colours: Sequence[Sequence[float]], blocks: int = 24,
         gloss: float = 0.25) -> Shape:
    """
    Return a torus about y whose colour changes along it, so that one sees it turn.

    Parameters
    ----------
    radius, tube : float, m
        Of the circle in the middle of the tube, and of the tube.
    colours : two (3,) sequences
        By turns.
    blocks : int
        So many changes of colour.
    gloss : float
    """
    u = np.linspace(0.0, 2.0 * np.pi, RING + 1)[:, None]
    v = np.linspace(0.0, 2.0 * np.pi, TUBE + 1)[None, :]
    out = [np.cos(u) * np.cos(v), np.sin(v) + 0 * u, -np.sin(u) * np.cos(v)]
    normals = np.stack(out, axis=-1)
    centre = radius * np.stack([np.cos(u) + 0 * v, 0 * u * v, -np.sin(u) + 0 * v], axis=-1)
    shape = _coloured((centre + tube * normals).reshape(-1, 3), normals.reshape(-1, 3),
                      _grid(RING + 1, TUBE + 1), colours[0], gloss)
    turn = np.repeat(np.arange(RING + 1) * blocks // RING, TUBE + 1) % 2 == 1
    shape.colours[turn, :3] = colours[1]
    return shape


def ground(terrain: Terrain, x_range: tuple[float, float], y_range: tuple[float, float],
           spacing: float, depth: float) -> tuple[Shape, int]:
    """
    Return a piece of ground with walls around it, and how many triangles are its top.

    Parameters
    ----------
    terrain : Terrain
    x_range, y_range : (float, float), m
    spacing : float, m
        About, of the vertices.
    depth : float, m
        From the lowest place of the top to the foot of the walls.

    Returns
    -------
    Shape, int
        The top comes first, with its true normals.
    """
    axes = [np.linspace(low, high, max(2, 1 + round((high - low) / spacing)))
            for low, high in (x_range, y_range)]
    x, y = np.meshgrid(*axes, indexing='ij')
    g, gx, gy = terrain.derivatives(x, y)[:3]
    normals = np.stack([-gx, -gy, np.ones_like(gx)], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    points = np.stack([x, y, g + 0.0 * x], axis=-1)
    top = _coloured(points.reshape(-1, 3), normals.reshape(-1, 3), _grid(*x.shape), WALL, 0.0)
    walls = []
    for edge, normal in ((points[0], (-1, 0, 0)), (points[-1], (1, 0, 0)),
                         (points[:, 0], (0, -1, 0)), (points[:, -1], (0, 1, 0))):
        foot = edge.copy()
        foot[:, 2] = points[..., 2].min() - depth
        walls.append(_coloured(np.concatenate([edge, foot]), np.tile(normal, (2 * len(edge), 1)),
                               _grid(2, len(edge)), WALL, 0.0))
    return joined([top, *walls]), len(top.triangles)
