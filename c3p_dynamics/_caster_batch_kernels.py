# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled batches over steering angles and twists: forward dynamics, M and G.

`numbers` are those of `numbers_of`; the first dimension of all other arrays is the batch. Torques
are (B, m), with m = n, or 2n with those of the steering axes.
"""

from __future__ import annotations

import numpy as np

from c3p_dynamics._caster_equations import equations, forward, load, packed_model
from c3p_kernels.compiled import kernel


@kernel
def forwards(numbers, steering, twist, torque, wrench, accel_out):
    """Write ν̇ of a batch: `steering` (B, n), `torque` (B, m), all others (B, 3)."""
    geometry, inertia, platform, losses = numbers
    model = packed_model(geometry, inertia, platform, losses)
    for b in range(len(steering)):
        forward(model, steering[b], twist[b], torque[b], wrench[b], accel_out[b])


@kernel
def masses_and_biases(numbers, steering, twist, mass_out, bias_out):
    """Write M (B, 3, 3) and G (B, 3) of a batch of `steering` (B, n) and `twist` (B, 3)."""
    geometry, inertia, platform, _ = numbers
    n = len(geometry)
    # without friction
    model = packed_model(geometry, inertia, platform, np.zeros((n, 6)))
    idle = np.zeros(n)
    for b in range(len(steering)):
        load(model, steering[b], idle)
        matrix, f0, f1, f2, _ = equations(model, twist[b, 0], twist[b, 1], twist[b, 2])
        m00, m01, m02, m11, m12, m22 = matrix
        mass_out[b, 0, 0] = m00
        mass_out[b, 0, 1] = m01
        mass_out[b, 0, 2] = m02
        mass_out[b, 1, 0] = m01
        mass_out[b, 1, 1] = m11
        mass_out[b, 1, 2] = m12
        mass_out[b, 2, 0] = m02
        mass_out[b, 2, 1] = m12
        mass_out[b, 2, 2] = m22
        # without friction and torques F is 0
        bias_out[b, 0] = -f0
        bias_out[b, 1] = -f1
        bias_out[b, 2] = -f2
