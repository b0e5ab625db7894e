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

from c3p_kernels.compiled import inner, kernel
from c3p_kinematics.calibration._window_kernels import (
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


@inner
def doubt_times(parameters, learner, ages, changes):
    """
    Add to the variances of a window what ages of the joints may have done to it.

    An age a of a joint shifts its angle by a times its rate. At the ends of the window the same
    shift cancels, and that by a change of the rate stays; within, a steering axis of another age
    turns the path of its wheel by a θ̇_s. Times that change from sample to sample shift both ends.
    The deviations of both are `ages` and `changes`, s.
    """
    late = ages**2
    changing = changes**2
    for i in range(len(learner.swept)):
        variance = late * learner.swept[i]**2
        for a in range(2):
            # of the contact per angle of the steering axis and of the wheel
            size = parameters[i, 1 - a]**2
            before = learner.began[a, i]
            now = learner.rates[a, i]
            variance += size * (late * (now - before)**2
                                + changing * (now * now + before * before))
        for a in range(2):
            learner.equations.variance[2 * i + a] += variance


@inner
def whiten(parameters, learner, ages, changes):
    """
    Write the equations of the window that ends, of unit variance, by units of the unknowns.

    Returns whether they have a solution. `ages` and `changes` as in `doubt_times`.
    """
    window = learner.window
    equations = learner.equations
    window_rows(parameters, window, equations)
    turn_along(window, equations)
    variances(parameters, window, learner.wheel_step, learner.steering_step, learner.creep,
              equations.variance)
    doubt_times(parameters, learner, ages, changes)
    if not eliminate(equations):
        return False
    value = equations.value[3:]
    rows = equations.of_parameters[3:]
    in_sizes(parameters, value, rows)
    for j in range(len(value)):
        value[j] /= learner.noise[0]
        for a in range(len(learner.deviation)):
            rows[j, a] *= learner.deviation[a] / learner.noise[0]
    return True


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
            learner.swept[i] = 0.0
            for a in range(2):
                learner.began[a, i] = learner.rates[a, i]
    for i in range(n):
        learner.swept[i] += abs(learner.rates[0, i] * parameters[i, 0] * rolled[i])
    if not accumulate(parameters, steering, rolled, turned, window):
        clear(window)
        return DROPPED
    if travel[:, 0].mean() < learner.length:
        return WITHIN
    late = learner.late[0]
    changing = learner.changing[0]
    shown = learner.shown[0]
    verdict = DROPPED
    square = 0.0
    gain = 0.0
    if whiten(parameters, learner, 0.0, shown):
        forget(learner.covariance, learner.cross, learner.forgotten)
        # a window contradicts the estimate without what ages might have done to it: that may as
        # well be of a wheel that slips, which is not learned. What they might have done makes the
        # other windows worth less
        doubted = late > 0.0 or changing > shown
        value = equations.value[3:]
        rows = equations.of_parameters[3:]
        verdict, square, gain = fuse(value, rows, learner.unknown, learner.covariance,
                                     learner.cross, learner.limit,
                                     math.inf if doubted else learner.least_gain, learner.most)
        if doubted and verdict != CONTRADICTED and whiten(parameters, learner, late, changing):
            verdict, square, gain = fuse(value, rows, learner.unknown, learner.covariance,
                                         learner.cross, learner.limit, learner.least_gain,
                                         learner.most)
        learner.square[0] = square
        learner.gain[0] = gain
    clear(window)
    return verdict
