# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled encoders and tracking loops, at 1 kHz per joint."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_kernels.compiled import kernel


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
