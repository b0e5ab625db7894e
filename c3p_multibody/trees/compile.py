# SPDX-License-Identifier: Apache-2.0
"""
Straight-line code for one tree: each recursion traced on symbols, generated, compiled.

The code has no loop over bodies, no index and no branch; constants of the tree are literals.
Batches are processed PASS_SIZE states at a time, side by side, so that the compiler can use the
processor's vector instructions. Compiled code is cached in memory, by the numbers of the tree;
nothing is written to disk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_kernels.specialise import as_python, specialise, within
from c3p_kernels.straight import batches
from c3p_kernels.straight.batches import give, take, take_angles
from c3p_kernels.straight.emission import Code
from c3p_multibody.trees.description import Tree
from c3p_multibody.trees.edge import batched
from c3p_multibody.trees.forward_dynamics import aba
from c3p_multibody.trees.inertia import crba
from c3p_multibody.trees.inverse_dynamics import rnea
from c3p_multibody.trees.parts import Array
from c3p_multibody.trees.tracing import traced_aba, traced_crba, traced_rnea

TRACES = {'rnea': traced_rnea, 'aba': traced_aba, 'crba': traced_crba}
# most operations that are compiled, at about 1 ms each. The articulated bodies of an arm reach
# this with 19 joints at right angles or 10 in general directions, its inverse dynamics with twice
# as many
MOST_OPERATIONS = 5000
KEPT = 64


def straight(x: Array, y: Array, k: int) -> None:
    """Stand for generated code."""


def driver(turning: Array, q: Array, qd: Array, third: Array, x: Array, y: Array, out: Array
           ) -> None:
    """
    Take PASS_SIZE states at a time through generated code, which takes the place of `straight`.

    Angles of `turning` joints (n,) and `q`, `qd`, `third` (B, n) are written to `x`, results in
    `y` to `out` (B, width).
    """
    n = len(turning)
    for start in range(0, len(q), batches.PASS_SIZE):
        count = min(batches.PASS_SIZE, len(q) - start)
        take_angles(turning, q, start, count, x)
        take(qd, start, count, x, 2 * n)
        take(third, start, count, x, 3 * n)
        for k in range(count):
            straight(x, y, k)
        give(y, start, count, out)


class Straight:
    """
    One recursion of one tree as straight-line code.

    Attributes
    ----------
    code : Code
        Of PASS_SIZE states side by side.
    operations : int
        Additions, multiplications and divisions of one state.
    """

    def __init__(self, tree: Tree, what: str) -> None:
        """Trace and generate; the first call compiles."""
        self.code = Code(TRACES[what](tree), batches.PASS_SIZE)
        self.operations, self.width = self.code.operations, len(self.code.results)
        self.turning = np.array([joint.kind == 'revolute' for joint in tree.joints])

    @property
    def source(self) -> str:
        """The code as Python."""
        return self.code.source

    @cached_property
    def run(self) -> Callable[..., Any]:
        """The compiled function."""
        return specialise(driver, {straight: self.code.run}, within, shared=True)

    @cached_property
    def uncompiled(self) -> Callable[..., Any]:
        """The same as Python."""
        return specialise(driver, {straight: self.code.uncompiled}, as_python)

    def __call__(self, q: Array, qd: Array, third: Array, *, plain: bool = False) -> Array:
        """
        Return the results (B, width) for contiguous q, q̇ and the third vector, (B, n).

        `plain` runs the source without the compiler.
        """
        out = np.empty((len(q), self.width))
        self.into(self.workspace(), q, qd, third, out, plain=plain)
        return out

    def workspace(self) -> tuple[Array, Array]:
        """Return the memory that `into` writes to."""
        return (np.zeros(4 * len(self.turning) * batches.PASS_SIZE),
                np.empty(self.width * batches.PASS_SIZE))

    def into(self, work: tuple[Array, Array], q: Array, qd: Array, third: Array, out: Array, *,
             plain: bool = False) -> None:
        """
        Write the results `out` (B, width), without checks and without allocating.

        `work` is that of `workspace`; `q`, `qd`, `third` (B, n) are contiguous; `plain` runs the
        source without the compiler.
        """
        (self.uncompiled if plain else self.run)(self.turning, q, qd, third, *work, out)


class CompiledTree:
    """
    `rnea`, `aba` and `crba` of one tree as straight-line code; made by `compile_tree`.

    Attributes
    ----------
    tree : Tree
    """

    def __init__(self, tree: Tree) -> None:
        """Keep the tree; each recursion is traced and compiled at its first use."""
        self.tree = tree
        self._parts: dict[str, Straight | None] = {}

    def part(self, what: str) -> Straight | None:
        """
        Return the code of ``'rnea'``, ``'aba'`` or ``'crba'``.

        None for a `what` with more than MOST_OPERATIONS operations; the generic recursion is then
        used.
        """
        if what not in self._parts:
            part = Straight(self.tree, what)
            self._parts[what] = part if part.operations <= MOST_OPERATIONS else None
        return self._parts[what]

    def rnea(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Return the joint torques (…, n) of a motion, as `inverse_dynamics.rnea`."""
        part = self.part('rnea')
        if part is None:
            return rnea(self.tree, q, qd, qdd)
        batch, rows = batched(self.tree, q=q, qd=qd, qdd=qdd)
        return part(*rows).reshape(*batch, self.tree.count)

    def aba(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> Array:
        """Return the accelerations, as `forward_dynamics.aba`; not finite if A is singular."""
        part = self.part('aba')
        if part is None:
            return aba(self.tree, q, qd, tau)
        batch, rows = batched(self.tree, q=q, qd=qd, tau=tau)
        return part(*rows).reshape(*batch, self.tree.count)

    def crba(self, q: ArrayLike) -> Array:
        """Return the inertia matrices (…, n, n), as `inertia.crba`."""
        part = self.part('crba')
        if part is None:
            return crba(self.tree, q)
        batch, (rows,) = batched(self.tree, q=q)
        none = np.empty((len(rows), 0))
        return part(rows, none, none).reshape(*batch, self.tree.count, self.tree.count)


def compile_tree(tree: Tree) -> CompiledTree:
    """
    Return straight-line code for a tree.

    Cached: the same object for trees with the same numbers. A recursion with more than
    MOST_OPERATIONS operations is replaced by the generic one.

    Examples
    --------
    >>> from c3p_multibody.trees import Body, Joint, Tree, compile_tree
    >>> tree = Tree.from_connection([-1], [Joint('hinge', axis=(0, -1, 0))],
    ...                             [Body('bob', 2.0, (0.5, 0, 0))])
    >>> fast = compile_tree(tree)
    >>> fast.part('rnea').operations  # τ = 0.5 q̈ + 9.81 cos q
    3
    """
    return _kept(_Key(tree))


class _Key:
    """A tree that is equal to others with the same numbers."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.bytes = tuple(array.tobytes() for array in tree.arrays)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.bytes == other.bytes

    def __hash__(self) -> int:
        return hash(self.bytes)


@lru_cache(maxsize=KEPT)
def _kept(key: _Key) -> CompiledTree:
    return CompiledTree(key.tree)
