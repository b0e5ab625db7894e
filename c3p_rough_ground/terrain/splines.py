# SPDX-License-Identifier: Apache-2.0
"""
Grounds from a net of B-spline coefficients: ``g = Σ c_ij B(x/Δx − i) B(y/Δy − j)``.

B is the uniform B-spline of degree 3 (curvature continuous) or 5 (its second derivative as well).
Coefficient [i, j] belongs to the place ``origin + (i Δx, j Δy)``: the first index goes along x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, ArrayField
from c3p_description.texts import brief
from c3p_rough_ground.terrain import _kernels as kernels
from c3p_rough_ground.terrain.base import (
    LARGEST,
    MOST_POINTS,
    Terrain,
    TerrainError,
    above_zero,
    anything,
    frozen,
    require,
)

KINDS = {3: kernels.CUBIC, 5: kernels.QUINTIC}
CONTINUATIONS = ('repeat', 'hold')


class SplineNet(Terrain):
    """
    A ground by coefficients: derive, and give `table`, `parameters`, `kind` and `spacing`.

    Attributes
    ----------
    degree : int
        3 or 5.
    spacing : float or (float, float), m
    """

    degree: int
    spacing: ArrayField

    @property
    def kind(self) -> int:
        """Formula of the kernels."""
        return KINDS[self.degree]

    @property
    def feature_length(self) -> float:
        """The smaller spacing of the net, m."""
        return float(min(both(self.spacing)))

    def derivatives(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, ...]:
        """Return g, gx, gy, gxx, gxy, gyy at x and y, which broadcast and must be finite."""
        if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
            raise TerrainError(f'{type(self).__name__}: a place is not finite; give finite x, y')
        return super().derivatives(x, y)

    def _window(self) -> tuple[tuple[float, float], tuple[float, float]]:
        x0, y0, rate_x, rate_y, _ = self.parameters
        rows, columns = self.table.shape
        return (x0, x0 + (rows - 1) / rate_x), (y0, y0 + (columns - 1) / rate_y)


@dataclass(frozen=True, eq=False)
class SplineGround(SplineNet):
    """
    A ground over a net of coefficients, which it approximates and need not interpolate.

    Attributes
    ----------
    heights : (m, n) array_like, m
        Coefficients, first index along x; at least degree + 1 along each axis.
    spacing : float or (float, float), m
        Δx, Δy.
    origin : (float, float), m
        Position of coefficient [0, 0].
    degree : int
        3 or 5.
    continuation : str
        Outside the net: ``'repeat'`` it, as smooth as inside, or ``'hold'`` the coefficients of
        its edge, so that the ground becomes level beyond it.

    Raises
    ------
    TerrainError
        A net that is too small or has a height which is not finite, a spacing that is not greater
        than zero, another degree or continuation; the text names the cell or the value.

    Examples
    --------
    >>> ground = SplineGround.random(seed=1)
    >>> bool(abs(ground.height(3.0, 4.0)) < 0.35), ground.feature_length
    (True, 1.0)
    """

    heights: ArrayField
    spacing: ArrayField = 1.0
    origin: tuple[float, float] = (0.0, 0.0)
    degree: int = 3
    continuation: str = 'repeat'

    def __post_init__(self) -> None:
        """Check all values and make the net read-only."""
        object.__setattr__(self, 'heights', checked_net('SplineGround', self.heights,
                                                        self.spacing, self.origin, self.degree))
        if self.continuation not in CONTINUATIONS:
            raise TerrainError(f'SplineGround: continuation = {brief(self.continuation)}: it '
                               f'must be one of {", ".join(CONTINUATIONS)}')

    @classmethod
    def random(cls, seed: int, spacing: float = 1.0, amplitude: float = 0.35,
               shape: tuple[int, int] = (32, 32), degree: int = 3) -> SplineGround:
        """
        Return random ground that repeats: coefficients uniform in ± amplitude.

        Parameters
        ----------
        seed : int
            The same seed gives the same ground.
        spacing : float, m
        amplitude : float, m
        shape : (int, int)
            Number of coefficients along x and y, after which the ground repeats.
        degree : int
            3 or 5.

        Raises
        ------
        TerrainError
            As the class.
        """
        require('SplineGround.random', lambda value: value >= 0, 'a height in m, at least 0',
                amplitude=amplitude)
        if np.shape(shape) != (2,) or not 0 <= math.prod(map(int, shape)) <= MOST_POINTS:
            raise TerrainError(f'SplineGround.random: shape = {brief(shape)}: it must be two '
                               f'whole numbers, of at most {MOST_POINTS} coefficients together')
        net = np.random.default_rng(seed).uniform(-amplitude, amplitude, shape)
        return cls(net, spacing, degree=degree)

    @cached_property
    def table(self) -> Array:
        """The coefficients."""
        return self.heights

    def _numbers(self) -> ArrayLike:
        dx, dy = both(self.spacing)
        return [*self.origin, 1.0 / dx, 1.0 / dy, float(self.continuation == 'repeat')]


def both(spacing: ArrayLike) -> tuple[float, float]:
    """Return the `spacing` along x and along y, m."""
    dx, dy = np.broadcast_to(np.asarray(spacing, float), (2,))
    return float(dx), float(dy)


def checked_net(owner: str, heights: ArrayLike, spacing: ArrayLike,
                origin: Sequence[float], degree: int) -> Array:
    """
    Return a grid of heights as a read-only array after checking all values.

    `owner`, `heights`, `spacing`, `origin` and `degree` as in `SplineGround`. TerrainError names
    the owner, the cell or the value, and the remedy.
    """
    if not isinstance(degree, (int, np.integer)) or degree not in KINDS:
        raise TerrainError(f'{owner}: degree = {brief(degree)}: it must be 3 (curvature is '
                           'continuous) or 5 (smooth curvature)')
    if np.shape(spacing) not in ((), (2,)) or len(origin) != 2:
        raise TerrainError(f'{owner}: spacing = {brief(spacing)}, origin = {brief(origin)}: '
                           'give one spacing or two, and the origin (x, y)')
    dx, dy = both(spacing)
    require(owner, above_zero, 'a finite distance in m greater than zero',
            spacing_x=dx, spacing_y=dy)
    require(owner, anything, 'a finite place in m', origin_x=origin[0],
            origin_y=origin[1])
    if np.size(heights) > MOST_POINTS:
        raise TerrainError(f'{owner}: {np.size(heights)} heights, at most {MOST_POINTS} are used; '
                           'cut or thin the map out')
    net = frozen(heights)
    least = degree + 1
    if net.ndim != 2 or min(net.shape) < least:
        raise TerrainError(f'{owner}: heights have the shape {net.shape}: degree {degree} needs a '
                           f'grid (m, n) of at least {least} × {least} heights, first index '
                           'along x')
    bad = np.argwhere(~(np.abs(net) <= LARGEST))
    if len(bad):
        i, j = (int(index) for index in bad[0])
        raise TerrainError(f'{owner}: heights[{i}, {j}] = {net[i, j]} at x = '
                           f'{origin[0] + i * dx:.6g}, y = {origin[1] + j * dy:.6g} m, one of '
                           f'{len(bad)} cells that are not finite, or beyond {LARGEST:g} m: fill '
                           'the holes, for example with scipy.interpolate.griddata, or cut the '
                           'map to the part that is known')
    return net
