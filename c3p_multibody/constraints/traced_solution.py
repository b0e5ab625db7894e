# SPDX-License-Identifier: Apache-2.0
"""
Constrained accelerations, forces and projections of one system as expressions.

Rows are taken as independent: there is no pivoting and no branch, and `Traced.margin` is positive
where that is right.

``A = Lᵀ D L`` from the leaves inwards has no entry where A has none (Featherstone), and no
operation is generated for an entry that is zero; the same holds for the rows ``X = B L⁻¹``. With
``y = D L q̈`` the motion is the point nearest to ``L⁻ᵀ(τ − c)`` with ``X D⁻¹ y = b``, in the metric
of ``D⁻¹``: modified Gram-Schmidt as in c3p_kernels/dense.py, without roots.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from c3p_kernels.straight.expressions import Expression, Graph, Operand
from c3p_multibody.constraints.packing import PackedRows
from c3p_multibody.constraints.tracing import Kernels, TracedInputs, TracedTerms, zeros
from c3p_multibody.trees import Tree

# smallest pivot of A as a fraction of its diagonal, and smallest squared rest of a row as a
# fraction of the longest row. Rounding is then at most 1e-10 and 1e-13; below, the general solver
# decides
LEAST_PIVOT = 1e-10
LEAST_ROW = 1e-6

Operands: TypeAlias = Sequence[Operand] | np.ndarray


class Traced(NamedTuple):
    """
    Expressions of one system.

    Attributes
    ----------
    qdd, multipliers : list
        q̈ (n), λ (m).
    margin : expression
        Positive if A is positive definite (LEAST_PIVOT) and the rows are independent (LEAST_ROW);
        the number 0 if they are so in no state.
    closure : expression
        Largest absolute constraint error.
    dq, dqd : list
        Corrections that bring place and velocity back onto the constraints (n).
    kinetic, potential : expression
        Kinetic energy before and after the correction (2); potential energy.
    driven : expression
        Power of driven constraints, λᵀg.
    gap, speed : list
        Of the guards.
    rank : int
        Rows that are not zero in every state.
    """

    qdd: list[Operand]
    multipliers: list[Operand]
    margin: Operand
    closure: Operand
    dq: list[Operand]
    dqd: list[Operand]
    kinetic: tuple[Operand, Operand]
    potential: Operand
    driven: Operand
    gap: list[Operand]
    speed: list[Operand]
    rank: int


def trace(tree: Tree, ties: PackedRows, guards: PackedRows, frequency: float = 0.0, states: int = 0
          ) -> Traced:
    """
    Return the expressions of a `tree` with the constraints `ties` and the contacts `guards`.

    `frequency` is Baumgarte's; for `states` see `TracedInputs`.
    """
    inputs = TracedInputs(tree, ties, guards, states)
    terms = Kernels(tree, ties, guards, inputs).terms()
    solution = TracedSolution(terms, [int(k) for k in tree.order], inputs.graph)
    return solution.result(inputs.qd[0], inputs.force[0], frequency)


class Factor:
    """``A = Lᵀ D L``, L with ones on the diagonal, eliminated from the leaves inwards."""

    def __init__(self, a: np.ndarray, order: Sequence[int]) -> None:
        """Factor `a`; each of `order` comes before those that it carries."""
        self.order, rest = list(order), a.copy()
        self.l, self.over = zeros(*a.shape), zeros(len(a))
        self.margins: list[Operand] = []
        for at in range(len(a) - 1, -1, -1):
            k = self.order[at]
            below = self.order[:at]
            self.over[k] = _inverse(rest[k, k])
            self.margins.append(rest[k, k] - LEAST_PIVOT * a[k, k])
            for j in below:
                self.l[k, j] = rest[k, j] * self.over[k]
            for one, i in enumerate(below):
                for j in below[:one + 1]:
                    rest[i, j] = rest[j, i] = rest[i, j] - self.l[k, i] * rest[k, j]

    def inwards(self, x: np.ndarray) -> np.ndarray:
        """Return ``L⁻ᵀ x``."""
        x = x.copy()
        for at in range(len(x) - 1, -1, -1):
            k = self.order[at]
            for j in self.order[:at]:
                x[j] = x[j] - self.l[k, j] * x[k]
        return x

    def outwards(self, y: np.ndarray) -> np.ndarray:
        """Return ``L⁻¹ D⁻¹ y``."""
        x = self.over * y
        for at, k in enumerate(self.order):
            for j in self.order[:at]:
                x[k] = x[k] - self.l[k, j] * x[j]
        return x


class TracedSolution:
    """Factors of one system, and what follows from them."""

    def __init__(self, terms: TracedTerms, order: Sequence[int], graph: Graph) -> None:
        """Factor A from the end of `order`; orthogonalise the rows."""
        self.terms, self.factor, self.graph = terms, Factor(terms.a, order), graph
        # rows that are zero in every state, as across the plane of a planar mechanism: λ = 0
        self.active = [j for j in range(len(terms.b))
                       if any(isinstance(x, Expression) or x != 0.0
                              for x in (*terms.b[j], terms.bias[j], terms.rate[j]))]
        self.b, self.rate, self.bias = (each[self.active]
                                        for each in (terms.b, terms.rate, terms.bias))
        self.rows = [self.factor.inwards(row) for row in self.b]
        m = len(self.rows)
        self.r, self.over, rests = zeros(m, m), zeros(m), zeros(m)
        wholes = np.array([_dot(row, self.factor.over * row) for row in self.rows], object)
        # rows in the metric: X D⁻¹
        self.scaled: list[np.ndarray] = []
        for k, row in enumerate(self.rows):
            self.scaled.append(self.factor.over * row)
            rests[k] = _dot(row, self.scaled[k])
            self.over[k] = _inverse(rests[k])
            for j in range(k + 1, m):
                self.r[k, j] = _dot(self.scaled[k], self.rows[j]) * self.over[k]
                self.rows[j] = self.rows[j] - _times(self.r[k, j], row)
        margins = list(self.factor.margins)
        if m:
            margins.append(self._fold('min', rests) - LEAST_ROW * self._fold('max', wholes))
        # a literal 0: rows that are dependent, or a body without inertia, in every state
        empty = any(not isinstance(rest, Expression) and rest <= 0.0
                    for rest in (*margins, *rests))
        self.margin = 0.0 if empty else self._fold('min', margins)

    def reach(self, y: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return y moved onto ``X D⁻¹ y = target``, and the multipliers of that move."""
        m = len(target)
        z = target.copy()
        moves = zeros(m)
        for j in range(m):
            for i in range(j):
                z[j] = z[j] - self.r[i, j] * z[i]
            moves[j] = (z[j] - _dot(self.scaled[j], y)) * self.over[j]
            y = y + _times(moves[j], self.rows[j])
        for j in range(m - 1, -1, -1):
            for k in range(j + 1, m):
                moves[j] = moves[j] - self.r[j, k] * moves[k]
        return y, moves

    def result(self, qd: np.ndarray, force: np.ndarray, omega: float) -> Traced:
        """Return all expressions for the symbols q̇ and τ − D q̇; `omega` is Baumgarte's."""
        terms = self.terms
        factor = self.factor
        still = zeros(len(qd))
        off = np.array([g - _dot(row, qd) for g, row in zip(self.rate, self.b, strict=True)],
                       object)
        target = -self.bias
        error = terms.error[self.active]
        if omega > 0.0:
            target = target + omega * (2.0 * off - omega * error)
        y, moves = self.reach(factor.inwards(force - terms.c), target)
        dq, dqd = (factor.outwards(self.reach(still, move)[0]) for move in (-error, off))
        multipliers = zeros(len(terms.b))
        multipliers[self.active] = moves
        closure = self._fold('max', [self._size(error) for error in terms.error])
        return Traced(list(factor.outwards(y)), list(multipliers), self.margin, closure, list(dq),
                      list(dqd), (self._kinetic(qd), self._kinetic(qd + dqd)), terms.potential,
                      _dot(moves, self.rate), list(terms.gap), list(terms.speed),
                      len(self.active))

    def _kinetic(self, qd: np.ndarray) -> Operand:
        return 0.5 * _dot(qd, np.array([_dot(row, qd) for row in self.terms.a], object))

    def _size(self, value: Operand) -> Operand:
        return self.graph.call('abs', value) if isinstance(value, Expression) else abs(value)

    def _fold(self, name: str, values: Operands) -> Operand:
        return functools.reduce(lambda a, b: self.graph.call(name, a, b), values) if len(
            values) else 0.0


def _inverse(pivot: Operand) -> Operand:
    # a literal zero: dependent in every state, and never solved
    return 0.0 if not isinstance(pivot, Expression) and pivot == 0.0 else 1.0 / pivot


def _times(a: Operand, vector: np.ndarray) -> np.ndarray:
    return np.array([a * x for x in vector], object)


def _dot(a: Operands, b: Operands) -> Operand:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)
