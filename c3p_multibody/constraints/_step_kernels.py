# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled constrained motion: accelerations of one state, and many Runge-Kutta steps. No checks.

One array holds all memory (`space` divides it), as handing over each array costs time. A state is
a (5, n) array: q, q̇, τ, viscous friction of the joints, and q̈ as a result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from c3p_kernels.compiled import inlined, kernel
from c3p_kernels.dense import RowBasis, backward, cholesky, forward, orthogonalize, reach
from c3p_multibody.constraints._row_kernels import RELATIVE, RowTerms, TieArrays, evaluate, gaps
from c3p_multibody.constraints._sweep_kernels import sweep
from c3p_multibody.trees.description import Arrays

# returned by `accelerations` on success, else it is the row without inertia
FINE = -1
# results of `march`: all steps done; a contact closes; one opens; no inertia; overflow; dependent
# rows contradict each other
DONE, CLOSES, OPENS, EMPTY, LOST, DISAGREE = 0, 1, 2, 3, 4, 5
# columns of a line of the log behind t, q and q̇
KINETIC, POTENTIAL, WORK, FRICTION, DRIVEN, CLOSURE, RANK, FACTS = 0, 1, 2, 3, 4, 5, 6, 7
Q, QD, TAU, DAMPING, QDD, VECTORS = 0, 1, 2, 3, 4, 5
B, X, R = 0, 1, 2


class Space(NamedTuple):
    """
    Memory for a tree with n bodies and m rows, cut from one array by `space`.

    Its rows are longer than what is meant of them.

    Attributes
    ----------
    frames, bodies : (n + 1, …) and (n, …) arrays
        Those of `sweep`.
    a, l : (n, n) arrays
        A and its Cholesky factor.
    jac : (n, 6) array
        Of `evaluate`.
    b, x, r : (m, n), (m, n) and (m, m) arrays
        B, and the orthonormal rows with their factor.
    rows : (7, m) array
        g, Ḃq̇, error, target, λ, unused multipliers of projections, work memory of `reach`.
    columns : (8, n) array
        c, one for `onto`, then the integrator's own.
    facts : (2, …) array
        For `relate` (0); potential energy, rank, disagreement (1).
    order : (m,) int array
        Order of the orthonormal rows.
    """

    frames: np.ndarray
    bodies: np.ndarray
    a: np.ndarray
    l: np.ndarray
    jac: np.ndarray
    b: np.ndarray
    x: np.ndarray
    r: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    facts: np.ndarray
    order: np.ndarray


class SolverRule(NamedTuple):
    """
    Numbers that steps decide by.

    Attributes
    ----------
    least_row : float
        Length of a row, relative to the longest, below which it is dependent.
    frequency : float, rad/s
        Baumgarte's; 0 without.
    disagreement : float, m/s² or rad/s²
        Largest contradiction of dependent rows.
    margin : float, m
        Penetration that counts as below the plane.
    project : bool
        Whether the drift of a step is projected out.
    """

    least_row: float
    frequency: float
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


class MotionArrays(NamedTuple):
    """
    What steps change.

    Attributes
    ----------
    state : (5, n) array
        q, q̇, τ, viscous friction of the joints, and q̈.
    sums : (5, 3) array
        Row 0: work so far, of torques, friction and driven constraints; others: work memory.
    work : array
        That of `memory`.
    order : (m,) int array
        That of `Space`.
    """

    state: np.ndarray
    sums: np.ndarray
    work: np.ndarray
    order: np.ndarray


ROWS = 7
COLUMNS = 8


def memory(n: int, m: int) -> np.ndarray:
    """Return an array for `space`, with the world's frame filled in."""
    work = np.zeros((5 * n + 1 + 3 * m + ROWS + COLUMNS + 2, max(RELATIVE, n, m)))
    work[n, [0, 4, 8]] = 1.0
    return work


@inlined
def space(work, order, n):
    """Return views of the parts of an array of `memory`; `order` is that of the rows."""
    m = len(order)
    i = 5 * n + 1
    k = i + 3 * m
    return Space(work[:n + 1], work[n + 1:2 * n + 1], work[2 * n + 1:3 * n + 1],
                 work[3 * n + 1:4 * n + 1], work[4 * n + 1:i], work[i:i + m],
                 work[i + m:i + 2 * m], work[i + 2 * m:k], work[k:k + ROWS],
                 work[k + ROWS:k + ROWS + COLUMNS], work[k + ROWS + COLUMNS:], order)


@kernel
def accelerations(tree, ties, state, time, rule, w):
    """
    Write q̈ and λ of ``A q̈ + c = τ − D q̇ + Bᵀλ``, ``B q̈ = ġ − Ḃq̇``; return FINE or a row.

    With Baumgarte's ω of the `rule` the target is ``−Ḃq̇ − 2ω (B q̇ − g) − ω² e``. q̈ is a row of
    `state`, all else is written to the space `w`.
    """
    n = len(tree.links)
    m = len(w.b)
    facts = w.facts[1]
    c = w.columns[0]
    q = state[Q]
    qd = state[QD]
    tau = state[TAU]
    damping = state[DAMPING]
    qdd = state[QDD]
    facts[0] = sweep(tree, q, qd, w.frames, w.bodies, w.a, c)
    # y = Lᵀq̈ of the free motion: L⁻¹(τ − Dq̇ − c)
    empty = cholesky(w.a, w.l, n)
    if empty >= 0:
        return empty
    for i in range(n):
        qdd[i] = tau[i] - damping[i] * qd[i] - c[i]
    forward(w.l, qdd, n)
    facts[1] = 0.0
    facts[2] = 0.0
    if m > 0:
        rate = w.rows[0]
        bias = w.rows[1]
        error = w.rows[2]
        target = w.rows[3]
        evaluate(tree.links, w.frames, ties, time, w.jac, w.facts[0],
                 RowTerms(w.b, rate, bias, error))
        # target ġ − Ḃq̇ with Baumgarte's feedback, and the rows X ᵀ = B L⁻ᵀ
        omega = rule.frequency
        for j in range(m):
            target[j] = -bias[j]
            if omega > 0.0:
                off = -rate[j]
                for i in range(n):
                    off += w.b[j, i] * qd[i]
                target[j] -= omega * (2.0 * off + omega * error[j])
            for i in range(n):
                w.x[j, i] = w.b[j, i]
            forward(w.l, w.x[j], n)
        # project y onto the rows; then back to q̈ = L⁻ᵀ y
        rank = orthogonalize(w.x, w.r, w.order, rule.least_row, m, n)
        facts[1] = rank
        facts[2] = reach(RowBasis(w.x, w.r, w.order), rank, target, qdd, w.rows[4], w.rows[6], m,
                         n)
    backward(w.l, qdd, n)
    return FINE


def desk(n: int, m: int, ties: int) -> tuple[np.ndarray, np.ndarray]:
    """
    Return two arrays with all inputs of `constrained`, as handing over each array costs time.

    Behind the rows of `memory` are the tree's numbers (n rows), places (one row for each tie),
    gravity, rule, and the state (5 rows). The integers are links (n rows) and ties.
    """
    work = memory(n, m)
    more = np.zeros((n + ties + 2 + VECTORS, work.shape[1]))
    return np.vstack([work, more]), np.zeros((n + ties, 6), np.int64)


@kernel
def constrained(floats, ints, order, n, m, time):
    """Write q̈ (the last row of `floats`) of the state in the rows before it; see `desk`."""
    ties = len(ints) - n
    i = 5 * n + 1 + 3 * m + ROWS + COLUMNS + 2
    j = i + n
    k = j + ties
    rule = SolverRule(floats[k + 1, 0], floats[k + 1, 1], 0.0, 0.0, False)
    tree = Arrays(ints[:n], floats[i:j], floats[k])
    packed = TieArrays(ints[n:], floats[j:k])
    return accelerations(tree, packed, floats[k + 2:], time, rule, space(floats[:i], order, n))


@kernel
def powers(w, qd, tau, damping, out):
    """Write the power of torques, of the joints' friction, and of driven constraints (λᵀg)."""
    out[0] = 0.0
    out[1] = 0.0
    out[2] = 0.0
    for i in range(len(qd)):
        out[0] += tau[i] * qd[i]
        out[1] += damping[i] * qd[i] * qd[i]
    for j in range(len(w.b)):
        out[2] += w.rows[4, j] * w.rows[0, j]


@kernel
def onto(w, q, qd):
    """
    Project q and q̇, in the metric of A, onto the constraints.

    One step of Newton's method each, with the present B.
    """
    n = len(q)
    m = len(w.b)
    rank = int(w.facts[1, 1])
    basis = RowBasis(w.x, w.r, w.order)
    y = w.columns[1]
    # B δq = −error with the least δq
    for j in range(m):
        w.rows[3, j] = -w.rows[2, j]
    for i in range(n):
        y[i] = 0.0
    reach(basis, rank, w.rows[3], y, w.rows[5], w.rows[6], m, n)
    backward(w.l, y, n)
    for i in range(n):
        q[i] += y[i]
        y[i] = 0.0
    # B (q̇ + δ) = g with the least δ
    for j in range(m):
        total = w.rows[0, j]
        for i in range(n):
            total -= w.b[j, i] * qd[i]
        w.rows[3, j] = total
    reach(basis, rank, w.rows[3], y, w.rows[5], w.rows[6], m, n)
    backward(w.l, y, n)
    for i in range(n):
        qd[i] += y[i]


@kernel
def note(w, q, qd, time, sums, closure, line):
    """Write a line of the log: t, q, q̇, energies, work done so far, closure, rank, λ."""
    n = len(q)
    m = len(w.b)
    kinetic = 0.0
    for i in range(n):
        along = 0.0
        for k in range(n):
            along += w.a[i, k] * qd[k]
        kinetic += 0.5 * qd[i] * along
        line[1 + i], line[1 + n + i] = q[i], qd[i]
    line[0] = time
    at = 1 + 2 * n
    line[at + KINETIC], line[at + POTENTIAL] = kinetic, w.facts[1, 0]
    for k in range(3):
        line[at + WORK + k] = sums[k]
    line[at + CLOSURE], line[at + RANK] = closure, w.facts[1, 1]
    for j in range(m):
        line[at + FACTS + j] = w.rows[4, j]


@kernel
def closing(w, contacts, margin):
    """Return the first watched contact that is below its plane and approaching, or −1."""
    gap = contacts.gap[0]
    speed = contacts.gap[1]
    gaps(w.frames, contacts.guards, w.facts[0], gap, speed)
    for k in range(len(contacts.watch)):
        if contacts.watch[k] == -1 and gap[k] < -margin and speed[k] < 0.0:
            return k
    return -1


@kernel
def letting_go(w, watch):
    """Return the first closed contact that would pull, or −1."""
    for k in range(len(watch)):
        if watch[k] >= 0 and w.rows[4, watch[k]] < 0.0:
            return k
    return -1


@kernel
def march(tree, ties, contacts, motion, time, h, rule, log_out):
    """
    Take ``len(log_out) − 1`` steps of Runge and Kutta's fourth order.

    Returns end, steps and culprit. Line 0 of the log is the state at the beginning. If a contact
    closes or opens the state is that at the beginning of the step with the event.
    """
    n = len(tree.links)
    m = len(motion.order)
    w = space(motion.work, motion.order, n)
    state = motion.state
    sums = motion.sums
    q = state[Q]
    qd = state[QD]
    tau = state[TAU]
    damping = state[DAMPING]
    qdd = state[QDD]
    base_q = w.columns[2]
    base_qd = w.columns[3]
    sum_q = w.columns[4]
    sum_qd = w.columns[5]
    slope = w.columns[6]
    stage = 4
    step = -1
    begin = time
    now = time
    while True:
        # stages 1 to 3 of a step, or (4) its end, which is the beginning of the next
        empty = accelerations(tree, ties, state, now, rule, w)
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
                    off = max(off, abs(w.rows[2, j]))
                if rule.project:
                    onto(w, q, qd)
            step += 1
            note(w, q, qd, now, sums[0], off, log_out[step])
            if culprit >= 0:
                return kind, 0, culprit
            if w.facts[1, 2] > rule.disagreement:
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
