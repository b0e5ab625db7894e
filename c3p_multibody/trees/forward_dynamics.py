# SPDX-License-Identifier: Apache-2.0
"""
Forward dynamics by articulated bodies, and by composite bodies with the sparse factor.

The cost of the first grows with n, that of the second with n times the depth squared and a small
factor; benchmarks/bench_trees.py measures the crossover. Both give ``q̈ = A⁻¹(τ − c)``, Kelly's
eqs (6) and (7).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_multibody.trees import _articulated_kernels as kernels
from c3p_multibody.trees._inertia_kernels import composite, factorize, solve_factored
from c3p_multibody.trees._motion_kernels import WIDTH
from c3p_multibody.trees.description import Tree
from c3p_multibody.trees.edge import batched, external_wrenches, without_inertia
from c3p_multibody.trees.inverse_dynamics import rnea_into
from c3p_multibody.trees.parts import Array


def aba(tree: Tree, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
        external: ArrayLike | None = None) -> Array:
    """
    Return the accelerations, by articulated bodies.

    Inwards each joint leaves ``I − U Uᵀ/D`` of its body's articulated inertia to the lower body;
    outwards ``q̈ = (u − U·a)/D``.

    Parameters
    ----------
    tree : Tree
    q, qd : (…, n) array_like
    tau : (…, n) array_like, N·m or N
    external : (…, n, 6) array_like, optional
        Force and moment about the body's origin on each body, world axes.

    Returns
    -------
    (…, n) array, rad/s² or m/s²

    Raises
    ------
    TreeError
        Nothing resists a joint (the text names body and row), a wrong shape, a number that is not
        finite.

    Notes
    -----
    Featherstone's method, Kelly's reference [9], with accelerations of points instead of spatial
    ones, so that no linear velocities are needed.

    Examples
    --------
    >>> from c3p_multibody.trees import Body, Joint, Tree, aba
    >>> tree = Tree.from_connection([-1], [Joint('slide', 'prismatic')], [Body('one', 2.0)])
    >>> aba(tree, [0.0], [0.0], [2.0]).round(12)
    array([-8.81])
    """
    batch, (angles, rates, torques) = batched(tree, q=q, qd=qd, tau=tau)
    qdd = np.empty_like(angles)
    row, empty = aba_into(tree, aba_workspace(tree), angles, rates, torques,
                          external_wrenches(tree, external, batch), qdd)
    if empty >= 0:
        raise without_inertia(tree, empty, row if batch else None)
    return qdd.reshape(*batch, tree.count)


def forward_composite(tree: Tree, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                      external: ArrayLike | None = None) -> Array:
    """
    Return the accelerations, by composite bodies and the factor LᵀL.

    Parameters, shapes and errors as for `aba`.
    """
    batch, (angles, rates, torques) = batched(tree, q=q, qd=qd, tau=tau)
    qdd = np.empty_like(angles)
    row, empty = forward_composite_into(tree, composite_workspace(tree, len(angles)), angles,
                                        rates, torques, external_wrenches(tree, external, batch),
                                        qdd)
    if empty >= 0:
        raise without_inertia(tree, empty, row if batch else None)
    return qdd.reshape(*batch, tree.count)


def aba_workspace(tree: Tree) -> Array:
    """Return the memory that `aba_into` of this `tree` writes to."""
    return np.empty((tree.count, kernels.ARTICULATED_WIDTH))


def aba_into(tree: Tree, work: Array, q: Array, qd: Array, tau: Array, external: Array,
             qdd: Array) -> tuple[int, int]:
    """
    Write the accelerations `qdd` (B, n); as `aba`, without checks and without allocating.

    `work` is that of `aba_workspace`; `q`, `qd`, `tau` (B, n) are contiguous, `external` is
    (B, n, 6), or (B, 0, 6) for none. Returns (−1, −1), or the state and the inner number (index in
    ``tree.order``) of a body whose joint nothing resists; the rest of `qdd` is then not written.
    """
    return kernels.articulated(tuple(tree.arrays), q, qd, tau, external, work, qdd)


class CompositeWork(NamedTuple):
    """
    The memory of `forward_composite_into`; of one state, A and its factor can be read from it.

    Attributes
    ----------
    bodies : (n, …) array
    inertia, factor : (B, n, n) arrays
        A and L of the last call.
    still : (B, n) array
        Zeros.
    """

    bodies: Array
    inertia: Array
    factor: Array
    still: Array


def composite_workspace(tree: Tree, count: int = 1) -> CompositeWork:
    """Return the memory that `forward_composite_into` of this `tree` needs for `count` states."""
    n = tree.count
    return CompositeWork(np.empty((n, WIDTH)), np.empty((count, n, n)), np.empty((count, n, n)),
                         np.zeros((count, n)))


def forward_composite_into(tree: Tree, work: CompositeWork, q: Array, qd: Array, tau: Array,
                           external: Array, qdd: Array) -> tuple[int, int]:
    """
    Write the accelerations by composite bodies; `work` is that of `composite_workspace`.

    All else as in `aba_into`.
    """
    links, numbers, _ = tree.arrays
    rnea_into(tree, work.bodies, q, qd, work.still, external, qdd)
    np.subtract(tau, qdd, out=qdd)
    composite(links, numbers, q, work.bodies, work.inertia)
    row, empty = factorize(links, work.inertia, work.factor)
    if empty < 0:
        solve_factored(links, work.factor, qdd[:, None])
    return row, empty
