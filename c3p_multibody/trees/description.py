# SPDX-License-Identifier: Apache-2.0
"""
Constant description of a tree of rigid bodies.

Inside, bodies are numbered depth first and each body's axes are turned so that its joint moves
about or along z. A rotation then costs a rotation in the plane and one by a constant matrix, whose
zeros and ones drop out of straight-line code (compile.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c3p_multibody.trees.axes import with_third
from c3p_multibody.trees.numbering import checked_connection, unique, visits, without_chains
from c3p_multibody.trees.parts import (
    Array,
    Body,
    Joint,
    TreeError,
    check_inertia,
    checked_body,
    checked_joint,
    lumped,
)

# entries of a rotation nearer than this to 0 or ±1 are rounded: cos(π/2) is 6e-17 as a double
SNAP = 1e-15
# name of the fixed base
WORLD = 'world'


class Arrays(NamedTuple):
    """
    The tree as flat arrays for kernels, bodies numbered depth first. Not to be written to.

    Attributes
    ----------
    links : (n, 3) array of int64
        Lower body (−1: world), kind (0 revolute, 1 prismatic), index of the freedom in q.
    numbers : (n, 31) array
        At q = 0: rotation (9, by rows) and translation (3) from the body's inner axes to those of
        the lower body; mass, first moment (3) and inertia about the origin (xx, yy, zz, xy, xz,
        yz), in inner axes; rotation (9) from inner axes to the axes that the user gave.
    gravity : (3,) array, m/s²
    """

    links: NDArray[np.int64]
    numbers: Array
    gravity: Array


class Frame(NamedTuple):
    """
    A named frame that moves with a body.

    Attributes
    ----------
    body : int
        Index of the moving body, −1 for the world.
    rotation : (3, 3) array
        From the frame's axes to the body's.
    translation : (3,) array, m
        The frame's origin, in the body's frame.
    """

    body: int
    rotation: Array
    translation: Array


@dataclass(frozen=True, eq=False)
class Tree:
    """
    A tree of rigid bodies whose joints have one freedom each; made by `from_connection`.

    Body k hangs on joint k; both have the index of the freedom in q, q̇, τ.

    Attributes
    ----------
    names : tuple of str
        Joints, in the order of q.
    lower : (n,) array of int64
        L(k) in the order of q, world −1.
    order : (n,) array of int64
        ``order[i]`` is the index in q of the body that is numbered i inside (depth first).
    joints, bodies : tuples
        Joints with their place in the lower *moving* body; bodies with all that is fixed to them,
        under the name of the body at the joint.
    frames : dict
        Every body that was given, by name, also those on fixed joints.
    gravity : (3,) array, m/s²
    arrays : Arrays
        For kernels.
    """

    names: tuple[str, ...]
    lower: NDArray[np.int64]
    order: NDArray[np.int64]
    joints: tuple[Joint, ...] = field(repr=False)
    bodies: tuple[Body, ...] = field(repr=False)
    frames: dict[str, Frame] = field(repr=False)
    gravity: Array
    arrays: Arrays = field(repr=False)

    @property
    def count(self) -> int:
        """The number n of freedoms, which is that of moving bodies."""
        return len(self.names)

    @classmethod
    def from_connection(cls, connection: ArrayLike, joints: Sequence[Joint],
                        bodies: Sequence[Body], gravity: ArrayLike = (0.0, 0.0, -9.81), *,
                        first: int = 0) -> Tree:
        """
        Return the tree of a body-connection array in any numbering.

        Parameters
        ----------
        connection : (N,) array_like of int
            L(k), the body on which body k hangs. Bodies count from `first`; ``first − 1`` is the
            world.
        joints, bodies : sequences of length N
            Joint k holds body k. Fixed joints are merged: their bodies become part of what they
            are fixed to, their names stay as frames.
        gravity : (3,) array_like, m/s²
            In world axes.
        first : int
            0, with −1 for the world, or 1 as in the paper, with 0 for the world.

        Raises
        ------
        TreeError
            Cyclic L(k), a name given twice, wrong shapes, negative mass, an inertia that is not
            positive semi-definite, a leaf without inertia in its joint's direction; the text names
            body and row.

        Notes
        -----
        Kelly, Figure 2 and the text above eq. (1).

        Examples
        --------
        A double pendulum, listed from its tip:

        >>> arm = Tree.from_connection(
        ...     [1, -1], [Joint('elbow', axis=(0, 1, 0), translation=(0, 0, -1)),
        ...               Joint('shoulder', axis=(0, 1, 0))],
        ...     [Body('forearm', 1.0, (0, 0, -0.5)), Body('upper_arm', 2.0, (0, 0, -0.5))])
        >>> arm.names, arm.order.tolist()
        (('elbow', 'shoulder'), [1, 0])
        """
        joints = list(joints)
        bodies = list(bodies)
        if len(joints) != len(bodies):
            raise TreeError(f'{len(joints)} joints and {len(bodies)} bodies: body k hangs on '
                            'joint k, give one joint for each')
        unique([body.name for body in bodies], 'body')
        unique([joint.name for joint in joints], 'joint')
        joints = [checked_joint(joint, row) for row, joint in enumerate(joints)]
        bodies = [checked_body(body, row) for row, body in enumerate(bodies)]
        lower = checked_connection(connection, [body.name for body in bodies], first)
        down = np.array(gravity, float)
        if down.shape != (3,) or not np.all(np.isfinite(down)):
            raise TreeError(f'gravity = {gravity!r}: expected 3 finite numbers, m/s²')
        return _built(*without_chains(lower, joints, bodies), down)

    def frame(self, name: str | int) -> Frame:
        """Return the frame of a body by its name or index; TreeError names a missing one."""
        if isinstance(name, (int, np.integer)):
            if not -1 <= name < self.count:
                raise TreeError(f'body {name}: the tree has bodies 0 to {self.count - 1}, and −1 '
                                'for the world')
            return Frame(int(name), np.eye(3), np.zeros(3))
        if name not in self.frames:
            raise TreeError(f'body {name!r}: no such body; there are {", ".join(self.frames)}')
        return self.frames[name]


def _built(lower: list[int], joints: list[Joint], bodies: list[Body], rows: list[int],
           gravity: Array) -> Tree:
    """Return the tree of checked parts: fixed joints merged, bodies renumbered."""
    names = [body.name for body in bodies]
    moving = [k for k, joint in enumerate(joints) if joint.kind != 'fixed']
    index = {k: at for at, k in enumerate(moving)}
    parts: dict[int, list[Body]] = {at: [] for at in range(-1, len(moving))}
    places: dict[int, Frame] = {-1: Frame(-1, np.eye(3), np.zeros(3))}
    placed: dict[int, Joint] = {}
    carriers: dict[int, int] = {}
    for k in visits(lower, names):
        low = places[lower[k]]
        joint = joints[k]
        rotation = low.rotation @ joint.rotation
        translation = low.translation + low.rotation @ joint.translation
        if joint.kind == 'fixed':
            places[k] = Frame(low.body, rotation, translation)
        else:
            places[k] = Frame(index[k], np.eye(3), np.zeros(3))
            placed[k] = Joint(joint.name, joint.kind, joint.axis, rotation, translation)
            carriers[k] = low.body
        place = places[k]
        body = bodies[k]
        parts[place.body].append(Body(
            body.name, body.mass, place.rotation @ body.com + place.translation,
            place.rotation @ body.inertia @ place.rotation.T))
    frames = {names[k]: places[k] for k in range(len(names))}
    frames.setdefault(WORLD, places[-1])
    whole = [lumped(parts[at]) for at in range(len(moving))]
    under = [carriers[k] for k in moving]
    for at, k in enumerate(moving):
        # how far it reaches: to its centre of mass, and to the joints that it carries
        reach = [whole[at].com, *(placed[j].translation for j in moving if carriers[j] == at)]
        check_inertia(whole[at], float(max(map(np.linalg.norm, reach))), rows[k])
    _no_empty_leaf(under, [placed[k] for k in moving], whole, [rows[k] for k in moving])
    order = visits(under, [body.name for body in whole])
    hung = tuple(placed[k] for k in moving)
    return Tree(tuple(joint.name for joint in hung), np.array(under, np.int64),
                np.array(order, np.int64), hung, tuple(whole), frames, gravity,
                _arrays(under, order, hung, whole, gravity))


def _no_empty_leaf(lower: list[int], joints: list[Joint], bodies: list[Body], rows: list[int]
                   ) -> None:
    """Raise for a leaf without inertia in its joint's direction: A would be singular."""
    for k in sorted(set(range(len(lower))) - set(lower)):
        joint = joints[k]
        body = bodies[k]
        arm = np.cross(joint.axis, body.com)
        inertia = (body.mass if joint.kind == 'prismatic'
                   else joint.axis @ body.inertia @ joint.axis + body.mass * arm @ arm)
        if not inertia > 0.0:
            raise TreeError(
                f'body {body.name} (row {rows[k]}) is a leaf with '
                + ('no mass' if joint.kind == 'prismatic' else 'no inertia about the axis')
                + f': its {joint.kind} joint {joint.name} would have no acceleration; give it '
                'mass, or fix it')


def _snapped(rotation: Array) -> Array:
    """Return `rotation` with entries that are 0 or ±1 up to rounding set to them."""
    near = np.round(rotation)
    return np.where(np.abs(rotation - near) < SNAP, near, rotation)


def _arrays(lower: list[int], order: list[int], joints: Sequence[Joint], bodies: Sequence[Body],
            gravity: Array) -> Arrays:
    """Return the arrays of the kernels."""
    number = {k: i for i, k in enumerate(order)} | {-1: -1}
    links = np.array([[number[lower[k]], joints[k].kind == 'prismatic', k] for k in order],
                     np.int64).reshape(-1, 3)
    turns = [_snapped(with_third(joint.axis)) for joint in joints] + [np.eye(3)]
    numbers = np.empty((len(order), 31))
    for row, k in zip(numbers, order, strict=True):
        below = turns[lower[k]]
        turn = turns[k]
        body = bodies[k]
        first = body.mass * body.com
        about = body.inertia + body.mass * (body.com @ body.com * np.eye(3)
                                            - np.outer(body.com, body.com))
        about = turn.T @ about @ turn
        row[:9] = _snapped(below.T @ joints[k].rotation @ turn).ravel()
        row[9:12] = below.T @ joints[k].translation
        row[12], row[13:16] = body.mass, turn.T @ first
        row[16:22] = about[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        row[22:] = turn.ravel()
    return Arrays(links, numbers, gravity)
