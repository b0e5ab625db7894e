# SPDX-License-Identifier: Apache-2.0
"""
Motion and constraint forces from ``A q̈ + c = τ + Bᵀλ`` and ``B q̈ = b``, ``b = ġ − Ḃq̇``.

Kane's equations with undetermined multipliers (Kelly, eqs (16)-(25), corrected) by any of the
three null-space bases, and three other methods for comparison.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_multibody.constraints.null_space import (
    BASES,
    EIGENVALUE_TOLERANCE,
    RANK_TOLERANCE,
    checked_matrix,
    qr_basis,
)
from c3p_multibody.constraints.packing import Array, ConstraintError
from c3p_multibody.constraints.rows import Rows

# largest contradiction of dependent rows, relative to the largest term: rounding of the rows
INCONSISTENT = 1e-6
# the proximal iteration: μ relative to the largest entry of B A⁻¹ Bᵀ, when it stops, when it gives
# up. Each round divides the error by 1 + σ²/μ
PROXIMAL_SHARE = 1e-7
PROXIMAL_END = 1e-13
PROXIMAL_ROUNDS = 1000
# the whole matrix has singular values as small as σ², and rounding of 1e-16
WHOLE_TOLERANCE = 1e-13
COMPARED = ('kkt', 'udwadia_kalaba', 'proximal')


class Solution(NamedTuple):
    """
    Motion and constraint forces at one state.

    Attributes
    ----------
    qdd : (n,) array
        q̈.
    multipliers : (m,) array
        λ on the *body* of each constraint, along the axes of its rows (`labels`); the least ones
        where rows are dependent.
    rank : int
    basis : (n, n − r) array
        β, orthonormal columns.
    residual : float
        Largest entry of ``B q̈ − b``.
    condition : float
        Largest over smallest size of B that counts.
    generalized_force : (n,) array
        Bᵀλ, which is unique even if λ is not. Positive work on the joints: ``A q̈ + c = τ + Bᵀλ``.
    doubtful : bool
        The rank was a close decision.
    rounds : int
        Rounds of the proximal iteration, else 1.
    labels : tuple of str
        Of the rows.
    """

    qdd: Array
    multipliers: Array
    rank: int
    basis: Array
    residual: float
    condition: float
    generalized_force: Array
    doubtful: bool
    rounds: int
    labels: tuple[str, ...]


def solve(inertia: ArrayLike, bias: ArrayLike, tau: ArrayLike, rows: Rows, method: str = 'qr',
          tolerance: float | None = None) -> Solution:
    """
    Return accelerations and constraint forces.

    With β from B, ``q̈ = β ẏ + B⁺b`` (Kelly, eq. (9), differentiated),
    ``βᵀAβ ẏ = βᵀ(τ − c − A B⁺b)`` (eq. (24)) and ``λ = (Bᵀ)⁺(A q̈ − τ + c)`` (eq. (23)).

    Parameters
    ----------
    inertia : (n, n) array_like
        A, symmetric; positive definite but for ``'kkt'`` and the bases, for which ``βᵀAβ`` has to
        be.
    bias : (n,) array_like
        c: Coriolis, centrifugal, gravity.
    tau : (n,) array_like
        Applied generalized forces.
    rows : Rows
        From `evaluate`.
    method : str
        Kane's equations by ``'qr'``, ``'svd'`` or ``'zero_eigenvalue'``; the whole system by least
        squares (``'kkt'``), Udwadia and Kalaba's ``q̈ = a + A^-½ (B A^-½)⁺ (b − B a)``, or the
        ``'proximal'`` iteration ``λ += (B A⁻¹ Bᵀ + μ)⁻¹ (b − B q̈)``.
    tolerance : float, optional
        Of the rank, relative to the largest singular value; 1e-9, and 1e-7 by eigenvalues.

    Returns
    -------
    Solution

    Raises
    ------
    ConstraintError
        Dependent rows that contradict each other (the text names the row), an inertia that is
        singular (the text names the freedom), wrong shapes.

    Examples
    --------
    A mass on a rail, held by two equal rods: half the force in each.

    >>> import numpy as np
    >>> from c3p_multibody.constraints import Rows, solve
    >>> rows = Rows(np.ones((2, 1)), np.zeros(2), np.zeros(2), np.zeros(2), ('left', 'right'))
    >>> found = solve([[2.0]], [0.0], [-6.0], rows)
    >>> found.rank, found.multipliers.round(12).tolist()
    (1, [3.0, 3.0])
    """
    if method not in BASES and method not in COMPARED:
        raise ConstraintError(f'method = {method!r}: must be one of {", ".join(BASES)}, '
                              f'{", ".join(COMPARED)}')
    b = checked_matrix('jacobian', rows.jacobian)
    m, n = b.shape
    a = checked_matrix('inertia', inertia, (n, n))
    force = _vector('tau', tau, n) - _vector('bias', bias, n)
    target = -_vector('rows.bias', rows.bias, m)
    if tolerance is None:
        tolerance = EIGENVALUE_TOLERANCE if method == 'zero_eigenvalue' else RANK_TOLERANCE
    space = BASES.get(method, qr_basis)(b, tolerance)
    start = space.inverse @ target
    off = b @ start - target
    _consistent(rows, b, start, target, off)
    rounds = 1
    if method == 'kkt':
        qdd, multipliers = _whole(a, b, force, target)
    elif method in COMPARED:
        factor = _factor(a, np.eye(n))
        solver = _udwadia_kalaba if method == 'udwadia_kalaba' else _proximal
        qdd, multipliers, rounds = solver(factor, b, force, target, space.rank)
    else:
        qdd = start
        if space.rank < n:
            reduced = space.basis.T @ a @ space.basis
            _factor(reduced, space.basis)
            qdd = start + space.basis @ np.linalg.solve(
                reduced, space.basis.T @ (force - a @ start))
        multipliers = space.inverse.T @ (a @ qdd - force)
    residual = float(np.max(np.abs(b @ qdd - target), initial=0.0))
    return Solution(qdd, multipliers, space.rank, space.basis, residual, space.condition,
                    b.T @ multipliers, space.doubtful, rounds, tuple(rows.labels))


def consistent_velocity(rows: Rows, inertia: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return the velocity nearest to q̇ (n,), in the metric of A, that satisfies ``B q̇ = g``.

    ConstraintError if g is not in the range of B, or as for `solve`. `rows`, `inertia` A and `qd`.
    """
    moved = rows._replace(bias=-np.asarray(rows.rate, float))
    a = np.asarray(inertia, float)
    return solve(a, np.zeros(len(a)), a @ np.asarray(qd, float), moved).qdd


def _vector(name: str, value: ArrayLike, size: int) -> Array:
    array = np.asarray(value, float)
    if array.shape != (size,) or not np.isfinite(array).all():
        raise ConstraintError(f'{name} = {value!r}: expected {size} finite numbers')
    return array


def _consistent(rows: Rows, b: Array, start: Array, target: Array, off: Array) -> None:
    """Raise if no motion satisfies all rows."""
    if not len(off):
        return
    scale = np.max(np.abs(b) @ np.abs(start) + np.abs(target))
    if np.max(np.abs(off)) > INCONSISTENT * scale:
        row = int(np.argmax(np.abs(off)))
        label = rows.labels[row] if len(rows.labels) > row else 'constraint'
        raise ConstraintError(f'{label} (row {row}) contradicts the other rows: its '
                              f'{target[row]:.6g} is missed by at least {abs(off[row]):.3g}; drop '
                              'it, or one that it depends on')


def _factor(a: Array, basis: Array) -> Array:
    """Return the lower factor of A, or of ``βᵀAβ`` for the motions β of `basis`."""
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(a)
        row = int(np.argmax(np.abs(basis @ vectors[:, 0])))
        where = '' if len(basis) == len(a) else ' in the motions that the constraints leave'
        raise ConstraintError(f'inertia is singular{where}: its least eigenvalue is '
                              f'{values[0]:.3g}, mostly of freedom {row}; give the body of joint '
                              f'{row} inertia') from None


def _whole(a: Array, b: Array, force: Array, target: Array) -> tuple[Array, Array]:
    """Solve ``[[A, −Bᵀ], [B, 0]] [q̈; λ] = [τ − c; b]`` by least squares."""
    m, n = b.shape
    matrix = np.block([[a, -b.T], [b, np.zeros((m, m))]])
    x = np.linalg.lstsq(matrix, np.concatenate([force, target]), rcond=WHOLE_TOLERANCE)[0]
    return x[:n], x[n:]


def _udwadia_kalaba(factor: Array, b: Array, force: Array, target: Array, rank: int
                    ) -> tuple[Array, Array, int]:
    """Project the free accelerations, in the metric of A, onto the constraints."""
    lower = np.linalg.solve(factor, np.column_stack([force, b.T]))
    free = lower[:, 0]
    x = lower[:, 1:]
    u, sizes, vt = np.linalg.svd(x.T, full_matrices=False)
    u = u[:, :rank]
    sizes = sizes[:rank]
    vt = vt[:rank]
    move = (u.T @ (target - x.T @ free)) / sizes
    y = free + vt.T @ move
    return (np.linalg.solve(factor.T, y), u @ (move / sizes), 1)


def _proximal(factor: Array, b: Array, force: Array, target: Array, rank: int
              ) -> tuple[Array, Array, int]:
    """Repeat ``λ += (X ᵀX + μ)⁻¹ (b − Xᵀ(y0 + X λ))`` until the rows are met."""
    lower = np.linalg.solve(factor, np.column_stack([force, b.T]))
    free = lower[:, 0]
    x = lower[:, 1:]
    product = x.T @ x
    multipliers = np.zeros(len(b))
    count = 0
    if rank:
        damped = product + PROXIMAL_SHARE * np.max(np.abs(product)) * np.eye(len(b))
        need = target - x.T @ free
        scale = np.max(np.abs(need)) + np.max(np.abs(target))
        while count < PROXIMAL_ROUNDS:
            count += 1
            step = np.linalg.solve(damped, need - product @ multipliers)
            multipliers = multipliers + step
            if np.max(np.abs(product @ step)) <= PROXIMAL_END * scale:
                break
    return np.linalg.solve(factor.T, free + x @ multipliers), multipliers, count


METHODS: tuple[str, ...] = (*BASES, *COMPARED)
