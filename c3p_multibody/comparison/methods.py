# SPDX-License-Identifier: Apache-2.0
"""Methods for the dynamics of chains of turning joints, with operations and names."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_kernels import elementary
from c3p_kernels.specialise import as_python, specialise
from c3p_multibody.comparison._armstrong_kernels import ARMSTRONG_WIDTH, armstrong
from c3p_multibody.comparison._lagrange_kernels import LAGRANGE_WIDTH, lagrange
from c3p_multibody.comparison._walker_orin_kernels import (
    WALKER_ORIN_WIDTH,
    WalkerOrinMemory,
    walker_orin,
)
from c3p_multibody.comparison.counting import Counted, Counter, Mathematics, Operations
from c3p_multibody.trees import Tree, TreeError
from c3p_multibody.trees._articulated_kernels import ARTICULATED_WIDTH, articulated
from c3p_multibody.trees._force_kernels import newton_euler
from c3p_multibody.trees._motion_kernels import WIDTH
from c3p_multibody.trees.description import Arrays
from c3p_multibody.trees.edge import batched
from c3p_multibody.trees.parts import Array

INVERSE = 'inverse'
FORWARD = 'forward'


class Method(NamedTuple):
    """
    One method.

    Attributes
    ----------
    name, title : str
    kind : str
        ``'inverse'`` (τ of q, q̇, q̈) or ``'forward'`` (q̈ of q, q̇, τ).
    call : callable
        Takes the kernel's translator, the tree's arrays, three (B, n) arrays, the result, and a
        function that makes memory; runs the kernel.
    """

    name: str
    title: str
    kind: str
    call: Callable[..., Any]


def _newton_euler(plain: Callable, tree: Arrays, states: list, out: Array, make: Callable) -> None:
    none = make(len(out), 0, 6)
    plain(newton_euler)(tree, *states, none, make(len(tree.links), WIDTH), none, out)


def _lagrange(plain: Callable, tree: Arrays, states: list, out: Array, make: Callable) -> None:
    plain(lagrange)(tree, *states, make(len(tree.links), LAGRANGE_WIDTH), out)


def _armstrong(plain: Callable, tree: Arrays, states: list, out: Array, make: Callable) -> None:
    n = len(tree.links)
    plain(armstrong)(tree, *states, make(n, ARMSTRONG_WIDTH), make(n, 6), out)


def _articulated(plain: Callable, tree: Arrays, states: list, out: Array, make: Callable) -> None:
    none = make(len(out), 0, 6)
    plain(articulated)(tree, *states, none, make(len(tree.links), ARTICULATED_WIDTH), out)


def _walker_orin(method: int) -> Callable[..., None]:
    def call(plain: Callable, tree: Arrays, states: list, out: Array, make: _Memory) -> None:
        n = len(tree.links)
        count = len(out)
        memory = WalkerOrinMemory(make.one, make.none, make(count, n), make(count, 0, 6),
                                  make(n, WALKER_ORIN_WIDTH), make(n, WIDTH), make(count, n, n),
                                  make(n, n))
        plain(walker_orin)(method, tree, *states, memory, out)
    return call


METHODS = {one.name: one for one in (
    Method('newton_euler', 'Newton-Euler (Luh, Walker, Paul)', INVERSE, _newton_euler),
    Method('hollerbach', 'recursive Lagrange (Hollerbach, 3 × 3)', INVERSE, _lagrange),
    Method('walker_orin_1', 'Walker and Orin 1', FORWARD, _walker_orin(1)),
    Method('walker_orin_2', 'Walker and Orin 2', FORWARD, _walker_orin(2)),
    Method('walker_orin_3', 'Walker and Orin 3, composite bodies', FORWARD, _walker_orin(3)),
    Method('armstrong', 'Armstrong, full 3 × 3 coefficients', FORWARD, _armstrong),
    Method('featherstone', 'Featherstone, articulated bodies', FORWARD, _articulated))}


class _Memory:
    """Makes arrays of one number type; `again` hands out the same ones once more."""

    def __init__(self, counter: Counter | None = None) -> None:
        self._type: type = float if counter is None else object
        self.one: float | Counted = 1.0 if counter is None else Counted(1.0, counter)
        self.none: float | Counted = 0.0 if counter is None else Counted(0.0, counter)
        self._made: list[np.ndarray] = []
        self._next = 0

    def __call__(self, *shape: int) -> np.ndarray:
        if self._next == len(self._made):
            self._made.append(np.full(shape, 0.0, self._type))
        self._next += 1
        return self._made[self._next - 1]

    def again(self) -> None:
        self._next = 0


def prepared(tree: Tree, name: str, states: list[Array]) -> tuple[Callable[[], None], Array]:
    """
    Return a call without arguments of method `name`, and the array (B, n) that it writes.

    `states` are q, q̇ and q̈ or τ, contiguous (B, n), of a chain `tree`. TreeError as in `torques`.
    """
    _chain(tree)
    out = np.empty_like(states[0])
    memory = _Memory()

    def run() -> None:
        memory.again()
        METHODS[name].call(lambda kernel: kernel, tree.arrays, states, out, memory)
    return run, out


def torques(tree: Tree, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
            method: str = 'newton_euler') -> Array:
    """
    Return τ (…, n) of a motion `q`, `qd`, `qdd` (…, n) by a `method` of kind ``'inverse'``.

    TreeError for a wrong shape, a number that is not finite, or a tree that is not a chain of
    turning joints.
    """
    return _evaluated(tree, INVERSE, method, q=q, qd=qd, qdd=qdd)


def accelerations(tree: Tree, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                  method: str = 'featherstone') -> Array:
    """Return q̈ (…, n) of `q`, `qd`, `tau` by a `method` ``'forward'``; errors as in `torques`."""
    return _evaluated(tree, FORWARD, method, q=q, qd=qd, tau=tau)


def _evaluated(tree: Tree, kind: str, method: str, **vectors: ArrayLike) -> Array:
    names = [one.name for one in METHODS.values() if one.kind == kind]
    if method not in names:
        raise TreeError(f'method = {method!r}: must be one of {", ".join(names)}')
    shape, states = batched(tree, **vectors)
    run, out = prepared(tree, method, states)
    run()
    return out.reshape(*shape, tree.count)


def operations(tree: Tree, method: str) -> Operations:
    """
    Return the operations of one state of a chain, by running `method` on numbers that count.

    Zeros and ones of the tree are left out, as in a program for this chain; cosine and sine are
    not counted.

    Examples
    --------
    >>> from c3p_multibody.comparison import operations
    >>> from c3p_multibody.trees import Body, Joint, Tree
    >>> tree = Tree.from_connection([-1], [Joint('hinge', axis=(0, -1, 0))],
    ...                             [Body('bob', 2.0, (0.5, 0, 0))])
    >>> operations(tree, 'newton_euler').total > 0
    True
    """
    _chain(tree)
    counter = Counter()
    n = tree.count

    def counted(array: Array) -> np.ndarray:
        flat = [float(x) if x in (0.0, 1.0, -1.0) else Counted(float(x), counter)
                for x in array.ravel()]
        out = np.empty(len(flat), object)
        out[:] = flat
        return out.reshape(array.shape)

    angle: dict[int, tuple[Counted, Counted]] = {}

    def circle(q: Counted) -> tuple[Counted, Counted]:
        return angle.setdefault(id(q), (Counted(np.cos(q.value), counter),
                                        Counted(np.sin(q.value), counter)))

    links, numbers, gravity = tree.arrays
    states = [counted(row) for row in np.random.default_rng(0).uniform(0.1, 0.9, (3, 1, n))]
    mathematics = Mathematics(counter)
    METHODS[method].call(
        lambda kernel: specialise(kernel, {elementary.circle: circle, math: mathematics},
                                  as_python),
        Arrays(links, counted(numbers), counted(gravity)), states, np.empty((1, n), object),
        _Memory(counter))
    return counter.operations


def _chain(tree: Tree) -> None:
    links = tree.arrays.links
    if (links[:, 0] != np.arange(-1, tree.count - 1)).any() or links[:, 1].any():
        raise TreeError('these methods are for chains of turning joints; use c3p_multibody.trees')
