# SPDX-License-Identifier: Apache-2.0
"""
Terrains with a formula: plane, incline, plateau of Auchter and Moore, rolling hills.

TerrainError names a number that is not finite or out of range, and shapes that do not fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, ArrayField
from c3p_rough_ground.terrain import _kernels as kernels
from c3p_rough_ground.terrain.base import (
    LARGEST,
    Terrain,
    TerrainError,
    above_zero,
    anything,
    frozen,
    require,
)

# half the side of the square in which `smallest_radius` searches: in widths of the climb, and in
# lengths of the longest wave / π
WINDOW_WIDTHS = 4.0
LONGEST_WAVES = 4.0
# largest number of waves: each is added up at every point
MOST_WAVES = 128


@dataclass(frozen=True)
class Flat(Terrain):
    """
    A level plane.

    Attributes
    ----------
    level : float, m
        Its height.

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

    def _numbers(self) -> ArrayLike:
        return [self.level]


@dataclass(frozen=True)
class Incline(Terrain):
    """
    A tilted plane through the origin: ``g = slope·(x cos D + y sin D)``.

    Attributes
    ----------
    slope : float
        Tangent of the angle of rise.
    direction : float, rad
        D, where it rises to, from the x axis.

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

    def _numbers(self) -> tuple[float, ...]:
        return (0.0, self.slope * math.cos(self.direction),
                self.slope * math.sin(self.direction))


@dataclass(frozen=True)
class Plateau(Terrain):
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

    def _numbers(self) -> ArrayLike:
        return [self.rise, self.width, self.start, math.cos(self.direction),
                math.sin(self.direction)]

    def _window(self) -> tuple[tuple[float, float], tuple[float, float]]:
        # a square about the middle of the climb, in which it is crossed whatever its direction
        c, s = math.cos(self.direction), math.sin(self.direction)
        half = WINDOW_WIDTHS * self.width
        return ((self.start * c - half, self.start * c + half),
                (self.start * s - half, self.start * s + half))


@dataclass(frozen=True, eq=False)
class Hills(Terrain):
    """
    Rolling hills without end: ``g = mean + Σ Aᵢ cos(kᵢ·(x, y) + φᵢ)``.

    Attributes
    ----------
    amplitude : (n,) array_like, m
        Aᵢ.
    wave_vector : (n, 2) array_like, rad/m
        kᵢ; a wave has the length 2π/|k|.
    phase : (n,) array_like, rad
        φᵢ.
    mean : float, m

    Examples
    --------
    >>> waves = Hills(amplitude=[0.1], wave_vector=[[2.0, 0.0]], phase=[0.0])
    >>> round(float(waves.height(0.0, 5.0)), 3), round(waves.smallest_radius, 2)
    (0.1, 2.5)
    """

    amplitude: ArrayField
    wave_vector: ArrayField
    phase: ArrayField
    mean: float = 0.0
    kind: ClassVar[int] = kernels.COSINES

    def __post_init__(self) -> None:
        """Make the arrays read-only and check them."""
        require('Hills', anything, 'a finite height in m', mean=self.mean)
        waves = {name: frozen(getattr(self, name)) for name in ('amplitude', 'wave_vector',
                                                               'phase')}
        count = waves['amplitude'].size
        for name, shape in (('amplitude', (count,)), ('wave_vector', (count, 2)),
                            ('phase', (count,))):
            values = waves[name]
            if values.shape != shape or count == 0:
                raise TerrainError(f'Hills: {name} has the shape {values.shape}: amplitude (n,), '
                                   'wave_vector (n, 2) and phase (n,) of n ≥ 1 waves are needed')
            if count > MOST_WAVES:
                raise TerrainError(f'Hills: {count} waves: at most {MOST_WAVES} are added up at '
                                   'every step; leave out the lowest')
            if not np.all(np.abs(values) <= LARGEST):
                wrong = np.argwhere(~(np.abs(values) <= LARGEST))[0]
                raise TerrainError(f'Hills: {name}{wrong.tolist()} = {values[tuple(wrong)]}: '
                                   f'every number must be finite and at most {LARGEST:g}')
            object.__setattr__(self, name, values)

    @classmethod
    def random(cls, seed: int, amplitude: float = 0.35, wavelength: float = 4.0,
               count: int = 8) -> Hills:
        """
        Return random hills: waves in all directions, the long ones higher.

        Parameters
        ----------
        seed : int
            The same seed gives the same hills.
        amplitude : float, m
            The greatest height over the mean that can occur: Σ Aᵢ.
        wavelength : float, m
            Of the shortest wave; the longest is twice as long. Aᵢ grows with the length, so
            that all are equally steep.
        count : int
            Number of waves.
        """
        require('Hills.random', above_zero, 'greater than zero', amplitude=amplitude,
                wavelength=wavelength)
        require('Hills.random', lambda number: number == int(number) and 1 <= number <= MOST_WAVES,
                f'a whole number from 1 to {MOST_WAVES}', count=count)
        generator = np.random.default_rng(seed)
        length = wavelength * 2.0 ** generator.uniform(0.0, 1.0, count)
        # one wave per sector, so that no direction is left level
        angle = math.pi * (np.arange(count) + generator.uniform(0.0, 1.0, count)) / count
        direction = np.column_stack([np.cos(angle), np.sin(angle)])
        return cls(amplitude * length / length.sum(),
                   direction * (2.0 * math.pi / length)[:, None],
                   generator.uniform(0.0, 2.0 * math.pi, count))

    @property
    def feature_length(self) -> float:
        """The shortest 1/|k|, m: a wavelength through 2π."""
        longest = float(np.max(np.linalg.norm(self.wave_vector, axis=1)))
        return 1.0 / longest if longest > 0 else math.inf

    @cached_property
    def table(self) -> Array:
        """Rows A, kx, ky, φ, read-only."""
        return frozen(np.column_stack([self.amplitude, self.wave_vector, self.phase]))

    def _numbers(self) -> ArrayLike:
        return [self.mean]

    def _window(self) -> tuple[tuple[float, float], tuple[float, float]]:
        lengths = np.linalg.norm(self.wave_vector, axis=1)
        half = LONGEST_WAVES * math.pi / max(float(np.min(lengths)), 1e-3)
        return (-half, half), (-half, half)
