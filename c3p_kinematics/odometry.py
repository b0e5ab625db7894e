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

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics import _odometry_cycle as cycle
from c3p_kinematics import _odometry_kernels as kernels
from c3p_kinematics._odometry_state import (
    MOTION,
    PEAK,
    PLACE,
    RING,
    Motion,
    Peak,
    Place,
    Ring,
)
from c3p_kinematics._step_kernels import refit
from c3p_kinematics.held_motion import HeldMotion
from c3p_kinematics.odometry_data import (
    OUT_OF_ORDER,
    PARAMETERS,
    SHORTEST_STEP,
    SOON,
    OdometryEstimate,
    OdometrySettings,
    gap_covariance,
    implausible_sample,
    irregular_step,
    odometry_settings,
    planar_covariance,
    soon,
)
from c3p_kinematics.odometry_monitors import make_monitors
from c3p_kinematics.sample_times import REPEATED, SampleStep
from c3p_kinematics.se2 import wrap
from c3p_kinematics.singularity import length_scale
from c3p_kinematics.slip import SlipReport, vectors
from c3p_kinematics.uncertainty import LastingErrors

__all__ = ['PARAMETERS', 'Odometry', 'OdometryEstimate', 'OdometrySettings',
           'odometry_settings', 'planar_covariance']

# confidence from which a wheel counts as isolated (slip.SlipReport)
ISOLATED = 0.9

# rates of wheels and steering axes, rad/s
Rates = tuple[Array, Array]


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
        self._monitor, self._grip, self._faults, self._difference_noise = make_monitors(robot, s)
        self._lasting = LastingErrors(robot, s.prior, s.steering_resolution, s.rate_lag)
        growth = (s.position_variance_per_metre, s.position_variance_per_radian,
                  s.yaw_variance_per_metre, s.yaw_variance_per_radian)
        self._motion: Motion = MOTION.state(n)
        self._ring: Ring = RING.state(n)
        self._place: Place = PLACE.state(n, (
            length_scale(robot), s.standing_distance, self._difference_noise**2, *growth))
        self._holds = HeldMotion(robot, self._grip.settings, self._place, self._ring)
        self._peak: Peak = PEAK.state(n, (s.hold, s.slip.speed_fraction, s.creep))
        self._shortest = max(SHORTEST_STEP, SOON * s.stamp_jitter)
        self._ones, self._trusted = np.ones(n), np.ones((n, 2))
        # of `step_by`: time since the first sample, and since the last accepted one, s
        self._clock, self._since = 0.0, 0.0
        self.reset()

    @property
    def pose(self) -> Array:
        """Pose (x, y, yaw) on the floor: m and rad."""
        return self._place.pose.copy()

    def warm_up(self) -> None:
        """Compile all kernels, those after a slip or a gap included, and reset."""
        still, moved = np.zeros(self.robot.count), np.full(self.robot.count, 0.01)
        gap = 2.0 * self.settings.max_gap
        for time, angle in ((0.0, still), (0.01, moved), (0.02 + gap, moved)):
            self.step(time, still, angle, still, still)
            self._refit(0)
        self._holds.hold(np.zeros(3), self._grip, 0.01, self._kept, self._kept)
        self._holds.prove(0.01, False, self._grip, self._kept)
        # and of slip, faults and held twists alone
        self._faults.warm_up()
        kernels.posterior(still.copy(), 0.0, still.copy())
        cycle.go(self._motion, 0.0, True, self._place, self._ring, 0)
        self.reset()

    @property
    def without(self) -> Array:
        """χ² of the filtered residuals without each caster (n,), of the last sample."""
        return self._monitor.state.without

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
        s, n, place = self.settings, self.robot.count, self._place
        pose[2] = float(wrap(pose[2]))
        variance = np.array([s.initial_position_std, s.initial_position_std, s.initial_yaw_std])**2
        place.pose[:] = place.anchor[:] = pose
        place.covariance[:], place.ends[:] = np.diag(variance), 0.0
        self._lasting.reset()
        self._peak.value[:], self._peak.time[:] = np.diag([s.rate_noise_std**2] * 3), -math.inf
        self._time = self._moved = -math.inf
        self._distance, self._skipped, self._rejected, self._gaps = 0.0, 0, 0, 0
        # age of the newest sample at its stamp, s
        self._before, self._repeated, self._age = np.full((4, n), math.nan), 0, 0.0
        self._pace = SampleStep(s.stamp_jitter)
        self._holds.reset()
        self._rate = np.full(n, math.nan)
        self._monitor.reset()
        self._grip.reset()
        self._faults.reset()
        self._left_out = -1
        self._kept, self._refitted, self._waits = 0, False, False
        slip = self._monitor.step(0.0, np.zeros(n), np.zeros(n), np.zeros(n))
        self._last = OdometryEstimate(0.0, pose, np.zeros(3), np.diag(variance),
                                      self._peak.value.copy(), np.zeros((n, 2)), slip,
                                      self._grip.report(), np.zeros(2), 0.0, True,
                                      'no sample yet', 0, 0, 0)
        # newest twist, its covariance, residuals and slip
        self._fitted = self._last.twist, self._last.twist_covariance, self._last.residual, slip

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
            self.reset(self._place.pose)
        self._clock += dt or 0.0
        self._since += dt or 0.0
        estimate = self._sample(self._clock, steering, wheel_angle, wheel_rate, steering_rate,
                                self._since)
        if estimate.accepted and not self._waits:
            self._since = 0.0
        return estimate

    def _sample(self, time: float, steering: ArrayLike, wheel_angle: ArrayLike,
                wheel_rate: ArrayLike | None, steering_rate: ArrayLike | None, dt: float | None
                ) -> OdometryEstimate:
        n, verdict, s = self.robot.count, cycle.IMPLAUSIBLE, self.settings
        steering, wheel = vectors(n, steering=steering, wheel_angle=wheel_angle)
        # what stands for unknown rates is not read
        timed, rolling, turning = False, wheel, steering
        if wheel_rate is not None and steering_rate is not None:
            timed, (rolling, turning) = True, vectors(n, wheel_rate=wheel_rate,
                                                      steering_rate=steering_rate)
        if abs(time) < math.inf:
            verdict = cycle.inspect(self._before, steering, wheel, turning, rolling, timed)
        if verdict == cycle.IMPLAUSIBLE:
            return self._reject(implausible_sample(time, steering, wheel))
        if verdict == cycle.REPEATED:
            self._repeated += 1
            self._last = self._last._replace(accepted=False, reason=REPEATED,
                                             repeated=self._repeated)
            return self._last
        # the first sample has nothing before it
        if dt is None or self._time == -math.inf:
            dt = float(time) - self._time
        rates = None
        if verdict == cycle.TIMED:
            rates = rolling, turning
            # a gap is one of the stamps
            dt = self._pace.step(dt if dt <= s.max_gap else None, (steering, wheel),
                                 (turning, rolling)) or dt
        self._waits = -OUT_OF_ORDER < dt < self._shortest
        if self._waits:
            # the next sample contains its increments
            self._skipped += dt < SHORTEST_STEP
            self._last = self._last._replace(
                reason=irregular_step(dt, s.max_gap) or soon(dt), accepted=True,
                skipped=self._skipped)
            return self._last
        self._time = float(time)
        reason, bridged = irregular_step(dt, s.max_gap), False
        if not reason:
            reason = self._move(dt, steering, wheel, rates)
        elif s.max_gap < dt < math.inf:
            reason, bridged = self._bridge(dt, steering, wheel, rates, reason)
        if reason:
            self._latch_only(dt, steering, wheel, rates, bridged)
        self._rate[:] = math.nan if rates is None else rolling
        twist, twist_covariance, residual, slip = self._fitted
        place = self._place
        self._last = OdometryEstimate(
            self._time, place.pose.copy(), twist,
            place.covariance + self._lasting.state.covariance + place.ends, twist_covariance,
            residual, slip, self._grip.report(), np.array(self._holds.doubt), self._distance, True,
            reason, self._skipped, self._rejected, self._gaps, self._repeated,
            self._faults.report())
        return self._last

    def _reject(self, reason: str) -> OdometryEstimate:
        self._rejected += 1
        self._last = self._last._replace(accepted=False, reason=reason, rejected=self._rejected)
        return self._last

    def _bridge(self, dt: float, steering: Array, wheel: Array, rates: Rates | None, reason: str
                ) -> tuple[str, bool]:
        """Move over a gap by positions; return the text about it and its success."""
        after, place = np.full(len(wheel), math.nan) if rates is None else rates[0], self._place
        path = kernels.bridge(self.robot.geometry, self._motion.latch, steering, wheel, self._rate,
                              after, dt, math.pi / self.settings.max_gap, place.lever, place.pose)
        if path < 0.0:
            return f'{reason}; the position counters were reset, and the path is lost', False
        self._gaps += 1
        errors = self._lasting
        self._went(cycle.carry_on(place, self._motion.unit, errors.state, errors.spread,
                                  errors.cross))
        place.covariance[:] += gap_covariance(path, place.lever)
        return f'{reason}; {path:.3f} m by the positions before and after it', True

    def _latch_only(self, dt: float, steering: Array, wheel: Array, rates: Rates | None,
                    bridged: bool) -> None:
        self._motion.latch[0], self._motion.latch[1] = steering, wheel
        self._kept = 0
        self._holds.drop()
        self._grip.reset()
        self._skipped += dt != math.inf and not bridged
        self._moved = min(self._moved, self._time)
        # a clock that was set back does not prolong the hold
        self._peak.time[0] = min(self._peak.time[0], self._time)
        twist, residual, covariance = self._outputs()
        if cycle.fit_twist(self.robot.geometry, steering, *(rates or np.zeros((2, len(wheel)))),
                           self._trusted, self.settings.rate_noise_std, False, self._time,
                           self._moved, 0.0, self._peak, self._lasting.state,
                           self._lasting.spread, self._motion.unit, twist, residual, covariance):
            self._fitted = twist, covariance, residual, self._last.slip

    def _move(self, dt: float, steering: Array, wheel: Array, rates: Rates | None) -> str:
        """Integrate a step; return the reason if that is not possible."""
        s, geometry, motion, place = self.settings, self.robot.geometry, self._motion, self._place
        monitor, faults, errors = self._monitor, self._faults, self._lasting
        # increments of a slipping wheel have no evidence of the time
        evident = rates is not None and not self._last.slip.slipping
        slips, apart = np.empty(len(wheel)), np.empty(len(wheel))
        dt, self._age, statistic, faulty = cycle.observe(
            geometry, motion.block, steering, wheel, self._rate, rates[0] if rates else self._rate,
            evident, dt, self._age, s.wheel_resolution, monitor.state.block,
            faults.state.block, slips, apart)
        slip = monitor.judge(dt, motion.steering, statistic, slips)
        faults.judge(dt, motion.wheel_rate, faulty, apart)
        # χ² that remains after each caster is de-weighted by its slip probability
        weight, left = self._ones, slip.statistic
        if s.robust and slip.slipping and slip.suspect >= 0:
            weight = np.maximum(1.0 - slip.likelihood, kernels.LEAST_TRUST)
            left += float(slip.likelihood @ (self.without - slip.statistic))
        wrong, trust = (faults.suspect, faults.trust) if s.robust else (-1, self._trusted)
        if wrong >= 0:
            weight, left = self._ones, float(self.without[wrong])
        grip = self._grip
        verdict, moved, back = cycle.move(
            geometry, motion.block, dt, weight, s.robust, trust, grip.age, grip.state.block,
            errors.state.block, place.block, self._ring.block, self._kept)
        grip.judge(dt, verdict)
        if not moved:
            if not np.all(np.isfinite(motion.twist)):
                return 'all contact points coincide: yaw is not observable'
            self._distance += self._holds.hold(motion.twist, grip, dt, self._kept - back,
                                               self._kept)
            motion.twist[:] = grip.state.twist
            cycle.go(motion, dt, True, place, self._ring, self._kept)
        self._kept += 1
        self._correct(slip, wrong)
        noise = s.rate_noise_std
        sensed = (steering, *rates) if rates else (motion.steering, motion.wheel_rate,
                                                   motion.steering_rate)
        if rates is None:
            noise = math.hypot(noise, self._difference_noise / dt)
        twist, residual, covariance = self._outputs()
        length, fitted = cycle.settle(
            geometry, motion.block, dt, left, monitor.state.block, not moved, *sensed, noise,
            rates is not None, self._time, self._moved, place.block, self._peak.block,
            errors.state.block, errors.spread, errors.cross, twist, residual, covariance)
        self._went(length)
        self._distance += self._holds.prove(dt, not moved, grip, self._kept)
        if fitted:
            self._fitted = twist, covariance, residual, slip
        elif not moved:
            self._fitted = (grip.report().twist, self._fitted[1], motion.residual.copy(), slip)
        return ''

    def _outputs(self) -> tuple[Array, Array, Array]:
        """Return arrays for a twist, its residuals and its covariance, which an estimate keeps."""
        return np.empty(3), np.empty((self.robot.count, 2)), np.empty((3, 3))

    def _went(self, length: float) -> None:
        """Count the path of a step, m; a negative one is standstill."""
        if length >= 0.0:
            self._distance += length
            self._moved = self._time

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
        refit(self.robot.geometry, self._ring.casters, self._ring.steps, self._kept,
              2.0 * self.settings.slip.time_constant, wheel, self._place.pose)
