# SPDX-License-Identifier: Apache-2.0
"""
Active contacts: Gauss's principle of least constraint with inequalities.

Of all accelerations that keep the constraints and do not enter the planes, the true one is nearest
to the free one in the metric of A: ``min ½ |q̈ − a|²_A``, ``B q̈ = b``, ``C q̈ ≥ d``. Its
multipliers are λ ≥ 0 and zero where C q̈ > d. The same problem in velocities is an impact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from c3p_multibody.constraints.null_space import svd_basis
from c3p_multibody.constraints.packing import Array

# a multiplier below this fraction of the largest one is rounding: that contact is not active
PUSH = 1e-9


class Pushing(NamedTuple):
    """
    The nearest motion that keeps constraints and inequalities.

    Attributes
    ----------
    motion : (n,) array
        q̈ or q̇⁺.
    pushes : (k,) array of bool
        Contacts with λ > 0.
    """

    motion: Array
    pushes: np.ndarray


def pushing(inertia: ArrayLike, force: ArrayLike, equal: tuple[ArrayLike, ArrayLike],
            above: tuple[ArrayLike, ArrayLike]) -> Pushing:
    """
    Return the active inequalities and the motion.

    Parameters
    ----------
    inertia : (n, n) array_like
        A, positive definite.
    force : (n,) array_like
        τ − c, or A q̇⁻ in an impact.
    equal, above : (matrix, vector) of array_like
        B (m, n) and b, C (k, n) and d; rows may be dependent.

    Notes
    -----
    Lawson and Hanson's least-distance problem, by non-negative least squares, in coordinates
    ``y = Lᵀ q̈`` and what B leaves of them.
    """
    factor = np.linalg.cholesky(np.asarray(inertia, float))
    b = np.atleast_2d(equal[0])
    c = np.atleast_2d(above[0])

    def lower(x: ArrayLike) -> Array:
        return scipy.linalg.solve_triangular(factor, x, lower=True)

    # in y = Lᵀq̈ the metric is Euclidean: the nearest point with X ᵀy = b, then inside Uᵀy ≥ d
    free = lower(np.asarray(force, float))
    x = lower(b.T)
    u = lower(c.T)
    space = svd_basis(x.T)
    y = free + space.inverse @ (np.asarray(equal[1], float) - x.T @ free)
    g = u.T @ space.basis
    h = np.asarray(above[1], float) - u.T @ y
    pushes = np.zeros(len(h), bool)
    size = np.max(np.abs(h), initial=0.0)
    if np.any(h > 0.0):
        # min |s|, G s ≥ h/size: u ≥ 0 nearest to Gᵀu = 0, hᵀu = 1; scaled rows, scaled target
        matrix = np.vstack([g.T, h / size])
        target = np.zeros(len(matrix))
        target[-1] = 1.0
        weights, _ = nnls(matrix, target)
        rest = matrix @ weights - target
        if rest[-1] < 0.0:
            y = y + space.basis @ (-rest[:-1] / rest[-1] * size)
            pushes = weights > PUSH * np.max(weights, initial=0.0)
    return Pushing(scipy.linalg.solve_triangular(factor.T, y), pushes)
