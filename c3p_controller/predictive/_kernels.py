# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN201, ANN202 (the compiler infers the types)
"""
Compiled motion of a caster robot in discrete time, its cost along a path, and their derivatives.

State ``x = [X, Y, φ, vx, vy, ω, θ_1 … θ_n]``: pose on the floor, twist in ``base_link``, steering;
input τ (n,) or, with those of the steering axes, (2n,), steps `dt` (N,) by the midpoint rule.
`model` is that of ``packed_model`` in _caster_equations.py.

Reference rows ``[X, Y, φ, Ẋ, Ẏ, ω, χ]``: pose, velocity on the floor and χ, the direction of the
path. The cost is ½ the sum over the horizon of weighted squares of

    across and along the path, φ, the velocity across and along, ω, τ, dτ/dt, and 2 sin(Δ_i/2)

with Δ_i the angle between a caster and the desired direction of its pivot. Without the last term
a caster that rolls backwards, which is equally exact but unstable, would stay so. The rate dτ/dt
of a step is the change of its torques from those before by the step, (τ_k − τ_{k−1})/dt_k.

Nothing is allocated: work memory is in the states of states.py.
"""

from __future__ import annotations

import math

from c3p_controller.predictive.states import (
    ALIGNMENT,
    COMMON,
    FIRST,
    LINE,
    RIPPLE,
    SECOND,
    TORQUE,
    TORQUE_RATE,
    TURNING,
    TURNING_RATE,
)
from c3p_dynamics._caster_equations import ALONG, COS, RATE, SIN, forward, forward_derivatives
from c3p_kernels.compiled import inner, kernel

# sum of the squared sines of both wheels to that line below which they are near it: 10° each
COMMON_LINE = 0.06

# a yaw rate error below this is ripple, above it a manoeuvre, rad/s
RIPPLE_RATE = 0.1

# largest angle of a caster that trails from the desired direction of its pivot, rad
TRAILING = 0.3

# yaw rate of a reference that turns, rad/s
TURN = 0.02

# the alignment of pivots with a desired speed below this is de-weighted, m/s
ALIGNMENT_SPEED = 0.03


@kernel
def state_rate(model, x, torque, wrench, rate_out):
    """Write dx/dt into `rate_out`."""
    casters = model[2]
    n = len(casters)
    vx = x[3]
    vy = x[4]
    w = x[5]
    # the pose moves with the twist turned to the floor
    c, s = math.cos(x[2]), math.sin(x[2])
    rate_out[0] = c * vx - s * vy
    rate_out[1] = s * vx + c * vy
    rate_out[2] = w
    forward(model, x[6:6 + n], x[3:6], torque, wrench, rate_out[3:6])
    for i in range(n):
        rate_out[6 + i] = casters[i, RATE]


@kernel
def advance(model, x, torque, wrench, dt, rate_out, after_out):
    """Write the state one midpoint step of `dt` later into `after_out`, its rate beside it."""
    size = len(x)
    state_rate(model, x, torque, wrench, rate_out)
    for j in range(size):
        after_out[j] = x[j] + 0.5 * dt * rate_out[j]
    state_rate(model, after_out, torque, wrench, rate_out)
    for j in range(size):
        after_out[j] = x[j] + dt * rate_out[j]


@inner
def slopes(model, x, torque, wrench, linear, fx_out, fu_out):
    """
    Write the derivatives of dx/dt by x into `fx_out` and by τ into `fu_out`, rows 3 to 5.

    `linear` is a Linearisation; its ``rate`` becomes dx/dt.
    """
    geometry, _, casters, _ = model
    n = len(geometry)
    rate = linear.rate
    forward_derivatives(model, x[6:6 + n], x[3:6], torque, wrench,
                        (linear.accel, linear.steering_slope, linear.twist_slope, fu_out))
    vx = x[3]
    vy = x[4]
    w = x[5]
    c, s = math.cos(x[2]), math.sin(x[2])
    rate[0] = c * vx - s * vy
    rate[1] = s * vx + c * vy
    rate[2] = w
    # pose by φ and twist
    fx_out[0, 2] = -rate[1]
    fx_out[0, 3] = c
    fx_out[0, 4] = -s
    fx_out[1, 2] = rate[0]
    fx_out[1, 3] = s
    fx_out[1, 4] = c
    fx_out[2, 5] = 1.0
    # twist by twist and steering
    for j in range(3):
        rate[3 + j] = linear.accel[j]
        for k in range(3):
            fx_out[3 + j, 3 + k] = linear.twist_slope[j, k]
        for i in range(n):
            fx_out[3 + j, 6 + i] = linear.steering_slope[j, i]
    # steering by twist and itself
    for i in range(n):
        d = geometry[i, 2]
        c = casters[i, COS]
        s = casters[i, SIN]
        az = s * geometry[i, 0] - c * geometry[i, 1]
        rate[6 + i] = casters[i, RATE]
        fx_out[6 + i, 3] = -c / d
        fx_out[6 + i, 4] = -s / d
        fx_out[6 + i, 5] = -az / d - 1.0
        fx_out[6 + i, 6 + i] = -casters[i, ALONG] / d


@inner
def linearise(model, plan, k, wrench):
    """Write the derivatives A and B of `advance` at step k of a Plan, by x and by τ."""
    linear = plan.linear
    # by the state, whose sizes may be constants of the compiler
    size = len(linear.rate)
    n = linear.fu1.shape[1]
    x = plan.states[k]
    torque = plan.torques[k]
    dt = plan.dt[k]
    a = plan.by_state[k]
    b = plan.by_torque[k]
    f1 = linear.fx1
    g1 = linear.fu1
    f2 = linear.fx2
    g2 = linear.fu2
    slopes(model, x, torque, wrench, linear, f1, g1)
    for j in range(size):
        linear.middle[j] = x[j] + 0.5 * dt * linear.rate[j]
    slopes(model, linear.middle, torque, wrench, linear, f2, g2)
    # A = I + dt F2 (I + dt/2 F1), B = dt (G2 + dt/2 F2 G1); nothing depends on X and Y
    h = 0.5 * dt
    for j in range(size):
        row = a[j]
        row[0] = 0.0
        row[1] = 0.0
        for m in range(2, size):
            row[m] = f2[j, m]
        # by rows of F1, and most of F2 is zero
        for i in range(2, size):
            if f2[j, i] != 0.0:
                part = h * f2[j, i]
                for m in range(2, size):
                    row[m] += part * f1[i, m]
        for m in range(2, size):
            row[m] *= dt
        for m in range(n):
            total = 0.0
            for i in range(3):
                total += f2[j, 3 + i] * g1[i, m]
            b[j, m] = dt * h * total
        a[j, j] += 1.0
    for j in range(3):
        for m in range(n):
            b[3 + j, m] += dt * g2[j, m]


@kernel
def roll_out(model, start, torques, wrench, dt, rate_out, states_out):
    """Write the states that `torques` give from `start`, and the rate of the last."""
    for j in range(len(start)):
        states_out[0, j] = start[j]
    for k in range(len(torques)):
        advance(model, states_out[k], torques[k], wrench, dt[k], rate_out, states_out[k + 1])


@kernel
def residuals(x, reference, residual_out):
    """Write the six unweighted residuals of a state into `residual_out`."""
    c, s = math.cos(reference[6]), math.sin(reference[6])
    dx, dy = x[0] - reference[0], x[1] - reference[1]
    cf, sf = math.cos(x[2]), math.sin(x[2])
    ex = cf * x[3] - sf * x[4] - reference[3]
    ey = sf * x[3] + cf * x[4] - reference[4]
    residual_out[0] = c * dy - s * dx
    residual_out[1] = c * dx + s * dy
    residual_out[2] = x[2] - reference[2]
    residual_out[3] = c * ey - s * ex
    residual_out[4] = c * ex + s * ey
    residual_out[5] = x[5] - reference[5]


@kernel
def misalignment(geometry, x, reference, i):
    """Return Δ_i/2 of caster `i`, rad, and the weight of its direction, 0 to 1."""
    # desired velocity of the pivot over the floor
    c, s = math.cos(reference[2]), math.sin(reference[2])
    vx = reference[3] - reference[5] * (s * geometry[i, 0] + c * geometry[i, 1])
    vy = reference[4] + reference[5] * (c * geometry[i, 0] - s * geometry[i, 1])
    square = vx * vx + vy * vy
    part = square / (square + ALIGNMENT_SPEED * ALIGNMENT_SPEED)
    if part < 1e-3:
        return 0.0, 0.0
    # θ = 0 rolls along +Y of the platform
    return 0.5 * (x[2] + x[6 + i] + 0.5 * math.pi - math.atan2(vy, vx)), part


@kernel
def common_line(x, weight):
    """
    Return how near the rolling lines of two wheels are to one, 1 to 0, and the slopes by θ.

    On one line along the travel two driven wheels give no moment and no force across it.
    """
    # θ = 0 rolls along +Y of the platform
    a = x[6 + int(weight[FIRST])] + 0.5 * math.pi - weight[LINE]
    b = x[6 + int(weight[SECOND])] + 0.5 * math.pi - weight[LINE]
    near = 1.0 - (math.sin(a) ** 2 + math.sin(b) ** 2) / COMMON_LINE
    if near <= 0.0:
        return 0.0, 0.0, 0.0
    return near, -math.sin(2.0 * a) / COMMON_LINE, -math.sin(2.0 * b) / COMMON_LINE


@kernel
def trailing_part(geometry, x, reference):
    """
    Return how far all casters trail in the desired direction, 1 to 0.

    1 within TRAILING of it, 0 from twice as far: then the platform yaws to turn them. 0 if a pivot
    has no desired direction.
    """
    most = 0.0
    for i in range(len(geometry)):
        half, part = misalignment(geometry, x, reference, i)
        if part < 0.5:
            return 0.0
        # the sine of Δ/2 has no turns
        most = max(most, 2.0 * math.asin(min(abs(math.sin(half)), 1.0)))
    return min(max(2.0 - most / TRAILING, 0.0), 1.0)


@kernel
def calm(geometry, x, full, dither, reference_out, weights_out):
    """
    Write `full` (k,) into the weights of ripple and add `dither` (k, 2) to φ and ω of a reference.

    Both in full where the reference turns faster than TURN and the casters trail. On lines and at
    goals the weight would take torque from the path, most of all across a slope.
    """
    trailing = trailing_part(geometry, x, reference_out[0])
    for k in range(len(weights_out)):
        square = reference_out[k, 5]**2
        part = trailing * square / (square + TURN * TURN)
        weights_out[k, RIPPLE] = part * full[k]
        reference_out[k, 2] += part * dither[k, 0]
        reference_out[k, 5] += part * dither[k, 1]


@kernel
def dither_at(now, times, size, frequency, dither_out):
    """Write a dither of the yaw rate at `times` (k,) from `now` on as angle and rate (k, 2)."""
    for k in range(len(times)):
        phase = frequency * (now + times[k])
        dither_out[k, 0] = size * (-math.cos(phase) / frequency)
        dither_out[k, 1] = size * math.sin(phase)


@kernel
def cost_of(geometry, plan, states, torques):
    """
    Return the cost of a trajectory for the reference and the weights of a Plan.

    The last row of the weights is that of the last state.
    """
    reference = plan.rows
    weights = plan.weights
    dt = plan.dt
    residual_out = plan.residual
    total = 0.0
    (steps, m), n = torques.shape, len(geometry)
    for k in range(steps + 1):
        if k > 0:
            residuals(states[k], reference[k], residual_out)
            scale = dt[k - 1] if k < steps else 1.0
            for j in range(6):
                total += 0.5 * scale * weights[k, j] * residual_out[j] * residual_out[j]
            # ½ e² for small e, RIPPLE_RATE |e| for large ones
            total += scale * weights[k, RIPPLE] * RIPPLE_RATE**2 * (
                math.sqrt(1.0 + (residual_out[5] / RIPPLE_RATE) ** 2) - 1.0)
            if weights[k, ALIGNMENT] > 0.0:
                for i in range(n):
                    half, part = misalignment(geometry, states[k], reference[k], i)
                    total += 2.0 * scale * weights[k, ALIGNMENT] * part * math.sin(half) ** 2
            if weights[k, COMMON] > 0.0:
                near, _, _ = common_line(states[k], weights[k])
                total += 0.5 * scale * weights[k, COMMON] * near * near
        if k < steps:
            for i in range(m):
                weight = weights[k, TORQUE if i < n else TURNING]
                total += 0.5 * dt[k] * weight * torques[k, i] ** 2
                before = torques[k - 1, i] if k > 0 else plan.before[i]
                rate = (torques[k, i] - before) / dt[k]
                total += 0.5 * dt[k] * weights[k, TORQUE_RATE if i < n else TURNING_RATE] * rate**2
    return total


@inner
def expand(geometry, plan, k, scale):
    """Write gradient and Gauss-Newton Hessian of the cost of state k of a Plan times `scale`."""
    x = plan.states[k]
    reference = plan.rows[k]
    weight = plan.weights[k]
    gradient = plan.gradients[k]
    hessian = plan.hessians[k]
    jac = plan.jacobian
    r = plan.residual
    size = len(plan.value_slope)
    c, s = math.cos(reference[6]), math.sin(reference[6])
    cf, sf = math.cos(x[2]), math.sin(x[2])
    u = cf * x[3] - sf * x[4]
    v = sf * x[3] + cf * x[4]
    for i in range(6):
        for j in range(6):
            jac[i, j] = 0.0
    jac[0, 0] = -s
    jac[0, 1] = c
    jac[1, 0] = c
    jac[1, 1] = s
    jac[2, 2] = 1.0
    # Jacobian of the residuals: the velocity on the floor by φ, vx, vy
    jac[3, 2] = c * u + s * v
    jac[3, 3] = c * sf - s * cf
    jac[3, 4] = c * cf + s * sf
    jac[4, 2] = s * u - c * v
    jac[4, 3] = c * cf + s * sf
    jac[4, 4] = s * cf - c * sf
    jac[5, 5] = 1.0
    residuals(x, reference, r)
    # gradient = Jᵀ W r, Hessian = Jᵀ W J (Gauss-Newton)
    for j in range(size):
        gradient[j] = 0.0
        for m in range(size):
            hessian[j, m] = 0.0
    for i in range(6):
        q = scale * weight[i]
        if i == 5:
            # its Hessian is that of the parabola with the same slope, which is above it
            q += scale * weight[RIPPLE] / math.sqrt(1.0 + (r[5] / RIPPLE_RATE) ** 2)
        for j in range(6):
            if jac[i, j] != 0.0:
                gradient[j] += q * jac[i, j] * r[i]
                for m in range(6):
                    hessian[j, m] += q * jac[i, j] * jac[i, m]
    # 2 sin²(Δ/2) depends on φ and θ_i alone
    if weight[ALIGNMENT] > 0.0:
        for i in range(len(geometry)):
            half, part = misalignment(geometry, x, reference, i)
            q = scale * weight[ALIGNMENT] * part
            slope = q * math.sin(2.0 * half)
            curve = q * math.cos(half) ** 2
            for j in (2, 6 + i):
                gradient[j] += slope
                for m in (2, 6 + i):
                    hessian[j, m] += curve
    if weight[COMMON] > 0.0:
        near, by_first, by_second = common_line(x, weight)
        q = scale * weight[COMMON]
        i = 6 + int(weight[FIRST])
        j = 6 + int(weight[SECOND])
        gradient[i] += q * near * by_first
        gradient[j] += q * near * by_second
        hessian[i, i] += q * by_first * by_first
        hessian[j, j] += q * by_second * by_second
        hessian[i, j] += q * by_first * by_second
        hessian[j, i] += q * by_first * by_second


@kernel
def piece_of(x, points):
    """Return the number of the piece of `points` (k,) with x in it, −1 before, k − 1 after."""
    low = 0
    high = len(points) - 1
    if x <= points[low]:
        return -1
    if x >= points[high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if points[middle] <= x:
            low = middle
        else:
            high = middle
    return low


@kernel
def on_piece(piece, x, points, values, j):
    """Return column `j` of `values` (k, m) at x, in `piece` of `points` (k,), as numpy.interp."""
    last = len(points) - 1
    if piece < 0 or piece >= last:
        return values[max(piece, 0), j]
    slope = (values[piece + 1, j] - values[piece, j]) / (points[piece + 1] - points[piece])
    return slope * (x - points[piece]) + values[piece, j]
