# SPDX-License-Identifier: Apache-2.0
"""Constraint rows at a state: ``B q̇ = g`` (Kelly, eq. (8)) and its derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_multibody.constraints._row_kernels import RELATIVE, RowTerms
from c3p_multibody.constraints._row_kernels import evaluate as evaluate_kernel
from c3p_multibody.constraints._sweep_kernels import BODY, FRAME, sweep
from c3p_multibody.constraints.kinds import Constraint
from c3p_multibody.constraints.packing import Array, ConstraintError, checked, pack
from c3p_multibody.trees import Tree


class Rows(NamedTuple):
    """
    Constraint rows at one state.

    Attributes
    ----------
    jacobian : (m, n) array
        B of ``B q̇ = g``; rank and number of rows may differ.
    rate : (m,) array
        g.
    bias : (m,) array
        ``Ḃq̇ − ġ``: the accelerations must satisfy ``B q̈ = −bias``.
    error : (m,) array
        Constraint error, m or rad; 0 for rows that are not integrable.
    labels : tuple of str
        Constraint and axis of each row, for errors and tables.
    """

    jacobian: Array
    rate: Array
    bias: Array
    error: Array
    labels: tuple[str, ...]


def evaluate(tree: Tree, constraints: Sequence[Constraint], q: ArrayLike, qd: ArrayLike,
             time: float = 0.0) -> Rows:
    """
    Return the rows of all `constraints` of a `tree`, in their order, at `q` and `qd` (n,).

    `time` is that since the start of driven constraints, s. ConstraintError names an unknown body,
    a wrong shape, a number that is not finite, a rod without length, or a wheel with its axle
    along the normal.

    Examples
    --------
    A pendulum whose tip is held:

    >>> from c3p_multibody.constraints import Point, evaluate
    >>> from c3p_multibody.trees import Body, Joint, Tree
    >>> tree = Tree.from_connection([-1], [Joint('hinge', axis=(0, 1, 0))],
    ...                             [Body('rod', 1.0, (0, 0, -1))])
    >>> rows = evaluate(tree, [Point(body='rod', point=(0, 0, -2), place=(0, 0, -2))], [0], [3])
    >>> rows.jacobian.ravel().tolist(), rows.bias.tolist()
    ([-2.0, 0.0, 0.0], [0.0, 0.0, 18.0])
    """
    packed = pack(tree, constraints)
    n = tree.count
    m = len(packed.labels)
    frames = np.zeros((n + 1, FRAME))
    frames[n, [0, 4, 8]] = 1.0
    out = np.zeros((3, m))
    jacobian = np.zeros((m, n))
    sweep(tree.arrays, checked(tree, 'q', q), checked(tree, 'qd', qd), frames,
          np.zeros((n, BODY)), np.zeros((n, n)), np.zeros(n))
    evaluate_kernel(tree.arrays.links, frames, packed.arrays, float(time), np.zeros((n, 6)),
                    np.zeros(RELATIVE), RowTerms(jacobian, out[0], out[1], out[2]))
    undefined = ~(np.isfinite(jacobian).all(1) & np.isfinite(out).all(0))
    if undefined.any():
        row = int(np.argmax(undefined))
        raise ConstraintError(f'{packed.labels[row]} (row {row}) has no direction in this '
                              'state: its points coincide, or the wheel is flat on its plane')
    return Rows(jacobian, out[0], out[1], out[2], packed.labels)
