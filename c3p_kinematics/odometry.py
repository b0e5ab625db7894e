# SPDX-License-Identifier: Apache-2.0
"""
Odometry: pose and twist of a caster robot from its wheels and steering axes.

The pose comes from *positions*: increments of all 2n angles, fitted by one rigid step (the sensed
forward solution at the steering halfway) and applied with the exact exponential of SE(2). A rate
signal is used for the twist only. The error of a step is of third order in its length; a slipping
wheel isolated by slip.py is de-weighted. The same samples and settings give the same bits, in the
node and in the offline run on a bag.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics import _odometry_kernels as kernels
from c3p_kinematics._planar_kernels import solve
from c3p_kinematics.faults import FaultMonitor
from c3p_kinematics.grip import GripMonitor, GripReport
from c3p_kinematics.odometry_data import (
    LARGEST_RATE,
    PARAMETERS,
    OdometryEstimate,
    OdometrySettings,
    gap_covariance,
    implausible_sample,
    irregular_step,
    odometry_settings,
    planar_covariance,
)
from c3p_kinematics.sample_times import REPEATED, Repetition, SampleStep, interval
from c3p_kinematics.se2 import wrap
from c3p_kinematics.singularity import length_scale
from c3p_kinematics.slip import SlipMonitor, SlipReport, SlipSettings, vectors, within
from c3p_kinematics.uncertainty import LastingErrors, RecentPeak

__all__ = ['PARAMETERS', 'Odometry', 'OdometryEstimate', 'OdometrySettings',
           'odometry_settings', 'planar_covariance']

# confidence from which a wheel counts as isolated (slip.SlipReport)
ISOLATED = 0.9

# steps kept for the second fit: 0.2 s at 320 Hz; at higher rates its span is shorter
CAPACITY = 64


class Odometry:
    """
    Dead reckoning with covariance, slip isolation and input validation.

    Parameters
    ----------
    robot : CasterRobot
    settings : OdometrySettings, optional

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> odometry = Odometry(robot)
    >>> for k in range(101):  # one metre along +Y; the encoders start anywhere
    ...     estimate = odometry.step(0.05 * k, [0, 0, 0], 2.0 + 0.01 / 0.04 * k * np.ones(3))
    >>> (estimate.pose.round(9) + 0.0).tolist(), round(estimate.distance, 9)
    ([0.0, 1.0, 0.0], 1.0)
    """

    def __init__(self, robot: CasterRobot, settings: OdometrySettings | None = None) -> None:
        self.robot = robot
        self.settings = s = settings or OdometrySettings()
        n = robot.count
        steps = np.hypot(robot.wheel_radius * s.wheel_resolution,
                         robot.caster_offset * s.steering_resolution)
        step = steps.max()
        # uniform rounding has deviation Δ/√12: behind a low-pass τ, and in a difference of two
        noise = math.hypot(s.slip.noise_std, step / math.sqrt(12.0) / s.slip.time_constant)
        # mean of the directions along and across the wheels
        self._difference_noise = math.sqrt(float(np.mean(steps**2)) / 12.0)
        self._monitor = SlipMonitor(robot, SlipSettings(**{**vars(s.slip), 'noise_std': noise}))
        self._grip = GripMonitor(robot, replace(s.grip, resolution=step))
        self._faults = FaultMonitor(robot, s.wheel_resolution, s.steering_resolution, s.faults)
        # ring for a second fit: steering halfway, rates, weight of each caster; twist, dt, held
        self._casters, self._steps = np.zeros((CAPACITY, 4, n)), np.zeros((CAPACITY, 5))
        self._growth = np.array([s.position_variance_per_metre, s.position_variance_per_radian,
                                 s.yaw_variance_per_metre, s.yaw_variance_per_radian])
        self._lever = length_scale(robot)
        self._lasting = LastingErrors(robot, s.prior, s.steering_resolution, s.rate_lag)
        # covariance of the rounding of the newest angles and of those at the start
        self._ends, self._end_variance = np.zeros((3, 3)), self._difference_noise**2
        self._latch, self._ones = np.zeros((3, n)), np.ones(n)
        self._middle, self._wheel, self._steer = np.empty(n), np.empty(n), np.empty(n)
        self._step, self._unit, self._spare = np.empty(3), np.empty((3, 3)), np.empty((n, 2))
        # of `step_by`: time since the first sample, and since the last accepted one, s
        self._clock, self._since = 0.0, 0.0
        self.reset()

    @property
    def pose(self) -> Array:
        """Pose (x, y, yaw) on the floor: m and rad."""
        return self._pose.copy()

    def warm_up(self) -> None:
        """Compile all kernels, those after a slip or a gap included, and reset."""
        still, moved = np.zeros(self.robot.count), np.full(self.robot.count, 0.01)
        gap = 2.0 * self.settings.max_gap
        for time, angle in ((0.0, still), (0.01, moved), (0.02 + gap, moved)):
            self.step(time, still, angle, still, still)
            self._refit(0)
        # and of slip, faults and wrong parameters alone
        self._faults.warm_up()
        self._lasting.carry(0.0, 0.0)
        kernels.posterior(still.copy(), 0.0, still.copy())
        kernels.add_slip(self._covariance, 0.0, self._unit, 0.0)
        self.reset()

    @property
    def without(self) -> Array:
        """χ² of the filtered residuals without each caster (n,), of the last sample."""
        return self._monitor.without

    def reset(self, pose: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """
        Start again at `pose` (3,); the next sample only latches.

        Raises
        ------
        ValueError
            `pose` is not three finite numbers.
        """
        pose = np.array(pose, float)
        if pose.shape != (3,) or not np.all(np.isfinite(pose)):
            raise ValueError(f'pose = {pose.tolist()}: expected three finite numbers, x, y, yaw')
        s, n = self.settings, self.robot.count
        pose[2] = float(wrap(pose[2]))
        self._pose, self._anchor = pose, pose.copy()
        variance = np.array([s.initial_position_std, s.initial_position_std, s.initial_yaw_std])**2
        self._covariance = np.diag(variance)
        self._lasting.reset()
        self._ends[:] = 0.0
        self._peak = RecentPeak(np.diag(np.full(3, s.rate_noise_std**2)), s.hold)
        self._time = self._moved = -math.inf
        self._distance, self._skipped, self._rejected, self._gaps = 0.0, 0, 0, 0
        # age of the newest sample at its stamp, s
        self._repetition, self._repeated, self._age = Repetition(n), 0, 0.0
        self._pace = SampleStep(s.stamp_jitter)
        # bound of the error caused by held twists, m and rad
        self._doubt = [0.0, 0.0]
        self._rate = np.full(n, math.nan)
        self._monitor.reset()
        self._grip.reset()
        self._faults.reset()
        self._left_out = -1
        self._kept, self._refitted = 0, False
        slip = self._monitor.step(0.0, np.zeros(n), np.zeros(n), np.zeros(n))
        self._last = OdometryEstimate(0.0, pose.copy(), np.zeros(3), np.diag(variance),
                                      self._peak.value.copy(), np.zeros((n, 2)), slip,
                                      self._grip.report(), np.zeros(2), 0.0, True,
                                      'no sample yet', 0, 0, 0)

    def step(self, time: float, steering: ArrayLike, wheel_angle: ArrayLike,
             wheel_rate: ArrayLike | None = None, steering_rate: ArrayLike | None = None
             ) -> OdometryEstimate:
        """
        Process one sample of all encoders; return the estimate.

        Parameters
        ----------
        time : float, s
            Stamp of the sample.
        steering, wheel_angle : (n,) array_like, rad
            θ_s relative to the platform and θ_x, at any turn: increments count modulo 2π.
        wheel_rate, steering_rate : (n,) array_like, rad/s, optional
            For the twist, if all are finite; otherwise increments / time.

        Returns
        -------
        OdometryEstimate
            A first sample, or one that is not later than the last, only latches. A sample after a
            gap moves the pose by positions alone. A sample with an implausible number, or one that
            is sent again while the robot moves, is rejected. `reason` has the cause.

        Raises
        ------
        ValueError
            A vector without one value per caster.
        """
        return self._sample(time, steering, wheel_angle, wheel_rate, steering_rate, None)

    def step_by(self, dt: float | None, steering: ArrayLike, wheel_angle: ArrayLike,
                wheel_rate: ArrayLike | None = None, steering_rate: ArrayLike | None = None
                ) -> OdometryEstimate:
        """
        Process one sample as `step`, `dt` [s] after the sample before.

        None starts a new time line, in which the pose stays. The estimate's time counts from the
        first sample; the step does not depend on it: a run that began earlier has the same bits.

        Examples
        --------
        >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
        >>> odometry = Odometry(robot)
        >>> first = odometry.step_by(None, [0, 0, 0], [0, 0, 0])
        >>> second = odometry.step_by(0.1, [0, 0, 0], [0.25, 0.25, 0.25])  # a centimetre, +Y
        >>> second.time, (second.pose.round(9) + 0.0).tolist()
        (0.1, [0.0, 0.01, 0.0])
        """
        if dt is None:
            self.reset(self._pose)
        self._clock += dt or 0.0
        self._since += dt or 0.0
        estimate = self._sample(self._clock, steering, wheel_angle, wheel_rate, steering_rate,
                                self._since)
        if estimate.accepted:
            self._since = 0.0
        return estimate

    def _sample(self, time: float, steering: ArrayLike, wheel_angle: ArrayLike,
                wheel_rate: ArrayLike | None, steering_rate: ArrayLike | None, dt: float | None
                ) -> OdometryEstimate:
        n, rates = self.robot.count, None
        steering, wheel = vectors(n, steering=steering, wheel_angle=wheel_angle)
        if wheel_rate is not None and steering_rate is not None:
            rates = vectors(n, wheel_rate=wheel_rate, steering_rate=steering_rate)
            if not all(within(rate, LARGEST_RATE) for rate in rates):
                rates = None
        if implausible := implausible_sample(time, steering, wheel):
            return self._reject(implausible)
        if rates is not None and self._repetition.found(steering, rates[1], wheel, rates[0]):
            self._repeated += 1
            self._last = self._last._replace(accepted=False, reason=REPEATED,
                                             repeated=self._repeated)
            return self._last
        # the first sample has nothing before it
        if dt is None or self._time == -math.inf:
            dt = float(time) - self._time
        self._time = float(time)
        if rates is not None:
            dt = self._pace.step(dt, (steering, wheel), rates[::-1]) or dt
        reason, bridged = irregular_step(dt, self.settings.max_gap), False
        if not reason:
            reason = self._move(dt, steering, wheel, rates)
        elif self.settings.max_gap < dt < math.inf:
            reason, bridged = self._bridge(dt, steering, wheel, rates, reason)
        if reason:
            self._latch_only(dt, steering, wheel, rates, bridged)
        self._rate[:] = math.nan if rates is None else rates[0]
        self._last = self._last._replace(
            time=self._time, pose=self._pose.copy(),
            pose_covariance=self._covariance + self._lasting.covariance + self._ends,
            grip=self._grip.report(), doubt=np.array(self._doubt), distance=self._distance,
            accepted=True, reason=reason, skipped=self._skipped, gaps=self._gaps,
            faults=self._faults.report())
        return self._last

    def _reject(self, reason: str) -> OdometryEstimate:
        self._rejected += 1
        self._last = self._last._replace(accepted=False, reason=reason, rejected=self._rejected)
        return self._last

    def _bridge(self, dt: float, steering: Array, wheel: Array, rates: list[Array] | None,
                reason: str) -> tuple[str, bool]:
        """Move over a gap by positions; return the text about it and its success."""
        after = np.full(len(wheel), math.nan) if rates is None else rates[0]
        path = kernels.bridge(self.robot.geometry, self._latch, steering, wheel, self._rate, after,
                              dt, math.pi / self.settings.max_gap, self._lever, self._pose)
        if path < 0.0:
            return f'{reason}; the position counters were reset, and the path is lost', False
        self._gaps += 1
        self._grow()
        self._covariance += gap_covariance(path, self._lever)
        return f'{reason}; {path:.3f} m by the positions before and after it', True

    def _latch_only(self, dt: float, steering: Array, wheel: Array, rates: list[Array] | None,
                    bridged: bool) -> None:
        self._latch[0], self._latch[1] = steering, wheel
        self._kept = 0
        self._grip.reset()
        self._skipped += dt != math.inf and not bridged
        self._moved = min(self._moved, self._time)
        self._peak.set_back(self._time)
        self._twist(steering, rates or [np.zeros_like(wheel)] * 2, self._ones,
                    self.settings.rate_noise_std, self._last.slip)

    def _move(self, dt: float, steering: Array, wheel: Array, rates: list[Array] | None) -> str:
        """Integrate a step; return the reason if that is not possible."""
        s = self.settings
        sample = self._middle, self._wheel, self._steer
        kernels.increments(self._latch, steering, wheel, dt, *sample)
        # increments of a slipping wheel have no evidence of the time
        if rates is not None and not self._last.slip.slipping:
            span, self._age = interval(self._wheel, self._rate, rates[0], dt,
                                       s.wheel_resolution, self._age)
            self._wheel *= dt / span
            self._steer *= dt / span
            dt = span
        slip = self._monitor.advance(dt, *sample)
        # χ² that remains after each caster is de-weighted by its slip probability
        weight, left = self._ones, slip.statistic
        if s.robust and slip.slipping and slip.suspect >= 0:
            weight = np.maximum(1.0 - slip.likelihood, kernels.LEAST_TRUST)
            left += float(slip.likelihood @ (self._monitor.without - slip.statistic))
        self._faults.advance(dt, *sample)
        wrong = self._faults.left_out if s.robust else -1
        if wrong >= 0:
            weight, left = self._faults.weight, float(self.without[wrong])
        grip = self._grip.advance(dt, *sample, wrong)
        held = s.robust and grip.held > 0.0
        if s.robust:
            weight = np.minimum(weight, self._grip.weight)
        solve(self.robot.geometry, *sample, weight, self._step, self._spare, self._unit)
        if not math.isfinite(sum(self._step.tolist())):
            return 'all contact points coincide: yaw is not observable'
        if held:
            self._hold(grip, dt)
        else:
            self._lasting.add(self._middle, self._steer, self._step, weight, self._unit,
                              self._pose[2] + 0.5 * dt * self._step[2], dt)
        kernels.advance(self._pose, self._step, dt)
        row = self._kept % CAPACITY
        for k, values in enumerate((*sample, weight)):
            self._casters[row, k] = values
        self._steps[row, :3], self._steps[row, 3], self._steps[row, 4] = self._step, dt, held
        self._kept += 1
        self._correct(slip, wrong)
        # unexplained slip lasts about the filter's time: a velocity error σ adds 2 τ σ² dt
        excess = left / (2 * self.robot.count - 3) - 1.0
        if excess > 0.0:
            variance = excess * float(self._monitor.variance.mean())
            amount = 2.0 * s.slip.time_constant * dt * variance
            kernels.add_slip(self._covariance, self._pose[2], self._unit, amount)
        self._grow()
        if held:
            self._last = self._last._replace(twist=grip.twist, slip=slip,
                                             residual=self._spare.copy())
        elif rates is not None:
            self._twist(steering, rates, weight, s.rate_noise_std, slip, dt, True)
        else:
            self._twist(self._middle, [self._wheel, self._steer], weight,
                        math.hypot(s.rate_noise_std, self._difference_noise / dt), slip, dt)
        return ''

    def _grow(self) -> None:
        """Carry the covariance to the pose, unless the robot is at a standstill."""
        dx, dy = self._pose[0] - self._anchor[0], self._pose[1] - self._anchor[1]
        length = kernels.grow(self._covariance, self._anchor, self._pose, self._growth,
                              self._lever, self.settings.standing_distance)
        if length >= 0.0:
            self._lasting.carry(dx, dy)
            self._ends[:] = 0.0
            kernels.add_slip(self._ends, self._pose[2], self._unit, self._end_variance)
            self._distance += length
            self._moved = self._time

    def _hold(self, grip: GripReport, dt: float) -> None:
        """Step with the held twist; the covariance grows by the motion that tyres allow."""
        apart = self._step - grip.twist
        # errors of a held twist have one direction: deviations add up, not variances
        most = self.settings.grip.acceleration * grip.held
        for k, axes, error, bound in ((0, (0, 1), math.hypot(apart[0], apart[1]), most),
                                      (1, (2,), abs(apart[2]), most / self._lever)):
            more = dt * min(error, bound)
            variance = more * (2.0 * self._doubt[k] + more)
            self._doubt[k] += more
            for axis in axes:
                self._covariance[axis, axis] += variance
        self._step[:] = grip.twist

    def _correct(self, slip: SlipReport, wrong: int) -> None:
        """Fit the last steps again, once per slip or wrong angle, as soon as it is isolated."""
        if wrong >= 0 and wrong != self._left_out:
            self._refit(wrong)
        self._left_out = wrong
        if not slip.slipping:
            self._refitted = False
        elif (self.settings.robust and not self._refitted and slip.confidence >= ISOLATED
              and not self._faults.contradicts(slip.suspect)):
            self._refit(slip.suspect)

    def _refit(self, wheel: int) -> None:
        self._refitted = True
        # an alarm comes within about twice the filter's time; until then the wheel has had its
        # full weight, and a yaw error would grow with every metre driven afterwards
        kernels.refit(self.robot.geometry, self._casters, self._steps, self._kept,
                      2.0 * self.settings.slip.time_constant, wheel, self._pose)

    def _twist(self, steering: Array, rates: list[Array], weight: Array, noise: float,
               slip: SlipReport, dt: float = 0.0, late: bool = False) -> None:
        s, twist, residual = self.settings, np.empty(3), np.empty((self.robot.count, 2))
        variance, power = solve(self.robot.geometry, steering, *rates, weight, twist, residual,
                                self._unit)
        if not math.isfinite(variance):
            return
        peak = self._peak.step(self._time, self._moved,
                               self._unit * s.twist_variance(variance, noise, power))
        lasting = self._lasting.of_twist(steering, twist, weight, self._unit, dt, late)
        self._last = self._last._replace(twist=twist, twist_covariance=peak + lasting,
                                         residual=residual, slip=slip)
