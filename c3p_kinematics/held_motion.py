# SPDX-License-Identifier: Apache-2.0
"""
Motion while the twist is held: by the twist, and by what the wheels rolled meanwhile.

Position increments are evidence whatever the time between two samples was. A held twist is a guess
for wheels that spin; where only a stamp was wrong, the increments are right. Both ways are known
once the wheels are plausible again: the platform has moved for a known time at velocities between
that before the hold and the present one. If the increments agree with this motion the held steps
are repeated by them, and what the hold added to the covariance and the doubt is taken back.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics._odometry_kernels import (
    LARGEST_TIME,
    coast,
    first_within,
    hold_back,
    repeat,
)
from c3p_kinematics._odometry_state import CAPACITY, Place, Ring
from c3p_kinematics.grip import GripMonitor, GripSettings
from c3p_kinematics.se2 import compose, inverse, log

# time after the begin of a hold for which its increments wait for a proof, s
PROOF = 0.25


class HeldMotion:
    """
    What a held twist costs, and the increments that are taken once they are proved.

    Parameters
    ----------
    robot : CasterRobot
    settings : GripSettings
    place, ring : Place and Ring
        Of the odometry.

    Attributes
    ----------
    doubt : list of float, m and rad
        Bound of the error caused by held twists.
    """

    def __init__(self, robot: CasterRobot, settings: GripSettings, place: Place, ring: Ring
                 ) -> None:
        self._robot, self._settings = robot, settings
        self._place, self._ring = place, ring
        self.reset()

    def reset(self) -> None:
        """Forget all holds."""
        self.doubt = [0.0, 0.0]
        self.drop()

    def drop(self) -> None:
        """Leave the steps of the present hold as they are."""
        self._first, self._time = -1, 0.0

    def hold(self, rolled: Array, grip: GripMonitor, dt: float, count: int) -> None:
        """
        Begin or continue a hold, before its step number `count` is made.

        The covariance grows by the motion that tyres allow.

        Parameters
        ----------
        rolled : (3,) array
            Twist by the increments, m/s and rad/s.
        grip : GripMonitor
            With the twist that is held.
        dt : float, s
        count : int
        """
        acceleration = self._settings.acceleration
        if self._first < 0:
            self._begin(grip, dt, count)
        apart = dt * (rolled - grip.state.twist)
        self._add_doubt(apart, acceleration * grip.age * dt)

    def _begin(self, grip: GripMonitor, dt: float, count: int) -> None:
        """Hold the twist, also in the steps of the window that shows the spin."""
        place, state, steps = self._place, grip.state, self._ring.steps
        window = self._settings.window if self._settings.time_error > 0.0 else 0.0
        self._covariance, self._doubted = place.covariance.copy(), list(self.doubt)
        rolled, self._before = place.pose.copy(), place.pose.copy()
        self._first = int(first_within(steps, count, window))
        back = hold_back(steps, self._first, count, state.reference, self._before, place.pose)
        if back > 0.0:
            coast(state.reference, dt)
            state.twist[:] = state.reference
        grip.age += back
        self._time, self._twist = back, state.reference.copy()
        self._add_doubt(rolled - place.pose, 0.5 * self._settings.acceleration * back**2)

    def _add_doubt(self, apart: Array, most: float) -> None:
        """Add a deviation (3,), up to `most` [m], to the doubt and to the covariance."""
        place = self._place
        # errors of a held twist have one direction: deviations add up, not variances
        for k, axes, error, bound in ((0, (0, 1), math.hypot(apart[0], apart[1]), most),
                                      (1, (2,), abs(apart[2]), most / place.lever)):
            more = min(error, bound)
            variance = more * (2.0 * self.doubt[k] + more)
            self.doubt[k] += more
            for axis in axes:
                place.covariance[axis, axis] += variance

    def prove(self, dt: float, held: bool, twist: Array, count: int) -> float:
        """
        Repeat held steps by their increments if those are proved; return the path this adds, m.

        Parameters
        ----------
        dt : float, s
        held : bool
            The twist of the newest step is held.
        twist : (3,) array
            Plausible twist now.
        count : int
            Steps made.
        """
        if self._first < 0:
            return 0.0
        self._time += dt
        if held:
            return 0.0
        if self._time > PROOF or count - self._first > CAPACITY:
            self.drop()
            return 0.0
        place, ring, rolled = self._place, self._ring, self._place.pose.copy()
        casters, steps = ring.casters.copy(), ring.steps.copy()
        repeat(self._robot.geometry, casters, steps, self._first, count, -1, True, rolled)
        mean = 0.5 * (self._twist + twist)
        went = log(compose(inverse(self._before), rolled))
        speed = math.hypot(mean[0], mean[1]) + place.lever * abs(mean[2])
        apart = went - self._time * mean
        if math.hypot(apart[0], apart[1]) + place.lever * abs(apart[2]) > self._allowed(speed):
            return 0.0
        ring.casters[:], ring.steps[:] = casters, steps
        added = float(np.hypot(*(rolled - place.pose)[:2]))
        # the covariance of the path begins again where the hold began
        place.covariance[:], place.anchor[:] = self._covariance, self._before
        place.pose[:] = rolled
        self.doubt[:] = self._doubted
        self.drop()
        return added

    def _allowed(self, speed: float) -> float:
        """Return the largest plausible deviation of the increments, m, at a `speed` [m/s]."""
        s = self._settings
        return (s.resolution + self._time * (s.noise + s.speed_fraction * speed)
                + LARGEST_TIME * s.time_error * speed)
