# SPDX-License-Identifier: Apache-2.0
"""
Contact geometry of any smooth surface: frame, metric M, curvature K and torsion T.

They follow from a chart ``f(q)``, q = (q₁, q₂), and its first and second derivatives. The chart
need not be orthogonal. With the contact frame ``x = f₁/|f₁|``, ``z = f₁×f₂/|f₁×f₂|``, ``y = z×x``:

    M = [[x·f₁, x·f₂], [0, y·f₂]]        displacement of the contact point in the frame, M q̇
    K = −M⁻ᵀ [z·f_ij] M⁻¹                (x·ż, y·ż) = K M q̇
    T = [y·f₁₁, y·f₁₂]/|f₁| M⁻¹          y·ẋ = T M q̇

K is positive where the surface is convex towards z. Auchter and Moore give M, K, T for orthogonal
charts only (docs/papers/auchter_moore.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_rough_ground.terrain import Terrain


class SurfaceError(ValueError):
    """An invalid surface; the text names the value and the remedy."""


class Chart(NamedTuple):
    """
    A point of a surface with the derivatives of the chart f there.

    Attributes
    ----------
    point : (3,) array, m
        f in the frame of the body.
    first, second : (3,) arrays
        ∂f/∂q₁ and ∂f/∂q₂.
    first_first, first_second, second_second : (3,) arrays
        The second derivatives.
    """

    point: Array
    first: Array
    second: Array
    first_first: Array
    first_second: Array
    second_second: Array


class Surface:
    """
    A surface that a contact point can move on; coordinates are (2,) arrays.

    Derive from it and write ``chart(coordinates) -> Chart``; f₁×f₂ must point out of the body.
    """

    def chart(self, coordinates: ArrayLike) -> Chart:
        """Return the point at `coordinates` and the derivatives there."""
        raise NotImplementedError(f'{type(self).__name__} needs a chart')

    def point(self, coordinates: ArrayLike) -> Array:
        """Return f (3,) at the `coordinates`, in the frame of the body."""
        return self.chart(coordinates).point

    def frame(self, coordinates: ArrayLike) -> Array:
        """
        Return the axes x, y, z of the contact frame as columns (3, 3).

        Raises
        ------
        SurfaceError
            The chart is not regular at the `coordinates` (a pole).
        """
        return self._frame(self.chart(coordinates), coordinates)

    def metric(self, coordinates: ArrayLike) -> Array:
        """Return ``M = [[x·f₁, x·f₂], [0, y·f₂]]`` (2, 2) at the `coordinates`; as `frame`."""
        chart = self.chart(coordinates)
        return _metric(chart, self._frame(chart, coordinates))

    def curvature(self, coordinates: ArrayLike) -> Array:
        """Return ``K = −M⁻ᵀ [z·f_ij] M⁻¹`` (2, 2), 1/m, at the `coordinates`; as `frame`."""
        chart = self.chart(coordinates)
        frame = self._frame(chart, coordinates)
        metric = _metric(chart, frame)
        mixed = frame[:, 2] @ chart.first_second
        second_form = np.array([[frame[:, 2] @ chart.first_first, mixed],
                                [mixed, frame[:, 2] @ chart.second_second]])
        half = np.linalg.solve(metric.T, second_form)
        return -np.linalg.solve(metric.T, half.T)

    def torsion(self, coordinates: ArrayLike) -> Array:
        """Return ``T = [y·f₁₁, y·f₁₂]/|f₁| M⁻¹`` (2,), 1/m, at the `coordinates`; as `frame`."""
        chart = self.chart(coordinates)
        frame = self._frame(chart, coordinates)
        metric = _metric(chart, frame)
        turning = frame[:, 1] @ np.column_stack([chart.first_first, chart.first_second])
        return np.linalg.solve(metric.T, turning / metric[0, 0])

    def _frame(self, chart: Chart, coordinates: ArrayLike) -> Array:
        normal = np.cross(chart.first, chart.second)
        area = np.linalg.norm(normal)
        first = np.linalg.norm(chart.first)
        # rounding alone remains of one of the derivatives at a pole; nan fails as well
        if not area > 1e-12 * np.linalg.norm(chart.point) ** 2:
            raise SurfaceError(
                f'{self}: no contact frame at coordinates '
                f'{np.asarray(coordinates, float).tolist()}, where the chart has a pole or is not '
                'finite; keep the contact point away from it')
        x = chart.first / first
        z = normal / area
        return np.column_stack([x, np.cross(z, x), z])


def _metric(chart: Chart, frame: Array) -> Array:
    """Return M of a chart whose contact frame is known."""
    x, y = frame[:, 0], frame[:, 1]
    return np.array([[x @ chart.first, x @ chart.second], [0.0, y @ chart.second]])


@dataclass(frozen=True)
class Ground(Surface):
    """
    The graph of a terrain: ``f = (x, y, g(x, y))``, an oblique chart where gx·gy ≠ 0.

    With ``a = √(1+gx²)`` and ``W = √(1+gx²+gy²)`` the forms are
    ``M = [[a, gx gy/a], [0, W/a]]``, ``K = −M⁻ᵀ ∇∇g M⁻¹/W`` and
    ``T = gy/(a² W) [gxx, gxy] M⁻¹``.

    Attributes
    ----------
    terrain : Terrain
        Anything with ``derivatives(x, y)``.

    Examples
    --------
    >>> from c3p_rough_ground.terrain import Incline
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


def positive(owner: str, **values: float) -> None:
    """Raise SurfaceError unless all lengths [m] of `owner` are finite and greater than zero."""
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0):
            raise SurfaceError(f'{owner}: {name} = {value} m: it must be a finite length greater '
                               'than zero')
