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

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_kinematics import _fault_alarm_kernels as alarm
from c3p_kinematics import _fault_kernels as kernels
from c3p_kinematics import _fault_kind_kernels as kinds
from c3p_kinematics.fault_report import FaultReport, LastingSizes
from c3p_kinematics.odometry_states import KINDS, Faults, RigidFit
from c3p_kinematics.sensed_kinematics_parameters import FaultSettings
from c3p_kinematics.slip import measured_rows, thresholds, vectors

__all__ = ['EVIDENCE', 'FADED', 'FADING', 'OCCAM', 'PRIOR', 'SLIPS', 'SLIP_TIME', 'SUDDEN',
           'UNLIKELY', 'FaultMonitor', 'FaultSettings']

# as stated in _fault_kind_kernels.py and _fault_alarm_kernels.py
OCCAM = kinds.OCCAM
PRIOR = alarm.PRIOR
SLIPS = alarm.SLIPS
SLIP_TIME = alarm.SLIP_TIME
UNLIKELY = alarm.UNLIKELY
SUDDEN = alarm.SUDDEN
FADED = alarm.FADED
FADING = alarm.FADING
EVIDENCE = alarm.EVIDENCE


class FaultMonitor:
    """
    Detection and naming of slip and sensor faults of one robot; bounded memory and time.

    Parameters
    ----------
    robot : CasterRobot
    wheel_resolution, steering_resolution : float, rad
        Encoder steps; 0 for continuous angles.
    settings : FaultSettings, optional
    skew : float, s
        Standard deviation of the times of the joints of a sample from each other, as in
        `SlipMonitor`.

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
                 steering_resolution: float = 0.0, settings: FaultSettings | None = None,
                 skew: float = 0.0) -> None:
        self.robot = robot
        self.settings = settings or FaultSettings()
        self._skew = skew
        n = robot.count
        self._resolution = wheel_resolution, steering_resolution
        self.threshold = thresholds(n, self.settings.false_alarm, measured_rows(robot))[0]
        self._motion = RigidFit.new(n)
        self.state = Faults.new(n)
        # of reports without an alarm
        self._none = np.zeros((n, KINDS))
        self.use(self.state.block)
        self.reset()

    def use(self, block: Array) -> None:
        """Keep the state in a `block`, as that of the odometry; `reset` is due then."""
        s = self.settings
        robot = self.robot
        wheel, steering = self._resolution
        limit, several = thresholds(robot.count, s.false_alarm, measured_rows(robot))
        step = float(np.hypot(robot.wheel_radius * wheel, robot.caster_offset * steering).max())
        self.state = state = Faults.of(
            block, robot.count, time_constant=s.time_constant, leak=1.0 / s.memory,
            alarm_above=limit, clear_below=s.clear_fraction * limit, several=several,
            persistence=s.persistence, release=s.release, released_after=s.released_after,
            standing=s.standing, all_free=not np.any(robot.steered),
            # uniform rounding has the deviation Δ/√12
            rounding=step / math.sqrt(12.0))
        state.noise[:] = s.noise_std, s.noise_std, s.radius, s.offset, s.zero, s.hip, s.creep
        state.unmoved[:] = 6.0 * wheel + 0.02, 6.0 * steering + 0.02
        state.radius[:] = robot.wheel_radius
        state.driven[:] = robot.driven
        state.steers[:] = ~robot.fixed

    @property
    def alarm(self) -> bool:
        """True during an alarm."""
        return bool(self.state.alarm[0])

    @property
    def statistic(self) -> float:
        """χ² of the last sample."""
        return float(self.state.total[0])

    def reset(self) -> None:
        """Clear the memory."""
        state = self.state
        for array in (state.memory, state.statistic, state.innovation, state.speed,
                      state.evidence, state.windows, state.posterior, state.jumped,
                      state.table, state.unexplained,
                      state.lasting_memory, state.lasting, state.lasting_size, state.lasts,
                      state.total, state.alarm, state.held, state.path, state.since,
                      state.peak):
            array[:] = 0.0
        state.memory[:, kernels.LEAPT:kernels.LEAPT + 2] = math.inf
        for array in (state.trusted, state.trust):
            array[:] = 1.0
        state.skew[0] = self._skew
        state.window[0] = self.settings.time_constant
        for array in (state.caster, state.suspect):
            array[:] = -1.0

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
        motion = self._motion
        motion.steering[:] = steering
        motion.wheel_rate[:] = wheel_rate
        motion.steering_rate[:] = steering_rate
        alarm.monitor_faults(self.state.block, self.robot.geometry, motion.block, float(dt))

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
            Lengths of the innovations.
        """
        self.state.total[0] = statistic
        self.state.speed[:] = speed
        alarm.decide_faults(self.state.block, wheel_rate, float(dt))

    def contradicts(self, caster: int) -> bool:
        """Return whether the fault is another caster's than `caster`."""
        return int(self.state.caster[0]) not in (-1, caster)

    @property
    def suspect(self) -> int:
        """Caster with a row that odometry does without; −1 for none."""
        return int(self.state.suspect[0])

    @property
    def trust(self) -> Array:
        """1 for each row (n, 2) along and across that odometry uses, 0 for the others."""
        return self.state.trust.copy()

    def warm_up(self) -> None:
        """Compile all kernels, those of an alarm included, and reset."""
        zeros = np.zeros(self.robot.count)
        self.advance(0.01, zeros, zeros, zeros)
        self.reset()

    def report(self) -> FaultReport:
        """Return the state after the last sample."""
        state = self.state
        speed = state.speed.copy()
        statistic = float(state.total[0])
        if not state.alarm[0]:
            return FaultReport(False, self._none, statistic, self.threshold, speed, None)
        table = state.table.copy() if self.robot.count > 2 else self._none
        return FaultReport(True, table, statistic, self.threshold, speed, self.sizes())

    def sizes(self) -> LastingSizes:
        """Return the ratio of each wheel and the play of each steering, with or without alarm."""
        ratio, ratio_std, play, play_std = self.state.lasting_size.T
        return LastingSizes(1.0 + ratio, ratio_std.copy(), play.copy(), play_std.copy())
