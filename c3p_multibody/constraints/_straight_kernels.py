# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Drivers of straight-line code: inputs, batches, and many Runge-Kutta steps. No checks.

`slope` and `whole` stand for the generated functions; generated.py puts them in place and compiles
these functions with them. `slope` writes q̈ (n), margin, driven power and λ (m); `whole` writes
these, then SCALARS and the lists behind them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import circle
from c3p_kernels.straight.batches import PASS_SIZE, give, take, take_angles
from c3p_multibody.constraints._row_kernels import TieArrays
from c3p_multibody.constraints._step_kernels import (
    CLOSES,
    CLOSURE,
    DAMPING,
    DONE,
    DRIVEN,
    FACTS,
    FRICTION,
    KINETIC,
    LOST,
    OPENS,
    POTENTIAL,
    QD,
    RANK,
    TAU,
    WORK,
    Q,
    SolverRule,
    WatchedContacts,
)

# result of `march`: the rows are not clearly independent; the state is that before the step
WEAK = 6
# of `whole` behind q̈, margin, driven power and λ: potential energy, kinetic energy before and
# after the projection, closure; then the corrections of q and q̇ (n), gaps and their speeds
SCALARS = 4
# rows of the memory of `march`: q and q̇ before the step, weighted sums of their slopes, and the
# slope of q of one stage
MEMORY = 5


class StraightMemory(NamedTuple):
    """
    Memory of `march` for one system.

    Attributes
    ----------
    turning : (n,) bool array
        Revolute joints.
    x, y : arrays
        Input of the generated code, and room for the results of `whole`.
    steps : (5, n) array
        q and q̇ before the step, weighted sums of their slopes.
    found : (m,) array
        Multipliers at the end, written.
    rank : int
        Independent rows where the code is valid.
    """

    turning: np.ndarray
    x: np.ndarray
    y: np.ndarray
    steps: np.ndarray
    found: np.ndarray
    rank: int


class MotionArrays(NamedTuple):
    """
    Arrays that a step changes.

    Attributes
    ----------
    state : (5, n) array
        Vectors of a ConstrainedSystem.
    sums : (5, 3) array
        Row 0: work so far, of torques, friction and driven constraints; others: work memory.
    """

    state: np.ndarray
    sums: np.ndarray


def slope(x, y, k=0):
    """Stand for generated code."""


def whole(x, y):
    """Stand for generated code."""


@kernel
def enter(turning, q, qd, force, time, x):
    """Write the input of straight-line code for one state."""
    n = len(turning)
    for j in range(n):
        if turning[j]:
            x[j], x[n + j] = circle(q[j])
        else:
            x[j] = q[j]
        x[2 * n + j] = qd[j]
        x[3 * n + j] = force[j]
    x[4 * n] = time


@kernel
def enter_damped(turning, state, time, x):
    """Write the same for a `state` with friction in its joints (rows as in _step_kernels.py)."""
    n = len(turning)
    enter(turning, state[Q], state[QD], state[TAU], time, x)
    for j in range(n):
        x[3 * n + j] -= state[DAMPING, j] * state[QD, j]


def single(q, qd, tau, time, turning, x, y):
    """
    Write the results of `slope` to `y`; return whether they are valid.

    They are not for vectors of a wrong length. The end of `x` keeps q.
    """
    n = len(turning)
    if len(q) != n or len(qd) != n or len(tau) != n:
        return False
    enter(turning, q, qd, tau, time, x)
    slope(x, y)
    for j in range(n):
        x[len(x) - n + j] = q[j]
    return y[n] > 0.0


def batch(turning, q, qd, tau, time, x, y, out):
    """
    Write q̈ (n), margin, driven power and λ (m) of each state to `out` (B, n + 2 + m).

    PASS_SIZE states at a time, side by side; `slope` takes the number of a state as a third
    argument.
    """
    n = len(turning)
    for start in range(0, len(q), PASS_SIZE):
        count = min(PASS_SIZE, len(q) - start)
        take_angles(turning, q, start, count, x)
        take(qd, start, count, x, 2 * n)
        take(tau, start, count, x, 3 * n)
        for k in range(count):
            x[4 * n * PASS_SIZE + k] = time
        for k in range(count):
            slope(x, y, k)
        give(y, start, count, out)


@kernel
def event(contacts, y, n, m, depth, first):
    """
    Return (kind, contact) of a contact that would pull, or that closes; (DONE, −1) without.

    As in `_step_kernels.march`; `first`: only a pull counts.
    """
    watch = contacts.watch
    gap = contacts.gap
    size = len(watch)
    for k in range(size):
        if watch[k] >= 0 and y[n + 2 + watch[k]] < 0.0:
            return OPENS, k
    if not first:
        at = n + 2 + m + SCALARS + 2 * n
        for k in range(size):
            gap[0, k], gap[1, k] = y[at + k], y[at + size + k]
        for k in range(size):
            if watch[k] == -1 and gap[0, k] < -depth and gap[1, k] < 0.0:
                return CLOSES, k
    return DONE, -1


@kernel
def write_line(line_out, motion, time, y, m, closure, kinetic, rank):
    """Write a line of the log; see `_step_kernels.note`."""
    line = line_out
    state = motion.state
    sums = motion.sums
    n = state.shape[1]
    line[0] = time
    for i in range(n):
        line[1 + i], line[1 + n + i] = state[Q, i], state[QD, i]
    at = 1 + 2 * n
    line[at + KINETIC], line[at + POTENTIAL] = kinetic, y[n + 2 + m]
    line[at + WORK], line[at + FRICTION], line[at + DRIVEN] = sums[0, 0], sums[0, 1], sums[0, 2]
    line[at + CLOSURE] = closure
    line[at + RANK] = rank
    for j in range(m):
        line[at + FACTS + j] = y[n + 2 + j]


def march(straight, contacts, motion, time, h, rule, log_out):
    """
    Take ``len(log_out) − 1`` steps; return (end, steps, culprit), as `_step_kernels.march`.

    `straight` and `motion` are plain tuples, too, of StraightMemory and MotionArrays.
    """
    straight = StraightMemory(straight[0], straight[1], straight[2], straight[3], straight[4],
                              straight[5])
    guards, watch, gap = contacts
    contacts = WatchedContacts(TieArrays(guards[0], guards[1]), watch, gap)
    motion = MotionArrays(motion[0], motion[1])
    rule = SolverRule(rule[0], rule[1], rule[2])
    turning = straight.turning
    x = straight.x
    y = straight.y
    found = straight.found
    state = motion.state
    sums = motion.sums
    n = len(turning)
    m = len(found)
    step = -1
    now = time
    base_q = straight.steps[0]
    base_qd = straight.steps[1]
    sum_q = straight.steps[2]
    sum_qd = straight.steps[3]
    before_work = 0.0
    before_friction = 0.0
    before_driven = 0.0
    while True:
        enter_damped(turning, state, now, x)
        whole(x, y)
        kind = DONE
        culprit = -1
        if not y[n] > 0.0:
            kind = WEAK
        else:
            for j in range(m):
                found[j] = y[n + 2 + j]
            kind, culprit = event(contacts, y, n, m, rule.margin, step < 0)
        if kind != DONE and step >= 0:
            for i in range(n):
                state[Q, i], state[QD, i] = base_q[i], base_qd[i]
            sums[0, 0] = before_work
            sums[0, 1] = before_friction
            sums[0, 2] = before_driven
            return kind, step, culprit
        if kind == WEAK:
            return kind, 0, culprit
        # drift of the step, projected out
        at = n + 2 + m
        off = 0.0
        kinetic = y[n + 3 + m]
        if step >= 0:
            off = y[at + 3]
            if rule.project:
                kinetic = y[at + 2]
                for i in range(n):
                    state[Q, i] += y[at + SCALARS + i]
                    state[QD, i] += y[at + SCALARS + n + i]
        step += 1
        write_line(log_out[step], motion, now, y, m, off, kinetic, straight.rank)
        if kind != DONE:
            return kind, 0, culprit
        if step == len(log_out) - 1:
            return DONE, step, -1
        begin = time + step * h
        for i in range(n):
            base_q[i], base_qd[i] = state[Q, i], state[QD, i]
            sum_q[i] = 0.0
            sum_qd[i] = 0.0
        before_work = sums[0, 0]
        before_friction = sums[0, 1]
        before_driven = sums[0, 2]
        work = 0.0
        friction = 0.0
        driven = 0.0
        # Runge and Kutta's four slopes, weights 1 2 2 1
        for stage in range(4):
            if stage > 0:
                slope(x, y)
                if not y[n] > 0.0:
                    for i in range(n):
                        state[Q, i], state[QD, i] = base_q[i], base_qd[i]
                    return WEAK, step, -1
            weight = 1.0 if stage == 0 or stage == 3 else 2.0
            part = h if stage == 2 else 0.5 * h
            driven += weight * y[n + 1]
            for i in range(n):
                rate = state[QD, i]
                work += weight * (state[TAU, i] * rate)
                friction += weight * (state[DAMPING, i] * rate * rate)
                sum_q[i] += weight * rate
                sum_qd[i] += weight * y[i]
                if stage < 3:
                    state[Q, i] = base_q[i] + part * rate
                    state[QD, i] = base_qd[i] + part * y[i]
            if stage < 3:
                enter_damped(turning, state, begin + part, x)
        fine = True
        for i in range(n):
            state[Q, i] = base_q[i] + h / 6.0 * sum_q[i]
            state[QD, i] = base_qd[i] + h / 6.0 * sum_qd[i]
            fine = fine and math.isfinite(state[Q, i]) and math.isfinite(state[QD, i])
        if not fine:
            return LOST, step, 0
        sums[0, 0] = before_work + h / 6.0 * work
        sums[0, 1] = before_friction + h / 6.0 * friction
        sums[0, 2] = before_driven + h / 6.0 * driven
        now = begin + h
