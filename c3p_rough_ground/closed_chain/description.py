# SPDX-License-Identifier: Apache-2.0
"""
A vehicle as a description: a tree of joints under a platform whose leaves are wheels.

The frames are those of a URDF: with every joint variable q_j at zero the frame of joint j is
placed in its parent's by ``Trans(origin) rotation``; q_j turns it about (or moves it along)
``axis``. The parent of a joint precedes it in the wheels' lists, the platform {P} the first.
The last joint of each wheel is its spin about y of the wheel frame {W}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c3p_description.model import Array, ArrayField
from c3p_rough_ground.rolling_contact import WheelSurface

REVOLUTE = 'revolute'
PRISMATIC = 'prismatic'
# motion of a joint, in `Packed.tree`; the spin of a wheel differs from a turning joint because a
# surface of revolution does not change with it
TURNING, SLIDING, SPINNING = range(3)
# largest departure of a rotation matrix from orthogonality: what six printed decimals leave
NOT_A_ROTATION = 1e-5


class DescriptionError(ValueError):
    """An invalid description of a vehicle; the text names part, value and remedy."""


class GroundArrays(NamedTuple):
    """A ground for the kernels: kind, parameters, table."""

    kind: int
    parameters: Array
    table: Array


class Packed(NamedTuple):
    """
    A vehicle for the kernels.

    Attributes
    ----------
    tree : (m, 6) int array
        Joint by joint, parents first: variable, body of the parent (0 is the platform, j + 1 the
        body of row j), axis 0 to 2, TURNING, SLIDING or SPINNING, 1 if the parent's frame is
        turned, index of the settling joint or −1.
    fixed : (m, 12) array
        Rotation between the parent's frame and the joint's, row by row, and the origin in m.
    chain : (c, 2) int array
        All links of all chains: row of the tree and variable; the last of each wheel is its spin.
    wheel : (n, 3) int array
        Begin and end of the chain of each wheel in `chain`, and the kind of its surface.
    profile : (n, 3) array
        Parameters of each wheel's surface.
    """

    tree: NDArray[np.int64]
    fixed: Array
    chain: NDArray[np.int64]
    wheel: NDArray[np.int64]
    profile: Array


def axis_rotation(axis: ArrayLike, angle: float) -> Array:
    """
    Return the rotation by `angle` [rad] about `axis`, ``I + sin α [a]× + (1 − cos α) [a]×²``.

    Examples
    --------
    >>> np.round(axis_rotation([0, 0, 2], np.pi / 2) @ [1, 0, 0], 12)
    array([0., 1., 0.])
    """
    a = np.asarray(axis, float)
    a = a / np.linalg.norm(a)
    cross = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
    return np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross


def _vector(what: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    array = np.array(value, float)
    if array.shape != shape or not np.all(np.isfinite(array)):
        raise DescriptionError(f'{what} = {array.tolist()}: expected finite numbers of shape '
                               f'{shape}')
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class ChainJoint:
    """
    One joint between two bodies of a vehicle.

    Attributes
    ----------
    name : str
    axis : (3,) array
        In the joint's own frame; made a unit vector.
    origin : (3,) array, m
        Of the joint's frame in its parent's.
    rotation : (3, 3) array
        Of the joint's frame in its parent's while the variable is zero.
    kind : {'revolute', 'prismatic'}
    lower, upper : float, rad or m
        Range of the variable, at whose ends a run ends; infinite: no limit.

    Raises
    ------
    DescriptionError
        An axis of length zero, a matrix that is not a rotation, an unknown kind, an empty range.
    """

    name: str
    axis: ArrayField
    origin: ArrayField = (0.0, 0.0, 0.0)
    rotation: ArrayField = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    kind: str = REVOLUTE
    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        """Check and freeze."""
        axis = _vector(f'axis of {self.name}', self.axis, (3,))
        length = float(np.linalg.norm(axis))
        if length == 0.0:
            raise DescriptionError(f'axis of {self.name} = {axis.tolist()}: has no direction')
        rotation = _vector(f'rotation of {self.name}', self.rotation, (3, 3))
        if (np.abs(rotation @ rotation.T - np.eye(3)).max() > NOT_A_ROTATION
                or np.linalg.det(rotation) < 0.0):
            raise DescriptionError(f'rotation of {self.name} = {rotation.tolist()}: not a '
                                   'rotation; make it of axis_rotation(axis, angle)')
        if self.kind not in (REVOLUTE, PRISMATIC):
            raise DescriptionError(f'kind of {self.name} = {self.kind!r}: expected '
                                   f'{REVOLUTE!r} or {PRISMATIC!r}')
        if not self.lower <= self.upper:
            raise DescriptionError(f'range of {self.name} = [{self.lower}, {self.upper}]: empty')
        for name, value in (('axis', axis / length), ('rotation', rotation),
                            ('origin', _vector(f'origin of {self.name}', self.origin, (3,)))):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class Wheel:
    """
    One wheel: the joints between the platform and it, and its surface.

    Attributes
    ----------
    name : str
    joints : tuple of str
        From the platform to the wheel; the last is the spin, about y of the wheel frame. Wheels
        may share all but the last.
    surface : WheelSurface
        A surface of revolution about y (`c3p_rough_ground.rolling_contact`).
    """

    name: str
    joints: Sequence[str]
    surface: WheelSurface

    def __post_init__(self) -> None:
        """Freeze the names."""
        object.__setattr__(self, 'joints', tuple(self.joints))
        if not self.joints:
            raise DescriptionError(f'wheel {self.name} has no joint: give it at least its spin')


def predecessors(joints: Sequence[ChainJoint], wheels: Sequence[Wheel]) -> dict[str, str | None]:
    """
    Return the parent of each joint, parents first; None for the platform.

    Raises
    ------
    DescriptionError
        In the `wheels`: a joint that is not in `joints` or has two parents, a spin that two wheels
        use or that is not about y. In the `joints`: one without a wheel.
    """
    known = {joint.name: joint for joint in joints}
    parents: dict[str, str | None] = {}
    if len(known) != len(joints):
        raise DescriptionError(f'joints {[j.name for j in joints]}: two have the same name')
    for wheel in wheels:
        before: str | None = None
        for name in wheel.joints:
            if name not in known:
                raise DescriptionError(f'wheel {wheel.name}: joint {name!r} does not exist; '
                                       f'available: {sorted(known)}')
            if parents.setdefault(name, before) != before:
                raise DescriptionError(f'joint {name} has the parents {parents[name]} and '
                                       f'{before}: a joint has one; make it two joints')
            before = name
    for wheel in wheels:
        spin = known[wheel.joints[-1]]
        if spin.kind != REVOLUTE or np.abs(spin.axis - [0.0, 1.0, 0.0]).max() > 0.0:
            raise DescriptionError(f'wheel {wheel.name}: its last joint {spin.name} must be '
                                   'revolute about (0, 1, 0), the axle; turn it by `rotation`')
        if sum(spin.name in other.joints for other in wheels) > 1:
            raise DescriptionError(f'joint {spin.name}: a spin belongs to one wheel')
    idle = set(known) - set(parents)
    if idle:
        raise DescriptionError(f'joints {sorted(idle)} do not lead to a wheel: leave them out')
    return parents
