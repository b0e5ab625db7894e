# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types)
"""Compiled batch of weighted, limited shares (see allocation.py)."""

from __future__ import annotations

import numpy as np

from c3p_dynamics._caster_derivative_kernels import forward_derivatives
from c3p_dynamics._caster_dynamics_kernels import packed_model
from c3p_dynamics._sharing_kernels import share_weighted
from c3p_kinematics.compiled import kernel


@kernel
def weighted_shares(geometry, inertia, platform, losses, steering, twist, accel, weight, ridge,
                    part, limit, torque):
    """
    Write the nearest torques within ±`limit` (n,) of a batch into `torque` (B, n).

    A negative `ridge` stands for `part` of the strongest wheel's weighted reach. `losses` is what
    friction is in the way of `accel` (B, 3); arrays otherwise as in _caster_dynamics_kernels.py.
    """
    n, model = len(geometry), packed_model(geometry, inertia, platform, losses)
    idle, still, low = np.zeros(n), np.zeros(3), -limit
    drift, target = np.empty(3), np.empty(3)
    d_steering, d_twist, reach = np.empty((3, n)), np.empty((3, 3)), np.empty((3, n))
    for b in range(len(steering)):
        forward_derivatives(model, steering[b], twist[b], idle, still, drift, d_steering, d_twist,
                            reach)
        for j in range(3):
            target[j] = accel[b, j] - drift[j]
        cost = ridge
        if ridge < 0.0:
            for i in range(n):
                strength = 0.0
                for j in range(3):
                    strength += weight[j] * reach[j, i] * reach[j, i]
                cost = max(cost, part * strength)
        share_weighted(reach, target, weight, cost, low, limit, torque[b])
