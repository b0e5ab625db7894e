# SPDX-License-Identifier: Apache-2.0
"""
States side by side for straight-line code, PASS_SIZE at a time, for vector instructions.

`x` is flat: row r of the input is ``x[PASS_SIZE r : PASS_SIZE (r + 1)]``, one state per element.
One pass takes `count` states of a batch, from `start` on.
"""

from __future__ import annotations

import numpy as np

from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import circle

# states in one pass: the rows of an arm then fill half of the nearest cache
PASS_SIZE = 32


@kernel
def take_angles(turning: np.ndarray, q: np.ndarray, start: int, count: int, x: np.ndarray) -> None:
    """
    Write cosines and sines of revolute joints to rows 0 to 2n of `x`, positions of others.

    `q` (B, n) has the positions, `turning` (n,) is true for revolute joints; `start` and `count`
    name the rows of the pass.
    """
    n = len(turning)
    for j in range(n):
        at = PASS_SIZE * j
        beside = PASS_SIZE * (n + j)
        if turning[j]:
            for k in range(count):
                x[at + k], x[beside + k] = circle(q[start + k, j])
        else:
            for k in range(count):
                x[at + k] = q[start + k, j]


@kernel
def take(values: np.ndarray, start: int, count: int, x: np.ndarray, row: int) -> None:
    """Write `count` states of `values` (B, n), from `start` on, to rows of `x`, from `row` on."""
    for j in range(values.shape[1]):
        at = PASS_SIZE * (row + j)
        for k in range(count):
            x[at + k] = values[start + k, j]


@kernel
def give(x: np.ndarray, start: int, count: int, values: np.ndarray) -> None:
    """Write rows of `x` to `count` states of `values` (B, n), from `start` on."""
    for j in range(values.shape[1]):
        at = PASS_SIZE * j
        for k in range(count):
            values[start + k, j] = x[at + k]
