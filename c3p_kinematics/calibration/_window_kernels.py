# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled residuals of the rolling equations over a window of positions, and their derivatives.

Parameters are rows ``[r, d, x, y, β]`` per caster, `PER_CASTER` each: radius, offset, hip, error
of the steering zero. With ψ_i = φ + θ_s,i + β_i, e(ψ) the rolling direction and c_i = m_i − d_i e
the place of the contact in ``base_link``, a window that begins at the pose (0, 0, 0) and ends at
(p, φ) has for each caster the two equations

    F_i = p + R(φ) c_i(end) − c_i(begin) − r_i ∫ e(ψ_i) dθ_x,i = 0.

φ within the window is that of the rolling equations of each step, with its derivative.
Derivation: docs/calibration.md.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import circle
from c3p_kernels.small import RANK_TOLERANCE, solve3

# parameters of a caster: radius, offset, hip x, hip y, zero
PER_CASTER = 5

# turn of a wheel within a step [rad] above which the chord is shorter than the arc by its series
CHORD = 1.0 / 24.0


@kernel
def clear(sums, slopes, heading, travel):
    """Begin a window: `sums` (n, 3), `slopes` (2n, 5n), `heading` (1 + 5n,), `travel` (n, 2)."""
    sums[:] = 0.0
    slopes[:] = 0.0
    heading[:] = 0.0
    travel[:] = 0.0


@kernel
def rate_rows(parameters, steering, wheel, steer, twist, residual, slopes, rows):
    """
    Write the twist of one step, the residuals (n, 2) [along, across], and their derivatives.

    `wheel`, `steer` are rates or increments. `slopes` (n, 2, 5) are ∂(residual)/∂(parameters of
    the same caster) at a fixed twist, `rows` (n, 2, 3) those of the contact velocities. Returns
    False if all contact points coincide.
    """
    n = len(steering)
    normal = np.zeros((3, 3))
    right = np.zeros(3)
    lever = 0.0
    for i in range(n):
        r = parameters[i, 0]
        d = parameters[i, 1]
        x = parameters[i, 2]
        y = parameters[i, 3]
        lever += d * d
        c, s = circle(steering[i] + parameters[i, 4])
        rows[i, 0, 0] = -s
        rows[i, 0, 1] = c
        rows[i, 0, 2] = s * y + c * x
        rows[i, 1, 0] = c
        rows[i, 1, 1] = s
        rows[i, 1, 2] = s * x - c * y + d
        residual[i, 0], residual[i, 1] = r * wheel[i], -d * steer[i]
        for a in range(2):
            for j in range(3):
                right[j] += rows[i, a, j] * residual[i, a]
                for k in range(j + 1):
                    normal[j, k] += rows[i, a, j] * rows[i, a, k]
    for j in range(3):
        for k in range(j):
            normal[k, j] = normal[j, k]
    # the last pivot is what contact points apart from each other measure of the yaw
    if not solve3(normal, right, twist)**2 > RANK_TOLERANCE * lever:
        return False
    w = twist[2]
    for i in range(n):
        c, s = rows[i, 1, 0], rows[i, 1, 1]
        along = 0.0
        across = 0.0
        for j in range(3):
            along += rows[i, 0, j] * twist[j]
            across += rows[i, 1, j] * twist[j]
        residual[i, 0] -= along
        residual[i, 1] -= across
        slopes[i, 0, 0] = wheel[i]
        slopes[i, 1, 0] = 0.0
        slopes[i, 0, 1], slopes[i, 1, 1] = 0.0, -steer[i] - w
        slopes[i, 0, 2] = -c * w
        slopes[i, 1, 2] = -s * w
        slopes[i, 0, 3] = -s * w
        slopes[i, 1, 3] = c * w
        # dRx/dθ = −Ra and dRa/dθ = Rx: the velocity of the pivot, without the offset
        slopes[i, 0, 4] = across - parameters[i, 1] * w
        slopes[i, 1, 4] = -along
    return True


@kernel
def yaw_row(rows, out):
    """Write the row (n, 2) that gives the yaw of the least-squares twist; `rows` (n, 2, 3)."""
    n = len(rows)
    normal = np.zeros((3, 3))
    unit = np.zeros(3)
    column = np.empty(3)
    for i in range(n):
        for a in range(2):
            for j in range(3):
                for k in range(3):
                    normal[j, k] += rows[i, a, j] * rows[i, a, k]
    unit[2] = 1.0
    solve3(normal, unit, column)
    for i in range(n):
        for a in range(2):
            out[i, a] = (rows[i, a, 0] * column[0] + rows[i, a, 1] * column[1]
                         + rows[i, a, 2] * column[2])


@kernel
def accumulate(parameters, steering, rolled, turned, sums, slopes, heading, travel):
    """
    Add one step to a window.

    Parameters
    ----------
    parameters : (n, 5) array
    steering : (n,) array, rad
        Measured, halfway, without the error of the zero.
    rolled, turned : (n,) arrays, rad
        Increments of wheel and steering angles.
    sums : (n, 3) array, rad
        ∫ e(ψ_i) dθ_x,i (2) and the turn of the steering; updated, as the others.
    slopes : (2n, 5n) array
        Derivative of r_i ∫ e(ψ_i) dθ_x,i through φ.
    heading : (1 + 5n,) array, rad
        φ and its derivative.
    travel : (n, 2) array, m and rad
        Path of the contact, |r dθ_x|, with that of the pivot around it; |dθ_s|.

    Returns
    -------
    bool
        False if all contact points coincide; the step is then not added.
    """
    n = len(steering)
    twist = np.empty(3)
    residual = np.empty((n, 2))
    own = np.empty((n, 2, PER_CASTER))
    rows = np.empty((n, 2, 3))
    gain = np.empty((n, 2))
    if not rate_rows(parameters, steering, rolled, turned, twist, residual, own, rows):
        return False
    yaw_row(rows, gain)
    middle = heading[0] + 0.5 * twist[2]
    # derivative of φ halfway: half of this step's change before, half after the integral
    for i in range(n):
        for p in range(PER_CASTER):
            heading[1 + PER_CASTER * i + p] += 0.5 * (gain[i, 0] * own[i, 0, p]
                                                      + gain[i, 1] * own[i, 1, p])
    for i in range(n):
        c, s = circle(middle + steering[i] + parameters[i, 4])
        arc = turned[i] + twist[2]
        length = rolled[i] * (1.0 - CHORD * arc * arc)
        ex, ey = -s * length, c * length
        sums[i, 0] += ex
        sums[i, 1] += ey
        sums[i, 2] += turned[i]
        travel[i, 0] += abs(parameters[i, 0] * rolled[i]) + abs(parameters[i, 1] * arc)
        travel[i, 1] += abs(turned[i])
        # d e/dψ is e, turned by 90°
        px, py = -parameters[i, 0] * ey, parameters[i, 0] * ex
        for k in range(PER_CASTER * n):
            slopes[2 * i, k] += px * heading[1 + k]
            slopes[2 * i + 1, k] += py * heading[1 + k]
    heading[0] += twist[2]
    for i in range(n):
        for p in range(PER_CASTER):
            heading[1 + PER_CASTER * i + p] += 0.5 * (gain[i, 0] * own[i, 0, p]
                                                      + gain[i, 1] * own[i, 1, p])
    return True


@kernel
def window_rows(parameters, begin, sums, slopes, heading, value, of_step, of_parameters):
    """
    Write F (2n,) of a window and its derivatives by (p, φ) (2n, 3) and parameters (2n, 5n).

    F is at p = 0 and the integrated φ. `begin` are the measured steering angles at the begin.
    """
    n = len(begin)
    phi = heading[0]
    cp, sp = circle(phi)
    of_parameters[:] = -slopes
    for i in range(n):
        r = parameters[i, 0]
        d = parameters[i, 1]
        x = parameters[i, 2]
        y = parameters[i, 3]
        c, s = circle(begin[i] + parameters[i, 4])
        c1, s1 = circle(begin[i] + sums[i, 2] + parameters[i, 4] + phi)
        # R(φ) c_i(end) and c_i(begin)
        ax, ay = cp * x - sp * y + d * s1, sp * x + cp * y - d * c1
        bx, by = x + d * s, y - d * c
        j = 2 * i
        k = PER_CASTER * i
        value[j] = ax - bx - r * sums[i, 0]
        value[j + 1] = ay - by - r * sums[i, 1]
        of_step[j, 0] = 1.0
        of_step[j, 1] = 0.0
        of_step[j, 2] = -ay
        of_step[j + 1, 0] = 0.0
        of_step[j + 1, 1] = 1.0
        of_step[j + 1, 2] = ax
        of_parameters[j, k] -= sums[i, 0]
        of_parameters[j + 1, k] -= sums[i, 1]
        of_parameters[j, k + 1] += s1 - s
        of_parameters[j + 1, k + 1] += c - c1
        of_parameters[j, k + 2] += cp - 1.0
        of_parameters[j + 1, k + 2] += sp
        of_parameters[j, k + 3] -= sp
        of_parameters[j + 1, k + 3] += cp - 1.0
        of_parameters[j, k + 4] += d * (c1 - c) + r * sums[i, 1]
        of_parameters[j + 1, k + 4] += d * (s1 - s) - r * sums[i, 0]


@kernel
def variances(parameters, sums, travel, wheel_step, steering_step, creep, out):
    """
    Write the variance (n,) of both components of F of each caster, m².

    Rounding of all angles at both ends (Δ²/12 each, the mean of both directions), rounding of the
    steering angle within the window (one error for all of it, less where many counts are passed),
    and `creep`: standard deviation of the path of a contact per its length.
    """
    for i in range(len(out)):
        r = parameters[i, 0]
        d = parameters[i, 1]
        ends = ((r * wheel_step)**2 + (d * steering_step)**2) / 12.0
        path = r * math.hypot(sums[i, 0], sums[i, 1])
        passed = 1.0
        if steering_step > 0.0:
            passed += travel[i, 1] / steering_step
        held = (path * steering_step)**2 / 12.0 / passed
        out[i] = ends + held + (creep * travel[i, 0])**2


@kernel
def eliminate(value, of_step, of_parameters, variance, step, of, spread):
    """
    Whiten a window, eliminate (p, φ) by Householder reflections; the rows from 3 on remain.

    `value` (2n,), `of_step` (2n, 3) and `of_parameters` (2n, 5n) are overwritten: their rows from
    3 on do not depend on (p, φ) and have unit variance. `step` (3,) is the change of (p, φ) that
    fits best, `of` (3, 5n) its derivative by the parameters, `spread` S (3, 3) with SSᵀ its
    covariance.
    Returns False if (p, φ) is not determined.
    """
    m, k = of_parameters.shape
    for j in range(m):
        scale = 1.0 / math.sqrt(variance[j // 2])
        value[j] *= scale
        for a in range(3):
            of_step[j, a] *= scale
        for a in range(k):
            of_parameters[j, a] *= scale
    for a in range(3):
        size = 0.0
        for j in range(a, m):
            size += of_step[j, a]**2
        if not size > 0.0:
            return False
        size = math.sqrt(size)
        head = of_step[a, a] + (size if of_step[a, a] >= 0.0 else -size)
        square = head * head
        for j in range(a + 1, m):
            square += of_step[j, a]**2
        for b in range(a + 1, 3):
            dot = head * of_step[a, b]
            for j in range(a + 1, m):
                dot += of_step[j, a] * of_step[j, b]
            dot *= 2.0 / square
            of_step[a, b] -= dot * head
            for j in range(a + 1, m):
                of_step[j, b] -= dot * of_step[j, a]
        for b in range(k):
            dot = head * of_parameters[a, b]
            for j in range(a + 1, m):
                dot += of_step[j, a] * of_parameters[j, b]
            dot *= 2.0 / square
            of_parameters[a, b] -= dot * head
            for j in range(a + 1, m):
                of_parameters[j, b] -= dot * of_step[j, a]
        dot = head * value[a]
        for j in range(a + 1, m):
            dot += of_step[j, a] * value[j]
        dot *= 2.0 / square
        value[a] -= dot * head
        for j in range(a + 1, m):
            value[j] -= dot * of_step[j, a]
        of_step[a, a] = -size if head > 0.0 else size
    # back substitution: step = −U⁻¹ value, of = −U⁻¹ of_parameters
    for a in range(2, -1, -1):
        if of_step[a, a] == 0.0:
            return False
        rest = -value[a]
        for b in range(a + 1, 3):
            rest -= of_step[a, b] * step[b]
        step[a] = rest / of_step[a, a]
        for c in range(k):
            rest = -of_parameters[a, c]
            for b in range(a + 1, 3):
                rest -= of_step[a, b] * of[b, c]
            of[a, c] = rest / of_step[a, a]
        for c in range(3):
            rest = 1.0 if a == c else 0.0
            for b in range(a + 1, 3):
                rest -= of_step[a, b] * spread[b, c]
            spread[a, c] = rest / of_step[a, a]
    return True


@kernel
def in_sizes(parameters, value, of_parameters):
    """
    Correct the derivatives of whitened residuals for the scale of the robot.

    F and the deviations that whiten it are lengths of the robot: with all lengths larger by one
    factor the whitened residual is the same. Derivatives at fixed deviations would let residuals
    shrink with the robot, and slip, of either sign, would make all lengths smaller. With the scale
    s as the mean of ln r, ∂(F/s) = ∂F − F ∂s.
    """
    n = len(parameters)
    for i in range(n):
        part = 1.0 / (n * parameters[i, 0])
        for j in range(len(value)):
            of_parameters[j, PER_CASTER * i] -= value[j] * part


@kernel
def windows(parameters, steering, wheel, cut, noise, value, jacobian, step, of, spread, travels):
    """
    Compute all windows of a recording.

    Parameters
    ----------
    parameters : (n, 5) array
    steering, wheel : (k, n) arrays, rad
        Measured, continuous.
    cut : (w, 2) array of int
        First and last row of each window.
    noise : (3,) array
        Encoder steps of wheel and steering [rad], creep [1].
    value : (w, 2n − 3) array
        Whitened residuals that do not depend on the motion.
    jacobian : (w, 2n − 3, 5n) array
    step : (w, 3) array
        (p, φ) of each window, in its first frame, m and rad.
    of : (w, 3, 5n) array
        Its derivative.
    spread : (w, 3, 3) array
        S with SSᵀ its covariance.
    travels : (w,) array, m
        Mean path of the casters; −1 for a window without a solution.
    """
    n = steering.shape[1]
    sums = np.zeros((n, 3))
    slopes = np.zeros((2 * n, PER_CASTER * n))
    heading = np.zeros(1 + PER_CASTER * n)
    travel = np.zeros((n, 2))
    f = np.empty(2 * n)
    g = np.empty((2 * n, 3))
    h = np.empty((2 * n, PER_CASTER * n))
    middle = np.empty(n)
    rolled = np.empty(n)
    turned = np.empty(n)
    variance = np.empty(n)
    for w in range(len(cut)):
        clear(sums, slopes, heading, travel)
        good = True
        for k in range(cut[w, 0], cut[w, 1]):
            for i in range(n):
                turned[i] = steering[k + 1, i] - steering[k, i]
                rolled[i] = wheel[k + 1, i] - wheel[k, i]
                middle[i] = steering[k, i] + 0.5 * turned[i]
            good = good and accumulate(parameters, middle, rolled, turned, sums, slopes, heading,
                                       travel)
        window_rows(parameters, steering[cut[w, 0]], sums, slopes, heading, f, g, h)
        variances(parameters, sums, travel, noise[0], noise[1], noise[2], variance)
        good = good and eliminate(f, g, h, variance, step[w], of[w], spread[w])
        step[w, 2] += heading[0]
        in_sizes(parameters, f[3:], h[3:])
        value[w] = f[3:]
        jacobian[w] = h[3:]
        travels[w] = travel[:, 0].mean() if good else -1.0
