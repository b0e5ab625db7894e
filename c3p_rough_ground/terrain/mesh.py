# SPDX-License-Identifier: Apache-2.0
"""Terrains as triangles and as grids of heights, for drawing and collision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from c3p_description.model import Array
from c3p_rough_ground.terrain.base import MOST_POINTS, Terrain, TerrainError

Range = tuple[float, float]


class Mesh(NamedTuple):
    """
    Triangles of a terrain.

    Attributes
    ----------
    vertices : (n, 3) array, m
        In {G}.
    normals : (n, 3) array
        Unit normals of the true surface at the vertices, upward.
    triangles : (k, 3) array of int
        Indices of vertices, counterclockwise from above.
    """

    vertices: Array
    normals: Array
    triangles: NDArray[np.int64]


class HeightGrid(NamedTuple):
    """
    Heights of a terrain on a rectangular grid.

    Attributes
    ----------
    x, y : (m,) and (n,) arrays, m
        Equally spaced, with both ends.
    heights : (m, n) array, m
        First index along x.
    """

    x: Array
    y: Array
    heights: Array


def height_grid(terrain: Terrain, x_range: Range, y_range: Range,
                shape: tuple[int, int]) -> HeightGrid:
    """
    Return the heights of a rectangle on a grid of `shape` points along x and y.

    Parameters
    ----------
    terrain : Terrain
    x_range, y_range : (float, float), m
        From, to.
    shape : (int, int)
        At least 2 along each axis, at most four million in all.

    Raises
    ------
    TerrainError
        An empty range or a shape out of range.

    Examples
    --------
    >>> from c3p_rough_ground.terrain import Incline
    >>> height_grid(Incline(0.5), (0, 2), (0, 1), (3, 2)).heights.tolist()
    [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]]
    """
    for name, (low, high) in (('x_range', x_range), ('y_range', y_range)):
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise TerrainError(f'{name} = ({low}, {high}): give two finite places in m, the '
                               'smaller one first')
    if min(shape) < 2 or shape[0] * shape[1] > MOST_POINTS:
        raise TerrainError(f'a grid of {shape[0]} × {shape[1]} points: take at least 2 along each '
                           f'axis and {MOST_POINTS} in all; a larger spacing gives fewer')
    x, y = np.linspace(*x_range, shape[0]), np.linspace(*y_range, shape[1])
    # row by row: a spline evaluated everywhere at once takes a hundred numbers per point
    return HeightGrid(x, y, np.array([terrain.height(place, y) for place in x]))


def grid_mesh(terrain: Terrain, x_range: Range, y_range: Range, spacing: float) -> Mesh:
    """
    Return a rectangle of the terrain as triangles, two per cell.

    Parameters
    ----------
    terrain : Terrain
    x_range, y_range : (float, float), m
        From, to.
    spacing : float, m
        Largest length of a cell.

    Raises
    ------
    TerrainError
        As `height_grid`, or a spacing that is not greater than zero.

    Examples
    --------
    >>> from c3p_rough_ground.terrain import Flat
    >>> mesh = grid_mesh(Flat(), (0, 1), (0, 1), 1.0)
    >>> mesh.triangles.tolist(), (mesh.normals[0] + 0.0).tolist()
    ([[0, 2, 3], [0, 3, 1]], [0.0, 0.0, 1.0])
    """
    if not (np.isfinite(spacing) and spacing > 0):
        raise TerrainError(f'spacing = {spacing} m: it must be finite and greater than zero')
    # rounding must not add a row to a range that is a whole number of cells
    rows, columns = (1 + max(1, int(np.ceil((high - low) / spacing - 1e-9)))
                     if np.isfinite(high - low) else 2 for low, high in (x_range, y_range))
    x, y, heights = height_grid(terrain, x_range, y_range, (rows, columns))
    vertices = np.column_stack([np.repeat(x, len(y)), np.tile(y, len(x)), heights.ravel()])
    slopes = [np.column_stack(terrain.derivatives(place, y)[1:3]) for place in x]
    normals = np.column_stack([-np.concatenate(slopes), np.ones(len(vertices))])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Mesh(vertices, normals, _triangles(rows, columns))


def _triangles(rows: int, columns: int) -> NDArray[np.int64]:
    """Return two triangles per cell of a grid whose vertices are stored row by row."""
    corner = np.arange(rows * columns).reshape(rows, columns)
    near = corner[:-1, :-1].ravel()
    right = corner[1:, :-1].ravel()
    far = corner[1:, 1:].ravel()
    left = corner[:-1, 1:].ravel()
    halves = np.stack([np.stack([near, right, far], 1), np.stack([near, far, left], 1)], 1)
    return halves.reshape(-1, 3)
