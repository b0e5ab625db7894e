# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN201, ANN202 (the compiler infers the types)
"""
States side by side for straight-line code, LANES at a time, for vector instructions.

`x` is flat: row r of the input is ``x[LANES r : LANES (r + 1)]``, one state per element.
"""

from __future__ import annotations

from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import circle

# states in one pass: the rows of an arm then fill half of the nearest cache
LANES = 32


@kernel
def take_angles(turning, q, start, count, x):
    """Write cosines and sines of revolute joints to rows 0 to 2n of `x`, positions of others."""
    n = len(turning)
    for j in range(n):
        at, beside = LANES * j, LANES * (n + j)
        if turning[j]:
            for k in range(count):
                x[at + k], x[beside + k] = circle(q[start + k, j])
        else:
            for k in range(count):
                x[at + k] = q[start + k, j]


@kernel
def take(values, start, count, x, row):
    """Write columns of `values` (B, n) to rows of `x`, from `row` on."""
    for j in range(values.shape[1]):
        at = LANES * (row + j)
        for k in range(count):
            x[at + k] = values[start + k, j]


@kernel
def give(x, start, count, values):
    """Write rows of `x` to the columns of `values` (B, n)."""
    for j in range(values.shape[1]):
        at = LANES * j
        for k in range(count):
            values[start + k, j] = x[at + k]
