# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled ages of joints by the equations of a drive, and their use; no checks.

The unknowns of _time_kernels.py, in units of their prior, are those of weighted least squares with
that prior. They are computed again after some windows. The angles are then corrected by the ages
so far; what is left of these, and the times that change, is the skew of the monitors.

`t` is the state `SampleTimes` of time_states.py. Of symmetric matrices the lower half is kept.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import inner, kernel
from c3p_kernels.dense import backward, cholesky, forward
from c3p_kinematics.time_states import SampleTimes

cut_times = SampleTimes.cut

# windows in motion until the unknowns are computed, and from one time to the next
SOLVED_EVERY = 4.0

# windows after which an older one counts 1/e
MEMORY = 1000.0

# deviations of a zero, rad, a radius and an offset, relative, beside the ages: those of a
# description without a calibration, so that its errors are not taken for ages
ZERO = 0.03
RADIUS = 0.02
OFFSET = 0.05

# largest squared residual, relative to the expected one, with its full weight
TAIL = 9.0

# weight of the prior of the times that change, in equations of a span
PRIOR_WEIGHT = 20.0

# bounds of the skew that is passed on, relative to the one that is set: a measurement neither
# blinds a monitor nor makes it raise alarms
LEAST_SKEW = 0.5
MOST_SKEW = 2.0

# least deviation of times that change, of the skew that is set
LEAST_CHANGING = 0.05

# part of the variance of the estimates that is taken off that of the ages: those of joints of one
# instant differ by chance, and some by more than by their deviations
CERTAIN = 2.0

# deviation of the evidence so far along a change of the lengths, in such changes: a zero that has
# been set, or a wheel that has stopped slipping, is another description, and contradicts the
# motion before without any age. Several, as a calibration follows in many steps
DRIFT = 5.0

# part of a new age that is applied at once, and largest change, s: angles must not leap
PART_APPLIED = 0.5
MOST_APPLIED = 1e-3


@inner
def end_window(geometry, t):
    """
    Add the equations of a window; now and then compute the unknowns by all of them.

    Returns whether the angles are corrected by other ages from now on.
    """
    n = len(geometry)
    m = 5 * n
    square = 0.0
    for i in range(n):
        for j in range(2):
            # creep over the window, rounding and changing times at both ends
            ends = t.path_noise**2 + t.changing[0]**2 * t.middle.power[i, j]
            t.variance[i, j] = t.window[0] * t.variance[i, j] + 2.0 * ends
            rest = t.path[i, j]
            for c in range(m):
                rest -= t.signature[2 * i + j, c] * t.unknown[c]
            square += rest * rest / t.variance[i, j]
    part = min(1.0, TAIL * 2 * n / square) if square > 0.0 else 1.0
    keep = 1.0 - 1.0 / MEMORY
    for a in range(m):
        t.right[a] *= keep
        for b in range(a + 1):
            t.information[a, b] *= keep
    for k in range(2 * n):
        size = part / t.variance[k // 2, k % 2]
        for a in range(m):
            scaled = size * t.signature[k, a]
            t.right[a] += scaled * t.path[k // 2, k % 2]
            for b in range(a + 1):
                t.information[a, b] += scaled * t.signature[k, b]
    t.windows[0] += 1.0
    return t.windows[0] % SOLVED_EVERY == 0.0 and solve_ages(t)


@inner
def solve_ages(t):
    """Compute the unknowns, the ages with their deviations, and the skew; return as above."""
    n = t.age.shape[1]
    m = 5 * n
    # the prior is of ages, and the angles are corrected by those applied
    for a in range(m):
        t.unknown[a] = t.right[a]
        if a < 2 * n:
            t.unknown[a] -= t.applied[a // n, a % n] / t.age_prior
        t.information[a, a] += 1.0
    failed = cholesky(t.information, t.factor, m)
    for a in range(m):
        t.information[a, a] -= 1.0
    if failed >= 0:
        return False
    forward(t.factor, t.unknown, m)
    backward(t.factor, t.unknown, m)
    mean = 0.0
    for a in range(2 * n):
        mean += (t.age_prior * t.unknown[a] + t.applied[a // n, a % n]) / (2 * n)
    # variance of the ages, of their estimates, and of what the angles are not corrected by
    total = 0.0
    doubt = 0.0
    left = 0.0
    for a in range(2 * n):
        age = t.age_prior * t.unknown[a] + t.applied[a // n, a % n] - mean
        t.age[a // n, a % n] = age
        total += age * age / (2 * n - 1)
        left += (age - t.applied[a // n, a % n])**2 / (2 * n - 1)
        # deviation from the mean: a column of the inverse, by the factor
        for b in range(m):
            t.column_of[b] = 0.0
        for b in range(2 * n):
            t.column_of[b] = -1.0 / (2 * n)
        t.column_of[a] += 1.0
        forward(t.factor, t.column_of, m)
        variance = 0.0
        for b in range(m):
            variance += t.column_of[b]**2
        t.age_deviation[a // n, a % n] = t.age_prior * math.sqrt(variance)
        doubt += t.age_prior**2 * variance / (2 * n)
    prior = t.skew_prior**2
    changing = (PRIOR_WEIGHT * prior + t.evidence[0]) / (PRIOR_WEIGHT + t.count[0])
    # of a part of the prior at least, so that evidence keeps a weight
    t.changing[0] = math.sqrt(max(changing, LEAST_CHANGING**2 * prior))
    measured = math.sqrt(t.changing[0]**2 + left)
    t.skew[0] = min(max(measured, LEAST_SKEW * t.skew_prior), MOST_SKEW * t.skew_prior)
    t.apart[0] = max(total - CERTAIN * doubt, 0.0)
    return apply_ages(t, t.apart[0])


@inner
def apply_ages(t, apart):
    """
    Correct the angles by the present ages from now on, in small steps.

    `apart` is the variance of the ages among each other beyond that of their estimates, s²: ages
    that do not differ by more than they are known to are not applied. Returns as above.
    """
    n = t.age.shape[1]
    m = 5 * n
    if apart == 0.0 and t.corrects[0] == 0.0:
        return False
    for a in range(m):
        t.column_of[a] = 0.0
    for a in range(2 * n):
        variance = t.age_deviation[a // n, a % n]**2
        share = apart / (apart + variance)
        change = PART_APPLIED * (share * t.age[a // n, a % n] - t.applied[a // n, a % n])
        change = min(max(change, -MOST_APPLIED), MOST_APPLIED)
        t.applied[a // n, a % n] += change
        t.column_of[a] = change / t.age_prior
        t.unknown[a] -= t.column_of[a]
    take_off(t)
    t.corrects[0] = 1.0
    return True


@inner
def take_off(t):
    """Take the unknowns in `column_of` off all motion before, as if it had been without them."""
    for a in range(len(t.right)):
        for b in range(a + 1):
            t.right[a] -= t.information[a, b] * t.column_of[b]
            if b < a:
                t.right[b] -= t.information[a, b] * t.column_of[a]


@kernel
def follow_lengths(block, before, after):
    """
    Continue with other lengths: what they explain is no longer unknown.

    `block` is of SampleTimes; parameters (n, 5) as of calibration/parameters.py.
    """
    n = len(before)
    t = cut_times(block, n)
    if t.age_prior == 0.0:
        return
    for i in range(n):
        t.column_of[i] = 0.0
        t.column_of[n + i] = 0.0
        t.column_of[2 * n + i] = (after[i, 4] - before[i, 4]) / ZERO
        t.column_of[3 * n + i] = (after[i, 0] / before[i, 0] - 1.0) / RADIUS
        # a wheel without offset has none to learn
        d = before[i, 1]
        t.column_of[4 * n + i] = (after[i, 1] / d - 1.0) / OFFSET if d > 0.0 else 0.0
    for a in range(5 * n):
        t.unknown[a] -= t.column_of[a]
    take_off(t)
    doubt_before(t)


@inner
def doubt_before(t):
    """
    Take the motion before as uncertain by a change δ of the unknowns, that in `column_of`.

    The covariance grows by D² δ δᵀ with D = `DRIFT`, at the same estimate. With the information I:

        I ← I − g (I δ) (I δ)ᵀ,  r ← r − g (I δ) (δᵀ r),  g = D²/(1 + D² δᵀ I δ)
    """
    m = len(t.right)
    known = 0.0
    along = 0.0
    for a in range(m):
        total = 0.0
        for b in range(m):
            low = min(a, b)
            total += t.information[max(a, b), low] * t.column_of[b]
        t.moved_by[a] = total
        known += total * t.column_of[a]
        along += t.right[a] * t.column_of[a]
    gain = DRIFT**2 / (1.0 + DRIFT**2 * known)
    for a in range(m):
        t.right[a] -= gain * t.moved_by[a] * along
        for b in range(a + 1):
            t.information[a, b] -= gain * t.moved_by[a] * t.moved_by[b]
