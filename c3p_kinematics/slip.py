# SPDX-License-Identifier: Apache-2.0
"""
Slip isolation from the 2n − 3 redundant measurement equations of n casters.

A caster measures the velocity of the platform point over its contact, ``r θ̇_x`` along and
``−d θ̇_s`` across the wheel. A rigid platform keeps the distances between these points, so that one
rigid twist must fit all of them. χ² of the residuals detects slip; the fit of all casters but one
isolates the wheel.

Noise model: both components of every contact velocity carry independent Gaussian errors with the
standard deviation ``hypot(noise_std, speed_fraction × contact speed)`` [m/s]; the second part
represents errors of geometry. Slip is reported where χ² is less likely than `FALSE_ALARM` without
slip. Smallest slip detected (three casters): about 8 standard deviations.

Rows without an encoder do not count. Across a fixed wheel, or one without offset, the residual is
that of a belief in the tyre and has the factor of its row (c3p_description/wheels.py).

Limits: with two casters slip is detected but never isolated. A slip perpendicular to the line
between two contact points does not change their distance and leaves two suspects, each with a
confidence near 0.5. If no single wheel explains the residuals the suspect is −1. A common error of
all wheels is invisible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri

from c3p_description.model import Array, CasterRobot
from c3p_kinematics import _slip_kernels as kernels
from c3p_kinematics._planar_kernels import measured
from c3p_kinematics.odometry_states import RigidFit, SlipWatch
from c3p_kinematics.sensed_kinematics_parameters import SlipSettings

__all__ = ['FALSE_ALARM', 'FLOAT', 'ROUNDING', 'SlipMonitor', 'SlipReport', 'SlipSettings',
           'detect_slip', 'report_of', 'thresholds', 'vectors', 'within']

FLOAT = np.dtype(float)

# probability of one false alarm per independent test without slip
FALSE_ALARM: float = SlipSettings.false_alarm

# margin by which a change must outlast its time, s: where that is a multiple of the period, the
# last bit of a stamp must not shift the alarm by a sample
ROUNDING = kernels.ROUNDING


class SlipReport(NamedTuple):
    """
    Result of a slip test.

    Attributes
    ----------
    residual : (n,) array, m/s
        Speed of each contact point against the fitted twist. During slip the fit weights a caster
        by 1 − `likelihood`, so that the suspect's entry is its slip speed.
    suspect : int
        Index (from 0) of the wheel that most likely slips; −1 without slip, or if no single wheel
        explains the residuals.
    confidence : float
        Probability in [0, 1] that it is this wheel, given slip. Act on 0.9 or more; 0.5 means that
        two wheels explain the residuals equally well.
    slipping : bool
    likelihood : (n,) array
        The same probability for every wheel; the rest to 1 is "more than one".
    statistic, threshold : float
        χ² of the residuals, and the value above which it counts as slip.
    """

    residual: Array
    suspect: int
    confidence: float
    slipping: bool
    likelihood: Array
    statistic: float
    threshold: float

    @property
    def probability(self) -> Array:
        """Probability (n,) of each wheel to slip; nan where no single wheel explains the slip."""
        if not self.slipping:
            return np.zeros_like(self.likelihood)
        return self.likelihood if self.suspect >= 0 else np.full_like(self.likelihood, np.nan)

    def text(self, joints: Sequence[str]) -> str:
        """Return the diagnostic text with the names of the wheel `joints`, empty without slip."""
        if not self.slipping:
            return ''
        if self.suspect < 0 and len(joints) == 2:
            return f'{joints[0]} or {joints[1]} slips: two casters do not isolate it'
        if self.suspect < 0:
            return 'more than one wheel slips'
        return (f'{joints[self.suspect]} slips at {self.residual[self.suspect]:.3f} m/s, '
                f'confidence {self.confidence:.2f}')


@lru_cache
def thresholds(count: int, chance: float = FALSE_ALARM, rows: int | None = None
               ) -> tuple[float, float]:
    """
    Return the χ² limits for all `count` casters (2n − 3) and for all but one (2n − 5).

    `chance` is the probability of a false alarm per test. The number of `rows` of
    measurement replaces 2n; the first limit is infinite where none is redundant.
    """
    rest = (2 * count if rows is None else rows) - 3
    return (float(chdtri(rest, chance)) if rest > 0 else math.inf,
            float(chdtri(rest - 2, chance)) if rest > 2 else 0.0)


def measured_rows(robot: CasterRobot) -> int:
    """Return the number of rows of measurement along and across the wheels of a robot."""
    return int(np.count_nonzero(robot.rows))


def vectors(count: int, **named: ArrayLike) -> list[Array]:
    """Return the vectors as contiguous floats; ValueError unless each has `count` entries."""
    out = []
    for name, value in named.items():
        array = np.ascontiguousarray(value, FLOAT)
        if array.shape != (count,):
            raise ValueError(f'{name} has shape {array.shape}: expected ({count},), one value '
                             'per caster')
        out.append(array)
    return out


def within(values: Array, limit: float) -> bool:
    """Return whether the magnitudes of values (n,) are up to `limit`; nan is not."""
    return all(-limit <= value <= limit for value in values.tolist())


@lru_cache
def _alike(count: int) -> Array:
    """Return equal probabilities of all casters; read-only, because all reports share them."""
    alike = np.full(count, 1.0 / count)
    alike.flags.writeable = False
    return alike


def report_of(robot: CasterRobot, steering: Array, tested: SlipWatch, statistic: float
              ) -> SlipReport:
    """Return the report on contact velocities of which `leave_out_each` has `tested` each."""
    n = robot.count
    limit, several = thresholds(n, rows=measured_rows(robot))
    if not statistic > limit:
        return SlipReport(tested.speed, -1, 0.0, False, _alike(n), statistic, limit)
    state = SlipWatch.new(n, several=several)
    state.fit.contact[:] = tested.fit.contact
    state.variance[:] = tested.variance
    state.without[:] = tested.without
    state.suspect[0] = -1.0
    kernels.isolate_wheel(state.block, robot.geometry, steering)
    return SlipReport(state.speed, int(state.suspect[0]), float(state.confidence[0]), True,
                      state.likelihood.copy(), statistic, limit)


def detect_slip(robot: CasterRobot, steering: ArrayLike, wheel_rate: ArrayLike,
                steering_rate: ArrayLike, noise_std: ArrayLike = 0.005,
                speed_fraction: float = 0.01) -> SlipReport:
    """
    Test one sample for slip and isolate the wheel; no memory.

    χ² of all residuals with 2n − 3 degrees of freedom detects slip; χ² without caster k (2n − 5
    degrees) isolates the wheel through the probabilities ∝ exp(−χ²_k/2).

    Parameters
    ----------
    robot : CasterRobot
    steering : (n,) array_like, rad
    wheel_rate, steering_rate : (n,) array_like, rad/s
    noise_std : float or (n,) array_like, m/s
        Standard deviation of a contact velocity's component at standstill, > 0.
    speed_fraction : float
        Standard deviation per contact speed, ≥ 0.

    Returns
    -------
    SlipReport

    Raises
    ------
    ValueError
        A vector without one finite value per caster; a noise_std that is not positive, or
        neither a number nor one per caster; a negative speed_fraction.

    Examples
    --------
    >>> from c3p_kinematics.casters import inverse
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> wheel, steer, _ = inverse(robot, [0.4, 0.2, -2.0], [0.3, -0.1, 0.5])
    >>> detect_slip(robot, [0.4, 0.2, -2.0], wheel, steer).slipping
    False
    >>> wheel[1] += 0.2 / 0.04  # wheel 2 spins 0.2 m/s too fast
    >>> report = detect_slip(robot, [0.4, 0.2, -2.0], wheel, steer)
    >>> report.slipping, report.suspect, round(float(report.residual[1]), 2)
    (True, 1, 0.2)
    """
    n = robot.count
    named = {'steering': steering, 'wheel_rate': wheel_rate, 'steering_rate': steering_rate}
    steering, wheel, steer = vectors(n, **named)
    for name, array in zip(named, (steering, wheel, steer), strict=True):
        # no comparison with nan would raise an alarm
        if not np.all(np.isfinite(array)):
            raise ValueError(f'{name} = {array.tolist()}: every number must be finite; leave such '
                             'a sample out')
    noise = np.asarray(noise_std, float)
    if noise.shape not in ((), (n,)) or not np.all((noise > 0.0) & (noise < np.inf)):
        raise ValueError(f'noise_std = {noise.tolist()}: must be greater than zero, m/s, one for '
                         f'all casters or one for each of {n}')
    if not 0.0 <= speed_fraction < np.inf:
        raise ValueError(f'speed_fraction = {speed_fraction}: must be finite and not negative')
    state = SlipWatch.new(n)
    contact = state.fit.contact
    measured(robot.geometry, wheel, steer, contact)
    state.variance[:] = noise**2 + speed_fraction**2 * np.sum(contact**2, axis=1)
    statistic = kernels.leave_out_each(state.block, robot.geometry, steering)
    return report_of(robot, steering, state, statistic)


class SlipMonitor:
    """
    Slip detection with a low-pass filter and a persistence, for one robot.

    The residuals are filtered in ``base_link`` axes and tested as in `detect_slip`. The alarm
    starts after `persistence` above the threshold, and ends after `release` below the fraction
    `clear_fraction` of it.

    Parameters
    ----------
    robot : CasterRobot
    settings : SlipSettings, optional
    step : float, m
        Largest path of a contact per encoder step; 0 for continuous angles.
    skew : float, s
        Standard deviation of the times of the joints of a sample from each other. Joints whose
        times differ by σ have path errors of the speed times σ: behind a low-pass τ their velocity
        is wrong by σ/τ of the speed.

    Attributes
    ----------
    slipping : bool
    statistic : float
        χ² of the last sample.
    state : SlipWatch
        Memory, and what the kernels write.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> monitor = SlipMonitor(robot)
    >>> for _ in range(60):
    ...     report = monitor.step(0.005, [0.4, 1.9, -2.0], [5.0, 0, 0], [0, 0, 0])
    >>> report.slipping, report.suspect
    (True, 0)
    """

    def __init__(self, robot: CasterRobot, settings: SlipSettings | None = None,
                 step: float = 0.0, skew: float = 0.0) -> None:
        self.robot = robot
        self.settings = s = settings or SlipSettings()
        self._limit = thresholds(robot.count, s.false_alarm, measured_rows(robot))[0]
        # uniform rounding has deviation Δ/√12, behind the low-pass
        self._noise = math.hypot(s.noise_std, step / math.sqrt(12.0) / s.time_constant)
        self._skew = skew
        self._motion = RigidFit.new(robot.count)
        self._alike = _alike(robot.count)
        self.state = SlipWatch.new(robot.count)
        self.use(self.state.block)
        self.reset()

    def use(self, block: Array) -> None:
        """Keep the state in a `block`, as that of the odometry; `reset` is due then."""
        s = self.settings
        n = self.robot.count
        limit, several = thresholds(n, s.false_alarm, measured_rows(self.robot))
        self.state = SlipWatch.of(
            block, n, time_constant=s.time_constant, noise=self._noise,
            fraction=s.speed_fraction, alarm_above=limit, clear_below=s.clear_fraction * limit,
            several=several,
            persistence=s.persistence, release=s.release, isolated=s.isolated)

    @property
    def slipping(self) -> bool:
        """True during an alarm."""
        return bool(self.state.slipping[0])

    @property
    def statistic(self) -> float:
        """χ² of the last sample."""
        return float(self.state.statistic[0])

    def reset(self) -> None:
        """Clear the memory."""
        state = self.state
        for array in (state.mean, state.power, state.without, state.speed, state.unexplained,
                      state.statistic, state.slipping, state.since, state.held, state.confidence):
            array[:] = 0.0
        state.skew[0] = self._skew
        state.suspect[0] = -1.0
        state.variance[:] = self._noise**2

    def step(self, dt: float, steering: ArrayLike, wheel_rate: ArrayLike,
             steering_rate: ArrayLike) -> SlipReport:
        """
        Process one sample; return the report on the filtered residuals.

        Parameters
        ----------
        dt : float, s
            Time since the sample before; ≤ 0 or not finite leaves the memory as it is.
        steering : (n,) array_like, rad
        wheel_rate, steering_rate : (n,) array_like, rad/s
            Best as position increments / `dt`, whose errors cancel over time. A sample that is not
            finite leaves the memory as it is.

        Raises
        ------
        ValueError
            A vector without one value per caster.
        """
        n = self.robot.count
        steering, wheel, steer = vectors(n, steering=steering, wheel_rate=wheel_rate,
                                         steering_rate=steering_rate)
        if not math.isfinite(float(np.sum(steering) + np.sum(wheel) + np.sum(steer))):
            steering = np.zeros(n)
            wheel = np.zeros(n)
            steer = np.zeros(n)
            dt = 0.0
        return self.advance(dt, steering, wheel, steer)

    def advance(self, dt: float, steering: np.ndarray, wheel_rate: np.ndarray,
                steering_rate: np.ndarray) -> SlipReport:
        """Do as `step` with contiguous finite arrays of the right size, unchecked."""
        motion = self._motion
        motion.steering[:] = steering
        motion.wheel_rate[:] = wheel_rate
        motion.steering_rate[:] = steering_rate
        kernels.monitor_slip(self.state.block, self.robot.geometry, motion.block, float(dt))
        return self.report()

    def judge(self, dt: float, steering: Array, statistic: float, speed: Array) -> SlipReport:
        """
        Return the report on a sample that `state` contains.

        Parameters
        ----------
        dt : float, s
        steering : (n,) array, rad
        statistic : float
            χ² of all casters.
        speed : (n,) array, m/s
            Lengths of the residuals.
        """
        state = self.state
        state.statistic[0] = statistic
        state.speed[:] = speed
        kernels.decide_slip(state.block, self.robot.geometry, steering, float(dt))
        return self.report()

    def report(self) -> SlipReport:
        """Return the state after the last sample."""
        state = self.state
        speed = state.speed.copy()
        statistic = float(state.statistic[0])
        if not state.slipping[0]:
            return SlipReport(speed, -1, 0.0, False, self._alike, statistic, self._limit)
        return SlipReport(speed, int(state.suspect[0]), float(state.confidence[0]), True,
                          state.likelihood.copy(), statistic, self._limit)
