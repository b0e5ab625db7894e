# SPDX-License-Identifier: Apache-2.0
"""
Wheels: surfaces of revolution about the axle ŷ; SurfaceError names an invalid length.

``f(u, v) = r(v) e_r(u) + h(v) ŷ`` with ``e_r = (cos u, 0, −sin u)``: u turns with the wheel, v
goes over the tread; the origin is the wheel centre.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array
from c3p_rough_ground.rolling_contact import _kernels as kernels
from c3p_rough_ground.rolling_contact.surfaces import Chart, Surface, SurfaceError, positive

# uncompiled: one value costs less than the compiler
SECTION = getattr(kernels.profile, 'py_func', kernels.profile)


@dataclass(frozen=True)
class WheelSurface(Surface):
    """
    A surface of revolution; `kind` and `parameters` select it in the compiled kernels.

    Attributes
    ----------
    kind : int
        Section ``r(v), h(v)`` (rolling_contact/_kernels.py).
    parameters : (k,) array
        Its lengths, read-only.
    outer_radius : float, m
        The largest distance from the axle.
    """

    kind: ClassVar[int]

    @property
    def parameters(self) -> Array:
        """The lengths that the kernels take."""
        parameters = np.array(astuple(self), float)
        parameters.setflags(write=False)
        return parameters

    @property
    def outer_radius(self) -> float:
        """The largest distance from the axle, m."""
        return self._section(0.0)[0]

    def chart(self, coordinates: ArrayLike) -> Chart:
        """Return the point at `coordinates` = (u, v) and the derivatives there."""
        u, v = (float(number) for number in np.asarray(coordinates, float))
        r, h, dr, dh, ddr, ddh = self._section(v)
        radial = np.array([math.cos(u), 0.0, -math.sin(u)])
        # d e_r/du, whose own derivative is −e_r
        along = np.array([-math.sin(u), 0.0, -math.cos(u)])
        axle = np.array([0.0, 1.0, 0.0])
        return Chart(r * radial + h * axle, r * along, dr * radial + dh * axle,
                     -r * radial, dr * along, ddr * radial + ddh * axle)

    def _section(self, v: float) -> tuple[float, ...]:
        """Return r, h and their first and second derivatives by v."""
        return SECTION(self.kind, astuple(self), v)


@dataclass(frozen=True)
class Torus(WheelSurface):
    """
    A tyre with a round tube: ``r = R + ρ cos v``, ``h = ρ sin v``.

    Attributes
    ----------
    radius : float, m
        R of the circle of the tube's centres; 0 gives a sphere.
    tube_radius : float, m
        ρ.

    Examples
    --------
    >>> tyre = Torus(0.25, 0.05)
    >>> tyre.outer_radius, tyre.metric([0.0, 0.0]).tolist()
    (0.3, [[0.3, 0.0], [0.0, 0.05]])
    """

    radius: float
    tube_radius: float
    kind: ClassVar[int] = kernels.TORUS

    def __post_init__(self) -> None:
        """Check both lengths."""
        positive('Torus', tube_radius=self.tube_radius)
        if self.radius != 0:
            positive('Torus', radius=self.radius)


def sphere(radius: float) -> Torus:
    """
    Return a ball of `radius` [m] as a wheel: a torus without a hole.

    Examples
    --------
    >>> (sphere(0.2).curvature([0.3, 0.4]).round(12) + 0.0).tolist()
    [[5.0, 0.0], [0.0, 5.0]]
    """
    return Torus(0.0, radius)


@dataclass(frozen=True)
class Ellipsoid(WheelSurface):
    """
    An ellipsoid of revolution: ``r = a cos v``, ``h = b sin v``.

    Attributes
    ----------
    radius, half_width : float, m
        a of the equator, b along the axle.

    Examples
    --------
    >>> curvature = Ellipsoid(0.3, 0.1).curvature([0.0, 0.0])  # 1/a, and a/b² across
    >>> (curvature.round(9) + 0.0).tolist()
    [[3.333333333, 0.0], [0.0, 30.0]]
    """

    radius: float
    half_width: float
    kind: ClassVar[int] = kernels.ELLIPSOID

    def __post_init__(self) -> None:
        """Check both lengths."""
        positive('Ellipsoid', radius=self.radius, half_width=self.half_width)


@dataclass(frozen=True)
class CappedCylinder(WheelSurface):
    """
    A flat tread with rounded edges; v is an arc length from the middle.

    On the flat, |v| ≤ `half_flat`, the curvature across is zero: there the contact is a line
    unless the ground is convex. The curvature jumps where the edge begins.

    Attributes
    ----------
    radius, half_flat, edge_radius : float, m
        Of the tread, half the width of the flat, of the rounded edges (smaller than `radius`).

    Examples
    --------
    >>> (CappedCylinder(0.2, 0.05, 0.01).point([0.0, 0.05]) + 0.0).tolist()
    [0.2, 0.05, 0.0]
    """

    radius: float
    half_flat: float
    edge_radius: float
    kind: ClassVar[int] = kernels.CYLINDER

    def __post_init__(self) -> None:
        """Check the lengths."""
        positive('CappedCylinder', radius=self.radius, half_flat=self.half_flat,
                 edge_radius=self.edge_radius)
        if self.edge_radius >= self.radius:
            raise SurfaceError(f'CappedCylinder: edge_radius = {self.edge_radius} m: it must be '
                               f'smaller than radius = {self.radius} m')
