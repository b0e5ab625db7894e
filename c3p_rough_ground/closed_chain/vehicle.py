# SPDX-License-Identifier: Apache-2.0
"""Vehicle and state of a closed chain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import ArrayField
from c3p_rough_ground.closed_chain.description import (
    PRISMATIC,
    SLIDING,
    SPINNING,
    TURNING,
    Array,
    ChainJoint,
    DescriptionError,
    Packed,
    Wheel,
    predecessors,
)

# with fewer contacts the platform can turn about the line through them
FEWEST_WHEELS = 3
# numbers of the pose in the kernels' state: position, quaternion (w, x, y, z)
POSE = 7


@dataclass(frozen=True, eq=False)
class State:
    """
    Pose, joints and contacts of a vehicle.

    Attributes
    ----------
    position : (3,) array, m
        Origin of {P} in {G}.
    rotation : (3, 3) array
        R_GP: columns are the axes of {P} in {G}.
    joint : (m,) array, rad or m
        θ, in the order of `Vehicle.joints`.
    contact : (n, 5) array
        η = (u, v, x, y, ψ) of each wheel: coordinates on the wheel and on the ground, and the
        angle between the two contact frames; rad (v of a cylinder in m) and m.
    """

    position: ArrayField
    rotation: ArrayField
    joint: ArrayField
    contact: ArrayField

    def __post_init__(self) -> None:
        """Make arrays."""
        for name in ('position', 'rotation', 'joint', 'contact'):
            object.__setattr__(self, name, np.array(getattr(self, name), float))


def quaternion(rotation: ArrayLike) -> Array:
    """
    Return (w, x, y, z), w ≥ 0, of a `rotation` matrix.

    From the row of the largest of the four squares 4w² = 1 + trace, …, so that nothing cancels.
    """
    r = np.asarray(rotation, float)
    squares = np.array([1 + r[0, 0] + r[1, 1] + r[2, 2], 1 + r[0, 0] - r[1, 1] - r[2, 2],
                        1 - r[0, 0] + r[1, 1] - r[2, 2], 1 - r[0, 0] - r[1, 1] + r[2, 2]])
    products = np.array([
        [squares[0], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
        [r[2, 1] - r[1, 2], squares[1], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
        [r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], squares[2], r[1, 2] + r[2, 1]],
        [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], squares[3]]])
    q = products[np.argmax(squares)]
    q = q / np.linalg.norm(q)
    return -q if q[0] < 0.0 else q


def rotation_matrix(quaternion: ArrayLike) -> Array:
    """
    Return the rotations (…, 3, 3) of unit quaternions (w, x, y, z), (…, 4).

    Examples
    --------
    >>> rotation_matrix([1, 0, 0, 0]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    w, x, y, z = np.moveaxis(np.asarray(quaternion, float), -1, 0)
    rows = [[w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def yaw_of(rotation: ArrayLike) -> float:
    """Return the heading of x of {P} seen from above, rad, of a `rotation` (3, 3)."""
    r = np.asarray(rotation, float)
    return math.atan2(r[1, 0], r[0, 0])


def _towards(axis: Array) -> tuple[int, Array]:
    """Return a coordinate axis k and a rotation F with F e_k = axis."""
    k = int(np.argmax(np.abs(axis)))
    columns = [axis]
    for unit in (np.roll(np.eye(3), -k, axis=0)[1:]):
        rest = unit - sum((unit @ c) * c for c in columns)
        columns.append(rest / np.linalg.norm(rest))
    turn = np.empty((3, 3))
    for i, column in enumerate(columns):
        turn[:, (k + i) % 3] = column
    if np.linalg.det(turn) < 0.0:
        turn[:, (k + 1) % 3] *= -1.0
    return k, turn


@dataclass(frozen=True, eq=False)
class Vehicle:
    """
    A platform on wheels: joints and their chains to the wheels.

    Attributes
    ----------
    name : str
    joints : tuple of ChainJoint
        Their order is the order of θ everywhere.
    wheels : tuple of Wheel
    settling : tuple of str
        Joints positioned by the ground, besides height, roll and pitch of the platform: a rocker.
        At least one for each contact beyond three.
    camber : tuple of str
        Joints to which `camber_gain` of `simulate` applies.

    Raises
    ------
    DescriptionError
        An invalid tree, fewer than three wheels, more contacts than the settling joints allow.

    Examples
    --------
    >>> from c3p_rough_ground.rolling_contact import sphere
    >>> spins = [ChainJoint(f'spin_{i}', (0, 1, 0), at) for i, at in
    ...          enumerate([(1, 0, 0), (0, .5, 0), (0, -.5, 0)])]
    >>> cart = Vehicle('cart', spins, [Wheel(j.name, [j.name], sphere(0.2)) for j in spins])
    >>> cart.size, [wheel.name for wheel in cart.wheels]
    ((3, 3), ['spin_0', 'spin_1', 'spin_2'])
    """

    name: str
    joints: Sequence[ChainJoint]
    wheels: Sequence[Wheel]
    settling: Sequence[str] = ()
    camber: Sequence[str] = ()
    packed: Packed = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the tree and pack it for the kernels."""
        for name in ('joints', 'wheels', 'settling', 'camber'):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(self.wheels) < FEWEST_WHEELS:
            raise DescriptionError(f'{self.name} has {len(self.wheels)} wheels: a platform needs '
                                   'three')
        parents = predecessors(self.joints, self.wheels)
        for name in (*self.settling, *self.camber):
            self.index(name)
        if len(self.wheels) > FEWEST_WHEELS + len(self.settling):
            raise DescriptionError(
                f'{self.name}: {len(self.wheels)} wheels touch any ground only with '
                f'{len(self.wheels) - FEWEST_WHEELS} settling joints, not {len(self.settling)}; '
                'name a rocker in `settling`')
        object.__setattr__(self, 'packed', self._pack(parents))

    @property
    def size(self) -> tuple[int, int]:
        """Numbers of joints m and of wheels n."""
        return len(self.joints), len(self.wheels)

    def index(self, name: str) -> int:
        """Return the place of a joint in θ; DescriptionError without a joint of this `name`."""
        for i, joint in enumerate(self.joints):
            if joint.name == name:
                return i
        raise DescriptionError(f'{self.name} has no joint {name!r}; available: '
                               f'{[joint.name for joint in self.joints]}')

    @property
    def spins(self) -> tuple[int, ...]:
        """Place in θ of the spin of each wheel."""
        return tuple(self.index(wheel.joints[-1]) for wheel in self.wheels)

    def _pack(self, parents: dict[str, str | None]) -> Packed:
        """Fold fixed rotations so that every joint moves about a coordinate axis of its frame."""
        order = sorted(parents, key=lambda name: self._depth(parents, name))
        row = {name: i for i, name in enumerate(order)}
        tree = np.zeros((len(order), 6), np.int64)
        fixed = np.empty((len(order), 12))
        # what is left to turn from a body's frame in the kernels to the frame of its joint
        after: dict[str | None, Array] = {None: np.eye(3)}
        spins = {wheel.joints[-1] for wheel in self.wheels}
        for i, name in enumerate(order):
            joint = self.joints[self.index(name)]
            parent = parents[name]
            k, fold = _towards(joint.axis)
            matrix = after[parent] @ joint.rotation @ fold
            motion = SPINNING if name in spins else SLIDING if joint.kind == PRISMATIC else TURNING
            tree[i] = (self.index(name), 0 if parent is None else row[parent] + 1, k,
                       motion, np.any(matrix != np.eye(3)),
                       self.settling.index(name) if name in self.settling else -1)
            fixed[i] = [*matrix.ravel(), *(after[parent] @ joint.origin)]
            after[name] = fold.T
        chain = [(row[name], self.index(name)) for wheel in self.wheels for name in wheel.joints]
        profile = np.zeros((len(self.wheels), 3))
        for i, wheel in enumerate(self.wheels):
            values = np.asarray(wheel.surface.parameters, float)
            profile[i, :len(values)] = values
        ends = np.cumsum([len(wheel.joints) for wheel in self.wheels])
        kinds = [wheel.surface.kind for wheel in self.wheels]
        table = np.stack([[0, *ends[:-1]], ends, kinds], axis=1)
        return Packed(tree, fixed, np.array(chain, np.int64), table.astype(np.int64), profile)

    @property
    def limits(self) -> Array:
        """Range of each joint (m, 2)."""
        return np.array([(joint.lower, joint.upper) for joint in self.joints])

    def _depth(self, parents: dict[str, str | None], name: str) -> tuple[int, int]:
        """Return a key that sorts joints parents first, else in their own order."""
        above = parents[name]
        return (0 if above is None else self._depth(parents, above)[0] + 1), self.index(name)

    @property
    def lengths(self) -> Array:
        """Displacement by a unit of each number of the kernels' state, m: the error scale."""
        reach = max(float(np.linalg.norm(joint.origin)) for joint in self.joints)
        radius = max(wheel.surface.outer_radius for wheel in self.wheels)
        joints = [1.0 if joint.kind == PRISMATIC else radius for joint in self.joints]
        pose = [1.0] * 3 + [2.0 * max(reach, radius)] * 4
        return np.array(pose + joints + [radius, radius, 1.0, 1.0, radius] * len(self.wheels))

    def pack_state(self, state: State) -> Array:
        """Return a `state` as one vector: p, quaternion, θ, η."""
        m, n = self.size
        for name, value, shape in (('position', state.position, (3,)),
                                   ('rotation', state.rotation, (3, 3)),
                                   ('joint', state.joint, (m,)),
                                   ('contact', state.contact, (n, 5))):
            if value.shape != shape or not np.all(np.isfinite(value)):
                raise ValueError(f'{name} of the state of {self.name} = {value.tolist()}: '
                                 f'expected finite numbers of shape {shape}; `place` makes one')
        return np.concatenate([state.position, quaternion(state.rotation), state.joint,
                               state.contact.ravel()])

    def unpack_state(self, packed: Array) -> State:
        """Return the state of a vector by `pack_state`."""
        m, n = self.size
        return State(packed[:3], rotation_matrix(packed[3:POSE]), packed[POSE:POSE + m],
                     packed[POSE + m:].reshape(n, 5))
