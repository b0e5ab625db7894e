# SPDX-License-Identifier: Apache-2.0
"""
Masses, centre of mass and friction of a robot from a recorded motion, with intervals.

Least squares on the errors of short predictions (shooting.py, shooting_fit.py). A number whose
confidence interval would exceed half its size on either side is not estimated: it keeps its
described value and is listed in `Identification.unseen`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import t as student

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.identification.parameters import (
    PARAMETERS,
    USUAL,
    Unknown,
    bounds,
    described,
    scale,
    unknowns,
)
from c3p_dynamics.identification.recording import (
    IdentificationError,
    Recording,
    ShootingSettings,
    check,
    cut,
)
from c3p_dynamics.identification.result import Estimate, Identification, Unseen
from c3p_dynamics.identification.shooting import Shooting
from c3p_dynamics.identification.shooting_fit import ShootingFit

# half-width of the interval, relative to the size of a number, up to which it is identified
KNOWN_WITHIN = 0.5

# too wide intervals within this part of the widest are equivalent; the last unknown is dropped
ABOUT_AS_BAD = 0.1

# number of segments of the first search, and relative tolerances of the sum of squares in it and
# before unidentifiable numbers are dropped
FEW = 40
VERY_ROUGHLY = 1e-3
ROUGHLY = 1e-6

# a segment is an outlier when its error exceeds the median by this factor and by this number of
# robust standard deviations, in logarithms
OUTLIER_FACTOR = 2.0
OUTLIER_DEVIATIONS = 5.0

# a smoothing below this multiple of its lower bound is at the bound
AT_LEAST = 1.05

# most rounds of outlier detection
MOST_ROUNDS = 4

# median absolute deviation → standard deviation of a normal distribution
NORMAL = 1.4826

# relative change of a fixed number in `Identification.influence`
INFLUENCE_OF = 0.01


def identify(robot: CasterRobot, recording: Recording, estimate: Iterable[str] = USUAL,
             per_caster: Iterable[str] = (), settings: ShootingSettings | None = None,
             confidence: float = 0.95) -> Identification:
    """
    Identify masses, centre of mass, friction and input delay from a recorded motion.

    Parameters
    ----------
    robot : CasterRobot
        Description: initial values, and the values of everything not estimated.
    recording : Recording
        Torques beyond the robot's limits count as those limits.
    estimate : iterable of str
        Keys of `parameters.PARAMETERS`.
    per_caster : iterable of str
        Those with one value per caster.
    settings : ShootingSettings, optional
    confidence : float
        Level of the intervals.

    Returns
    -------
    Identification

    Raises
    ------
    IdentificationError
        Too little motion, or numbers in the recording that are not finite.
    ValueError
        An unknown name, or a confidence outside 0 to 1.

    Notes
    -----
    A mass at a pivot is indistinguishable from one that turns with the caster: only
    ``platform_mass + Σ link_mass`` and similar sums are identifiable, so that links and wheels are
    weighed, not estimated (docs/identification.md).
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f'confidence = {confidence}: must be between 0 and 1, such as 0.95')
    settings = settings or ShootingSettings()
    where = unknowns(robot, estimate, per_caster)
    # kernels are compiled for contiguous arrays
    recording = Recording(*(np.ascontiguousarray(a, float) for a in recording))
    check(robot, recording)
    recording = recording._replace(torque=np.where(
        robot.actuated, np.clip(recording.torque, -robot.effort_limit, robot.effort_limit), 0.0))
    shooting = Shooting(robot, recording, *cut(robot, recording, settings), settings)
    spans = recording.time[np.column_stack([shooting.begin, shooting.end - 1])]
    # a few segments bring the search close at a fraction of the cost
    fit = ShootingFit(robot, shooting.few(FEW), where, _sizes(robot, where, recording))
    fit, unseen = _without_indistinct(fit)
    fit.solve(VERY_ROUGHLY)
    fit, segment_error, aside = _without_outliers(fit, shooting)
    if _sudden(fit):
        # fine integration steps from here on only: they cost 2.5 times as much
        fit = fit.of(fit.shooting.part(slice(None), fit.shooting.settings.finer()))
        fit.solve(ROUGHLY)
    noise = fit.weigh()
    fit, half, correlation = _without_unseen(fit, confidence, unseen)
    found, delay = fit.model
    before, _ = fit.shooting.part(slice(None)).settle(robot, delay, fit.weight)
    return Identification(
        robot=found, delay=delay, estimates=_estimates(fit, half), unseen=tuple(unseen),
        confidence=confidence, correlation=correlation, influence=_influence(fit), noise=noise,
        persistence=_persistence(fit), sudden=_sudden(fit), segments=spans,
        segment_error=segment_error, set_aside=aside, samples=fit.shooting.samples,
        errors=fit.errors / fit.weight, described_errors=before / fit.weight)


def _sizes(robot: CasterRobot, where: Sequence[Unknown], recording: Recording) -> Array:
    """Return the scale of each unknown in this motion."""
    torque = float(np.sqrt(np.mean(recording.torque[:, robot.actuated]**2)))
    span = recording.time[-1] - recording.time[0]
    # mean rate of all joints from distances: differentiated encoder angles are noisy
    turned = np.abs(np.diff(np.hstack([recording.steering, recording.wheel_angle]), axis=0))
    rate = float(turned.sum(axis=0).mean() / span)
    if torque == 0.0:
        raise IdentificationError('no excitation: all commanded wheel torques are zero')
    return np.array([scale(robot, u, torque, rate) for u in where])


def _without_outliers(fit: ShootingFit, shooting: Shooting) -> tuple[ShootingFit, Array, Array]:
    """Fit without outliers; return the fit, the error of each segment, and the outliers."""
    before: Array | None = None
    for _ in range(MOST_ROUNDS):
        # judged by a fit without them, which they do not distort
        fit = fit.of(shooting)
        fit.settle()
        fit.weigh()
        error = fit.segment_errors()
        aside = _outliers(error)
        if before is not None and np.array_equal(before, aside):
            break
        before = aside
        fit = fit.of(shooting.part(~aside))
        _enough(fit)
        fit.solve(ROUGHLY)
    fit = fit.of(shooting.part(~aside))
    fit.settle()
    return fit, error, aside


def _sudden(fit: ShootingFit) -> bool:
    """Return True if the smoothing of dry friction is at its lower bound."""
    least = fit.shooting.settings.least_smoothing
    return any(u.parameter == 'smoothing' and v < AT_LEAST * least
               for u, v in zip(fit.where, fit.values, strict=True))


def _outliers(error: Array) -> Array:
    """Return which segments are outliers (S,), by median and median deviation."""
    log = np.log(error)
    middle = np.median(log)
    spread = NORMAL * np.median(np.abs(log - middle))
    return log - middle > max(np.log(OUTLIER_FACTOR), OUTLIER_DEVIATIONS * spread)


def _enough(fit: ShootingFit) -> None:
    shooting = fit.shooting
    needed = len(fit.where) + 2
    if len(shooting.rows) < needed:
        raise IdentificationError(
            f'{len(shooting.rows)} segments of {shooting.settings.segment} s for '
            f'{len(fit.where)} unknowns: at least {needed} are needed; drive longer (20 s or '
            'more, with turns and changes of direction), or estimate fewer')


def _without_indistinct(fit: ShootingFit) -> tuple[ShootingFit, list[Unseen]]:
    """Drop unknowns without an effect of their own, the last of several equivalent ones first."""
    unseen: list[Unseen] = []
    while np.any(indistinct := fit.indistinct()):
        fit = _drop(fit, int(np.flatnonzero(indistinct)[-1]), np.inf, unseen)
    return fit, unseen


def _without_unseen(fit: ShootingFit, confidence: float, unseen: list[Unseen]
                    ) -> tuple[ShootingFit, Array, Array]:
    """Drop unknowns with too wide intervals one by one; fit the rest again."""
    quantile = float(student.ppf(0.5 + confidence / 2.0, len(fit.shooting.rows) - 1))
    regularised = True
    while True:
        deviation, correlation = fit.spread()
        half = quantile * deviation
        # nonlinear: for an unidentifiable unknown the search may end at a value around which it
        # would be identifiable, where the interval is too narrow
        wide = half * np.maximum(1.0, fit.blunter()) if regularised else half
        excess = wide / (KNOWN_WITHIN * np.maximum(fit.size, np.abs(fit.values)))
        if np.any(excess > 1.0):
            # of several equivalent ones the last: PARAMETERS is in the order of preference
            worst = int(np.flatnonzero(excess >= ABOUT_AS_BAD * excess.max())[-1])
            fit = _drop(fit, worst, float(wide[worst]), unseen)
            regularised = True
            fit.solve(ROUGHLY)
        elif regularised:
            # the remaining unknowns are identifiable without the pull to the description
            fit.solve(leash=np.inf)
            regularised = False
        else:
            return fit, half, correlation


def _drop(fit: ShootingFit, index: int, half: float, unseen: list[Unseen]) -> ShootingFit:
    unknown = fit.where[index]
    unseen.append(Unseen(unknown, described(fit.robot, unknown), half,
                         PARAMETERS[unknown.parameter].shown_by))
    if len(fit.where) == 1:
        raise IdentificationError('none of the requested parameters is identifiable from this '
                                  'motion: ' + '; '.join(f'({u.unknown.name}) {u.remedy}'
                                                         for u in unseen))
    return fit.of(fit.shooting, without=index)


def _estimates(fit: ShootingFit, half: Array) -> tuple[Estimate, ...]:
    # intervals are clipped to physical values
    low, high = bounds(fit.where, fit.robot, np.inf, 0.0)
    return tuple(
        Estimate(u, float(v), float(max(v - h, a)), float(min(v + h, b)),
                 described(fit.robot, u))
        for u, v, h, a, b in zip(fit.where, fit.values, half, low, high, strict=True))


def _influence(fit: ShootingFit) -> dict[str, Array]:
    """Return the sensitivity of the estimates to the numbers that were not estimated."""
    estimated = {u.parameter for u in fit.where}
    fixed = [Unknown(p) for p in PARAMETERS if p != 'delay' and p not in estimated
             and described(fit.robot, Unknown(p)) != 0.0]
    shifts = fit.influence(fixed, INFLUENCE_OF)
    return {u.name: shift for u, shift in zip(fixed, shifts, strict=True)}


def _persistence(fit: ShootingFit) -> float:
    """Return the correlation of errors one sample apart, within segments."""
    before = np.concatenate([fit.errors[r][:-1] for r in fit.shooting.rows])
    after = np.concatenate([fit.errors[r][1:] for r in fit.shooting.rows])
    return float(np.sum(before * after) / np.sqrt(np.sum(before**2) * np.sum(after**2)))
