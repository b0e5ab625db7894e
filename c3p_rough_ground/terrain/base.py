# SPDX-License-Identifier: Apache-2.0
"""Base class of terrains: heights with derivatives, lengths that bound a step, input checks."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_description.texts import brief
from c3p_rough_ground.terrain import _kernels as kernels

# points per axis at which `smallest_radius` evaluates the curvature of a terrain
SAMPLES = 192

# largest number of points of a grid of heights; more indicate a wrong spacing
MOST_POINTS = 4_000_000
# limits of a height, a length or a slope, and of one that must not be zero, against overflow
LARGEST = 1e9
SMALLEST = 1e-9


class TerrainError(ValueError):
    """An invalid terrain; the text names the cell or the value, and the remedy."""


class Terrain:
    """
    A ground z = g(x, y): derive, and write `kind`, `feature_length`, `_numbers`, `_window`.

    Attributes
    ----------
    kind : int
        Formula (terrain/_kernels.py).
    parameters : (k,) array
    table : (m, n) array
        The numbers of that formula, read-only.
    feature_length : float, m
        Length over which the slope changes; a step should be well below it.
    """

    @cached_property
    def kind(self) -> int:
        """Number of the formula (terrain/_kernels.py)."""
        raise NotImplementedError(f'{type(self).__name__} needs a kind')

    @cached_property
    def feature_length(self) -> float:
        """Length over which the slope changes, m."""
        raise NotImplementedError(f'{type(self).__name__} needs a feature_length')

    def derivatives(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, ...]:
        """Return g, gx, gy, gxx, gxy, gyy at x and y, which broadcast."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        out = np.empty((6, x.size))
        kernels.height_each(self.kind, self.parameters, self.table, x.ravel(), y.ravel(), out)
        return tuple(part.reshape(x.shape)[()] for part in out)

    def height(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Return g at x and y, which broadcast; m."""
        return self.derivatives(x, y)[0]

    @cached_property
    def parameters(self) -> Array:
        """The numbers of the formula (terrain/_kernels.py), read-only."""
        return frozen(self._numbers())

    @cached_property
    def table(self) -> Array:
        """The rows of the formula (terrain/_kernels.py), read-only; unused by most."""
        return frozen(np.zeros((1, 1)))

    @cached_property
    def smallest_radius(self) -> float:
        """The smallest radius of curvature at 192 × 192 points, m; infinite on a plane."""
        (x0, x1), (y0, y1) = self._window()
        x, y = np.meshgrid(np.linspace(x0, x1, SAMPLES), np.linspace(y0, y1, SAMPLES),
                           indexing='ij')
        most = np.max(np.abs(principal_curvatures(*self.derivatives(x, y)[1:])))
        return 1.0 / float(most) if most > 0 else math.inf

    def _numbers(self) -> ArrayLike:
        """Return the parameters."""
        raise NotImplementedError

    def _window(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ranges of x and y that `smallest_radius` looks at."""
        raise NotImplementedError


def principal_curvatures(gx: ArrayLike, gy: ArrayLike, gxx: ArrayLike, gxy: ArrayLike,
                         gyy: ArrayLike) -> Array:
    """
    Return both principal curvatures of a graph, the smaller one first.

    Mean ``H = ((1+gy²) gxx − 2 gx gy gxy + (1+gx²) gyy)/(2 W³)``, Gaussian
    ``(gxx gyy − gxy²)/W⁴``; positive in a hollow. The derivatives `gx`, `gy`, `gxx`, `gxy`, `gyy`
    of the height broadcast to (…); the result is (2, …), 1/m.

    Examples
    --------
    >>> principal_curvatures(0.0, 0.0, 2.0, 0.0, -1.0).tolist()
    [-1.0, 2.0]
    """
    gx, gy, gxx, gxy, gyy = (np.asarray(d, float) for d in (gx, gy, gxx, gxy, gyy))
    w = np.sqrt(1.0 + gx**2 + gy**2)
    mean = ((1.0 + gy**2) * gxx - 2.0 * gx * gy * gxy + (1.0 + gx**2) * gyy) / (2.0 * w**3)
    # rounding may leave the square of the half difference just below zero
    half = np.sqrt(np.maximum(mean**2 - (gxx * gyy - gxy**2) / w**4, 0.0))
    return np.array([mean - half, mean + half])


def frozen(values: ArrayLike) -> Array:
    """Return `values` as a read-only contiguous array of floats."""
    array = np.array(values, float, order='C')
    array.setflags(write=False)
    return array


def require(owner: str, condition: Callable[[float], bool], expected: str,
            **values: Any) -> None:
    """
    Raise TerrainError unless every named value is a number up to 1e9 that fulfils `condition`.

    `owner` begins the message, `expected` ends its sentence "it must be …".
    """
    for name, value in values.items():
        try:
            fine = math.isfinite(value) and abs(value) <= LARGEST and condition(value)
        except (TypeError, ValueError, OverflowError):
            fine = False
        if not fine:
            raise TerrainError(f'{owner}: {name} = {brief(value)}: it must be {expected}')


def anything(value: float) -> bool:
    """Accept every finite `value`, for `require`."""
    return True


def above_zero(value: float) -> bool:
    """Accept a `value` greater than zero, for `require`."""
    return value >= SMALLEST
