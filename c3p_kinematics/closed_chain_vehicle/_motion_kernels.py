# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled motion: explicit Runge-Kutta steps, the closure held after each, events watched for.

Everything between two calls from Python happens here: a run is one call.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_kinematics.closed_chain_vehicle._geometry_kernels import (
    POSE,
    Work,
    closure,
    geometry,
    workspace,
)
from c3p_kinematics.closed_chain_vehicle._rate_kernels import correction, velocities
from c3p_kinematics.closed_chain_vehicle._scan_kernels import scan, scan_memory
from c3p_kinematics.compiled import inlined, kernel

# what ended a run
(NOTHING, NOT_FINITE, SHARP, RANK, LIMIT, OUTSIDE, OPEN, SECOND, TOO_SMALL) = range(9)
# how the closure is held
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
# an event is met by steps down to this share of the given one
SMALLEST = 1.0 / 1024.0
# safety of the step control, and its bounds
SAFETY, SHRINK, GROW = 0.9, 0.2, 4.0


class Tableau(NamedTuple):
    """An explicit Runge-Kutta method: stages a, weights b, times c, weights of the error e."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    e: np.ndarray


class Settings(NamedTuple):
    """
    How a run goes; all numbers are floats.

    Period of the records, largest step, tolerance of adaptive steps in m (0: fixed steps), kind of
    stabilisation, rate of Baumgarte's (1/s), travel between two scans in m, and the patch
    (x from, x to, y from, y to).
    """

    period: float
    step: float
    tolerance: float
    stabilisation: float
    rate: float
    travel: float
    patch: tuple


class March(NamedTuple):
    """Memory of a run: workspace, stages, states, inputs, and what the scan needs."""

    work: Work
    stage: np.ndarray
    state: np.ndarray
    trial: np.ndarray
    saved: np.ndarray
    rate: np.ndarray
    desired: np.ndarray
    grid: np.ndarray
    found: np.ndarray


def march(m, n, links, settling, stages):
    """Return the memory of a run; sizes as `workspace`, and the stages of the method."""
    size = POSE + m + 5 * n
    return March(workspace(m, n, links, settling), np.zeros((stages, size)), np.zeros(size),
                 np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(m), *scan_memory(n))


@inlined
def asked(table, k, s, gain, state, desired):
    """
    Write the desired rates at share s of period k, less the feedback ``gain θ``.

    `table` holds one row, or three of each period: begin, middle, end, of which the last is the
    first of the next. They are joined by a parabola, which Runge-Kutta's midpoints need exactly.
    """
    if table.shape[0] == 1:
        for j in range(len(desired)):
            desired[j] = table[0, j] - gain[j] * state[POSE + j]
        return
    b, c = 4.0 * s * (1.0 - s), s * (2.0 * s - 1.0)
    a = 1.0 - b - c
    for j in range(len(desired)):
        desired[j] = (a * table[2 * k, j] + b * table[2 * k + 1, j] + c * table[2 * k + 2, j]
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
    for value in state:
        largest = max(largest, abs(value))
    return CLOSED + ROUNDINGS * largest


@kernel
def correct(vehicle, state, work):
    """Take one Newton step of the closure from the mismatches in `work`."""
    delta = work.delta
    correction(vehicle, state, work, delta)
    for j in range(len(state)):
        state[j] += delta[j]
    unit_quaternion(state)


@kernel
def project(vehicle, ground, state, work):
    """Close the chains by Newton steps; return what is left open, m and rad."""
    left = closure(vehicle, ground, state, work)
    for k in range(MOST_CORRECTIONS):
        # after a step of the integration the first is always taken: it costs no more than to ask
        if k > 0 and not left > tolerance_at(state):
            break
        correct(vehicle, state, work)
        left = closure(vehicle, ground, state, work)
    return left


@kernel
def velocities_here(vehicle, state, desired, scale, work, out):
    """Write the rate of the state whose geometry is in `work`; compiled once for all callers."""
    return velocities(vehicle, state, desired, scale, work, out)


@inlined
def stages(vehicle, ground, settings, table, k, done, h, scale, gain, tableau, memory):
    """Write `trial`, one step of length h from `state`, whose rate is stage 0; return the error."""
    work, stage, state, trial = memory.work, memory.stage, memory.state, memory.trial
    size = len(state)
    for i in range(1, stage.shape[0]):
        for j in range(size):
            trial[j] = 0.0
        for p in range(i):
            a = h * tableau.a[i, p]
            if a != 0.0:
                for j in range(size):
                    trial[j] += a * stage[p, j]
        for j in range(size):
            trial[j] += state[j]
        asked(table, k, (done + tableau.c[i] * h) / settings.period, gain, trial, memory.desired)
        if settings.stabilisation == BAUMGARTE:
            closure(vehicle, ground, trial, work)
        else:
            geometry(vehicle, ground, trial, work)
        velocities_here(vehicle, trial, memory.desired, scale, work, stage[i])
        if settings.stabilisation == BAUMGARTE:
            pull(vehicle, trial, work, settings.rate, stage[i])
    worst = 0.0
    for j in range(size):
        move, error = 0.0, 0.0
        for i in range(stage.shape[0]):
            move += tableau.b[i] * stage[i, j]
            error += tableau.e[i] * stage[i, j]
        trial[j] = state[j] + h * move
        worst = max(worst, abs(h * error) * vehicle.lengths[j])
    unit_quaternion(trial)
    return worst


@kernel
def pull(vehicle, state, work, rate, out):
    """Add Baumgarte's share: the Newton step of the closure, taken at `rate` per second."""
    correction(vehicle, state, work, work.delta)
    for j in range(len(state)):
        out[j] += rate * work.delta[j]


@inlined
def arrive(vehicle, ground, settings, table, k, s, scale, gain, memory, state, out):
    """Hold the closure at a state and write its rate; return what is left open and the rank."""
    if settings.stabilisation == PROJECTION:
        left = project(vehicle, ground, state, memory.work)
    else:
        left = closure(vehicle, ground, state, memory.work)
    asked(table, k, s, gain, state, memory.desired)
    rank = velocities_here(vehicle, state, memory.desired, scale, memory.work, out)
    if settings.stabilisation == BAUMGARTE:
        pull(vehicle, state, memory.work, settings.rate, out)
    return left, rank


@inlined
def wrong(vehicle, settings, work, state, left, rank, first_rank):
    """Return what is wrong with a state: code, wheel or joint, number."""
    for value in state:
        if not math.isfinite(value):
            return NOT_FINITE, 0, left
    if not work.note[0] > LEAST_MARGIN:
        return SHARP, int(work.note[1]), work.note[0]
    if settings.stabilisation == PROJECTION and not left <= tolerance_at(state):
        return OPEN, 0, left
    if rank != first_rank:
        return RANK, rank, work.note[5]
    for j in range(vehicle.limits.shape[0]):
        if not vehicle.limits[j, 0] <= state[POSE + j] <= vehicle.limits[j, 1]:
            return LIMIT, j, state[POSE + j]
    m, patch = vehicle.limits.shape[0], settings.patch
    for i in range(len(vehicle.surface)):
        x, y = state[POSE + m + 5 * i + 2], state[POSE + m + 5 * i + 3]
        if not (patch[0] <= x <= patch[1] and patch[2] <= y <= patch[3]):
            return OUTSIDE, i, 0.0
    return NOTHING, 0, 0.0


@inlined
def record(memory, k, every, states, rates, inputs, turns):
    """Keep state, rate, inputs and angular velocity of period k, if it is one of every so many."""
    if k % every:
        return
    at = k // every
    for j in range(states.shape[1]):
        states[at, j] = memory.state[j]
        rates[at, j] = memory.stage[0, j]
    for j in range(inputs.shape[1]):
        inputs[at, j] = memory.desired[j]
    for j in range(3):
        turns[at, j] = memory.work.note[2 + j]


@kernel
def drive(vehicle, ground, settings, table, scale, gain, tableau, memory, count, every,
          states, rates, inputs, turns):
    """
    Run `count` periods from ``memory.state``, keeping every so many of them.

    Returns the periods that were reached, the time since the start of the last state, and what
    ended the run: code, wheel or joint or rank, number. The last state is in ``memory.state``.
    """
    state, trial, work = memory.state, memory.trial, memory.work
    left, first_rank = arrive(vehicle, ground, settings, table, 0, 0.0, scale, gain, memory, state,
                              memory.stage[0])
    code, which, number = wrong(vehicle, settings, work, state, left, first_rank, first_rank)
    if first_rank < 0:
        code, which, number = RANK, first_rank, 0.0
    if code == NOTHING:
        which = scan(vehicle, ground, work.frame, memory.grid, memory.found)
        if which >= 0:
            code, number = SECOND, memory.found[which, 0]
    record(memory, 0, every, states, rates, inputs, turns)
    if code != NOTHING:
        return 0, 0.0, code, which, number
    k, done, travelled, trying, careful = 0, 0.0, 0.0, min(settings.step, settings.period), 0.0
    memory.saved[:] = state
    saved_k, saved_done = k, done
    while k < count:
        h = min(trying, settings.period - done)
        error = stages(vehicle, ground, settings, table, k, done, h, scale, gain, tableau, memory)
        # h is shortened to nothing only by what cannot be integrated at all
        if settings.tolerance > 0.0 and not error <= settings.tolerance:
            shrink = SAFETY * (settings.tolerance / error) ** 0.2
            trying = h * max(SHRINK, shrink if math.isfinite(error) else SHRINK)
            if trying < SMALLEST * SMALLEST * settings.step:
                return k, k * settings.period + done, TOO_SMALL, 0, error
            continue
        left, rank = arrive(vehicle, ground, settings, table, k, (done + h) / settings.period,
                            scale, gain, memory, trial, memory.rate)
        code, which, number = wrong(vehicle, settings, work, trial, left, rank, first_rank)
        speed = math.sqrt(memory.rate[0] ** 2 + memory.rate[1] ** 2 + memory.rate[2] ** 2)
        turn = math.sqrt(work.note[2] ** 2 + work.note[3] ** 2 + work.note[4] ** 2)
        # what the platform turns moves the wheels about as far as its size
        way = travelled + h * (speed + turn * 0.5 * vehicle.lengths[3])
        looked = way >= settings.travel or careful > 0.0
        if code == NOTHING and looked:
            which = scan(vehicle, ground, work.frame, memory.grid, memory.found)
            if which >= 0:
                code, number = SECOND, memory.found[which, 0]
                if careful <= 0.0 and travelled > 0.0:
                    # somewhere since the last scan: again from there, looking after each step
                    state[:] = memory.saved
                    k, done, travelled, careful = saved_k, saved_done, 0.0, 2.0 * way
                    arrive(vehicle, ground, settings, table, k, done / settings.period, scale,
                           gain, memory, state, memory.stage[0])
                    continue
        if code != NOTHING:
            if h <= SMALLEST * settings.step:
                return k, k * settings.period + done, code, which, number
            trying = 0.5 * h
            continue
        done += h
        careful -= way - travelled
        travelled = way
        state[:] = trial
        memory.stage[0, :] = memory.rate
        if settings.tolerance > 0.0:
            grow = SAFETY * (settings.tolerance / max(error, 1e-300)) ** 0.2
            trying = min(settings.step, h * min(GROW, max(grow, SHRINK)))
        if done >= settings.period * (1.0 - 1e-9):
            k, done = k + 1, 0.0
            record(memory, k, every, states, rates, inputs, turns)
        if looked:
            memory.saved[:] = state
            travelled, saved_k, saved_done = 0.0, k, done
    return k, k * settings.period, NOTHING, 0, 0.0
