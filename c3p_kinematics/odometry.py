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
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics import _odometry_step as verdicts
from c3p_kinematics import joint_channels, joint_times, row_errors
from c3p_kinematics._odometry_step import SHORTEST_STEP, start_again, step
from c3p_kinematics.gyro_fusion import GyroFusion
from c3p_kinematics.joint_times import TimesReport
from c3p_kinematics.measured_joints import MeasuredJoints, tyre_variance
from c3p_kinematics.odometry_data import (
    PARAMETERS,
    SOON,
    OdometryEstimate,
    OdometrySettings,
    implausible_sample,
    irregular_step,
    odometry_settings,
    planar_covariance,
    soon,
)
from c3p_kinematics.odometry_monitors import make_monitors
from c3p_kinematics.odometry_states import OdometryState, Peak, Place
from c3p_kinematics.row_errors import TyreErrors
from c3p_kinematics.sample_times import REPEATED, stamp_weight
from c3p_kinematics.se2 import wrap
from c3p_kinematics.singularity import length_scale
from c3p_kinematics.slip import vectors
from c3p_kinematics.uncertainty import LastingErrors

__all__ = ['PARAMETERS', 'Odometry', 'OdometryEstimate', 'OdometrySettings',
           'odometry_settings', 'planar_covariance']

# rates of wheels and steering axes, rad/s
Rates = tuple[Array, Array]


class Odometry:
    """
    Dead reckoning with covariance, slip isolation and input validation.

    Parameters
    ----------
    robot : CasterRobot
    settings : OdometrySettings, optional

    Attributes
    ----------
    gyro : GyroFusion or None
        Gyro whose turns are fused with those of the joints; `settings.gyro` enables it.

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
        (self._monitor, self._grip, self._faults, self._wiring,
         self._difference_noise) = make_monitors(robot, s)
        self._lasting = LastingErrors(robot, s.prior, s.steering_resolution, s.stamp_jitter)
        self._state = OdometryState.new(
            n, robust=s.robust, max_gap=s.max_gap,
            shortest=max(SHORTEST_STEP, SOON * s.stamp_jitter),
            stamp_weight=stamp_weight(s.stamp_jitter), wheel_resolution=s.wheel_resolution)
        place = Place.of(self._state.place.block, n, lever=length_scale(robot),
                         standing=s.standing_distance, end_variance=self._difference_noise**2,
                         tyre=tyre_variance(robot))
        place.growth[:] = (s.position_variance_per_metre, s.position_variance_per_radian,
                           s.yaw_variance_per_metre, s.yaw_variance_per_radian)
        # tyres that are assumed to roll have a slip angle, a factor and a growth of their own
        errors = (s.tyre_creep, s.side_slip) if place.tyre == 0.0 else (0.0, 0.0)
        row_errors.describe(self._state.rows, n, errors, self._difference_noise,
                            s.sample_skew, s.standing_distance)
        joint_times.describe(self._state.times, n, s.sample_skew, self._difference_noise)
        Peak.of(self._state.peak.block, n, hold=s.hold, fraction=s.slip.speed_fraction,
                creep=s.creep, rate_noise=s.rate_noise_std,
                difference_noise=self._difference_noise)
        self._joints = MeasuredJoints(robot)
        self._connect()
        self.gyro = GyroFusion(robot, s.gyro, s, (s.wheel_resolution, s.steering_resolution)) if (
            s.gyro.enabled and s.gyro.odometry) else None
        # of `step_by`: time since the first sample, and since the last accepted one, s
        self._clock = 0.0
        self._since = 0.0
        self.reset()

    def _connect(self) -> None:
        """Let the monitors keep their states in that of the odometry."""
        state = self._state
        self._monitor.use(state.slip.block)
        self._grip.use(state.grip.block)
        self._faults.use(state.faults.block)
        self._wiring.use(state.wiring.block)
        self._lasting.use(state.lasting.block, self.robot.count)
        s = self.settings
        joint_channels.describe(state.channels, self.robot, s.max_gap, s.wheel_resolution,
                                s.steering_resolution, s.rate_lag)
        # with the constants that have been written
        self._state = OdometryState.of(state.block, self.robot.count)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Connect the monitors of a copy with its own state."""
        self.__dict__.update(state)
        self._connect()

    @property
    def pose(self) -> Array:
        """Pose (x, y, yaw) on the floor: m and rad."""
        return self._state.place.pose.copy() if self.gyro is None else self.gyro.pose

    def warm_up(self) -> None:
        """Compile all kernels, and reset."""
        still = np.zeros(self.robot.count)
        moved = np.full(self.robot.count, 0.01)
        for time, angle in ((0.0, still), (0.01, moved)):
            self.step(time, still, angle, still, still)
        self._wiring.warm_up()
        if self.gyro is not None:
            self.gyro.warm_up(self._state, self._lasting.spread)
        self.reset()

    @property
    def without(self) -> Array:
        """χ² of the filtered residuals without each caster (n,), of the last sample."""
        return self._state.slip.without

    @property
    def tyre_errors(self) -> TyreErrors:
        """Creep and side slip, estimated from the residuals since `reset`."""
        return row_errors.tyre_errors(self._state.rows)

    def step_paths(self, least: float = 0.0) -> Array:
        """Return the paths (n, 2) of contacts over the floor in the last step, ≥ `least` s, m."""
        return self._state.motion.residual * max(float(self._state.out.span[0]), least)

    @property
    def rate_lag(self) -> joint_channels.RateLag:
        """Lag of the rates behind the angles since `reset`, and the change it is applied to."""
        return joint_channels.rate_lag(self._state.channels, self._state.lasting.changes)

    @property
    def times(self) -> TimesReport | None:
        """Times of the joint samples since `reset`; None before there is enough motion."""
        return joint_times.report(self._state.times, self._state.channels)

    def reset(self, pose: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """
        Start again at `pose` (3,); the next sample only latches.

        All evidence is forgotten, that of a wrong wiring as well.

        Raises
        ------
        ValueError
            `pose` is not three finite numbers.
        """
        pose = np.array(pose, float)
        if pose.shape != (3,) or not np.all(np.isfinite(pose)):
            raise ValueError(f'pose = {pose.tolist()}: expected three finite numbers, x, y, yaw')
        s = self.settings
        n = self.robot.count
        state = self._state
        pose[2] = float(wrap(pose[2]))
        variance = np.array([s.initial_position_std, s.initial_position_std, s.initial_yaw_std])**2
        place = state.place
        peak = state.peak
        hold = state.hold
        ring = state.ring
        out = state.out
        for array in (place.ends, place.distance, hold.block, ring.count, ring.refitted,
                      ring.unclear, state.ahead, state.age, out.twist, out.residual):
            array[:] = 0.0
        place.pose[:] = place.anchor[:] = pose
        place.covariance[:] = out.pose_covariance[:] = np.diag(variance)
        row_errors.forget(state.rows)
        peak.value[:] = out.covariance[:] = np.diag([s.rate_noise_std**2] * 3)
        for array in (peak.time, place.time, place.moved):
            array[:] = -math.inf
        hold.first[0] = ring.left_out[0] = -1.0
        # neither a sample before, nor its rates
        for array in (state.before, state.rate):
            array[:] = math.nan
        joint_channels.forget(state.channels)
        joint_times.forget(state.times)
        for monitor in (self._lasting, self._monitor, self._grip, self._faults, self._wiring):
            monitor.reset()
        self._skipped = 0
        self._rejected = 0
        self._gaps = 0
        self._repeated = 0
        self._waits = False
        self._last = OdometryEstimate(0.0, pose, np.zeros(3), np.diag(variance),
                                      peak.value.copy(), np.zeros((n, 2)),
                                      self._monitor.report(), self._grip.report(), np.zeros(2),
                                      0.0, True, 'no sample yet', 0, 0, 0)
        if self.gyro is not None:
            self.gyro.begin(state)

    def place_at(self, pose: ArrayLike) -> None:
        """
        Start again at `pose` (3,) as `reset`, and keep the evidence on the wiring.

        Raises
        ------
        ValueError
            As `reset`.
        """
        evidence = self._wiring.evidence()
        self.reset(pose)
        self._wiring.adopt(evidence)

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
            self.place_at(self.pose)
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
        n = self.robot.count
        state = self._state
        sample = state.sample
        place = state.place
        joints = self._joints
        if not joints.complete:
            steering, wheel_angle = joints.angles(
                *vectors(n, steering=steering, wheel_angle=wheel_angle))
            if wheel_rate is not None and steering_rate is not None:
                wheel_rate, steering_rate = joints.rates(wheel_rate, steering_rate)
        if wheel_rate is None or steering_rate is None:
            sample[0], sample[1] = vectors(n, steering=steering, wheel_angle=wheel_angle)
            sample[2:] = math.nan
        else:
            sample[0], sample[1], sample[3], sample[2] = vectors(
                n, steering=steering, wheel_angle=wheel_angle, wheel_rate=wheel_rate,
                steering_rate=steering_rate)
        time = float(time)
        before = float(place.time[0])
        # the first sample has nothing before it
        if dt is None or before == -math.inf:
            dt = time - before
        verdict = verdicts.IMPLAUSIBLE
        if abs(time) < math.inf:
            errors = self._lasting
            verdict = step(state.block, self.robot.geometry, errors.spread, errors.cross, time,
                           dt)
        self._waits = verdict == verdicts.WAITS
        if verdict == verdicts.MOVED:
            if state.wiring.due[0]:
                self._wiring.judge()
            self._moved()
            self._last = self._estimate('')
        elif verdict in (verdicts.IRREGULAR, verdicts.UNDETERMINED):
            self._last = self._estimate(self._begin_anew(time))
        else:
            self._last = self._unused(verdict, time)
        return self._last if self.gyro is None else self._fused(
            self.gyro, verdict == verdicts.MOVED,
            verdict in (verdicts.MOVED, verdicts.IRREGULAR, verdicts.UNDETERMINED))

    def _fused(self, gyro: GyroFusion, moved: bool, used: bool) -> OdometryEstimate:
        """Return the estimate with the pose of gyro and joints; the sample may be `used`."""
        if used:
            gyro.step(self._state, self.robot.geometry, self._lasting.spread, self._last.time,
                      moved)
        return self._last._replace(pose=gyro.pose, pose_covariance=gyro.pose_covariance,
                                   gyro=gyro.report())

    def _moved(self) -> None:
        """Learn from a step that was integrated as usual."""

    def _estimate(self, reason: str) -> OdometryEstimate:
        """Return the estimate after a sample that was used."""
        state = self._state
        place = state.place
        out = state.out
        faults = self._faults.report()
        if faults.alarm:
            # a wrong wiring may explain it as well
            faults = faults.shared(float(state.wiring.share[0]))
        return OdometryEstimate(
            float(place.time[0]), place.pose.copy(), out.twist.copy(), out.pose_covariance.copy(),
            out.covariance.copy(), self._joints.velocities(out.residual),
            self._last.slip if reason else self._monitor.report(), self._grip.report(),
            state.hold.doubt.copy(), float(place.distance[0]), True, reason, self._skipped,
            self._rejected, self._gaps, self._repeated,
            faults, joint_channels.report(state.channels), self._wiring.report)

    def _unused(self, verdict: int, time: float) -> OdometryEstimate:
        """Return the last estimate after a sample that was rejected, or taken with the next."""
        state = self._state
        if verdict == verdicts.REPEATED:
            self._repeated += 1
            return self._last._replace(accepted=False, reason=REPEATED, repeated=self._repeated)
        if verdict == verdicts.WAITS:
            # the next sample contains its increments
            dt = float(state.dt[0])
            self._skipped += dt < SHORTEST_STEP
            return self._last._replace(
                reason=irregular_step(dt, self.settings.max_gap) or soon(dt), accepted=True,
                skipped=self._skipped)
        self._rejected += 1
        return self._last._replace(
            accepted=False, reason=implausible_sample(time, state.sample[0], state.sample[1]),
            rejected=self._rejected)

    def _begin_anew(self, time: float) -> str:
        """Latch a sample that cannot be integrated as usual; return the reason."""
        state = self._state
        errors = self._lasting
        most = self.settings.max_gap
        dt = float(state.dt[0])
        path = start_again(state.block, self.robot.geometry, errors.spread, errors.cross, time,
                           math.pi / most)
        self._grip.reset()
        self._wiring.drop()
        reason = irregular_step(dt, most) or 'all contact points coincide: yaw is not observable'
        if path >= 0.0:
            self._gaps += 1
            return f'{reason}; {path:.3f} m by the positions before and after it'
        self._skipped += dt != math.inf
        if most < dt < math.inf:
            return f'{reason}; the position counters were reset, and the path is lost'
        return reason
