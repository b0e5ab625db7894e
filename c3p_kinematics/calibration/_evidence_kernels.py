# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled evidence of remembered windows for another estimate than the present one."""

from __future__ import annotations

import numpy as np

from c3p_kernels.compiled import kernel
from c3p_kinematics.calibration._online_kernels import CONTRADICTED, fuse


@kernel
def trace_back(windows, order, start, limits, best, squares_out):
    """
    Learn windows from the newest to the oldest; return the largest gain of evidence and its count.

    The evidence of windows does not depend on their order. One pass from the newest window back
    therefore has the evidence of `start`, learning from any window on, for all of them, and with
    that of the estimate at the time the best moment of a change.

    Parameters
    ----------
    windows : tuple of arrays
        F at the description (w, m), derivatives (w, m, k), and by the estimate at the time the
        normalised innovation squared (w,), for noise 1, and the information gain (w,), nats.
    order : (c,) array of int
        Indices of windows, from the newest on.
    start : tuple of arrays
        Unknowns (k,) and covariance (k, k) before these windows.
    limits : (3,) array
        Noise factor, limit of the normalised innovation squared, limit of the unknowns.
    best : tuple of arrays
        Unknowns (k,) and covariance (k, k) after the best count of windows; written.
    squares_out : (c,) array
        Normalised innovations squared of the windows by `start`.
    """
    constant, rows, squares, gains = windows
    m, k = rows.shape[1:]
    noise = limits[0]
    limit = limits[1]
    unknown = start[0].copy()
    covariance = start[1].copy()
    value = np.empty(m)
    scaled = np.empty((m, k))
    no_cross = np.zeros((0, k))
    gain = 0.0
    most = -np.inf
    count = 0
    for c in range(len(order)):
        w = order[c]
        for i in range(m):
            value[i] = constant[w, i]
            for a in range(k):
                value[i] += rows[w, i, a] * unknown[a]
                scaled[i, a] = rows[w, i, a] / noise
            value[i] /= noise
        verdict, square, bits = fuse(value, scaled, unknown, covariance, no_cross, limit, 0.0,
                                     limits[2])
        squares_out[c] = square
        # a window with slip counts against both by the same at most
        gain += 0.5 * min(squares[w] / noise**2, limit) + gains[w]
        gain -= 0.5 * min(square, limit) + bits
        # a change begins with a window that the new estimate explains
        if verdict != CONTRADICTED and gain > most:
            most = gain
            count = c + 1
            best[0][:] = unknown
            best[1][:] = covariance
    return most, count
