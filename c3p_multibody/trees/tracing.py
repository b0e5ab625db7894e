# SPDX-License-Identifier: Apache-2.0
"""
The recursions of one tree, run once on symbols.

The source of the kernels runs here, uncompiled and on arrays of expressions: the result is the
generic code for this tree, without the operations that its zeros and ones make superfluous.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from c3p_kernels.elementary import circle
from c3p_kernels.specialise import as_python, specialise
from c3p_kernels.straight.batches import PASS_SIZE
from c3p_kernels.straight.expressions import Expression, Graph, Operand
from c3p_multibody.trees._articulated_kernels import ARTICULATED_WIDTH, articulated
from c3p_multibody.trees._force_kernels import newton_euler
from c3p_multibody.trees._inertia_kernels import COMPOSITE_WIDTH, composite
from c3p_multibody.trees._motion_kernels import WIDTH
from c3p_multibody.trees.description import Arrays, Tree


class Symbols:
    """State of a tree as symbols, read from the rows that batches.py fills."""

    def __init__(self, tree: Tree) -> None:
        """Name the places of q, q̇ and the third vector (q̈ or τ)."""
        n = tree.count
        self.graph = Graph()
        self.tree = tree
        self.q, self.qd, self.third = (
            self._vector([block * n + j for j in range(n)]) for block in (0, 2, 3))
        self._turns = {self.q[0, j]: (self.q[0, j], self._place(n + j)) for j in range(n)}
        links, numbers, gravity = tree.arrays
        # Python's own floats: numpy's would not fold
        self.arrays = Arrays(links, np.array(numbers.tolist(), object).reshape(numbers.shape),
                             np.array(gravity.tolist(), object))
        self.none = np.empty((1, 0, 6), object)

    def _place(self, row: int) -> Expression:
        return self.graph.node('input', f'x[{PASS_SIZE * row} + k]')

    def _vector(self, rows: list[int]) -> np.ndarray:
        vector = np.empty((1, len(rows)), object)
        vector[0, :] = [self._place(row) for row in rows]
        return vector

    def plain(self, recursion: Callable[..., Any]) -> Callable[..., Any]:
        """Return a kernel for symbols; an angle is represented by its cosine and sine."""
        return specialise(recursion, {circle: self._turns.__getitem__}, as_python)


def traced_rnea(tree: Tree) -> list[Operand]:
    """Return τ (n,) of `tree` as expressions."""
    s = Symbols(tree)
    n = tree.count
    tau = np.empty((1, n), object)
    s.plain(newton_euler)(s.arrays, s.q, s.qd, s.third, s.none, np.empty((n, WIDTH), object),
                          s.none, tau)
    return list(tau[0])


def traced_aba(tree: Tree) -> list[Operand]:
    """Return q̈ (n,) of `tree` as expressions."""
    s = Symbols(tree)
    n = tree.count
    qdd = np.empty((1, n), object)
    s.plain(articulated)(s.arrays, s.q, s.qd, s.third, s.none,
                         np.empty((n, ARTICULATED_WIDTH), object), qdd)
    return list(qdd[0])


def traced_crba(tree: Tree) -> list[Operand]:
    """Return A (n·n,) of `tree` by rows, as expressions."""
    s = Symbols(tree)
    n = tree.count
    a = np.empty((1, n, n), object)
    links, numbers, _ = s.arrays
    s.plain(composite)(links, numbers, s.q, np.empty((n, COMPOSITE_WIDTH), object), a)
    return list(a[0].ravel())
