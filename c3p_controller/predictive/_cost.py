# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled cost of a motion along a path, with its gradient and Gauss-Newton Hessian.

States as in _kernels.py. The reference has rows ``[X, Y, φ, Ẋ, Ẏ, ω, χ]``, with the
velocity on the floor and χ the direction of the path; the cost is ½ the sum over the horizon of
weighted squares of

    across and along the path, φ, the velocity across and along, ω, τ, and 2 sin(Δ_i/2)

with Δ_i the angle between a caster and the way that its pivot is asked to go. Without the last a
caster that rolls backwards, which is no less exact but unstable, would be left as it is.
"""

from __future__ import annotations

import math

from c3p_kinematics.compiled import kernel

# places in a row of weights, behind the six of the platform
TORQUE, ALIGNMENT, WEIGHTS = 6, 7, 8

# pivots that are asked to go slower than this have less of a direction, m/s
ALIGNMENT_SPEED = 0.03


@kernel
def residuals(x, reference, r):
    """Write the six unweighted residuals of a state into `r`."""
    c, s = math.cos(reference[6]), math.sin(reference[6])
    dx, dy = x[0] - reference[0], x[1] - reference[1]
    cf, sf = math.cos(x[2]), math.sin(x[2])
    ex = cf * x[3] - sf * x[4] - reference[3]
    ey = sf * x[3] + cf * x[4] - reference[4]
    r[0], r[1] = c * dy - s * dx, c * dx + s * dy
    r[2] = x[2] - reference[2]
    r[3], r[4] = c * ey - s * ex, c * ex + s * ey
    r[5] = x[5] - reference[5]


@kernel
def misalignment(geometry, x, reference, i):
    """Return Δ_i/2 of caster `i`, rad, and how much its direction counts, 0 to 1."""
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
def cost_of(geometry, states, torques, reference, weights, dt, r):
    """Return the cost of a trajectory; the last row of `weights` is that of the last state."""
    total = 0.0
    steps, n = torques.shape
    for k in range(steps + 1):
        if k > 0:
            residuals(states[k], reference[k], r)
            scale = dt[k - 1] if k < steps else 1.0
            for j in range(6):
                total += 0.5 * scale * weights[k, j] * r[j] * r[j]
            if weights[k, ALIGNMENT] > 0.0:
                for i in range(n):
                    half, part = misalignment(geometry, states[k], reference[k], i)
                    total += 2.0 * scale * weights[k, ALIGNMENT] * part * math.sin(half) ** 2
        if k < steps:
            for i in range(n):
                total += 0.5 * dt[k] * weights[k, TORQUE] * torques[k, i] ** 2
    return total


@kernel
def expand(geometry, x, reference, weight, scale, jac, r, gradient, hessian):
    """
    Write gradient and Gauss-Newton Hessian of a state's cost times `scale`.

    `jac` (6, 6) and `r` (6,) are work memory.
    """
    c, s = math.cos(reference[6]), math.sin(reference[6])
    cf, sf = math.cos(x[2]), math.sin(x[2])
    u, v = cf * x[3] - sf * x[4], sf * x[3] + cf * x[4]
    for i in range(6):
        for j in range(6):
            jac[i, j] = 0.0
    jac[0, 0], jac[0, 1] = -s, c
    jac[1, 0], jac[1, 1] = c, s
    jac[2, 2] = 1.0
    # the velocity on the floor by φ, vx, vy
    jac[3, 2], jac[3, 3], jac[3, 4] = c * u + s * v, c * sf - s * cf, c * cf + s * sf
    jac[4, 2], jac[4, 3], jac[4, 4] = s * u - c * v, c * cf + s * sf, s * cf - c * sf
    jac[5, 5] = 1.0
    residuals(x, reference, r)
    for j in range(len(gradient)):
        gradient[j] = 0.0
        for k in range(len(gradient)):
            hessian[j, k] = 0.0
    for i in range(6):
        q = scale * weight[i]
        for j in range(6):
            if jac[i, j] != 0.0:
                gradient[j] += q * jac[i, j] * r[i]
                for k in range(6):
                    hessian[j, k] += q * jac[i, j] * jac[i, k]
    if weight[ALIGNMENT] > 0.0:
        for i in range(len(geometry)):
            half, part = misalignment(geometry, x, reference, i)
            q = scale * weight[ALIGNMENT] * part
            slope, curve = q * math.sin(2.0 * half), q * math.cos(half) ** 2
            for j in (2, 6 + i):
                gradient[j] += slope
                for k in (2, 6 + i):
                    hessian[j, k] += curve
