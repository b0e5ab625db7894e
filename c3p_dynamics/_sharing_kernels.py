# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled allocation of a force, or of an acceleration, to the motors of wheels and steering axes.

A robot has three freedoms and any number of motors; close to singular poses fewer than three
freedoms are controllable at once. Each function is one method of allocation.py.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.small import solve3

# most steps of `share_weighted`; random problems with up to six wheels needed at most eight
MOST_STEPS = 60

# rounding of a sum relative to its terms: a wheel beyond a limit by less is at the limit
ROUNDING = 1e-12


# weighted target, √(weight)·m/s², that is 0: squares of steps to it would underflow
NO_TARGET = 1e-100


@kernel
def share_damped(wheel, steer, driven, steered, force, weight, torque):
    """
    Allocate F to wheel and steering motors, ``min Σ τ_x² + τ_s²/w``; add it to `torque`.

    `weight` (n,) is w; where `steered` is False the steering motor is virtual, and its torque is
    dropped. `torque` is (n,), or (2n,) with those of the steering axes.

    Returns False, and leaves `torque`, if all motors together do not span the three freedoms (one
    wheel driven of two, a weight close to rounding).
    """
    normal = np.zeros((3, 3))
    z = np.empty(3)
    n = len(wheel)
    for i in range(n):
        for j in range(3):
            for k in range(3):
                normal[j, k] += weight[i] * steer[i, j] * steer[i, k]
                if driven[i]:
                    normal[j, k] += wheel[i, j] * wheel[i, k]
    if not solve3(normal, force, z) > 0.0:
        return False
    for i in range(n):
        if driven[i]:
            torque[i] += wheel[i, 0] * z[0] + wheel[i, 1] * z[1] + wheel[i, 2] * z[2]
        if steered[i]:
            torque[n + i] += weight[i] * (steer[i, 0] * z[0] + steer[i, 1] * z[1]
                                          + steer[i, 2] * z[2])
    return True


@kernel
def share_least_norm(wheel, steer, driven, steered, force, weight, tolerance, torque):
    """Allocate as `share_damped`, by singular values; unreachable parts are dropped."""
    n = len(wheel)
    # not by normal equations, which square the condition
    stack = np.zeros((2 * n, 3))
    for i in range(n):
        for j in range(3):
            stack[n + i, j] = math.sqrt(weight[i]) * steer[i, j]
            if driven[i]:
                stack[i, j] = wheel[i, j]
    left, value, right = np.linalg.svd(stack, False)
    for k in range(3):
        if value[k] > tolerance * value[0]:
            part = (right[k, 0] * force[0] + right[k, 1] * force[1] + right[k, 2] * force[2])
            for i in range(n):
                if driven[i]:
                    torque[i] += left[i, k] * part / value[k]
                if steered[i]:
                    torque[n + i] += math.sqrt(weight[i]) * left[n + i, k] * part / value[k]


@inlined
def _missing(reach, ridge, low, high, w0, w1, w2, z0, z1, z2, d0, d1, d2, far, first):
    """Return ``d·(residual at z + far d)``, from its value `first` at z; falls with `far`."""
    left = first - far * ridge * (d0 * d0 + d1 * d1 + d2 * d2)
    for i in range(len(low)):
        b0 = w0 * reach[0, i]
        b1 = w1 * reach[1, i]
        b2 = w2 * reach[2, i]
        pull = b0 * z0 + b1 * z1 + b2 * z2
        more = b0 * d0 + b1 * d1 + b2 * d2
        before = min(max(pull, low[i]), high[i])
        left -= more * (min(max(pull + far * more, low[i]), high[i]) - before)
    return left


@kernel
def _root_along(reach, ridge, low, high, w0, w1, w2, z0, z1, z2, d0, d1, d2, first):
    """Return the distance along d at which the residual along d is 0; `first` is that at z."""
    near = 0.0
    far = math.inf
    at_near = first
    for i in range(len(low)):
        b0 = w0 * reach[0, i]
        b1 = w1 * reach[1, i]
        b2 = w2 * reach[2, i]
        pull = b0 * z0 + b1 * z1 + b2 * z2
        more = b0 * d0 + b1 * d1 + b2 * d2
        if more != 0.0:
            for limit in (low[i], high[i]):
                bend = (limit - pull) / more
                if near < bend < far:
                    left = _missing(reach, ridge, low, high, w0, w1, w2, z0, z1, z2, d0, d1, d2,
                                    bend, first)
                    if left > 0.0:
                        near = bend
                        at_near = left
                    else:
                        far = bend
    # linear between `near` and `far`, with the slope of the wheels that are free there
    middle = 0.5 * (near + far) if far < math.inf else near + 1.0
    slope = ridge * (d0 * d0 + d1 * d1 + d2 * d2)
    for i in range(len(low)):
        b0 = w0 * reach[0, i]
        b1 = w1 * reach[1, i]
        b2 = w2 * reach[2, i]
        more = b0 * d0 + b1 * d1 + b2 * d2
        if low[i] < b0 * z0 + b1 * z1 + b2 * z2 + middle * more < high[i]:
            slope += more * more
    return near + at_near / slope


@inlined
def _sizable(target):
    """Return a weighted target, 0 below `NO_TARGET`."""
    return target if abs(target) >= NO_TARGET else 0.0


@kernel
def share_weighted(reach, target, weight, ridge, low, high, torque):
    """
    Write the torque (n,) that comes nearest to `target` (3,) within ``low ≤ τ ≤ high``.

    Minimises ``Σⱼ wⱼ (target − B τ)ⱼ² + ρ |τ|²`` with B = `reach` (3, n), w = `weight` (3,) ≥ 0
    and ρ = `ridge` > 0. Exact and without memory of its own: with B̃ = √w B and b̃ = √w target the
    optimum is ``τ = clip(B̃ᵀz)`` where ``ρ z + B̃ clip(B̃ᵀz) = b̃``, the root of a monotone function
    of three variables that is linear between the places where a wheel meets a limit. Newton's
    method, with an exact search along each step, ends in the linear piece of the root.

    Returns the number of steps, or 0 where `MOST_STEPS` were not enough; the torque then is the
    best found, and within its limits.
    """
    n = len(torque)
    w0 = math.sqrt(weight[0])
    w1 = math.sqrt(weight[1])
    w2 = math.sqrt(weight[2])
    t0 = _sizable(w0 * target[0])
    t1 = _sizable(w1 * target[1])
    t2 = _sizable(w2 * target[2])
    z0 = 0.0
    z1 = 0.0
    z2 = 0.0
    for step in range(1, MOST_STEPS + 1):
        # the residual at z, and the matrix of the linear piece that contains z
        r0 = t0 - ridge * z0
        r1 = t1 - ridge * z1
        r2 = t2 - ridge * z2
        m00 = ridge
        m01 = 0.0
        m02 = 0.0
        m11 = ridge
        m12 = 0.0
        m22 = ridge
        for i in range(n):
            b0 = w0 * reach[0, i]
            b1 = w1 * reach[1, i]
            b2 = w2 * reach[2, i]
            pull = b0 * z0 + b1 * z1 + b2 * z2
            if low[i] < pull < high[i]:
                m00 += b0 * b0
                m01 += b0 * b1
                m02 += b0 * b2
                m11 += b1 * b1
                m12 += b1 * b2
                m22 += b2 * b2
            torque[i] = min(max(pull, low[i]), high[i])
            r0 -= b0 * torque[i]
            r1 -= b1 * torque[i]
            r2 -= b2 * torque[i]
        l1 = m01 / m00
        l2 = m02 / m00
        p1 = m11 - l1 * m01
        s2 = m12 - l2 * m01
        l3 = s2 / p1
        y1 = r1 - l1 * r0
        d2 = (r2 - l2 * r0 - l3 * y1) / (m22 - l2 * m02 - l3 * s2)
        d1 = y1 / p1 - l3 * d2
        d0 = r0 / m00 - l1 * d1 - l2 * d2
        # the step ends at the root unless a wheel meets or leaves a limit before it
        bent = False
        for i in range(n):
            b0 = w0 * reach[0, i]
            b1 = w1 * reach[1, i]
            b2 = w2 * reach[2, i]
            pull = b0 * z0 + b1 * z1 + b2 * z2
            after = pull + b0 * d0 + b1 * d1 + b2 * d2
            slack = ROUNDING * (abs(b0 * z0) + abs(b1 * z1) + abs(b2 * z2)
                                + abs(b0 * d0) + abs(b1 * d1) + abs(b2 * d2))
            if pull >= high[i]:
                bent = bent or after < high[i] - slack
            elif pull <= low[i]:
                bent = bent or after > low[i] + slack
            else:
                bent = bent or not low[i] - slack <= after <= high[i] + slack
                torque[i] = min(max(after, low[i]), high[i])
        if not bent:
            return step
        part = _root_along(reach, ridge, low, high, w0, w1, w2, z0, z1, z2, d0, d1, d2,
                           d0 * r0 + d1 * r1 + d2 * r2)
        z0 = z0 + part * d0
        z1 = z1 + part * d1
        z2 = z2 + part * d2
    return 0
