# SPDX-License-Identifier: Apache-2.0
"""
Gyro as a sensor of the odometry: heading by wheels and gyro together.

The wheels slip and creep, and do not drift at standstill; a gyro drifts, and does not slip. Turns
of both over spans of 0.1 s are compared by a filter of the errors of pose, bias, scale and latency
(docs/odometry_gyro.md). A gyro that contradicts the joints is left out and named. The same samples
give the same bits, whenever those of the gyro arrive within `GyroFusionSettings.wait`.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics._gyro_kernels import (
    begin_gyro,
    interrupt_gyro,
    resume_gyro,
    start_gyro,
    step_gyro,
)
from c3p_kinematics._gyro_sample_kernels import add_sample, newest_stamp
from c3p_kinematics.gyro_report import GyroReport
from c3p_kinematics.gyro_states import GyroFilter
from c3p_kinematics.odometry_states import OdometryState
from c3p_kinematics.sensed_kinematics_parameters import GyroFusionSettings, OdometryParameters

# a stamp that goes back by more is of a clock that was set, s
RESTART = 0.2

# growth of a variance of the parameters that is no longer that of wear
GREW = 1.01

# stamps count from a multiple of this, ns: a million seconds resolve a nanosecond in float64
DAYS = 10**15


class GyroFusion:
    """
    Fusion of a gyro with the odometry of a robot, of which it is a part.

    Parameters
    ----------
    robot : CasterRobot
    settings : GyroFusionSettings
    joints : OdometryParameters
        For the deviations of their times.
    rounding : tuple of float, rad
        Steps of wheel and steering encoders.

    Examples
    --------
    >>> from c3p_kinematics.odometry import Odometry, OdometrySettings
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> odometry = Odometry(robot, OdometrySettings(gyro=GyroFusionSettings(enabled=True)))
    >>> still = np.zeros(3)
    >>> for k in range(1000):  # stands, with a bias of 0.01 rad/s
    ...     assert odometry.gyro.measure(5_000_000 * k, 0.01)
    ...     estimate = odometry.step(0.005 * k, still, still)
    >>> round(estimate.gyro.bias, 5), estimate.pose.round(5).tolist()
    (0.01, [0.0, 0.0, 0.0])
    """

    def __init__(self, robot: CasterRobot, settings: GyroFusionSettings,
                 joints: OdometryParameters, rounding: tuple[float, float]) -> None:
        n = robot.count
        # sum of the squared distances of the contacts from their centre, m²
        lever = float(np.sum((robot.hip_position - robot.hip_position.mean(axis=0))**2)
                      + np.sum(robot.caster_offset**2))
        steps = np.mean((robot.wheel_radius * rounding[0])**2
                        + (robot.caster_offset * rounding[1])**2)
        self._state = GyroFilter.new(
            n, walk=settings.walk**2, bias_walk=settings.bias_walk**2, scale=settings.scale**2,
            wait=settings.wait, rounding=float(steps) / (12.0 * lever),
            skew=joints.sample_skew**2 / lever, jitter=joints.stamp_jitter**2)
        # begin of time, stamps of the gyro's newest sample and of the joints' next one, ns
        self._origin: int | None = None
        self._newest: int | None = None
        self._stamp: int | None = None
        # of the newest sample of the joints, s; None: the next one begins
        self._time: float | None = None
        self._report: GyroReport | None = None
        # covariance of the parameters that the covariances belong to
        self._spread: Array | None = None
        start_gyro(self._state.block, n)

    @property
    def pose(self) -> Array:
        """Fused pose (3,): m and rad."""
        return self._state.pose.copy()

    @property
    def pose_covariance(self) -> Array:
        """Covariance (3, 3) of `pose`, floor axes."""
        return self._state.pose_covariance.copy()

    def measure(self, stamp: int, rate: float, variance: float = 0.0) -> bool:
        """
        Add a sample of the gyro; return whether it was used.

        Parameters
        ----------
        stamp : int, ns
            On the clock of the joints. A stamp up to `RESTART` before the last one is out of
            order, and the sample is not used.
        rate : float, rad/s
            About the vertical; one that is not finite is not used.
        variance : float, rad²/s²
            Of the rate; 0 if unknown.
        """
        if not math.isfinite(rate):
            return False
        before = self._newest
        if before is not None and stamp <= before:
            if (before - stamp) * 1e-9 <= RESTART:
                return False
            self._state.samples.count[0] = self._state.samples.first[0] = 0.0
        self._newest = stamp
        known = variance if 0.0 < variance < math.inf else 0.0
        add_sample(self._state.block, self._state.values, self._seconds(stamp), rate, known)
        return True

    def at(self, stamp: int) -> None:
        """Take `stamp` [ns] as that of the next sample of the joints, on the clock of the gyro."""
        self._stamp = stamp

    def begin(self, odometry: OdometryState) -> None:
        """Begin at a pose that was set; bias and scale of the gyro stay known."""
        self._time = None
        self._state.pose[:] = odometry.place.pose
        self._state.pose_covariance[:] = odometry.out.pose_covariance

    def forget(self) -> None:
        """Forget all samples of the gyro, and what was learned of it."""
        state = self._state
        state.samples.block[:] = 0.0
        state.watch.block[:] = 0.0
        state.fused[:] = state.left_out[:] = 0.0
        self._origin = self._newest = self._stamp = self._time = None
        self._report = self._spread = None
        start_gyro(state.block, state.values)

    def warm_up(self, odometry: OdometryState, spread: Array) -> None:
        """Compile all kernels, and forget."""
        for stamp in (0, 10_000_000):
            self.measure(stamp, 0.0)
        interrupt_gyro(self._state.block, odometry.block, spread)
        resume_gyro(self._state.block, odometry.block, self._state.values, 0.0)
        self.forget()

    def step(self, odometry: OdometryState, geometry: Array, spread: Array, time: float,
             moved: bool) -> None:
        """
        Follow a sample that the odometry has used.

        Parameters
        ----------
        odometry : OdometryState
            After the sample.
        geometry, spread : array
            As of `_odometry_step.step`.
        time : float, s
            Its stamp, unless `at` has one.
        moved : bool
            It was integrated as usual.
        """
        f = self._state
        stamp = round(1e9 * time) if self._stamp is None else self._stamp
        self._stamp = None
        now = self._seconds(stamp)
        last = self._time
        self._time = now
        if last is None:
            begin_gyro(f.block, odometry.block, f.values, now)
            self._spread = spread.copy()
        elif now < last:
            interrupt_gyro(f.block, odometry.block, spread)
            resume_gyro(f.block, odometry.block, f.values, now)
        else:
            self._follow(spread)
            step_gyro(f.block, odometry.block, geometry, spread, now, moved)

    def _follow(self, spread: Array) -> None:
        """Carry the covariances with the parameters over to an estimate that has learned."""
        before = self._spread
        assert before is not None
        if np.array_equal(before, spread):
            return
        cross = self._state.cross
        if np.any(np.diag(spread) > GREW * np.diag(before)):
            # another estimate, whose errors are not those of the pose
            cross[:] = 0.0
        else:
            # an update x ← (1 − K H) x makes P' = (1 − K H) P, and A' = A (1 − K H)ᵀ
            cross[:] = np.linalg.solve(before, cross.T).T @ spread
        before[:] = spread

    def _seconds(self, stamp: int) -> float:
        """Return the time since a begin that does not depend on which sample came first, s."""
        if self._origin is None:
            self._origin = stamp - stamp % DAYS
        return (stamp - self._origin) * 1e-9

    def report(self) -> GyroReport:
        """Return what is known of the gyro."""
        f = self._state
        spans = (int(f.fused[0]), int(f.left_out[0]))
        if self._report is None or (self._report.fused, self._report.left_out) != spans:
            watch = f.watch
            deviation = np.sqrt(np.diag(f.covariance)[3:5])
            newest = newest_stamp(f.block, f.values)
            self._report = GyroReport(
                bool(watch.trusted[0]), float(f.estimate[0]), float(deviation[0]),
                1.0 + float(f.estimate[1]), float(deviation[1]), float(f.estimate[2]),
                float(watch.ratio[0]), float(watch.offset[0]), bool(watch.constant[0]),
                float(watch.silent[0]),
                math.inf if self._time is None else self._time - newest, *spans)
        return self._report
