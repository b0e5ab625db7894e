# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled encoders and tracking loops, at 1 kHz per joint."""

from __future__ import annotations

import math

from c3p_kernels.compiled import kernel


@kernel
def read_encoders(angle, rate, quantum, shift, interval, z, read, read_rate, tracked):
    """
    Write measured `read` and `read_rate` of true `angle` and `rate` (m,), see `SensedPlant`.

    `quantum` is 0 for ideal encoders; `shift` is phase plus noise in counts; `tracked` and
    `read_rate` are the state of the loops, unchanged by an `interval` of 0.
    """
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
