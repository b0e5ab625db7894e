# SPDX-License-Identifier: Apache-2.0
"""
Kinds of constraints between a body and a base.

Each names a point of a body and a place on its base, which is another body or the world. Its
multipliers λ are force and moment *on the body*, and their opposites on the base, along the axes
at the place on the base unless stated otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import ArrayField
from c3p_multibody.constraints._row_kernels import BALL, BLADE, DISTANCE, FRAMED, WHEEL
from c3p_multibody.trees import WORLD, Tree, forward_kinematics
from c3p_multibody.trees.axes import with_first, with_third

UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
Z = (0.0, 0.0, 1.0)
HELD = 6
# bits of a mask: rows along x y z (0-2) and about x y z (3-5); shifted by HELD (6) those that also
# hold a place, not only a velocity
LINEAR = 0b000111
ALL = 0b111111
PLANE = 0b000011
NORMAL = 0b000100


@dataclass(frozen=True, eq=False, kw_only=True)
class Constraint:
    """
    Common fields of all constraints.

    Attributes
    ----------
    body : str or int
        Name of a body (also one on a fixed joint), or index of a joint.
    point : (3,) array_like, m
        On the body, in its axes.
    base : str or int
        The other body, or the world.
    place : (3,) array_like, m
        On the base, in its axes.
    rate : float or array_like
        g of ``B q̇ = g``, one number per row, m/s or rad/s; the error grows accordingly.
    name : str
        For errors and records; made of the bodies' names when empty.
    """

    body: str | int
    point: ArrayField = (0.0, 0.0, 0.0)
    base: str | int = WORLD
    place: ArrayField = (0.0, 0.0, 0.0)
    rate: ArrayField = 0.0
    name: str = ''

    kind: ClassVar[int] = FRAMED
    word: ClassVar[str] = ''
    along: ClassVar[tuple[str, ...]] = ('x', 'y', 'z', 'about x', 'about y', 'about z')

    @property
    def mask(self) -> int:
        """Bits of the rows."""
        return 0

    @property
    def title(self) -> str:
        """Name, or kind, body and base."""
        return self.name or f'{self.word} {self.body}-{self.base}'

    @property
    def labels(self) -> tuple[str, ...]:
        """Short description of each row."""
        return tuple(f'{self.title}, {self.along[k]}' for k in range(6) if self.mask >> k & 1)

    @property
    def base_axes(self) -> np.ndarray:
        """Axes at the place on the base, by columns."""
        return np.eye(3)

    @property
    def body_axes(self) -> np.ndarray:
        """Axes at the point on the body, by columns."""
        return np.eye(3)

    @property
    def size(self) -> float:
        """Length of a rod or radius of a wheel, m; 0 for other kinds."""
        return 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Point(Constraint):
    """
    A point of the body stays at a place of the base: three rows, x y z of `axes`.

    Attributes
    ----------
    axes : (3, 3) array_like
        Axes of the rows, by columns, in the base's frame.
    """

    axes: ArrayField = field(default=UNIT)
    mask: ClassVar[int] = LINEAR | LINEAR << HELD
    word: ClassVar[str] = 'point'

    @property
    def base_axes(self) -> np.ndarray:
        """Axes at the place on the base, by columns."""
        return np.asarray(self.axes, float)


@dataclass(frozen=True, eq=False, kw_only=True)
class Weld(Point):
    """
    The body stays at a place of the base and does not turn: six rows, forces before moments.

    Attributes
    ----------
    turned : (3, 3) array_like
        Axes on the body, by columns in its frame, that coincide with `axes` on the base.

    Notes
    -----
    Between bodies that move in a plane only three of the six are independent; the solvers
    determine the rank.
    """

    turned: ArrayField = field(default=UNIT)
    mask: ClassVar[int] = ALL | ALL << HELD
    word: ClassVar[str] = 'weld'

    @property
    def body_axes(self) -> np.ndarray:
        """Axes at the point on the body, by columns."""
        return np.asarray(self.turned, float)

    @classmethod
    def here(cls, tree: Tree, q: ArrayLike, body: str | int, base: str | int = WORLD,
             point: ArrayLike = (0.0, 0.0, 0.0), name: str = '') -> Weld:
        """
        Return the weld that holds a body in its present pose at `q` (n,), without error.

        λ is force and moment at `point` (3,), m, in the axes of the body. `tree`, `body`, `base`
        and `name` as for the fields.
        """
        at = pose(tree, q, body)
        on = pose(tree, q, base)
        place = on[0].T @ (at[1] + at[0] @ np.asarray(point, float) - on[1])
        return cls(body=body, point=point, base=base, place=place, turned=at[0].T @ on[0],
                   name=name)


@dataclass(frozen=True, eq=False, kw_only=True)
class _OnPlane(Constraint):
    """Constraint with a plane of the base, given by its `normal`, the last of the base's axes."""

    normal: ArrayField = Z

    @property
    def base_axes(self) -> np.ndarray:
        """Axes at the place on the base, by columns; the normal is the last one."""
        return with_third(self.normal)


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanarLoop(_OnPlane):
    """
    Closure of a planar loop: a point of the body stays at a place of the base, across the normal.

    Two rows along two axes of the base across the normal (`axes.with_third`).

    Attributes
    ----------
    normal : (3,) array_like
        Of the plane, in the base's frame.
    """

    mask: ClassVar[int] = PLANE | PLANE << HELD
    word: ClassVar[str] = 'loop'


@dataclass(frozen=True, eq=False, kw_only=True)
class Distance(Constraint):
    """
    A rod between two points: one row; λ > 0 pushes the body away from the base.

    Attributes
    ----------
    length : float, m
    """

    length: float
    kind: ClassVar[int] = DISTANCE
    mask: ClassVar[int] = 1
    word: ClassVar[str] = 'rod'
    along: ClassVar[tuple[str, ...]] = ('along',)

    @property
    def size(self) -> float:
        """The length, m."""
        return float(self.length)


@dataclass(frozen=True, eq=False, kw_only=True)
class RollingWheel(_OnPlane):
    """
    A thin wheel rolls on a plane of the base without slip: three rows, at the point of contact.

    The first two, along the plane, cannot be integrated and hold no place; the third one holds the
    height. The `point` is the wheel's centre, the `place` any point of the plane.

    Attributes
    ----------
    radius : float, m
    axle : (3,) array_like
        In the body's frame; not along the normal, where the contact point is undefined.
    normal : (3,) array_like
        Of the plane, towards the wheel, in the base's frame.
    """

    radius: float
    axle: ArrayField = (0.0, 1.0, 0.0)
    kind: ClassVar[int] = WHEEL
    mask: ClassVar[int] = LINEAR | NORMAL << HELD
    word: ClassVar[str] = 'rolling'
    along: ClassVar[tuple[str, ...]] = ('first axis of the plane', 'second axis of the plane',
                                        'normal')

    @property
    def body_axes(self) -> np.ndarray:
        """Axes at the centre, by columns; the axle is the last one."""
        return with_third(self.axle)

    @property
    def size(self) -> float:
        """The radius, m."""
        return float(self.radius)


@dataclass(frozen=True, eq=False, kw_only=True)
class RollingBall(RollingWheel):
    """A ball rolls on a plane of the base without slip; as a wheel, but without an axle."""

    kind: ClassVar[int] = BALL


@dataclass(frozen=True, eq=False, kw_only=True)
class KnifeEdge(Constraint):
    """
    A blade does not move sideways: one row, along `sideways` of the *body*; it holds no place.

    Attributes
    ----------
    sideways : (3,) array_like
        In the body's frame.
    """

    sideways: ArrayField = (0.0, 1.0, 0.0)
    kind: ClassVar[int] = BLADE
    mask: ClassVar[int] = 1
    word: ClassVar[str] = 'blade'
    along: ClassVar[tuple[str, ...]] = ('sideways',)

    @property
    def body_axes(self) -> np.ndarray:
        """Axes at the point, by columns; the sideways one is the first."""
        return with_first(self.sideways)


@dataclass(frozen=True, eq=False, kw_only=True)
class Contact(_OnPlane):
    """
    A point of the body stays above a plane of the base; while it touches, λ ≥ 0 pushes it away.

    Attributes
    ----------
    normal : (3,) array_like
        Of the plane, towards the body, in the base's frame.
    restitution : float
        e of ``B q̇⁺ = −e B q̇⁻``, 0 to 1.
    rough : bool
        Does not slip while it touches (friction as large as it takes). Three rows then, of which
        only the last, along the normal, holds a place.
    """

    restitution: float = 0.0
    rough: bool = False
    word: ClassVar[str] = 'contact'

    @property
    def mask(self) -> int:
        """Bits of the rows."""
        return (LINEAR if self.rough else NORMAL) | NORMAL << HELD


def pose(tree: Tree, q: ArrayLike, body: str | int) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation and origin of a `body`, also one on a fixed joint, in the world."""
    frame = tree.frame(body)
    if frame.body < 0:
        return frame.rotation, frame.translation
    poses = forward_kinematics(tree, q)
    rotation = poses.rotation[frame.body]
    origin = poses.translation[frame.body]
    return rotation @ frame.rotation, origin + rotation @ frame.translation
