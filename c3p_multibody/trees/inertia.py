# SPDX-License-Identifier: Apache-2.0
"""
The inertia matrix by composite rigid bodies, and its factor LᵀL with the tree's own sparsity.

``A_kj`` is zero unless one of the two bodies carries the other. Eliminated from the leaves
inwards, the factor has no entry where A has none (Featherstone), so that branches cost nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_multibody.trees import _inertia_kernels as kernels
from c3p_multibody.trees.description import Tree
from c3p_multibody.trees.edge import batched, vector, without_inertia
from c3p_multibody.trees.parts import Array, TreeError


def crba(tree: Tree, q: ArrayLike) -> Array:
    """
    Return the inertia matrix A(q) of ``A q̈ + c = τ`` (Kelly, eq. (3)).

    (…, n, n), symmetric; kg·m², kg·m or kg, for `q` (…, n). TreeError names a wrong shape or a
    number that is not finite.

    Examples
    --------
    >>> from c3p_multibody.trees import Body, Joint, Tree, crba
    >>> tree = Tree.from_connection([-1, 0], [Joint('rail', 'prismatic', (1, 0, 0)),
    ...                                       Joint('hinge', axis=(0, 1, 0))],
    ...                             [Body('cart', 3.0), Body('bob', 1.0, (0, 0, -2))])
    >>> crba(tree, [0.0, 0.0]).tolist()
    [[4.0, -2.0], [-2.0, 4.0]]
    """
    batch, (angles,) = batched(tree, q=q)
    a = np.empty((len(angles), tree.count, tree.count))
    kernels.composite(tree.arrays.links, tree.arrays.numbers, angles,
                      np.empty((tree.count, kernels.COMPOSITE_WIDTH)), a)
    return a.reshape(*batch, tree.count, tree.count)


def factor(tree: Tree, a: ArrayLike) -> Array:
    """
    Return L (n, n) of ``A = LᵀL`` for `a` (n, n) of `crba`.

    Only entries of bodies that carry each other are read, and ``L_kj`` is not zero only where body
    j carries body k (or is it): lower triangular in the depth-first order. TreeError names a joint
    that nothing resists, or a wrong shape.
    """
    matrix = vector('a', a, (tree.count, tree.count))[None]
    l = np.empty_like(matrix)
    _, empty = kernels.factorize(tree.arrays.links, matrix, l)
    if empty >= 0:
        raise without_inertia(tree, empty)
    return l[0]


def solve(tree: Tree, factor: Array, b: ArrayLike) -> Array:
    """
    Return x of ``A x = b``, of the shape of `b`: (n,), or (n, k) with right sides by columns.

    `factor` (n, n) is that of `factor`. TreeError names a wrong shape or a number that is not
    finite.
    """
    right = np.asarray(b, float)
    if right.ndim not in (1, 2) or len(right) != tree.count or not np.isfinite(right).all():
        raise TreeError(f'b has shape {right.shape}: expected finite numbers of shape '
                        f'({tree.count},) or ({tree.count}, k)')
    rows = np.array(right.T, order='C').reshape(1, -1, tree.count)
    kernels.solve_factored(tree.arrays.links, vector('factor', factor, (tree.count,) * 2)[None],
                           rows)
    return rows[0, 0] if right.ndim == 1 else rows[0].T.copy()
