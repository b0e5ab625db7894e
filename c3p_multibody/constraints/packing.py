# SPDX-License-Identifier: Apache-2.0
"""Packing of constraints into the arrays that kernels read, and their validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c3p_description.model import Array
from c3p_multibody.constraints._row_kernels import DISTANCE, PLACE, TIE, WHEEL, TieArrays
from c3p_multibody.constraints.kinds import Constraint, Contact, pose
from c3p_multibody.trees import Tree, TreeError
from c3p_multibody.trees.edge import vector

# largest entry of RᵀR − 1, for axes given with fewer digits than a double has
ROTATION_TOLERANCE = 1e-9


class ConstraintError(ValueError):
    """Invalid or contradictory constraints; the text names constraint, row and remedy."""


class PackedRows(NamedTuple):
    """
    Constraints of one tree as flat arrays; see _row_kernels.py for the columns.

    Attributes
    ----------
    ties : (k, 6) array of int64
    places : (k, 32) array
    labels : tuple of str
        One for each of the m rows.
    """

    ties: NDArray[np.int64]
    places: Array
    labels: tuple[str, ...]

    @property
    def arrays(self) -> TieArrays:
        """Arrays for kernels."""
        return TieArrays(self.ties, self.places)


def pack(tree: Tree, constraints: Sequence[Constraint], begun: Sequence[float] = ()) -> PackedRows:
    """
    Return the arrays of `constraints` on the bodies of a `tree`.

    `begun` are the times at which driven constraints start, s; 0 by default. ConstraintError names
    constraint and value: an unknown body, body and base the same, a wrong shape, axes that are not
    orthonormal, a length that is not positive.
    """
    ties = np.zeros((len(constraints), TIE), np.int64)
    places = np.zeros((len(constraints), PLACE))
    labels: list[str] = []
    for k, constraint in enumerate(constraints):
        if not isinstance(constraint, Constraint):
            raise ConstraintError(f'constraint {k} = {constraint!r}: expected one of the kinds in '
                                  'c3p_multibody.constraints')
        try:
            rows = constraint.labels
            _fill(tree, constraint, len(rows), ties[k], places[k])
        except (TreeError, ValueError) as error:
            if isinstance(error, ConstraintError):
                raise
            raise ConstraintError(f'{constraint.title} (constraint {k}): {error}') from None
        ties[k, 4], ties[k, 5] = len(labels), len(rows)
        places[k, 31] = begun[k] if k < len(begun) else 0.0
        labels += rows
    return PackedRows(ties, places, tuple(labels))


def _fill(tree: Tree, constraint: Constraint, count: int, tie: Array, place: Array) -> None:
    """Write one constraint's row of both arrays."""
    # both ends in inner axes of the bodies that carry them, base first
    ends = []
    for body, point, axes in ((constraint.base, constraint.place, constraint.base_axes),
                              (constraint.body, constraint.point, constraint.body_axes)):
        frame = tree.frame(body)
        at = frame.translation + frame.rotation @ vector('point', point, (3,))
        turn = frame.rotation @ _rotation(axes)
        number = -1
        if frame.body >= 0:
            number = int(np.argmax(tree.order == frame.body))
            inner = tree.arrays.numbers[number, 22:].reshape(3, 3)
            at = inner.T @ at
            turn = inner.T @ turn
        ends.append((number, at, turn))
    (a, place_a, turn_a), (b, point_b, turn_b) = ends
    if a == b:
        raise ValueError(f'body {constraint.body!r} and base {constraint.base!r} do not move '
                         'against each other')
    # a rod has a length, wheel and ball have a radius
    if constraint.kind in (DISTANCE, WHEEL, WHEEL + 1) and not constraint.size > 0.0:
        raise ValueError(f'length or radius {constraint.size} m: must be positive')
    if isinstance(constraint, Contact) and not 0.0 <= constraint.restitution <= 1.0:
        raise ValueError(f'restitution = {constraint.restitution}: must be 0 to 1')
    tie[:4] = constraint.kind, a, b, constraint.mask
    place[0:3], place[3:12], place[12:15], place[15:24] = (place_a, turn_a.ravel(), point_b,
                                                           turn_b.ravel())
    place[24] = constraint.size
    rate = np.asarray(constraint.rate, float)
    place[25:25 + count] = vector('rate', np.broadcast_to(rate, (count,)) if rate.ndim == 0
                                    else rate, (count,))


def _rotation(axes: ArrayLike) -> Array:
    turn = vector('axes', axes, (3, 3))
    error = float(np.max(np.abs(turn.T @ turn - np.eye(3))))
    if error > ROTATION_TOLERANCE or np.linalg.det(turn) < 0:
        raise ValueError(f'axes = {turn.tolist()}: not right-handed axes of length one, RᵀR '
                         f'differs from 1 by {error:.1e}')
    return turn


def checked(tree: Tree, name: str, value: ArrayLike) -> Array:
    """Return `value` as a finite vector (n,), a copy; a ConstraintError names vector and joint."""
    array = np.array(value, float)
    if array.shape != (tree.count,):
        raise ConstraintError(f'{name} has shape {array.shape}: expected ({tree.count},), one '
                              'number per joint')
    if not np.isfinite(array).all():
        k = int(np.argmin(np.isfinite(array)))
        raise ConstraintError(f'{name} of joint {tree.names[k]} (row {k}) = {array[k]}: every '
                              'number must be finite')
    return array


def gap_of(tree: Tree, contact: Contact, q: ArrayLike) -> float:
    """Return the height of a contact's point above its plane, m."""
    turn, origin = pose(tree, q, contact.base)
    at, on = pose(tree, q, contact.body)
    offset = on + at @ np.asarray(contact.point, float) - origin
    return float(contact.base_axes[:, 2] @ (turn.T @ offset - np.asarray(contact.place, float)))
