# SPDX-License-Identifier: Apache-2.0
"""Compiled solution of few equations by orthonormal rows: the least of all solutions."""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import kernel

# fraction of the longest row below which a row counts as dependent: rounding leaves 1e-15 of rows
# that cancel, and a constraint this weak would respond to 1e-8 rad with full speed
RANK_TOLERANCE = 1e-8
# a row reduced below this fraction of its length is made orthogonal once more
TWICE = 0.5


@kernel
def orthonormalise(rows: np.ndarray, width: int) -> tuple[int, float]:
    """
    Make the rows [A | b] orthonormal in A, in place; return their number and smallest pivot.

    Rows that depend on earlier ones become zero. The least x with A x = b is then Aᵀ b. The pivot
    is relative to the longest row.
    """
    count = rows.shape[0]
    rank = 0
    longest = 0.0
    for i in range(count):
        square = 0.0
        for j in range(width):
            square += rows[i, j] * rows[i, j]
        longest = max(longest, square)
    longest = math.sqrt(longest)
    smallest = math.inf
    for i in range(count):
        length = longest
        left = 0.0
        for _ in range(2):
            for k in range(i):
                dot = 0.0
                for j in range(width):
                    dot += rows[i, j] * rows[k, j]
                for j in range(width + 1):
                    rows[i, j] -= dot * rows[k, j]
            square = 0.0
            for j in range(width):
                square += rows[i, j] * rows[i, j]
            left = math.sqrt(square)
            if left > TWICE * length or left <= RANK_TOLERANCE * longest:
                break
            length = left
        scale = 0.0
        if left > RANK_TOLERANCE * longest:
            rank += 1
            smallest = min(smallest, left)
            scale = 1.0 / left
        for j in range(width + 1):
            rows[i, j] *= scale
    return rank, smallest / longest if rank else 0.0
