# SPDX-License-Identifier: Apache-2.0
"""Constrained forward dynamics of one tree with fixed constraints, for real-time loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_kernels.compiled import sealed
from c3p_multibody.constraints import _step_kernels as kernels
from c3p_multibody.constraints.constraint_states import ConstraintSpace, system_of
from c3p_multibody.constraints.generated import generate
from c3p_multibody.constraints.kinds import Constraint
from c3p_multibody.constraints.packing import Array, pack
from c3p_multibody.trees import Tree
from c3p_multibody.trees.edge import batched


class ConstrainedDynamics:
    """
    Accelerations and constraint forces of one state after the other, without allocating.

    In the metric of A: ``A = L Lᵀ``, ``y = Lᵀ q̈``; the rows of ``B L⁻ᵀ`` are orthogonalised with
    pivoting, which determines their rank without forming ``B A⁻¹ Bᵀ``, and y is the point nearest
    to ``L⁻¹(τ − c)`` that satisfies them (Gauss's principle of least constraint).

    Parameters
    ----------
    tree : Tree
    constraints : sequence of Constraint
    frequency : float, rad/s
        Baumgarte's: ``B q̈ = ġ − Ḃq̇ − 2ω (B q̇ − g) − ω² e``; 0 for none.
    generated : bool
        Straight-line code for this system, compiled at the first call (1 to 3 s): the same results
        to rounding, two to four times as fast in compiled loops. States in which the rows are not
        clearly independent, or A is nearly singular, and systems with more than 30 000 operations
        use the general solver.

    Raises
    ------
    ConstraintError
        As `pack`.

    Notes
    -----
    Numbers are not checked in a call: see `rank`, `disagreement` and `fine`. The
    rank counts in the metric of A, where a heavy body's rows are small.

    Examples
    --------
    >>> import numpy as np
    >>> from c3p_multibody.constraints import ConstrainedDynamics, Distance
    >>> from c3p_multibody.trees import Body, Joint, Tree
    >>> ball = Tree.from_connection([-1], [Joint('free', 'planar')],
    ...                             [Body('ball', 2.0, inertia=np.eye(3))], (0, -9.81, 0))
    >>> dynamics = ConstrainedDynamics(ball, [Distance(body='ball', length=1.0)])
    >>> dynamics(np.array([0.0, -1.0, 0.0]), np.zeros(3), np.zeros(3)).round(12).tolist()
    [0.0, 0.0, 0.0]
    >>> dynamics.multipliers.round(9).tolist()
    [-19.62]
    """

    def __init__(self, tree: Tree, constraints: Sequence[Constraint], frequency: float = 0.0, *,
                 generated: bool = False) -> None:
        """Pack the constraints and make room."""
        packed = self._packed = pack(tree, constraints)
        self.tree, self.labels = tree, packed.labels
        system, integers = system_of(tree, packed, frequency)
        self._space = system.space
        self._fixed = (system.block, *integers)
        # state as in _step_kernels.py
        self._state = system.vectors
        self._q, self._qd, self._tau, self._qdd = (self._state[at] for at in (
            kernels.Q, kernels.QD, kernels.TAU, kernels.QDD))
        self._empty = kernels.FINE
        self._general = True
        self._solve = self._first
        self._code = generate(tree, packed, pack(tree, []), frequency) if generated else None
        if self._code is not None:
            self._input, self._results = self._code.memory(packed, pack(tree, []))
            self._room = self._code.turning, self._input, self._results
            self._found = self._results[:tree.count]

    def __call__(self, q: Array, qd: Array, tau: Array, time: float = 0.0) -> Array:
        """
        Return q̈ (n,), which the next call overwrites.

        Parameters
        ----------
        q, qd, tau : (n,) arrays
            Contiguous arrays of floats are read where they are, others are copied first.
        time : float, s
            Since driven constraints began.

        Raises
        ------
        ValueError
            A vector of another length.
        """
        try:
            if self._code is not None and self._code.single(q, qd, tau, time, *self._room):
                self._general = False
                return self._found
            empty = self._solve(q, qd, tau, time, *self._fixed)
        except TypeError:
            if q is self._q:
                raise
            # lists, columns of matrices, whole numbers
            empty = kernels.MISFIT
        if empty == kernels.MISFIT:
            self._q[:] = q
            self._qd[:] = qd
            self._tau[:] = tau
            return self(self._q, self._qd, self._tau, float(time))
        self._general = True
        self._empty = empty
        return self._qdd

    def _first(self, *arguments: Any) -> Any:  # noqa: ANN401 (as of a kernel)
        """Compile the general solver for contiguous arrays of floats alone, and call it."""
        self._solve = sealed(kernels.constrained, (self._q, self._qd, self._tau, 0.0,
                                                   *self._fixed))
        return self._solve(*arguments)

    def batch(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, time: float = 0.0) -> Array:
        """
        Return q̈ (…, n) of many states.

        With generated code states are processed side by side with vector instructions. The
        properties are then not those of a particular state.

        Parameters
        ----------
        q, qd, tau : (…, n) array_like
        time : float, s
            As in a call, the same for all.

        Raises
        ------
        TreeError
            A wrong shape, or a number that is not finite.
        """
        n = self.tree.count
        shape, (q, qd, tau) = batched(self.tree, q=q, qd=qd, tau=tau)
        again: Iterable[int] = range(len(q))
        if self._code is None:
            out = np.empty((len(q), n))
        else:
            results = self._code.batch(self._packed, q, qd, tau, time)
            # states that are left to the general solver, not-a-number included
            out = results[:, :n]
            again = np.flatnonzero(~(results[:, n] > 0.0))
        for k in again:
            out[k] = self._solved(q[k], qd[k], tau[k], time)
        return out.reshape(*shape, n)

    def _solved(self, q: Array, qd: Array, tau: Array, time: float) -> Array:
        """Return q̈ by the general solver."""
        self._general = True
        self._empty = self._solve(q, qd, tau, time, *self._fixed)
        return self._qdd

    def _terms(self) -> ConstraintSpace:
        """Return the general solver's memory for the last state."""
        if not self._general:
            n = self.tree.count
            x = self._input
            self._solved(x[-n:], x[2 * n:3 * n], x[3 * n:4 * n], x[4 * n])
        return self._space

    @property
    def fine(self) -> bool:
        """True if the inertia matrix of the last call was positive definite."""
        return not self._general or self._empty == kernels.FINE

    @property
    def multipliers(self) -> Array:
        """Constraint forces λ (m,) of the last call, on each body, along its rows."""
        if self._general:
            return self._space.multipliers.copy()
        n = self.tree.count
        return self._results[n + 2:n + 2 + len(self.labels)].copy()

    @property
    def rank(self) -> int:
        """Independent rows of the last call."""
        if self._code is None or self._general:
            return int(self._space.rank[0])
        return self._code.rank

    @property
    def disagreement(self) -> float:
        """Largest contradiction of dependent rows of the last call, m/s² or rad/s²."""
        return float(self._space.disagreement[0]) if self._general else 0.0

    @property
    def error(self) -> Array:
        """Constraint errors (m,) at the last call, m or rad."""
        return self._terms().error.copy()

    @property
    def jacobian(self) -> Array:
        """B (m, n) of the last call."""
        return self._terms().jacobian.copy()

    @property
    def inertia(self) -> Array:
        """A (n, n) of the last call."""
        return self._terms().inertia.copy()

    @property
    def bias(self) -> Array:
        """Coriolis, centrifugal and gravity forces c (n,) of the last call."""
        return self._terms().forces.copy()
