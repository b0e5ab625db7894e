# SPDX-License-Identifier: Apache-2.0
"""Rolling hills: a sum of cosines, smooth and without end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from c3p_kinematics.terrain import _kernels as kernels
from c3p_kinematics.terrain.base import (
    LARGEST,
    Array,
    CompiledTerrain,
    TerrainError,
    above_zero,
    anything,
    frozen,
    require,
)

# half the side of the square in which `smallest_radius` looks, in lengths of the longest wave / π
LONGEST_WAVES = 4.0
# of a ground: each is added up at every point
MOST_WAVES = 128


@dataclass(frozen=True, eq=False)
class Hills(CompiledTerrain):
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

    Raises
    ------
    TerrainError
        No wave, shapes that do not fit each other, a number that is not finite.

    Examples
    --------
    >>> waves = Hills(amplitude=[0.1], wave_vector=[[2.0, 0.0]], phase=[0.0])
    >>> round(float(waves.height(0.0, 5.0)), 3), round(waves.smallest_radius, 2)
    (0.1, 2.5)
    """

    amplitude: ArrayLike
    wave_vector: ArrayLike
    phase: ArrayLike
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

        Raises
        ------
        TerrainError
            A length or count that is not greater than zero.
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

    def derivatives(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, ...]:
        """Return g, gx, gy, gxx, gxy, gyy at x and y, which broadcast."""
        kx, ky = self.wave_vector.T
        angle = np.multiply.outer(x, kx) + np.multiply.outer(y, ky) + self.phase
        even, odd = np.cos(angle), -np.sin(angle)
        return (self.mean + even @ self.amplitude, odd @ (self.amplitude * kx),
                odd @ (self.amplitude * ky), even @ (-self.amplitude * kx * kx),
                even @ (-self.amplitude * kx * ky), even @ (-self.amplitude * ky * ky))

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
