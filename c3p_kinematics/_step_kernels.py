# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled repetition of the newest steps: without a caster, with a held twist, or by increments.

Public sides: odometry.py and held_motion.py; no checks. A ring keeps the last k steps by their
numbers; `repeat` says what its rows are.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_kernels.compiled import kernel
from c3p_kernels.small import put
from c3p_kinematics._odometry_kernels import LEAST_TRUST, advance
from c3p_kinematics._planar_kernels import solve


@kernel
def refit(geometry, casters, steps, count, span, wheel, pose):
    """
    Undo the newest steps of a ring up to the age `span` [s] and repeat them without `wheel`.

    Arguments as of `repeat`.
    """
    repeat(geometry, casters, steps, first_within(steps, count, span), count, wheel, False, pose)


@kernel
def first_within(steps, count, span):
    """Return the number of the oldest step of a ring that began at most `span` [s] ago."""
    used, age = 0, 0.0
    while used < min(count, len(steps)):
        age += steps[(count - 1 - used) % len(steps), 3]
        if age > span:
            break
        used += 1
    return count - used


@kernel
def hold_back(steps, first, count, reference, before, pose):
    """
    Undo the steps of a ring from number `first` on, and hold the twist since; return its duration.

    Wheels that spin are recognised after some samples, and have moved the pose meanwhile.
    `reference` (3,) becomes the plausible twist before step `first`, as it is now in
    ``base_link``, and `before` (3,) the pose there; `steps` (k, 11) as of `repeat`.
    """
    size, age = len(steps), 0.0
    for k in range(count - 1, first - 1, -1):
        advance(pose, steps[k % size, :3], -steps[k % size, 3])
    put(pose, before)
    put(steps[first % size, 5:8], reference)
    for k in range(first, count):
        step = steps[k % size]
        put(reference, step[5:8])
        put(pose, step[8:])
        coast(reference, step[3])
        put(reference, step[:3])
        step[4] = 1.0
        advance(pose, reference, step[3])
        age += step[3]
    return age


@kernel
def coast(twist, dt):
    """Turn a `twist` (3,) into the axes of the platform after `dt` [s] at that velocity."""
    c, s = math.cos(twist[2] * dt), math.sin(twist[2] * dt)
    twist[0], twist[1] = c * twist[0] + s * twist[1], c * twist[1] - s * twist[0]


@kernel
def repeat(geometry, casters, steps, first, count, wheel, free, pose):
    """
    Undo the steps of a ring from number `first` on, and repeat them.

    Parameters
    ----------
    geometry : (n, 4) array
    casters : (k, 5, n) array
        Rows of each step: steering, wheel rate, steering rate, and weight along and across.
    steps : (k, 11) array
        Twist, duration, 1 for a held twist, and plausible twist and pose before the step; is
        updated.
    first, count : int
        First step to repeat; `count` steps have been written, at most the last k of them are kept.
    wheel : int
        Caster to do without; −1 for none.
    free : bool
        Steps with a held twist are repeated by what the wheels rolled; else they stay.
    pose : (3,) array
        Updated.
    """
    n, size = casters.shape[2], len(steps)
    weight, residual = np.empty((n, 2)), np.empty((n, 2))
    twist, unit = np.empty(3), np.empty((3, 3))
    # backwards to the pose before the oldest of them
    for k in range(count - 1, first - 1, -1):
        advance(pose, steps[k % size, :3], -steps[k % size, 3])
    for k in range(first, count):
        step, caster = steps[k % size], casters[k % size]
        put(step[:3], twist)
        held = step[4] != 0.0
        if free if held else wheel >= 0:
            put(caster[3], weight[:, 0])
            put(caster[4], weight[:, 1])
            if wheel >= 0:
                for j in range(2):
                    weight[wheel, j] = min(weight[wheel, j], LEAST_TRUST)
            solve(geometry, caster[0], caster[1], caster[2], weight, twist, residual, unit)
            if math.isfinite(twist[0] + twist[1] + twist[2]):
                put(twist, step[:3])
                step[4] = 0.0
            else:
                put(step[:3], twist)
        put(pose, step[8:])
        advance(pose, twist, step[3])
