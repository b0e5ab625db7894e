# SPDX-License-Identifier: Apache-2.0
"""A ground that goes through gridded heights: an interpolating spline of degree 3 or 5."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from c3p_kinematics.terrain.base import Array, TerrainError, frozen
from c3p_kinematics.terrain.splines import SplineNet, both, checked_net


@dataclass(frozen=True, eq=False)
class HeightMap(SplineNet):
    """
    The spline through a grid of heights, with the ends "not a knot": straight ones stay straight.

    Outside the grid the slope at the edge tapers off over `margin` cells; beyond them the ground
    is level away from the edge. It is as smooth there as inside.

    Attributes
    ----------
    heights : (m, n) array_like, m
        heights[i, j] is the height at ``origin + (i Δx, j Δy)``: the first index goes along x.
    spacing : float or (float, float), m
        Δx, Δy.
    origin : (float, float), m
        Where heights[0, 0] is.
    degree : int
        3 or 5.
    margin : int
        Cells over which the slope tapers off outside.

    Raises
    ------
    TerrainError
        A height that is not finite (which cell), a grid that is too small, a spacing that is not
        greater than zero, another degree, a margin below 1.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.meshgrid(np.arange(6.0), np.arange(5.0), indexing='ij')
    >>> ground = HeightMap(0.1 * x + 0.2 * y)
    >>> [round(float(d), 9) for d in ground.derivatives(2.5, 3.25)[:3]]
    [0.9, 0.1, 0.2]
    """

    heights: ArrayLike
    spacing: ArrayLike = 1.0
    origin: tuple[float, float] = (0.0, 0.0)
    degree: int = 3
    margin: int = 10

    def __post_init__(self) -> None:
        """Make the heights read-only and check everything."""
        object.__setattr__(self, 'heights', checked_net('HeightMap', self.heights, self.spacing,
                                                        self.origin, self.degree))
        if not (isinstance(self.margin, (int, np.integer)) and self.margin >= 1):
            raise TerrainError(f'HeightMap: margin = {self.margin!r}: it must be a number of '
                               'cells, at least 1')

    @property
    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ranges of x and y, m, for which there are heights."""
        (dx, dy), (x0, y0) = both(self.spacing), self.origin
        rows, columns = self.heights.shape
        return (x0, x0 + (rows - 1) * dx), (y0, y0 + (columns - 1) * dy)

    @cached_property
    def table(self) -> Array:
        """The coefficients of the spline, continued by the margin."""
        along_x = _continued(coefficients(self.heights, self.degree), self.margin)
        along_y = _continued(coefficients(along_x.T, self.degree), self.margin)
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

    Parameters
    ----------
    values : (m, …) array_like
        At the whole numbers.
    degree : int
        3 or 5.

    Returns
    -------
    (m + degree − 1, …) array
        Those of the B-splines centred at −(degree // 2) … m − 1 + degree // 2.

    Notes
    -----
    SciPy's "not a knot" spline comes on knots that pile up at the ends. It is one of the splines
    on uniform knots: the one with the same derivatives there.

    Examples
    --------
    >>> coefficients([0.0, 1.0, 2.0, 3.0], 3).round(12).tolist()
    [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0]
    """
    values = np.asarray(values, float)
    places = np.arange(len(values), dtype=float)
    known = make_interp_spline(places, values, k=degree)
    ends = [[(order, known(end, order)) for order in range(1, degree // 2 + 1)]
            for end in (places[0], places[-1])]
    # knots beyond the ends, one cell apart like all others
    knots = np.arange(-degree, len(values) + degree, dtype=float)
    return make_interp_spline(places, values, k=degree, t=knots, bc_type=ends).c


def _continued(net: Array, margin: int) -> Array:
    """Return coefficients with `margin` more at both ends of the first axis, ever flatter."""
    # the slope goes to zero in equal steps, so that the curvature is the same all the way
    share = np.cumsum(1.0 - np.arange(1, margin + 1) / (margin + 1.0))
    shape = (margin,) + (1,) * (net.ndim - 1)
    before = net[0] + share[::-1].reshape(shape) * (net[0] - net[1])
    after = net[-1] + share.reshape(shape) * (net[-1] - net[-2])
    return np.concatenate([before, net, after])
