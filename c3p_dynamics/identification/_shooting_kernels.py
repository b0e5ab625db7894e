# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled prediction of the segments of a recorded motion (see shooting.py)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from c3p_dynamics._caster_motion_kernels import runge_kutta
from c3p_kernels.compiled import kernel


class Segments(NamedTuple):
    """
    Segments of a recording.

    Attributes
    ----------
    start : (S, 3 + 2n) array
        Initial states, rows ``[ν, θ_s, θ_x]``.
    begin, end : (S,) int arrays
        First row, and the one behind the last.
    """

    start: np.ndarray
    begin: np.ndarray
    end: np.ndarray


class TimedTorque(NamedTuple):
    """
    Times of the joints, and torques with the times of their changes.

    Attributes
    ----------
    time : (k,) array, s
        Of the joints.
    change : (m,) array, s
        From which each row of `torque` acts.
    torque : (m, n or 2n) array, N·m
    """

    time: np.ndarray
    change: np.ndarray
    torque: np.ndarray


@kernel
def shoot(model, segments, inputs, delay, substep, predicted_out):
    """
    Write the joints into the rows of all segments of `predicted_out` (k, 2n).

    Row j of the torques acts from ``change[j] + delay`` to ``change[j+1] + delay``: an integration
    step ends there, so that the prediction is a smooth function of the delay.
    """
    start = segments.start
    begin = segments.begin
    time = inputs.time
    change = inputs.change
    n = start.shape[1] // 2 - 1
    state = np.zeros(8 + 2 * n)
    wrench = np.zeros(3)
    last = len(change) - 1
    for s in range(len(begin)):
        # pose and energies of the state stay as they are: nothing depends on them
        state[3:6 + 2 * n] = start[s]
        now = time[begin[s]]
        predicted_out[begin[s]] = state[6:6 + 2 * n]
        j = max(0, np.searchsorted(change, now - delay, side='right') - 1)
        for k in range(begin[s] + 1, segments.end[s]):
            while now < time[k]:
                until = time[k]
                if j < last and change[j + 1] + delay < until:
                    until = change[j + 1] + delay
                if until > now:
                    # a ratio that is whole but for rounding must not cost one step more
                    steps = max(1, int(math.ceil((until - now) / substep - 1e-9)))
                    runge_kutta(model, state, inputs.torque[j], wrench, (until - now) / steps,
                                steps)
                    now = until
                if until < time[k]:
                    j += 1
            predicted_out[k] = state[6:6 + 2 * n]
