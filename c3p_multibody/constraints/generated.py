# SPDX-License-Identifier: Apache-2.0
"""
Straight-line code for one tree with its constraints: traced, generated, compiled.

Independent rows only: where these are not clearly independent, or A is nearly singular, the margin
is not positive, and the callers use the general solver.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from c3p_kernels.compiled import sealed
from c3p_kernels.specialise import specialise, within
from c3p_kernels.straight import batches
from c3p_kernels.straight.emission import Code
from c3p_kernels.straight.expressions import Expression
from c3p_multibody.constraints import _straight_kernels as kernels
from c3p_multibody.constraints.packing import Array, PackedRows
from c3p_multibody.constraints.traced_solution import Traced, trace
from c3p_multibody.constraints.tracing import literal, state_size
from c3p_multibody.trees import Tree

# most operations of one function, which compile in about 0.3 ms each: a chain of 12 joints that is
# welded has 8000, one of 24 joints 26 000
MOST_OPERATIONS = 30_000
KEPT = 64


class Generated:
    """
    Code for one tree with its constraints; made by `generate`.

    Attributes
    ----------
    slope, whole : Code
        Accelerations; accelerations, projection and energies.
    rank : int
        Independent rows where the code is valid.
    """

    def __init__(self, tree: Tree, ties: PackedRows, guards: PackedRows, frequency: float) -> None:
        """Trace; each function is compiled at its first use."""
        self._system = tree, ties, guards, frequency
        self.count, self.rows, self.guards = tree.count, len(ties.labels), len(guards.ties)
        self.turning = np.array([joint.kind == 'revolute' for joint in tree.joints])
        found = trace(*self._system)
        self.rank = found.rank
        self.slope = Code(accelerations(found))
        self.whole = Code([*accelerations(found), found.potential, *found.kinetic, found.closure,
                           *found.dq, *found.dqd, *found.gap, *found.speed])

    @property
    def useful(self) -> bool:
        """True unless rows are dependent in all states, or there are too many operations."""
        margin = self.slope.results[self.count]
        return (self.whole.operations <= MOST_OPERATIONS
                and (isinstance(margin, Expression) or margin > 0.0))

    def memory(self, ties: PackedRows, guards: PackedRows) -> tuple[Array, Array]:
        """
        Return input, with the places of constraints filled in, and room for the results.

        The end of the input is q (n,), which the code itself does not take.
        """
        places = np.concatenate([ties.places.ravel(), guards.places.ravel()])
        return (np.concatenate([np.zeros(state_size(self.count)), places, np.zeros(self.count)]),
                np.zeros(len(self.whole.results)))

    @cached_property
    def single(self) -> Callable[..., Any]:
        """`_straight_kernels.single` of this system, for contiguous arrays of floats alone."""
        _, ties, guards, _ = self._system
        still = np.zeros(self.count)
        return sealed(_around(kernels.single, {kernels.slope: self.slope.run}),
                      (still, still, still, 0.0, self.turning, *self.memory(ties, guards)))

    @cached_property
    def march(self) -> Callable[..., Any]:
        """`_straight_kernels.march` of this system."""
        return _around(kernels.march, {kernels.slope: self.slope.run,
                                       kernels.whole: self.whole.run})

    @cached_property
    def many(self) -> Code:
        """Accelerations of states side by side."""
        return Code(accelerations(trace(*self._system, batches.PASS_SIZE)), batches.PASS_SIZE)

    @cached_property
    def _batch(self) -> Callable[..., Any]:
        return _around(kernels.batch, {kernels.slope: self.many.run})

    def batch(self, ties: PackedRows, q: Array, qd: Array, tau: Array, time: float) -> Array:
        """
        Return q̈ (n), margin, driven power and λ (m) of each state, (B, n + 2 + m).

        `q`, `qd`, `tau` are contiguous (B, n); `ties` holds the places; `time` is one for all.
        """
        width = len(self.many.results)
        x = np.concatenate([np.zeros(state_size(self.count, batches.PASS_SIZE)),
                            ties.places.ravel()])
        out = np.empty((len(q), width))
        self._batch(self.turning, q, qd, tau, time, x, np.empty(width * batches.PASS_SIZE), out)
        return out


def accelerations(found: Traced) -> list:
    """Return the results of `slope`."""
    return [*found.qdd, found.margin, found.driven, *found.multipliers]


def _around(function: Callable[..., Any], code: dict[Any, Any]) -> Callable[..., Any]:
    """Return a function of _straight_kernels.py with generated code in its place, compiled."""
    return specialise(function, code, within, shared=True)


def generate(tree: Tree, ties: PackedRows, guards: PackedRows, frequency: float = 0.0
             ) -> Generated | None:
    """
    Return the code for a `tree` with constraints `ties` and watched contacts `guards`.

    Cached: the same object for trees with the same numbers and constraints of the same kinds on
    the same bodies, also at other places. `frequency` is Baumgarte's. None for a system whose rows
    are dependent in all states, or with more than MOST_OPERATIONS operations.
    """
    return made(TracedSystem(tree, ties, guards, frequency))


class TracedSystem:
    """A tree with constraints `ties` and contacts `guards`, equal to others with the same code."""

    def __init__(self, tree: Tree, ties: PackedRows, guards: PackedRows,
                 frequency: float = 0.0) -> None:
        """Collect what the code depends on; `frequency` is Baumgarte's."""
        self.parts = tree, ties, guards, frequency
        self._key = (*(array.tobytes() for array in tree.arrays), frequency,
                     *((packed.ties.tobytes(), _pattern(packed)) for packed in (ties, guards)))

    def __eq__(self, other: object) -> bool:
        """Return True for a system with the same code."""
        return isinstance(other, TracedSystem) and self._key == other._key

    def __hash__(self) -> int:
        """Return the hash of what the code depends on."""
        return hash(self._key)


def ready(system: TracedSystem) -> Generated | None:
    """Return the code of a `system` if it has been generated before and is useful."""
    return _kept.get(system)


def made(system: TracedSystem) -> Generated | None:
    """Return the code of a `system`, new or known; None if it is not useful."""
    if system not in _kept:
        found = Generated(*system.parts)
        _kept[system] = found if found.useful else None
        if len(_kept) > KEPT:
            del _kept[next(iter(_kept))]
    return _kept[system]


_kept: dict[TracedSystem, Generated | None] = {}


def _pattern(packed: PackedRows) -> tuple:
    """Return the literal entries of the places, None for those that are read."""
    return tuple(float(value) if literal(column, value) else None
                 for (_, column), value in np.ndenumerate(packed.places))
