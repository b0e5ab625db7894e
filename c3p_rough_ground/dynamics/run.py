# SPDX-License-Identifier: Apache-2.0
"""Result of a run of a vehicle with masses: records, powers, energies, their balance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import trapezoid

from c3p_rough_ground.closed_chain.description import Array
from c3p_rough_ground.dynamics._contact_kernels import DEPTH, FX, FY, SX, SY, N, X, Y
from c3p_rough_ground.dynamics._vehicle_kernels import BASE, LOST, Records
from c3p_rough_ground.dynamics.heavy_vehicle import HeavyVehicle
from c3p_rough_ground.terrain import Terrain


@dataclass(frozen=True, eq=False)
class DynamicRun:
    """
    A motion of a vehicle with masses, N records.

    Attributes
    ----------
    heavy : HeavyVehicle
    terrain : Terrain
    time : (N,) array, s
    records : Records
        Arrays of the kernels.
    ended : str
        Reason of an early end, empty without one.
    """

    heavy: HeavyVehicle
    terrain: Terrain
    time: Array
    records: Records
    ended: str

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.time)

    @property
    def _n(self) -> int:
        return self.heavy.tree.count

    @property
    def _from_work(self) -> int:
        m, w = self.heavy.vehicle.size
        return 2 * self._n + 2 * w + m

    @property
    def position(self) -> Array:
        """Origin of {P} in {G} (N, 3), m."""
        return self.records.states[:, :3]

    @property
    def rotation(self) -> Array:
        """R_GP (N, 3, 3)."""
        yaw, pitch, roll = self.records.states[:, 3:6].T
        (c, b, a), (s, t, r) = np.cos([yaw, pitch, roll]), np.sin([yaw, pitch, roll])
        rows = [[c * b, c * t * r - s * a, c * t * a + s * r],
                [s * b, s * t * r + c * a, s * t * a - c * r], [-t, b * r, b * a]]
        return np.moveaxis(np.array(rows), -1, 0)

    @property
    def velocity(self) -> Array:
        """Velocity of the origin of {P} in {G} (N, 3), m/s."""
        return self.records.states[:, self._n:self._n + 3]

    @property
    def turning(self) -> Array:
        """Angular velocity of {P} in {G} (N, 3), rad/s."""
        yaw, pitch = self.records.states[:, 3:5].T
        rates = self.records.states[:, self._n + 3:self._n + 6]
        zero = np.zeros_like(yaw)
        one = np.ones_like(yaw)
        axes = np.array([[zero, zero, one], [-np.sin(yaw), np.cos(yaw), zero],
                         [np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch),
                          -np.sin(pitch)]])
        return np.einsum('kin,nk->ni', axes, rates)

    @property
    def joint(self) -> Array:
        """θ (N, m)."""
        return self.records.states[:, BASE:self._n]

    @property
    def joint_rates(self) -> Array:
        """θ̇ (N, m)."""
        return self.records.states[:, self._n + BASE:2 * self._n]

    @property
    def motor_torque(self) -> Array:
        """Torques of the motors (N, m), N·m."""
        return self.records.motor

    @property
    def motor_power(self) -> Array:
        """Power of each motor (N, m), W: torque times rate, negative where it brakes."""
        return self.records.motor * self.joint_rates

    @property
    def work(self) -> Array:
        """Work of each motor since the start (N, m), J."""
        return self.records.states[:, self._from_work:-LOST]

    @property
    def dissipated(self) -> Array:
        """Energy dissipated normal to the ground, by slip, by rolling, in the joints (N, 4), J."""
        return self.records.states[:, -LOST:]

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy, and that in tyres and joint springs (N, 3), J."""
        return self.records.energy

    @property
    def imbalance(self) -> Array:
        """Energy at each record less work and plus dissipation since the start (N,), J."""
        total = self.energy.sum(axis=1)
        return (total - total[0]) - ((self.work - self.work[0]).sum(axis=1)
                                     - (self.dissipated - self.dissipated[0]).sum(axis=1))

    @property
    def balance_error(self) -> float:
        """Largest imbalance per energy that the motors turned over; J/J."""
        turned = float(trapezoid(np.abs(self.motor_power).sum(axis=1), self.time))
        turned += float(np.ptp(self.energy[:, 1]))
        return float(np.max(np.abs(self.imbalance)) / turned) if turned > 0.0 else 0.0

    @property
    def normal_force(self) -> Array:
        """N of each wheel (N, w), N."""
        return self.records.spot[:, :, N]

    @property
    def tangential_force(self) -> Array:
        """Force along the ground on each wheel (N, w, 2), N, in the tangents of the ground."""
        return self.records.spot[:, :, [FX, FY]]

    @property
    def slip(self) -> Array:
        """Speed of the material of each wheel at its contact along the ground (N, w), m/s."""
        return np.hypot(self.records.spot[:, :, SX], self.records.spot[:, :, SY])

    @property
    def deflection(self) -> Array:
        """δ of each tyre (N, w), m; negative off the ground."""
        return self.records.spot[:, :, DEPTH]

    @property
    def contact(self) -> Array:
        """X and y of each contact (N, w, 2), m."""
        return self.records.spot[:, :, [X, Y]]
