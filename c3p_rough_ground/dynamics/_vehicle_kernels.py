# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled motion of a vehicle with masses on the ground: right-hand side and Runge-Kutta steps.

The state is one vector: q (n: x, y, z, yaw, pitch, roll of the platform and θ), q̇ (n), tread
deflections (2 per wheel), integrals of the servos (m), work of the servos (m), dissipated energy
(normal to the ground, slip, rolling, joints). Energies are integrated with the motion, so that
their balance shows its error.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_kernels.compiled import inlined, kernel
from c3p_multibody.trees._articulated_kernels import ARTICULATED_WIDTH, articulated
from c3p_multibody.trees._motion_kernels import FRAME, MOTION, TOTALS, WIDTH, observe
from c3p_multibody.trees.description import Arrays
from c3p_rough_ground.closed_chain._geometry_kernels import chains, platform_frame
from c3p_rough_ground.dynamics._contact_kernels import LENGTH, X, Y, press, touch

BASE = 6
# columns of a row of `servo`: gain on the rate (N·m·s), on its integral (N·m), torque limit;
# passive: spring (N·m), its torque at zero, viscous and dry friction
(GAIN, INTEGRAL, LIMIT, SPRING, PRELOAD, VISCOUS, DRY) = range(7)
SERVO = 7
# what is dissipated
LOST = 4
# rate below which dry friction fades, rad/s or m/s
STILL = 1e-2
# energies of a record: kinetic, potential, in tyres and joint springs
ENERGIES = 3
# ends of a run
GOES_ON, NOT_FINITE, NO_CONTACT = range(3)


class System(NamedTuple):
    """
    A vehicle with masses, and its ground, for the kernels.

    Attributes
    ----------
    tree : Arrays
        Of the bodies (c3p_multibody/trees/description.py).
    wheel : (w, 3) int array
        Inner number of the body of each wheel, its place in q, kind of its surface.
    profile, tyre : (w, 3) and (w, 7) arrays
        Parameters of the surface, and of the tyre (columns in _contact_kernels.py).
    servo : (m, 7) array
    share : (m, m) array
        Weights of the rate errors of all joints in the error of each motor.
    """

    tree: Arrays
    wheel: np.ndarray
    profile: np.ndarray
    tyre: np.ndarray
    servo: np.ndarray
    share: np.ndarray


class RunSpan(NamedTuple):
    """
    Part of a run.

    Attributes
    ----------
    begin, periods : int
        First record, and number of periods.
    period : float, s
    steps : int
        Of the method in a period.
    """

    begin: int
    periods: int
    period: float
    steps: int


class Memory(NamedTuple):
    """Memory of the kernels: of the tree, contacts, wrenches, torques, energies, four stages."""

    place: np.ndarray
    body: np.ndarray
    frames: np.ndarray
    motion: np.ndarray
    totals: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    external: np.ndarray
    torque: np.ndarray
    motor: np.ndarray
    spot: np.ndarray
    energy: np.ndarray
    desired: np.ndarray
    stage: np.ndarray
    trial: np.ndarray


class Records(NamedTuple):
    """States, accelerations, motor torques, contacts, energies and desired rates of a run."""

    states: np.ndarray
    accelerations: np.ndarray
    motor: np.ndarray
    spot: np.ndarray
    energy: np.ndarray
    desired: np.ndarray


def state_size(n, w):
    """Return the length of the state of n freedoms and w wheels."""
    return 2 * n + 2 * w + 2 * (n - BASE) + LOST


def memory_for(n, w):
    """Return the memory for n freedoms and w wheels."""
    m = n - BASE
    size = state_size(n, w)
    return Memory(np.zeros((n, WIDTH)), np.zeros((n, ARTICULATED_WIDTH)), np.zeros((1, n, FRAME)),
                  np.zeros((1, n, MOTION)), np.zeros((1, TOTALS)), np.zeros((1, n)),
                  np.zeros((1, n)), np.zeros((1, n)), np.zeros((1, n, 6)), np.zeros((1, n)),
                  np.zeros(m), np.zeros((w, LENGTH)), np.zeros(ENERGIES), np.zeros(m),
                  np.zeros((4, size)), np.zeros(size))


def records_for(count, n, w):
    """Return the arrays for `count` records."""
    m = n - BASE
    return Records(np.empty((count, state_size(n, w))), np.empty((count, n)),
                   np.empty((count, m)), np.empty((count, w, LENGTH)),
                   np.empty((count, ENERGIES)), np.empty((count, m)))


@inlined
def servo_torque(servo, error, summed):
    """Return the torque of a motor, and the rate of its integral: 0 at the limit."""
    torque = servo[GAIN] * error + servo[INTEGRAL] * summed
    if torque > servo[LIMIT]:
        return servo[LIMIT], 0.0
    if torque < -servo[LIMIT]:
        return -servo[LIMIT], 0.0
    return torque, error


@kernel
def rates(system, ground, state, desired, memory, out):
    """Write the rate of the state, and the details to `memory`; return the end of the run."""
    n = memory.q.shape[1]
    w = system.wheel.shape[0]
    m = n - BASE
    shear = 2 * n
    summed = 2 * n + 2 * w
    work = summed + m
    lost = summed + 2 * m
    energy = memory.energy
    for j in range(n):
        memory.q[0, j], memory.qd[0, j] = state[j], state[n + j]
        memory.torque[0, j] = 0.0
    for j in range(LOST):
        out[lost + j] = 0.0
    energy[2] = 0.0
    observe(system.tree, memory.q, memory.qd, memory.place, memory.frames, memory.motion,
            memory.totals)
    energy[0], energy[1] = memory.totals[0, 0], memory.totals[0, 1]
    # the ground
    for i in range(w):
        body = system.wheel[i, 0]
        at = system.wheel[i, 1]
        if not touch(system.wheel[i, 2], system.profile[i], ground, memory.frames[0, body],
                     memory.spot[i]):
            return NO_CONTACT, i
        energy[2] += press(system.tyre[i], memory.frames[0, body], memory.motion[0, body],
                           state[shear + 2 * i:shear + 2 * i + 2], memory.external[0, at],
                           memory.spot[i], out[shear + 2 * i:shear + 2 * i + 2],
                           out[lost:lost + 3])
    # the joints
    for j in range(m):
        servo = system.servo[j]
        q = state[BASE + j]
        rate = state[n + BASE + j]
        error = 0.0
        for k in range(m):
            error += system.share[j, k] * (desired[k] - state[n + BASE + k])
        motor, out[summed + j] = servo_torque(servo, error, state[summed + j])
        drag = servo[VISCOUS] + servo[DRY] / math.sqrt(rate * rate + STILL * STILL)
        memory.motor[j] = motor
        memory.torque[0, BASE + j] = motor + servo[PRELOAD] - servo[SPRING] * q - drag * rate
        out[work + j] = motor * rate
        out[lost + 3] += drag * rate * rate
        energy[2] += (0.5 * servo[SPRING] * q - servo[PRELOAD]) * q
    articulated(system.tree, memory.q, memory.qd, memory.torque, memory.external, memory.body,
                memory.qdd)
    total = 0.0
    for j in range(n):
        out[j], out[n + j] = state[n + j], memory.qdd[0, j]
        total += memory.qdd[0, j]
    return (GOES_ON, 0) if math.isfinite(total) else (NOT_FINITE, 0)


@inlined
def requested(table, k, part, desired):
    """Write the desired rates at the fraction `part` of period k: one row, or joined by lines."""
    if table.shape[0] == 1:
        for j in range(len(desired)):
            desired[j] = table[0, j]
    else:
        for j in range(len(desired)):
            desired[j] = (1.0 - part) * table[k, j] + part * table[k + 1, j]


@kernel
def keep(at, state, memory, records):
    """Write record `at`."""
    for j in range(len(state)):
        records.states[at, j] = state[j]
    for j in range(memory.qdd.shape[1]):
        records.accelerations[at, j] = memory.qdd[0, j]
    for j in range(len(memory.motor)):
        records.motor[at, j], records.desired[at, j] = memory.motor[j], memory.desired[j]
    for i in range(memory.spot.shape[0]):
        for j in range(LENGTH):
            records.spot[at, i, j] = memory.spot[i, j]
    for j in range(ENERGIES):
        records.energy[at, j] = memory.energy[j]


@kernel
def drive(system, ground, state, table, span, memory, records_out):
    """
    Move on by a part of the run, and record it.

    Returns the last record, the end of the run and the wheel.
    """
    steps = span.steps
    size = len(state)
    h = span.period / steps
    stage = memory.stage
    trial = memory.trial
    for k in range(span.begin, span.begin + span.periods):
        for step in range(steps):
            part = step / steps
            requested(table, k, part, memory.desired)
            code, which = rates(system, ground, state, memory.desired, memory, stage[0])
            if code != GOES_ON:
                return k, code, which
            if step == 0:
                keep(k, state, memory, records_out)
            requested(table, k, part + 0.5 / steps, memory.desired)
            for j in range(size):
                trial[j] = state[j] + 0.5 * h * stage[0, j]
            code, which = rates(system, ground, trial, memory.desired, memory, stage[1])
            if code != GOES_ON:
                return k, code, which
            for j in range(size):
                trial[j] = state[j] + 0.5 * h * stage[1, j]
            code, which = rates(system, ground, trial, memory.desired, memory, stage[2])
            if code != GOES_ON:
                return k, code, which
            requested(table, k, part + 1.0 / steps, memory.desired)
            for j in range(size):
                trial[j] = state[j] + h * stage[2, j]
            code, which = rates(system, ground, trial, memory.desired, memory, stage[3])
            if code != GOES_ON:
                return k, code, which
            for j in range(size):
                state[j] += h / 6.0 * (stage[0, j] + 2.0 * (stage[1, j] + stage[2, j])
                                       + stage[3, j])
    last = span.begin + span.periods
    requested(table, last - 1, 1.0, memory.desired)
    code, which = rates(system, ground, state, memory.desired, memory, stage[0])
    if code != GOES_ON:
        return last - 1, code, which
    keep(last, state, memory, records_out)
    return last, GOES_ON, 0


@kernel
def guess(system, memory, state):
    """Write the guesses of the contacts: below the wheel centres."""
    for j in range(memory.q.shape[1]):
        memory.q[0, j] = state[j]
        memory.qd[0, j] = 0.0
    observe(system.tree, memory.q, memory.qd, memory.place, memory.frames, memory.motion,
            memory.totals)
    for i in range(system.wheel.shape[0]):
        memory.spot[i, X] = memory.frames[0, system.wheel[i, 0], 9]
        memory.spot[i, Y] = memory.frames[0, system.wheel[i, 0], 10]


@kernel
def place_bodies(vehicle, state, frame):
    """Write the frames of all bodies in the convention of `closed_chain`."""
    platform_frame(state, frame)
    chains(vehicle, state, frame)
