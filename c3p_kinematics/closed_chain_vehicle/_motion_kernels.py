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
    geometry,
    workspace,
)
from c3p_kinematics.closed_chain_vehicle._rate_kernels import correction, velocities
from c3p_kinematics.closed_chain_vehicle._scan_kernels import scan, scan_memory
from c3p_kinematics.compiled import inlined, kernel
from c3p_kinematics.rolling_contact._kernels import TORUS

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
    stabilisation, rate of Baumgarte's (1/s), travel between two scans in m (infinite: none),
    radius of the sharpest hollow, and the patch from x, to x, from y, to y.
    """

    period: float
    step: float
    tolerance: float
    stabilisation: float
    rate: float
    travel: float
    hollow: float
    from_x: float
    to_x: float
    from_y: float
    to_y: float


class Inputs(NamedTuple):
    """What is asked of the joints: table of rates, 1/√weight, feedback, limits, error lengths."""

    table: np.ndarray
    scale: np.ndarray
    gain: np.ndarray
    limits: np.ndarray
    lengths: np.ndarray


class March(NamedTuple):
    """Memory of a run: workspace, stages, states, inputs, and what the scan needs."""

    work: Work
    stage: np.ndarray
    state: np.ndarray
    trial: np.ndarray
    saved: np.ndarray
    rate: np.ndarray
    delta: np.ndarray
    desired: np.ndarray
    grid: np.ndarray
    found: np.ndarray


def march(m, n, links, settling, stages):
    """Return the memory of a run; sizes as `workspace`, and the stages of the method."""
    size = POSE + m + 5 * n
    return March(workspace(m, n, links, settling), np.zeros((stages, size)), np.zeros(size),
                 np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(m),
                 *scan_memory(n))


@kernel
def copy(source, target):
    """Copy a vector; assignments of slices take the compiler ten times as long."""
    for j in range(len(source)):
        target[j] = source[j]


@kernel
def keep(at, state, rate, desired, note, states, rates, desireds, turns):
    """Write record `at`."""
    for j in range(len(state)):
        states[at, j], rates[at, j] = state[j], rate[j]
    for j in range(len(desired)):
        desireds[at, j] = desired[j]
    for j in range(3):
        turns[at, j] = note[2 + j]


@inlined
def asked(table, k, s, gain, state, desired):
    """
    Write the desired rates at share s of period k, less the feedback ``gain θ``.

    `table` holds one row, or three of each period: begin, middle, end, of which the last is the
    first of the next. They are joined by a parabola, which Runge-Kutta's midpoints need exactly.
    """
    a, b, c, at, step = 1.0, 0.0, 0.0, 0, 0
    if table.shape[0] > 1:
        b, c, at, step = 4.0 * s * (1.0 - s), s * (2.0 * s - 1.0), 2 * k, 1
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
    for value in state:
        largest = max(largest, abs(value))
    return CLOSED + ROUNDINGS * largest


@kernel
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


@kernel
def pull(vehicle, state, work, rate, delta, out):
    """Add Baumgarte's share: the Newton step of the closure, taken at `rate` per second."""
    correction(vehicle, state, work, delta)
    for j in range(len(state)):
        out[j] += rate * delta[j]


@inlined
def combine(tableau_row, count, stage, h, state, trial):
    """Write ``trial = state + h Σ a_p stage_p``."""
    for j in range(len(state)):
        move = 0.0
        for p in range(count):
            move += tableau_row[p] * stage[p, j]
        trial[j] = state[j] + h * move


@inlined
def wrong(settings, limits, wheels, note, state, left, rank, first_rank):
    """Return what is wrong with a state: code, wheel or joint or rank, number."""
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


@kernel
def drive(vehicle, ground, settings, inputs, tableau, memory, count, every, states, rates,
          desireds, turns):
    """
    Run `count` periods from ``memory.state``, keeping every so many of them.

    Returns the periods that were reached, the time of the last state, and what ended the run:
    code, wheel or joint or rank, number. The last state is in ``memory.state``.
    """
    work, stage, state, trial = memory.work, memory.stage, memory.state, memory.trial
    rate, desired, note, last = memory.rate, memory.desired, memory.work.note, len(tableau.c)
    fixed, scanning = settings.tolerance <= 0.0, settings.travel < math.inf
    first_rank, fresh, error = 0, True, 0.0
    k, done, travelled, careful, saved_k, saved_done = 0, 0.0, 0.0, 0.0, 0, 0.0
    trying = min(settings.step, settings.period)
    while True:
        # the step, or for the first state and one that was gone back to, none
        h = 0.0 if fresh else min(trying, settings.period - done)
        for i in range(1, 1 if fresh else last):
            combine(tableau.a[i], i, stage, h, state, trial)
            asked(inputs.table, k, (done + tableau.c[i] * h) / settings.period, inputs.gain, trial,
                  desired)
            geometry(vehicle, ground, trial, work)
            velocities(vehicle, trial, desired, inputs.scale, work, stage[i])
            if settings.stabilisation == BAUMGARTE:
                pull(vehicle, trial, work, settings.rate, memory.delta, stage[i])
        combine(tableau.b, last, stage, h, state, trial)
        unit_quaternion(trial)
        if not (fixed or fresh):
            error = 0.0
            for j in range(len(state)):
                share = 0.0
                for i in range(last):
                    share += tableau.e[i] * stage[i, j]
                error = max(error, abs(h * share) * inputs.lengths[j])
            if not error <= settings.tolerance:
                shrink = SAFETY * (settings.tolerance / error) ** 0.2
                trying = h * (max(SHRINK, shrink) if math.isfinite(error) else SHRINK)
                if trying < SMALLEST * SMALLEST * settings.step:
                    return k, k * settings.period + done, TOO_SMALL, 0, error
                continue
        # the rate there, which the next step begins with
        if settings.stabilisation == PROJECTION:
            left = project(vehicle, ground, trial, work, memory.delta)
        else:
            left = geometry(vehicle, ground, trial, work)
        asked(inputs.table, k, (done + h) / settings.period, inputs.gain, trial, desired)
        rank = velocities(vehicle, trial, desired, inputs.scale, work, rate)
        if settings.stabilisation == BAUMGARTE:
            pull(vehicle, trial, work, settings.rate, memory.delta, rate)
        if fresh and k == 0:
            first_rank = rank
        code, which, number = wrong(settings, inputs.limits, vehicle.wheel.shape[0], note, trial,
                                    left, rank, first_rank)
        # what the platform turns moves the wheels about as far as its size
        speed = (math.sqrt(rate[0] ** 2 + rate[1] ** 2 + rate[2] ** 2) + 0.5 * inputs.lengths[3]
                 * math.sqrt(note[2] ** 2 + note[3] ** 2 + note[4] ** 2))
        way = travelled + h * speed
        looked = scanning and (fresh or way >= settings.travel or careful > 0.0)
        if code == NOTHING and looked and not alone(vehicle, trial, settings.hollow):
            which = scan(vehicle, ground, work.frame, memory.grid, memory.found)
            if which >= 0:
                code, number = SECOND, memory.found[which, 0]
        if code != NOTHING and scanning and careful <= 0.0 and travelled > 0.0:
            # a wheel may have touched twice since the last scan: again from there, looking after
            # each step
            copy(memory.saved, state)
            k, done, travelled, careful, fresh = saved_k, saved_done, 0.0, 2.0 * way, True
            continue
        if code != NOTHING:
            if fresh or h <= SMALLEST * settings.step:
                if fresh:
                    copy(trial, state)
                    copy(rate, stage[0])
                break
            trying = 0.5 * h
            continue
        done += h
        careful -= way - travelled
        travelled = way
        copy(trial, state)
        copy(rate, stage[0])
        if not (fixed or fresh):
            grow = SAFETY * (settings.tolerance / max(error, 1e-300)) ** 0.2
            trying = min(settings.step, h * min(GROW, max(grow, SHRINK)))
        start = fresh and k == 0 and done == 0.0
        fresh = False
        if done >= settings.period * (1.0 - 1e-9):
            k, done = k + 1, 0.0
        if looked:
            copy(state, memory.saved)
            travelled, saved_k, saved_done = 0.0, k, done
        if (start or done == 0.0) and k % every == 0:
            keep(k // every, state, rate, desired, note, states, rates, desireds, turns)
        if k >= count:
            return k, k * settings.period, NOTHING, 0, 0.0
    if fresh and k == 0:
        keep(0, state, rate, desired, note, states, rates, desireds, turns)
    return k, k * settings.period + done, code, which, number
