# SPDX-License-Identifier: Apache-2.0
"""
Calibration while driving: a recursive estimate of lengths and steering zeros, with covariance.

Each window of motion gives 2n − 3 equations (docs/calibration.md). They update a Kalman filter
whose prior is the description, which also fixes the gauge. A window with reported slip, or one
that contradicts the estimate, teaches nothing, nor does one without news. The covariance grows
back towards the prior over `memory` metres, so that wear is followed. Memory and time are bounded:
arrays of fixed size, one update per window.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.calibration import _online_kernels as kernels
from c3p_kinematics.calibration._window_kernels import begin_window
from c3p_kinematics.calibration.calibration_states import Learner
from c3p_kinematics.calibration.parameters import (
    CalibrationSettings,
    calibrated,
    parameters_of,
    window_length,
)
from c3p_kinematics.calibration.words import lines
from c3p_kinematics.sensed_kinematics_parameters import LearningParameters

# probability of a contradiction of a window without slip
CONTRADICTION = 1e-3

# the same for the turn of a gyro, normalised innovation squared
YAW_LIMIT = float(chdtri(1, CONTRADICTION))

# largest variance of a covariance from outside in units of the prior: no estimate is less certain
# than the prior, whose lengths may differ by those that were calibrated since
LARGEST = 1.1

# windows that contradict in a row, after which the estimate is uncertain again: a tyre was changed
RELEARN = 20


@dataclass(frozen=True)
class LearningSettings:
    """
    Settings of the calibration while driving.

    Attributes
    ----------
    calibration : CalibrationSettings
        Prior and errors of the sensors.
    memory : float, m
        Path of the casters over which the covariance returns to the prior; inf never forgets.
    least_gain : float, nats
        Information gain below which a window is not used.
    most : float
        Limit of each parameter's deviation from the description, in standard deviations of the
        prior.
    """

    calibration: CalibrationSettings = field(default_factory=CalibrationSettings)
    memory: float = LearningParameters.memory
    least_gain: float = 1e-3
    most: float = 4.0

    def __post_init__(self) -> None:
        """Reject values out of range."""
        for name, least in (('memory', 1.0), ('most', 1.0), ('least_gain', 0.0)):
            value = getattr(self, name)
            if not value >= least or (name != 'memory' and value == math.inf):
                raise ValueError(f'{name} = {value}: must be a number, {least:g} or greater')


class SelfCalibration:
    """
    Recursive estimate of the parameters of a robot from increments of its joint angles.

    Parameters
    ----------
    robot : CasterRobot
        Description: the prior.
    settings : LearningSettings, optional

    Attributes
    ----------
    parameters : (n, 5) array
        Present estimate ``[r, d, x, y, β]``.
    frozen : bool
        True keeps the estimate; the motion is not used.
    cross : (3, 5n) array
        Covariance of the error of a pose with that of the parameters, in units of the prior;
        kept by the owner of the pose, and updated with the estimate.
    windows, learned, contradicted, dropped : int
        Windows so far: all, used, contradicting, and dropped (slip).

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> calibration, still = SelfCalibration(robot), np.zeros(3)
    >>> for _ in range(1000):  # 20 m along +Y; wheel 2 turns less: it is larger, or zeros are off
    ...     changed = calibration.step(still, np.array([0.5, 0.4975, 0.5]), still)
    >>> bool(calibration.parameters[1, 0] > calibration.parameters[0, 0])
    True
    """

    def __init__(self, robot: CasterRobot, settings: LearningSettings | None = None) -> None:
        self.robot = robot
        self.settings = s = settings or LearningSettings()
        n = robot.count
        self._described = parameters_of(robot)
        self._deviation = s.calibration.prior.deviations(robot)
        length = window_length(robot)
        wheel_step, steering_step, creep = s.calibration.noise
        self._learner = Learner.new(
            n, length=length, wheel_step=wheel_step, steering_step=steering_step, creep=creep,
            limit=float(chdtri(2 * n - 3, CONTRADICTION)), least_gain=s.least_gain, most=s.most,
            forgotten=length / s.memory)
        self._learner.deviation[:] = self._deviation
        self._unknown = self._learner.unknown
        self._covariance = self._learner.covariance
        # by the owner of a pose: covariance of its error with that of the parameters
        self._crosses = self._learner.cross
        self.cross = self._crosses[:3]
        self.frozen = False
        self.reset()

    def reset(self) -> None:
        """Start again from the description."""
        self._unknown[:] = 0.0
        self._covariance[:] = np.eye(len(self._deviation))
        self._crosses[:] = 0.0
        self.parameters = self._described.copy()
        self.windows = self.learned = self.contradicted = self.dropped = self._row = 0
        self._spoiled = False
        self.interrupt()

    def adopt(self, parameters: ArrayLike, covariance: ArrayLike | None = None,
              limited: bool = True) -> None:
        """
        Continue from an estimate, for example that of a batch, or one from before a restart.

        Parameters
        ----------
        parameters : (n, 5) array_like
        covariance : (5n, 5n) array_like, optional
            Default: that of the prior.
        limited : bool
            Refuse an estimate beyond the limit `most`.

        Raises
        ------
        ValueError
            Wrong shapes, numbers that are not finite, beyond the limit `most`, or a covariance
            above that of the prior.
        """
        parameters = np.array(parameters, float)
        k = len(self._deviation)
        scale = np.outer(self._deviation, self._deviation)
        normal = np.eye(k) if covariance is None else np.array(covariance, float) / scale
        if parameters.shape != self._described.shape or normal.shape != (k, k):
            raise ValueError(f'parameters {parameters.shape}, covariance {normal.shape}: must be '
                             f'{self._described.shape} and {(k, k)}')
        unknown = (parameters - self._described).ravel() / self._deviation
        most = self.settings.most if limited else math.inf
        if not (np.all(np.abs(unknown) <= most) and np.all(np.isfinite(unknown))):
            raise ValueError(f'parameters = {parameters.tolist()}: must be finite and within '
                             f'{self.settings.most:g} standard deviations of the description')
        if not np.all(np.isfinite(normal)):
            raise ValueError('covariance: every number must be finite')
        largest = float(np.linalg.eigvalsh(normal).max())
        if largest > LARGEST:
            raise ValueError(f'covariance: its largest variance is {largest:.3g} times that of '
                             f'the prior, must be 1 or less: it is damaged, or the prior '
                             '(description_std.* of the node) is narrower than that of the '
                             'calibration')
        self._unknown[:] = unknown
        self._covariance[:] = normal
        self._crosses[:] = 0.0
        self.parameters = parameters
        self.interrupt()

    def warm_up(self) -> None:
        """Compile the kernels, with a copy of the estimate."""
        n = self.robot.count
        still = np.zeros(n)
        moved = np.full(n, 0.01)
        block = self._learner.block.copy()
        for length in (math.inf, 0.0):
            Learner.of(block, n, length=length)
            kernels.learn(block, self.parameters, still, moved, still)

    def interrupt(self) -> None:
        """Begin a new window, after a gap or a slip."""
        begin_window(self._learner.window.block, self.robot.count)

    def step(self, steering: Array, rolled: Array, turned: Array, good: bool = True) -> bool:
        """
        Add the increments between two samples; return True if the estimate changed.

        Increments must be finite; `Odometry` rejects others.

        Parameters
        ----------
        steering : (n,) array, rad
            Measured, halfway, in the convention of the described robot.
        rolled, turned : (n,) arrays, rad
            Increments of wheel and steering angles.
        good : bool
            False while a wheel slips or spins: the window is dropped.
        """
        if self.frozen:
            return False
        if not good:
            if not self._spoiled:
                self.dropped += 1
            self._spoiled = True
            self.interrupt()
            return False
        self._spoiled = False
        verdict = kernels.learn(self._learner.block, self.parameters, steering, rolled, turned)
        return verdict != kernels.WITHIN and self._judge(verdict)

    def _judge(self, verdict: int) -> bool:
        self.windows += 1
        if verdict == kernels.CONTRADICTED:
            self.contradicted += 1
            self._row += 1
            if self._row >= RELEARN:
                self._row = 0
                self._covariance[:] = np.eye(len(self._unknown))
                self._crosses[:] = 0.0
            return False
        self._row = 0
        if verdict != kernels.LEARNED:
            return False
        self.learned += 1
        self._write()
        return True

    def _write(self) -> None:
        change = (self._unknown * self._deviation).reshape(self._described.shape)
        self.parameters = self._described + change

    def learn_yaw(self, heading: Array, turned: float, variance: float, scale: float) -> bool:
        """
        Update the estimate by a turn of a gyro; return True if it changed.

        Parameters
        ----------
        heading : (1 + 5n,) array, rad
            Turn by the joints at the present estimate, and its derivative by the parameters.
        turned : float, rad
            By the gyro.
        variance : float, rad²
            Of both turns, without the scale error.
        scale : float
            Standard deviation of the scale error of the gyro, which all turns share.
        """
        if self.frozen:
            return False
        row = heading[1:] * self._deviation
        common = self._crosses[3]
        gain = self._covariance @ row + turned * common
        rest = variance + (turned * scale)**2
        total = float(row @ gain) + turned * float(row @ common) + rest
        news = turned - heading[0]
        if not news * news <= YAW_LIMIT * total:
            self.contradicted += 1
            return False
        if 0.5 * math.log(total / rest) < self.settings.least_gain:
            return False
        self._unknown += gain * (news / total)
        np.clip(self._unknown, -self.settings.most, self.settings.most, out=self._unknown)
        shared = self._crosses @ row
        # of the scale error itself with the innovation
        shared[3] += turned * scale**2
        self._crosses -= np.outer(shared / total, gain)
        self._covariance -= np.outer(gain, gain) / total
        self._write()
        return True

    def contradiction(self) -> str:
        """Return why the estimate does not explain the motion since the start, '' if it does."""
        if self.windows < RELEARN or 2 * self.contradicted <= self.windows:
            return ''
        return (f'the lengths do not explain this motion: {self.contradicted} of {self.windows} '
                'windows contradict them; check the wiring, slip, and that the description is of '
                'this robot')

    @property
    def spread(self) -> Array:
        """Covariance of the parameters in units of the prior (5n, 5n); not a copy."""
        return self._covariance

    @property
    def covariance(self) -> Array:
        """Covariance of the parameters (5n, 5n)."""
        return self._covariance * np.outer(self._deviation, self._deviation)

    @property
    def calibrated_robot(self) -> CasterRobot:
        """The robot with the present estimate."""
        return calibrated(self.robot, self.parameters)

    def metrics(self) -> dict[str, str]:
        """Return the estimate in words, as key-values for diagnostics."""
        state = ('frozen' if self.frozen else
                 f'{self.learned} of {self.windows} windows used, {self.contradicted} '
                 f'contradicted, {self.dropped} dropped for slip')
        return {'calibration': state,
                **lines(self.robot, self.parameters, self.covariance)}
