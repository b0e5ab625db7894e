# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled prediction of the segments of a recorded motion (see shooting.py)."""

from __future__ import annotations

import math

import numpy as np

from c3p_dynamics._caster_motion_kernels import runge_kutta
from c3p_kernels.compiled import kernel


@kernel
def shoot(geometry, inertia, platform, losses, delay, start, begin, end, time, change, torque,
          substep, predicted):
    """
    Write the joints at `time` into the rows `begin` to `end` of `predicted` (k, 2n).

    Segment s starts at ``time[begin[s]]`` from `start` (S, 3 + 2n), rows ``[ν, θ_s, θ_x]``. Row j
    of `torque` (m, n or 2n) acts from ``change[j] + delay`` to ``change[j+1] + delay``: an
    integration step ends there, so that the prediction is a smooth function of the delay.
    """
    n = start.shape[1] // 2 - 1
    state = np.zeros(8 + 2 * n)
    wrench = np.zeros(3)
    last = len(change) - 1
    for s in range(len(begin)):
        # pose and energies of the state stay as they are: nothing depends on them
        state[3:6 + 2 * n] = start[s]
        now = time[begin[s]]
        predicted[begin[s]] = state[6:6 + 2 * n]
        j = max(0, np.searchsorted(change, now - delay, side='right') - 1)
        for k in range(begin[s] + 1, end[s]):
            while now < time[k]:
                until = time[k]
                if j < last and change[j + 1] + delay < until:
                    until = change[j + 1] + delay
                if until > now:
                    # a ratio that is whole but for rounding must not cost one step more
                    steps = max(1, int(math.ceil((until - now) / substep - 1e-9)))
                    runge_kutta(geometry, inertia, platform, losses, state, torque[j], wrench,
                                (until - now) / steps, steps)
                    now = until
                if until < time[k]:
                    j += 1
            predicted[k] = state[6:6 + 2 * n]
