# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""
Compiled batches over steering angles and twists: forward dynamics, M and G, weighted allocation.

`geometry`, `inertia`, `platform` and `losses` are packed as the properties of CasterRobot of these
names (`inertia` is `caster_inertia`); the first dimension of all other arrays is the batch.
Torques are (B, m), with m = n, or 2n with those of the steering axes.
"""

from __future__ import annotations

import numpy as np

from c3p_dynamics._caster_equations import (
    equations,
    forward,
    forward_derivatives,
    load,
    packed_model,
)
from c3p_dynamics._sharing_kernels import share_weighted
from c3p_kernels.compiled import kernel


@kernel
def forwards(geometry, inertia, platform, losses, steering, twist, torque, wrench, accel):
    """Write ν̇ of a batch: `steering` (B, n), `torque` (B, m), all others (B, 3)."""
    model = packed_model(geometry, inertia, platform, losses)
    for b in range(len(steering)):
        forward(model, steering[b], twist[b], torque[b], wrench[b], accel[b])


@kernel
def masses_and_biases(geometry, inertia, platform, steering, twist, mass, bias):
    """Write M (B, 3, 3) and G (B, 3) of a batch of `steering` (B, n) and `twist` (B, 3)."""
    n = len(geometry)
    model = packed_model(geometry, inertia, platform, np.zeros((n, 6)))
    idle = np.zeros(n)
    for b in range(len(steering)):
        load(model, steering[b], idle)
        m00, m01, m02, m11, m12, m22, f0, f1, f2, _ = equations(model, twist[b, 0], twist[b, 1],
                                                                twist[b, 2])
        mass[b, 0, 0] = m00
        mass[b, 0, 1] = m01
        mass[b, 0, 2] = m02
        mass[b, 1, 0] = m01
        mass[b, 1, 1] = m11
        mass[b, 1, 2] = m12
        mass[b, 2, 0] = m02
        mass[b, 2, 1] = m12
        mass[b, 2, 2] = m22
        # without friction and torques F is 0
        bias[b, 0] = -f0
        bias[b, 1] = -f1
        bias[b, 2] = -f2


@kernel
def weighted_shares(geometry, inertia, platform, losses, steering, twist, accel, weight, ridge,
                    part, limit, torque):
    """
    Write the nearest torques within ±`limit` (m,) of a batch into `torque` (B, m).

    A negative `ridge` stands for `part` of the strongest motor's weighted reach. Friction in
    `losses` is part of the motion that `accel` (B, 3) asks for.
    """
    n = len(geometry)
    m = len(limit)
    model = packed_model(geometry, inertia, platform, losses)
    idle = np.zeros(m)
    still = np.zeros(3)
    low = -limit
    drift = np.empty(3)
    target = np.empty(3)
    d_steering = np.empty((3, n))
    d_twist = np.empty((3, 3))
    reach = np.empty((3, m))
    for b in range(len(steering)):
        forward_derivatives(model, steering[b], twist[b], idle, still, drift, d_steering, d_twist,
                            reach)
        for j in range(3):
            target[j] = accel[b, j] - drift[j]
        cost = ridge
        if ridge < 0.0:
            for i in range(m):
                strength = 0.0
                for j in range(3):
                    strength += weight[j] * reach[j, i] * reach[j, i]
                cost = max(cost, part * strength)
        share_weighted(reach, target, weight, cost, low, limit, torque[b])
