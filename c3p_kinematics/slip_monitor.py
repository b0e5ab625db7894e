# SPDX-License-Identifier: Apache-2.0
"""Slip watched over time: quantised samples are filtered, an alarm needs to persist."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import CasterRobot
from c3p_kinematics import _slip_kernels as kernels
from c3p_kinematics.slip import CLEAR_FRACTION, SlipReport, report_of, thresholds, vectors

# by how much more than its time a change has to last, s: where that is a multiple of the period,
# the last bit of a stamp must not decide whether it comes a sample sooner or later
ROUNDING = 1e-6


@dataclass(frozen=True)
class SlipSettings:
    """
    How slip is watched.

    Attributes
    ----------
    time_constant : float, s
        Of the low-pass over the residuals. Encoder steps Δ [rad] leave about ``lever × Δ/√12/τ``
        [m/s] behind it, because errors of position increments cancel from sample to sample.
    noise_std : float, m/s
        Standard deviation of a filtered contact velocity's component at standstill.
    speed_fraction : float
        Part of it that grows with the contact's speed: errors of radius, offset and zero angle.
    persistence, release : float, s
        How long the test must hold before slip is reported, and fail before it is withdrawn.
    """

    time_constant: float = 0.1
    noise_std: float = 0.002
    speed_fraction: float = 0.01
    persistence: float = 0.02
    release: float = 0.2

    def __post_init__(self) -> None:
        """Refuse times and deviations that cannot be."""
        for name in ('time_constant', 'noise_std'):
            if not 0.0 < getattr(self, name) < math.inf:
                raise ValueError(f'{name} = {getattr(self, name)}: must be greater than zero')
        for name in ('speed_fraction', 'persistence', 'release'):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ValueError(f'{name} = {getattr(self, name)}: must not be negative')


class SlipMonitor:
    """
    Slip detection with memory, for one robot.

    The residuals are filtered in ``base_link`` axes and tested as in `slip.detect_slip`. The alarm
    starts after `persistence` above the threshold, and ends after `release` below a quarter of it.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> monitor = SlipMonitor(robot)
    >>> for _ in range(60):
    ...     report = monitor.step(0.005, [0.4, 1.9, -2.0], [5.0, 0, 0], [0, 0, 0])
    >>> report.slipping, report.suspect
    (True, 0)
    """

    def __init__(self, robot: CasterRobot, settings: SlipSettings | None = None) -> None:
        self.robot = robot
        self.settings = settings or SlipSettings()
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        n = self.robot.count
        self.slipping = False
        self.statistic = 0.0
        self.without = np.zeros(n)
        self.variance = np.full(n, self.settings.noise_std**2)
        self._held = 0.0
        self._mean, self._power = np.zeros((n, 2)), np.zeros(n)

    def step(self, dt: float, steering: ArrayLike, wheel_rate: ArrayLike,
             steering_rate: ArrayLike) -> SlipReport:
        """
        Take one sample; return what is known about slip now.

        Parameters
        ----------
        dt : float, s
            Time since the sample before; ≤ 0 or not finite leaves the memory as it is.
        steering : (n,) array_like, rad
        wheel_rate, steering_rate : (n,) array_like, rad/s
            Best as position increments / `dt`, whose errors cancel over time. A sample that is not
            finite leaves the memory as it is.

        Returns
        -------
        SlipReport
            Of the filtered residuals.

        Raises
        ------
        ValueError
            A vector without one value per caster.
        """
        n = self.robot.count
        steering, wheel, steer = vectors(n, steering=steering, wheel_rate=wheel_rate,
                                         steering_rate=steering_rate)
        if not math.isfinite(float(np.sum(steering) + np.sum(wheel) + np.sum(steer))):
            steering, wheel, steer, dt = np.zeros(n), np.zeros(n), np.zeros(n), 0.0
        return self.advance(dt, steering, wheel, steer)

    def advance(self, dt: float, steering: np.ndarray, wheel_rate: np.ndarray,
                steering_rate: np.ndarray) -> SlipReport:
        """Do as `step` with contiguous finite arrays of the right size, unchecked."""
        n, settings = self.robot.count, self.settings
        share = -math.expm1(-dt / settings.time_constant) if dt > 0.0 else 0.0
        residual, contact = np.empty((n, 2)), np.empty((n, 2))
        edge_rate = np.empty(n * (n - 1) // 2)
        self.statistic = kernels.track(
            self.robot.geometry, steering, wheel_rate, steering_rate, share, settings.noise_std,
            settings.speed_fraction, self._mean, self._power, self.variance, contact, residual,
            edge_rate, self.without)
        self._decide(max(dt, 0.0))
        return report_of(self.robot, steering, contact, self.variance, residual, edge_rate,
                         self.without, self.statistic, self.slipping)

    def _decide(self, dt: float) -> None:
        limit = thresholds(self.robot.count)[0]
        changing = (self.statistic < CLEAR_FRACTION * limit if self.slipping
                    else self.statistic > limit)
        self._held = self._held + dt if changing else 0.0
        wait = self.settings.release if self.slipping else self.settings.persistence
        if changing and self._held >= wait + ROUNDING:
            self.slipping, self._held = not self.slipping, 0.0
