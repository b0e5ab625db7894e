# SPDX-License-Identifier: Apache-2.0
"""
Rows of the constraint matrix A t = 0, its rank, and the constraint forces that it determines.

Saha & Angeles count six rows for a joint and three for a rolling wheel, (6γ + 3ν) × 6p in all, and
call the constraints independent. They are not: rank A may be anything up to 6p − n, and a vector y
with Aᵀy = 0 can be added to the multipliers λ without changing any motion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_multibody.orthogonal_complement.reduction import Array

# singular values below this fraction of the largest are zero
RANK_TOLERANCE = 1e-8


class ConstraintRank(NamedTuple):
    """
    The rank of a constraint matrix.

    Attributes
    ----------
    rank : int
    redundant : (m − rank, m) array
        Orthonormal rows y with ``y A = 0``: undetermined changes of the multipliers.
    gap : float
        Smallest singular value kept over the largest: clearness of the decision.
    """

    rank: int
    redundant: Array
    gap: float


class ConstraintForces(NamedTuple):
    """
    The multipliers of constraint wrenches.

    Attributes
    ----------
    multipliers : (m,) array
        λ of least norm with ``Aᵀλ = w^C``; moments and forces on the first body of each row.
    determined : (m,) bool array
        True where λ does not depend on which solution is taken.
    residual : float
        |Aᵀλ − w^C|: zero up to rounding when the wrench comes from a motion that A allows.
    """

    multipliers: Array
    determined: Array
    residual: float


def _cross(vector: ArrayLike) -> Array:
    """Return the matrix of ``vector ×``."""
    x, y, z = np.asarray(vector, float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def revolute_rows(count: int, first: int, second: int, to_first: ArrayLike, to_second: ArrayLike,
                  axis: ArrayLike) -> Array:
    """
    Return the six rows (6, 6p) of a revolute joint between two bodies.

    ``e × (ω₁ − ω₂) = 0``, three rows of rank two, and ``ċ₁ + ω₁ × ρ₁ − ċ₂ − ω₂ × ρ₂ = 0``.

    Parameters
    ----------
    count : int
        p, of bodies.
    first, second : int
        Their numbers, from 0.
    to_first, to_second : (3,) array_like, m
        ρ, from the centre of mass of each body to a point on the axis.
    axis : (3,) array_like
        e, a unit vector.
    """
    rows = np.zeros((6, 6 * count))
    for body, lever, sign in ((first, to_first, 1.0), (second, to_second, -1.0)):
        rows[:3, 6*body:6*body + 3] = sign * _cross(axis)
        rows[3:, 6*body:6*body + 3] = -sign * _cross(lever)
        rows[3:, 6*body + 3:6*body + 6] = sign * np.eye(3)
    return rows


def rolling_rows(count: int, body: int, to_contact: ArrayLike) -> Array:
    """
    Return the three rows (3, 6p) of rolling without slip, ``ċ + ω × ρ = 0``.

    `count` is p, `body` counts from 0, `to_contact` is ρ, m, from the centre of mass to the point
    that touches the ground. The multipliers are the force of the ground on the body, at the
    contact.
    """
    rows = np.zeros((3, 6 * count))
    rows[:, 6*body:6*body + 3] = -_cross(to_contact)
    rows[:, 6*body + 3:6*body + 6] = np.eye(3)
    return rows


def constraint_rank(matrix: ArrayLike, tolerance: float = RANK_TOLERANCE) -> ConstraintRank:
    """
    Return the rank of A (m, 6p) and its redundant rows.

    Singular values below the fraction `tolerance` of the largest are zero.

    Examples
    --------
    >>> import numpy as np
    >>> hinge = revolute_rows(2, 0, 1, [1, 0, 0], [-1, 0, 0], [0, 0, 1])
    >>> constraint_rank(hinge).rank  # of six rows; the third is empty
    5
    """
    u, sizes, _ = np.linalg.svd(np.asarray(matrix, float))
    rank = int(np.sum(sizes > tolerance * sizes[0]))
    return ConstraintRank(rank, u[:, rank:].T, float(sizes[rank - 1] / sizes[0]))


def constraint_forces(matrix: ArrayLike, wrench: ArrayLike,
                      tolerance: float = RANK_TOLERANCE) -> ConstraintForces:
    """
    Return the multipliers λ of ``Aᵀλ = w^C``, with a flag for those that are determined.

    `matrix` is A (m, 6p), `wrench` (6p,), N·m and N, that of `reduction.constraint_wrench`,
    `tolerance` as in `constraint_rank`.
    """
    rows = np.asarray(matrix, float)
    w = np.asarray(wrench, float)
    u, sizes, right = np.linalg.svd(rows)
    rank = int(np.sum(sizes > tolerance * sizes[0]))
    multipliers = u[:, :rank] @ ((right[:rank] @ w) / sizes[:rank])
    # λ_i is determined when no redundant combination touches row i
    free = np.linalg.norm(u[:, rank:], axis=1)
    return ConstraintForces(multipliers, free < np.sqrt(tolerance),
                            float(np.linalg.norm(rows.T @ multipliers - w)))
