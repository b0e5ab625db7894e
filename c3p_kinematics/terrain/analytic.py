# SPDX-License-Identifier: Apache-2.0
"""Terrains with a formula: a plane, a slope, the plateau of Auchter and Moore."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from c3p_kinematics.terrain import _kernels as kernels
from c3p_kinematics.terrain.base import Array, CompiledTerrain, above_zero, anything, require

# half the side of the square in which `smallest_radius` looks, in widths of the climb
WINDOW_WIDTHS = 4.0


def _flat_derivatives(x: ArrayLike, y: ArrayLike, g: Array, gx: float,
                      gy: float) -> tuple[Array, ...]:
    """Return the derivatives of a plane at points that broadcast."""
    shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    return tuple(np.array(np.broadcast_to(d, shape), float) for d in (g, gx, gy, 0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Flat(CompiledTerrain):
    """
    A level plane.

    Attributes
    ----------
    level : float, m
        Its height.

    Raises
    ------
    TerrainError
        `level` is not a finite number.

    Examples
    --------
    >>> float(Flat(0.5).height(3.0, 4.0))
    0.5
    """

    level: float = 0.0
    kind: ClassVar[int] = kernels.FLAT
    smallest_radius: ClassVar[float] = math.inf
    feature_length: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        """Check the level."""
        require('Flat', anything, 'a finite height in m', level=self.level)

    def derivatives(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, ...]:
        """Return g and five zeros at x and y, which broadcast."""
        return _flat_derivatives(x, y, self.level, 0.0, 0.0)

    def _numbers(self) -> ArrayLike:
        return [self.level]


@dataclass(frozen=True)
class Incline(CompiledTerrain):
    """
    A tilted plane through the origin: ``g = slope·(x cos D + y sin D)``.

    Attributes
    ----------
    slope : float
        Tangent of the angle of rise.
    direction : float, rad
        D, where it rises to, from the x axis.

    Raises
    ------
    TerrainError
        A number that is not finite.

    Examples
    --------
    >>> float(Incline(slope=0.25).height(2.0, 7.0))
    0.5
    """

    slope: float
    direction: float = 0.0
    kind: ClassVar[int] = kernels.INCLINE
    smallest_radius: ClassVar[float] = math.inf
    feature_length: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        """Check both numbers."""
        require('Incline', anything, 'a finite tangent', slope=self.slope)
        require('Incline', anything, 'a finite angle in rad', direction=self.direction)

    def derivatives(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, ...]:
        """Return g, gx, gy, gxx, gxy, gyy at x and y, which broadcast."""
        rise_x, rise_y = self._numbers()[1:]
        return _flat_derivatives(x, y, np.multiply(rise_x, x) + np.multiply(rise_y, y),
                                 rise_x, rise_y)

    def _numbers(self) -> tuple[float, ...]:
        return (0.0, self.slope * math.cos(self.direction),
                self.slope * math.sin(self.direction))


@dataclass(frozen=True)
class Plateau(CompiledTerrain):
    """
    A climb onto a plateau: ``g = H/2 (1 + tanh((x cos D + y sin D − x0)/w))``.

    Attributes
    ----------
    rise : float, m
        H; negative goes down.
    width : float, m
        w; the steepest slope is H/(2w).
    start : float, m
        x0, the middle of the climb.
    direction : float, rad
        D, where it rises to, from the x axis.

    Raises
    ------
    TerrainError
        A number that is not finite, or a width that is not greater than zero.

    Examples
    --------
    >>> hill = Plateau()
    >>> [round(float(hill.height(x, 0.0)), 3) for x in (0.0, 3.0, 6.0)]
    [0.001, 0.5, 0.999]
    """

    rise: float = 1.0
    width: float = 0.8
    start: float = 3.0
    direction: float = 0.0
    kind: ClassVar[int] = kernels.PLATEAU

    def __post_init__(self) -> None:
        """Check the four numbers."""
        require('Plateau', anything, 'a finite length in m', rise=self.rise, start=self.start)
        require('Plateau', anything, 'a finite angle in rad', direction=self.direction)
        require('Plateau', above_zero, 'a finite length in m greater than zero; a step in the '
                'ground has no curvature, take a small width instead', width=self.width)

    @property
    def feature_length(self) -> float:
        """The width of the climb, m."""
        return self.width

    def derivatives(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, ...]:
        """Return g, gx, gy, gxx, gxy, gyy at x and y, which broadcast."""
        c, s = math.cos(self.direction), math.sin(self.direction)
        q = (np.multiply(c, x) + np.multiply(s, y) - self.start) / self.width
        # tanh by the logistic function σ: (1 + tanh q)/2 = σ(2q), which no q overflows
        up, down = expit(2.0 * q), expit(-2.0 * q)
        g = self.rise * up
        first = self.rise * up * down * 2.0 / self.width
        second = first * (down - up) * 2.0 / self.width
        return g, first * c, first * s, second * c * c, second * c * s, second * s * s

    def _numbers(self) -> ArrayLike:
        return [self.rise, self.width, self.start, math.cos(self.direction),
                math.sin(self.direction)]

    def _window(self) -> tuple[tuple[float, float], tuple[float, float]]:
        # a square about the middle of the climb, in which it is crossed whatever its direction
        c, s = math.cos(self.direction), math.sin(self.direction)
        half = WINDOW_WIDTHS * self.width
        return ((self.start * c - half, self.start * c + half),
                (self.start * s - half, self.start * s + half))
