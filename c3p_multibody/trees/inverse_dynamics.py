# SPDX-License-Identifier: Apache-2.0
"""
Inverse dynamics by the recursion of Newton and Euler: torques, bias, joint wrenches.

``τ = A(q) q̈ + c(q, q̇) − Σ Jᵀ f``: Kelly's eqs (3) and (4). The cost grows with n alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_multibody.trees import _force_kernels as kernels
from c3p_multibody.trees._motion_kernels import WIDTH
from c3p_multibody.trees.description import Tree
from c3p_multibody.trees.edge import batched, external_wrenches
from c3p_multibody.trees.kinematics import observed
from c3p_multibody.trees.parts import Array

# the kernel leaves the wrenches in joints out
NO_WRENCH = np.empty((0, 0, 6))


def rnea(tree: Tree, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
         external: ArrayLike | None = None) -> Array:
    """
    Return the joint torques (forces) of a motion.

    Outwards velocities and accelerations, inwards the forces on each body (Kelly, eq. (4)).
    Gravity enters as an acceleration −g of the world.

    Parameters
    ----------
    tree : Tree
    q, qd, qdd : (…, n) array_like
        rad or m, and their derivatives.
    external : (…, n, 6) array_like, optional
        Force [N] and moment [N·m] about the body's origin on each body, world axes.

    Returns
    -------
    (…, n) array, N·m or N

    Raises
    ------
    TreeError
        A wrong shape or a number that is not finite.

    Examples
    --------
    A pendulum held level: m g l.

    >>> from c3p_multibody.trees import Body, Joint, Tree, rnea
    >>> tree = Tree.from_connection([-1], [Joint('hinge', axis=(0, -1, 0))],
    ...                             [Body('bob', 2.0, (0.5, 0, 0))])
    >>> rnea(tree, [0.0], [0.0], [0.0]).round(12)
    array([9.81])
    """
    batch, (angles, rates, accels) = batched(tree, q=q, qd=qd, qdd=qdd)
    tau = np.empty_like(angles)
    rnea_into(tree, rnea_workspace(tree), angles, rates, accels,
              external_wrenches(tree, external, batch), tau)
    return tau.reshape(*batch, tree.count)


def bias(tree: Tree, q: ArrayLike, qd: ArrayLike, external: ArrayLike | None = None) -> Array:
    """
    Return c(q, q̇), the torques at q̈ = 0: Coriolis, centrifugal, gravity (Kelly, eq. (5)).

    Parameters, shapes and errors as for `rnea`; a given `external` is subtracted.
    """
    return rnea(tree, q, qd, np.zeros(tree.count), external)


def joint_wrenches(tree: Tree, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                   external: ArrayLike | None = None) -> Array:
    """
    Return the whole wrench with which each joint holds its body, the driving torque included.

    (…, n, 6), N and N·m: force and moment about the body's origin, by the lower body on the body;
    world axes. Kelly remarks that no method "provides the constraint forces"; they are a result of
    the inward pass. The component along the joint is τ. Parameters and errors as for `rnea`.
    """
    batch, (angles, rates, accels) = batched(tree, q=q, qd=qd, qdd=qdd)
    wrench = np.empty((len(angles), tree.count, 6))
    kernels.newton_euler(tuple(tree.arrays), angles, rates, accels,
                         external_wrenches(tree, external, batch), rnea_workspace(tree), wrench,
                         np.empty_like(angles))
    turn = observed(tree, angles).frames[:, :, :9].reshape(-1, tree.count, 3, 3)
    parts = wrench.reshape(-1, tree.count, 2, 3)
    world = np.empty_like(wrench)
    world[:, tree.order] = np.einsum('bnij,bnpj->bnpi', turn, parts).reshape(wrench.shape)
    return world.reshape(*batch, tree.count, 6)


def rnea_workspace(tree: Tree) -> Array:
    """Return the memory that `rnea_into` of this `tree` writes to."""
    return np.empty((tree.count, WIDTH))


def rnea_into(tree: Tree, work: Array, q: Array, qd: Array, qdd: Array, external: Array,
              tau: Array) -> None:
    """
    Write the torques `tau` (B, n); as `rnea`, without checks and without allocating.

    `work` is that of `rnea_workspace`; `q`, `qd`, `qdd` (B, n) are contiguous, `external` is
    (B, n, 6), or (B, 0, 6) for none.
    """
    kernels.newton_euler(tuple(tree.arrays), q, qd, qdd, external, work, NO_WRENCH, tau)
