# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled encoders and tracking loops: a thousand readings a second of every joint."""

from __future__ import annotations

import math

from c3p_kinematics.compiled import kernel


@kernel
def read_encoders(angle, rate, quantum, shift, interval, z, told, told_rate, tracked):
    """
    Write what encoders tell of `angle` and `rate` (m,), as `sensors.SensedPlant` says.

    `quantum` is 0 for an ideal one; `shift` is phase and noise in counts; `tracked` and
    `told_rate` are the state of the loops, which an `interval` of 0 leaves as it is.
    """
    for i in range(len(angle)):
        if quantum[i] == 0.0:
            told[i], told_rate[i] = angle[i], rate[i]
            continue
        told[i] = quantum[i] * math.floor(angle[i] / quantum[i] + shift[i])
        if interval > 0.0:
            expected = tracked[i] + interval * told_rate[i]
            error = told[i] - expected
            tracked[i] = expected + (1.0 - z * z) * error
            told_rate[i] += (1.0 - z) * (1.0 - z) / interval * error
