# SPDX-License-Identifier: Apache-2.0
"""
Slip and faults of joint sensors, distinguished by the 2n − 3 redundant rolling equations.

Each hypothesis leaves out what it makes wrong, and is judged by χ² of the rest: *along* a wheel
(rolling slip, wheel encoder), *across* it (side slip), or across it and with another steering
angle in the equation along it (steering encoder). That angle is integrated from the motion of the
other casters, so that the hypothesis has a memory: the position residual. Errors of radii,
offsets, hips and zeros and creep are in the variances. See docs/slip_and_faults.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics import _fault_kernels as kernels
from c3p_kinematics._odometry_cycle import fault_statistic
from c3p_kinematics._odometry_state import FAULTS, FaultState
from c3p_kinematics.fault_report import OF_STEERING, FaultReport
from c3p_kinematics.slip import FALSE_ALARM, ROUNDING, thresholds, vectors

# cost of a second free component, as −2 ln of a likelihood: more names one wheel where a slip in
# both directions of another explains the same
OCCAM = 5.0

# probabilities before any evidence: along, across, steering encoder, both components
PRIOR = np.log([0.5, 0.1, 0.1, 0.3])

# probability of slip against a wheel encoder that drifts, at the begin, and the duration in which
# the odds fall to 1/e, s: no slip lasts for ever
SLIPS, SLIP_TIME = 0.9, 3.0

# odds of side slip of a caster without motor on a platform that stands, as nothing pushes it; and
# of another caster's fault at a jump
UNLIKELY = 0.05

# a jump so long before or after the begin of an alarm is its cause, s
SUDDEN = 0.1

# fraction of the largest statistic that is evidence, and the time in which that fades, s
FADED, FADING = 0.1, 0.1

# time over which evidence adds up, s: another wheel may slip next
EVIDENCE = 0.1

# fraction of the alarm threshold below which an alarm ends
CLEAR = 0.25


@dataclass(frozen=True)
class FaultSettings:
    """
    Settings of the fault monitor; deviations are those of a description.

    Attributes
    ----------
    time_constant : float, s
        Of the low-pass of the residuals: the window of positions.
    persistence, release : float, s
        Time above the threshold before an alarm, and below it before its end.
    released_after : float, m
        Path without contradiction that also must pass before the alarm of a steering encoder ends.
    false_alarm : float
        Probability of a false alarm per independent test.
    noise_std : float, m/s
        Of a filtered contact velocity at standstill, beside the steps of the encoders.
    radius, offset : float, 1
    zero : float, rad
    hip : float, m
    creep : float, 1
        Of a contact, per its speed.
    standing : float, m/s
        Contact speed below which the platform stands.
    memory : float, m
        Path in which an integrated steering angle returns to the measured one.
    """

    time_constant: float = 0.04
    persistence: float = 0.01
    release: float = 0.2
    released_after: float = 0.1
    false_alarm: float = FALSE_ALARM
    noise_std: float = 0.0015
    radius: float = 0.003
    offset: float = 0.02
    zero: float = 0.0052
    hip: float = 0.002
    creep: float = 0.004
    standing: float = 0.005
    memory: float = 2.0

    def __post_init__(self) -> None:
        """Reject values out of range."""
        for name, value in vars(self).items():
            least = name in ('time_constant', 'noise_std', 'false_alarm', 'memory')
            if not (0.0 <= value < math.inf and (value > 0.0 or not least)):
                raise ValueError(f'{name} = {value}: must be finite and '
                                 + ('greater than zero' if least else 'not negative'))


class FaultMonitor:
    """
    Detection and naming of slip and sensor faults of one robot; bounded memory and time.

    Parameters
    ----------
    robot : CasterRobot
    wheel_resolution, steering_resolution : float, rad
        Encoder steps; 0 for continuous angles.
    settings : FaultSettings, optional

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> monitor = FaultMonitor(robot)
    >>> for k in range(60):  # the robot stands, and wheel 2 spins
    ...     report = monitor.step(0.005, [0.4, 1.9, -2.0], [0, 5.0, 0], [0, 0, 0])
    >>> report.alarm, report.caster, report.kind
    (True, 1, 'rolling slip')
    """

    def __init__(self, robot: CasterRobot, wheel_resolution: float = 0.0,
                 steering_resolution: float = 0.0, settings: FaultSettings | None = None) -> None:
        self.robot = robot
        self.settings = s = settings or FaultSettings()
        n = robot.count
        step = float(np.hypot(robot.wheel_radius * wheel_resolution,
                              robot.caster_offset * steering_resolution).max())
        # uniform rounding has deviation Δ/√12, behind the low-pass
        noise = math.hypot(s.noise_std, step / math.sqrt(12.0) / s.time_constant)
        self.state: FaultState = FAULTS.state(
            n, (s.time_constant, 1.0 / s.memory, noise, noise, s.radius, s.offset, s.zero, s.hip,
                s.creep))
        self._unmoved = np.array([6.0 * wheel_resolution + 0.02,
                                  6.0 * steering_resolution + 0.02])
        self.threshold, self._several = thresholds(n, s.false_alarm)
        self._driven = np.ascontiguousarray(robot.driven)
        self._free = ~np.asarray(robot.steered, bool)
        # of reports without an alarm
        self._none, self._whole = np.zeros((n, kernels.KINDS)), np.ones((n, 2))
        self.reset()

    def reset(self) -> None:
        """Clear the memory."""
        n, state = self.robot.count, self.state
        self.alarm, self.statistic = False, 0.0
        self._held = self._since = self._path = self._peak = 0.0
        for array in (state.memory, state.statistic, state.innovation):
            array[:] = 0.0
        state.memory[:, kernels.LEAPT:kernels.LEAPT + 2] = math.inf
        state.trusted[:] = 1.0
        self._evidence, self._posterior = np.zeros((n + 1, 4)), np.zeros((n, 4))
        self._jumped = np.zeros((n, 2), bool)
        self._table, self._speed = np.zeros((n, kernels.KINDS)), np.zeros(n)

    def step(self, dt: float, steering: ArrayLike, wheel_rate: ArrayLike,
             steering_rate: ArrayLike) -> FaultReport:
        """
        Process one sample.

        Parameters
        ----------
        dt : float, s
            Time since the sample before; ≤ 0 or not finite leaves the memory as it is.
        steering : (n,) array_like, rad
        wheel_rate, steering_rate : (n,) array_like, rad/s
            Position increments / `dt`. A sample that is not finite leaves the memory as it is.

        Raises
        ------
        ValueError
            A vector without one value per caster.
        """
        values = vectors(self.robot.count, steering=steering, wheel_rate=wheel_rate,
                         steering_rate=steering_rate)
        if math.isfinite(sum(float(v.sum()) for v in values)) and 0.0 < dt < math.inf:
            self.advance(dt, *values)
        return self.report()

    def advance(self, dt: float, steering: Array, wheel_rate: Array, steering_rate: Array
                ) -> None:
        """Do as `step` with contiguous finite arrays of the right size, unchecked."""
        speed = np.empty(self.robot.count)
        statistic = fault_statistic(self.robot.geometry, steering, wheel_rate, steering_rate, dt,
                                    self.state, speed)
        self.judge(dt, wheel_rate, statistic, speed)

    def judge(self, dt: float, wheel_rate: Array, statistic: float, speed: Array) -> None:
        """
        Start and end the alarm by a sample that `state` contains, and name faults while it lasts.

        Parameters
        ----------
        dt : float, s
        wheel_rate : (n,) array, rad/s
        statistic : float
            χ² of all casters.
        speed : (n,) array, m/s
            Lengths of the innovations; the reports keep it.
        """
        self.statistic, self._speed = statistic, speed
        changing = (statistic < CLEAR * self.threshold if self.alarm
                    else statistic > self.threshold)
        if changing:
            self._change(dt, wheel_rate)
        else:
            self._held = self._path = 0.0
        if self.alarm and self.robot.count > 2:
            self._name(dt)

    def _change(self, dt: float, wheel_rate: Array) -> None:
        """Start the alarm, or end it, once its condition has lasted."""
        s = self.settings
        self._held += dt
        self._path += float(np.abs(wheel_rate * self.robot.wheel_radius).max()) * dt
        if self._held >= (s.release if self.alarm else s.persistence) + ROUNDING and (
                not self.alarm or self.state.trusted.all() or self._path >= s.released_after):
            self.alarm = not self.alarm
            self._held = self._since = self._path = self._peak = 0.0
            self.state.trusted[:], self._jumped[:], self._evidence[:] = 1.0, False, 0.0

    def _name(self, dt: float) -> None:
        """Judge the hypotheses."""
        s, memory = self.settings, self.state.memory
        self._since += dt
        self._peak = max(self.statistic, self._peak * math.exp(-dt / FADING))
        if self._since < SUDDEN:
            self._jumped |= memory[:, kernels.LEAPT:kernels.LEAPT + 2] < SUDDEN
        least = self.threshold if self._since <= s.time_constant else max(
            self.threshold, FADED * self._peak)
        if self.statistic < least:
            # what decays behind the low-pass says less than what began it
            return
        prior = PRIOR.copy()
        # a wheel that stands on a standing platform is not pushed sideways
        if math.sqrt(float((memory[:, kernels.ROLLED] + memory[:, kernels.TOWED]).max())
                     ) < s.standing and self._free.all():
            prior[kernels.ACROSS] += math.log(UNLIKELY)
        # samples within the window of the low-pass are one
        kernels.weigh(self.state.statistic, self.statistic, self._several, OCCAM, prior,
                      self._evidence, math.exp(-dt / EVIDENCE), dt / s.time_constant,
                      self._posterior)
        odds = SLIPS / (1.0 - SLIPS) * math.exp(-self._since / SLIP_TIME)
        kernels.kinds(self._posterior, memory, self._unmoved, self._jumped, self._driven,
                      odds / (1.0 + odds), self._table)
        if self._jumped.any():
            # what began at once is no slip of another caster
            several = 1.0 - self._table.sum()
            self._table[~self._jumped.any(1)] *= UNLIKELY
            self._table /= self._table.sum() + several
        self.state.trusted[self._table @ OF_STEERING > 0.5] = 0.0

    def contradicts(self, caster: int) -> bool:
        """Return whether the fault is another caster's than `caster`."""
        return self.report().caster not in (-1, caster)

    @property
    def suspect(self) -> int:
        """Caster with a row that odometry does without; −1 for none."""
        # each sample asks, and most are without an alarm
        if self.trust is self._whole:
            return -1
        return self.report().caster if (self.trust == 0.0).any() else -1

    @property
    def trust(self) -> Array:
        """1 for each row (n, 2) along and across that odometry uses, 0 for the others."""
        isolated = self.alarm and self.robot.count > 2
        return self.report().trust if isolated else self._whole

    def warm_up(self) -> None:
        """Compile all kernels, those of an alarm included, and reset."""
        zeros = np.zeros(self.robot.count)
        self.alarm, self.threshold = True, -1.0
        self.advance(0.01, zeros, zeros, zeros)
        self.threshold = thresholds(self.robot.count, self.settings.false_alarm)[0]
        self.reset()

    def report(self) -> FaultReport:
        """Return the state after the last sample."""
        table = self._table.copy() if self.alarm and self.robot.count > 2 else self._none
        return FaultReport(self.alarm, table, self.statistic, self.threshold, self._speed)
