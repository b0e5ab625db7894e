# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled motion: explicit Runge-Kutta steps with stabilised closure and event detection.

A run is one call: trial step, checks of the trial state, acceptance, record.
"""

from __future__ import annotations

import math

from c3p_kernels.compiled import borrowed, inlined, inner, kernel, spliced
from c3p_rough_ground.closed_chain._geometry_kernels import POSE, contacts, geometry
from c3p_rough_ground.closed_chain._rate_kernels import correction, velocities
from c3p_rough_ground.closed_chain._scan_kernels import scan
from c3p_rough_ground.closed_chain.chain_states import cut_memory
from c3p_rough_ground.rolling_contact._kernels import TORUS

# events that end a run
(NOTHING, NOT_FINITE, SHARP, RANK, LIMIT, OUTSIDE, OPEN, SECOND, TOO_SMALL) = range(9)
# stabilisations of the closure
NONE, PROJECTION, BAUMGARTE = range(3)

# closure that the projection reaches, m and rad: some hundred roundings of a number of size one
CLOSED = 1e-12
# and roundings of the largest number of the state, which are larger far away
ROUNDINGS = 8.0 * 2.220446049250313e-16
# Newton steps of one projection; two are enough after any sensible step
MOST_CORRECTIONS = 6
# margin (1/m) below which Kw + K* counts as not positive definite: the contact would run 1e6 times
# as fast as the wheel turns
LEAST_MARGIN = 1e-6
# steps are shortened before an event down to this fraction of the given one
SMALLEST = 1.0 / 1024.0
# safety of the step control, and its bounds
SAFETY = 0.9
SHRINK = 0.2
GROW = 4.0


@kernel
def copy(source, target):
    """Copy a vector; assignments of slices take the compiler ten times as long."""
    for j in range(len(source)):
        target[j] = source[j]


@kernel
def keep(at, state, rate, desired, note, records):
    """Write record `at`."""
    for j in range(len(state)):
        records.states[at, j], records.rates[at, j] = state[j], rate[j]
    for j in range(len(desired)):
        records.desired[at, j] = desired[j]
    for j in range(3):
        records.turning[at, j] = note[2 + j]


@inlined
def requested(table, k, s, gain, state, desired):
    """
    Write the desired rates at the fraction s of period k, less the feedback ``gain θ``.

    `table` holds one row, or three of each period: begin, middle, end, of which the last is the
    first of the next. They are joined by a parabola, which Runge-Kutta's midpoints need exactly.
    """
    a = 1.0
    b = 0.0
    c = 0.0
    at = 0
    step = 0
    if table.shape[0] > 1:
        b = 4.0 * s * (1.0 - s)
        c = s * (2.0 * s - 1.0)
        at = 2 * k
        step = 1
        a = 1.0 - b - c
    for j in range(len(desired)):
        desired[j] = (a * table[at, j] + b * table[at + step, j] + c * table[at + 2 * step, j]
                      - gain[j] * state[POSE + j])


@inlined
def unit_quaternion(state):
    """Make the quaternion a unit one."""
    k = 1.0 / math.sqrt(state[3] * state[3] + state[4] * state[4] + state[5] * state[5]
                        + state[6] * state[6])
    for j in range(3, 7):
        state[j] *= k


@inlined
def tolerance_at(state):
    """Return the closure that rounding allows at a state."""
    largest = 0.0
    for j in range(len(state)):
        largest = max(largest, abs(state[j]))
    return CLOSED + ROUNDINGS * largest


@inner
def project(vehicle, ground, state, work, delta):
    """Close the chains by Newton steps, at least one; return what is left open, m and rad."""
    left = geometry(vehicle, ground, state, work)
    for _ in range(MOST_CORRECTIONS):
        correction(vehicle, state, work, delta)
        for j in range(len(state)):
            state[j] += delta[j]
        unit_quaternion(state)
        left = geometry(vehicle, ground, state, work)
        if left <= tolerance_at(state):
            break
    return left


@inner
def pull(vehicle, state, work, rate, delta, out):
    """Add Baumgarte's feedback: the Newton step of the closure, taken at `rate` per second."""
    correction(vehicle, state, work, delta)
    for j in range(len(state)):
        out[j] += rate * delta[j]


@inlined
def combine(tableau_row, count, stage, h, state, trial):
    """Write ``trial = state + h Σ a_p stage_p``."""
    # stage by stage: rows of memory, whose numbers the processor adds side by side
    for j in range(len(state)):
        trial[j] = 0.0
    for p in range(count):
        a = tableau_row[p]
        for j in range(len(state)):
            trial[j] += a * stage[p, j]
    for j in range(len(state)):
        trial[j] = state[j] + h * trial[j]


@inlined
def wrong(settings, limits, wheels, note, state, left, rank, first_rank):
    """Return the event of a state: code, wheel or joint or rank, number."""
    m = limits.shape[0]
    if not math.isfinite(left):
        return NOT_FINITE, 0, left
    if not note[0] > LEAST_MARGIN:
        return SHARP, int(note[1]), note[0]
    if settings.stabilisation == PROJECTION and not left <= tolerance_at(state):
        return OPEN, 0, left
    if rank != first_rank or rank < 0:
        return RANK, rank, note[5]
    for j in range(m):
        if not limits[j, 0] <= state[POSE + j] <= limits[j, 1]:
            return LIMIT, j, state[POSE + j]
    for i in range(wheels):
        x, y = state[POSE + m + 5 * i + 2], state[POSE + m + 5 * i + 3]
        if not (settings.from_x <= x <= settings.to_x and settings.from_y <= y <= settings.to_y):
            return OUTSIDE, i, x
    return NOTHING, 0, 0.0


@inlined
def alone(vehicle, state, hollow):
    """
    Return whether no wheel can touch the ground twice.

    A ball that touches where the wheel does and holds all of it, of a torus the one with radius
    ρ + R/cos v, is outside a ground whose hollows are rounder.
    """
    m = vehicle.tree.shape[0]
    for i in range(vehicle.wheel.shape[0]):
        c = math.cos(state[POSE + m + 5 * i + 1])
        if (vehicle.wheel[i, 2] != TORUS
                or not (hollow - vehicle.profile[i, 1]) * c > vehicle.profile[i, 0]):
            return False
    return True


@spliced
def rate_at(vehicle, plan, memory, k, s, state, out):
    """
    Write the rate of a state at the fraction s of period k; return the rank.

    The geometry of the state is in the workspace.
    """
    inputs = plan.inputs
    work = memory.work
    requested(inputs.table, k, s, inputs.gain, state, memory.desired)
    rank = velocities(vehicle, state, memory.desired, inputs.scale, work, out)
    if plan.settings.stabilisation == BAUMGARTE:
        pull(vehicle, state, work, plan.settings.rate, memory.delta, out)
    return rank


@spliced
def try_step(vehicle, ground, plan, memory, k, done, h, stages):
    """Write the trial state a step h later; return its estimated error, m (0: fixed steps)."""
    settings = plan.settings
    tableau = plan.tableau
    stage = memory.stage
    state = memory.state
    trial = memory.trial
    last = len(tableau.c)
    # the rate at the begin of the step is known: stage 0
    for i in range(1, stages):
        combine(tableau.a[i], i, stage, h, state, trial)
        # the mismatch is read by the feedback alone
        if settings.stabilisation == BAUMGARTE:
            geometry(vehicle, ground, trial, memory.work)
        else:
            contacts(vehicle, ground, trial, memory.work)
        rate_at(vehicle, plan, memory, k, (done + tableau.c[i] * h) / settings.period, trial,
                stage[i])
    combine(tableau.b, last, stage, h, state, trial)
    unit_quaternion(trial)
    error = 0.0
    if settings.tolerance > 0.0 and stages > 1:
        for j in range(len(state)):
            difference = 0.0
            for i in range(last):
                difference += tableau.e[i] * stage[i, j]
            error = max(error, abs(h * difference) * plan.inputs.lengths[j])
    return error


@inlined
def speed_of(rate, note, lengths):
    """Return the speed of the platform; its turning moves the wheels about half its size."""
    return (math.sqrt(rate[0] * rate[0] + rate[1] * rate[1] + rate[2] * rate[2])
            + 0.5 * lengths[3]
            * math.sqrt(note[2] * note[2] + note[3] * note[3] + note[4] * note[4]))


@kernel
def drive(vehicle, ground, plan, block, sizes, every, records):
    """
    Run ``plan.periods`` periods from ``memory.state``, keeping every `every`-th of them.

    `block` and `sizes` are those of `memory`, a ChainMemory.
    Returns the number of periods reached, the time of the last state, and the event that ended the
    run: code, wheel or joint or rank, number. The last state is in ``memory.state``.
    """
    vehicle = borrowed(vehicle)
    ground = borrowed(ground)
    plan = borrowed(plan)
    memory = cut_memory(block, sizes)
    records = borrowed(records)
    settings = plan.settings
    inputs = plan.inputs
    work = memory.work
    note = memory.work.note
    stages = len(plan.tableau.c)
    desired = memory.desired
    delta = memory.delta
    adaptive = settings.tolerance > 0.0
    scanning = settings.travel < math.inf
    # fresh: the first state, or the one gone back to, is checked without a step
    first_rank = 0
    fresh = True
    k = 0
    done = 0.0
    travelled = 0.0
    careful = 0.0
    saved_k = 0
    saved_done = 0.0
    trying = min(settings.step, settings.period)
    while True:
        # trial step
        h = 0.0 if fresh else min(trying, settings.period - done)
        error = try_step(vehicle, ground, plan, memory, k, done, h, 1 if fresh else stages)
        if not error <= settings.tolerance:
            shrink = SAFETY * (settings.tolerance / error) ** 0.2
            trying = h * (max(SHRINK, shrink) if math.isfinite(error) else SHRINK)
            if trying < SMALLEST * SMALLEST * settings.step:
                return k, k * settings.period + done, TOO_SMALL, 0, error
            continue
        # event: from the trial state, whose rate begins the next step
        if settings.stabilisation == PROJECTION:
            left = project(vehicle, ground, memory.trial, work, delta)
        else:
            left = geometry(vehicle, ground, memory.trial, work)
        rank = rate_at(vehicle, plan, memory, k, (done + h) / settings.period, memory.trial,
                       memory.rate)
        if fresh and k == 0:
            first_rank = rank
        code, which, number = wrong(settings, inputs.limits, vehicle.wheel.shape[0], note,
                                    memory.trial, left, rank, first_rank)
        path = travelled + h * speed_of(memory.rate, note, inputs.lengths)
        looked = scanning and (fresh or path >= settings.travel or careful > 0.0)
        if code == NOTHING and looked and not alone(vehicle, memory.trial, settings.hollow):
            which = scan(vehicle, ground, work.frame, memory.grid, memory.found)
            if which >= 0:
                code = SECOND
                number = memory.found[which, 0]
        if code != NOTHING:
            if scanning and careful <= 0.0 and travelled > 0.0:
                # a wheel may have touched twice since the last scan: back to it, and scan after
                # each step
                copy(memory.saved, memory.state)
                k = saved_k
                done = saved_done
                travelled = 0.0
                careful = 2.0 * path
                fresh = True
            elif not fresh and h > SMALLEST * settings.step:
                trying = 0.5 * h
            else:
                break
            continue
        # accept
        done += h
        careful -= path - travelled
        travelled = path
        copy(memory.trial, memory.state)
        copy(memory.rate, memory.stage[0])
        if adaptive and not fresh:
            grow = SAFETY * (settings.tolerance / max(error, 1e-300)) ** 0.2
            trying = min(settings.step, h * min(GROW, max(grow, SHRINK)))
        start = fresh and k == 0 and done == 0.0
        fresh = False
        if done >= settings.period * (1.0 - 1e-9):
            k = k + 1
            done = 0.0
        if looked:
            copy(memory.state, memory.saved)
            travelled = 0.0
            saved_k = k
            saved_done = done
        if (start or done == 0.0) and k % every == 0:
            keep(k // every, memory.state, memory.rate, desired, note, records)
        if k >= plan.periods:
            return k, k * settings.period, NOTHING, 0, 0.0
    if fresh:
        copy(memory.trial, memory.state)
        copy(memory.rate, memory.stage[0])
        if k == 0:
            keep(0, memory.state, memory.rate, desired, note, records)
    return k, k * settings.period + done, code, which, number
