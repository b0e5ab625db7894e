# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled encoders, tracking loops, creep, play and ages of readings, at 1 kHz per joint."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_kernels.compiled import kernel

# a reading is due also when rounding leaves so much of its time, s
INSTANT = 1e-9


class EncoderLoops(NamedTuple):
    """
    Encoders of m joints with their tracking loops, written by `read_encoders`.

    Attributes
    ----------
    quantum : (m,) array, rad
        Step; 0 for ideal encoders.
    read, read_rate : (m,) arrays, rad and rad/s
        Measured.
    tracked : (m,) array, rad
        State of the loops.
    """

    quantum: np.ndarray
    read: np.ndarray
    read_rate: np.ndarray
    tracked: np.ndarray


@kernel
def read_encoders(angle, rate, shift, interval, z, loops):
    """
    Measure true `angle` and `rate` (m,), see `SensedPlant`.

    `shift` is phase plus noise in counts; the `loops`, a tuple of the parts of EncoderLoops, do
    not move in an `interval` of 0.
    """
    quantum, read, read_rate, tracked = loops
    for i in range(len(angle)):
        if quantum[i] == 0.0:
            read[i], read_rate[i] = angle[i], rate[i]
            continue
        read[i] = quantum[i] * math.floor(angle[i] / quantum[i] + shift[i])
        if interval > 0.0:
            expected = tracked[i] + interval * read_rate[i]
            error = read[i] - expected
            tracked[i] = expected + (1.0 - z * z) * error
            read_rate[i] += (1.0 - z) * (1.0 - z) / interval * error


@kernel
def creep_tyres(angle, rate, before, creep, extra):
    """
    Add `extra` (n,) to the wheels' `angle` and `rate` (n,): turns that move no ground.

    `extra` grows by `creep` (n,) times the increment of the angle since `before` (n,), which is
    updated.
    """
    for i in range(len(angle)):
        extra[i] += creep[i] * (angle[i] - before[i])
        before[i] = angle[i]
        angle[i] += extra[i]
        rate[i] *= 1.0 + creep[i]


@kernel
def lose_counts(angle, moved, lost, lost_counts, quantum):
    """
    Take `lost` (n,) from the wheels' `angle` (n,), with `lost_counts` (n,) more of them.

    `moved` (n,) is the increment of the angle: counts are lost against its direction.
    """
    for i in range(len(angle)):
        lost[i] += math.copysign(quantum[i] * lost_counts[i], moved[i])
        angle[i] -= lost[i]


@kernel
def follow_with_play(angle, play, follower):
    """Move `follower` (m,) with `angle` (m,) through gears with `play` (m,), and copy it there."""
    for i in range(len(angle)):
        half = 0.5 * play[i]
        follower[i] = min(max(follower[i], angle[i] - half), angle[i] + half)
        angle[i] = follower[i]


@kernel
def latch_due(time, period, due, angle, rate, held, held_rate):
    """
    Write `angle` and `rate` (m,) to `held` and `held_rate` where a reading is due at `time`.

    `due` (m,) has the time of the next reading of each joint, a `period` (m,) after the last.
    """
    for i in range(len(angle)):
        if time < due[i] - INSTANT:
            continue
        held[i] = angle[i]
        held_rate[i] = rate[i]
        while due[i] <= time + INSTANT:
            due[i] += period[i]
