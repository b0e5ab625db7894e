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
from typing import NamedTuple

import numpy as np

from c3p_kernels.compiled import inner, kernel
from c3p_kernels.elementary import circle
from c3p_kernels.small import RANK_TOLERANCE, solve3
from c3p_kinematics.calibration.calibration_states import MotionWindow, WindowEquations

cut_window = MotionWindow.cut
cut_equations = WindowEquations.cut

# parameters of a caster: radius, offset, hip x, hip y, zero
PER_CASTER = 5

# turn of a wheel within a step [rad] above which the chord is shorter than the arc by its series
CHORD = 1.0 / 24.0


@kernel
def begin_window(block, n):
    """Begin a window of n casters in the block of a MotionWindow."""
    clear(cut_window(block, n))


@kernel
def add_step(block, parameters, steering, rolled, turned):
    """Add one step to the block of a MotionWindow, see `accumulate`."""
    return accumulate(parameters, steering, rolled, turned, cut_window(block, len(steering)))


@inner
def clear(window):
    """Begin a window, whose steering angles at the begin the first step writes."""
    window.sums[:] = 0.0
    window.slopes[:] = 0.0
    window.turn[0] = 0.0
    window.by_parameter[:] = 0.0
    window.travel[:] = 0.0


@kernel
def rate_rows(parameters, steering, rates, factors, twist, residual, slopes, rows):
    """
    Write the twist of one step, the residuals (n, 2) [along, across], and their derivatives.

    `rates` are those of wheels and steering axes, or increments. Both sides of each row have its
    factor of `factors` (n, 3), see c3p_description/wheels.py, beside which b of the wheel stands:
    a length that is not calibrated. `slopes` (n, 2, 5) are
    ∂(residual)/∂(parameters of the same caster) at a fixed twist, `rows` (n, 2, 3) those of the
    contact velocities. Returns False if all contact points coincide.
    """
    wheel, steer = rates
    n = len(steering)
    normal = np.zeros((3, 3))
    right = np.zeros(3)
    lever = 0.0
    for i in range(n):
        r = parameters[i, 0]
        d = parameters[i, 1]
        x = parameters[i, 2]
        y = parameters[i, 3]
        b = factors[i, 2]
        lever += d * d
        c, s = circle(steering[i] + parameters[i, 4])
        rows[i, 0, 0] = -s
        rows[i, 0, 1] = c
        rows[i, 0, 2] = s * y + c * x + b
        rows[i, 1, 0] = c
        rows[i, 1, 1] = s
        rows[i, 1, 2] = s * x - c * y + d
        residual[i, 0], residual[i, 1] = r * wheel[i] - b * steer[i], -d * steer[i]
        for a in range(2):
            residual[i, a] *= factors[i, a]
            for j in range(3):
                rows[i, a, j] *= factors[i, a]
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
        c, s = circle(steering[i] + parameters[i, 4])
        along = -s * twist[0] + c * twist[1] + (
            s * parameters[i, 3] + c * parameters[i, 2]) * w
        across = c * twist[0] + s * twist[1] + (
            s * parameters[i, 2] - c * parameters[i, 3] + parameters[i, 1]) * w
        residual[i, 0] -= factors[i, 0] * (along + factors[i, 2] * w)
        residual[i, 1] -= factors[i, 1] * across
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
        for a in range(2):
            for p in range(PER_CASTER):
                slopes[i, a, p] *= factors[i, a]
    return True


@kernel
def pivot_path(parameters, steering, twist, i):
    """Return the path of pivot `i` along its wheel, e·(v + ω ẑ×m), in the unit of `twist`."""
    c, s = circle(steering[i] + parameters[i, 4])
    lever = s * parameters[i, 3] + c * parameters[i, 2]
    return c * twist[1] - s * twist[0] + lever * twist[2]


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


@inner
def accumulate(parameters, steering, rolled, turned, window):
    """
    Add one step to a window.

    Parameters
    ----------
    parameters : (n, 5) array
    steering : (n,) array, rad
        Measured, halfway, without the error of the zero.
    rolled, turned : (n,) arrays, rad
        Increments of wheel and steering angles.
    window : MotionWindow
        Updated.

    Returns
    -------
    bool
        False if all contact points coincide; the step is then not added.
    """
    n = len(steering)
    sums = window.sums
    slopes = window.slopes
    by_parameter = window.by_parameter
    travel = window.travel
    twist = np.empty(3)
    residual = np.empty((n, 2))
    own = np.empty((n, 2, PER_CASTER))
    rows = np.empty((n, 2, 3))
    gain = np.empty((n, 2))
    if not rate_rows(parameters, steering, (rolled, turned), window.factors, twist, residual, own,
                     rows):
        return False
    yaw_row(rows, gain)
    middle = window.turn[0] + 0.5 * twist[2]
    # derivative of φ halfway: half of this step's change before, half after the integral
    for i in range(n):
        for p in range(PER_CASTER):
            by_parameter[PER_CASTER * i + p] += 0.5 * (gain[i, 0] * own[i, 0, p]
                                                       + gain[i, 1] * own[i, 1, p])
    for i in range(n):
        c, s = circle(middle + steering[i] + parameters[i, 4])
        arc = turned[i] + twist[2]
        roll = rolled[i]
        # a wheel without encoder rolls as its contact moves
        if window.factors[i, 0] == 0.0:
            path = pivot_path(parameters, steering, twist, i) + window.factors[i, 2] * arc
            roll = path / parameters[i, 0]
        length = roll * (1.0 - CHORD * arc * arc)
        ex, ey = -s * length, c * length
        sums[i, 0] += ex
        sums[i, 1] += ey
        sums[i, 2] += turned[i]
        travel[i, 0] += abs(parameters[i, 0] * roll) + abs(parameters[i, 1] * arc)
        travel[i, 1] += abs(turned[i])
        # d e/dψ is e, turned by 90°
        px, py = -parameters[i, 0] * ey, parameters[i, 0] * ex
        for k in range(PER_CASTER * n):
            slopes[2 * i, k] += px * by_parameter[k]
            slopes[2 * i + 1, k] += py * by_parameter[k]
    window.turn[0] += twist[2]
    for i in range(n):
        for p in range(PER_CASTER):
            by_parameter[PER_CASTER * i + p] += 0.5 * (gain[i, 0] * own[i, 0, p]
                                                       + gain[i, 1] * own[i, 1, p])
    return True


@inner
def window_rows(parameters, window, equations):
    """
    Write F of a window and its derivatives by (p, φ) and parameters to the equations.

    F is at p = 0 and the integrated φ.
    """
    begin = window.begin
    sums = window.sums
    value = equations.value
    of_step = equations.of_step
    of_parameters = equations.of_parameters
    n = len(begin)
    phi = window.turn[0]
    cp, sp = circle(phi)
    for j in range(2 * n):
        for k in range(PER_CASTER * n):
            of_parameters[j, k] = -window.slopes[j, k]
    for i in range(n):
        r = parameters[i, 0]
        d = parameters[i, 1]
        x = parameters[i, 2]
        y = parameters[i, 3]
        b = window.factors[i, 2]
        c, s = circle(begin[i] + parameters[i, 4])
        c1, s1 = circle(begin[i] + sums[i, 2] + parameters[i, 4] + phi)
        # R(φ) c_i(end) and c_i(begin)
        ax, ay = cp * x - sp * y + d * s1 + b * c1, sp * x + cp * y - d * c1 + b * s1
        bx, by = x + d * s + b * c, y - d * c + b * s
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
        of_parameters[j, k + 4] += d * (c1 - c) - b * (s1 - s) + r * sums[i, 1]
        of_parameters[j + 1, k + 4] += d * (s1 - s) + b * (c1 - c) - r * sums[i, 0]


@inner
def turn_along(window, equations):
    """
    Turn the equations of wheels with a factor other than 1 along and across their paths.

    The path along a wheel without encoder is only known by the others; across it, by its angle
    alone. A chord is along whatever the speed was.
    """
    for i in range(len(window.begin)):
        if window.factors[i, 0] == 1.0 and window.factors[i, 1] == 1.0:
            continue
        ex, ey = window.sums[i, 0], window.sums[i, 1]
        length = math.hypot(ex, ey)
        if length == 0.0:
            c, s = circle(window.begin[i] + 0.5 * (window.sums[i, 2] + window.turn[0]))
            ex, ey = -s, c
            length = 1.0
        ex /= length
        ey /= length
        j = 2 * i
        first = equations.value[j]
        second = equations.value[j + 1]
        equations.value[j] = ex * first + ey * second
        equations.value[j + 1] = ey * first - ex * second
        turn_rows(equations.of_step, j, ex, ey)
        turn_rows(equations.of_parameters, j, ex, ey)


@kernel
def turn_rows(rows, j, ex, ey):
    """Turn the rows j, j + 1 of x and y into those along and across the direction (ex, ey)."""
    for k in range(rows.shape[1]):
        first = rows[j, k]
        second = rows[j + 1, k]
        rows[j, k] = ex * first + ey * second
        rows[j + 1, k] = ey * first - ex * second


@inner
def variances(parameters, window, wheel_step, steering_step, creep, out):
    """
    Write the variance (2n,) of both components of F of each caster, m².

    Rounding of all angles at both ends (Δ²/12 each, the mean of both directions), rounding of the
    steering angle within the window (one error for all of it, less where many counts are passed),
    and `creep`: standard deviation of the path of a contact per its length. A component with a
    factor below 1 has more of it, and is infinite at 0.
    """
    factors = window.factors
    sums = window.sums
    travel = window.travel
    for i in range(len(sums)):
        r = parameters[i, 0]
        d = parameters[i, 1]
        b = factors[i, 2]
        ends = ((r * wheel_step)**2 + (d * steering_step)**2 + (b * steering_step)**2) / 12.0
        path = r * math.hypot(sums[i, 0], sums[i, 1])
        passed = 1.0
        if steering_step > 0.0:
            passed += travel[i, 1] / steering_step
        held = (path * steering_step)**2 / 12.0 / passed
        for a in range(2):
            slip = creep * travel[i, 0] / factors[i, a]
            out[2 * i + a] = ends + held + slip**2 if factors[i, a] > 0.0 else math.inf


@inner
def eliminate(equations):
    """
    Whiten a window, eliminate (p, φ) by Householder reflections; the rows from 3 on remain.

    The equations are overwritten: their rows from 3 on do not depend on (p, φ) and have unit
    variance. Returns False if (p, φ) is not determined.
    """
    value = equations.value
    of_step = equations.of_step
    of_parameters = equations.of_parameters
    variance = equations.variance
    step = equations.step
    of = equations.by_parameters
    spread = equations.spread
    m, k = of_parameters.shape
    for j in range(m):
        scale = 1.0 / math.sqrt(variance[j])
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


class WindowResults(NamedTuple):
    """
    Results of w windows.

    Attributes
    ----------
    value : (w, 2n − 3) array
        Whitened residuals that do not depend on the motion.
    jacobian : (w, 2n − 3, 5n) array
    step : (w, 3) array
        (p, φ) of each window, in its first frame, m and rad.
    of : (w, 3, 5n) array
        Its derivative.
    spread : (w, 3, 3) array
        S with SSᵀ its covariance.
    travel : (w,) array, m
        Mean path of the casters; −1 for a window without a solution.
    """

    value: np.ndarray
    jacobian: np.ndarray
    step: np.ndarray
    of: np.ndarray
    spread: np.ndarray
    travel: np.ndarray


def compute_windows(parameters: np.ndarray, steering: np.ndarray, wheel: np.ndarray,
                    cut: np.ndarray, noise: np.ndarray, factors: np.ndarray | None = None
                    ) -> WindowResults:
    """
    Return all windows of a recording; see `windows`.

    `factors` (n, 3) are those of the rows along and across each wheel, by default 1, and its
    lateral offset, by default 0.
    """
    w = len(cut)
    n = steering.shape[1]
    out = WindowResults(np.empty((w, 2 * n - 3)), np.empty((w, 2 * n - 3, PER_CASTER * n)),
                        np.empty((w, 3)), np.empty((w, 3, PER_CASTER * n)), np.empty((w, 3, 3)),
                        np.empty(w))
    window = MotionWindow.new(n)
    window.factors[:] = (1.0, 1.0, 0.0) if factors is None else factors
    windows(parameters, (steering, wheel), cut, noise, window.block,
            WindowEquations.new(n).block, out)
    return out


@kernel
def windows(parameters, angles, cut, noise, window_block, equations_block, out):
    """
    Compute all windows of a recording.

    Parameters
    ----------
    parameters : (n, 5) array
    angles : two (k, n) arrays, rad
        Of steering and wheels, measured, continuous.
    cut : (w, 2) array of int
        First and last row of each window.
    noise : (3,) array
        Encoder steps of wheel and steering [rad], creep [1].
    window_block, equations_block : arrays
        Of MotionWindow and WindowEquations, work memory.
    out : WindowResults
    """
    steering, wheel = angles
    n = steering.shape[1]
    window = cut_window(window_block, n)
    equations = cut_equations(equations_block, n)
    middle = np.empty(n)
    rolled = np.empty(n)
    turned = np.empty(n)
    for w in range(len(cut)):
        clear(window)
        good = True
        for i in range(n):
            window.begin[i] = steering[cut[w, 0], i]
        for k in range(cut[w, 0], cut[w, 1]):
            for i in range(n):
                turned[i] = steering[k + 1, i] - steering[k, i]
                rolled[i] = wheel[k + 1, i] - wheel[k, i]
                middle[i] = steering[k, i] + 0.5 * turned[i]
            good = good and accumulate(parameters, middle, rolled, turned, window)
        window_rows(parameters, window, equations)
        turn_along(window, equations)
        variances(parameters, window, noise[0], noise[1], noise[2], equations.variance)
        good = good and eliminate(equations)
        in_sizes(parameters, equations.value[3:], equations.of_parameters[3:])
        out.step[w] = equations.step
        out.step[w, 2] += window.turn[0]
        out.of[w] = equations.by_parameters
        out.spread[w] = equations.spread
        out.value[w] = equations.value[3:]
        out.jacobian[w] = equations.of_parameters[3:]
        out.travel[w] = window.travel[:, 0].mean() if good else -1.0
