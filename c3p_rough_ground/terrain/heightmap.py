# SPDX-License-Identifier: Apache-2.0
"""Interpolating spline of degree 3 or 5 through gridded heights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from c3p_description.model import Array, ArrayField
from c3p_description.texts import brief
from c3p_rough_ground.terrain.base import MOST_POINTS, TerrainError, frozen
from c3p_rough_ground.terrain.splines import SplineNet, both, checked_net


@dataclass(frozen=True, eq=False)
class HeightMap(SplineNet):
    """
    The spline through a grid of heights, without curvature across its edges ("natural").

    Outside the grid the slope at the edge tapers off over `margin` cells, as smoothly as inside;
    beyond them the ground is level away from the edge.

    Attributes
    ----------
    heights : (m, n) array_like, m
        heights[i, j] is the height at ``origin + (i Δx, j Δy)``: the first index goes along x.
    spacing : float or (float, float), m
        Δx, Δy.
    origin : (float, float), m
        Position of heights[0, 0].
    degree : int
        3 or 5.
    margin : int
        Cells over which the slope tapers off outside.

    Raises
    ------
    TerrainError
        A height that is not finite, a grid that is too small, a spacing that is not greater than
        zero, another degree, a margin below 1; the text names the cell or the value.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.meshgrid(np.arange(6.0), np.arange(5.0), indexing='ij')
    >>> ground = HeightMap(0.1 * x + 0.2 * y)
    >>> [round(float(d), 9) for d in ground.derivatives(2.5, 3.25)[:3]]
    [0.9, 0.1, 0.2]
    """

    heights: ArrayField
    spacing: ArrayField = 1.0
    origin: tuple[float, ...] = (0.0, 0.0)
    degree: int = 3
    margin: int = 10

    def __post_init__(self) -> None:
        """Check all values and make the heights read-only."""
        object.__setattr__(self, 'heights', checked_net('HeightMap', self.heights, self.spacing,
                                                        self.origin, self.degree))
        if not (isinstance(self.margin, (int, np.integer)) and self.margin >= 1):
            raise TerrainError(f'HeightMap: margin = {brief(self.margin)}: it must be a number of '
                               'cells, at least 1')
        rows, columns = (int(size) + 2 * int(self.margin) for size in self.heights.shape)
        if rows * columns > 2 * MOST_POINTS:
            raise TerrainError(f'HeightMap: margin = {self.margin}: {rows} × {columns} cells with '
                               f'it, at most {2 * MOST_POINTS} are computed; take a smaller one')

    @property
    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ranges of x and y with heights, m."""
        (dx, dy), (x0, y0) = both(self.spacing), self.origin
        rows, columns = self.heights.shape
        return (x0, x0 + (rows - 1) * dx), (y0, y0 + (columns - 1) * dy)

    @cached_property
    def table(self) -> Array:
        """The coefficients of the spline, continued by the margin."""
        along_x = _continued(self.heights, self.degree, self.margin)
        along_y = _continued(along_x.T, self.degree, self.margin)
        return frozen(along_y.T)

    def _numbers(self) -> ArrayLike:
        dx, dy = both(self.spacing)
        before = self.degree // 2 + self.margin
        return [self.origin[0] - before * dx, self.origin[1] - before * dy, 1.0 / dx, 1.0 / dy,
                0.0]

    def _window(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return self.extent


def coefficients(values: ArrayLike, degree: int) -> Array:
    """
    Return the uniform B-spline coefficients of the spline through `values`, along the first axis.

    `values` (m, …) are at the whole numbers, the coefficients (m + degree − 1, …) those of the
    B-splines centred at −(degree // 2) … m − 1 + degree // 2. The even derivatives from the second
    on vanish at both ends: "not a knot" ends of a rough map swing to thousands of times its height
    outside.

    Examples
    --------
    >>> coefficients([0.0, 1.0, 2.0, 3.0], 3).round(12).tolist()
    [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0]
    """
    values = np.asarray(values, float)
    places = np.arange(len(values), dtype=float)
    free = [(order, np.zeros(values.shape[1:])) for order in range(2, degree, 2)]
    # knots beyond the ends, one cell apart like all others
    knots = np.arange(-degree, len(values) + degree, dtype=float)
    return make_interp_spline(places, values, k=degree, t=knots, bc_type=(free, free)).c


def _continued(values: Array, degree: int, margin: int) -> Array:
    """Return the coefficients through `values`, and `margin` more at both ends."""
    half = degree // 2
    # from that of the last cell the slope decreases to zero in equal steps: constant curvature
    steps = np.concatenate([np.ones(half), 1.0 - np.arange(1, margin + 1) / (margin + 1.0)])
    reach = np.cumsum(steps)[half:].reshape((margin,) + (1,) * (values.ndim - 1))
    before = values[0] + reach[::-1] * (values[0] - values[1])
    after = values[-1] + reach * (values[-1] - values[-2])
    return np.concatenate([before, coefficients(values, degree), after])
