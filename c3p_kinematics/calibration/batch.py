# SPDX-License-Identifier: Apache-2.0
"""
Calibration of a robot from recorded drives: robust least squares over positions.

    min over x   Σ_w ρ(|W_w F_w(x)|²)/s² + |P^(−1/2)(x − x₀)|² + Σ_k |reference_k(x)|²

F_w are the rolling equations of a window of joint positions without its unknown motion
(_window_kernels.py), W_w whitens rounding of the encoders and creep of the contacts, x₀ and P are
description and prior, ρ limits the influence of windows with slip. s is 1, or the rms of the
whitened residuals where it is larger: wheels that slip more than their budget know less. Slip that
all wheels have in common leaves no residuals; it is an unknown where the drives show it.
Gauss-Newton; the covariance is the inverse of the information at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.calibration import _window_kernels as kernels
from c3p_kinematics.calibration.common_slip import UNSEEN, common_slip, unseen_slip
from c3p_kinematics.calibration.parameters import (
    CalibrationSettings,
    calibrated,
    in_units,
    parameters_of,
    redundant_rows,
    window_length,
)
from c3p_kinematics.calibration.recording import (
    CalibrationError,
    JointRecording,
    UnexplainedError,
    at_one_instant,
    checked,
    cut,
)
from c3p_kinematics.calibration.references import (
    Chain,
    Reference,
    chain,
    reference_rows,
    spans_of,
)
from c3p_kinematics.calibration.wheel_slip import wheel_slip

# Gauss-Newton ends at a change below this number of standard deviations of the prior
CONVERGED = 1e-7
MOST_ITERATIONS = 30

# change after the last iteration, in the same unit, above which there is no minimum: weights of
# windows with slip settle slowly, within a hundredth of an interval
NO_MINIMUM = 0.01

# mean square of a whitened window beyond which its weight falls (Cauchy); while the parameters are
# wrong the median of all windows counts as the unit
ROBUST = 4.0

# weight of a window below which it counts as slipping
OUTLIER = 0.3

# change of an age for the derivative by it, s
AGE_STEP = 1e-3

# mean path of the casters that a window must have, part of the full length
SHORTEST = 0.2


@dataclass(frozen=True, eq=False)
class Calibration:
    """
    Result of a calibration.

    Attributes
    ----------
    described : CasterRobot
    parameters : (n, 5) array
        ``[r, d, x, y, β]`` of each caster (parameters.py).
    covariance : (5n, 5n) array
    prior : (5n,) array
        Standard deviations before.
    weights : (w,) array
        Weight of each window: near 0 for those with slip.
    path : float, m
        Mean path of the casters in all windows.
    rms_before, rms_after : float
        Of the whitened residuals of all windows, by their weights.
    references : (k, 2) array
        Largest whitened residual of each outside reference, before and after.
    noise : float
        Factor s of the deviations of all windows, 1 or greater.
    ages : (2n, 2) array, s
        Age of steering and wheel angles within a sample, and its standard deviation; without
        `CalibrationSettings.skew` none, (0, 2).
    slip : (2,) array
        Fraction of their path by which all wheels turn further than they roll, and its standard
        deviation; (0, 0) where nothing shows it.
    wheel_slip : (n, 2) array
        Slip of each wheel alone (wheel_slip.py): fraction of the squared residuals that it
        explains, and its rms, as a fraction of the path of the wheel.
    """

    described: CasterRobot
    parameters: Array
    covariance: Array
    prior: Array
    weights: Array
    path: float
    rms_before: float
    rms_after: float
    references: Array
    noise: float
    ages: Array
    slip: Array
    wheel_slip: Array

    @property
    def robot(self) -> CasterRobot:
        """The described robot with the estimates."""
        return calibrated(self.described, self.parameters)

    @property
    def change(self) -> Array:
        """Estimates less description (n, 5)."""
        return self.parameters - parameters_of(self.described)

    @property
    def deviation(self) -> Array:
        """Standard deviations (n, 5)."""
        return np.sqrt(np.diag(self.covariance)).reshape(self.parameters.shape)


class _Windows:
    """Windows of one recording, with the references over them."""

    def __init__(self, robot: CasterRobot, recording: JointRecording,
                 references: Sequence[Reference]) -> None:
        self.recording = checked(robot, recording)
        self.references = references
        length = window_length(robot)
        ends = {self._row(t) for r in references for span in spans_of(r) for t in span}
        self.cut = _split(cut(robot, self.recording, length), sorted(ends))
        w = len(self.cut)
        n = robot.count
        self.factors = robot.geometry[:, 4:]
        self.good: Array | None = None
        self.value, self.jacobian = np.empty((w, 2 * n - 3)), np.empty((w, 2 * n - 3, 5 * n))
        self.step, self.of = np.empty((w, 3)), np.empty((w, 3, 5 * n))
        self.spread, self.travel = np.empty((w, 3, 3)), np.empty(w)

    def _row(self, time: float) -> int:
        times = self.recording.time
        if not times[0] - 1e-3 <= time <= times[-1] + 1e-3:
            raise CalibrationError(f'reference at {time} s: the recording is from {times[0]:g} s '
                                   f'to {times[-1]:g} s')
        return int(np.argmin(np.abs(times - time)))

    def compute(self, parameters: Array, noise: Array, ages: Array) -> None:
        """Compute all windows with `parameters`, and ages of the joints where there are any."""
        found = self._results(parameters, noise, ages)
        self.value, self.jacobian, self.step, self.of, self.spread, self.travel = found
        for k in range(len(ages)):
            # by each age; references have no part in it: the ends of a drive are at rest
            later = self._results(parameters, noise, ages + AGE_STEP * (np.arange(len(ages)) == k))
            slope = (later.value - found.value) / AGE_STEP
            self.jacobian = np.concatenate([self.jacobian, slope[:, :, None]], axis=2)
        self.of = np.pad(self.of, ((0, 0), (0, 0), (0, len(ages))))
        # wheels that slip are smaller ones
        radii = np.arange(0, parameters.size, parameters.shape[1])
        self.jacobian, self.of = (np.concatenate(
            [slope, slope[:, :, radii] @ parameters[:, :1]], axis=2)
            for slope in (self.jacobian, self.of))

    def _results(self, parameters: Array, noise: Array, ages: Array) -> kernels.WindowResults:
        seen = at_one_instant(self.recording, ages) if len(ages) else self.recording
        return kernels.compute_windows(parameters, seen.steering, seen.wheel_angle, self.cut,
                                       noise, self.factors)

    def chain(self, begin: float, end: float) -> Chain:
        """Return the motion from `begin` to `end` of a reference, s."""
        first = self._row(begin)
        last = self._row(end)
        rows = np.flatnonzero((self.cut[:, 0] >= first) & (self.cut[:, 1] <= last))
        whole = (len(rows) and self.cut[rows[0], 0] == first and self.cut[rows[-1], 1] == last
                 and np.array_equal(self.cut[rows[1:], 0], self.cut[rows[:-1], 1]))
        if not whole:
            raise CalibrationError(f'reference from {begin} s to {end} s: the '
                                   'recording has no motion, or a gap, between them')
        return chain(self.step[rows], self.of[rows], self.spread[rows])


def _split(pairs: Array, rows: Sequence[int]) -> Array:
    """Return windows that also begin and end at `rows`, and reach to the last of them."""
    parts = [tuple(pair) for pair in pairs]
    for row in rows:
        inside = [k for k, (a, b) in enumerate(parts) if a < row < b]
        if inside:
            a, b = parts[inside[0]]
            parts[inside[0]:inside[0] + 1] = [(a, row), (row, b)]
        elif parts and row > parts[-1][1]:
            parts.append((parts[-1][1], row))
    return np.array(parts, int).reshape(-1, 2)


def calibrate(robot: CasterRobot, recordings: Sequence[JointRecording],
              references: Sequence[Reference] = (),
              settings: CalibrationSettings | None = None) -> Calibration:
    """
    Estimate radii, offsets, hips and steering zeros of a robot.

    Parameters
    ----------
    robot : CasterRobot
        Description; three casters or more (two have one redundant equation: less is estimated).
    recordings : sequence of JointRecording
    references : sequence of Distance, Displacement or Turns
        Without them scale and heading stay at the mean of the prior.
    settings : CalibrationSettings, optional

    Returns
    -------
    Calibration

    Raises
    ------
    CalibrationError
        No motion, an invalid recording, or a reference outside its recording.

    Examples
    --------
    >>> robot = CasterRobot.regular(0.343, np.radians([30, 150, 270]), 0.04, 0.04, 30.0, 3.51)
    >>> time = np.linspace(0.0, 60.0, 6001)  # +Y; wheel 2 is 0.5 % larger than described
    >>> wheel = time[:, None] * 5.0 * np.array([1.0, 1.0 / 1.005, 1.0])
    >>> drive = JointRecording(time, np.zeros((6001, 3)), wheel)
    >>> from c3p_kinematics.calibration.parameters import Prior
    >>> only_radii = CalibrationSettings(Prior(offset=1e-6, hip=1e-6, zero=1e-6))
    >>> found = calibrate(robot, [drive], settings=only_radii)
    >>> (found.parameters[:, 0] / found.parameters[0, 0]).round(3).tolist()
    [1.0, 1.005, 1.0]
    """
    settings = settings or CalibrationSettings()
    for reference in references:
        if not 0 <= reference.recording < len(recordings):
            raise CalibrationError(f'reference of recording {reference.recording}: there are '
                                   f'{len(recordings)}, from 0')
    parts = [_Windows(robot, recording, [r for r in references if r.recording == k])
             for k, recording in enumerate(recordings)]
    described = parameters_of(robot)
    prior = settings.prior.deviations(robot)
    count = described.size
    # ages of the joints are unknowns only where they may differ
    # and slip of all wheels is 0 until the drives show it
    deviation = np.concatenate([
        prior, np.full(2 * robot.count if settings.skew > 0.0 else 0, settings.skew), [0.0]])

    def parameters(unknown: Array) -> Array:
        change = unknown[:count] * prior
        return np.ascontiguousarray(described + change.reshape(described.shape))

    def radii(unknown: Array) -> Array:
        found = np.zeros(described.shape)
        found[:, 0] = parameters(unknown)[:, 0]
        return found.ravel()

    def fit(unknown: Array) -> _Fit:
        rolling = parameters(unknown)
        rolling[:, 0] *= 1.0 + unknown[-1] * deviation[-1]
        return _Fit(parts, rolling, settings, robot, deviation, (unknown * deviation)[count:-1])

    first = fit(np.zeros(len(deviation)))
    try:
        unknown, last = _minimum(fit, first, np.zeros(len(deviation)), 1.0)
        noise = max(1.0, last.rms(last.weights))
        if noise > 1.0:
            # once: the prior holds a noisier estimate back, which adds to its residuals
            unknown, last = _minimum(fit, last, unknown, noise)
            noise = max(noise, last.rms(last.weights))
        deviation[-1] = common_slip(last.information(noise), unknown,
                                    in_units(radii(unknown), prior), noise, settings.creep)
        if deviation[-1] > 0.0:
            unknown, last = _minimum(fit, fit(unknown), unknown, noise)
            noise = max(noise, last.rms(last.weights))
    except (CalibrationError, np.linalg.LinAlgError):
        raise UnexplainedError(
            f'residuals with the described lengths are {first.rms(first.weights):.3g} times their '
            'noise, and no estimate converges') from None
    information = last.information(noise)
    spread = np.linalg.inv(information)
    if settings.prior.radius > UNSEEN:
        spread = spread + unseen_slip(information, in_units(radii(unknown), prior))
    covariance = spread * np.outer(deviation, deviation)
    estimates = np.column_stack([unknown * deviation, np.sqrt(np.diag(covariance))])
    return Calibration(
        described=robot, parameters=parameters(unknown),
        covariance=0.5 * (covariance + covariance.T)[:count, :count], prior=prior,
        weights=last.weights,
        path=last.path, rms_before=first.rms(last.weights), rms_after=last.rms(last.weights),
        references=np.column_stack([first.misses, last.misses]), noise=noise,
        ages=estimates[count:-1], slip=estimates[-1] * [-1.0, 1.0] + 0.0,
        wheel_slip=last.wheel_slip)


def described_residual(robot: CasterRobot, recordings: Sequence[JointRecording],
                       settings: CalibrationSettings) -> float:
    """
    Return the rms of the whitened residuals with the described lengths, by weights of the windows.

    CalibrationError: as in `calibrate`.
    """
    fit = _Fit([_Windows(robot, recording, ()) for recording in recordings], parameters_of(robot),
               settings, robot, np.append(settings.prior.deviations(robot), 0.0), np.zeros(0))
    return fit.rms(fit.weights)


def _minimum(fit: Callable[[Array], _Fit], here: _Fit, unknown: Array, noise: float
             ) -> tuple[Array, _Fit]:
    """
    Return the unknowns and the fit at the minimum, from `unknown` with the fit `here`.

    `noise` is the factor s. LinAlgError: no minimum.
    """
    for _ in range(MOST_ITERATIONS):
        # from the linearisation here to the minimum, with the pull of the prior
        step = -np.linalg.solve(here.information(noise), here.slope(noise) + unknown)
        size = np.abs(step).max()
        if size < CONVERGED:
            return unknown, here
        unknown = unknown + step
        here = fit(unknown)
    if not size < NO_MINIMUM:
        raise np.linalg.LinAlgError('no minimum')
    return unknown, here


class _Fit:
    """Information and gradient of all windows and references at one linearisation."""

    def __init__(self, parts: Sequence[_Windows], parameters: Array,
                 settings: CalibrationSettings, robot: CasterRobot, deviation: Array,
                 ages: Array) -> None:
        shortest = SHORTEST * window_length(robot)
        values: list[Array] = []
        jacobians: list[Array] = []
        # of the references, which the noise of the windows does not concern
        misses: list[Array] = []
        rows: list[Array] = [np.zeros((0, len(deviation)))]
        self.path = 0.0
        for part in parts:
            part.compute(parameters, settings.noise, ages)
            # by the described lengths, so that all fits have the same windows
            if part.good is None:
                part.good = part.travel >= shortest
            good = part.good
            values.append(part.value[good])
            jacobians.append(part.jacobian[good] * deviation)
            self.path += float(part.travel[good].sum())
            for reference in part.references:
                miss, row = reference_rows(reference, [
                    part.chain(*span) for span in spans_of(reference)])
                misses.append(miss)
                rows.append(row * deviation)
        self.misses = [float(np.abs(miss).max()) for miss in misses]
        self.values, jacobian = np.concatenate(values), np.concatenate(jacobians)
        if not len(self.values):
            raise CalibrationError('no window with motion: drive further than '
                                   f'{window_length(robot):.2f} m, without gaps in the samples')
        radii = slice(0, parameters.size, parameters.shape[1])
        self.wheel_slip = wheel_slip(self.values, jacobian[:, :, radii])
        self.wheel_slip[:, 1] *= deviation[radii] / parameters[:, 0]
        # zeros stand for rows without an encoder
        self._part = (2 * robot.count - 3) / redundant_rows(robot)
        square = self._part * np.mean(self.values**2, axis=1)
        self.weights = 1.0 / (1.0 + square / (ROBUST * max(1.0, float(np.median(square)))))
        root = np.sqrt(self.weights)[:, None]
        self._windows = _normal((self.values * root).ravel(),
                                (jacobian * root[:, :, None]).reshape(-1, len(deviation)))
        self._outside = _normal(np.concatenate([np.zeros(0), *misses]), np.concatenate(rows))

    def information(self, noise: float) -> Array:
        """Return the information of the unknowns with the prior; `noise` is the factor s."""
        joints = self._windows[0]
        outside = self._outside[0]
        return joints / noise**2 + outside + np.eye(len(joints))

    def slope(self, noise: float) -> Array:
        """Return half of the gradient of the sum of squares, without the prior."""
        return self._windows[1] / noise**2 + self._outside[1]

    def rms(self, weights: Array) -> float:
        """Return the rms of the whitened residuals with `weights` of the windows."""
        mean = self._part * np.mean(weights[:, None] * self.values**2)
        return float(np.sqrt(mean / np.mean(weights)))


def _normal(value: Array, row: Array) -> tuple[Array, Array]:
    """Return JᵀJ and Jᵀv."""
    return row.T @ row, row.T @ value
