# SPDX-License-Identifier: Apache-2.0
"""Systems of three equations, and numbers of one array written to another."""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import kernel

# fraction of its diagonal below which a Cholesky pivot is rounding: contact points nearer to each
# other than 1e-7 of their distance from the origin, or of the caster offset, count as one
RANK_TOLERANCE = 1e-14


@kernel
def put(values: np.ndarray, place: np.ndarray) -> None:
    """Write `values` into `place`; ``place[:] = values`` compiles texts about unequal sizes."""
    for i in range(len(values)):
        place[i] = values[i]


@kernel
def solve3(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> float:
    """
    Solve the symmetric positive definite ``a x = b`` (3, 3) by Cholesky; return the last pivot.

    A matrix without full rank (a pivot below RANK_TOLERANCE of its diagonal) gives nan and 0.
    """
    p00 = a[0, 0]
    if p00 > 0.0:
        l10 = a[1, 0] / p00
        l20 = a[2, 0] / p00
        p11 = a[1, 1] - l10 * a[1, 0]
        if p11 > RANK_TOLERANCE * a[1, 1]:
            r21 = a[2, 1] - l20 * a[1, 0]
            l21 = r21 / p11
            p22 = a[2, 2] - l20 * a[2, 0] - l21 * r21
            if p22 > RANK_TOLERANCE * a[2, 2]:
                y0 = b[0]
                y1 = b[1] - l10 * y0
                y2 = b[2] - l20 * y0 - l21 * y1
                x[2] = y2 / p22
                x[1] = y1 / p11 - l21 * x[2]
                x[0] = y0 / p00 - l10 * x[1] - l20 * x[2]
                return math.sqrt(p22)
    x[:] = np.nan
    return 0.0
