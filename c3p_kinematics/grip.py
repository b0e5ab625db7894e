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
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import GRAVITY, Array, CasterRobot
from c3p_kinematics import _odometry_kernels as kernels
from c3p_kinematics.slip import vectors


@dataclass(frozen=True)
class GripSettings:
    """
    Plausibility limits.

    Attributes
    ----------
    acceleration : float, m/s²
        Largest acceleration of a contact point; inf switches the check off.
    noise : float, m/s
        Largest error of a contact velocity, without that of the encoders' steps.
    resolution : float, m
        Distance of one encoder step; a velocity from two samples has an error up to that / dt.
    speed_fraction : float
        Error of a contact velocity per speed.
    longest_hold : float, s
        Holding time after which any sample is accepted.
    """

    acceleration: float = GRAVITY
    noise: float = 0.05
    resolution: float = 0.0
    speed_fraction: float = 0.05
    longest_hold: float = 1.0

    def __post_init__(self) -> None:
        """Reject limits out of range."""
        if not self.acceleration > 0.0:
            raise ValueError(f'acceleration = {self.acceleration}: must be greater than zero; '
                             'inf switches the check off')
        for name in ('noise', 'resolution', 'speed_fraction', 'longest_hold'):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ValueError(f'{name} = {getattr(self, name)}: must be finite and not '
                                 'negative')


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

    def __init__(self, robot: CasterRobot, settings: GripSettings | None = None) -> None:
        """Accept the first sample."""
        self.robot = robot
        self.settings = settings or GripSettings()
        self._weight, self._excess = np.ones(robot.count), np.zeros(robot.count)
        self.reset()

    @property
    def weight(self) -> Array:
        """Weight (n,) of each caster in a fit: 1 where it is plausible."""
        return self._weight

    def reset(self) -> None:
        """Accept the next sample unchecked."""
        self._reference, self._twist, self._age = np.zeros(3), np.zeros(3), math.inf
        self._weight[:], self._excess[:] = 1.0, 0.0
        # of the last sample, made when it is read
        self._report: GripReport | None = None

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
        return self.advance(dt, steering, wheel, steer)

    def advance(self, dt: float, steering: Array, wheel_rate: Array, steering_rate: Array,
                left_out: int = -1) -> GripReport:
        """
        Do as `step` with contiguous finite arrays of the right size, unchecked.

        A caster `left_out` is not plausible, whatever it measures.
        """
        s = self.settings
        age = self._age if self._age < s.longest_hold else math.inf
        verdict = kernels.judge(self.robot.geometry, steering, wheel_rate, steering_rate, dt, age,
                                s.acceleration, s.noise + s.resolution / dt, s.speed_fraction,
                                left_out, self._reference, self._twist, self._weight, self._excess)
        self._age = self._age + dt if verdict == kernels.HELD else 0.0
        self._report = None
        return self.report()

    def report(self) -> GripReport:
        """Return the verdict on the last sample."""
        if self._report is None:
            self._report = GripReport(self._weight == 1.0, self._excess.copy(),
                                      self._age if self._age < math.inf else 0.0,
                                      self._twist.copy())
        return self._report
