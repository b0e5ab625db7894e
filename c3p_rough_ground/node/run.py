# SPDX-License-Identifier: Apache-2.0
"""Stepwise simulation of a vehicle on its ground until the model ends."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c3p_description.pvc_model import PvcTricycle
from c3p_description.vehicle_model import RoughVehicle
from c3p_rough_ground.closed_chain.motion import Stepping, simulate
from c3p_rough_ground.closed_chain.placement import place
from c3p_rough_ground.closed_chain.run import Run
from c3p_rough_ground.terrain import Terrain
from c3p_rough_ground.vehicles import closed_chain

Array = NDArray[np.float64]

# weight of a joint without a motor: its desired rate of zero does not count
IDLE = 1e-4


class RoughGroundRun:
    """
    Simulation of a tricycle or another vehicle on a terrain.

    Parameters
    ----------
    model : PvcTricycle or RoughVehicle
    terrain : Terrain
    start : (3,) array_like
        x, y, yaw of {P} in {G}, m and rad; height, roll and pitch follow from contact.
    weights : (m,) array_like, optional
        Weights of deviations from the desired joint rates; ones by default, and next to nothing
        for passive joints.

    Attributes
    ----------
    time : float, s
        Since the start.
    state : State
    joint_rates : (m,) array, rad/s
    twist : (6,) array, m/s and rad/s
        Of {P}, linear then angular, in {P}.
    contact_point, wheel_center : (n, 3) array, m
        One row per wheel, in {G}.
    ended : str
        Reason for the end of the model with wheel, place and remedy; empty before.
    distance : float, m
        Path length of the origin of {P}.
    closure, largest_camber : float
        Largest closure error so far, m and rad together, and camber angle, rad.

    Raises
    ------
    ContactError
        Not all wheels can touch the ground at the start.
    """

    def __init__(self, model: PvcTricycle | RoughVehicle, terrain: Terrain,
                 start: ArrayLike = (0.0, 0.0, 0.0), weights: Sequence[float] | None = None
                 ) -> None:
        """Place the vehicle."""
        self.terrain = terrain
        self._vehicle = closed_chain(model)
        if weights is None:
            idle = getattr(model, 'passive', ())
            weights = [IDLE if joint.name in idle else 1.0 for joint in self._vehicle.joints]
        self._start, self._weights = np.asarray(start, float), np.asarray(weights, float)
        self._camber = [self._vehicle.index(name) for name in self._vehicle.camber]
        self.restart()

    def restart(self) -> None:
        """Return to the start."""
        x, y, yaw = self._start
        self.state = place(self._vehicle, self.terrain, x, y, yaw).require()
        self.time = 0.0
        self.distance = 0.0
        self.ended = ''
        self.closure = 0.0
        self.largest_camber = 0.0
        self._rest()
        # a step without motion gives contacts and wheel centres
        self._take(self._run(np.zeros(self._vehicle.size[0]), 1e-3))

    def advance(self, desired: Array, period: float) -> None:
        """Advance by `period`, s, with desired joint rates (m,), unless the model has ended."""
        if self.ended:
            return
        before = self.state.position
        began = self.time
        run = self._run(desired, period)
        self._take(run)
        self.time += float(run.time[-1])
        self.distance += math.dist(before, self.state.position)
        if run.events:
            event, = run.events
            # time of the event counts from this period
            self.ended = event.text.replace(f't = {event.when:.6g} s',
                                            f't = {began + event.when:.2f} s')
            self._rest()

    def _run(self, desired: Array, period: float) -> Run:
        # the adaptive method takes shorter steps on rough ground
        return simulate(self._vehicle, self.terrain, self.state, desired, period,
                        Stepping(period, 'adaptive'), self._weights)

    def _take(self, run: Run) -> None:
        """Adopt the final state of a run."""
        self.state = run.state(-1)
        self.joint_rates, self.twist = run.joint_rates[-1], run.platform_twist[-1]
        self.contact_point, self.wheel_center = run.contact_point[-1], run.wheel_center[-1]
        self.closure = max(self.closure, float(np.max(run.closure_l2)))
        self.largest_camber = max(self.largest_camber,
                                  float(np.max(np.abs(self.state.joint[self._camber]),
                                               initial=0.0)))

    def _rest(self) -> None:
        self.joint_rates, self.twist = np.zeros(self._vehicle.size[0]), np.zeros(6)
