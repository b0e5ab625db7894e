# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled differential dynamic programming with bounded inputs (box-DDP, Tassa et al. 2014).

A trajectory is improved by the linear-quadratic problem about it (Gauss-Newton: without the
curvature of the dynamics). It is solved backwards in time, with a small box-constrained quadratic
program at each stage, and rolled out forwards with the feedback of the solution, so that every
intermediate trajectory is feasible.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.predictive._kernels import (
    TORQUE,
    TURNING,
    advance,
    cost_of,
    expand,
    linearise,
    roll_out,
    sizes,
)
from c3p_kernels.compiled import borrowed, kernel

# least decrease of the cost by a step, relative to that of the linear model
LEAST_DECREASE = 0.05

# line search: number of steps, and ratio of each to the one before
STEPS_TRIED = 4
SHORTER = 0.4

# damping of the torques: at the begin, the first after a failed direction, the factor to the next,
# the factor after a full step, and the number of trials
DAMPING = 1e-6
FIRST_DAMPING = 1e-5
MORE_DAMPING = 30.0
LESS_DAMPING = 0.1
DAMPINGS = 6

# casters of the robot for which the kernels are compiled with constant sizes, which saves a fifth
# of the time of a solution; one more robot would cost seconds of compilation
USUAL = 3


def exact_sizes(casters: int, efforts: int) -> tuple[int, ...]:
    """Return the argument `exact` of `sizes` for a robot: not empty for the usual one."""
    return (0,) * (6 + casters) if casters == efforts == USUAL else ()


def workspace(steps: int, casters: int, efforts: int | None = None) -> tuple:
    """Return the work memory of `improve`; `efforts` is `casters` by default, or twice that."""
    size = 6 + casters
    count = efforts or casters
    square = (size, size)
    exact = exact_sizes(casters, count)
    linear = (np.empty(3), np.empty((3, casters)), np.empty((3, 3)), np.empty(size),
              np.empty(size), np.zeros(square), np.zeros((3, count)), np.zeros(square),
              np.zeros((3, count)), exact)
    stage = (np.empty(square), np.empty(square), np.empty((count, size)), np.empty((count, count)),
             np.empty(size), np.empty(count), np.empty(count), np.empty(count),
             np.empty(count, np.bool_), np.zeros((count, count)), np.empty(size), exact)
    problem = (np.empty((steps, size, size)), np.empty((steps, size, count)),
               np.zeros((steps + 1, size)), np.zeros((steps + 1, size, size)),
               np.zeros((steps, count)), np.empty(size), np.empty(square))
    trial = (np.empty((steps + 1, size)), np.empty((steps, count)))
    return linear, stage, problem, trial, np.empty(size), np.empty(6), np.empty((6, 6))


@kernel
def box_step(hessian, gradient, lower, upper, step, free, factor, exact):
    """
    Minimise ``½ pᵀHp + gᵀp`` for ``lower ≤ p ≤ upper`` by an active set; H is small.

    Writes p into `step`, the free set into `free`, the Cholesky factor of the free rows into
    `factor`. Returns False when H is not positive definite there. `exact` is that of `sizes`.
    """
    _, n = sizes(exact, 0, len(gradient))
    for i in range(n):
        free[i] = True
    for _ in range(2 * n + 1):
        # factor with fixed rows replaced by the identity
        for i in range(n):
            for j in range(i + 1):
                total = hessian[i, j] if free[i] and free[j] else (1.0 if i == j else 0.0)
                for k in range(j):
                    total -= factor[i, k] * factor[j, k]
                if i == j:
                    if not total > 0.0:
                        return False
                    factor[i, i] = math.sqrt(total)
                else:
                    factor[i, j] = total / factor[j, j]
        # forward and back substitution; fixed entries keep their values
        for i in range(n):
            total = 0.0
            if free[i]:
                total = -gradient[i]
                for j in range(n):
                    if not free[j]:
                        total -= hessian[i, j] * step[j]
            else:
                total = step[i]
            for k in range(i):
                total -= factor[i, k] * step[k]
            step[i] = total / factor[i, i]
        for i in range(n - 1, -1, -1):
            total = step[i]
            for k in range(i + 1, n):
                total -= factor[k, i] * step[k]
            step[i] = total / factor[i, i]
        # entries outside the box are fixed at its sides
        changed = False
        for i in range(n):
            if free[i]:
                if step[i] < lower[i]:
                    step[i] = lower[i]
                    free[i] = False
                    changed = True
                elif step[i] > upper[i]:
                    step[i] = upper[i]
                    free[i] = False
                    changed = True
        if changed:
            continue
        # a fixed entry whose multiplier points inside is set free, the strongest first
        worst = 0.0
        which = -1
        for i in range(n):
            if not free[i]:
                slope = gradient[i]
                for j in range(n):
                    slope += hessian[i, j] * step[j]
                pull = slope if step[i] >= upper[i] else -slope
                if upper[i] > lower[i] and pull > worst:
                    worst = pull
                    which = i
        if which < 0:
            return True
        free[which] = True
    return True


@kernel
def backward(a, b, gradients, hessians, torques, weights, dt, limit, damping, gains, feedforward,
             vx, vxx, work):
    """
    Solve the linear-quadratic problem about the trajectory backwards in time.

    Returns the slope of the cost in the direction found and whether every stage was positive
    definite.
    """
    va, qxx, qux, quu, qx, qu, lower, upper, free, factor, column, exact = work
    steps, (size, n) = len(torques), sizes(exact, len(vx), torques.shape[1])
    wheels = size - 6
    for j in range(size):
        vx[j] = gradients[steps, j]
        for k in range(size):
            vxx[j, k] = hessians[steps, j, k]
    expected = 0.0
    for k in range(steps - 1, -1, -1):
        ak = a[k]
        bk = b[k]
        # Q = l + V(A x + B u): qxx = l_xx + AᵀVA, qux = BᵀVA, quu = R + BᵀVB
        for i in range(size):
            for j in range(size):
                total = 0.0
                for m in range(size):
                    total += vxx[i, m] * ak[m, j]
                va[i, j] = total
        for i in range(size):
            total = gradients[k, i]
            for m in range(size):
                total += ak[m, i] * vx[m]
            qx[i] = total
            for j in range(i + 1):
                total = hessians[k, i, j]
                for m in range(size):
                    total += ak[m, i] * va[m, j]
                qxx[i, j] = total
                qxx[j, i] = total
        for i in range(n):
            total = dt[k] * weights[k, TORQUE if i < wheels else TURNING] * torques[k, i]
            for m in range(size):
                total += bk[m, i] * vx[m]
            qu[i] = total
            for j in range(size):
                total = 0.0
                for m in range(size):
                    total += bk[m, i] * va[m, j]
                qux[i, j] = total
            lower[i], upper[i] = -limit[i] - torques[k, i], limit[i] - torques[k, i]
        for i in range(n):
            for m in range(size):
                total = 0.0
                for l in range(size):
                    total += vxx[m, l] * bk[l, i]
                column[m] = total
            for j in range(n):
                total = 0.0
                for m in range(size):
                    total += bk[m, j] * column[m]
                quu[j, i] = total
        for i in range(n):
            quu[i, i] += dt[k] * weights[k, TORQUE if i < wheels else TURNING] + damping
        # feedforward within the box of the torque limits
        step = feedforward[k]
        if not box_step(quu, qu, lower, upper, step, free, factor, exact):
            return 0.0, False
        # feedback of the free torques: K = −H⁻¹ Qux
        for j in range(size):
            for i in range(n):
                total = -qux[i, j] if free[i] else 0.0
                for m in range(i):
                    total -= factor[i, m] * column[m]
                column[i] = total / factor[i, i]
            for i in range(n - 1, -1, -1):
                total = column[i]
                for m in range(i + 1, n):
                    total -= factor[m, i] * column[m]
                column[i] = total / factor[i, i]
                gains[k, i, j] = column[i]
        for i in range(n):
            expected += step[i] * qu[i]
        # value function of the previous stage; the damped Quu keeps it an upper model
        for i in range(size):
            total = qx[i]
            for m in range(n):
                part = qu[m]
                for l in range(n):
                    part += quu[m, l] * step[l]
                total += gains[k, m, i] * part + qux[m, i] * step[m]
            vx[i] = total
        for i in range(n):
            for j in range(size):
                total = 0.0
                for m in range(n):
                    total += quu[i, m] * gains[k, m, j]
                va[i, j] = total
        for i in range(size):
            for j in range(i + 1):
                total = qxx[i, j]
                for m in range(n):
                    total += (gains[k, m, i] * (va[m, j] + qux[m, j])
                              + qux[m, i] * gains[k, m, j])
                vxx[i, j] = total
                vxx[j, i] = total
    return expected, True


@kernel
def forward_pass(model, states, torques, gains, feedforward, wrench, dt, limit, part, rate,
                 new_states, new_torques):
    """Roll out the corrected torques, `part` of the feed-forward step, inside the limits."""
    steps, n = torques.shape
    size = states.shape[1]
    for j in range(size):
        new_states[0, j] = states[0, j]
    for k in range(steps):
        for i in range(n):
            total = torques[k, i] + part * feedforward[k, i]
            for j in range(size):
                total += gains[k, i, j] * (new_states[k, j] - states[k, j])
            new_torques[k, i] = min(max(total, -limit[i]), limit[i])
        advance(model, new_states[k], new_torques[k], wrench, dt[k], rate, new_states[k + 1])


@kernel
def improve(model, start, torques, reference, weights, wrench, dt, limit, iterations, tolerance,
            work, states, gains):
    """
    Improve `torques` (N, n) in place, within `limit`; write `states` (N+1, 6+n) and `gains`.

    `work` is a `workspace`. Returns the cost and the number of iterations; ends early when one
    gains less than `tolerance` of the cost.
    """
    model = borrowed(model)
    work = borrowed(work)
    start = borrowed(start)
    torques = borrowed(torques)
    reference = borrowed(reference)
    weights = borrowed(weights)
    wrench = borrowed(wrench)
    dt = borrowed(dt)
    limit = borrowed(limit)
    states = borrowed(states)
    gains = borrowed(gains)
    linear_work, stage, problem, trial, rate, r, jac = work
    a, b, gradients, hessians, feedforward, vx, vxx = problem
    new_states, new_torques = trial
    steps, efforts = torques.shape
    # a limit may have fallen since the torques were found
    for k in range(steps):
        for i in range(efforts):
            if abs(torques[k, i]) > limit[i]:
                torques[k, i] = math.copysign(limit[i], torques[k, i])
    roll_out(model, start, torques, wrench, dt, rate, states)
    cost = cost_of(model[0], states, torques, reference, weights, dt, r)
    damping = DAMPING
    done = 0
    for _ in range(iterations):
        done += 1
        # quadratic model about the trajectory
        for k in range(steps):
            linearise(model, states[k], torques[k], wrench, dt[k], linear_work, a[k], b[k])
        for k in range(1, steps + 1):
            expand(model[0], states[k], reference[k], weights[k], dt[k] if k < steps else 1.0,
                   jac, r, gradients[k], hessians[k])
        # more damping until a step of the line search improves the cost
        improved = False
        part = 1.0
        new_cost = cost
        for _ in range(DAMPINGS):
            expected, definite = backward(a, b, gradients, hessians, torques, weights, dt, limit,
                                          damping, gains, feedforward, vx, vxx, stage)
            if definite:
                part = 1.0
                for _ in range(STEPS_TRIED):
                    forward_pass(model, states, torques, gains, feedforward, wrench, dt, limit,
                                 part, rate, new_states, new_torques)
                    new_cost = cost_of(model[0], new_states, new_torques, reference, weights, dt,
                                       r)
                    # false for NaN: a diverged roll-out is not an improvement
                    if new_cost < cost + LEAST_DECREASE * part * expected:
                        improved = True
                        break
                    part *= SHORTER
            if improved:
                break
            damping = max(damping, FIRST_DAMPING) * MORE_DAMPING
        if not improved:
            break
        gained = cost - new_cost
        for k in range(steps + 1):
            for j in range(states.shape[1]):
                states[k, j] = new_states[k, j]
        for k in range(steps):
            for i in range(efforts):
                torques[k, i] = new_torques[k, i]
        cost = new_cost
        if part == 1.0:
            damping = max(damping * LESS_DAMPING, LESS_DAMPING * DAMPING)
        if gained < tolerance * cost:
            break
    return cost, done
