# SPDX-License-Identifier: Apache-2.0
"""
Slip of the wheels' material, by differences of the motion: a check that shares no Jacobian.

The point of the wheel's material that touches the ground at a record is followed while the motion
is integrated a little ahead and back. Where it is then, the chain of joints alone says. Backwards
in time is driving with all desired rates reversed: the motion is linear in them.
"""

from __future__ import annotations

import numpy as np

from c3p_kinematics.closed_chain_vehicle import _measure_kernels as measure
from c3p_kinematics.closed_chain_vehicle import _motion_kernels as kernels
from c3p_kinematics.closed_chain_vehicle.description import Array
from c3p_kinematics.closed_chain_vehicle.ground import ground_arrays
from c3p_kinematics.closed_chain_vehicle.methods import METHODS
from c3p_kinematics.closed_chain_vehicle.placement import memory_of
from c3p_kinematics.closed_chain_vehicle.vehicle import POSE, Vehicle
from c3p_kinematics.terrain import Terrain

# s, of the differences: at rates of 1 rad/s and lengths of 0.3 m the fifth derivative leaves
# h⁴/30 × 1 m/s⁵ = 3e-14 m/s, and rounding of places of 10 m 1e-12 m/s
DIFFERENCE = 1e-3


def material_velocity(vehicle: Vehicle, terrain: Terrain, states: Array, desired: Array,
                      weights: Array) -> Array:
    """
    Return the velocity of the touching material of each wheel in {G} (N, n, 3), m/s.

    ``(8 (x₁ − x₋₁) − (x₂ − x₋₂))/(12 h)`` with h = 1 ms: exact to the fourth order.

    Parameters
    ----------
    vehicle : Vehicle
    terrain : Terrain
    states : (N, 7 + m + 5 n) array
        As `Vehicle.pack_state` makes them.
    desired : (N, m) array
        θ̇_d.
    weights : (m,) array
        Of the projection.
    """
    m, n = vehicle.size
    memory, tableau = memory_of(vehicle, 4), METHODS['rk4']
    size = states.shape[1]
    free = np.tile([-np.inf, np.inf], (m, 1))
    base = kernels.Inputs(np.zeros((1, m)), 1.0 / np.sqrt(weights), np.zeros(m), free,
                          vehicle.lengths)
    # no scan, no patch and no projection: the plain motion
    settings = kernels.Settings(DIFFERENCE, DIFFERENCE, 0.0, float(kernels.NONE), 1.0, np.inf,
                                np.inf, -np.inf, np.inf, -np.inf, np.inf)
    out = np.zeros((3, size)), np.zeros((3, size)), np.zeros((3, m)), np.zeros((3, 3))
    ground, velocity = ground_arrays(terrain), np.zeros((len(states), n, 3))
    for k, (state, rates) in enumerate(zip(states, desired, strict=True)):
        touching = np.ascontiguousarray(state[POSE + m:].reshape(n, 5)[:, :2])
        for sign in (1.0, -1.0):
            memory.state[:] = state
            base.table[0] = sign * rates
            kernels.drive(vehicle.packed, ground, settings, base, tableau, memory, 2, 1, *out)
            for at, weight in ((1, 8.0), (2, -1.0)):
                measure.touching(vehicle.packed, out[0][at], touching, memory.work,
                                 sign * weight / (12.0 * DIFFERENCE), velocity[k])
    return velocity
