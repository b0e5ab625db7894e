# SPDX-License-Identifier: Apache-2.0
"""A terrain that is level around the origin, where simulators place the robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_rough_ground.terrain import Terrain, TerrainError


class Clearing(Terrain):
    """
    A terrain with a level disc of height 0 around the origin, for worlds of simulators.

    With r the distance from the origin, h₀ the height there and s a step with two continuous
    derivatives from 0 at `radius` to 1 at ``radius + fade``,

        g(x, y) = s(r) (h(x, y) − h₀)

    It has no compiled formula: `derivatives` and what depends on them alone are available.

    Parameters
    ----------
    terrain : Terrain
        h.
    radius, fade : float, m
        Of the disc, and the width of the ring around it; greater than zero.

    Raises
    ------
    TerrainError
        A radius or a width that is not greater than zero.

    Examples
    --------
    >>> from c3p_rough_ground.terrain import Incline
    >>> ground = Clearing(Incline(0.1), radius=1.0, fade=2.0)
    >>> [round(float(ground.height(x, 0.0)), 3) + 0.0 for x in (-0.9, 0.9, 2.0, 4.0)]
    [0.0, 0.0, 0.1, 0.4]
    """

    def __init__(self, terrain: Terrain, radius: float = 0.8, fade: float = 1.6) -> None:
        """Look up the height at the origin."""
        for name, value in (('radius', radius), ('fade', fade)):
            if not value > 0.0:
                raise TerrainError(f'{name} = {value}: must be greater than zero')
        self.terrain = terrain
        self.radius = radius
        self.fade = fade
        self.feature_length = min(terrain.feature_length, fade)
        self._level = float(terrain.height(0.0, 0.0))

    def derivatives(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, ...]:
        """Return g, gx, gy, gxx, gxy, gyy at x and y, which broadcast."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        h, hx, hy, hxx, hxy, hyy = self.terrain.derivatives(x, y)
        h = h - self._level
        # inside the disc the step and its derivatives are zero for any r
        r = np.maximum(np.hypot(x, y), self.radius)
        u = np.minimum((r - self.radius) / self.fade, 1.0)
        s = u**3 * (10.0 + u * (6.0 * u - 15.0))
        first = 30.0 * (u * (1.0 - u))**2 / self.fade
        second = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / self.fade**2
        # directions and derivatives of r
        c = x / r
        n = y / r
        sx, sy = first * c, first * n
        sxx = second * c * c + first * n * n / r
        sxy = (second - first / r) * c * n
        syy = second * n * n + first * c * c / r
        return (s * h, sx * h + s * hx, sy * h + s * hy,
                sxx * h + 2.0 * sx * hx + s * hxx, sxy * h + sx * hy + sy * hx + s * hxy,
                syy * h + 2.0 * sy * hy + s * hyy)
