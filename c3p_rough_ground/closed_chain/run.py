# SPDX-License-Identifier: Apache-2.0
"""Result of a run of a vehicle on the ground: records, residuals, events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from c3p_rough_ground.closed_chain import _measure_kernels as measure
from c3p_rough_ground.closed_chain import _motion_kernels as kernels
from c3p_rough_ground.closed_chain._plan import (
    METHODS,
    JointInputs,
    RunPlan,
    RunRecords,
    Settings,
    records_for,
)
from c3p_rough_ground.closed_chain.description import Array
from c3p_rough_ground.closed_chain.ground import ground_arrays
from c3p_rough_ground.closed_chain.placement import memory_of
from c3p_rough_ground.closed_chain.vehicle import POSE, State, Vehicle, rotation_matrix
from c3p_rough_ground.terrain import Terrain

# names of the events, by the kernels' codes
WHAT = {kernels.NOTHING: '', kernels.NOT_FINITE: 'not finite', kernels.SHARP: 'sharp ground',
        kernels.RANK: 'rank', kernels.LIMIT: 'joint limit', kernels.OUTSIDE: 'outside',
        kernels.OPEN: 'open', kernels.SECOND: 'second contact',
        kernels.TOO_SMALL: 'step too small'}


# s, of the differences: at rates of 1 rad/s and lengths of 0.3 m the fifth derivative leaves
# h⁴/30 × 1 m/s⁵ = 3e-14 m/s, and rounding of places of 10 m 1e-12 m/s
DIFFERENCE = 1e-3


class RunEvent(NamedTuple):
    """
    Event that ended a run.

    Attributes
    ----------
    what : str
        ``'sharp ground'``, ``'second contact'``, ``'joint limit'``, ``'rank'``,
        ``'outside'``, ``'open'``, ``'not finite'`` or ``'step too small'``.
    when : float, s
        Time of the last state before it.
    wheel : str
        Name of the wheel, or of the joint at its limit; empty for the whole vehicle.
    place : (float, float), m
        x and y of the wheel's contact, or of the platform.
    number : float
        Margin (1/m), depth (m), angle (rad), smallest pivot, residual (m, rad).
    text : str
        Message with the remedy.
    """

    what: str
    when: float
    wheel: str
    place: tuple[float, float]
    number: float
    text: str


@dataclass(frozen=True, eq=False)
class Run:
    """
    A motion of a vehicle, N records.

    Attributes
    ----------
    vehicle : Vehicle
    terrain : Terrain
    time : (N,) array, s
    states : (N, 7 + m + 5 n) array
        Position, quaternion (w, x, y, z), θ, η.
    rates : (N, 7 + m + 5 n) array
        Their rates.
    desired : (N, m) array
        θ̇_d, camber feedback included.
    turning : (N, 3) array, rad/s
        Angular velocity of {P} in {G}.
    weights : (m,) array
        Of the projection.
    method, stabilisation : str
    step : float, s
        Between records, and the step of the method if that is fixed.
    events : tuple of RunEvent
        Empty, or the event that ended the run early.
    """

    vehicle: Vehicle
    terrain: Terrain
    time: Array
    states: Array
    rates: Array
    desired: Array
    turning: Array
    weights: Array
    method: str
    stabilisation: str
    step: float
    events: tuple[RunEvent, ...]

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.time)

    @property
    def ended_early(self) -> bool:
        """True if an event ended the run early."""
        return bool(self.events)

    @property
    def position(self) -> Array:
        """Origin of {P} in {G} (N, 3), m."""
        return self.states[:, :3]

    @cached_property
    def rotation(self) -> Array:
        """R_GP (N, 3, 3)."""
        return rotation_matrix(self.states[:, 3:POSE])

    @property
    def joint(self) -> Array:
        """θ (N, m)."""
        return self.states[:, POSE:POSE + self.vehicle.size[0]]

    @property
    def contact(self) -> Array:
        """η (N, n, 5): u, v, x, y, ψ."""
        m, n = self.vehicle.size
        return self.states[:, POSE + m:].reshape(-1, n, 5)

    @property
    def joint_rates(self) -> Array:
        """θ̇ (N, m): the projection of the desired rates on the constraints."""
        return self.rates[:, POSE:POSE + self.vehicle.size[0]]

    @property
    def contact_rates(self) -> Array:
        """η̇ (N, n, 5)."""
        m, n = self.vehicle.size
        return self.rates[:, POSE + m:].reshape(-1, n, 5)

    @cached_property
    def platform_twist(self) -> Array:
        """Velocity of the origin of {P} and angular velocity (N, 6), both in {P}."""
        both = np.stack([self.rates[:, :3], self.turning], axis=1)
        return np.einsum('nji,nkj->nki', self.rotation, both).reshape(-1, 6)

    @cached_property
    def _residuals(self) -> measure.Measures:
        """Closure L2, rolling L2, wheel centres, contact points."""
        n = self.vehicle.size[1]
        out: measure.Measures = measure.measures_of(len(self), n)
        records = RunRecords(self.states, self.rates, self.desired, self.turning)
        work = memory_of(self.vehicle).work
        measure.residuals(self.vehicle.packed, ground_arrays(self.terrain), records,
                          work.block, work.values, np.empty((n, 3, 4)), out)
        return out

    @property
    def closure_l2(self) -> Array:
        """L2 of (12), ``T_GP,wheel1 − T_GP,wheel i`` over all wheels and 12 entries (N,)."""
        return self._residuals.closure

    @property
    def rolling_l2(self) -> Array:
        """L2 of ``η̇ − [CK] Ṽ_c`` (4) and of the velocities of the touching points (N,)."""
        return self._residuals.rolling

    @property
    def wheel_center(self) -> Array:
        """Wheel centres in {G} (N, n, 3), m."""
        return self._residuals.center

    @property
    def contact_point(self) -> Array:
        """Contact points in {G} (N, n, 3), m."""
        return self._residuals.point

    @cached_property
    def material_velocity(self) -> Array:
        """Velocity of each wheel's touching material point in {G} (N, n, 3), m/s."""
        return material_velocity(self.vehicle, self.terrain, self.states, self.desired,
                                 self.weights)

    @property
    def material_slip(self) -> Array:
        """Speed of each wheel's touching material (N, n), m/s, by differences of the motion."""
        return np.linalg.norm(self.material_velocity, axis=2)

    def state(self, k: int = -1) -> State:
        """Return the state of record `k`, the last by default."""
        return self.vehicle.unpack_state(self.states[k])

    def index(self, name: str) -> int:
        """Return the place of the joint `name` in θ."""
        return self.vehicle.index(name)


def material_velocity(vehicle: Vehicle, terrain: Terrain, states: Array, desired: Array,
                      weights: Array) -> Array:
    """
    Return the velocity of the touching material of each wheel in {G} (N, n, 3), m/s.

    A check without Jacobians: the material point that touches the ground at a record is
    followed along the chain of joints while the motion is integrated ahead and back. Backwards in
    time is driving with all desired rates reversed, because the motion is linear in them.
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
    memory = memory_of(vehicle, 4)
    records = records_for(3, m, n)
    free = np.tile([-np.inf, np.inf], (m, 1))
    inputs = JointInputs(np.zeros((1, m)), 1.0 / np.sqrt(weights), np.zeros(m), free,
                            vehicle.lengths)
    # the plain motion: no scan, no patch, no projection
    settings = Settings(DIFFERENCE, DIFFERENCE, 0.0, float(kernels.NONE), 1.0, np.inf,
                                np.inf, -np.inf, np.inf, -np.inf, np.inf)
    plan = RunPlan(settings, inputs, METHODS['rk4'], 2)
    ground = ground_arrays(terrain)
    velocity = np.zeros((len(states), n, 3))
    for k, (state, rates) in enumerate(zip(states, desired, strict=True)):
        touching = np.ascontiguousarray(state[POSE + m:].reshape(n, 5)[:, :2])
        for sign in (1.0, -1.0):
            memory.state[:] = state
            inputs.table[0] = sign * rates
            kernels.drive(vehicle.packed, ground, plan, memory.block, memory.values, 1,
                          records)
            for at, weight in ((1, 8.0), (2, -1.0)):
                measure.touching(vehicle.packed, records.states[at], touching,
                                 memory.work.block, memory.work.values,
                                 sign * weight / (12.0 * DIFFERENCE), velocity[k])
    return velocity
