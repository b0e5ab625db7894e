# SPDX-License-Identifier: Apache-2.0
"""The ground as a surface: the graph (x, y, g(x, y)) of a terrain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_kinematics.rolling_contact.surfaces import Chart, ChartSurface
from c3p_kinematics.terrain import Terrain


@dataclass(frozen=True)
class Ground(ChartSurface):
    """
    The graph of a terrain: ``f = (x, y, g(x, y))``, an oblique chart where gx·gy ≠ 0.

    With ``a = √(1+gx²)`` and ``W = √(1+gx²+gy²)`` the forms of surfaces.py become
    ``M = [[a, gx gy/a], [0, W/a]]``, ``K = −M⁻ᵀ ∇∇g M⁻¹/W`` and
    ``T = gy/(a² W) [gxx, gxy] M⁻¹``.

    Attributes
    ----------
    terrain : Terrain
        Anything with ``derivatives(x, y)``.

    Examples
    --------
    >>> from c3p_kinematics.terrain import Incline
    >>> (Ground(Incline(slope=0.5)).frame([0.0, 0.0])[:, 2].round(3) + 0.0).tolist()
    [-0.447, 0.0, 0.894]
    """

    terrain: Terrain

    def chart(self, coordinates: ArrayLike) -> Chart:
        """Return the point at `coordinates` = (x, y) and the derivatives there."""
        x, y = np.asarray(coordinates, float)
        g, gx, gy, gxx, gxy, gyy = (float(d) for d in self.terrain.derivatives(x, y))
        return Chart(np.array([x, y, g]), np.array([1.0, 0.0, gx]), np.array([0.0, 1.0, gy]),
                     *(np.array([0.0, 0.0, d]) for d in (gxx, gxy, gyy)))
