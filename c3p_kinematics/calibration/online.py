# SPDX-License-Identifier: Apache-2.0
"""
Calibration while driving: a recursive estimate of lengths and steering zeros, with covariance.

Each window of motion gives 2n − 3 equations (docs/calibration.md). They update a Kalman filter
whose prior is the description, which also fixes the gauge. A window with reported slip, or one
that contradicts the estimate, teaches nothing, nor does one without news. The covariance grows
back towards the prior over `memory` metres, so that wear is followed. If another estimate, from
the description or from an earlier time, explains the last windows much better, it takes over
(evidence.py): a wrong estimate does not persist. Memory and time are bounded: arrays of fixed
size, one update per window. A fault contradicts its first windows less than the alarm requires:
the last windows before an alarm are withdrawn.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.calibration import _online_kernels as kernels
from c3p_kinematics.calibration._window_kernels import begin_window
from c3p_kinematics.calibration.calibration_states import Learner
from c3p_kinematics.calibration.doubts import ENOUGH, contradiction, doubt
from c3p_kinematics.calibration.evidence import WINDOWS, BetterEstimate, Start, WindowHistory
from c3p_kinematics.calibration.parameters import (
    LearningSettings,
    calibrated,
    check_covariance,
    covariance_in_units,
    gauge,
    in_units,
    parameters_of,
    redundant_rows,
    window_length,
)
from c3p_kinematics.calibration.recent import RecentEstimates
from c3p_kinematics.calibration.words import lines

# probability of a contradiction of a window without slip
CONTRADICTION = 1e-3

# the same for the turn of a gyro, normalised innovation squared
YAW_LIMIT = float(chdtri(1, CONTRADICTION))

# windows from one copy of the estimate to the next, to which it may return
SNAPSHOT = 64


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
        Windows so far: all, used, contradicting, and dropped (slip), with those withdrawn.
    changes : int
        How often another estimate explained the last windows better and took over.

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
            limit=float(chdtri(redundant_rows(robot), CONTRADICTION)), least_gain=s.least_gain,
            most=s.most, forgotten=length / s.memory)
        self._learner.deviation[:] = self._deviation
        self._learner.window.factors[:] = robot.geometry[:, 4:]
        self._history = WindowHistory(2 * n - 3, 5 * n, self._learner.limit, s.most,
                                      redundant_rows(robot))
        self._recent = RecentEstimates()
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
        self.windows = self.learned = self.contradicted = self.dropped = self.changes = 0
        self._given = Start('the description', self._unknown.copy(), self._covariance.copy())
        self._begin_anew()
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
        normal = np.eye(k)
        if covariance is not None:
            normal = covariance_in_units(np.array(covariance, float), self._deviation)
        if parameters.shape != self._described.shape or normal.shape != (k, k):
            raise ValueError(f'parameters {parameters.shape}, covariance {normal.shape}: must be '
                             f'{self._described.shape} and {(k, k)}')
        unknown = in_units((parameters - self._described).ravel(), self._deviation)
        most = self.settings.most if limited else math.inf
        if not (np.all(np.abs(unknown) <= most) and np.all(np.isfinite(unknown))):
            raise ValueError(f'parameters = {parameters.tolist()}: must be finite and within '
                             f'{self.settings.most:g} standard deviations of the description')
        check_covariance(normal)
        self._unknown[:] = unknown
        self._covariance[:] = normal
        self._crosses[:] = 0.0
        self.parameters = parameters
        self._given = Start('the calibration it was given', unknown, normal)
        self._begin_anew()
        self.interrupt()

    def _begin_anew(self) -> None:
        """Begin without windows before, and without earlier estimates."""
        self._history.clear()
        self._learner.noise[0] = 1.0
        self._earlier: list[Start] = []
        # windows before the estimate began, and the largest noise since
        self._began = self.windows
        self._noisiest = 1.0
        self._recent.begin(self._unknown, self._covariance, self.learned)
        # window of the last change, and what the estimate then began from
        self._changed = -ENOUGH
        self._source = ''

    def warm_up(self) -> None:
        """Compile the kernels, with a copy of the estimate."""
        n = self.robot.count
        self._history.warm_up()
        still = np.zeros(n)
        moved = np.full(n, 0.01)
        block = self._learner.block.copy()
        for length in (math.inf, 0.0):
            Learner.of(block, n, length=length)
            kernels.learn(block, self.parameters, still, moved, still)

    def take_times(self, late: float, changing: float, shown: float, rates: Array) -> None:
        """
        Take the uncertainty of the times of the next increments: windows are worth less by it.

        Parameters
        ----------
        late, changing, shown : float, s
            Standard deviations of the ages, of times that change from sample to sample, and what
            motion has shown of the latter, within which nothing contradicts.
        rates : (2, n) array, rad/s
            Of steering axes and wheels.
        """
        learner = self._learner
        learner.late[0] = late
        learner.changing[0] = changing
        learner.shown[0] = shown
        learner.rates[:] = rates

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
            False while a wheel slips or spins: the window is dropped, and the last ones are
            withdrawn (recent.py).
        """
        if self.frozen:
            return False
        if not good:
            begins = not self._spoiled
            self._spoiled = True
            self.interrupt()
            return begins and self._withdraw()
        self._spoiled = False
        verdict = kernels.learn(self._learner.block, self.parameters, steering, rolled, turned)
        return verdict != kernels.WITHIN and self._judge(verdict)

    def _withdraw(self) -> bool:
        """Drop the window of an alarm, and return to the estimate some windows before it."""
        before, withdrawn = self._recent.withdraw()
        self.dropped += 1 + withdrawn
        changed = self.learned > before.learned
        self.learned = before.learned
        self._unknown[:] = before.unknown
        self._covariance[:] = before.covariance
        self._history.drop(withdrawn)
        if changed:
            self._write()
        return changed

    def _judge(self, verdict: int) -> bool:
        """Count a window that has ended; return True if the estimate changed."""
        if verdict == kernels.DROPPED:
            return False
        self.windows += 1
        self.contradicted += verdict == kernels.CONTRADICTED
        self.learned += verdict == kernels.LEARNED
        learner = self._learner
        noise = learner.noise[0]
        # the parameters are those before the update, at which the window was computed
        before = in_units((self.parameters - self._described).ravel(), self._deviation)
        self._history.add(noise * learner.equations.value[3:],
                          noise * learner.equations.of_parameters[3:], before,
                          learner.square[0], learner.gain[0])
        changed = self._reconsider() or verdict == kernels.LEARNED
        if changed:
            self._write()
        self._recent.add(self._unknown, self._covariance, self.learned)
        # the newest is never a start: it may have learned from what is contradicted later
        if self.windows % SNAPSHOT == 0:
            self._earlier = [*self._earlier[-1:], Start(
                'an earlier calibration', self._unknown.copy(), self._covariance.copy())]
        return changed

    def _reconsider(self) -> bool:
        """Compare the estimate with others on the last windows; return True if it is replaced."""
        noise = self._learner.noise[0] = self._history.measure_noise()
        if noise > self._noisiest:
            # what was learned before the noise was known is worth less; later windows had theirs
            if self.windows - self._began <= WINDOWS:
                self._know_less((self._noisiest / noise)**2)
            self._noisiest = noise
        k = len(self._unknown)
        described = Start('the description', np.zeros(k), np.eye(k))
        found = self._history.better_estimate([described, self._given, *self._earlier[:-1]])
        if found is not None:
            self._take(found)
        return found is not None

    def _know_less(self, part: float) -> None:
        """Keep `part` of the information beyond that of the estimate that was given."""
        given = self._given.covariance
        own = self._covariance.copy()
        # (part own⁻¹ + (1 − part) given⁻¹)⁻¹
        less = own @ np.linalg.solve(part * given + (1.0 - part) * own, given)
        self._covariance[:] = 0.5 * (less + less.T)

    def _take(self, found: BetterEstimate) -> None:
        """Replace the estimate by one that explains the last windows better."""
        self.changes += 1
        self._changed = self.windows
        self._source = found.name
        self._began = self.windows - found.windows
        self._noisiest = self.noise
        self._unknown[:] = found.unknown
        self._covariance[:] = found.covariance
        # errors of a pose are correlated with what the joints do not observe, which is the same
        basis = np.linalg.qr(in_units(gauge(self._described), self._deviation[:, None]))[0]
        self._crosses[:] = self._crosses @ basis @ basis.T
        self._recent.begin(self._unknown, self._covariance, self.learned)

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

    def yaw_covariance(self, slopes: Array, turned: Array, scale: float) -> Array:
        """Return the covariance (t, t), rad², of turns by joints, `slopes` (t, 5n), and gyro."""
        rows = slopes * self._deviation
        shared = np.outer(rows @ self._crosses[3], turned)
        return (rows @ self._covariance @ rows.T + shared + shared.T
                + scale**2 * np.outer(turned, turned))

    def contradiction(self) -> str:
        """Return why the estimate does not explain the last motion, '' if it does."""
        return contradiction(self._history)

    def doubt(self) -> str:
        """Return why the estimate should not be relied on, with the remedy; '' if it can be."""
        if self.frozen:
            return ''
        since = self.windows - self._changed
        return doubt(self._history, self._unknown, self.settings.most,
                     self._source if since < ENOUGH else '')

    @property
    def noise(self) -> float:
        """Residuals of the last windows in units of their stated noise, from 1 on."""
        return self._history.noise

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
                 f'contradicted, {self.dropped} dropped for slip, {self.changes} new beginnings, '
                 f'residuals {self.noise:.1f} times their noise')
        return {'calibration': state,
                **lines(self.robot, self.parameters, self.covariance)}
