# SPDX-License-Identifier: Apache-2.0
"""An ellipsoid with three axes: a wheel whose chart is oblique."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_kinematics.rolling_contact.surfaces import Chart, ChartSurface, positive


@dataclass(frozen=True)
class TriaxialEllipsoid(ChartSurface):
    """
    A wheel that is no surface of revolution: ``(a cos u cos v, b sin v, −c sin u cos v)``.

    Its chart is not orthogonal. Only the equations in this package take it, the compiled vehicle
    does not.

    Attributes
    ----------
    semi_axes : (a, b, c), m
        Along x, along the axle y, along z.

    Raises
    ------
    SurfaceError
        A length that cannot be.

    Examples
    --------
    >>> stone = TriaxialEllipsoid((0.3, 0.1, 0.2))
    >>> bool(abs(stone.metric([0.5, 0.4])[0, 1]) > 0.01)
    True
    """

    semi_axes: tuple[float, float, float]

    def __post_init__(self) -> None:
        """Check the lengths."""
        positive('TriaxialEllipsoid', **dict(zip('abc', self.semi_axes, strict=True)))

    def chart(self, coordinates: ArrayLike) -> Chart:
        """Return the point at `coordinates` = (u, v) and the derivatives there."""
        u, v = np.asarray(coordinates, float)
        axes, cu, su, cv, sv = (np.array(self.semi_axes), np.cos(u), np.sin(u), np.cos(v),
                                np.sin(v))
        return Chart(*(axes * direction for direction in (
            (cu * cv, sv, -su * cv), (-su * cv, 0.0, -cu * cv), (-cu * sv, cv, su * sv),
            (-cu * cv, 0.0, su * cv), (su * sv, 0.0, cu * sv), (-cu * cv, -sv, su * cv))))
