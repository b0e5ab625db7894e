# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled constrained motion: accelerations of one state, and many Runge-Kutta steps. No checks.

The memory is a ConstrainedSystem (constraint_states.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_kernels.compiled import inner, kernel
from c3p_kernels.dense import (
    RowBasis,
    backward,
    backward_rows,
    factor_inwards,
    forward,
    orthogonalize,
    reach,
)
from c3p_multibody.constraints._row_kernels import RowTerms, TieArrays, evaluate, gaps
from c3p_multibody.constraints._sweep_kernels import sweep
from c3p_multibody.constraints.constraint_states import ConstrainedSystem, SystemIntegers
from c3p_multibody.trees.description import Arrays

cut_system = ConstrainedSystem.cut

# returned by `accelerations` on success, else it is the row without inertia; by `constrained` for
# vectors of a wrong length
FINE = -1
MISFIT = -2
# results of `march`: all steps done; a contact closes; one opens; no inertia; overflow; dependent
# rows contradict each other
DONE, CLOSES, OPENS, EMPTY, LOST, DISAGREE = 0, 1, 2, 3, 4, 5
# columns of a line of the log behind t, q and q̇
KINETIC, POTENTIAL, WORK, FRICTION, DRIVEN, CLOSURE, RANK, FACTS = 0, 1, 2, 3, 4, 5, 6, 7
Q, QD, TAU, DAMPING, QDD = 0, 1, 2, 3, 4


class SolverRule(NamedTuple):
    """
    Numbers that steps decide by.

    Attributes
    ----------
    disagreement : float, m/s² or rad/s²
        Largest contradiction of dependent rows.
    margin : float, m
        Penetration that counts as below the plane.
    project : bool
        Whether the drift of a step is projected out.
    """

    disagreement: float
    margin: float
    project: bool


class WatchedContacts(NamedTuple):
    """
    Contacts during steps.

    Attributes
    ----------
    guards : TieArrays
        All of them.
    watch : (k,) int array
        −1 open, ≥ 0 the row of its λ, −2 not watched.
    gap : (2, k) array
        Gap and speed of each, written.
    """

    guards: TieArrays
    watch: np.ndarray
    gap: np.ndarray


@kernel
def rows_at(block, links, ties, order, time):
    """Write frames and rows of a ConstrainedSystem at its q and q̇."""
    system = cut_system(block, (len(links), len(order), len(ties)))
    w = system.space
    tree = Arrays(links, system.numbers, system.gravity)
    w.potential[0] = sweep(tree, system.vectors[Q], system.vectors[QD], w.frames, w.bodies,
                           w.inertia, w.forces)
    write_rows(system, links, ties, time)


@inner
def write_rows(system, links, ties, time):
    """Write the rows from the frames of `sweep`."""
    w = system.space
    evaluate(links, w.frames, TieArrays(ties, system.places), time, w.walk, w.relation,
             RowTerms(w.jacobian, w.rate, w.bias, w.error))


@inner
def accelerations(system, integers, time):
    """
    Write q̈ and λ of ``A q̈ + c = τ − D q̇ + Bᵀλ``, ``B q̈ = ġ − Ḃq̇``; return FINE or a row.

    With Baumgarte's ω the target is ``−Ḃq̇ − 2ω (B q̇ − g) − ω² e``. All is written to the
    ConstrainedSystem, and the order of the orthonormal rows to its integers.
    """
    order = integers.order
    n = len(integers.links)
    m = len(order)
    w = system.space
    state = system.vectors
    c = w.forces
    q = state[Q]
    qd = state[QD]
    tau = state[TAU]
    damping = state[DAMPING]
    qdd = state[QDD]
    tree = Arrays(integers.links, system.numbers, system.gravity)
    w.potential[0] = sweep(tree, q, qd, w.frames, w.bodies, w.inertia, c)
    # y = Lᵀq̈ of the free motion: L⁻¹(τ − Dq̇ − c)
    empty = factor_inwards(w.inertia, w.lower, n)
    if empty >= 0:
        return empty
    for i in range(n):
        qdd[i] = tau[i] - damping[i] * qd[i] - c[i]
    backward(w.lower, qdd, n)
    w.rank[0] = 0.0
    w.disagreement[0] = 0.0
    if m > 0:
        jacobian = w.jacobian
        target = w.target
        rows = w.rows
        write_rows(system, integers.links, integers.ties, time)
        # target ġ − Ḃq̇ with Baumgarte's feedback, and the rows X ᵀ = B L⁻ᵀ
        omega = system.frequency
        for j in range(m):
            target[j] = -w.bias[j]
            if omega > 0.0:
                off = -w.rate[j]
                for i in range(n):
                    off += jacobian[j, i] * qd[i]
                target[j] -= omega * (2.0 * off + omega * w.error[j])
            for i in range(n):
                rows[j, i] = jacobian[j, i]
        backward_rows(w.lower, rows, w.beside, m, n)
        # project y onto the rows; then back to q̈ = L⁻ᵀ y
        rank = orthogonalize(rows, w.factor, order, system.least_row, m, n)
        w.rank[0] = rank
        w.disagreement[0] = reach(RowBasis(rows, w.factor, order), rank, target, qdd,
                                  w.multipliers, w.moves, m, n)
    forward(w.lower, qdd, n)
    return FINE


@kernel
def constrained(q, qd, tau, time, block, links, ties, order):
    """
    Write q̈ of a ConstrainedSystem at a state; return FINE, MISFIT or a row without inertia.

    `links` and `ties` are its integers, `order` (m,) memory.
    """
    n = len(links)
    if len(q) != n or len(qd) != n or len(tau) != n:
        return MISFIT
    system = cut_system(block, (n, len(order), len(ties)))
    state = system.vectors
    for i in range(n):
        state[Q, i] = q[i]
        state[QD, i] = qd[i]
        state[TAU, i] = tau[i]
    return accelerations(system, SystemIntegers(links, ties, order), time)


@inner
def powers(w, qd, tau, damping, out):
    """Write the power of torques, of the joints' friction, and of driven constraints (λᵀg)."""
    out[0] = 0.0
    out[1] = 0.0
    out[2] = 0.0
    for i in range(len(qd)):
        out[0] += tau[i] * qd[i]
        out[1] += damping[i] * qd[i] * qd[i]
    for j in range(len(w.rate)):
        out[2] += w.multipliers[j] * w.rate[j]


@inner
def onto(w, order, q, qd):
    """
    Project q and q̇, in the metric of A, onto the constraints.

    One step of Newton's method each, with the present B.
    """
    n = len(q)
    m = len(order)
    rank = int(w.rank[0])
    basis = RowBasis(w.rows, w.factor, order)
    target = w.target
    y = w.shift
    # B δq = −error with the least δq
    for j in range(m):
        target[j] = -w.error[j]
    for i in range(n):
        y[i] = 0.0
    reach(basis, rank, target, y, w.unused, w.moves, m, n)
    forward(w.lower, y, n)
    for i in range(n):
        q[i] += y[i]
        y[i] = 0.0
    # B (q̇ + δ) = g with the least δ
    for j in range(m):
        total = w.rate[j]
        for i in range(n):
            total -= w.jacobian[j, i] * qd[i]
        target[j] = total
    reach(basis, rank, target, y, w.unused, w.moves, m, n)
    forward(w.lower, y, n)
    for i in range(n):
        qd[i] += y[i]


@inner
def note(w, q, qd, time, sums, closure, line):
    """Write a line of the log: t, q, q̇, energies, work done so far, closure, rank, λ."""
    n = len(q)
    m = len(w.multipliers)
    kinetic = 0.0
    for i in range(n):
        along = 0.0
        for k in range(n):
            along += w.inertia[i, k] * qd[k]
        kinetic += 0.5 * qd[i] * along
        line[1 + i], line[1 + n + i] = q[i], qd[i]
    line[0] = time
    at = 1 + 2 * n
    line[at + KINETIC], line[at + POTENTIAL] = kinetic, w.potential[0]
    for k in range(3):
        line[at + WORK + k] = sums[k]
    line[at + CLOSURE], line[at + RANK] = closure, w.rank[0]
    for j in range(m):
        line[at + FACTS + j] = w.multipliers[j]


@inner
def closing(w, contacts, margin):
    """Return the first watched contact that is below its plane and approaching, or −1."""
    gap = contacts.gap[0]
    speed = contacts.gap[1]
    gaps(w.frames, contacts.guards, w.relation, gap, speed)
    for k in range(len(contacts.watch)):
        if contacts.watch[k] == -1 and gap[k] < -margin and speed[k] < 0.0:
            return k
    return -1


@inner
def letting_go(w, watch):
    """Return the first closed contact that would pull, or −1."""
    for k in range(len(watch)):
        if watch[k] >= 0 and w.multipliers[watch[k]] < 0.0:
            return k
    return -1


@kernel
def march(block, integers, contacts, sums, time, h, rule, log_out):
    """
    Take ``len(log_out) − 1`` steps of Runge and Kutta's fourth order.

    `integers`, `contacts` and `rule` are plain tuples of the parts of SystemIntegers,
    WatchedContacts and SolverRule: to pass a named one takes Numba 1 µs more. `sums` (5, 3) holds
    in row 0 the work so far (torques, friction, driven constraints). Returns end, steps and
    culprit. Line 0 of the log is the state at the beginning. If a contact closes or opens the
    state is that at the beginning of the step with the event.
    """
    integers = SystemIntegers(integers[0], integers[1], integers[2])
    guards, watch, gap = contacts
    contacts = WatchedContacts(TieArrays(guards[0], guards[1]), watch, gap)
    rule = SolverRule(rule[0], rule[1], rule[2])
    order = integers.order
    n = len(integers.links)
    m = len(order)
    system = cut_system(block, (n, m, len(integers.ties)))
    w = system.space
    state = system.vectors
    q = state[Q]
    qd = state[QD]
    tau = state[TAU]
    damping = state[DAMPING]
    qdd = state[QDD]
    base_q = w.base_q
    base_qd = w.base_qd
    sum_q = w.sum_q
    sum_qd = w.sum_qd
    slope = w.slope
    stage = 4
    step = -1
    begin = time
    now = time
    while True:
        # stages 1 to 3 of a step, or (4) its end, which is the beginning of the next
        empty = accelerations(system, integers, now)
        if empty >= 0:
            return EMPTY, max(step, 0), empty
        # events are checked at the end of a step: a negative λ, then a contact below its plane
        if stage == 4:
            culprit = letting_go(w, contacts.watch)
            kind = OPENS
            if culprit < 0 and step >= 0:
                culprit = closing(w, contacts, rule.margin)
                kind = CLOSES
            if culprit >= 0 and step >= 0:
                for i in range(n):
                    q[i], qd[i] = base_q[i], base_qd[i]
                for k in range(3):
                    sums[0, k] = sums[1, k]
                return kind, step, culprit
            # drift of the step, projected out
            off = 0.0
            if m > 0 and step >= 0:
                for j in range(m):
                    off = max(off, abs(w.error[j]))
                if rule.project:
                    onto(w, order, q, qd)
            step += 1
            note(w, q, qd, now, sums[0], off, log_out[step])
            if culprit >= 0:
                return kind, 0, culprit
            if w.disagreement[0] > rule.disagreement:
                return DISAGREE, step, 0
            if step == len(log_out) - 1:
                return DONE, step, -1
            begin = time + step * h
            for i in range(n):
                base_q[i], base_qd[i] = q[i], qd[i]
                sum_q[i] = 0.0
                sum_qd[i] = 0.0
            for k in range(3):
                sums[1, k] = sums[0, k]
                sums[2, k] = 0.0
            stage = 0
        # add this stage's slopes (weights 1 2 2 1), then set the state of the next stage
        weight = 1.0 if stage == 0 or stage == 3 else 2.0
        powers(w, qd, tau, damping, sums[3])
        for k in range(3):
            sums[2, k] += weight * sums[3, k]
        for i in range(n):
            slope[i] = qd[i]
            sum_q[i] += weight * qd[i]
            sum_qd[i] += weight * qdd[i]
        stage += 1
        if stage < 4:
            part = 0.5 * h if stage < 3 else h
            for i in range(n):
                q[i] = base_q[i] + part * slope[i]
                qd[i] = base_qd[i] + part * qdd[i]
            now = begin + part
        else:
            fine = True
            for i in range(n):
                q[i] = base_q[i] + h / 6.0 * sum_q[i]
                qd[i] = base_qd[i] + h / 6.0 * sum_qd[i]
                fine = fine and np.isfinite(q[i]) and np.isfinite(qd[i])
            if not fine:
                return LOST, step, 0
            for k in range(3):
                sums[0, k] = sums[1, k] + h / 6.0 * sums[2, k]
            now = begin + h
