# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled differential dynamic programming with bounded inputs (box-DDP, Tassa et al. 2014).

A trajectory is improved by the linear-quadratic problem about it (Gauss-Newton: without the
curvature of the dynamics). It is solved backwards in time, with a small box-constrained quadratic
program at each stage, and rolled out forwards with the feedback of the solution, so that every
intermediate trajectory is feasible.

The cost of the rates of the torques makes those of the step before, v = τ_{k−1}, a part of the
state. With ``½ pᵀW p``, p = τ_k − v, in the cost, Q(x, v, τ) has Q_vv = W and Q_vτ = −W, and the
value of a step is V(x, v). Nothing else depends on v, so that only these blocks are computed.
"""

from __future__ import annotations

import math

from c3p_controller.predictive._kernels import (
    advance,
    cost_of,
    expand,
    linearise,
    roll_out,
)
from c3p_controller.predictive.states import TORQUE, TORQUE_RATE, TURNING, TURNING_RATE
from c3p_kernels.compiled import inner
from c3p_kernels.small import put

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


@inner
def box_step(stage, step_out):
    """
    Minimise ``½ pᵀHp + gᵀp`` of a BoxStage for ``lower ≤ p ≤ upper`` by an active set; H is small.

    Writes p, the free set, and the Cholesky factor of the free rows. Returns False when H is not
    positive definite there.
    """
    hessian = stage.quu
    gradient = stage.qu
    free = stage.free
    factor = stage.factor
    n = len(gradient)
    for i in range(n):
        free[i] = 1.0
    for _ in range(2 * n + 1):
        # factor with fixed rows replaced by the identity
        for i in range(n):
            for j in range(i + 1):
                total = (hessian[i, j] if free[i] > 0.0 and free[j] > 0.0 else
                         (1.0 if i == j else 0.0))
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
            if free[i] > 0.0:
                total = -gradient[i]
                for j in range(n):
                    if not free[j] > 0.0:
                        total -= hessian[i, j] * step_out[j]
            else:
                total = step_out[i]
            for k in range(i):
                total -= factor[i, k] * step_out[k]
            step_out[i] = total / factor[i, i]
        for i in range(n - 1, -1, -1):
            total = step_out[i]
            for k in range(i + 1, n):
                total -= factor[k, i] * step_out[k]
            step_out[i] = total / factor[i, i]
        # entries outside the box are fixed at its sides
        changed = False
        for i in range(n):
            if free[i] > 0.0:
                if step_out[i] < stage.lower[i]:
                    step_out[i] = stage.lower[i]
                    free[i] = 0.0
                    changed = True
                elif step_out[i] > stage.upper[i]:
                    step_out[i] = stage.upper[i]
                    free[i] = 0.0
                    changed = True
        if changed:
            continue
        # a fixed entry whose multiplier points inside is set free, the strongest first
        worst = 0.0
        which = -1
        for i in range(n):
            if not free[i] > 0.0:
                slope = gradient[i]
                for j in range(n):
                    slope += hessian[i, j] * step_out[j]
                pull = slope if step_out[i] >= stage.upper[i] else -slope
                if stage.upper[i] > stage.lower[i] and pull > worst:
                    worst = pull
                    which = i
        if which < 0:
            return True
        free[which] = 1.0
    return True


@inner
def backward(plan, limit, damping):
    """
    Solve the linear-quadratic problem about the trajectory of a Plan backwards in time.

    Writes feedback and feedforward. Returns the slope of the cost in the direction found, and
    whether every stage was positive definite.
    """
    stage = plan.stage
    # by the state, whose sizes may be constants of the compiler
    size = len(plan.value_slope)
    n = len(stage.qu)
    wheels = size - 6
    steps = len(plan.torques)
    dt = plan.dt
    torques = plan.torques
    weights = plan.weights
    va = stage.product
    qxx = stage.qxx
    qux = stage.qux
    quu = stage.quu
    qx = stage.qx
    qu = stage.qu
    free = stage.free
    factor = stage.factor
    column = stage.column
    rate = stage.rate
    changed = stage.changed
    gains = plan.gains
    follows = plan.torque_gains
    vx = plan.value_slope
    vxx = plan.value_curve
    vt = plan.before_slope
    vtt = plan.before_curve
    vtx = plan.mixed_curve
    for j in range(size):
        vx[j] = plan.gradients[steps, j]
        for k in range(size):
            vxx[j, k] = plan.hessians[steps, j, k]
    for i in range(n):
        vt[i] = 0.0
        for j in range(n):
            vtt[i, j] = 0.0
        for j in range(size):
            vtx[i, j] = 0.0
    expected = 0.0
    for k in range(steps - 1, -1, -1):
        ak = plan.by_state[k]
        bk = plan.by_torque[k]
        # Q = l + V(A x + B u): qxx = l_xx + AᵀVA, qux = BᵀVA, quu = R + BᵀVB
        for i in range(size):
            for j in range(size):
                total = 0.0
                for m in range(size):
                    total += vxx[i, m] * ak[m, j]
                va[i, j] = total
        for i in range(size):
            total = plan.gradients[k, i]
            for m in range(size):
                total += ak[m, i] * vx[m]
            qx[i] = total
            for j in range(i + 1):
                total = plan.hessians[k, i, j]
                for m in range(size):
                    total += ak[m, i] * va[m, j]
                qxx[i, j] = total
                qxx[j, i] = total
        for i in range(n):
            rate[i] = weights[k, TORQUE_RATE if i < wheels else TURNING_RATE] / dt[k]
            before = torques[k - 1, i] if k > 0 else plan.before[i]
            changed[i] = rate[i] * (torques[k, i] - before)
            total = (dt[k] * weights[k, TORQUE if i < wheels else TURNING] * torques[k, i]
                     + changed[i] + vt[i])
            for m in range(size):
                total += bk[m, i] * vx[m]
            qu[i] = total
            for j in range(size):
                total = 0.0
                for m in range(size):
                    total += bk[m, i] * va[m, j] + vtx[i, m] * ak[m, j]
                qux[i, j] = total
            stage.lower[i] = -limit[i] - torques[k, i]
            stage.upper[i] = limit[i] - torques[k, i]
        for i in range(n):
            for m in range(size):
                total = 0.0
                for l in range(size):
                    total += vxx[m, l] * bk[l, i]
                column[m] = total
            for j in range(n):
                total = vtt[j, i]
                for m in range(size):
                    total += (bk[m, j] * (column[m] + vtx[i, m])
                              + vtx[j, m] * bk[m, i])
                quu[j, i] = total
        for i in range(n):
            quu[i, i] += (dt[k] * weights[k, TORQUE if i < wheels else TURNING] + rate[i]
                          + damping)
        # feedforward within the box of the torque limits
        step = plan.feedforward[k]
        if not box_step(stage, step):
            return 0.0, False
        # feedback of the free torques: K = −H⁻¹ Qux, and of the torques before: L = H⁻¹ W
        for j in range(size + n):
            for i in range(n):
                total = 0.0
                if free[i] > 0.0:
                    if j < size:
                        total = -qux[i, j]
                    elif j == size + i:
                        total = rate[i]
                for m in range(i):
                    total -= factor[i, m] * column[m]
                column[i] = total / factor[i, i]
            for i in range(n - 1, -1, -1):
                total = column[i]
                for m in range(i + 1, n):
                    total -= factor[m, i] * column[m]
                column[i] = total / factor[i, i]
                if j < size:
                    gains[k, i, j] = column[i]
                else:
                    follows[k, i, j - size] = column[i]
        for i in range(n):
            expected += step[i] * qu[i]
            # slope by the torque where the step ends
            total = qu[i]
            for m in range(n):
                total += quu[i, m] * step[m]
            column[i] = total
        # value function of the previous stage; the damped Quu keeps it an upper model
        for i in range(size):
            total = qx[i]
            for m in range(n):
                total += gains[k, m, i] * column[m] + qux[m, i] * step[m]
            vx[i] = total
        for i in range(n):
            total = -changed[i] - rate[i] * step[i]
            for m in range(n):
                total += follows[k, m, i] * column[m]
            vt[i] = total
        for i in range(n):
            for j in range(size):
                total = 0.0
                for m in range(n):
                    total += quu[i, m] * gains[k, m, j]
                va[i, j] = total
        for i in range(n):
            for j in range(size):
                total = -rate[i] * gains[k, i, j]
                for m in range(n):
                    total += follows[k, m, i] * (va[m, j] + qux[m, j])
                vtx[i, j] = total
            for j in range(i + 1):
                total = rate[i] if i == j else 0.0
                total -= rate[i] * follows[k, i, j] + rate[j] * follows[k, j, i]
                for m in range(n):
                    for l in range(n):
                        total += follows[k, m, i] * quu[m, l] * follows[k, l, j]
                vtt[i, j] = total
                vtt[j, i] = total
        for i in range(size):
            for j in range(i + 1):
                total = qxx[i, j]
                for m in range(n):
                    total += (gains[k, m, i] * (va[m, j] + qux[m, j])
                              + qux[m, i] * gains[k, m, j])
                vxx[i, j] = total
                vxx[j, i] = total
    return expected, True


@inner
def forward_pass(model, plan, wrench, limit, part):
    """Roll out the corrected torques, `part` of the feed-forward step, inside the limits."""
    steps, n = plan.torques.shape
    size = len(plan.value_slope)
    states = plan.states
    tried = plan.trial_states
    for j in range(size):
        tried[0, j] = states[0, j]
    for k in range(steps):
        for i in range(n):
            total = plan.torques[k, i] + part * plan.feedforward[k, i]
            for j in range(size):
                total += plan.gains[k, i, j] * (tried[k, j] - states[k, j])
            if k > 0:
                for j in range(n):
                    total += plan.torque_gains[k, i, j] * (plan.trial_torques[k - 1, j]
                                                           - plan.torques[k - 1, j])
            plan.trial_torques[k, i] = min(max(total, -limit[i]), limit[i])
        advance(model, tried[k], plan.trial_torques[k], wrench, plan.dt[k], plan.rate,
                tried[k + 1])


@inner
def improve(model, plan, start, wrench, limit, iterations, tolerance):
    """
    Improve the torques of a Plan from the state `start` on, within `limit`.

    Writes states, gains, cost and the number of iterations; ends early when one gains less than
    `tolerance` of the cost.
    """
    steps, efforts = plan.torques.shape
    torques = plan.torques
    # a limit may have fallen since the torques were found
    for k in range(steps):
        for i in range(efforts):
            if abs(torques[k, i]) > limit[i]:
                torques[k, i] = math.copysign(limit[i], torques[k, i])
    roll_out(model, start, torques, wrench, plan.dt, plan.rate, plan.states)
    cost = cost_of(model[0], plan, plan.states, torques)
    damping = DAMPING
    done = 0
    for _ in range(iterations):
        done += 1
        # quadratic model about the trajectory
        for k in range(steps):
            linearise(model, plan, k, wrench)
        for k in range(1, steps + 1):
            expand(model[0], plan, k, plan.dt[k] if k < steps else 1.0)
        # more damping until a step of the line search improves the cost
        improved = False
        part = 1.0
        new_cost = cost
        for _ in range(DAMPINGS):
            expected, definite = backward(plan, limit, damping)
            if definite:
                part = 1.0
                for _ in range(STEPS_TRIED):
                    forward_pass(model, plan, wrench, limit, part)
                    new_cost = cost_of(model[0], plan, plan.trial_states, plan.trial_torques)
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
        for k in range(steps):
            put(plan.trial_torques[k], torques[k])
        for k in range(steps + 1):
            put(plan.trial_states[k], plan.states[k])
        cost = new_cost
        if part == 1.0:
            damping = max(damping * LESS_DAMPING, LESS_DAMPING * DAMPING)
        if gained < tolerance * cost:
            break
    plan.cost[0] = cost
    plan.iterations[0] = done
