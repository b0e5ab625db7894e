# SPDX-License-Identifier: Apache-2.0
"""Energy and momentum of a tree, to check integrations, impacts and contacts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_dynamics.trees._motion_kernels import TOTALS
from c3p_dynamics.trees.description import Tree
from c3p_dynamics.trees.edge import batched
from c3p_dynamics.trees.kinematics import observed
from c3p_dynamics.trees.parts import Array


def kinetic_energy(tree: Tree, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return ``T = ½ q̇ᵀA q̇`` (…), J, from the velocities of the bodies.

    `q` and `qd` are (…, n). TreeError names a wrong shape or a number that is not finite.
    """
    return _totals(tree, q, qd)[..., 0]


def potential_energy(tree: Tree, q: ArrayLike) -> Array:
    """
    Return ``V = −Σ m g·p_c``, zero where all centres of mass are at the height of the origin.

    Bodies fixed to the world are not counted. Parameters and errors as for `kinetic_energy`.
    """
    return _totals(tree, q, np.zeros(tree.count))[..., 1]


def momentum(tree: Tree, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return linear and angular momentum of the whole tree about the world's origin.

    (…, 6), N·s and N·m·s, world axes. Its derivative is the sum of all external wrenches: gravity,
    `external` and what the world's joints carry. `q`, `qd` and errors as for `kinetic_energy`.
    """
    return _totals(tree, q, qd)[..., 2:]


def _totals(tree: Tree, q: ArrayLike, qd: ArrayLike) -> Array:
    batch, (angles, rates) = batched(tree, q=q, qd=qd)
    return observed(tree, angles, rates).totals.reshape(*batch, TOTALS)
