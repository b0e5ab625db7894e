# SPDX-License-Identifier: Apache-2.0
"""
Plausibility of contact velocities: accelerations beyond tyre friction de-weight a caster.

A tyre on a floor with µ ≤ 1 accelerates a point of the platform by at most g. A wheel that spins
up has little inertia and exceeds that within one or two samples: long before slip isolation
(slip.py) responds, and also when all wheels spin alike, which redundancy does not show. A contact
velocity is implausible if it differs from that of a reference twist by more than

    ``a·(t_held + dt) + noise + fraction·speed``.

The reference follows the accepted twist by no more than ``a·dt``, so that the noise of one sample
does not let a lasting acceleration through. With fewer than two plausible casters the twist is
held: the platform keeps its velocity over the floor, and the bound widens with the holding time.
Wheels that agree with each other and have slowed down are accepted at once, because a robot that
meets an obstacle stops as suddenly.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics._grip_kernels import ROLLING, monitor_grip
from c3p_kinematics.odometry_states import Grip, RigidFit
from c3p_kinematics.sensed_kinematics_parameters import GripSettings
from c3p_kinematics.slip import vectors


class GripReport(NamedTuple):
    """
    Plausibility of one sample.

    Attributes
    ----------
    plausible : (n,) bool array
        False for a caster whose contact velocity is beyond the acceleration limit.
    excess : (n,) array, m/s
        Deviation of each contact velocity from that of the reference twist.
    held : float, s
        Time for which the twist has been held; 0 while two casters or more are plausible.
    twist : (3,) array
        Accepted or held twist, in ``base_link``, m/s and rad/s.
    """

    plausible: Array
    excess: Array
    held: float
    twist: Array


class GripMonitor:
    """
    Plausibility check of each sample against the last accepted twist.

    Parameters
    ----------
    robot : CasterRobot
    settings : GripSettings, optional
    step : float, m
        Largest path of a contact per encoder step; a velocity from two samples has an error up to
        that / dt.
    time_error : float, s
        Standard deviation of the time of a position from the stamp of its sample; above 0 a
        velocity is plausible as well if its mean over the `window` is.

    Attributes
    ----------
    state : Grip
        Memory, and what the kernels write: its `weight` (n,) is 1 for a plausible caster.
    age : float, s
        Time for which the twist has been held; inf before the first sample.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> grip, still = GripMonitor(robot), np.zeros(3)
    >>> report = grip.step(0.005, still, still, still)
    >>> report = grip.step(0.005, still, [0.0, 20.0, 0.0], still)  # 0.8 m/s within 5 ms
    >>> report.plausible
    array([ True, False,  True])
    >>> grip.step(0.005, still, still + 20.0, still).held          # all wheels spin
    0.005
    """

    def __init__(self, robot: CasterRobot, settings: GripSettings | None = None,
                 step: float = 0.0, time_error: float = 0.0) -> None:
        """Accept the first sample."""
        self.robot = robot
        self.settings = settings or GripSettings()
        self._resolution = step
        self._time_error = time_error
        self._motion = RigidFit.new(robot.count)
        self._trust = np.ones((robot.count, 2))
        # of reports on samples whose casters all are plausible
        self._all = np.ones(robot.count, bool)
        self._all.flags.writeable = False
        self.state = Grip.new(robot.count)
        self.use(self.state.block)
        self.reset()

    def use(self, block: Array) -> None:
        """Keep the state in a `block`, as that of the odometry; `reset` is due then."""
        s = self.settings
        self.state = Grip.of(
            block, self.robot.count, acceleration=s.acceleration, noise=s.noise,
            resolution=self._resolution, fraction=s.speed_fraction, longest_hold=s.longest_hold,
            time_error=self._time_error, window=s.window)

    @property
    def age(self) -> float:
        """Time for which the twist has been held, s; inf before the first sample."""
        return float(self.state.age[0])

    def reset(self) -> None:
        """Accept the next sample unchecked."""
        state = self.state
        for array in (state.reference, state.twist, state.excess, state.mean, state.elapsed):
            array[:] = 0.0
        state.weight[:] = 1.0
        state.age[0] = math.inf
        state.verdict[0] = ROLLING

    def step(self, dt: float, steering: ArrayLike, wheel_rate: ArrayLike,
             steering_rate: ArrayLike) -> GripReport:
        """
        Check one sample.

        Parameters
        ----------
        dt : float, s
            Time since the sample before; greater than zero.
        steering : (n,) array_like, rad
        wheel_rate, steering_rate : (n,) array_like, rad/s
            Increments / `dt`.

        Raises
        ------
        ValueError
            A vector without one value per caster.
        """
        steering, wheel, steer = vectors(self.robot.count, steering=steering,
                                         wheel_rate=wheel_rate, steering_rate=steering_rate)
        motion = self._motion
        motion.steering[:] = steering
        motion.wheel_rate[:] = wheel
        motion.steering_rate[:] = steer
        monitor_grip(self.state.block, self.robot.geometry, motion.block, float(dt), self._trust)
        return self.report()

    def report(self) -> GripReport:
        """Return the verdict on the last sample."""
        state = self.state
        age = float(state.age[0])
        plausible = self._all if state.verdict[0] == ROLLING else state.weight == 1.0
        return GripReport(plausible, state.excess.copy(), age if age < math.inf else 0.0,
                          state.twist.copy())
