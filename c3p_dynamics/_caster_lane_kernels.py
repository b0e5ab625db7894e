# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled integration of LANES robots at once, each with the bits of `runge_kutta`.

The kernels of one robot, compiled for lanes (c3p_kernels/lanes.py); the two tables, of sine
and cosine and of tanh, are read lane by lane.
"""

from __future__ import annotations

import numpy as np

from c3p_dynamics import _caster_motion_kernels as motion
from c3p_dynamics._caster_equations import (
    ANGLE,
    COLUMNS,
    DRIVE,
    PER_RADIUS,
    TURN,
    packed_model,
)
from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import IN_LANES
from c3p_kernels.lanes import LANES, as_lanes
from c3p_kernels.specialise import specialise

_march = specialise(motion.march, dict(IN_LANES))


@kernel
def advance(geometry, inertia, platform, losses, states, torques, wrenches, dt, steps, keep):
    """
    Advance robots by `steps` steps of `dt` under each of their torques in turn.

    `states` (B, 8 + 2n) are overwritten; `torques` (B, N, m) and `wrenches` (B, 3) as in
    `runge_kutta`; what is reached under each row of torques goes to `keep` (B, N or 0, 8 + 2n).
    """
    n = len(geometry)
    size = states.shape[1]
    batch = len(states)
    _, body, casters, levels = packed_model(geometry, inertia, platform, losses)
    columns = np.empty((n, COLUMNS, LANES))
    dry = np.zeros((2, 3 * n if levels.size else 0, LANES))
    state = np.empty((size, LANES))
    wrench = np.empty((3, LANES))
    for start in range(0, batch, LANES):
        # lanes that are left over repeat the last robot
        for k in range(LANES):
            b = min(start + k, batch - 1)
            for j in range(size):
                state[j, k] = states[b, j]
            for j in range(3):
                wrench[j, k] = wrenches[b, j]
            for i in range(n):
                for j in range(COLUMNS):
                    columns[i, j, k] = casters[i, j]
                columns[i, ANGLE, k] = states[b, 6 + i]
        for row in range(torques.shape[1]):
            for k in range(LANES):
                b = min(start + k, batch - 1)
                for i in range(n):
                    columns[i, DRIVE, k] = casters[i, PER_RADIUS] * torques[b, row, i]
                    columns[i, TURN, k] = (torques[b, row, n + i] if torques.shape[2] > n
                                           else 0.0)
            push = as_lanes(wrench)
            _march((geometry, body, as_lanes(columns), as_lanes(dry)), as_lanes(state), push[0],
                   push[1], push[2], dt, steps)
            if keep.shape[1] > 0:
                for k in range(min(LANES, batch - start)):
                    for j in range(size):
                        keep[start + k, row, j] = state[j, k]
        for k in range(min(LANES, batch - start)):
            for j in range(size):
                states[start + k, j] = state[j, k]
