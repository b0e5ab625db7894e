# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled recursive estimation of the parameters: one update per window, bounded time and memory.

The unknowns ξ (5n,) are the deviations from the description in units of the prior, whose
covariance is the identity.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import kernel
from c3p_kinematics.calibration._window_kernels import (
    PER_CASTER,
    accumulate,
    clear,
    eliminate,
    in_sizes,
    turn_along,
    variances,
    window_rows,
)
from c3p_kinematics.calibration.calibration_states import Learner

cut_learner = Learner.cut

# verdicts of a step: within a window; estimate updated; window without news; contradiction; no
# window (spoiled, or without a solution)
WITHIN, LEARNED, NOTHING_NEW, CONTRADICTED, DROPPED = 0, 1, 2, 3, 4


@kernel
def fuse(value, jacobian, unknown, covariance, cross, limit, least_gain, most):
    """
    Update estimate and covariance by whitened rows; return verdict, NIS and gain.

    Parameters
    ----------
    value : (m,) array
        Residuals at the present estimate, unit variance.
    jacobian : (m, k) array
        Their derivatives by the unknowns.
    unknown, covariance : (k,) and (k, k) arrays
        Updated.
    cross : (j, k) array
        Covariance of other errors with that of the unknowns; updated. The others stay: they are
        not estimated (Schmidt's filter).
    limit : float
        Largest normalised innovation squared that is used.
    least_gain : float
        Smallest information gain ½ log det S, nats, that is used.
    most : float
        Largest size of an unknown.
    """
    m, k = jacobian.shape
    gain = np.zeros((k, m))
    root = np.zeros((m, m))
    for j in range(m):
        for a in range(k):
            total = 0.0
            for b in range(k):
                total += covariance[a, b] * jacobian[j, b]
            gain[a, j] = total
    # Cholesky factor of S = J P Jᵀ + 1, and the innovations in its units
    news = np.empty(m)
    nis = 0.0
    bits = 0.0
    for i in range(m):
        for j in range(i + 1):
            total = 1.0 if i == j else 0.0
            for a in range(k):
                total += jacobian[i, a] * gain[a, j]
            for b in range(j):
                total -= root[i, b] * root[j, b]
            root[i, j] = math.sqrt(total) if i == j else total / root[j, j]
        rest = -value[i]
        for b in range(i):
            rest -= root[i, b] * news[b]
        news[i] = rest / root[i, i]
        nis += news[i]**2
        bits += math.log(root[i, i])
    if not nis <= limit:
        return CONTRADICTED, nis, bits
    if bits < least_gain:
        return NOTHING_NEW, nis, bits
    # P Jᵀ in units of the factor, row by row; then x += G news and P −= G Gᵀ
    for a in range(k):
        for i in range(m):
            rest = gain[a, i]
            for b in range(i):
                rest -= root[i, b] * gain[a, b]
            gain[a, i] = rest / root[i, i]
        for i in range(m):
            unknown[a] += gain[a, i] * news[i]
        unknown[a] = min(max(unknown[a], -most), most)
    # C −= C Jᵀ L⁻ᵀ Gᵀ, with news for the row of C Jᵀ L⁻ᵀ
    for c in range(len(cross)):
        for i in range(m):
            rest = 0.0
            for a in range(k):
                rest += cross[c, a] * jacobian[i, a]
            for b in range(i):
                rest -= root[i, b] * news[b]
            news[i] = rest / root[i, i]
        for a in range(k):
            for i in range(m):
                cross[c, a] -= news[i] * gain[a, i]
    for a in range(k):
        for b in range(a + 1):
            for i in range(m):
                covariance[a, b] -= gain[a, i] * gain[b, i]
            covariance[b, a] = covariance[a, b]
    return LEARNED, nis, bits


@kernel
def forget(covariance, cross, part):
    """Move the covariance towards the prior by `part`: it stays between both."""
    k = len(covariance)
    cross *= math.sqrt(1.0 - part)
    for a in range(k):
        for b in range(k):
            covariance[a, b] *= 1.0 - part
        covariance[a, a] += part


@kernel
def learn(block, parameters, steering, rolled, turned):
    """
    Add one step; at the end of a window update the estimate. Return a verdict.

    Parameters
    ----------
    block : array
        Of Learner.
    parameters : (n, 5) array
        Present estimate.
    steering, rolled, turned : (n,) arrays, rad
        As in `accumulate`.
    """
    n = len(steering)
    learner = cut_learner(block, n)
    window = learner.window
    equations = learner.equations
    travel = window.travel
    if window.turn[0] == 0.0 and travel[0, 0] == 0.0 and travel[:, 0].max() == 0.0:
        for i in range(n):
            window.begin[i] = steering[i] - 0.5 * turned[i]
    if not accumulate(parameters, steering, rolled, turned, window):
        clear(window)
        return DROPPED
    if travel[:, 0].mean() < learner.length:
        return WITHIN
    window_rows(parameters, window, equations)
    turn_along(window, equations)
    variances(parameters, window, learner.wheel_step, learner.steering_step, learner.creep,
              equations.variance)
    good = eliminate(equations)
    clear(window)
    if not good:
        return DROPPED
    value = equations.value[3:]
    rows = equations.of_parameters[3:]
    in_sizes(parameters, value, rows)
    for j in range(2 * n - 3):
        value[j] /= learner.noise[0]
        for a in range(PER_CASTER * n):
            rows[j, a] *= learner.deviation[a] / learner.noise[0]
    forget(learner.covariance, learner.cross, learner.forgotten)
    verdict, square, gain = fuse(value, rows, learner.unknown, learner.covariance, learner.cross,
                                 learner.limit, learner.least_gain, learner.most)
    learner.square[0] = square
    learner.gain[0] = gain
    return verdict
