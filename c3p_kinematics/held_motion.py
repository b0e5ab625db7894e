# SPDX-License-Identifier: Apache-2.0
"""
Motion while the twist is held: by the twist, and by what the wheels rolled meanwhile.

Position increments are evidence whatever the time between two samples was. A held twist is a guess
for wheels that spin; where only a stamp was wrong, the increments are right. This is decided
once the wheels are plausible again: the platform has moved for a known time at velocities between
that before the hold and the present one. If the increments agree with this motion the held steps
are repeated by them, and what the hold added to the covariance and the doubt is taken back.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics._grip_kernels import LARGEST_TIME
from c3p_kinematics._odometry_state import CAPACITY, Place, Ring
from c3p_kinematics._step_kernels import coast, hold_back, repeat
from c3p_kinematics.grip import GripMonitor, GripSettings
from c3p_kinematics.se2 import compose, inverse, log

# time after the begin of a hold for which its increments wait for a proof, s
PROOF = 0.25


class HeldMotion:
    """
    Bound of the error by held twists, and repetition of held steps by their increments.

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
        self._first, self._time, self._holds = -1, 0.0, False

    def hold(self, step: Array, grip: GripMonitor, dt: float, first: int, count: int) -> float:
        """
        Begin or continue a hold from step number `first` on, before number `count` is made.

        The covariance grows by the motion that tyres allow. Returns the path by which the steps
        before have become longer, m.

        Parameters
        ----------
        step : (3,) array
            Twist by the increments, m/s and rad/s.
        grip : GripMonitor
            With the twist that is held.
        dt : float, s
        first, count : int
        """
        acceleration, place, state = self._settings.acceleration, self._place, grip.state
        rolled, before = place.pose.copy(), place.pose.copy()
        covariance, doubt, longer = place.covariance.copy(), list(self.doubt), 0.0
        if not self._holds:
            # also the steps before that belong to the spin
            longer -= self._path(first, count)
            back = hold_back(self._ring.steps, first, count, state.reference, before, place.pose)
            coast(state.reference, dt)
            state.twist[:], grip.age = state.reference, back + dt
            longer += self._path(first, count)
            place.anchor[:] += place.pose - rolled
            self._add_doubt(rolled - place.pose, 0.5 * acceleration * back**2)
        if self._first < 0:
            self._first, self._before, self._time = first, before, back
            self._twist = state.reference.copy()
            self._covariance, self._doubted = covariance, doubt
        self._holds = True
        self._add_doubt(dt * (step - state.twist), acceleration * grip.age * dt)
        return longer

    def _path(self, first: int, count: int) -> float:
        """Return the length of the path of steps `first` to `count` of the ring, m."""
        steps = self._ring.steps[np.arange(first, count) % CAPACITY]
        return float(np.hypot(steps[:, 0], steps[:, 1]) @ steps[:, 3])

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

    def prove(self, dt: float, held: bool, grip: GripMonitor, count: int) -> float:
        """
        Repeat held steps by their increments once proved; return the change of the path, m.

        Called after each step. The path since the hold began is then counted by the next one.

        Parameters
        ----------
        dt : float, s
        held : bool
            The twist of the newest step is held.
        grip : GripMonitor
            With the plausible twist now.
        count : int
            Steps made.
        """
        self._holds = held
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
        mean = 0.5 * (self._twist + grip.state.reference)
        went = log(compose(inverse(self._before), rolled))
        speed = math.hypot(mean[0], mean[1]) + place.lever * abs(mean[2])
        apart = went - self._time * mean
        if math.hypot(apart[0], apart[1]) + place.lever * abs(apart[2]) > self._allowed(speed):
            return 0.0
        counted = self._path(self._first, count)
        ring.casters[:], ring.steps[:] = casters, steps
        # covariance and length of the path begin again where the hold began
        place.covariance[:], place.anchor[:] = self._covariance, self._before
        place.pose[:] = rolled
        self.doubt[:] = self._doubted
        self.drop()
        return -counted

    def _allowed(self, speed: float) -> float:
        """Return the largest plausible deviation of the increments, m, at a `speed` [m/s]."""
        s = self._settings
        return (s.resolution + self._time * (s.noise + s.speed_fraction * speed)
                + LARGEST_TIME * s.time_error * speed)
