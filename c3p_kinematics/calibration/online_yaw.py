# SPDX-License-Identifier: Apache-2.0
"""
Yaw of a gyro in the calibration while driving.

Turns by the gyro, from one calm moment to the next, are compared with those of the joints by the
present estimate. The scale error of the gyro is the same in all of them: it is considered with its
correlation with the estimate, and not estimated (Schmidt's filter). The bias is tracked while the
joints stand still.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri

from c3p_description.model import Array
from c3p_kinematics.calibration._window_kernels import add_step, begin_window
from c3p_kinematics.calibration.calibration_states import MotionWindow
from c3p_kinematics.calibration.gyro import LEAST_TURN, LONGEST_GAP, SETTLED, STEPS, GyroSettings
from c3p_kinematics.calibration.online import CONTRADICTION, SelfCalibration
from c3p_kinematics.calibration.parameters import window_length
from c3p_kinematics.calibration.words import INTERVAL

# yaw rate below which a turn ends, rad/s; a longer turn ends in motion, rad
CALM = 0.1
LONGEST_TURN = 20.0

# turns of a trial, before the gyro teaches, and after which the refusal of most begins another;
# limits of a trial: what all turns have in common, an error of the scale or of the bias, in
# standard deviations, and all turns together, by its probability
TRIAL = 4
COMMON_LIMIT = 2.6
TRIAL_LIMIT = float(chdtri(TRIAL, CONTRADICTION))

# standard deviation of the delay between gyro and joints, s
DELAY = 0.02

# bias before the first standstill, rad/s, and its random walk, rad/s/√s
FIRST_BIAS = math.radians(2.0)
DRIFT = math.radians(5e-4)


class _Turn(NamedTuple):
    """Turn by the joints with its derivative (1 + 5n,), by the gyro [rad], variance, duration."""

    heading: Array
    parameters: Array
    turned: float
    variance: float
    took: float

    def by(self, parameters: Array) -> Array:
        """Return the turn by the joints (1 + 5n,) with other parameters."""
        heading = self.heading.copy()
        heading[0] += heading[1:] @ (parameters - self.parameters).ravel()
        return heading


class YawLearner:
    """
    Measurements of a gyro for a `SelfCalibration`.

    The first turns are a trial: they teach once `TRIAL` of them agree with each other and with the
    joints. A bias that changed after the standstill makes long and short, left and right turns
    disagree; a scale far from the stated one disagrees with the joints in all of them. After most
    of the last turns were refused, or a change of the estimate (evidence.py), a new trial begins.

    Parameters
    ----------
    calibration : SelfCalibration
    settings : GyroSettings, optional

    Attributes
    ----------
    turns, learned, refused : int
        Turns so far, those that changed the estimate, and those that contradict it.
    bias : float, rad/s
    """

    def __init__(self, calibration: SelfCalibration, settings: GyroSettings | None = None) -> None:
        self.calibration, self.settings = calibration, settings or GyroSettings()
        robot = calibration.robot
        n = robot.count
        self._window = MotionWindow.new(n)
        self._window.factors[:] = robot.geometry[:, 4:]
        known = calibration.settings.calibration
        self._step = STEPS * max(known.wheel_resolution, known.steering_resolution, 1e-9)
        lever = float(np.sum((robot.hip_position - robot.hip_position.mean(axis=0))**2))
        # variance of the yaw by joints: at both ends, and per metre of path of independent windows
        self._rounding = ((robot.wheel_radius.mean() * known.wheel_resolution)**2
                          + (robot.caster_offset.mean() * known.steering_resolution)**2
                          ) / (6.0 * lever)
        self._per_metre = known.creep**2 * window_length(robot) / lever
        self._parameters = calibration.parameters
        self.bias = 0.0
        self._variance = FIRST_BIAS**2
        self.turns = self.learned = self.refused = 0
        self._trusted = False
        self._trial: list[_Turn] = []
        self._refusals: list[bool] = []
        self._changes = calibration.changes
        self._time: float | None = None
        self._rate, self._still, self._net = 0.0, 0.0, np.zeros(2 * n)
        self._mean = (0.0, 0.0)
        self._pending: float | None = None
        self.interrupt()

    def interrupt(self) -> None:
        """Begin a new turn, after a gap or a slip."""
        begin_window(self._window.block, self.calibration.robot.count)
        self._turned = self._took = 0.0
        self._begin = self._rate

    def measure(self, time: float, rate: float) -> None:
        """
        Add a sample of the gyro: `time` [s], increasing, and `rate` about the vertical [rad/s].

        Both must be finite.
        """
        before = self._time
        self._time = time
        dt = 0.0 if before is None else time - before
        if not 0.0 < dt <= LONGEST_GAP:
            self._rate = rate - self.bias
            self.interrupt()
            return
        self._variance += DRIFT**2 * dt
        self._track(rate, dt)
        rate -= self.bias
        self._turned += 0.5 * (self._rate + rate) * dt
        self._rate = rate
        self._took += dt

    def _track(self, rate: float, dt: float) -> None:
        """Update the bias at standstill, by means over `SETTLED`, one behind: a start is slow."""
        if self._still < SETTLED:
            self._mean = (0.0, 0.0)
            self._pending = None
            return
        total, took = self._mean = self._mean[0] + rate * dt, self._mean[1] + dt
        if took < SETTLED:
            return
        if self._pending is not None:
            gain = self._variance / (self._variance + self.settings.walk**2 / took)
            self.bias += gain * (self._pending - self.bias)
            self._variance *= 1.0 - gain
        self._mean = (0.0, 0.0)
        self._pending = total / took

    def step(self, steering: Array, rolled: Array, turned: Array, dt: float, good: bool) -> bool:
        """
        Add the increments of the joints after `SelfCalibration.step`, with its parameters.

        Returns True if the estimate changed. `dt` is the duration of the step, s.
        """
        self._stand(rolled, turned, dt)
        window = self._window
        parameters = self.calibration.parameters
        if parameters is not self._parameters:
            # the turn so far by the new estimate
            window.turn[0] += window.by_parameter @ (parameters - self._parameters).ravel()
            self._parameters = parameters
        if not good or not add_step(
                window.block, parameters, steering, rolled, turned):
            self.interrupt()
            return False
        calm = abs(self._rate) <= CALM
        if not calm and abs(self._turned) < LONGEST_TURN:
            return False
        changed = abs(self._turned) >= LEAST_TURN and self._learn()
        self.interrupt()
        return changed

    def _learn(self) -> bool:
        path = float(self._window.travel[:, 0].mean())
        noise = (self.settings.walk**2 * self._took + self._variance * self._took**2
                 + DELAY**2 * (self._begin**2 + self._rate**2)
                 + self._rounding + self._per_metre * path * self.calibration.noise**2)
        self.turns += 1
        heading = np.concatenate([self._window.turn, self._window.by_parameter])
        turn = _Turn(heading, self._parameters, self._turned, noise, self._took)
        if self._changes != self.calibration.changes:
            # what the gyro taught is gone as well
            self._changes = self.calibration.changes
            self._trusted = False
            self._trial.clear()
        if self._trusted:
            return self._follow(turn)
        self._trial.append(turn)
        if len(self._trial) < TRIAL:
            return False
        turns = self._trial
        self._trial = []
        self._trusted = self._agree(turns)
        if not self._trusted:
            self.refused += TRIAL
            return False
        return any([self._follow(turn) for turn in turns])

    def _follow(self, turn: _Turn) -> bool:
        """Learn a turn; most refusals of the last turns end the trust."""
        learned = self.calibration
        before = learned.contradicted
        changed = learned.learn_yaw(turn.by(learned.parameters), turn.turned, turn.variance,
                                    self.settings.scale)
        refused = learned.contradicted > before
        self.learned += changed
        self.refused += refused
        self._refusals = [*self._refusals[1 - TRIAL:], refused]
        if 2 * sum(self._refusals) > TRIAL:
            self._trusted = False
            self._refusals.clear()
        return changed

    def _agree(self, turns: list[_Turn]) -> bool:
        """Return True if the turns agree with each other and with the joints."""
        learned = self.calibration
        headings = np.array([turn.by(learned.parameters) for turn in turns])
        yaw = np.array([turn.turned for turn in turns])
        spread = learned.yaw_covariance(headings[:, 1:], yaw, self.settings.scale) + np.diag(
            [turn.variance for turn in turns])
        apart = yaw - headings[:, 0]
        # an error of the scale is in proportion to the turns, one of the bias to their durations
        causes = np.column_stack([yaw, [turn.took for turn in turns]])
        found = np.linalg.solve(spread, np.column_stack([causes, apart]))
        strength = causes.T @ found[:, 2] / np.sqrt(np.sum(causes * found[:, :2], axis=0))
        return bool(np.abs(strength).max() <= COMMON_LIMIT and apart @ found[:, 2] <= TRIAL_LIMIT)

    @property
    def doubt(self) -> str:
        """Why the gyro does not teach although it turned, '' if it does."""
        if self._trusted or self.refused < TRIAL:
            return ''
        return (f'{self.refused} of {self.turns} turns of the IMU contradict the joints: let the '
                'robot stand for 5 s once the IMU is warm; check imu.axis and imu.scale_std')

    def _stand(self, rolled: Array, turned: Array, dt: float) -> None:
        """Count the time for which the joints stay within their encoder steps."""
        n = len(rolled)
        self._net[:n] += rolled
        self._net[n:] += turned
        self._still += dt
        if np.abs(self._net).max() > self._step:
            self._net[:] = 0.0
            self._still = 0.0

    def metrics(self) -> dict[str, str]:
        """Return bias and turns in words, as key-values for diagnostics."""
        return {'imu': f'bias {math.degrees(self.bias):.3f} ± '
                f'{math.degrees(INTERVAL * math.sqrt(self._variance)):.3f} °/s, {self.learned} of '
                f'{self.turns} turns used'}
