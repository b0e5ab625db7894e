# SPDX-License-Identifier: Apache-2.0
"""
Terms of one tree with its constraints as expressions.

The kernels for inertia, bias, rows and gaps run on symbols (see trees/tracing.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from c3p_kernels.elementary import circle
from c3p_kernels.specialise import as_python, specialise
from c3p_kernels.straight.expressions import Expression, Graph, Operand, needed
from c3p_multibody.constraints._row_kernels import (
    PLACE,
    RELATIVE,
    RowTerms,
    TieArrays,
    angle_over_sine,
    evaluate,
    gaps,
)
from c3p_multibody.constraints._sweep_kernels import BODY, FRAME, sweep
from c3p_multibody.constraints.packing import PackedRows
from c3p_multibody.trees import Tree
from c3p_multibody.trees._force_kernels import newton_euler
from c3p_multibody.trees._inertia_kernels import COMPOSITE_WIDTH, composite
from c3p_multibody.trees._motion_kernels import WIDTH
from c3p_multibody.trees.description import Arrays

# blocks of n rows of a state: cosine (or place), sine, q̇, τ − D q̇; then time and places
COSINE, SINE, RATE, FORCE, TIME = 0, 1, 2, 3, 4


def literal(column: int, value: float) -> bool:
    """
    Return True for an entry of a tie's place that is a literal in the generated code.

    Zeros and ones simplify it. Others, and the `column` of the starting time, are inputs, so that
    the same constraint at another place needs no new code.
    """
    return column != PLACE - 1 and value in (0.0, 1.0, -1.0)


class TracedInputs:
    """
    Symbols of the state and of the places of ties and guards.

    Parameters
    ----------
    tree : Tree
    ties, guards : PackedRows
    states : int
        0: row r of the state is ``x[r]``. Otherwise it is ``x[states r + k]`` for state k.
    """

    def __init__(self, tree: Tree, ties: PackedRows, guards: PackedRows, states: int = 0) -> None:
        """Name the places."""
        n = tree.count
        self.graph = Graph()
        self._states = states
        self.q, self.qd, self.force = (self._rows(block * n, n)
                                       for block in (COSINE, RATE, FORCE))
        self.time = self._row(TIME * n)
        self.turns = {self.q[0, j]: (self.q[0, j], self._row(SINE * n + j)) for j in range(n)}
        self._at = state_size(n, states)
        self.places, self.levels = self._places(ties), self._places(guards)

    def _row(self, row: int) -> Expression:
        return self.graph.node('input', f'x[{self._states * row} + k]' if self._states
                               else f'x[{row}]')

    def _rows(self, first: int, count: int) -> np.ndarray:
        vector = np.empty((1, count), object)
        vector[0, :] = [self._row(first + j) for j in range(count)]
        return vector

    def _places(self, packed: PackedRows) -> np.ndarray:
        places = np.empty(packed.places.shape, object)
        for (tie, column), value in np.ndenumerate(packed.places):
            places[tie, column] = float(value) if literal(column, value) else self.graph.node(
                'input', f'x[{self._at + PLACE * tie + column}]')
        self._at += packed.places.size
        return places


def state_size(n: int, states: int = 0) -> int:
    """Return the length of the part of the input before the places, for `n` joints."""
    return max(states, 1) * (TIME * n + 1)


class TracedTerms(NamedTuple):
    """A (n, n), c (n,), B (m, n), g, Ḃq̇ and the error (m,); scalars and lists of the guards."""

    a: np.ndarray
    c: np.ndarray
    b: np.ndarray
    rate: np.ndarray
    bias: np.ndarray
    error: np.ndarray
    potential: Operand
    gap: np.ndarray
    speed: np.ndarray

    @property
    def operations(self) -> int:
        """Operations that accelerations need."""
        return len(needed([*self.a.ravel(), *self.c, *self.b.ravel(), *self.bias]))


class Kernels:
    """The kernels for symbols, and the two ways to the terms."""

    def __init__(self, tree: Tree, ties: PackedRows, guards: PackedRows,
                 inputs: TracedInputs) -> None:
        """Take the tree's numbers as Python's own: NumPy's do not fold."""
        self.tree = tree
        self.ties = ties
        self.guards = guards
        self.inputs = inputs
        self.arrays = Arrays(tree.arrays.links, *(
            np.array(array.tolist(), object).reshape(array.shape)
            for array in (tree.arrays.numbers, tree.arrays.gravity)))

    def plain(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Return a kernel for symbols."""
        graph = self.inputs.graph
        return specialise(kernel, {
            circle: self.inputs.turns.__getitem__, math: _Mathematics(graph),
            angle_over_sine: lambda *turn: graph.call('angle_over_sine', *turn)}, as_python)

    def terms(self) -> TracedTerms:
        """Return the terms, in those axes in which they take fewer operations."""
        world, frames = self._in_the_world()
        return min(world, self._in_the_bodies(world, frames), key=lambda one: one.operations)

    def _in_the_world(self) -> tuple[TracedTerms, np.ndarray]:
        """Return all terms from one sweep in world axes, and the frames of the bodies."""
        n = self.tree.count
        guards = len(self.guards.ties)
        frames, a, c, (gap, speed) = zeros(n + 1, FRAME), zeros(n, n), zeros(n), zeros(2, guards)
        frames[n, [0, 4, 8]] = 1.0
        potential = self.plain(sweep)(self.arrays, self.inputs.q[0], self.inputs.qd[0], frames,
                                      zeros(n, BODY), a, c)
        self.plain(gaps)(frames, TieArrays(self.guards.ties, self.inputs.levels), zeros(RELATIVE),
                         gap, speed)
        b, rate, bias, error = self._rows(frames)
        return TracedTerms(a, c, b, rate, bias, error, potential, gap, speed), frames

    def _in_the_bodies(self, world: TracedTerms, frames: np.ndarray) -> TracedTerms:
        """Return the terms with A, c and accelerations in axes of the bodies."""
        n = self.tree.count
        none = np.empty((1, 0, 6), object)
        work = zeros(self.tree.count, WIDTH)
        a = zeros(1, n, n)
        c = zeros(1, n)
        frames = frames.copy()
        self.plain(composite)(self.arrays.links, self.arrays.numbers, self.inputs.q,
                              zeros(n, COMPOSITE_WIDTH), a)
        self.plain(newton_euler)(self.arrays, self.inputs.q, self.inputs.qd, zeros(1, n), none,
                                 work, none, c)
        for f, w in zip(frames, work, strict=False):
            turn = f[:9].reshape(3, 3)
            # the recursion replaces gravity by an acceleration of the world
            f[15:18], f[18:21], f[21:24] = (turn @ w[5:8], turn @ w[11:14] + self.arrays.gravity,
                                            turn @ w[8:11])
        b, rate, bias, error = self._rows(frames)
        return world._replace(a=a[0], c=c[0], b=b, rate=rate, bias=bias, error=error)

    def _rows(self, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        n = self.tree.count
        m = len(self.ties.labels)
        b, (rate, bias, error) = zeros(m, n), zeros(3, m)
        self.plain(evaluate)(self.arrays.links, frames,
                             TieArrays(self.ties.ties, self.inputs.places), self.inputs.time,
                             zeros(n, 6), zeros(RELATIVE), RowTerms(b, rate, bias, error))
        return b, rate, bias, error


class _Mathematics:
    """Stands for the module `math` while kernels run on expressions."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def sqrt(self, x: Operand) -> Operand:
        return self._graph.call('sqrt', x) if isinstance(x, Expression) else float(np.sqrt(x))


def zeros(*shape: int) -> np.ndarray:
    """Return an array of Python's zero."""
    return np.full(shape, 0.0, object)
